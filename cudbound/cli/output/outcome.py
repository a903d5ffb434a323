"""What a command that computes has found: written to its place, with its warnings and its exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from cudbound.cli.inputs.forms import PICTURES
from cudbound.cli.output.destination import write_whole
from cudbound.cli.output.exit_codes import NOT_CERTIFIED
from cudbound.cli.output.one_line import say
from cudbound.cli.output.shell_words import at_the_shell, table_at_the_shell
from cudbound.cli.output.wanted import Wanted

if TYPE_CHECKING:
    from cudbound.planning.sample_size_plan import SampleSizePlan
    from cudbound.plotting.display import Display
    from cudbound.report.tables import Report, Run
    from cudbound.seeds import OverSeeds
    from cudbound.tables.pairwise import PairTable
    from cudbound.tables.table import ComparisonTable, IntervalTable

    Writable: TypeAlias = IntervalTable | ComparisonTable | PairTable | SampleSizePlan

#: Nothing is drawn but the picture of the result.
NO_PICTURES: Mapping[Path, Display] = MappingProxyType({})
#: Nothing is written besides.
NO_TEXTS: Mapping[Path, str] = MappingProxyType({})


@dataclass(frozen=True)
class CommandOutcome:
    """A table with its description and the package's warnings.

    Attributes
    ----------
    table : IntervalTable, ComparisonTable or PairTable
    run : RunDescription, ComparisonRun or PairsRun
    warnings : tuple of str
    certified : bool
        Whether the bounds in it are proved.
    interrupted : bool
        Whether Ctrl-C ended the run, so that the table has the row cud alone, or ranges over fewer seeds.
    over_seeds : OverSeeds or None
        Ranges over seeds, which the remarks of the table have as well; None if nobody asked for them.
    saved : str or None
        The text of the file for ``cudbound verify``; None if nobody asked for it.
    """

    table: IntervalTable | ComparisonTable | PairTable
    run: Run
    warnings: tuple[str, ...]
    certified: bool = True
    interrupted: bool = False
    over_seeds: OverSeeds | None = None
    saved: str | None = None


def emit(outcome: CommandOutcome, wanted: Wanted, *, headline_only: bool = False) -> None:
    """Write the table and what else is wanted to their places; only print it if the run was stopped.

    With `headline_only` forms for reading have the sentences above the table alone.
    """
    from cudbound.report.table_style import Style

    table = replace(table_at_the_shell(outcome.table), run=outcome.run)
    unstable = getattr(table, "instability", None)
    report = table.report(style=Style(**wanted.style))
    place = "headline" if headline_only else "notes"
    if outcome.over_seeds is not None:
        lines = outcome.over_seeds.lines() if headline_only else []  # else the remarks have them
        report = _with_more(report, "over_seeds", outcome.over_seeds.summary, lines, place)
    if wanted.instability and unstable is not None:
        report = _with_more(report, "instability", unstable.summary, unstable.lines(), place)
    pictures = {}
    if wanted.instability_picture is not None and unstable is not None:
        pictures[wanted.instability_picture] = unstable.display()
    texts = {} if wanted.saved is None or outcome.saved is None else {wanted.saved: outcome.saved}
    write(table, report, wanted, pictures, texts, headline_only=headline_only, stopped=outcome.interrupted)


def write(
    result: Writable,
    report: Report,
    wanted: Wanted,
    pictures: Mapping[Path, Display] = NO_PICTURES,
    texts: Mapping[Path, str] = NO_TEXTS,
    *,
    headline_only: bool = False,
    stopped: bool = False,
) -> None:
    """Write a result by its report, its picture, `pictures` and `texts` besides; only print it if it was `stopped`."""
    from cudbound.report.render import render_headline, render_report

    shown = {**pictures, **({} if wanted.picture is None else {wanted.picture: result.display()})}
    files: dict[Path, str | bytes] = {path: display.image(_kind(path)) for path, display in shown.items()}
    files |= texts
    if wanted.form in PICTURES and wanted.place is not None:
        files[wanted.place] = result.display().image(wanted.form)
    # what a run that was stopped has found is printed, also where a picture was to be drawn
    printed = stopped or wanted.place is None
    if printed or wanted.place not in files:
        form = "table" if wanted.form in PICTURES else wanted.form
        render = render_headline if headline_only and not stopped else render_report
        text = render(report, form)
        if printed or wanted.place is None:
            click.echo(text)
        else:
            files[wanted.place] = f"{text}\n"
    if wanted.describe:
        click.echo(f"{chr(10) if printed else ''}{result.describe()}")
    if files and not stopped:
        write_whole(files)


def _kind(path: Path) -> str:
    return path.suffix.lower().removeprefix(".")


def _with_more(
    report: Report, name: str, numbers: Mapping[str, Any], lines: Iterable[str], place: str
) -> Report:
    """Return the table with more numbers for programs, and lines that say them in its "notes" or "headline"."""
    said: dict[str, Any] = {place: (*getattr(report, place), *map(at_the_shell, lines))}
    return replace(report, more={**report.more, name: numbers}, **said)


def finish(outcome: CommandOutcome) -> None:
    """Pass the warnings on, and leave with the code of a run that was stopped or of a bound that is not proved."""
    for warning in outcome.warnings:
        say(f"warning: {at_the_shell(warning)}")
    if outcome.interrupted:
        raise KeyboardInterrupt
    if not outcome.certified:
        sys.exit(NOT_CERTIFIED)
