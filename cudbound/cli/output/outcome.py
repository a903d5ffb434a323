"""What a command that computes has found: written to its place, with its warnings and its exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cudbound.cli.output import destination
from cudbound.cli.output.exit_codes import NOT_CERTIFIED
from cudbound.cli.output.one_line import say

if TYPE_CHECKING:
    from cudbound.report.tables import Run
    from cudbound.tables.table import ComparisonTable, IntervalTable


@dataclass(frozen=True)
class CommandOutcome:
    """A table with its description and the package's warnings.

    Attributes
    ----------
    table : IntervalTable or ComparisonTable
    run : RunDescription or ComparisonRun
    warnings : tuple of str
    certified : bool
        Whether the bounds in it are proved.
    interrupted : bool
        Whether Ctrl-C ended the run, so that the table has the row cud alone.
    """

    table: IntervalTable | ComparisonTable
    run: Run
    warnings: tuple[str, ...]
    certified: bool = True
    interrupted: bool = False


def emit(outcome: CommandOutcome, form: str, place: Path | None) -> None:
    """Write the table to its place, or print it if the run was stopped."""
    from cudbound.report.render import render_report

    text = render_report(outcome.table.report(outcome.run), form)
    destination.emit(text, None if outcome.interrupted else place)


def finish(outcome: CommandOutcome) -> None:
    """Pass the warnings on, and leave with the code of a run that was stopped or of a bound that is not proved."""
    for warning in outcome.warnings:
        say(f"warning: {warning}")
    if outcome.interrupted:
        raise KeyboardInterrupt
    if not outcome.certified:
        sys.exit(NOT_CERTIFIED)
