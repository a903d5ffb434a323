"""Forest plots of intervals: one line per method, and the error of always predicting the majority class."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from cudbound.basis.words import ESTIMAND_WORDS, format_difference, format_level, metric_words, printable
from cudbound.plotting.display import BAND_STYLE, LEVEL_STYLE, Display, in_percent, safe_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

#: Black on white, so that a grayscale copy loses nothing.
_BAR: dict[str, Any] = {"color": "black", "marker": "o", "markersize": 5.0, "capsize": 3.0, "elinewidth": 1.2}
#: Characters per line of a method's title and of a panel's, and inches of a line of text and of the space below a row.
_WRAP, _TITLE, _TEXT, _SPACE = 44, 70, 0.16, 0.14


class ForestDisplay(Display):
    """Estimates with their limits, one line each, from top to bottom, with a panel per metric and kind of estimand.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns method, estimate, low, high; one row per line. Rows without limits are marked. Optional columns: metric,
        estimand, title (in place of the method), recommended, confidence_level, alternative,
        is_proportion (False for what is never in percent).
    reference : float or None, default=None
        Position of a vertical line for comparison.
    reference_label : str, default=""
        Label of the line; its position takes the place of ``{}``.
    axis_label : str, default=""
        Label of the axis; by default the metric.

    Attributes
    ----------
    labels : list of str
        The rows from top to bottom.
    axes_ : list of matplotlib.axes.Axes
        The panels; a single panel is also ``ax_``.
    artists_ : list of matplotlib.container.ErrorbarContainer or None
        The line of each row, in the order of `labels`; None without limits.
    numbers_ : list of matplotlib.text.Text
        Estimate and limits to the right of each row.
    reference_line_ : matplotlib.lines.Line2D or None
        The line in the last panel.
    ax_, figure_ : matplotlib artists
        As in `Display`.
    """

    #: Inches of the axis and the labels around it.
    axis_height = 1.0

    def __init__(
        self,
        frame: pd.DataFrame,
        reference: float | None = None,
        reference_label: str = "",
        axis_label: str = "",
    ) -> None:
        defaults: dict[str, Any] = {
            "metric": "error",
            "estimand": "",
            "recommended": False,
            "alternative": "two-sided",
            "is_proportion": True,
        }
        frame = frame.assign(**{name: value for name, value in defaults.items() if name not in frame})
        frame = frame.assign(kind=[str(estimand).partition("(")[0] for estimand in frame["estimand"]])
        self._panels = [rows for _, rows in frame.groupby(["metric", "kind"], sort=False)]
        self.frame = frame.loc[[row for rows in self._panels for row in rows.index]]
        self.reference = reference
        self.reference_label = reference_label
        self.axis_label = axis_label
        names = self.frame.get("title", self.frame["method"])
        several = self.frame["metric"].value_counts()
        marks = [
            " (recommended)" if mark and several[metric] > 1 else ""
            for metric, mark in zip(self.frame["metric"], self.frame["recommended"], strict=True)
        ]
        self.labels = [_wrapped(str(name)) + mark for name, mark in zip(names, marks, strict=True)]

    @property
    def _heights(self) -> list[float]:
        """Inches of each panel."""
        line = _SPACE + _TEXT * max(label.count("\n") + 1 for label in self.labels)
        return [line * len(rows) for rows in self._panels]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches, with a line for every row."""
        return 8.5, sum(self._heights) + self.axis_height * len(self._panels)

    def _draw_on(self, ax: Axes) -> None:
        self.reference_line_: Line2D | None = None
        self.axes_ = [ax]
        self.artists_: list[ErrorbarContainer | None] = []
        self.numbers_: list[Text] = []
        if len(self._panels) > 1:
            ax.set_axis_off()
            self.axes_ = []
            total, top = sum(self._heights) + self.axis_height * (len(self._panels) - 1), 1.0
            for height in self._heights:
                top -= height / total
                self.axes_.append(ax.inset_axes((0.0, top, 1.0, height / total)))
                top -= self.axis_height / total
        labels = iter(self.labels)
        for panel, rows in zip(self.axes_, self._panels, strict=True):
            self._draw_panel(panel, rows, [next(labels) for _ in range(len(rows))])
            panel.spines[["top", "right"]].set_visible(False)

    def _draw_panel(self, ax: Axes, rows: pd.DataFrame, labels: Sequence[str]) -> None:
        beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "fontsize": "small"}
        numbers = rows[["estimate", "low", "high"]].itertuples(index=False, name=None)
        percent = self.percent and bool(rows["is_proportion"].all())
        write = partial(_text, percent=percent)
        edge = 1.1 * max(_finite(rows), default=0.0)  # beyond which the axis ends
        for line, ((estimate, low, high), way) in enumerate(zip(numbers, rows["alternative"], strict=True)):
            self.artists_.append(self._draw_row(ax, line, min(estimate, edge), low, min(high, edge)))
            limits = {"less": f"at most {write(high)}", "greater": f"at least {write(low)}"}
            text = f"{write(estimate)} ({limits.get(way, f'{write(low)} to {write(high)}')})"
            if self.artists_[-1] is None:
                text = "not available"
            self.numbers_.append(ax.text(1.03, line, text, va="center", **beside))
        levels = set(rows.get("confidence_level", ()))
        level = f"{format_level(levels.pop())} " if len(levels) == 1 else ""
        ax.text(1.03, -0.55, f"Estimate ({level}limits)", va="bottom", **beside)
        ax.set_yticks(range(len(labels)), labels, fontsize="small")
        for tick, label in zip(ax.get_yticklabels(), labels, strict=True):
            if label.endswith("(recommended)"):
                tick.set_fontweight("bold")
                ax.axhspan(labels.index(label) - 0.45, labels.index(label) + 0.45, **BAND_STYLE)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(labels) - 0.5, -0.5)
        self._name_axis(ax, rows)
        if percent:
            in_percent(ax.xaxis)

    def _name_axis(self, ax: Axes, rows: pd.DataFrame) -> None:
        """Set the limits of the axis, and label the axis, the panel and the reference line."""
        metric, kind = rows["metric"].iloc[0], rows["kind"].iloc[0]
        if self.reference is not None and metric == self.frame["metric"].iloc[0]:
            self.reference_line_ = ax.axvline(self.reference, **LEVEL_STYLE)
            if ax is self.axes_[0]:
                label = self.reference_label.replace("{}", _text(self.reference, self.percent))
                lines = [safe_label(line, 80) for line in label.split("\n")]
                place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.05, 0.0)}
                ax.legend(
                    [self.reference_line_], ["\n".join(lines)], fontsize="small", frameon=False, **place
                )
        self._set_limits(ax, self.frame[self.frame["metric"] == metric])
        words = "classification error" if metric == "error" else metric_words([metric])
        ax.set_xlabel(self.axis_label or f"{words[0].upper()}{words[1:]}")
        if self.frame["kind"].nunique() > 1 and kind:
            words = ESTIMAND_WORDS.get(kind, kind)
            title = textwrap.fill(f"{words[0].upper()}{words[1:]}", _TITLE)
            ax.set_title(title, loc="left", fontsize="medium", x=0.0, pad=16)

    def _set_limits(self, ax: Axes, rows: pd.DataFrame) -> None:
        """Start the axis at or below 0, and end it above everything drawn in panels of this metric."""
        drawn = [*_finite(rows), self.reference or 0.0]
        top = max(0.1, 1.05 * max(drawn))
        ax.set_xlim(min(0.0, 1.05 * min(drawn)), 1.0 if 0.75 < max(drawn) <= 1.0 else top)

    def _draw_row(
        self, ax: Axes, line: int, estimate: float, low: float, high: float
    ) -> ErrorbarContainer | None:
        if math.isnan(estimate) or math.isnan(low) or math.isnan(high):
            return None
        # the estimate of some methods lies outside their limits, which no error bar can show
        middle = (low + high) / 2.0
        bar = ax.errorbar(middle, line, xerr=(high - low) / 2.0, **_BAR | {"marker": "none"})
        points = ax.plot(estimate, line, **{name: _BAR[name] for name in ("color", "marker", "markersize")})
        for artist in (*bar.get_children(), *points):
            artist.set_clip_on(False)  # whole at 0 and 1, too
        return bar


def _finite(rows: pd.DataFrame) -> list[float]:
    """Return the estimates and limits that are finite."""
    return [
        number for number in rows[["estimate", "low", "high"]].to_numpy().ravel() if math.isfinite(number)
    ]


def _wrapped(name: str) -> str:
    lines = textwrap.wrap(printable(name), _WRAP, break_on_hyphens=False, max_lines=3, placeholder=" …")
    return "\n".join(safe_label(line, _WRAP) for line in lines)


def _text(value: float, percent: bool) -> str:
    return format_difference(value, percent=percent).replace("-", "\N{MINUS SIGN}")


class IntervalDisplay(ForestDisplay):
    r"""Intervals, those for the error with the error of always predicting the majority class.

    Parameters and attributes are those of `ForestDisplay`.

    Examples
    --------
    >>> from cudbound import ConfidenceInterval, IntervalEstimate, IntervalTable
    >>> from cudbound.basis.results import Estimand
    >>> row = IntervalEstimate(method="cud", estimate=0.25, raw_interval=ConfidenceInterval(0.125, 0.5),
    ...     estimand=Estimand("conditional"), confidence_level=0.95, n_fits=1)
    >>> display = IntervalDisplay.from_table(IntervalTable((row,)))
    >>> display.labels, display.reference is None
    (['cud'], True)
    """

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """Return the display of a `cudbound.IntervalTable`, with the reference line if the table knows its data."""
        frame, run = table.pictured, table.run
        if run is None or "error" not in set(frame["metric"]):
            return cls(frame)
        by_weight = "" if run.weighted_share is None else "\nby weight"
        # the line belongs to the error, which goes first
        frame = frame.sort_values("metric", key=lambda metric: metric != "error", kind="stable")
        new = [row.new_cases for row in table if row.new_cases]
        share = new[0].majority_error if len(new) == len(table) else run.base_rate
        if share is None:
            return cls(frame)
        return cls(frame, share, f"always the majority\nclass: {{}}{by_weight}")


class ComparisonDisplay(ForestDisplay):
    """Intervals for the difference between two errors, with a line at 0 or at the requested margin.

    Parameters and attributes are those of `ForestDisplay`, plus `favors`, the names of the two learners.

    Attributes
    ----------
    favors_ : list of matplotlib.text.Text
        Below the axes, on either side of 0.
    """

    axis_height = 1.3
    favors = ("the first", "the second")

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """Return the display of a `cudbound.ComparisonTable`."""
        frame = table.pictured
        pairs = {(row.a, row.b): row.difference for row in table}
        margins = set(frame["null"])
        margin = margins.pop() if len(margins) == 1 else 0.0
        label = "equal errors" if margin == 0.0 else "margin {}"
        difference = next(iter(pairs.values())) if len(pairs) == 1 else "Difference, first minus second"
        display = cls(frame, margin, label, safe_label(difference.replace(" - ", " \N{MINUS SIGN} "), 80))
        if len(pairs) == 1:
            display.favors = next(iter(pairs))
        return display

    def _set_limits(self, ax: Axes, rows: pd.DataFrame) -> None:
        """Center the axis at 0, and label which learner each side favors."""
        top = max(0.1, 1.05 * rows[["estimate", "low", "high"]].abs().max().max(), abs(self.reference or 0.0))
        ax.set_xlim(-top, top)
        more_is_better = rows["metric"].iloc[0] == "auc"
        names = self.favors[::-1] if more_is_better else self.favors
        low, high = (f"favors {safe_label(name, 22)}" for name in names)
        place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        style: dict[str, Any] = {"va": "top", "fontsize": "small"}
        self.favors_ = [
            ax.annotate(f"\N{LEFTWARDS ARROW} {low}", (0.0, 0.0), (-8, -18), ha="right", **place, **style),
            ax.annotate(f"{high} \N{RIGHTWARDS ARROW}", (0.0, 0.0), (8, -18), ha="left", **place, **style),
        ]
        ax.xaxis.labelpad = 18
