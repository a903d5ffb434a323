"""Adaptive confidence interval: Laber and Murphy (2011)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
from cudbound.basis.proportions import inverted_cdf_quantile
from cudbound.intervals.method import ON_TRAINING_ROWS, Method
from cudbound.records import BoundaryDeviations, Records


def adaptive_interval(
    training_error: float, upper: ArrayLike, lower: ArrayLike, n_samples: int, confidence_level: float
) -> ConfidenceInterval:
    """Interval [e - u / sqrt(n), e - l / sqrt(n)] around the training error e.

    With d = 1 - confidence_level, u is the 1 - d/2 quantile of the upper deviations and l, separately, the d/2 quantile
    of the lower ones. If both are the deviations of the bootstrap classifiers themselves, this is the centered
    percentile bootstrap.

    Parameters
    ----------
    training_error : float
        In [0, 1].
    upper, lower : array-like of float, shape (n_resamples,)
        Largest and smallest deviation of each draw, on the scale of sqrt(n) times the error; see
        `cudbound.records.BoundaryDeviations`.
    n_samples : int
        Rows of the training set.
    confidence_level : float

    References
    ----------
    Laber, E. B. and Murphy, S. A. (2011). Adaptive confidence intervals for the test error in classification.
    JASA 106, 904-913.

    Examples
    --------
    >>> interval = adaptive_interval(0.25, [0.4, 0.8, 0.0], [-0.4, 0.0, -0.8], 16, 0.5)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.05, 0.45)
    """
    tail = (1.0 - confidence_level) / 2
    root = math.sqrt(n_samples)
    return ConfidenceInterval(
        training_error - inverted_cdf_quantile(upper, 1.0 - tail) / root,
        training_error - inverted_cdf_quantile(lower, tail) / root,
    )


def _adaptive(records: Records, confidence_level: float) -> Outcome:
    boundary: BoundaryDeviations = records.require("boundary")
    estimate = float(np.mean(records.require("losses")))
    recorded = {"rate": boundary.rate, "n_near": boundary.n_near}
    return Outcome(
        estimate,
        adaptive_interval(estimate, boundary.upper, boundary.lower, boundary.n_samples, confidence_level),
        degenerate="the bootstrap deviations do not vary: the quantiles of the largest and the smallest are equal",
        details={name: value for name, value in recorded.items() if not math.isnan(value)},
    )


ACI = Method(
    name="aci",
    title="Adaptive interval over all classifications of the points near the boundary",
    formula="T - u and T - l; u is the 1 - d/2 quantile over the draws of the largest, l the d/2 quantile of "
    "the smallest difference error on the draw - error on the sample over all classifications of the "
    "points i near the boundary: n (x_i'beta_b)^2 <= a_n x_i'S_b x_i, with S_b the sandwich covariance "
    "of sqrt(n) beta_b",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "boundary"}),
    assumptions="the coefficients are asymptotically normal, and points far from the boundary keep their class",
    tendency="conservative if many points lie near the boundary: each limit assumes their worst classification; "
    "liberal if the training error is 0 and stays 0 on the draws",
    reference="Laber and Murphy (2011). A score of 0 is classified as +1, the supremum is over open cells, quantiles "
    "are order statistics, and a_n = log n is our choice among the rates that the theory allows",
    cost="B",
    compute=_adaptive,
    fallback=ON_TRAINING_ROWS,
)
