"""What a reader of a table of point estimates sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from cudbound.basis.results import PointEstimate
from cudbound.report.estimands import ERRORS, explain_estimands
from cudbound.report.table_style import FULL, NO_TITLES, Style, styled
from cudbound.report.tables import Column, Report, Run, rows_report

if TYPE_CHECKING:
    import pandas as pd


def point_report(
    rows: Sequence[PointEstimate],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None = None,
    style: Style = FULL,
    titles: Mapping[str, str] = NO_TITLES,
) -> Report:
    """Return rows of point estimates with what must stand around them."""
    notes = (
        f"Scale: {style.scale}.",
        *explain_estimands((row.estimand for row in rows), ERRORS),
        "Estimates without a statement of their uncertainty: compare_intervals gives intervals.",
    )
    columns = (Column("estimate", "estimate", "difference"),)
    title = "Point estimates of the error of a classifier"
    report = rows_report("estimates", title, notes, columns, rows, to_frame, run)
    return styled(report, rows, style, titles)
