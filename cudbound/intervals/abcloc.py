"""Asymmetric limits from the spread of the refits' errors below and above their mean (Harrell's abcloc)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.intervals.centers import CENTER, auc_at, estimate_at, undefined_at
from cudbound.intervals.efron_tibshirani import FALLBACK
from cudbound.intervals.method import Method
from cudbound.point_estimates.auc_estimates import aucs_on_draws, aucs_on_training_rows
from cudbound.records import Records, ScoreRecords

#: Weight of the error on the training set in the combination W, found by simulation.
WEIGHT = 1.25
#: With fewer draws both sides get the standard deviation of all.
FEWEST_DRAWS = 10


def dual_deviations(values: ArrayLike) -> tuple[float, float]:
    """Return the standard deviations about the mean of the values at or below it, and at or above it.

    Examples
    --------
    >>> below, above = dual_deviations([0, 0, 0, 0, 0, 0, 0, 0, 0, 10])
    >>> round(below, 4), above
    (1.0607, 9.0)
    """
    numbers = np.asarray(values, dtype=float)
    mean = float(numbers.mean())
    if numbers.size < FEWEST_DRAWS:
        spread = float(numbers.std(ddof=1)) if numbers.size > 1 else 0.0
        return spread, spread
    # rounding must not put values that are equal beside their own mean
    sides = (numbers[numbers <= mean + 1e-12], numbers[numbers >= mean - 1e-12])
    below, above = (float(np.sqrt(((side - mean) ** 2).sum() / max(side.size - 1, 1))) for side in sides)
    return below, above


def abcloc_interval(
    resubstitution: ArrayLike, on_training_set: ArrayLike, estimate: float, confidence_level: float
) -> ConfidenceInterval:
    """Return [estimate - z s_above, estimate + z s_below] of W = error on the draw - 1.25 error on the training set.

    Parameters
    ----------
    resubstitution : array-like of float, shape (n_resamples,)
        Error of each draw's classifier on its own draw.
    on_training_set : array-like of float, shape (n_resamples,)
        Its error on the training set.
    estimate : float
        The corrected error.
    confidence_level : float

    References
    ----------
    Harrell, F. E. (2025), R package rms, version 8.1-0, function validate: asymmetric bootstrap confidence limits for
    optimism-corrected estimates.

    Examples
    --------
    >>> interval = abcloc_interval([0.1, 0.3], [0.2, 0.2], 0.25, 0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.027, 0.527)
    """
    below, above = dual_deviations(np.asarray(resubstitution) - WEIGHT * np.asarray(on_training_set))
    z = float(ndtri(0.5 + confidence_level / 2))
    return ConfidenceInterval(estimate - z * above, estimate + z * below)


def _compute(records: Records, confidence_level: float, *, center: str) -> Outcome:
    found = estimate_at(records, center)
    bootstrap = records.require("bootstrap")
    on_training_set = np.asarray(bootstrap.losses).mean(axis=1)
    return undefined_at(found) or Outcome(
        found.estimate,
        abcloc_interval(bootstrap.resubstitution, on_training_set, found.estimate, confidence_level),
        remarks=found.remarks,
        degenerate="the errors of the refits do not vary",
    )


def _compute_auc(records: ScoreRecords, confidence_level: float, *, center: str) -> Outcome:
    found = auc_at(records, center)
    on_draws, on_training_rows = aucs_on_draws(records), aucs_on_training_rows(records)
    return undefined_at(found) or Outcome(
        found.estimate,
        abcloc_interval(on_draws, on_training_rows, found.estimate, confidence_level),
        degenerate="the AUCs of the refits do not vary",
    )


ABCLOC_AUC = Method(
    name="abcloc",
    reads="scores",
    title="Asymmetric limits from the spread of the AUCs of refits, around the corrected AUC",
    formula="E - z(1 - d/2) s_above and E + z(1 - d/2) s_below; E is the corrected AUC, W = AUC on the draw - 1.25 AUC "
    "on the training rows, for each refit; s_above and s_below the standard deviations of W about its mean, from the "
    "values above and below it",
    estimand=Estimand("conditional"),
    needs=frozenset({"scores", "bootstrap"}),
    assumptions="the combination W varies over refits as the corrected AUC varies over training sets",
    tendency="liberal: at level .95, coverage was 0 in the worst and .79 in the median of 91 settings; designed for "
    "indexes of regression models on hundreds of rows, where its constant was found by simulation",
    reference="Harrell (2025), R package rms 8.1-0. For a side with one draw, s is its distance to the mean",
    cost="B",
    compute=_compute_auc,
    options={"center": CENTER},
)

_OF_ERRORS = Method(
    name="abcloc",
    title="Asymmetric limits from the spread of the errors of refits, around the corrected estimate",
    formula="E - z(1 - d/2) s_above and E + z(1 - d/2) s_below; E is the corrected error, s_above and s_below the "
    "standard deviations of A_b - 1.25 D_b about its mean, from the values above and below it",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "bootstrap"}),
    assumptions="the combination A_b - 1.25 D_b varies over refits as the corrected error varies over training sets",
    tendency="liberal: errors of refits on draws vary less than the error of this classifier; designed for indexes of "
    "regression models on hundreds of rows, where its constant was found by simulation",
    reference="Harrell (2025), R package rms 8.1-0. For a side with one draw, s is its distance to the mean",
    cost="B",
    compute=_compute,
    options={"center": CENTER},
    fallback=FALLBACK,
)

ABCLOC_BRIER = replace(
    _OF_ERRORS,
    reads="probabilities",
    title="Asymmetric limits from the spread of the Brier scores of refits, around the corrected Brier score",
    formula="E - z(1 - d/2) s_above and E + z(1 - d/2) s_below; E is the corrected Brier score, W = score on the draw "
    "- 1.25 score on the training rows, for each refit; s_above and s_below the standard deviations of W about its "
    "mean, from the values above and below it",
    tendency="liberal: at level .95, coverage was 0 in the worst and .87 in the median of 87 settings; designed for "
    "indexes of regression models on hundreds of rows, where its constant was found by simulation",
)

ABCLOC = replace(_OF_ERRORS, others={"scores": ABCLOC_AUC, "probabilities": ABCLOC_BRIER})
