"""How often refits change the class of each row, against the distance of its score from the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.exceptions import ParameterError
from cudbound.plotting.display import LEVEL_STYLE, Display
from cudbound.plotting.style import safe_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        self.mark_lines_ = [ax.axhline(mark, **LEVEL_STYLE) for mark in self.marks]
        beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": "small"}
        above = [f"{(self.shares > mark).sum()} of {self.shares.size} rows above" for mark in self.marks]
        self.mark_labels_ = [
            ax.text(1.01, mark, f"{100 * mark:g}% of refits:\n{rows}", **beside)
            for mark, rows in zip(self.marks, above, strict=True)
        ]
        # hollow, so that rows upon each other are seen
        self.points_ = ax.scatter(at, heights, s=22.0, facecolors="none", edgecolors="black", zorder=2)
        # as high as keeps the labels of the lines apart
        ax.set_ylim(-0.02, max(0.5, 1.05 * float(self.shares.max())))
        ax.set_xlabel(safe_label(label, 90))
        ax.set_ylabel("share of refits with another class")
