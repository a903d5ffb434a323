"""What a reader of a table of comparisons sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cudbound.basis.results import ComparisonResult
from cudbound.report.estimands import DIFFERENCES, explain_estimands
from cudbound.report.table_style import FULL, NO_TITLES, Style, styled
from cudbound.report.tables import Column, Report, Run, rows_report, with_confidence

if TYPE_CHECKING:
    import pandas as pd

_ALTERNATIVE = Column("alternative", "alternative", "text")
_COLUMNS = (
    Column("estimate", "estimate", "difference"),
    Column("low", "low", "difference"),
    Column("high", "high", "difference"),
    Column("statistic", "statistic", "statistic"),
    Column("pvalue", "p-value", "pvalue"),
)


def comparison_report(
    rows: Sequence[ComparisonResult],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None = None,
    style: Style = FULL,
    titles: Mapping[str, str] = NO_TITLES,
) -> Report:
    """Return rows of comparisons with what must stand around them."""
    alternatives = dict.fromkeys(row.alternative for row in rows)
    against = " or ".join(dict.fromkeys(row.against for row in rows))
    internal = any(row.n_fits > 0 for row in rows)  # new test cases take no fits
    if any(row.null != 0.0 for row in rows):
        tested = [f"p-value: a small one speaks for {against}; a large one does not show the contrary."]
    else:
        tested = [
            f"p-value: of equal errors, against {against}." if against else "",
            "A small p-value speaks against equal errors; a large one does not show that they are equal.",
        ]
    notes = (
        "Estimate: error(a) - error(b), in [-1, 1], limits clipped to it; above 0 where a errs more.",
        *tested,
        *explain_estimands((row.estimand for row in rows), DIFFERENCES),
        "Internal comparisons, from one data set; no external validation." if internal else "",
    )
    title = f"Differences of two errors, error(a) - error(b), with {with_confidence(rows)} intervals"
    columns = (_ALTERNATIVE, *_COLUMNS) if len(alternatives) > 1 else _COLUMNS
    report = rows_report("comparisons", title, notes, columns, rows, to_frame, run)
    return styled(report, rows, style, titles)
