"""The commands ``cudbound methods`` and ``cudbound explain``: the methods, and a full description of one."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from functools import partial

import click

from cudbound.basis.exceptions import suggestion
from cudbound.cli.command import command
from cudbound.inputs.data_file import quoted
from cudbound.report.render import render_report, wrapped

#: Columns of text, and those of the headings.
LINE, INDENT = 80, 15
#: What gives what.
CALLS = {
    "interval": "cudbound interval",
    "comparison": "cudbound compare-learners",
    "point estimate": "estimate_error in Python",
}
OVERVIEW = ["name", "estimand", "title"]
NOTE = (
    "Cost in fits, options, assumptions, known tendency and reference of a method: 'cudbound explain METHOD', or of "
    "all methods available_methods() in Python."
)


@command("methods")
def methods() -> None:
    """List the methods by name and aim.

    There are intervals for one classifier ('cudbound interval'), comparisons of two ('cudbound compare-learners'), and
    point estimates (estimate_error in Python).
    """
    from cudbound.analysis.available_methods import available_methods
    from cudbound.basis.results import Estimand
    from cudbound.report.sentences import explain_estimands
    from cudbound.report.table_columns import methods_report

    frame = available_methods()
    for what, rows in frame.groupby("gives", sort=False):
        click.echo(f"{render_report(methods_report(rows[OVERVIEW], title=f'Methods that give: {what!s}'))}\n")
    click.echo(wrapped([NOTE, *explain_estimands(map(Estimand.read, frame["estimand"]))]))


@command("explain")
@click.argument("method", metavar="METHOD")
def explain(method: str) -> None:
    """Describe METHOD: formula, aim, assumptions, tendency, source, cost and options.

    'cudbound methods' lists the names.
    """
    from cudbound.analysis.available_methods import described
    from cudbound.intervals import GROUPS, METHODS
    from cudbound.point_estimates import ESTIMATORS

    if method in GROUPS:
        raise click.BadParameter(
            f"{method!r} is a group of methods: {', '.join(GROUPS[method])}; choose one.",
            param_hint="'METHOD'",
        )
    cards = {**METHODS, **ESTIMATORS}
    if method not in cards:
        meant = suggestion(method, cards).strip() or "'cudbound methods' lists the names."
        raise click.BadParameter(f"there is no method {quoted(method)}. {meant}", param_hint="'METHOD'")
    forms = described(method, CALLS)
    click.echo("\n\n".join(_in_lines(title, entries) for title, entries in forms.items()))


def _in_lines(title: str, entries: Mapping[str, str]) -> str:
    texts = [f"{heading:<{INDENT}}{text}" for heading, text in entries.items()]
    wrap = partial(textwrap.fill, width=LINE, break_on_hyphens=False)
    return "\n".join([wrap(title), "", *(wrap(text, subsequent_indent=" " * INDENT) for text in texts)])
