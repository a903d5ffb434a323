"""All cells of a study on one line, one step per cell, ordered by nested loops over the factors of the design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.plotting.display import Display
from cudbound.plotting.style import safe_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

#: Height of the strip for one factor below the data, relative to the height of the data.
FACTOR_HEIGHT = 0.12
#: With more cells than this there are no names at the axis.
MAX_NAMED = 60


class NestedLoopDisplay(Display):
    """A measure of every method in every cell as steps, over steps that show the levels of the factors.

    Parameters
    ----------
    cells : pandas.DataFrame
        `Summary.cells` or some of its rows: method, n_replicates, the factors and the measure.
    measure : str, default="coverage"
        Name of a column.
    factors : sequence of str, default=("n", "scenario")
        Columns that identify a cell, outermost loop first. Levels are in order of occurrence, numbers ascending. The
        innermost is named at the axis; the others are drawn as steps below the data.
    confidence_level : float, default=0.95
        Drawn as a line if the measure is "coverage".

    Attributes
    ----------
    order : list of tuple
        Levels of the factors of each cell from left to right.
    artists_ : dict of str to matplotlib.lines.Line2D
        Steps of each method.
    factor_lines_ : dict of str to matplotlib.lines.Line2D
        Steps of each factor except the innermost.
    level_line_, band_, legend_, ax_ : matplotlib artists
        As in `Display`; the former two only if the measure is "coverage".

    References
    ----------
    Rücker, G. and Schwarzer, G. (2014). Presenting simulation results in a nested loop plot. BMC Medical Research
    Methodology 14, 129.
    """

    factor_lines_: dict[str, Line2D]

    def __init__(
        self,
        cells: pd.DataFrame,
        measure: str = "coverage",
        factors: Sequence[str] = ("n", "scenario"),
        confidence_level: float = 0.95,
    ) -> None:
        self.columns = ("method", "n_replicates", *factors, measure)
        super().__init__(cells, confidence_level)
        self.measure = measure
        self.factors = tuple(factors)
        self._levels = {factor: _levels(cells[factor]) for factor in self.factors}
        self.order = sorted(
            set(cells[list(self.factors)].itertuples(index=False, name=None)),
            key=lambda cell: [
                levels.index(one) for levels, one in zip(self._levels.values(), cell, strict=True)
            ],
        )

    @property
    def _names(self) -> list[str]:
        """Names of the innermost levels at the axis, if there is room for them."""
        return [safe_label(str(cell[-1])) for cell in self.order] if len(self.order) <= MAX_NAMED else []

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches; names at the axis add to the height of the data."""
        return 7.0, 4.0 + 0.075 * max(map(len, self._names), default=0)

    def _draw_level(self, ax: Axes) -> None:
        if self.measure == "coverage":
            super()._draw_level(ax)

    def _draw(self, ax: Axes, rows: pd.DataFrame, style: dict[str, Any]) -> Line2D:
        keys = rows[list(self.factors)].itertuples(index=False, name=None)
        values = dict(zip(keys, rows[self.measure], strict=True))
        heights = [values.get(cell, np.nan) for cell in self.order]
        return _draw_steps(ax, heights, color=style["color"], linewidth=1.2)

    def _finish(self, ax: Axes) -> None:
        self._draw_factors(ax)
        ax.set_xlim(-0.5, len(self.order) - 0.5)
        names = self._names
        ax.set_xticks(range(len(names)), names, rotation=90, fontsize="small")
        ax.set_xlabel(f"cell, ordered by {', then '.join(self.factors)}")
        ax.set_ylabel(self.measure.replace("_", " "))

    def _draw_factors(self, ax: Axes) -> None:
        """Draw each factor except the innermost as steps of its levels in a strip below the data."""
        low, high = ax.get_ylim()
        height = FACTOR_HEIGHT * (high - low)
        ticks = [tick for tick in ax.get_yticks() if low <= tick <= high]
        self.factor_lines_ = {}
        for number, factor in enumerate(self.factors[:-1]):
            floor = low - (number + 1) * height
            levels = self._levels[factor]
            step = 0.45 * height / max(1, len(levels) - 1)
            heights = [floor + step * levels.index(cell[number]) for cell in self.order]
            self.factor_lines_[factor] = _draw_steps(ax, heights, color="0.4", linewidth=0.8)
            text = f"{factor}: {', '.join(safe_label(str(level)) for level in levels)}"
            ax.text(-0.4, floor + 0.5 * height, text, va="bottom", fontsize="small", color="0.3")
        ax.set_yticks(ticks)
        ax.set_ylim(low - len(self.factor_lines_) * height - 0.2 * height, high)


def _draw_steps(ax: Axes, heights: Sequence[float], **style: Any) -> Line2D:
    """Draw one step per cell."""
    edges = np.arange(len(heights) + 1) - 0.5
    return ax.step(edges, [*heights, heights[-1]], where="post", **style)[0]


def _levels(values: pd.Series[Any]) -> list[Any]:
    levels = list(dict.fromkeys(values.tolist()))
    return sorted(levels) if all(isinstance(level, int | float) for level in levels) else levels
