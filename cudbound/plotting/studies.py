"""Plots of studies: coverage of every method, and half-widths by the number of patients."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import isotonic_regression

from cudbound.basis.words import format_level, format_limit
from cudbound.plotting.display import BAND_STYLE, COLORS, LEVEL_STYLE, Display, in_percent, safe_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D

CELL = ["scenario", "n"]
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
#: Half-width of the band of Monte Carlo noise around the nominal level, in standard errors.
BAND = 1.96
#: Characters per line of the legend.
LEGEND_LENGTH = 90
THIN: dict[str, Any] = {"elinewidth": 0.8, "markersize": 4.0, "linestyle": "none"}


def method_styles(methods: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return color and marker of each method; no pair repeats within 63 methods."""
    return {
        name: {"color": color, "marker": marker}
        for name, color, marker in zip(methods, cycle(COLORS), cycle(MARKERS), strict=False)
    }


def noise_band(cells: pd.DataFrame, confidence_level: float) -> tuple[float, float]:
    """Return the range of the observed coverage of an exact interval in 95% of studies, for the smallest cell."""
    size = int(cells["n_replicates"].min())
    half = BAND * math.sqrt(confidence_level * (1.0 - confidence_level) / size)
    return confidence_level - half, min(1.0, confidence_level + half)


class CoverageByScenarioDisplay(Display):
    """Coverage of every method in every cell, with its 95% Clopper-Pearson interval; one line per cell.

    Parameters
    ----------
    cells : pandas.DataFrame
        `Summary.cells` or some of its rows: scenario, n, method, n_replicates, coverage, coverage_low, coverage_high.
    confidence_level : float, default=0.95

    Attributes
    ----------
    labels : list of str
        The cells from top to bottom.
    artists_ : dict of str to matplotlib.container.ErrorbarContainer
        Points of each method.
    level_line_, band_ : matplotlib artists
        The line of the nominal level, and the band in which the coverage of an exact interval falls in 95% of studies.
    level_label_ : matplotlib.text.Text
        At the upper edge of the plot, above the line.
    legend_, ax_, figure_ : matplotlib artists
    """

    def __init__(self, cells: pd.DataFrame, confidence_level: float = 0.95) -> None:
        self.cells = cells
        self.confidence_level = confidence_level
        self.methods = list(dict.fromkeys(cells["method"]))
        keys = list(dict.fromkeys(cells[CELL].itertuples(index=False, name=None)))
        self._position = {key: number for number, key in enumerate(keys)}
        self.labels = [f"{safe_label(scenario)}, n = {n}" for scenario, n in keys]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches, with room for every point."""
        return 7.0, 1.2 + max(0.22, 0.09 * len(self.methods)) * len(self.labels)

    def _draw_on(self, ax: Axes) -> None:
        self.band_ = ax.axvspan(*noise_band(self.cells, self.confidence_level), **BAND_STYLE)
        self.level_line_ = ax.axvline(self.confidence_level, **LEVEL_STYLE)
        edge: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "fontsize": "small", "ha": "center"}
        level = format_level(self.confidence_level)
        self.level_label_ = ax.text(self.confidence_level, 1.01, f"nominal {level}", **edge)
        self.artists_: dict[str, ErrorbarContainer] = {}
        for number, (method, style) in enumerate(method_styles(self.methods).items()):
            rows = self.cells[self.cells["method"] == method]
            offset = (number - (len(self.methods) - 1) / 2.0) * (0.8 / len(self.methods))
            line = [self._position[key] + offset for key in rows[CELL].itertuples(index=False, name=None)]
            below, above = rows["coverage"] - rows["coverage_low"], rows["coverage_high"] - rows["coverage"]
            bars = np.clip([below, above], 0.0, None)  # rounding may leave -1e-17 at a coverage of 0 or 1
            self.artists_[method] = ax.errorbar(rows["coverage"], line, xerr=bars, **style, **THIN)
        for between in range(1, len(self.labels)):
            ax.axhline(between - 0.5, color="0.85", linewidth=0.5, zorder=0)
        ax.set_yticks(range(len(self.labels)), self.labels)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(self.labels) - 0.5, -0.5)
        ax.set_xlabel("coverage, with 95% Clopper-Pearson interval", loc="right")
        labels = [safe_label(method) for method in self.methods]
        self.legend_ = ax.legend(
            list(self.artists_.values()),
            labels,
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0 + 0.2 / self.size[1]),  # above the name of the level
            ncols=max(1, LEGEND_LENGTH // (max(map(len, labels)) + 5)),  # a key is as wide as 5 letters
            fontsize="small",
            frameon=False,
            borderaxespad=0.0,
            handletextpad=0.4,
            columnspacing=1.2,
        )


_LINE: dict[str, Any] = {"markersize": 4.0, "linestyle": "none", "elinewidth": 0.8, "capsize": 2.0}
_MEAN = _LINE | {"color": "black", "marker": "o"}
_QUANTILE = _LINE | {"color": "0.45", "marker": "s"}


class HalfWidthDisplay(Display):
    """Mean half-width, and the quantile of half-widths, against the number of patients.

    Parameters
    ----------
    frame : pandas.DataFrame
        As from `cudbound.study.SampleSizePlan.to_frame`: n, mean_half_width, quantile_half_width, their Monte Carlo
        standard errors, half_width, probability.
    required : float
        The required number of patients; it is not marked if it is outside the simulated range.
    what : str, default="interval"
        The interval, for the label of the axis.

    Attributes
    ----------
    mean_, quantile_ : matplotlib.container.ErrorbarContainer
        Points with bars of 1.96 Monte Carlo standard errors.
    mean_curve_, quantile_curve_ : matplotlib.lines.Line2D
        Through the points after isotonic regression, linear in 1 / sqrt(n) between them: the number of patients is
        found on this curve.
    answer_ : matplotlib.lines.Line2D or None
        The point on the curve at the target.
    target_line_ : matplotlib.lines.Line2D
        At the target half-width.
    required_line_ : matplotlib.lines.Line2D or None
        At the required number of patients.
    legend_, ax_, figure_ : matplotlib artists
    """

    def __init__(self, frame: pd.DataFrame, required: float, what: str = "interval") -> None:
        self.frame = frame
        self.required = required
        self.what = what

    def _draw_on(self, ax: Axes) -> None:
        frame = self.frame
        target, probability = float(frame["half_width"].iloc[0]), float(frame["probability"].iloc[0])
        self.target_line_ = ax.axhline(target, **LEVEL_STYLE)
        drawn = {"mean": _MEAN, "quantile": _QUANTILE}
        self.mean_, self.quantile_ = (
            ax.errorbar(
                frame["n"], frame[f"{name}_half_width"], yerr=BAND * frame[f"{name}_half_width_mcse"], **style
            )
            for name, style in drawn.items()
        )
        self.mean_curve_, self.quantile_curve_ = (
            _draw_curve(ax, frame["n"], frame[f"{name}_half_width"], style["color"])
            for name, style in drawn.items()
        )
        shown: list[tuple[Any, str]] = [
            (self.quantile_, f"{format_level(probability)} of the samples keep to it"),
            (self.mean_, "expected"),
            (self.target_line_, f"target: {format_limit(target, self.percent)}"),
        ]
        self.required_line_ = self.answer_ = None
        if math.isfinite(self.required):
            self.required_line_ = ax.axvline(self.required, color="black", linewidth=1.0, linestyle=":")
            (self.answer_,) = ax.plot(self.required, target, "D", color="black", markersize=6.0, zorder=3)
            shown.append((self.required_line_, f"n = {self.required:.0f}"))
        self.legend_ = ax.legend(
            *zip(*shown, strict=True), loc="upper right", fontsize="small", edgecolor="none", framealpha=1.0
        )
        ax.set_ylim(bottom=0.0)
        if self.percent:
            in_percent(ax.yaxis)
        ax.set(xlabel="number of patients n", ylabel=safe_label(f"half-width of the {self.what}", 80))


def _draw_curve(ax: Axes, sizes: pd.Series, half_widths: pd.Series, color: str) -> Line2D:
    """Draw a decreasing curve in n, linear in 1 / sqrt(n) between two sizes, as half-widths are."""
    falling = isotonic_regression(half_widths, increasing=False).x
    at = np.linspace(sizes.min(), sizes.max(), 200)
    at = np.union1d(at, sizes)
    heights = np.interp(-(at**-0.5), -(sizes.to_numpy(dtype=float) ** -0.5), falling)
    return ax.plot(at, heights, color=color, linewidth=1.2)[0]
