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
from cudbound.cli.output.seed_ranges import SeedRanges
from cudbound.cli.output.shell_words import at_the_shell, table_at_the_shell
from cudbound.cli.output.wanted import Wanted

if TYPE_CHECKING:
    from cudbound.planning.sample_size_plan import SampleSizePlan
    from cudbound.plotting.display import Display
    from cudbound.report.tables import Report, Run
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
    over_seeds : SeedRanges or None
        Ranges over seeds, which the remarks of the table have as well; None if nobody asked for them.
    saved : str or None
        The text of the file for ``cudbound verify``; None if nobody asked for it.
    """

    table: IntervalTable | ComparisonTable | PairTable
    run: Run
    warnings: tuple[str, ...]
    certified: bool = True
    over_seeds: SeedRanges | None = None
    saved: str | None = None


def emit(outcome: CommandOutcome, wanted: Wanted, *, headline_only: bool = False) -> None:
    """Write the table and what else is wanted to their places.

    With `headline_only` forms for reading have the sentences above the table alone.
    """
    from cudbound.report.table_style import Style

    table = replace(table_at_the_shell(outcome.table), run=outcome.run)
    unstable = getattr(table, "instability", None)
    report = table.report(style=Style(**wanted.style))
    place = "headline" if headline_only else "notes"
    if outcome.over_seeds is not None:
        lines = outcome.over_seeds.lines() if headline_only else []  # else the remarks have them
        numbers = {"seeds": outcome.over_seeds.seeds, "ranges": outcome.over_seeds.ranges}
        report = _with_more(report, "over_seeds", numbers, lines, place)
    if wanted.instability and unstable is not None:
        report = _with_more(report, "instability", unstable.summary, unstable.lines(), place)
    pictures = {}
    if wanted.instability_picture is not None and unstable is not None:
        pictures[wanted.instability_picture] = unstable.display()
    texts = {} if wanted.saved is None or outcome.saved is None else {wanted.saved: outcome.saved}
    write(table, report, wanted, pictures, texts, headline_only=headline_only)


def write(
    result: Writable,
    report: Report,
    wanted: Wanted,
    pictures: Mapping[Path, Display] = NO_PICTURES,
    texts: Mapping[Path, str] = NO_TEXTS,
    *,
    headline_only: bool = False,
) -> None:
    """Write a result by its report, its picture, `pictures` and `texts` besides."""
    from cudbound.report.render import render_headline, render_report

    shown = {**pictures, **({} if wanted.picture is None else {wanted.picture: result.display()})}
    files: dict[Path, str | bytes] = {path: display.image(_kind(path)) for path, display in shown.items()}
    files |= texts
    if wanted.form in PICTURES and wanted.place is not None:
        files[wanted.place] = result.display().image(wanted.form)
    if wanted.place not in files:
        render = render_headline if headline_only else render_report
        text = render(report, wanted.form)
        if wanted.place is None:
            click.echo(text)
        else:
            files[wanted.place] = f"{text}\n"
    if wanted.describe:
        click.echo(f"{chr(10) if wanted.place is None else ''}{result.describe()}")
    if files:
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
    """Pass the warnings on, and leave with the code of a bound that is not proved."""
    for warning in outcome.warnings:
        say(f"warning: {at_the_shell(warning)}")
    if not outcome.certified:
        sys.exit(NOT_CERTIFIED)
