"""Plots of counts: histograms, the confusion table, and how often refits change a class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import ConfusionMatrixDisplay

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.metric_words import metric_words
from cudbound.basis.rounding import format_level, format_proportion
from cudbound.plotting.display import LEVEL_STYLE, Display, safe_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text


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
        if not 1 <= len(counts) <= 2 or {*map(len, counts.values())} != {len(edges) - 1}:
            raise ParameterError("counts", "one or two histograms, with one count fewer than edges", counts)
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


class ConfusionDisplay(Display):
    """Confusion table of a classifier, with limits for sensitivity and specificity next to its rows.

    The counts are for the given rows, the limits for new cases: on training rows, the counts look too good.

    Parameters
    ----------
    counts : array-like of int, shape (2, 2)
        As from `sklearn.metrics.confusion_matrix`: true classes in rows, predicted classes in columns, the event second
        in both.
    limits : mapping of str to str, default={}
        Texts next to the row of events ("sensitivity") and the row of non-events ("specificity").

    Attributes
    ----------
    cells_ : list of matplotlib.text.Text
        The counts, row by row.
    limits_ : list of matplotlib.text.Text
    ax_, figure_ : matplotlib artists
    """

    inches = (6.4, 2.8)

    def __init__(self, counts: ArrayLike, limits: Mapping[str, str] | None = None) -> None:
        self.counts = np.asarray(counts)
        if self.counts.shape != (2, 2):
            raise ParameterError("counts", "a table of two rows and two columns", counts)
        self.limits = dict(limits or {})

    @classmethod
    def from_table(cls, table: Any, counts: ArrayLike) -> Self:
        """Return the display with the first limits for each metric in a `cudbound.IntervalTable`."""
        limits = {}
        for row in reversed(table.rows):
            if row.metric in ("sensitivity", "specificity") and not math.isnan(row.low + row.high):
                low, high = map(format_proportion, row.confidence_interval)
                words = f"{metric_words([row.metric]).capitalize()} {format_proportion(row.estimate)}"
                limits[row.metric] = f"{words}\n({format_level(row.confidence_level)} limits {low} to {high})"
        return cls(counts, limits)

    def _draw_on(self, ax: Axes) -> None:
        drawn = ConfusionMatrixDisplay(self.counts, display_labels=["no event", "event"])
        scale = {"vmin": 0, "vmax": 3 * max(1, self.counts.max())}
        drawn.plot(ax=ax, cmap="Greys", colorbar=False, im_kw=scale, text_kw={"color": "black"})
        self.cells_ = drawn.text_.ravel().tolist()
        self.limits_ = [
            ax.text(1.55, row, self.limits[metric], va="center")
            for row, metric in enumerate(("specificity", "sensitivity"))
            if metric in self.limits
        ]
        ax.spines[:].set_visible(False)
        ax.set(xlabel="Predicted class", ylabel="True class", aspect="auto")


class InstabilityDisplay(Display):
    """Share of refits that classify each row differently.

    Parameters
    ----------
    shares : array-like of float, shape (n_samples,)
        In [0, 1].
    distances : array-like of float, shape (n_samples,), or None, default=None
        Distance of each row's score from the threshold; None orders the rows by share.
    distances_of : str, default=""
        The quantity whose distances they are, or why there are none.
    marks : sequence of float, default=(0.1, 0.25)
        Shares at which a line is drawn.

    Attributes
    ----------
    points_ : matplotlib.collections.PathCollection
    mark_lines_ : list of matplotlib.lines.Line2D
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
        marks: Sequence[float] = (0.1, 0.25),
    ) -> None:
        self.shares = np.asarray(shares, dtype=float)
        if self.shares.ndim != 1 or not self.shares.size:
            raise ParameterError("shares", "one number per row", shares)
        self.distances = None if distances is None else np.asarray(distances, dtype=float)
        if self.distances is not None and self.distances.shape != self.shares.shape:
            raise ParameterError("distances", "as many as 'shares', or None", distances)
        self.distances_of = distances_of
        self.marks = tuple(marks)

    def _draw_on(self, ax: Axes) -> None:
        if self.distances is None:
            at, heights = np.arange(1, self.shares.size + 1), np.sort(self.shares)[::-1]
            reason = f"; {self.distances_of}" if self.distances_of else ""
            label = f"rows ordered by share{reason}"
        else:
            at, heights = self.distances, self.shares
            label = self.distances_of or "distance of the score from the threshold"
        above = {
            mark: f"{(self.shares > mark).sum()} of {self.shares.size} rows above" for mark in self.marks
        }
        labels = {mark: f"{100 * mark:g}% of refits:\n{rows}" for mark, rows in above.items()}
        self.mark_lines_, self.mark_labels_ = _draw_marks(ax, labels)
        # hollow, so that rows upon each other are seen
        self.points_ = ax.scatter(at, heights, s=22.0, facecolors="none", edgecolors="black", zorder=2)
        _label_shares(ax, self.shares, label)


class GroupedInstabilityDisplay(Display):
    """Share of refits that change the class of a row, against the distance of its score from the threshold.

    Each line is a group of neighbors: a dot at their mean share, and a line up to the largest share.

    Parameters
    ----------
    groups : sequence of mapping
        With distance, mean_share, largest_share and n.
    axis_label : str
        The quantity whose distances they are.
    marks : sequence of float, default=(0.1, 0.25)
        Shares at which a line is drawn.

    Attributes
    ----------
    points_ : matplotlib.lines.Line2D
    ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> group = {"n": 5, "distance": 0.2, "mean_share": 0.1, "largest_share": 0.4}
    >>> GroupedInstabilityDisplay([group], "score").plot().points_.get_ydata().tolist()
    [0.1]
    """

    inches = (7.0, 3.2)

    def __init__(
        self, groups: Sequence[Mapping[str, float]], axis_label: str, marks: Sequence[float] = (0.1, 0.25)
    ) -> None:
        if not groups:
            raise ParameterError("groups", "at least one group", groups)
        self.groups, self.axis_label, self.marks = groups, axis_label, marks

    def _draw_on(self, ax: Axes) -> None:
        at, mean, most = (
            np.array([group[name] for group in self.groups])
            for name in ("distance", "mean_share", "largest_share")
        )
        _draw_marks(ax, {mark: f"{100 * mark:g}%" for mark in self.marks})
        ax.vlines(at, mean, most, color="0.45", linewidth=1.2)
        (self.points_,) = ax.plot(at, mean, linestyle="none", marker="o", color="black", markersize=4.0)
        ax.set_xlim(left=0.0)
        _label_shares(ax, most, self.axis_label)


def _draw_marks(ax: Axes, labels: Mapping[float, str]) -> tuple[list[Line2D], list[Text]]:
    """Draw a line at each share, with its label to the right."""
    beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": "small"}
    lines = [ax.axhline(mark, **LEVEL_STYLE) for mark in labels]
    return lines, [ax.text(1.01, mark, label, **beside) for mark, label in labels.items()]


def _label_shares(ax: Axes, shares: NDArray[np.float64], label: str) -> None:
    """Label the axes, and make the one of shares as high as keeps the labels of the lines apart."""
    ax.set_ylim(-0.02, max(0.5, 1.05 * float(shares.max())))
    ax.set(xlabel=safe_label(label, 90), ylabel="share of refits with another class")
