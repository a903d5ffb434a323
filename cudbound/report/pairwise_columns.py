"""What a reader of a table of pairs of learners sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cudbound.basis.results import ComparisonResult
from cudbound.basis.rounding import format_difference, format_level, format_pvalue, printable
from cudbound.report.description import Description, describe_rows
from cudbound.report.estimands import DIFFERENCES, explain_estimands
from cudbound.report.tables import Column, Report, Run

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (
    Column("a", "a", "text"),
    Column("b", "b", "text"),
    Column("estimate", "estimate", "difference"),
    Column("simultaneous_low", "low", "difference"),
    Column("simultaneous_high", "high", "difference"),
    Column("pvalue", "p-value", "pvalue"),
    Column("adjusted_pvalue", "Holm", "pvalue"),
)
_REMARKS = Column("remarks", "remarks", "text", 24, moves=0)


def pairwise_report(
    rows: Sequence[Mapping[str, Any]],
    first: ComparisonResult,
    learners: Mapping[str, str],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None = None,
) -> Report:
    """Return pairs with what must stand around them; `first` is the comparison of one of them."""
    level = format_level(first.confidence_level)
    notes = (
        *([] if run is None else run.notes()),
        *(f"{name}: {description}." for name, description in learners.items()),
        f"Method: {first.method}; {len(rows)} comparisons on the same splits or cases.",
        "Estimate: error(a) - error(b), in [-1, 1]; above 0 where a errs more.",
        f"low, high: simultaneous limits (Bonferroni); all of them hold at once at the nominal level {level}.",
        "p-value: of equal errors, for this pair alone. Holm: adjusted for the number of pairs.",
        "A large p-value does not show that two errors are equal.",
        *explain_estimands([first.estimand], DIFFERENCES),
    )
    columns = (*_COLUMNS, _REMARKS) if any(row["remarks"] for row in rows) else _COLUMNS
    title = f"Differences of the errors of {len(learners)} learners, with simultaneous {level} intervals"
    return Report("pairs", title, notes, columns, tuple(rows), to_frame, run)


def describe_pairs(
    rows: Sequence[Mapping[str, Any]],
    first: ComparisonResult,
    learners: Mapping[str, str],
    run: Run | None,
    title: str,
    reference: str,
) -> Description:
    """Return words for a paper; `first` is the comparison of one pair, `title` and `reference` are its method's."""
    references = {first.method: f"{reference}; Holm (1979)"}
    words = describe_rows([first], run, {first.method: title}, references)
    named = "; ".join(f"{name}, {description}" for name, description in learners.items())
    adjusted = (
        f"The intervals of all {len(rows)} pairs hold at once at the nominal level (Bonferroni); p-values of equal "
        "errors were adjusted for the number of pairs by Holm's procedure."
    )
    methods = f"{words.methods} The classifiers: {named}. {adjusted}"
    results = " ".join(map(_result, rows))
    return replace(words, methods=printable(methods), results=printable(results))


def _result(row: Mapping[str, Any]) -> str:
    """Return what was found for one pair, with the remarks that a reader must know."""
    remarks = f" ({row['remarks']})" if row["remarks"] else ""
    estimate, low, high = map(
        format_difference, (row["estimate"], row["simultaneous_low"], row["simultaneous_high"])
    )
    pvalue, adjusted = format_pvalue(row["pvalue"]), format_pvalue(row["adjusted_pvalue"])
    return (
        f"error({row['a']}) - error({row['b']}) = {estimate} (simultaneous {format_level(row['confidence_level'])} "
        f"confidence interval {low} to {high}; p-value {pvalue}, adjusted {adjusted}){remarks}."
    )
