"""The steps of ``cudbound interval`` and ``cudbound demo`` for a fitted classifier: compute, describe, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.basis.rounding import format_proportion
from cudbound.cli.advice import Heard, in_words_of_the_command
from cudbound.cli.fitted import FittedClassifier, with_notes
from cudbound.cli.output import ResultOutput

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.analysis.table import IntervalTable
    from cudbound.basis.results import IntervalEstimate
    from cudbound.report.tables import Report

#: What is compared over the seeds, in the words of a sentence.
COMPARED = {"estimate": "estimate", "low": "lower limit", "high": "upper limit"}
#: The limit that a one-sided interval does not have.
ABSENT = {"less": "low", "greater": "high"}


def compute(
    fitted: FittedClassifier, seed: int, n_seeds: int | None = None, **arguments: Any
) -> tuple[IntervalTable, Heard, SeedRanges | None]:
    """Compute the intervals for the error of a fitted classifier, with several seeds if requested.

    Parameters
    ----------
    fitted : FittedClassifier
    seed : int
    n_seeds : int or None, default None
    **arguments
        Further arguments of `cudbound.compare_intervals`.

    Returns
    -------
    table : IntervalTable
        The table of the first seed; its notes name command options.
    heard : Heard
        The warnings.
    ranges : SeedRanges or None
        The ranges over the seeds.

    Raises
    ------
    ValueError
        If the CUD bound is requested but unavailable for this classifier; the message suggests alternatives.
    """
    from cudbound.analysis.compare_intervals import compare_intervals
    from cudbound.basis.seeds import over_seeds

    tables: list[IntervalTable] = []

    def table_of(rng: int) -> IntervalTable:
        tables.append(compare_intervals(fitted.estimator, fitted.X, fitted.y, rng=rng, **arguments))
        return tables[-1]

    ranges = None
    with in_words_of_the_command("some of the refits") as heard:
        if n_seeds is None:
            table_of(seed)
        else:
            ranges = SeedRanges.of(over_seeds(table_of, n_seeds, seed))
    return with_notes(tables[0], fitted.sample, classifier=fitted.description), heard, ranges


def write(
    table: IntervalTable,
    output: ResultOutput,
    files: Mapping[Path, str | bytes] | None = None,
    *,
    ranges: SeedRanges | None = None,
    instability: bool = False,
    headline_only: bool = False,
) -> None:
    """Write the table to its destination, with further `files`.

    Parameters
    ----------
    table : IntervalTable
    output : ResultOutput
    files : mapping of Path to text or bytes, optional
    ranges : SeedRanges or None, default None
        Added to the remarks of the rows.
    instability : bool, default False
        Whether the notes report how often refits classify rows differently.
    headline_only : bool, default False
        Whether human-readable formats contain only the sentences above the table.
    """
    words = [] if ranges is None else ranges.words(table.rows, output.style.percent)
    if ranges is not None:
        said = [f"over {len(ranges.seeds)} seeds: {one}" for one in words]
        rows = (replace(row, remarks=(*row.remarks, one)) for row, one in zip(table.rows, said, strict=True))
        table = replace(table, rows=tuple(rows))
    report = table.report(style=output.style)
    if ranges is not None:
        lines = ranges.lines(words) if headline_only else []  # else the remarks have them
        numbers = {"seeds": ranges.seeds, "ranges": ranges.ranges}
        report = _with_more(report, "over_seeds", numbers, lines, headline_only)
    if instability and table.instability is not None:
        more = table.instability
        report = _with_more(report, "instability", more.summary, more.lines(), headline_only)
    output.write(table, report, files, headline_only=headline_only)


def _with_more(
    report: Report, name: str, numbers: Mapping[str, Any], lines: list[str], headline_only: bool
) -> Report:
    """Return the table with further numbers for programs, and lines that report them in its notes or its headline."""
    place = "headline" if headline_only else "notes"
    said: dict[str, Any] = {place: (*getattr(report, place), *lines)}
    return replace(report, more={**report.more, name: numbers}, **said)


@dataclass(frozen=True)
class SeedRanges:
    """The results of one call with several seeds.

    Attributes
    ----------
    seeds : list of int
    ranges : list of dict
        For each row: method, metric, number of runs with such an interval, and the minimum and maximum of its
        numbers, None if there are none.
    """

    seeds: list[int]
    ranges: list[dict[str, Any]]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> SeedRanges:
        """Return the ranges in the result of `cudbound.over_seeds` for a table of intervals."""
        ranges: list[dict[str, Any]] = []
        for (method, metric), runs in frame.groupby(["method", "metric"], sort=False):
            known = runs.dropna(subset=["low", "high"])
            ends = {
                f"{name}_{end}": float(known[name].agg(how)) if len(known) else None
                for name in COMPARED
                for end, how in (("least", "min"), ("most", "max"))
            }
            ranges.append({"method": method, "metric": metric, "n_seeds": len(known), **ends})
        return cls([int(seed) for seed in frame["seed"].unique()], ranges)

    def words(self, rows: Sequence[IntervalEstimate], percent: bool) -> list[str]:
        """Return the ranges of each row of the table in words, without limits that it does not have."""
        said = []
        for one, row in zip(self.ranges, rows, strict=True):
            write = partial(format_proportion, percent=percent and row.highest == 1.0)
            parts = [
                f"{words} {write(one[f'{name}_least'])} to {write(one[f'{name}_most'])}"
                for name, words in COMPARED.items()
                if one["n_seeds"] and name != ABSENT.get(row.alternative)
            ]
            said.append(", ".join(parts) or "no interval")
        return said

    def lines(self, words: Sequence[str]) -> list[str]:
        """Return the ranges in `words`, one line per row."""
        several = len({one["metric"] for one in self.ranges}) > 1
        return [
            f"Over {len(self.seeds)} seeds: {', '.join(map(str, self.seeds))}.",
            *(
                f"{one['method']}{', ' + one['metric'] if several else ''}: {said}."
                for one, said in zip(self.ranges, words, strict=True)
            ),
        ]
