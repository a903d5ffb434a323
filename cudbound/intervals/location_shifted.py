"""Location-shifted bootstrap interval: the errors of refits on their own draws, moved to the corrected estimate."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.intervals.bootstrap_percentile import QUANTILE, percentile_interval
from cudbound.intervals.centers import CENTER, estimate_at, undefined_at
from cudbound.intervals.efron_tibshirani import FALLBACK
from cudbound.intervals.method import Method
from cudbound.records import Records


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


LOCATION_SHIFTED = Method(
    name="location-shifted",
    title="Percentiles of the errors of refits on their own draws, moved to the corrected estimate",
    formula="the d/2 and 1 - d/2 quantiles of A_b, both plus E - T; E is the corrected error",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "bootstrap"}),
    assumptions="the corrected error varies around the true one as the error of refits on their draws does around the "
    "training error",
    tendency="liberal, far below its level with many features or few errors: refits adapt to their draws, so that "
    "their errors on them vary too little; made for C-statistics of logistic models on hundreds of rows",
    reference="Noma et al. (2021), algorithm 1; as in the R packages predboot and pminternal",
    cost="B",
    compute=_compute,
    options={"center": CENTER, "quantile": QUANTILE},
    fallback=FALLBACK,
)
