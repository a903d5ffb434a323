"""Half-widths of an interval against the number of patients, with the target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cudbound.plotting.display import LEVEL_STYLE, Display, check_columns
from cudbound.plotting.style import BAND, safe_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LINE: dict[str, Any] = {"markersize": 4.0, "linewidth": 1.2, "elinewidth": 0.8, "capsize": 2.0}
_MEAN = _LINE | {"color": "black", "marker": "o"}
_QUANTILE = _LINE | {"color": "0.45", "marker": "s"}


class HalfWidthDisplay(Display):
    """Expected half-width and the one that a share of the samples keeps to, against the number of patients.

    Parameters
    ----------
    frame : pandas.DataFrame
        What `cudbound.SampleSizePlan.to_frame` returns: n, mean_half_width, quantile_half_width, their Monte Carlo
        standard errors, half_width, probability.
    required : float
        The number of patients that was found; none is marked where it is not among those simulated.
    what : str, default="interval"
        The interval, for the axis.

    Attributes
    ----------
    mean_, quantile_ : matplotlib.container.ErrorbarContainer
        With bars of 1.96 Monte Carlo standard errors.
    target_line_ : matplotlib.lines.Line2D
        At the target half-width.
    required_line_ : matplotlib.lines.Line2D or None
        At the number of patients that was found.
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
        shown: list[tuple[Any, str]] = [
            (self.quantile_, f"{100.0 * probability:g}% of the samples keep to it"),
            (self.mean_, "expected"),
            (self.target_line_, f"target: {target:g}"),
        ]
        self.required_line_ = None
        if math.isfinite(self.required):
            self.required_line_ = ax.axvline(self.required, color="black", linewidth=1.0, linestyle=":")
            shown.append((self.required_line_, f"n = {self.required:.0f}"))
        self.legend_ = ax.legend(*zip(*shown, strict=True), loc="lower left", fontsize="small", frameon=False)
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel("number of patients n")
        ax.set_ylabel(safe_label(f"half-width of the {self.what}", 80))
