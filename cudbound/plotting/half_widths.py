"""Half-widths of an interval against the number of patients, with the target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import isotonic_regression

from cudbound.basis.rounding import as_given, format_level, worded
from cudbound.plotting.display import LEVEL_STYLE, Display, check_columns
from cudbound.plotting.style import BAND, LEGEND_STYLE, in_percent, safe_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_LINE: dict[str, Any] = {"markersize": 4.0, "linestyle": "none", "elinewidth": 0.8, "capsize": 2.0}
_MEAN = _LINE | {"color": "black", "marker": "o"}
_QUANTILE = _LINE | {"color": "0.45", "marker": "s"}


class HalfWidthDisplay(Display):
    """Mean half-width, and the quantile of half-widths, against the number of patients.

    Parameters
    ----------
    frame : pandas.DataFrame
        As from `cudbound.SampleSizePlan.to_frame`: n, mean_half_width, quantile_half_width, their Monte Carlo standard
        errors, half_width, probability.
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

    columns = (
        *("n", "mean_half_width", "mean_half_width_mcse", "quantile_half_width", "quantile_half_width_mcse"),
        *("half_width", "probability"),
    )

    def __init__(self, frame: pd.DataFrame, required: float, what: str = "interval") -> None:
        check_columns("frame", frame, self.columns)
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
                frame["n"],
                frame[f"{name}_half_width"],
                yerr=BAND * frame[f"{name}_half_width_mcse"],
                **style,
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
            (self.target_line_, f"target: {worded(as_given(target), self.percent)}"),
        ]
        self.required_line_ = self.answer_ = None
        if math.isfinite(self.required):
            self.required_line_ = ax.axvline(self.required, color="black", linewidth=1.0, linestyle=":")
            (self.answer_,) = ax.plot(self.required, target, "D", color="black", markersize=6.0, zorder=3)
            shown.append((self.required_line_, f"n = {self.required:.0f}"))
        self.legend_ = ax.legend(*zip(*shown, strict=True), loc="upper right", **LEGEND_STYLE)
        ax.set_ylim(bottom=0.0)
        if self.percent:
            in_percent(ax.yaxis)
        ax.set_xlabel("number of patients n")
        ax.set_ylabel(safe_label(f"half-width of the {self.what}", 80))


def _draw_curve(ax: Axes, sizes: pd.Series, half_widths: pd.Series, color: str) -> Line2D:
    """Draw a decreasing curve in n, linear in 1 / sqrt(n) between two sizes, as half-widths are."""
    falling = isotonic_regression(half_widths, increasing=False).x
    at = np.linspace(sizes.min(), sizes.max(), 200)
    at = np.union1d(at, sizes)
    heights = np.interp(-(at**-0.5), -(sizes.to_numpy(dtype=float) ** -0.5), falling)
    return ax.plot(at, heights, color=color, linewidth=1.2)[0]
