"""All cells of a study on one line, one step per cell, ordered by nested loops over the factors of the design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cudbound.plotting.coverage import BAND_STYLE, LEVEL_STYLE
from cudbound.plotting.style import (
    axes_for,
    check_columns,
    finish,
    method_styles,
    methods_of,
    noise_band,
    safe_label,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

#: Height of the strip for one factor below the data, relative to the height of the data.
FACTOR_HEIGHT = 0.12
#: With more cells than this there are no names at the axis.
MAX_NAMED = 60


class NestedLoopDisplay:
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
    lines_ : dict of str to matplotlib.lines.Line2D
        Steps of each method.
    factor_lines_ : dict of str to matplotlib.lines.Line2D
        Steps of each factor except the innermost.
    legend_, ax_ : matplotlib artists

    References
    ----------
    Rücker, G. and Schwarzer, G. (2014). Presenting simulation results in a nested loop plot. BMC Medical Research
    Methodology 14, 129.
    """

    lines_: dict[str, Line2D]
    factor_lines_: dict[str, Line2D]
    legend_: Legend
    ax_: Axes

    def __init__(
        self,
        cells: pd.DataFrame,
        measure: str = "coverage",
        factors: Sequence[str] = ("n", "scenario"),
        confidence_level: float = 0.95,
    ) -> None:
        check_columns("cells", cells, ["method", "n_replicates", *factors, measure])
        self.cells = cells
        self.measure = measure
        self.factors = tuple(factors)
        self.confidence_level = confidence_level
        self._levels = {factor: _levels(cells[factor]) for factor in self.factors}
        seen = set(cells[list(self.factors)].itertuples(index=False, name=None))
        self.order = sorted(seen, key=self._place)

    def _place(self, cell: tuple[object, ...]) -> tuple[int, ...]:
        return tuple(
            self._levels[factor].index(level) for factor, level in zip(self.factors, cell, strict=True)
        )

    @property
    def _names(self) -> list[str]:
        """Names of the innermost levels at the axis, if there is room for them."""
        return [safe_label(str(cell[-1])) for cell in self.order] if len(self.order) <= MAX_NAMED else []

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches; names at the axis add to the height of the data."""
        return 7.0, 4.0 + 0.075 * max(map(len, self._names), default=0)

    def plot(self, ax: Axes | None = None) -> NestedLoopDisplay:
        """Draw on `ax`, or on a new figure for None."""
        ax = axes_for(ax, self.size)
        if self.measure == "coverage":
            ax.axhspan(*noise_band(self.cells, self.confidence_level), **BAND_STYLE)
            ax.axhline(self.confidence_level, **LEVEL_STYLE)
        edges = np.arange(len(self.order) + 1) - 0.5
        self.lines_ = {}
        for method, style in method_styles(methods_of(self.cells)).items():
            rows = self.cells[self.cells["method"] == method]
            keys = rows[list(self.factors)].itertuples(index=False, name=None)
            values = dict(zip(keys, rows[self.measure], strict=True))
            steps = [values.get(cell, np.nan) for cell in self.order]
            (self.lines_[method],) = ax.step(
                edges, [*steps, steps[-1]], where="post", color=style["color"], linewidth=1.2
            )
        self._draw_factors(ax, edges)
        ax.set_xlim(edges[0], edges[-1])
        names = self._names
        ax.set_xticks(range(len(names)), names, rotation=90, fontsize="small")
        ax.set_xlabel(f"cell, ordered by {', then '.join(self.factors)}")
        ax.set_ylabel(self.measure.replace("_", " "))
        self.legend_ = finish(ax, list(self.lines_.values()), list(self.lines_))
        self.ax_ = ax
        return self

    def _draw_factors(self, ax: Axes, edges: np.ndarray) -> None:
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
            (self.factor_lines_[factor],) = ax.step(
                edges, [*heights, heights[-1]], where="post", color="0.4", linewidth=0.8
            )
            text = f"{factor}: {', '.join(safe_label(str(level)) for level in levels)}"
            ax.text(edges[0] + 0.1, floor + 0.5 * height, text, va="bottom", fontsize="small", color="0.3")
        ax.set_yticks(ticks)
        ax.set_ylim(low - len(self.factor_lines_) * height - 0.2 * height, high)


def _levels(values: pd.Series[str] | pd.Series[int]) -> list[object]:
    levels: list[object] = list(dict.fromkeys(values.tolist()))
    numbers = [level for level in levels if isinstance(level, int | float)]
    return [*sorted(numbers)] if len(numbers) == len(levels) else levels
