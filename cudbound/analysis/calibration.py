"""Calibration of a classifier, apparent and corrected for optimism, and the predictions behind the plots."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.results import Pictured
from cudbound.basis.validation import Array
from cudbound.basis.words import InLines
from cudbound.metrics.views import scored
from cudbound.point_estimates.auc import order_codes
from cudbound.point_estimates.calibration_values import calibration_values
from cudbound.records import Records

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.plotting.risks import CalibrationDisplay

NOT_DEFINED = "the predicted risks separate the classes or are all equal, or one class is missing"


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(InLines, Pictured["CalibrationDisplay"]):
    """Agreement of predicted risks with the observed share of events: point estimates without intervals.

    The intercept is calibration-in-the-large, from a logistic regression of the event with the logit of the risk as an
    offset: 0 is ideal, and risks are too high if it is negative. The slope comes from a regression on the logit with a
    free intercept: 1 is ideal, and risks are too extreme if it is below 1. Risks are clipped to [1e-6, 1 - 1e-6] first.

    There is no interval. Those in use, from the slopes of refits or Wald's from training rows or out of fold, cover the
    slope at most .23 of the time in their worst setting; the one with nominal coverage is too long to be useful (its
    median width is 2.4; the slope of a good classifier is 1).

    Attributes
    ----------
    apparent_intercept, apparent_slope : float
        Values on the training rows; nan if the risks separate the classes or are all equal.
    intercept, slope : float
        The apparent values minus their optimism: the mean over draws of the refit's value on its draw minus its value
        on the training rows.
    n_draws : int
        Draws used for the optimism; the others had one class, or risks that separate the classes or are all equal.
    remarks : tuple of str
        Why a value is nan, and how many draws were left out.

    References
    ----------
    Harrell, F. E. (2015). Regression modeling strategies, section 5.3; Van Calster, B. et al. (2019). Calibration: the
    Achilles heel of predictive analytics. BMC Medicine 17, 230.
    """

    apparent_intercept: float
    apparent_slope: float
    intercept: float
    slope: float
    n_draws: int
    remarks: tuple[str, ...] = ()
    #: Event and mean probability over the draws that left the row out, for the plot.
    predictions: pd.DataFrame | None = field(default=None)

    def lines(self) -> list[str]:
        """Return the values, in sentences."""
        return [
            f"Calibration corrected for optimism over {self.n_draws} bootstrap draws: intercept "
            f"{_number(self.intercept)}, slope {_number(self.slope)}.",
            f"On the training rows: intercept {_number(self.apparent_intercept)}, "
            f"slope {_number(self.apparent_slope)}.",
            *(f"{remark[0].upper()}{remark[1:]}." for remark in self.remarks),
        ]

    def display(self) -> CalibrationDisplay:
        """Return the plot of observed shares against mean risks, by tertiles of the risk; its `plot` draws it.

        Raises
        ------
        ValueError
            If no row was left out of a draw.
        """
        from cudbound.plotting.risks import CalibrationDisplay

        if self.predictions is None:
            raise ValueError("The plot needs risks from refits on bootstrap draws, but there are none.")
        return CalibrationDisplay(self.predictions, self.intercept, self.slope)


def calibration_in(records: Records) -> Calibration:
    """Return the calibration, from recorded probabilities of a classifier and its refits."""
    event, draws = records.event, records.bootstrap
    ones = np.ones(event.size)
    apparent = calibration_values(records.probabilities[None], event, ones)[0]
    corrected, n_used = np.full(2, np.nan), 0
    remarks = [f"no calibration: {NOT_DEFINED}"] if np.isnan(apparent).any() else []
    if (bootstrap := scored(records).bootstrap) is not None:
        differences = calibration_values(bootstrap.probabilities, event, bootstrap.counts)
        differences -= calibration_values(bootstrap.probabilities, event, ones)
        differences = differences[np.isfinite(differences).all(axis=1)]
        n_used = len(differences)
        corrected = apparent - differences.mean(axis=0) if n_used else corrected
    if draws is None:
        remarks.append("no refits on bootstrap draws")
    elif n_used < draws.n_fits:
        remarks.append(f"{draws.n_fits - n_used} of {draws.n_fits} draws were left out: {NOT_DEFINED}")
    predictions = None if draws is None else predictions_in(records)
    (intercept, slope), (apparent_intercept, apparent_slope) = corrected.tolist(), apparent.tolist()
    return Calibration(
        apparent_intercept, apparent_slope, intercept, slope, n_used, tuple(remarks), predictions
    )


def predictions_in(records: Records) -> pd.DataFrame:
    """Return scores and probabilities of each training row, apparent and out of bag; nan where not recorded."""
    import pandas as pd

    missing = np.full(records.n_samples, np.nan)
    bootstrap = scored(records).bootstrap

    def out_of_bag(name: str, *, ranks: bool) -> Array:
        values = getattr(bootstrap, name, None)
        return (
            missing if bootstrap is None or values is None else _out_of_bag(values, bootstrap.counts, ranks)
        )

    ranked = "probabilities" if records.scores is None else "scores"
    scores, probabilities = getattr(records, ranked), records.probabilities
    return pd.DataFrame(
        {
            "event": records.event,
            "score": missing if scores is None else scores,
            "rank_out_of_bag": out_of_bag(ranked, ranks=True),
            "probability": missing if probabilities is None else probabilities,
            "probability_out_of_bag": out_of_bag("probabilities", ranks=False),
        }
    ).rename_axis("row")


def _out_of_bag(scores: Array, counts: NDArray[np.integer[Any]], ranks: bool) -> Array:
    """Return each row's mean score, or mean rank among the rows left out, over the draws that left it out."""
    out = np.asarray(counts) == 0
    values = _ranks(scores, out) if ranks else scores
    n_out = out.sum(axis=0)
    sums = np.where(out, values, 0.0).sum(axis=0)
    return np.asarray(np.where(n_out > 0, sums / np.maximum(n_out, 1), np.nan))


def _ranks(scores: Array, out: NDArray[np.bool_]) -> Array:
    """Return the share of rows left out of the same draw that a row exceeds; ties and the row itself count half."""
    codes = order_codes(scores)
    n_fits, n = codes.shape
    at = codes + n * np.arange(n_fits)[:, None]
    of_code = np.bincount(at.ravel(), out.ravel(), n_fits * n).reshape(n_fits, n)
    below = np.cumsum(of_code, axis=1) - 0.5 * of_code
    return np.asarray(
        np.take_along_axis(below, codes, axis=1) / np.maximum(out.sum(axis=1, keepdims=True), 1)
    )


def _number(value: float) -> str:
    return "not available" if math.isnan(value) else f"{value:z.2f}"
