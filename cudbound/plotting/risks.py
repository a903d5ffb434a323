"""Plots of a classifier: its ROC curve, predicted risks, calibration, and how refits change it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import auc, roc_curve

from cudbound.basis.validation import Array
from cudbound.plotting.display import LEVEL_STYLE, Display, safe_label
from cudbound.point_estimates.calibration_values import calibration_curves

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class CountsDisplay(Display):
    """Histograms from given counts: one, or two on opposite sides of the axis.

    Parameters
    ----------
    edges : sequence of float
        Bin edges, one more than counts.
    counts : mapping of str to sequence of int
        One or two histograms by name; the second is below the axis.
    axis_label, counted : str
        Labels of the axis and of the counts.
    mark : (float, str) or None, default=None
        Position and label of a line.

    Attributes
    ----------
    bars_ : list of matplotlib.container.BarContainer
    mark_line_ : matplotlib.lines.Line2D or None
    legend_, ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> display = CountsDisplay([0.0, 0.5, 1.0], {"events": [1, 2], "non-events": [3, 0]}, "risk", "cases").plot()
    >>> [int(bar.get_height()) for bar in display.bars_[1]]
    [-3, 0]
    """

    inches = (7.0, 2.8)

    def __init__(
        self,
        edges: Sequence[float],
        counts: Mapping[str, Sequence[int]],
        axis_label: str,
        counted: str,
        mark: tuple[float, str] | None = None,
    ) -> None:
        self.edges = np.asarray(edges, dtype=float)
        self.counts = {name: np.asarray(heights) for name, heights in counts.items()}
        self.axis_label, self.counted, self.mark = axis_label, counted, mark

    def _draw_on(self, ax: Axes) -> None:
        style: dict[str, Any] = {"width": np.diff(self.edges), "align": "edge", "edgecolor": "white"}
        self.bars_, self.mark_line_ = [], None
        for (name, heights), sign, color in zip(self.counts.items(), (1, -1), ("0.35", "0.7"), strict=False):
            label = safe_label(f"{name} (n = {heights.sum()})")
            self.bars_.append(ax.bar(self.edges[:-1], sign * heights, color=color, label=label, **style))
        if self.mark is not None:
            line, label = self.mark
            self.mark_line_ = ax.axvline(line, **LEVEL_STYLE | {"zorder": 3}, label=safe_label(label))
        if len(self.counts) > 1:
            ax.axhline(0.0, color="black", linewidth=0.8)
        ax.locator_params(axis="y", integer=True)
        ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
        ax.set(xlim=(self.edges[0], self.edges[-1]), xlabel=self.axis_label, ylabel=self.counted)
        self.legend_ = ax.legend(
            loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, fontsize="small", frameon=False
        )


#: With fewer cases, a calibration plot has a note of caution.
FEW_CASES = 100
_RISK = "probability_out_of_bag"


def _predictions(table: Any) -> pd.DataFrame:
    """Return the predictions of a `cudbound.IntervalTable`; raise ValueError without any."""
    frame: pd.DataFrame | None = table.predictions
    if frame is None:
        raise ValueError("The table has no scores. Include the metric 'auc' or 'brier'.")
    return frame


class SquareDisplay(Display):
    """A plot of numbers in [0, 1] against numbers in [0, 1], with the diagonal."""

    inches = (4.8, 4.8)

    def _frame_square(self, ax: Axes, title: str, x: str, y: str) -> None:
        (self.diagonal_,) = ax.plot([0.0, 1.0], [0.0, 1.0], **LEVEL_STYLE)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xlabel=x, ylabel=y)
        ax.set_title(title, loc="left")


class RocDisplay(SquareDisplay):
    """ROC curves of a classifier on its training rows, and of its refits on the rows that their draws left out.

    Out of bag, a row has its mean rank among the rows left out of the same draw, because scores of different refits are
    not on the same scale. The area under this curve is close, but not equal, to the estimate of the interval in the
    legend. There is no band.

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

    def __init__(self, frame: pd.DataFrame, interval: str = "") -> None:
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


class CalibrationDisplay(SquareDisplay):
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
        self.frame = frame[frame[_RISK].notna()]
        if self.frame.empty:
            raise ValueError("No row has an out-of-bag risk. Include the metric 'brier' in the table.")
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


class InstabilityDisplay(Display):
    """Share of refits that classify each row differently, or each group of neighboring rows.

    Parameters
    ----------
    shares : array-like of float, shape (n_samples,)
        In [0, 1].
    distances : array-like of float, shape (n_samples,), or None, default=None
        Distance of each row's score from the threshold; None orders the rows by share.
    distances_of : str, default=""
        The quantity whose distances they are, or why there are none.
    largest : array-like of float, shape (n_samples,), or None, default=None
        For groups: the largest share in each, up to which a line is drawn; `shares` are then means.
    marks : sequence of float, default=(0.1, 0.25)
        Shares at which a line is drawn.

    Attributes
    ----------
    points_ : matplotlib.collections.PathCollection
    mark_labels_ : list of matplotlib.text.Text
        To the right of each line: the share, and the number of rows above it.
    ax_, figure_ : matplotlib artists
        As in `Display`.

    Examples
    --------
    >>> display = InstabilityDisplay([0.5, 0.0], [0.1, 2.0], "distance of decision_function from 0").plot()
    >>> display.points_.get_offsets().tolist()
    [[0.1, 0.5], [2.0, 0.0]]
    """

    def __init__(
        self,
        shares: ArrayLike,
        distances: ArrayLike | None = None,
        distances_of: str = "",
        largest: ArrayLike | None = None,
        marks: Sequence[float] = (0.1, 0.25),
    ) -> None:
        self.shares = np.asarray(shares, dtype=float)
        self.distances = None if distances is None else np.asarray(distances, dtype=float)
        self.distances_of = distances_of
        self.largest = None if largest is None else np.asarray(largest, dtype=float)
        self.marks = tuple(marks)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return self.inches if self.largest is None else (7.0, 3.2)

    def _draw_on(self, ax: Axes) -> None:
        at, heights = self.distances, self.shares
        label = self.distances_of or "distance of the score from the threshold"
        if at is None:
            at, heights = np.arange(1, heights.size + 1), np.sort(heights)[::-1]
            label = "; ".join(filter(None, ("rows ordered by share", self.distances_of)))
        beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": "small"}
        self.mark_labels_ = []
        for mark in self.marks:
            ax.axhline(mark, **LEVEL_STYLE)
            above = f" of refits:\n{(heights > mark).sum()} of {heights.size} rows above"
            words = f"{100 * mark:g}%{above if self.largest is None else ''}"
            self.mark_labels_.append(ax.text(1.01, mark, words, **beside))
        fill = "none"  # hollow, so that rows upon each other are seen
        if self.largest is not None:
            fill = "black"
            ax.vlines(at, heights, self.largest, color="0.45", linewidth=1.2)
            ax.set_xlim(left=0.0)
        self.points_ = ax.scatter(at, heights, s=22.0, facecolors=fill, edgecolors="black", zorder=2)
        # as high as keeps the labels of the lines apart
        top = float((heights if self.largest is None else self.largest).max())
        ax.set_ylim(-0.02, max(0.5, 1.05 * top))
        ax.set(xlabel=safe_label(label, 90), ylabel="share of refits with another class")


#: Refits that are drawn; more curves make one gray area.
MOST_DRAWN = 200
#: Risks at which curves are computed.
GRID = np.linspace(0.01, 0.99, 99)


class RefitsDisplay(SquareDisplay):
    """Risks of the rows by a classifier and by its refits.

    Parameters
    ----------
    risks : array-like of float, shape (n_samples,)
        Risks of the event by the classifier, in [0, 1].
    refit_risks : array-like of float, shape (n_refits, n_samples)
        Risks by the refits, of which at most 200 are drawn.
    event : array-like of bool, shape (n_samples,), default=()
        Which rows are events, for curves.
    """

    def __init__(self, risks: ArrayLike, refit_risks: ArrayLike, event: ArrayLike = ()) -> None:
        self.risks = np.asarray(risks, dtype=float)
        self.refit_risks = np.asarray(refit_risks, dtype=float)
        self.event = np.asarray(event, dtype=bool)

    def _draw_curves(self, ax: Axes, curves: Array) -> None:
        """Draw the curve of the classifier, which is the first, and those of the refits."""
        from matplotlib.collections import LineCollection

        style: dict[str, Any] = {"colors": "0.6", "linewidths": 0.5, "alpha": 0.5, "zorder": 1}
        pairs = [np.column_stack((GRID, values)) for values in curves[1:]]
        self.refit_curves_ = ax.add_collection(LineCollection(pairs, label="refits", **style))
        (self.curve_,) = ax.plot(GRID, curves[0], color="black", linewidth=1.6, zorder=3, label="classifier")

    @property
    def _all_risks(self) -> Array:
        """The risks by the classifier, and by the refits that are drawn."""
        return np.vstack((self.risks, self.refit_risks[:MOST_DRAWN]))


class PredictionInstabilityDisplay(RefitsDisplay):
    """Risks by refits against the risk by the classifier, with lines at their .025 and .975 quantiles.

    The quantiles show the instability of building the model; they are not a confidence interval for the risk of a
    patient.

    Parameters are those of `RefitsDisplay`. Quantiles are of all refits, points of at most 200.

    Attributes
    ----------
    points_ : matplotlib.lines.Line2D
    quantile_lines_ : list of matplotlib.lines.Line2D
    diagonal_, legend_, ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> display = PredictionInstabilityDisplay([0.2, 0.6], [[0.1, 0.7], [0.3, 0.5]]).plot()
    >>> display.quantile_lines_[0].get_ydata().round(3).tolist()
    [0.105, 0.505]
    """

    def _draw_on(self, ax: Axes) -> None:
        order = np.argsort(self.risks, kind="stable")
        drawn = self._all_risks[1:]
        x = np.broadcast_to(self.risks, drawn.shape)
        style: dict[str, Any] = {
            "color": "0.6",
            "markersize": 2.0,
            "alpha": 0.4,
            "linestyle": "none",
            "zorder": 1,
            "rasterized": True,  # thousands of points make a large SVG
        }
        (self.points_,) = ax.plot(x.ravel(), drawn.ravel(), marker=".", label="refits", **style)
        limits = np.quantile(self.refit_risks, (0.025, 0.975), axis=0)[:, order]
        self.quantile_lines_ = ax.plot(
            self.risks[order], limits.T, color="black", linewidth=1.0, linestyle=":"
        )
        self.quantile_lines_[0].set_label("2.5% and 97.5% of refits")
        self._frame_square(ax, "Instability of the risk", "risk by the classifier", "risk by refits")
        self.legend_ = ax.legend(loc="upper left", fontsize="small", frameon=False)


class RiskRangesDisplay(SquareDisplay):
    """Ranges of the risks by refits against the risk by the classifier, for groups of neighboring rows.

    Parameters
    ----------
    risks : array-like of float, shape (n_groups,)
        Mean risk of each group by the classifier, in [0, 1].
    low, high : array-like of float, shape (n_groups,)
        Means of the .025 and .975 quantiles over the refits.

    Attributes
    ----------
    ranges_ : matplotlib.collections.LineCollection
    points_ : matplotlib.lines.Line2D
        At the risk by the classifier.
    diagonal_, ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> RiskRangesDisplay([0.2], [0.1], [0.5]).plot().ranges_.get_segments()[0].tolist()
    [[0.2, 0.1], [0.2, 0.5]]
    """

    inches = (4.2, 4.2)

    def __init__(self, risks: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        self.risks, self.low, self.high = (np.asarray(values, dtype=float) for values in (risks, low, high))

    def _draw_on(self, ax: Axes) -> None:
        self.ranges_ = ax.vlines(self.risks, self.low, self.high, color="0.45", linewidth=1.6)
        (self.points_,) = ax.plot(
            self.risks, self.risks, marker="o", color="black", linestyle="none", markersize=4.0
        )
        self._frame_square(
            ax, "Instability of the risk", "risk by the classifier", "risk by 95% of the refits"
        )


class MapeDisplay(RefitsDisplay):
    """Mean absolute difference between the risks by the refits and by the classifier, against the latter.

    Parameters are those of `RefitsDisplay`.

    Attributes
    ----------
    points_ : matplotlib.collections.PathCollection
    mean_line_ : matplotlib.lines.Line2D
        The mean over the rows.
    ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> MapeDisplay([0.2, 0.6], [[0.1, 0.7], [0.3, 0.3]]).plot().points_.get_offsets().round(3).tolist()
    [[0.2, 0.1], [0.6, 0.2]]
    """

    inches = (4.8, 3.6)

    def _draw_on(self, ax: Axes) -> None:
        mape = np.abs(self.refit_risks - self.risks).mean(axis=0)
        self.points_ = ax.scatter(self.risks, mape, s=22.0, facecolors="none", edgecolors="black", zorder=2)
        self.mean_line_ = ax.axhline(mape.mean(), **LEVEL_STYLE, label=f"mean {mape.mean():.3f}")
        ax.set(xlim=(-0.02, 1.02), xlabel="risk by the classifier", ylabel="MAPE of the refits")
        ax.set_ylim(0.0, max(0.1, 1.1 * float(mape.max())))
        ax.set_title("Mean absolute difference of the risk", loc="left")
        self.legend_ = ax.legend(loc="upper right", fontsize="small", frameon=False)


class CalibrationInstabilityDisplay(RefitsDisplay):
    """Calibration of the refits on the training rows: logistic regressions of the event on the logit of the risk.

    Parameters are those of `RefitsDisplay`. No curve is drawn for a refit whose risks separate the classes.

    Attributes
    ----------
    refit_curves_ : matplotlib.collections.LineCollection
    curve_ : matplotlib.lines.Line2D
        Of the classifier.
    diagonal_, legend_, ax_, figure_ : matplotlib artists
    """

    def _draw_on(self, ax: Axes) -> None:
        curves = calibration_curves(self._all_risks, self.event, GRID)
        of_refits = curves[1:][np.isfinite(curves[1:]).all(axis=1)]
        self._draw_curves(ax, np.vstack((curves[:1], of_refits)))
        self._frame_square(ax, "Instability of the calibration", "predicted risk", "share of events, fitted")
        self.legend_ = ax.legend(loc="upper left", fontsize="small", frameon=False)


class DecisionCurveInstabilityDisplay(RefitsDisplay):
    """Net benefit of the classifier and of its refits on the training rows, by the threshold of the risk.

    On training rows the net benefit is too high; the spread of the curves is what the picture is for.

    Parameters are those of `RefitsDisplay`.

    Attributes
    ----------
    refit_curves_ : matplotlib.collections.LineCollection
    curve_, treat_all_, treat_none_ : matplotlib.lines.Line2D
        Of the classifier, and of treating everybody or nobody.
    legend_, ax_, figure_ : matplotlib artists
    """

    inches = (4.8, 3.6)

    def _draw_on(self, ax: Axes) -> None:
        self._draw_curves(ax, net_benefits(self._all_risks, self.event, GRID))
        everybody = net_benefits(np.ones((1, self.event.size)), self.event, GRID)[0]
        (self.treat_all_,) = ax.plot(
            GRID, everybody, color="black", linestyle="--", linewidth=0.8, label="treat all"
        )
        self.treat_none_ = ax.axhline(0.0, **LEVEL_STYLE, label="treat none")
        prevalence = float(self.event.mean())
        ax.set(xlim=(0.0, 1.0), ylim=(-0.25 * prevalence, 1.05 * prevalence))
        ax.set(xlabel="threshold of the risk", ylabel="net benefit")
        ax.set_title("Instability of the net benefit", loc="left")
        self.legend_ = ax.legend(loc="upper right", fontsize="small", frameon=False)


def net_benefits(risks: Array, event: NDArray[np.bool_], thresholds: Array) -> Array:
    """Return true positives less false positives at the odds of each threshold, per row, shape (n_fits, n_thresholds).

    References
    ----------
    Vickers, A. J. and Elkin, E. B. (2006). Decision curve analysis. Medical Decision Making 26, 565-574.

    Examples
    --------
    >>> net_benefits(np.array([[0.9, 0.6, 0.1]]), np.array([True, False, False]), np.array([0.5])).round(6).tolist()
    [[0.0]]
    """
    called = risks[:, :, None] >= thresholds
    true, false = (called[:, rows].sum(axis=1) / event.size for rows in (event, ~event))
    return np.asarray(true - false * thresholds / (1.0 - thresholds))
