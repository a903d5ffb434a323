"""The steps of ``cudbound interval`` and ``cudbound demo`` for a fitted classifier: compute, describe, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.basis.rounding import format_proportion
from cudbound.cli.command import CollectedWarnings, in_words_of_the_command
from cudbound.cli.fitted import FittedClassifier, with_notes
from cudbound.cli.output import ResultOutput

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.analysis.table import IntervalTable
    from cudbound.basis.results import IntervalEstimate

#: What is compared over the seeds, in the words of a sentence.
COMPARED = {"estimate": "estimate", "low": "lower limit", "high": "upper limit"}
#: The limit that a one-sided interval does not have.
ABSENT = {"less": "low", "greater": "high"}


def compute(
    fitted: FittedClassifier, seed: int, n_seeds: int | None = None, **arguments: Any
) -> tuple[IntervalTable, CollectedWarnings, SeedRanges | None]:
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
    warnings : CollectedWarnings
        The warnings.
    ranges : SeedRanges or None
        The ranges over the seeds.

    Raises
    ------
    ValueError
        If the CUD bound is requested but unavailable for this classifier; the message suggests alternatives.
    """
    from cudbound.analysis.compare_intervals import compare_intervals
    from cudbound.basis.calls import over_seeds

    tables: list[IntervalTable] = []

    def table_of(rng: int) -> IntervalTable:
        tables.append(compare_intervals(fitted.estimator, fitted.X, fitted.y, rng=rng, **arguments))
        return tables[-1]

    ranges = None
    with in_words_of_the_command("some of the refits") as collected:
        if n_seeds is None:
            table_of(seed)
        else:
            ranges = SeedRanges.of(over_seeds(table_of, n_seeds, seed))
    return with_notes(tables[0], fitted.sample, classifier=fitted.description), collected, ranges


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
    lines, more = list[str](), dict[str, Any]()
    if ranges is not None:
        words = ranges.words(table.rows, output.style.percent)
        remarks = [f"over {len(ranges.seeds)} seeds: {text}" for text in words]
        rows = [
            replace(row, remarks=(*row.remarks, text)) for row, text in zip(table.rows, remarks, strict=True)
        ]
        table = replace(table, rows=tuple(rows))
        lines += ranges.lines(words) if headline_only else []  # else the remarks have them
        more["over_seeds"] = {"seeds": ranges.seeds, "ranges": ranges.ranges}
    if instability and table.instability is not None:
        lines += table.instability.lines()
        more["instability"] = table.instability.summary
    report = table.report(style=output.style)
    place = "headline" if headline_only else "notes"
    changes: dict[str, Any] = {place: (*getattr(report, place), *lines), "more": {**report.more, **more}}
    output.write(table, replace(report, **changes), files, headline_only=headline_only)


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
            limited = runs.dropna(subset=["low", "high"])
            ends = {
                f"{name}_{end}": float(limited[name].agg(how)) if len(limited) else None
                for name in COMPARED
                for end, how in (("least", "min"), ("most", "max"))
            }
            ranges.append({"method": method, "metric": metric, "n_seeds": len(limited), **ends})
        return cls([int(seed) for seed in frame["seed"].unique()], ranges)

    def words(self, rows: Sequence[IntervalEstimate], percent: bool) -> list[str]:
        """Return the ranges of each row of the table in words, without limits that it does not have."""
        words = []
        for numbers, row in zip(self.ranges, rows, strict=True):
            write = partial(format_proportion, percent=percent and row.highest == 1.0)
            parts = [
                f"{name} {write(numbers[f'{key}_least'])} to {write(numbers[f'{key}_most'])}"
                for key, name in COMPARED.items()
                if numbers["n_seeds"] and key != ABSENT.get(row.alternative)
            ]
            words.append(", ".join(parts) or "no interval")
        return words

    def lines(self, words: Sequence[str]) -> list[str]:
        """Return the ranges in `words`, one line per row."""
        several = len({numbers["metric"] for numbers in self.ranges}) > 1
        lines = [f"Over {len(self.seeds)} seeds: {', '.join(map(str, self.seeds))}."]
        for numbers, text in zip(self.ranges, words, strict=True):
            metric = f", {numbers['metric']}" if several else ""
            lines.append(f"{numbers['method']}{metric}: {text}.")
        return lines
