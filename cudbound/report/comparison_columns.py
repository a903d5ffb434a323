"""What a reader of a table of comparisons sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cudbound.report.estimands import DIFFERENCES, explain_estimands
from cudbound.report.tables import (
    LEVEL,
    REMARKS,
    Column,
    Report,
    Run,
    level_note,
    levels_of,
    reader_records,
)
from cudbound.results import ComparisonResult
from cudbound.rounding import format_level

if TYPE_CHECKING:
    import pandas as pd

_METHOD = Column("method", "method", "text")
_ALTERNATIVE = Column("alternative", "alternative", "text")
_COLUMNS = (
    Column("estimate", "estimate", "difference"),
    Column("low", "low", "difference"),
    Column("high", "high", "difference"),
    Column("statistic", "statistic", "statistic"),
    Column("pvalue", "p-value", "pvalue"),
    Column("estimand", "estimand", "text"),
    Column("n_fits", "fits", "count"),
    REMARKS,
)


def comparison_report(
    rows: Sequence[ComparisonResult], to_frame: Callable[[], pd.DataFrame], run: Run | None = None
) -> Report:
    """Return rows of comparisons with what must stand around them."""
    levels = levels_of(rows)
    varying = [LEVEL] * (len(levels) > 1) + [_ALTERNATIVE] * (len(_alternatives(rows)) > 1)
    shown = {row.interval_level for row in rows}
    level = f" {format_level(shown.pop())}" if len(shown) == 1 else ""
    return Report(
        "comparisons",
        f"Differences of two errors, error(a) - error(b), with{level} confidence intervals",
        tuple(_notes(rows, run)),
        (_METHOD, *varying, *_COLUMNS),
        reader_records(rows),
        to_frame,
        run,
        tuple(row.details for row in rows),
    )


def _notes(rows: Sequence[ComparisonResult], run: Run | None) -> list[str]:
    internal = any(row.n_fits > 0 for row in rows)  # new test cases take no fits
    against = dict.fromkeys(row.against for row in rows)
    if any(row.null != 0.0 for row in rows):
        tested = [
            f"p-value: a small one speaks for {' or '.join(against)}; a large one does not show the contrary."
        ]
    else:
        tested = [
            *([f"p-value: of equal errors, against {' or '.join(against)}."] if against else []),
            "A small p-value speaks against equal errors; a large one does not show that they are equal.",
        ]
    return [
        *([] if run is None else run.notes()),
        "Estimate: error(a) - error(b), in [-1, 1], limits clipped to it; above 0 where a errs more.",
        *tested,
        *explain_estimands((row.estimand for row in rows), DIFFERENCES),
        *(["Internal comparisons, from one data set; no external validation."] if internal else []),
        level_note(rows),
    ]


def _alternatives(rows: Sequence[ComparisonResult]) -> list[str]:
    return list(dict.fromkeys(row.alternative for row in rows))
