"""Location-shifted bootstrap interval: the errors of refits on their own draws, shifted to the corrected estimate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.intervals.bootstrap_percentile import QUANTILE, percentile_interval
from cudbound.intervals.centers import CENTER, auc_at, estimate_at, undefined_at
from cudbound.intervals.efron_tibshirani import FALLBACK
from cudbound.intervals.method import Method
from cudbound.point_estimates.auc_estimates import aucs_on_draws, training_auc
from cudbound.records import Records, ScoreRecords


def location_shifted_interval(
    resubstitution: ArrayLike,
    training_error: float,
    estimate: float,
    confidence_level: float,
    quantile: str = "inverted-cdf",
) -> ConfidenceInterval:
    """Return the percentiles of the errors on the draws minus (training error - estimate), which may leave [0, 1].

    Parameters
    ----------
    resubstitution : array-like of float, shape (n_resamples,)
        Error of each draw's classifier on its own draw.
    training_error : float
    estimate : float
        The corrected error.
    confidence_level : float
    quantile : {"inverted-cdf", "type-7"}, default="inverted-cdf"

    References
    ----------
    Noma, H., Shinozaki, T., Iba, K., Teramukai, S. and Furukawa, T. A. (2021). Confidence intervals of prediction
    accuracy measures for multivariable prediction models based on the bootstrap-based optimism correction methods.
    Statistics in Medicine 40, 5691-5701, algorithm 1.

    Examples
    --------
    >>> location_shifted_interval([0.0, 0.25, 0.5], 0.25, 0.5, 0.5)
    ConfidenceInterval(low=0.25, high=0.75)
    """
    interval = percentile_interval(resubstitution, confidence_level, quantile)
    shift = estimate - training_error
    return ConfidenceInterval(interval.low + shift, interval.high + shift)


def _compute(records: Records, confidence_level: float, *, center: str, quantile: str) -> Outcome:
    found = estimate_at(records, center)
    training_error = float(np.mean(records.require("losses")))
    errors = records.require("bootstrap").resubstitution
    return undefined_at(found) or Outcome(
        found.estimate,
        location_shifted_interval(errors, training_error, found.estimate, confidence_level, quantile),
        remarks=found.remarks,
        degenerate="both limits are the same bootstrap replicate",
    )


def _compute_auc(records: ScoreRecords, confidence_level: float, *, center: str, quantile: str) -> Outcome:
    found, training = auc_at(records, center), training_auc(records)
    return undefined_at(found) or Outcome(
        found.estimate,
        location_shifted_interval(
            aucs_on_draws(records), training, found.estimate, confidence_level, quantile
        ),
        degenerate="both limits are the same bootstrap replicate",
    )


LOCATION_SHIFTED_AUC = Method(
    name="location-shifted",
    reads="scores",
    title="Percentiles of the AUCs of refits on their own draws, shifted to the corrected AUC",
    formula="the d/2 and 1 - d/2 quantiles of the AUCs of the refits on their own draws, both plus E - A; A is the AUC "
    "on the training rows, E the corrected AUC",
    estimand=Estimand("conditional"),
    needs=frozenset({"scores", "bootstrap"}),
    assumptions="the corrected AUC varies around the true AUC as AUCs of refits on their draws vary around the AUC on "
    "the training rows",
    tendency="liberal: at level .95, coverage was 0 in the worst and .68 in the median of 91 settings; "
    "designed for logistic models on hundreds of rows",
    reference="Noma et al. (2021), algorithm 1; as in the R packages predboot and pminternal",
    cost="B",
    compute=_compute_auc,
    options={"center": CENTER, "quantile": QUANTILE},
)

_OF_ERRORS = Method(
    name="location-shifted",
    title="Percentiles of the errors of refits on their own draws, shifted to the corrected estimate",
    formula="the d/2 and 1 - d/2 quantiles of A_b, both plus E - T; E is the corrected error",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "bootstrap"}),
    assumptions="the corrected error varies around the true error as errors of refits on their draws vary around the "
    "training error",
    tendency="liberal, far below nominal with many features or few errors: refits adapt to their draws, and their "
    "errors there vary too little; designed for C-statistics of logistic models on hundreds of rows",
    reference="Noma et al. (2021), algorithm 1; as in the R packages predboot and pminternal",
    cost="B",
    compute=_compute,
    options={"center": CENTER, "quantile": QUANTILE},
    fallback=FALLBACK,
)

LOCATION_SHIFTED_BRIER = replace(
    _OF_ERRORS,
    reads="probabilities",
    title="Percentiles of the Brier scores of refits on their own draws, shifted to the corrected Brier score",
    formula="the d/2 and 1 - d/2 quantiles of the Brier scores of the refits on their own draws, both plus E - B; B is "
    "the Brier score on the training rows, E the corrected one",
    tendency="liberal, since refits adapt to their draws: at level .95, coverage was 0 in the worst and .77 in the "
    "median of 87 settings",
)

LOCATION_SHIFTED = replace(
    _OF_ERRORS, others={"scores": LOCATION_SHIFTED_AUC, "probabilities": LOCATION_SHIFTED_BRIER}
)
