"""The command ``cudbound explain``: one method in full."""

from __future__ import annotations

from pathlib import Path

import click

from cudbound.basis.hints import suggestion
from cudbound.cli import shared_options
from cudbound.cli.command import command
from cudbound.cli.result_output import check_paths, emit
from cudbound.inputs.csv_file import quoted

#: What gives what.
CALLS = {
    "interval": "cudbound interval",
    "comparison": "cudbound compare-learners",
    "point estimate": "estimate_error in Python",
}


@command("explain")
@click.argument("method", metavar="METHOD")
@shared_options.output_options
def explain(method: str, form: str, path: Path | None) -> None:
    """Say everything that is known of METHOD: formula, aim, assumptions, tendency, source, cost and options.

    'cudbound methods' lists the names.
    """
    from cudbound.analysis.explanation import explanation_of
    from cudbound.intervals import GROUPS, METHODS
    from cudbound.point_estimates import ESTIMATORS
    from cudbound.report.render import render_report

    check_paths({"--output": path})
    if method in GROUPS:
        raise click.BadParameter(
            f"{method!r} stands for {', '.join(GROUPS[method])}; name one of them.", param_hint="'METHOD'"
        )
    known = {**METHODS, **ESTIMATORS}
    if method not in known:
        meant = suggestion(method, known).strip() or "'cudbound methods' lists the names."
        raise click.BadParameter(f"there is no method {quoted(method)}. {meant}", param_hint="'METHOD'")
    explained = explanation_of(method, CALLS)
    emit(str(explained) if form == "table" else render_report(explained.report(), form), path)
