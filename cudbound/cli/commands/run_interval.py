"""What ``cudbound interval`` and ``cudbound demo`` do with a fitted classifier: compute, describe, write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.cli.advice import Heard, in_words_of_the_command
from cudbound.cli.fitted import FittedClassifier, facts_of_run
from cudbound.cli.result_output import ResultOutput
from cudbound.cli.seed_ranges import SeedRanges

if TYPE_CHECKING:
    from cudbound.analysis.table import IntervalTable
    from cudbound.report.tables import Report, RunDescription


def compute(
    fitted: FittedClassifier, arguments: Mapping[str, Any], seed: int, n_seeds: int | None = None
) -> tuple[IntervalTable, Heard, SeedRanges | None]:
    """Compute the intervals for the error of a fitted classifier, with several seeds if that is asked.

    Parameters
    ----------
    fitted : FittedClassifier
    arguments : mapping of str to object
        Further arguments of `cudbound.compare_intervals`.
    seed : int
    n_seeds : int or None, default None

    Returns
    -------
    table : IntervalTable
        That of the first seed.
    heard : Heard
        What it warned of.
    ranges : SeedRanges or None
        Over the seeds.

    Raises
    ------
    ValueError
        If the CUD bound is requested and is unavailable for this classifier; the message says how to continue.
    """
    from cudbound.analysis.compare_intervals import compare_intervals

    tables: list[IntervalTable] = []

    def table_of(rng: int) -> IntervalTable:
        tables.append(compare_intervals(fitted.estimator, fitted.X, fitted.y, rng=rng, **arguments))
        return tables[-1]

    ranges = None
    with in_words_of_the_command("some of the refits") as heard:
        if n_seeds is None:
            table_of(seed)
        else:
            from cudbound.basis.seeds import over_seeds

            ranges = SeedRanges.of(over_seeds(table_of, n_seeds, seed))
    return replace(tables[0], run=_described(fitted, tables[0], arguments, seed)), heard, ranges


def _described(
    fitted: FittedClassifier, table: IntervalTable, arguments: Mapping[str, Any], seed: int
) -> RunDescription:
    """Return what the notes under the table say of the data, the classifier and the run."""
    from cudbound.report.run_facts import weighted_share
    from cudbound.report.tables import RunDescription

    sample = fitted.sample
    return RunDescription(
        **facts_of_run(sample, seed),
        n_resamples=arguments["n_resamples"],
        localization=arguments["localization"],
        classifier=fitted.description,
        weighted_share=weighted_share(sample.y == 1, sample.weights),
        cautions=() if table.run is None else table.run.cautions,
    )


def write(
    table: IntervalTable,
    output: ResultOutput,
    files: Mapping[Path, str | bytes],
    *,
    ranges: SeedRanges | None = None,
    instability: bool = False,
    headline_only: bool = False,
) -> None:
    """Write the table to its place, with `files` beside it.

    Parameters
    ----------
    table : IntervalTable
    output : ResultOutput
    files : mapping of Path to text or bytes
    ranges : SeedRanges or None, default None
        Enter the remarks of the rows.
    instability : bool, default False
        Whether the notes say how often refits put rows in another class.
    headline_only : bool, default False
        Whether forms for reading have the sentences above the table alone.
    """
    if ranges is not None:
        said = [f"over {len(ranges.seeds)} seeds: {words}" for words in ranges.words]
        rows = (replace(row, remarks=(*row.remarks, one)) for row, one in zip(table.rows, said, strict=True))
        table = replace(table, rows=tuple(rows))
    report = table.report(style=output.style)
    if ranges is not None:
        lines = ranges.lines() if headline_only else []  # else the remarks have them
        numbers = {"seeds": ranges.seeds, "ranges": ranges.ranges}
        report = _with_more(report, "over_seeds", numbers, lines, headline_only)
    if instability and table.instability is not None:
        more = table.instability
        report = _with_more(report, "instability", more.summary, more.lines(), headline_only)
    output.write(table, report, files, headline_only=headline_only)


def _with_more(
    report: Report, name: str, numbers: Mapping[str, Any], lines: list[str], headline_only: bool
) -> Report:
    """Return the table with more numbers for programs, and lines that say them in its notes or its headline."""
    place = "headline" if headline_only else "notes"
    said: dict[str, Any] = {place: (*getattr(report, place), *lines)}
    return replace(report, more={**report.more, name: numbers}, **said)
