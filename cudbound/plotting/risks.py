"""Plots of scores and predicted risks, without bands: ROC curve, risks by outcome, calibration by tertiles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.metrics import auc, roc_curve

from cudbound.plotting.display import LEVEL_STYLE, Display, check_columns, safe_label
from cudbound.plotting.refit_plots import CountsDisplay

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: With fewer cases, a calibration plot has a note of caution.
FEW_CASES = 100
_RISK = "probability_out_of_bag"


def _predictions(table: Any) -> pd.DataFrame:
    """Return the predictions of a `cudbound.IntervalTable`; raise ValueError without any."""
    frame: pd.DataFrame | None = table.predictions
    if frame is None:
        raise ValueError("The table has no scores. Include the metric 'auc' or 'brier'.")
    return frame


class _SquareDisplay(Display):
    """A plot of numbers in [0, 1] against numbers in [0, 1], with the diagonal."""

    inches = (4.8, 4.8)

    def _frame_square(self, ax: Axes, title: str, x: str, y: str) -> None:
        (self.diagonal_,) = ax.plot([0.0, 1.0], [0.0, 1.0], **LEVEL_STYLE)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xlabel=x, ylabel=y)
        ax.set_title(title, loc="left")


class RocDisplay(_SquareDisplay):
    """ROC curves of a classifier on its training rows, and of its refits on the rows that their draws left out.

    Out of bag, a row has its mean rank among the rows left out of the same draw, because scores of different refits are
    not on the same scale. The area under this curve is close, but not equal, to the estimate of the interval in the
    legend. There is no band: none is known to have nominal coverage.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns event, score, rank_out_of_bag, as in `cudbound.IntervalTable.predictions`.
    interval : str, default=""
        The interval for the AUC, for the legend.

    Attributes
    ----------
    apparent_, out_of_bag_ : matplotlib.lines.Line2D or None
        None if not recorded.
    diagonal_, legend_, ax_, figure_ : matplotlib artists
    """

    columns = ("event", "score", "rank_out_of_bag")

    def __init__(self, frame: pd.DataFrame, interval: str = "") -> None:
        check_columns("frame", frame, self.columns)
        self.frame = frame
        self.interval = interval

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """Return the display of a `cudbound.IntervalTable` with a metric that needs scores.

        Raises
        ------
        ValueError
            If it has none.
        """
        rows = [row for row in table if row.metric == "auc" and not math.isnan(row.estimate)]
        if not rows:
            return cls(_predictions(table))
        row, limits = rows[0], rows[0].confidence_interval
        level = f"{100.0 * row.confidence_level:g}% {row.method} interval"
        return cls(
            _predictions(table), f"AUC {row.estimate:.2f}, {level}\n{limits.low:.2f} to {limits.high:.2f}"
        )

    def _draw_on(self, ax: Axes) -> None:
        self.apparent_ = self._draw_curve(ax, "score", "apparent", color="0.55", linewidth=1.2)
        self.out_of_bag_ = self._draw_curve(ax, "rank_out_of_bag", "out of bag", color="black", linewidth=1.6)
        if self.interval:
            label = "\n".join(safe_label(line, 60) for line in self.interval.split("\n"))
            ax.plot([], [], linestyle="none", label=label)
        self._frame_square(ax, "ROC curve", "1 \N{MINUS SIGN} specificity", "sensitivity")
        self.legend_ = ax.legend(loc="lower right", fontsize="small", frameon=False)

    def _draw_curve(self, ax: Axes, column: str, name: str, **style: Any) -> Any:
        rows = self.frame[self.frame[column].notna()]
        if rows["event"].nunique() < 2:
            return None
        x, y, _ = roc_curve(rows["event"], rows[column], drop_intermediate=False)
        return ax.plot(x, y, label=f"{name}, area {auc(x, y):.2f}", **style)[0]


#: Bars of the predicted risks.
N_BARS = 20


class RiskDisplay(CountsDisplay):
    """Histograms of predicted risks, by refits whose draws left the row out: events above, non-events below.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns event, probability_out_of_bag, as in `cudbound.IntervalTable.predictions`.

    Attributes
    ----------
    bars_, legend_, ax_, figure_ : matplotlib artists
        As in `cudbound.plotting.refit_plots.CountsDisplay`.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        check_columns("frame", frame, ("event", _RISK))
        self.frame = frame[frame[_RISK].notna()]
        if self.frame.empty:
            raise ValueError("No row has an out-of-bag risk. Include the metric 'brier' in the table.")
        edges = np.linspace(0.0, 1.0, N_BARS + 1)
        events = self.frame["event"].astype(bool)
        counts = {
            name: np.histogram(self.frame.loc[rows, _RISK], edges)[0].tolist()
            for name, rows in (("events", events), ("non-events", ~events))
        }
        super().__init__(edges.tolist(), counts, "predicted risk of the event, out of bag", "cases")

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """Return the display of a `cudbound.IntervalTable` with a metric that needs probabilities.

        Raises
        ------
        ValueError
            If it has none.
        """
        return cls(_predictions(table))


class CalibrationDisplay(_SquareDisplay):
    """Observed shares of events against mean predicted risks, by tertiles of the out-of-bag risk.

    No curve is drawn through the points: with few cases, its shape would come from the smoother. Equal risks stay in
    one tertile.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns event, probability_out_of_bag, as in `cudbound.IntervalTable.predictions`.
    intercept, slope : float, default=nan
        Optimism-corrected values, for the legend.

    Attributes
    ----------
    tertiles_ : pandas.DataFrame
        Columns predicted, observed, n.
    points_ : matplotlib.lines.Line2D
    caution_ : matplotlib.text.Text or None
        Below 100 cases.
    diagonal_, ax_, figure_ : matplotlib artists
    """

    def __init__(self, frame: pd.DataFrame, intercept: float = math.nan, slope: float = math.nan) -> None:
        self.frame = RiskDisplay(frame).frame
        self.intercept = intercept
        self.slope = slope
        risks = self.frame[_RISK]
        of_row = np.searchsorted(np.quantile(risks, [1 / 3, 2 / 3]), risks, side="left")
        grouped = self.frame.groupby(of_row)
        self.tertiles_ = grouped.agg(
            predicted=(_RISK, "mean"), observed=("event", "mean"), n=("event", "size")
        )

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """Return the display of a `cudbound.IntervalTable` with a metric that needs probabilities.

        Raises
        ------
        ValueError
            If it has none.
        """
        frame, calibration = _predictions(table), table.calibration
        return cls(frame) if calibration is None else cls(frame, calibration.intercept, calibration.slope)

    def _draw_on(self, ax: Axes) -> None:
        title = "Calibration by tertiles of the risk"
        self._frame_square(ax, title, "mean predicted risk, out of bag", "observed share of events")
        points = self.tertiles_[["predicted", "observed"]].to_numpy().T
        (self.points_,) = ax.plot(*points, linestyle="none", marker="o", color="black")
        for x, y, n in self.tertiles_.itertuples(index=False, name=None):
            # on the side away from the diagonal
            above = y >= x
            ax.annotate(
                f"n = {n}",
                (x, y),
                xytext=(0, 7 if above else -7),
                textcoords="offset points",
                ha="left" if x < 0.05 else "right" if x > 0.95 else "center",  # not across the axis
                va="bottom" if above else "top",
                fontsize="small",
            )
        note = f"corrected for optimism:\nintercept {self.intercept:z.2f}, slope {self.slope:z.2f}"
        inside: dict[str, Any] = {"transform": ax.transAxes, "fontsize": "small", "va": "top"}
        self.note_ = ax.text(
            0.03, 0.97, "" if math.isnan(self.slope) else note.replace("-", "\N{MINUS SIGN}"), **inside
        )
        self.caution_ = None
        if len(self.frame) < FEW_CASES:
            few = f"Caution: {len(self.frame)} cases, fewer than\n{FEW_CASES}"
            place = inside | {"va": "bottom", "ha": "right", "color": "0.3"}
            self.caution_ = ax.text(0.97, 0.03, f"{few}; each point varies a lot by chance.", **place)
