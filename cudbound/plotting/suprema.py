"""The known part of the distribution of Q over the draws, and the quantile that gives the CUD interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.rounding import format_level
from cudbound.plotting.display import LEVEL_STYLE, Display
from cudbound.plotting.style import LEGEND_STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SupremaDisplay(Display):
    """Share of draws with Q at most x, as a band between their lower and upper bounds.

    If draws were solved only as far as needed for the quantile, the band shows the uncertainty about the others; with
    ``all_draws=True`` it is a line. At the quantile the band is closed if the quantile is proved.

    Parameters
    ----------
    lower, upper : array-like, shape (n_draws,)
        Bounds on the Q of each draw.
    q : float
        The quantile of the upper bounds: the half-width of the interval.
    confidence_level : float, default=0.95

    Attributes
    ----------
    lower_line_, upper_line_ : matplotlib.lines.Line2D
        Shares of the upper bounds, and of the lower bounds: the share of the exact Q lies between them.
    band_ : matplotlib.collections.PolyCollection
        Between them.
    quantile_line_, level_line_ : matplotlib.lines.Line2D
        At `q`, and at the level.
    legend_, ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> display = SupremaDisplay([0.1, 0.2], [0.1, 0.3], 0.3).plot()
    >>> display.quantile_line_.get_xdata()[0]
    0.3
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike, q: float, confidence_level: float = 0.95) -> None:
        self.lower = np.sort(np.asarray(lower, dtype=float))
        self.upper = np.sort(np.asarray(upper, dtype=float))
        if self.lower.ndim != 1 or self.lower.shape != self.upper.shape or not self.lower.size:
            raise ParameterError("lower", "as long as 'upper', with at least one draw", lower)
        self.q = q
        self.confidence_level = confidence_level

    @classmethod
    def from_result(cls, result: Any) -> Self:
        """Return the display of a `cudbound.CudResult`."""
        return cls(result.draws.lower, result.draws.upper, result.q, result.confidence_level)

    def _draw_on(self, ax: Axes) -> None:
        size = self.upper.size
        at = np.unique([0.0, *self.lower, *self.upper])
        most = np.searchsorted(self.lower, at, side="right") / size
        least = np.searchsorted(self.upper, at, side="right") / size
        self.band_ = ax.fill_between(at, least, most, step="post", color="0.85", linewidth=0, zorder=0)
        self.upper_line_ = ax.step(at, most, where="post", color="0.45", linewidth=1.0, linestyle="-")[0]
        self.lower_line_ = ax.step(at, least, where="post", color="black", linewidth=1.4)[0]
        self.level_line_ = ax.axhline(self.confidence_level, **LEVEL_STYLE)
        self.quantile_line_ = ax.axvline(self.q, color="black", linewidth=1.2, linestyle=":")
        ax.set_ylim(0.0, 1.02)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("Q: largest deviation of the error near the fitted classifier, per bootstrap draw")
        ax.set_ylabel("Share of the draws with Q up to this value")
        known = np.allclose(self.lower, self.upper, rtol=0.0, atol=1e-9)
        shown = [
            (self.lower_line_, "Q" if known else "upper bounds of Q"),
            *([] if known else [(self.upper_line_, "lower bounds of Q")]),
            *([] if known else [(self.band_, "unknown, and not needed for the interval")]),
            (
                self.quantile_line_,
                f"q = {self.q:.3f}: half-width around the training error",
            ),
            (self.level_line_, f"at least {format_level(self.confidence_level)} of draws have Q up to q"),
        ]
        self.legend_ = ax.legend(*zip(*shown, strict=True), loc="lower right", **LEGEND_STYLE)
