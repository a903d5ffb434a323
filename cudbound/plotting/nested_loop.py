"""Nested-loop plot: all cells of a study as steps, ordered by n, then scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.plotting.display import CellsDisplay
from cudbound.plotting.style import safe_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

#: Columns that identify a cell, the outer loop first.
LOOPS = ["n", "scenario"]
#: Height of the strip for n below the data, relative to the height of the data.
STRIP_HEIGHT = 0.12
#: With more cells than this, the axis has no scenario names.
MAX_NAMED = 60


class NestedLoopDisplay(CellsDisplay):
    """A measure of every method in every cell as steps, above steps that show n.

    Parameters
    ----------
    cells : pandas.DataFrame
        `Summary.cells` or some of its rows: method, n_replicates, n, scenario and the measure.
    measure : str, default="coverage"
        Name of a column.
    confidence_level : float, default=0.95
        Drawn as a line if the measure is "coverage".

    Attributes
    ----------
    order : list of tuple
        n and scenario of each cell from left to right: n ascending, scenarios in order of occurrence.
    artists_ : dict of str to matplotlib.lines.Line2D
        Steps of each method.
    size_line_ : matplotlib.lines.Line2D
        Steps of n; scenarios are named at the axis.
    level_line_, band_, legend_, ax_ : matplotlib artists
        As in `CellsDisplay`; the first two only if the measure is "coverage".

    References
    ----------
    Rücker, G. and Schwarzer, G. (2014). Presenting simulation results in a nested loop plot. BMC Medical Research
    Methodology 14, 129.
    """

    def __init__(
        self, cells: pd.DataFrame, measure: str = "coverage", confidence_level: float = 0.95
    ) -> None:
        self.columns = ("method", "n_replicates", *LOOPS, measure)
        super().__init__(cells, confidence_level)
        self.measure = measure
        keys = dict.fromkeys(cells[LOOPS].itertuples(index=False, name=None))
        self.order = sorted(keys, key=lambda cell: cell[0])

    @property
    def _names(self) -> list[str]:
        """Names of the scenarios at the axis, if there is room."""
        return [safe_label(scenario) for _, scenario in self.order] if len(self.order) <= MAX_NAMED else []

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches; names at the axis increase the height."""
        return 7.0, 4.0 + 0.075 * max(map(len, self._names), default=0)

    def _draw_level(self, ax: Axes) -> None:
        if self.measure == "coverage":
            super()._draw_level(ax)

    def _draw(self, ax: Axes, rows: pd.DataFrame, style: dict[str, Any]) -> Line2D:
        keys = rows[LOOPS].itertuples(index=False, name=None)
        values = dict(zip(keys, rows[self.measure], strict=True))
        heights = [values.get(cell, np.nan) for cell in self.order]
        return _draw_steps(ax, heights, color=style["color"], linewidth=1.2)

    def _finish(self, ax: Axes) -> None:
        self._draw_sizes(ax)
        ax.set_xlim(-0.5, len(self.order) - 0.5)
        names = self._names
        ax.set_xticks(range(len(names)), names, rotation=90, fontsize="small")
        ax.set_xlabel(f"cell, ordered by {', then '.join(LOOPS)}")
        ax.set_ylabel(self.measure.replace("_", " "))

    def _draw_sizes(self, ax: Axes) -> None:
        """Draw n as steps in a strip below the data."""
        low, high = ax.get_ylim()
        height = STRIP_HEIGHT * (high - low)
        floor = low - height
        ticks = [tick for tick in ax.get_yticks() if low <= tick <= high]
        sizes = list(dict.fromkeys(n for n, _ in self.order))
        step = 0.45 * height / max(1, len(sizes) - 1)
        heights = [floor + step * sizes.index(n) for n, _ in self.order]
        self.size_line_ = _draw_steps(ax, heights, color="0.4", linewidth=0.8)
        text = f"n: {', '.join(map(str, sizes))}"
        ax.text(-0.4, floor + 0.5 * height, text, va="bottom", fontsize="small", color="0.3")
        ax.set_yticks(ticks)
        ax.set_ylim(floor - 0.2 * height, high)


def _draw_steps(ax: Axes, heights: Sequence[float], **style: Any) -> Line2D:
    """Draw one step per cell."""
    edges = np.arange(len(heights) + 1) - 0.5
    return ax.step(edges, [*heights, heights[-1]], where="post", **style)[0]
