"""The command ``cudbound explain``: a full description of one method."""

from __future__ import annotations

import click

from cudbound.basis.hints import suggestion
from cudbound.cli.command import command
from cudbound.cli.output import ResultOutput, emit, output_options
from cudbound.inputs.data_file import quoted

#: What gives what.
CALLS = {
    "interval": "cudbound interval",
    "comparison": "cudbound compare-learners",
    "point estimate": "estimate_error in Python",
}


@command("explain")
@click.argument("method", metavar="METHOD")
@output_options
def explain(method: str, output: ResultOutput) -> None:
    """Describe METHOD: formula, aim, assumptions, tendency, source, cost and options.

    'cudbound methods' lists the names.
    """
    from cudbound.analysis.explanation import explanation_of
    from cudbound.intervals import GROUPS, METHODS
    from cudbound.point_estimates import ESTIMATORS
    from cudbound.report.render import render_report

    output.check()
    if method in GROUPS:
        raise click.BadParameter(
            f"{method!r} is a group of methods: {', '.join(GROUPS[method])}; choose one.",
            param_hint="'METHOD'",
        )
    known = {**METHODS, **ESTIMATORS}
    if method not in known:
        meant = suggestion(method, known).strip() or "'cudbound methods' lists the names."
        raise click.BadParameter(f"there is no method {quoted(method)}. {meant}", param_hint="'METHOD'")
    explained = explanation_of(method, CALLS)
    text = str(explained) if output.form == "table" else render_report(explained.report(), output.form)
    emit(text, output.path)
