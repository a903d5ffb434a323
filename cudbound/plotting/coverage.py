"""Coverage of every method: against width, by scenario, and against the kurtosis of the training error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.basis.rounding import format_level
from cudbound.plotting.display import BAND_STYLE, CELL, LEVEL_STYLE, CellsDisplay, check_columns
from cudbound.plotting.style import noise_band, safe_label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D

THIN: dict[str, Any] = {"elinewidth": 0.8, "markersize": 4.0, "linestyle": "none"}


class CoverageWidthDisplay(CellsDisplay):
    """Coverage against mean width, one point per cell and method: the best are high and to the left.

    Parameters
    ----------
    cells : pandas.DataFrame
        `Summary.cells`, or some of its rows: method, n_replicates, coverage, coverage_mcse, width, width_mcse. Cells
        without a width have no point.
    confidence_level : float, default=0.95

    Attributes
    ----------
    artists_ : dict of str to matplotlib.container.ErrorbarContainer
        Points of each method, with bars of one Monte Carlo standard error.
    level_line_, band_, legend_, ax_ : matplotlib artists
        As in `CellsDisplay`.

    Examples
    --------
    >>> import pandas as pd
    >>> cells = pd.DataFrame({"method": ["cud"], "n_replicates": [1000], "coverage": [0.96],
    ...     "coverage_mcse": [0.006], "width": [0.3], "width_mcse": [0.002]})
    >>> CoverageWidthDisplay(cells).plot().artists_["cud"].lines[0].get_ydata().tolist()
    [0.96]
    """

    columns = ("method", "n_replicates", "coverage", "coverage_mcse", "width", "width_mcse")

    def _draw(self, ax: Axes, rows: pd.DataFrame, style: dict[str, Any]) -> ErrorbarContainer:
        rows = rows[rows["width"].notna()]
        bars = rows["width_mcse"].fillna(0.0)
        return ax.errorbar(
            rows["width"], rows["coverage"], rows["coverage_mcse"], bars, alpha=0.85, **style, **THIN
        )

    def _finish(self, ax: Axes) -> None:
        ax.set_xlabel("mean width (limits in [0, 1])")
        ax.set_ylabel("coverage of the true error")


class CoverageByScenarioDisplay(CellsDisplay):
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
    level_label_ : matplotlib.text.Text
        At the upper edge of the plot, above the line.
    level_line_, band_, legend_, ax_ : matplotlib artists
        As in `CellsDisplay`.
    """

    columns = (*CELL, "method", "n_replicates", "coverage", "coverage_low", "coverage_high")
    legend_corner = "lower right"

    def __init__(self, cells: pd.DataFrame, confidence_level: float = 0.95) -> None:
        super().__init__(cells, confidence_level)
        keys = list(dict.fromkeys(cells[CELL].itertuples(index=False, name=None)))
        self._position = {key: number for number, key in enumerate(keys)}
        self.labels = [f"{safe_label(scenario)}, n = {n}" for scenario, n in keys]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches, with room for every point."""
        return 7.0, 1.2 + max(0.22, 0.09 * len(self.methods)) * len(self.labels)

    @property
    def legend_bottom(self) -> float:
        """Lower edge of the legend, above the name of the level."""
        return 1.0 + 0.2 / self.size[1]

    def _draw_level(self, ax: Axes) -> None:
        self.band_ = ax.axvspan(*noise_band(self.cells, self.confidence_level), **BAND_STYLE)
        self.level_line_ = ax.axvline(self.confidence_level, **LEVEL_STYLE)
        edge: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "fontsize": "small", "ha": "center"}
        level = format_level(self.confidence_level)
        self.level_label_ = ax.text(self.confidence_level, 1.01, f"nominal {level}", **edge)

    def _draw(self, ax: Axes, rows: pd.DataFrame, style: dict[str, Any]) -> ErrorbarContainer:
        number, size = self.methods.index(rows["method"].iloc[0]), len(self.methods)
        offset = (number - (size - 1) / 2.0) * (0.8 / size)
        line = [self._position[key] + offset for key in rows[CELL].itertuples(index=False, name=None)]
        below, above = rows["coverage"] - rows["coverage_low"], rows["coverage_high"] - rows["coverage"]
        bars = np.clip([below, above], 0.0, None)  # rounding may leave -1e-17 at a coverage of 0 or 1
        return ax.errorbar(rows["coverage"], line, xerr=bars, **style, **THIN)

    def _finish(self, ax: Axes) -> None:
        for between in range(1, len(self.labels)):
            ax.axhline(between - 0.5, color="0.85", linewidth=0.5, zorder=0)
        ax.set_yticks(range(len(self.labels)), self.labels)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(self.labels) - 0.5, -0.5)
        ax.set_xlabel("coverage, with 95% Clopper-Pearson interval", loc="right")


class KurtosisDisplay(CellsDisplay):
    """Coverage against the absolute excess kurtosis of the training error, one point per cell and method.

    Parameters
    ----------
    cells, samples : pandas.DataFrame
        `Summary.cells` and `Summary.samples`, joined by scenario and n: method, n_replicates and coverage from the
        former, training_error_kurtosis from the latter. Cells with equal training errors have no kurtosis and no point.
    confidence_level : float, default=0.95

    Attributes
    ----------
    artists_ : dict of str to matplotlib.lines.Line2D
        Points of each method, in the order of the kurtosis.
    level_line_, band_, legend_, ax_ : matplotlib artists
        As in `CellsDisplay`.

    References
    ----------
    Laber, E. B. and Murphy, S. A. (2008). Small sample inference for generalization error in classification using the
    CUD bound. UAI 2008, figure 1.
    """

    columns = (*CELL, "method", "n_replicates", "coverage")

    def __init__(self, cells: pd.DataFrame, samples: pd.DataFrame, confidence_level: float = 0.95) -> None:
        super().__init__(cells, confidence_level)
        columns = [*CELL, "training_error_kurtosis"]
        check_columns("samples", samples, columns)
        self.cells = cells.merge(samples[columns], on=CELL, how="left")

    def _draw(self, ax: Axes, rows: pd.DataFrame, style: dict[str, Any]) -> Line2D:
        rows = rows.assign(kurtosis=rows["training_error_kurtosis"].abs())
        rows = rows[rows["kurtosis"].notna()].sort_values("kurtosis", kind="stable")
        return ax.plot(
            rows["kurtosis"], rows["coverage"], linestyle="none", markersize=4.0, alpha=0.85, **style
        )[0]

    def _finish(self, ax: Axes) -> None:
        ax.set_xlabel("absolute excess kurtosis of the training error")
        ax.set_ylabel("coverage of the true error")
