"""Plots of how much the risks by refits differ from those by the classifier (Riley and Collins, 2023)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import Array
from cudbound.plotting.display import LEVEL_STYLE, Display
from cudbound.plotting.risks import SquareDisplay
from cudbound.point_estimates.calibration_values import calibration_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Refits that are drawn; more curves make one gray area.
MOST_DRAWN = 200
#: Risks at which curves are computed.
GRID = np.linspace(0.01, 0.99, 99)


class _OfRisks:
    """The risks by a classifier, and by its refits."""

    def __init__(self, risks: ArrayLike, refit_risks: ArrayLike) -> None:
        self.risks = np.asarray(risks, dtype=float)
        self.refit_risks = np.asarray(refit_risks, dtype=float)
        if self.risks.ndim != 1 or self.refit_risks.shape[1:] != self.risks.shape:
            raise ParameterError(
                "refit_risks", "one row per refit, with as many risks as 'risks'", refit_risks
            )

    @property
    def drawn(self) -> Array:
        """The risks by the refits that are drawn."""
        return self.refit_risks[:MOST_DRAWN]


class PredictionInstabilityDisplay(_OfRisks, SquareDisplay):
    """Risks by refits against the risk by the classifier, with lines at their .025 and .975 quantiles.

    The quantiles show the instability of building the model; they are not a confidence interval for the risk of a
    patient.

    Parameters
    ----------
    risks : array-like of float, shape (n_samples,)
        Risks of the event by the classifier, in [0, 1].
    refit_risks : array-like of float, shape (n_refits, n_samples)
        Risks by the refits; quantiles are of all, points of at most 200.

    Attributes
    ----------
    points_ : matplotlib.lines.Line2D
    quantile_lines_ : list of matplotlib.lines.Line2D
    diagonal_, legend_, ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> display = PredictionInstabilityDisplay([0.2, 0.6], [[0.1, 0.7], [0.3, 0.5]]).plot()
    >>> display.quantile_lines_[0].get_ydata().round(3).tolist()
    [0.105, 0.505]
    """

    def _draw_on(self, ax: Axes) -> None:
        order = np.argsort(self.risks, kind="stable")
        x = np.broadcast_to(self.risks, self.drawn.shape)
        style: dict[str, Any] = {
            "color": "0.6",
            "markersize": 2.0,
            "alpha": 0.4,
            "linestyle": "none",
            "zorder": 1,
            "rasterized": True,  # thousands of points make a large SVG
        }
        (self.points_,) = ax.plot(x.ravel(), self.drawn.ravel(), marker=".", label="refits", **style)
        limits = np.quantile(self.refit_risks, (0.025, 0.975), axis=0)[:, order]
        self.quantile_lines_ = ax.plot(
            self.risks[order], limits.T, color="black", linewidth=1.0, linestyle=":"
        )
        self.quantile_lines_[0].set_label("2.5% and 97.5% of refits")
        self._frame_square(ax, "Instability of the risk", "risk by the classifier", "risk by refits")
        self.legend_ = ax.legend(loc="upper left", fontsize="small", frameon=False)


class RiskRangesDisplay(SquareDisplay):
    """Ranges of the risks by refits against the risk by the classifier, for groups of neighboring rows.

    Parameters
    ----------
    risks : array-like of float, shape (n_groups,)
        Mean risk of each group by the classifier, in [0, 1].
    low, high : array-like of float, shape (n_groups,)
        Means of the .025 and .975 quantiles over the refits.

    Attributes
    ----------
    ranges_ : matplotlib.collections.LineCollection
    points_ : matplotlib.lines.Line2D
        At the risk by the classifier.
    diagonal_, ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> RiskRangesDisplay([0.2], [0.1], [0.5]).plot().ranges_.get_segments()[0].tolist()
    [[0.2, 0.1], [0.2, 0.5]]
    """

    inches = (4.2, 4.2)

    def __init__(self, risks: ArrayLike, low: ArrayLike, high: ArrayLike) -> None:
        self.risks, self.low, self.high = (np.asarray(values, dtype=float) for values in (risks, low, high))

    def _draw_on(self, ax: Axes) -> None:
        self.ranges_ = ax.vlines(self.risks, self.low, self.high, color="0.45", linewidth=1.6)
        (self.points_,) = ax.plot(
            self.risks, self.risks, marker="o", color="black", linestyle="none", markersize=4.0
        )
        self._frame_square(
            ax, "Instability of the risk", "risk by the classifier", "risk by 95% of the refits"
        )


class MapeDisplay(_OfRisks, Display):
    """Mean absolute difference between the risks by the refits and by the classifier, against the latter.

    Parameters
    ----------
    risks : array-like of float, shape (n_samples,)
        Risks of the event by the classifier, in [0, 1].
    refit_risks : array-like of float, shape (n_refits, n_samples)

    Attributes
    ----------
    points_ : matplotlib.collections.PathCollection
    mean_line_ : matplotlib.lines.Line2D
        The mean over the rows.
    ax_, figure_ : matplotlib artists

    Examples
    --------
    >>> MapeDisplay([0.2, 0.6], [[0.1, 0.7], [0.3, 0.3]]).plot().points_.get_offsets().round(3).tolist()
    [[0.2, 0.1], [0.6, 0.2]]
    """

    inches = (4.8, 3.6)

    def _draw_on(self, ax: Axes) -> None:
        mape = np.abs(self.refit_risks - self.risks).mean(axis=0)
        self.points_ = ax.scatter(self.risks, mape, s=22.0, facecolors="none", edgecolors="black", zorder=2)
        self.mean_line_ = ax.axhline(mape.mean(), **LEVEL_STYLE, label=f"mean {mape.mean():.3f}")
        ax.set(xlim=(-0.02, 1.02), xlabel="risk by the classifier", ylabel="MAPE of the refits")
        ax.set_ylim(0.0, max(0.1, 1.1 * float(mape.max())))
        ax.set_title("Mean absolute difference of the risk", loc="left")
        self.legend_ = ax.legend(loc="upper right", fontsize="small", frameon=False)


class _CurvesDisplay(_OfRisks):
    """Curves of the classifier and of its refits on the training rows."""

    def __init__(self, risks: ArrayLike, refit_risks: ArrayLike, event: ArrayLike) -> None:
        super().__init__(risks, refit_risks)
        self.event = np.asarray(event, dtype=bool)
        if self.event.shape != self.risks.shape:
            raise ParameterError("event", "as many as 'risks'", event)

    def _draw_curves(self, ax: Axes, curve: Array, of_refits: Array) -> None:
        from matplotlib.collections import LineCollection

        style: dict[str, Any] = {"colors": "0.6", "linewidths": 0.5, "alpha": 0.5, "zorder": 1}
        pairs = [np.column_stack((GRID, values)) for values in of_refits]
        self.refit_curves_ = ax.add_collection(LineCollection(pairs, label="refits", **style))
        (self.curve_,) = ax.plot(GRID, curve, color="black", linewidth=1.6, zorder=3, label="classifier")


class CalibrationInstabilityDisplay(_CurvesDisplay, SquareDisplay):
    """Calibration of the refits on the training rows: logistic regressions of the event on the logit of the risk.

    Parameters
    ----------
    risks : array-like of float, shape (n_samples,)
        Risks of the event by the classifier, in [0, 1].
    refit_risks : array-like of float, shape (n_refits, n_samples)
        Risks by the refits; at most 200 curves are drawn, none for a refit whose risks separate the classes.
    event : array-like of bool, shape (n_samples,)
        Which rows are events.

    Attributes
    ----------
    refit_curves_ : matplotlib.collections.LineCollection
    curve_ : matplotlib.lines.Line2D
        Of the classifier.
    diagonal_, legend_, ax_, figure_ : matplotlib artists
    """

    def _draw_on(self, ax: Axes) -> None:
        of_refits = calibration_curves(self.drawn, self.event, GRID)
        of_refits = of_refits[np.isfinite(of_refits).all(axis=1)]
        self._draw_curves(ax, calibration_curves(self.risks[None], self.event, GRID)[0], of_refits)
        self._frame_square(ax, "Instability of the calibration", "predicted risk", "share of events, fitted")
        self.legend_ = ax.legend(loc="upper left", fontsize="small", frameon=False)


class DecisionCurveInstabilityDisplay(_CurvesDisplay, Display):
    """Net benefit of the classifier and of its refits on the training rows, by the threshold of the risk.

    On training rows the net benefit is too high; the spread of the curves is what the picture is for.

    Parameters
    ----------
    risks : array-like of float, shape (n_samples,)
        Risks of the event by the classifier, in [0, 1].
    refit_risks : array-like of float, shape (n_refits, n_samples)
        Risks by the refits; at most 200 curves are drawn.
    event : array-like of bool, shape (n_samples,)
        Which rows are events.

    Attributes
    ----------
    refit_curves_ : matplotlib.collections.LineCollection
    curve_, treat_all_, treat_none_ : matplotlib.lines.Line2D
        Of the classifier, and of treating everybody or nobody.
    legend_, ax_, figure_ : matplotlib artists
    """

    inches = (4.8, 3.6)

    def _draw_on(self, ax: Axes) -> None:
        curve, *of_refits = net_benefits(np.vstack((self.risks, self.drawn)), self.event, GRID)
        self._draw_curves(ax, curve, np.asarray(of_refits))
        everybody = net_benefits(np.ones((1, self.event.size)), self.event, GRID)[0]
        (self.treat_all_,) = ax.plot(
            GRID, everybody, color="black", linestyle="--", linewidth=0.8, label="treat all"
        )
        self.treat_none_ = ax.axhline(0.0, **LEVEL_STYLE, label="treat none")
        prevalence = float(self.event.mean())
        ax.set(xlim=(0.0, 1.0), ylim=(-0.25 * prevalence, 1.05 * prevalence))
        ax.set(xlabel="threshold of the risk", ylabel="net benefit")
        ax.set_title("Instability of the net benefit", loc="left")
        self.legend_ = ax.legend(loc="upper right", fontsize="small", frameon=False)


def net_benefits(risks: Array, event: NDArray[np.bool_], thresholds: Array) -> Array:
    """Return true positives less false positives at the odds of each threshold, per row, shape (n_fits, n_thresholds).

    References
    ----------
    Vickers, A. J. and Elkin, E. B. (2006). Decision curve analysis. Medical Decision Making 26, 565-574.

    Examples
    --------
    >>> net_benefits(np.array([[0.9, 0.6, 0.1]]), np.array([True, False, False]), np.array([0.5])).round(6).tolist()
    [[0.0]]
    """
    called = risks[:, :, None] >= thresholds
    true, false = (called[:, rows].sum(axis=1) / event.size for rows in (event, ~event))
    return np.asarray(true - false * thresholds / (1.0 - thresholds))
