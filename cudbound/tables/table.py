"""Rows of one kind, side by side: looked up by method, as a frame, and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic

from cudbound.report.comparison_columns import comparison_report
from cudbound.report.interval_columns import interval_report
from cudbound.report.render import render_report
from cudbound.report.tables import Report, Run
from cudbound.results import ComparisonResult, IntervalEstimate, OneRow, PointEstimate, frame_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Table(Generic[OneRow]):
    """What several methods found on the same data, in the order they were asked for.

    Attributes
    ----------
    rows : tuple
        One for each method.
    """

    rows: tuple[OneRow, ...]

    #: What a row is, in messages.
    KIND: ClassVar[str]
    COLUMNS: ClassVar[tuple[str, ...]]

    def __getitem__(self, method: str) -> OneRow:
        for row in self.rows:
            if row.method == method:
                return row
        raise KeyError(
            f"no {self.KIND} by {method!r} in this table; it has {[row.method for row in self.rows]}"
        )

    def __repr__(self) -> str:
        return str(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one unrounded row per method; limits are clipped, with the raw ones beside them.

        Returns
        -------
        pandas.DataFrame
            Its columns are attributes of the rows; ``degenerate`` is a bool, and the reason ends ``remarks``.
        """
        return frame_of(self.rows, self.COLUMNS)


class IntervalTable(Table[IntervalEstimate]):
    """Intervals by several methods on the same data, in the order they were asked for."""

    KIND = "interval"
    COLUMNS = IntervalEstimate.COLUMNS

    def report(self, run: Run | None = None) -> Report:
        """Return the table with the title and the notes that must stand around it."""
        return interval_report(self.rows, self.to_frame, run)

    def __str__(self) -> str:
        return render_report(self.report())


class ComparisonTable(Table[ComparisonResult]):
    """Comparisons of the same two classifiers or learning algorithms by several methods, in the order asked for."""

    KIND = "comparison"
    COLUMNS = ComparisonResult.COLUMNS

    def report(self, run: Run | None = None) -> Report:
        """Return the table with the title and the notes that must stand around it."""
        return comparison_report(self.rows, self.to_frame, run)

    def __str__(self) -> str:
        return render_report(self.report())


class PointEstimateTable(Table[PointEstimate]):
    """Point estimates by several estimators on the same data, in the order they were asked for."""

    KIND = "point estimate"
    COLUMNS = PointEstimate.COLUMNS

    def __str__(self) -> str:
        frame = self.to_frame().drop(columns="degenerate")
        frame["remarks"] = [" ".join(text.split()) for text in frame["remarks"]]  # one line for each row
        return frame.to_string(index=False, float_format="{:.3f}".format)
