"""Intervals side by side: one line for each method, and the error that needs no classifier."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from cudbound.plotting.display import LEVEL_STYLE, Display, check_columns
from cudbound.plotting.style import safe_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer

#: Black on white: a copy in grays loses nothing.
_BAR: dict[str, Any] = {"color": "black", "marker": "o", "markersize": 5.0, "capsize": 3.0, "elinewidth": 1.2}
#: Inches that one line takes, and what the axis takes beside them.
_LINE, _AXIS = 0.3, 0.9


class ForestDisplay(Display):
    """Estimates with their limits, one line for each, from top to bottom.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns method, estimate, low, high; one row each. A row without limits says so.
    reference : float or None, default=None
        Where a vertical line stands for comparison.
    reference_label : str, default=""
        What it is.
    axis_label : str, default=""
        What the estimates are.

    Attributes
    ----------
    labels : list of str
        The methods from top to bottom.
    artists_ : list of matplotlib.container.ErrorbarContainer or None
        The line of each row, in this order; None for one without limits.
    reference_line_ : matplotlib.lines.Line2D or None
    ax_, figure_ : matplotlib artists
        As in `Display`.
    """

    columns = ("method", "estimate", "low", "high")

    def __init__(
        self,
        frame: pd.DataFrame,
        reference: float | None = None,
        reference_label: str = "",
        axis_label: str = "",
    ) -> None:
        check_columns("frame", frame, self.columns)
        self.frame = frame
        self.reference = reference
        self.reference_label = reference_label
        self.axis_label = axis_label
        self.labels = [safe_label(label) for label in _labels(frame)]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches; every row has its line."""
        return 7.0, _AXIS + _LINE * len(self.labels)

    def _draw_on(self, ax: Axes) -> None:
        self.reference_line_ = None
        if self.reference is not None:
            self.reference_line_ = ax.axvline(self.reference, **LEVEL_STYLE)
            ax.legend(
                [self.reference_line_],
                [safe_label(self.reference_label, 80)],
                loc="lower right",
                bbox_to_anchor=(1.0, 1.01),
                fontsize="small",
                frameon=False,
                borderaxespad=0.0,
            )
        rows = self.frame[["estimate", "low", "high"]].itertuples(index=False, name=None)
        self.artists_ = [self._draw_row(ax, line, *map(float, row)) for line, row in enumerate(rows)]
        ax.set_yticks(range(len(self.labels)), self.labels)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(self.labels) - 0.5, -0.5)
        ax.set_xlabel(self.axis_label)

    def _draw_row(
        self, ax: Axes, line: int, estimate: float, low: float, high: float
    ) -> ErrorbarContainer | None:
        if math.isnan(estimate) or math.isnan(low) or math.isnan(high):
            # at the left edge of the axes, whatever they span
            ax.text(
                0.01, line, "not available", transform=ax.get_yaxis_transform(), va="center", color="0.35"
            )
            return None
        # the estimate of some methods lies outside their limits, which no error bar can show
        middle = (low + high) / 2.0
        bar = ax.errorbar(middle, line, xerr=(high - low) / 2.0, **_BAR | {"marker": "none"})
        ax.plot(estimate, line, **{name: _BAR[name] for name in ("color", "marker", "markersize")})
        return bar


def _labels(frame: pd.DataFrame) -> list[str]:
    """Return the methods, with what they bound where that differs."""
    methods = [str(method) for method in frame["method"]]
    if "metric" not in frame or frame["metric"].nunique() < 2:
        return methods
    return [f"{metric}, {method}" for metric, method in zip(frame["metric"], methods, strict=True)]


class IntervalDisplay(ForestDisplay):
    """Intervals for the error, beside the share of the rarer class: the error of always naming the other one.

    Parameters and attributes are those of `ForestDisplay`.

    Examples
    --------
    >>> from cudbound import ConfidenceInterval, Estimand, IntervalEstimate, IntervalTable
    >>> row = IntervalEstimate(method="cud", estimate=0.25, raw_interval=ConfidenceInterval(0.125, 0.5),
    ...     estimand=Estimand("conditional"), confidence_level=0.95, n_fits=1)
    >>> display = IntervalDisplay.from_table(IntervalTable((row,)))
    >>> display.labels, display.reference is None
    (['cud'], True)
    """

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """Return the display of a `cudbound.IntervalTable`; the line is there if the table knows its data."""
        frame, run = table.to_frame(), table.run
        by_weight = "" if run is None or run.weighted_share is None else " by weight"
        if set(frame["metric"]) != {"error"}:
            return cls(
                frame, axis_label=f"{' or '.join(dict.fromkeys(frame['metric']))}, with confidence limits"
            )
        return cls(
            frame,
            None if run is None else run.base_rate,
            "" if run is None else f"share of the rarer class{by_weight}, {run.base_rate:.3f}",
            "error, with confidence limits",
        )


class ComparisonDisplay(ForestDisplay):
    """Intervals for the difference of two errors, beside no difference or the margin that was asked for.

    Parameters and attributes are those of `ForestDisplay`.
    """

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """Return the display of a `cudbound.ComparisonTable`."""
        frame = table.to_frame()
        pairs = {(row.a, row.b): row.difference for row in table}
        difference = pairs.popitem()[1] if len(pairs) == 1 else "error(a) - error(b)"
        margins = set(frame["null"])
        margin = margins.pop() if len(margins) == 1 else 0.0
        label = "equal errors" if margin == 0.0 else f"margin {margin:g}"
        return cls(frame, margin, label, f"{difference}, with confidence limits")
