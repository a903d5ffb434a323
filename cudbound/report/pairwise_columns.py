"""What a reader of a table of pairs of learners sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cudbound.report.estimands import DIFFERENCES, explain_estimands
from cudbound.report.tables import Column, Report
from cudbound.results import ComparisonResult
from cudbound.rounding import format_level

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
_REMARKS = Column("remarks", "remarks", "text", 24)


def pairwise_report(
    rows: Sequence[Mapping[str, Any]],
    first: ComparisonResult,
    learners: Mapping[str, str],
    to_frame: Callable[[], pd.DataFrame],
) -> Report:
    """Return pairs with what must stand around them; `first` is the comparison of one of them."""
    level = format_level(first.confidence_level)
    notes = (
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
    return Report("pairs", title, notes, columns, tuple(rows), to_frame)
