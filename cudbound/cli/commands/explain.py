"""The command ``cudbound explain``: one method in full."""

from __future__ import annotations

from pathlib import Path

import click

from cudbound.cli.inputs import common_options
from cudbound.cli.output import destination as output
from cudbound.cli.output.exit_codes import EXIT_CODES
from cudbound.hints import suggestion
from cudbound.inputs.csv_file import quoted

#: What gives what, at the shell.
CALLS = {
    "interval": "cudbound interval",
    "comparison": "cudbound compare-learners",
    "point estimate": "estimate_error in Python",
}


@click.command("explain", epilog=EXIT_CODES)
@click.argument("method", metavar="METHOD")
@common_options.output_options
def explain(method: str, form: str, place: Path | None) -> None:
    """Say everything that is known of METHOD: formula, aim, assumptions, tendency, source, cost and options.

    'cudbound methods' lists the names.
    """
    from cudbound.intervals import GROUPS, METHODS
    from cudbound.point_estimates import ESTIMATORS
    from cudbound.report.render import render_report
    from cudbound.tables.explanation import explanation_of

    output.check_output(place)
    if method in GROUPS:
        raise click.BadParameter(
            f"{method!r} stands for {', '.join(GROUPS[method])}; name one of them.", param_hint="'METHOD'"
        )
    known = {**METHODS, **ESTIMATORS}
    if method not in known:
        meant = suggestion(method, known).strip() or "'cudbound methods' lists the names."
        raise click.BadParameter(f"there is no method {quoted(method)}. {meant}", param_hint="'METHOD'")
    explained = explanation_of(method, CALLS)
    output.emit(str(explained) if form == "table" else render_report(explained.report(), form), place)
