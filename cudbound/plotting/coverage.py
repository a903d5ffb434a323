"""Coverage of every method: against width, by scenario, and against the kurtosis of the training error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

CELL = ["scenario", "n"]
THIN: dict[str, Any] = {"elinewidth": 0.8, "markersize": 4.0, "linestyle": "none"}
BAND_STYLE: dict[str, Any] = {"color": "0.92", "zorder": 0, "linewidth": 0}
LEVEL_STYLE: dict[str, Any] = {"color": "0.4", "linewidth": 0.8, "linestyle": "--", "zorder": 1}


class CoverageWidthDisplay:
    """Coverage against mean width, one point per cell and method: the best are high and to the left.

    Parameters
    ----------
    cells : pandas.DataFrame
        `Summary.cells` or some of its rows: method, n_replicates, coverage, coverage_mcse, width, width_mcse. Cells
        without a width have no point.
    confidence_level : float, default=0.95

    Attributes
    ----------
    points_ : dict of str to matplotlib.container.ErrorbarContainer
        Of each method, with bars of one Monte Carlo standard error.
    level_line_, band_, legend_, ax_ : matplotlib artists
        The line of the nominal level, and the band in which the coverage of an exact interval falls in 95% of studies.

    Examples
    --------
    >>> import pandas as pd
    >>> cells = pd.DataFrame({"method": ["cud"], "n_replicates": [1000], "coverage": [0.96],
    ...     "coverage_mcse": [0.006], "width": [0.3], "width_mcse": [0.002]})
    >>> CoverageWidthDisplay(cells).plot().points_["cud"].lines[0].get_ydata().tolist()
    [0.96]
    """

    points_: dict[str, ErrorbarContainer]
    level_line_: Line2D
    band_: Artist
    legend_: Legend
    ax_: Axes

    def __init__(self, cells: pd.DataFrame, confidence_level: float = 0.95) -> None:
        columns = ["method", "n_replicates", "coverage", "coverage_mcse", "width", "width_mcse"]
        check_columns("cells", cells, columns)
        self.cells = cells
        self.confidence_level = confidence_level

    def plot(self, ax: Axes | None = None) -> CoverageWidthDisplay:
        """Draw on `ax`, or on a new figure for None."""
        ax = axes_for(ax, (7.0, 4.0))
        self.band_ = ax.axhspan(*noise_band(self.cells, self.confidence_level), **BAND_STYLE)
        self.level_line_ = ax.axhline(self.confidence_level, **LEVEL_STYLE)
        self.points_ = {}
        for method, style in method_styles(methods_of(self.cells)).items():
            rows = self.cells[(self.cells["method"] == method) & self.cells["width"].notna()]
            self.points_[method] = ax.errorbar(
                rows["width"],
                rows["coverage"],
                xerr=rows["width_mcse"].fillna(0.0),
                yerr=rows["coverage_mcse"],
                alpha=0.85,
                **style,
                **THIN,
            )
        ax.set_xlabel("mean width (limits in [0, 1])")
        ax.set_ylabel("coverage of the true error")
        self.legend_ = finish(ax, list(self.points_.values()), list(self.points_))
        self.ax_ = ax
        return self


class CoverageByScenarioDisplay:
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
    points_ : dict of str to matplotlib.container.ErrorbarContainer
        Of each method.
    level_line_, band_, legend_, ax_ : matplotlib artists
        As in `CoverageWidthDisplay`.
    """

    points_: dict[str, ErrorbarContainer]
    level_line_: Line2D
    band_: Artist
    legend_: Legend
    ax_: Axes

    def __init__(self, cells: pd.DataFrame, confidence_level: float = 0.95) -> None:
        columns = [*CELL, "method", "n_replicates", "coverage", "coverage_low", "coverage_high"]
        check_columns("cells", cells, columns)
        self.cells = cells
        self.confidence_level = confidence_level
        keys = list(dict.fromkeys(cells[CELL].itertuples(index=False, name=None)))
        self._position = {key: number for number, key in enumerate(keys)}
        self.labels = [f"{safe_label(scenario)}, n = {n}" for scenario, n in keys]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that leave room for every point."""
        lines = max(0.22, 0.09 * len(methods_of(self.cells)))
        return 7.0, 1.2 + lines * len(self.labels)

    def plot(self, ax: Axes | None = None) -> CoverageByScenarioDisplay:
        """Draw on `ax`, or on a new figure for None."""
        ax = axes_for(ax, self.size)
        methods = methods_of(self.cells)
        offsets = (np.arange(len(methods)) - (len(methods) - 1) / 2.0) * (0.8 / len(methods))
        self.band_ = ax.axvspan(*noise_band(self.cells, self.confidence_level), **BAND_STYLE)
        self.level_line_ = ax.axvline(self.confidence_level, **LEVEL_STYLE)
        self.points_ = {}
        for (method, style), offset in zip(method_styles(methods).items(), offsets, strict=True):
            rows = self.cells[self.cells["method"] == method]
            line = [self._position[key] + offset for key in rows[CELL].itertuples(index=False, name=None)]
            below, above = rows["coverage"] - rows["coverage_low"], rows["coverage_high"] - rows["coverage"]
            bars = np.clip([below, above], 0.0, None)  # rounding may leave -1e-17 at a coverage of 0 or 1
            self.points_[method] = ax.errorbar(rows["coverage"], line, xerr=bars, **style, **THIN)
        for between in range(1, len(self.labels)):
            ax.axhline(between - 0.5, color="0.85", linewidth=0.5, zorder=0)
        ax.set_yticks(range(len(self.labels)), self.labels)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(self.labels) - 0.5, -0.5)
        ax.set_xlabel("coverage, with 95% Clopper-Pearson interval", loc="right")
        self.legend_ = finish(ax, list(self.points_.values()), methods, side="right")
        self.ax_ = ax
        return self


class KurtosisDisplay:
    """Coverage against the absolute excess kurtosis of the training error, one point per cell and method.

    Parameters
    ----------
    cells, samples : pandas.DataFrame
        `Summary.cells` and `Summary.samples`, joined by scenario and n: method, n_replicates and coverage from the
        former, training_error_kurtosis from the latter. Cells whose training errors are all equal have no kurtosis and
        no point.
    confidence_level : float, default=0.95

    Attributes
    ----------
    points_ : dict of str to matplotlib.lines.Line2D
        Of each method, in the order of the kurtosis.
    level_line_, band_, legend_, ax_ : matplotlib artists
        As in `CoverageWidthDisplay`.

    References
    ----------
    Laber, E. B. and Murphy, S. A. (2008). Small sample inference for generalization error in classification using the
    CUD bound. UAI 2008, figure 1.
    """

    points_: dict[str, Line2D]
    level_line_: Line2D
    band_: Artist
    legend_: Legend
    ax_: Axes

    def __init__(self, cells: pd.DataFrame, samples: pd.DataFrame, confidence_level: float = 0.95) -> None:
        check_columns("cells", cells, [*CELL, "method", "n_replicates", "coverage"])
        check_columns("samples", samples, [*CELL, "training_error_kurtosis"])
        self.cells = cells.merge(samples[[*CELL, "training_error_kurtosis"]], on=CELL, how="left")
        self.confidence_level = confidence_level

    def plot(self, ax: Axes | None = None) -> KurtosisDisplay:
        """Draw on `ax`, or on a new figure for None."""
        ax = axes_for(ax, (7.0, 4.0))
        cells = self.cells.assign(kurtosis=self.cells["training_error_kurtosis"].abs())
        cells = cells[cells["kurtosis"].notna()].sort_values("kurtosis", kind="stable")
        self.band_ = ax.axhspan(*noise_band(self.cells, self.confidence_level), **BAND_STYLE)
        self.level_line_ = ax.axhline(self.confidence_level, **LEVEL_STYLE)
        self.points_ = {}
        for method, style in method_styles(methods_of(self.cells)).items():
            rows = cells[cells["method"] == method]
            (self.points_[method],) = ax.plot(
                rows["kurtosis"], rows["coverage"], linestyle="none", markersize=4.0, alpha=0.85, **style
            )
        ax.set_xlabel("absolute excess kurtosis of the training error")
        ax.set_ylabel("coverage of the true error")
        self.legend_ = finish(ax, list(self.points_.values()), list(self.points_))
        self.ax_ = ax
        return self
