"""Plots of counts and groups, for reports that show no individual patients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.basis.exceptions import ParameterError
from cudbound.plotting.display import LEVEL_STYLE, Display
from cudbound.plotting.style import safe_label

if TYPE_CHECKING:
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
    ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> display = CountsDisplay([0.0, 0.5, 1.0], {"events": [1, 2], "non-events": [3, 0]}, "risk", "cases").plot()
    >>> [int(bar.get_height()) for bar in display.bars_[1]]
    [-3, 0]
    """

    def __init__(
        self,
        edges: Sequence[float],
        counts: Mapping[str, Sequence[int]],
        axis_label: str,
        counted: str,
        mark: tuple[float, str] | None = None,
    ) -> None:
        if not 1 <= len(counts) <= 2 or any(len(one) != len(edges) - 1 for one in counts.values()):
            raise ParameterError("counts", "one or two histograms, with one count fewer than edges", counts)
        self.edges = np.asarray(edges, dtype=float)
        self.counts = {name: np.asarray(one) for name, one in counts.items()}
        self.axis_label, self.counted, self.mark = axis_label, counted, mark

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return 7.0, 2.8

    def _draw_on(self, ax: Axes) -> None:
        style: dict[str, Any] = {"width": np.diff(self.edges), "align": "edge", "edgecolor": "white"}
        self.bars_ = [
            ax.bar(
                self.edges[:-1],
                sign * values,
                color=color,
                label=safe_label(f"{name} (n = {values.sum()})"),
                **style,
            )
            for (name, values), sign, color in zip(
                self.counts.items(), (1, -1), ("0.35", "0.7"), strict=False
            )
        ]
        if self.mark is not None:
            ax.axvline(self.mark[0], **LEVEL_STYLE | {"zorder": 3}, label=safe_label(self.mark[1]))
        if len(self.counts) > 1:
            ax.axhline(0.0, color="black", linewidth=0.8)
        ax.locator_params(axis="y", integer=True)
        ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
        ax.set(xlim=(self.edges[0], self.edges[-1]), xlabel=self.axis_label, ylabel=self.counted)
        self.legend_ = ax.legend(
            loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, fontsize="small", frameon=False
        )


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

    def __init__(
        self, groups: Sequence[Mapping[str, float]], axis_label: str, marks: Sequence[float] = (0.1, 0.25)
    ) -> None:
        if not groups:
            raise ParameterError("groups", "at least one group", groups)
        self.groups, self.axis_label, self.marks = groups, axis_label, marks

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return 7.0, 3.2

    def _draw_on(self, ax: Axes) -> None:
        at, mean, most = (
            np.array([group[name] for group in self.groups])
            for name in ("distance", "mean_share", "largest_share")
        )
        for mark in self.marks:
            ax.axhline(mark, **LEVEL_STYLE)
            ax.text(
                1.01,
                mark,
                f"{100 * mark:g}%",
                transform=ax.get_yaxis_transform(),
                va="center",
                fontsize="small",
            )
        ax.vlines(at, mean, most, color="0.45", linewidth=1.2)
        (self.points_,) = ax.plot(at, mean, linestyle="none", marker="o", color="black", markersize=4.0)
        ax.set_ylim(-0.02, max(0.5, 1.05 * float(most.max())))
        ax.set_xlim(left=0.0)
        ax.set(xlabel=safe_label(self.axis_label, 90), ylabel="share of refits with another class")
