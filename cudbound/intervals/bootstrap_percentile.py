"""Bootstrap intervals of the .632 estimate: its percentiles (BS1) and corrected percentiles (BS2).

Laber and Murphy (2008), section 5, use both and give no details. Our reading: the estimate that is bootstrapped is the
.632 estimate, and "corrected" is the bias-corrected percentile interval of Efron and Tibshirani (1993), chapter 14,
with acceleration 0. Both treat the error as a smooth function of the data, which it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from cudbound.basis.method_card import Choice
from cudbound.basis.proportions import QUANTILE_RULES, inverted_cdf_quantile, sample_quantile
from cudbound.basis.results import UNDEFINED_LIMITS, ConfidenceInterval, Outcome
from cudbound.intervals.efron_tibshirani import UNEQUAL_ROWS, err1_influences, has_unequal_rows
from cudbound.intervals.method import EQUAL, Method, defined_values, replicates_632
from cudbound.point_estimates.bootstrap_632 import estimate_632
from cudbound.records import LOSSES, Records
from cudbound.records.losses import never_out_of_bag
from cudbound.resampling.bootstrap import BOOTSTRAP, INNER

#: How the quantiles are taken; "type-7", which other software uses, can make an interval shorter.
QUANTILE = Choice(QUANTILE_RULES)


def percentile_interval(
    replicates: ArrayLike, confidence_level: float, quantile: str = "inverted-cdf"
) -> ConfidenceInterval:
    """Return the equal-tailed quantiles of the replicates.

    Parameters
    ----------
    replicates : array-like of float, shape (n_resamples,)
        The estimate recomputed on every draw.
    confidence_level : float
    quantile : {"inverted-cdf", "type-7"}, default="inverted-cdf"
        Order statistics, or interpolated between them.

    References
    ----------
    Efron and Tibshirani (1993), chapter 13.

    Examples
    --------
    >>> percentile_interval([k / 1000 for k in range(1, 1001)], 0.9)
    ConfidenceInterval(low=0.05, high=0.95)
    """
    tail = (1.0 - confidence_level) / 2
    return ConfidenceInterval(
        sample_quantile(replicates, tail, quantile), sample_quantile(replicates, 1.0 - tail, quantile)
    )


def acceleration(influences: ArrayLike) -> float:
    """Return the acceleration sum u^3 / (6 (sum u^2)^(3/2)) of a statistic from its influence values u.

    Parameters
    ----------
    influences : array-like of float, shape (n_samples,)
        Change of the statistic with the weight of each point; their scale does not matter.

    Returns
    -------
    float
        In [-1/6, 1/6]; 0 if all influence values are 0, nan if one is nan.

    References
    ----------
    DiCiccio, T. J. and Efron, B. (1996). Bootstrap confidence intervals. Statistical Science 11, 189-228,
    equation 6.6; Efron and Tibshirani (1993), equation 14.15, with jackknife values.

    Examples
    --------
    >>> round(acceleration([-1.0, -1.0, 2.0]), 4)
    0.068
    """
    values = np.asarray(influences, dtype=float)
    largest = float(np.abs(values).max())
    if largest == 0.0:
        return 0.0
    scaled = values / largest  # powers of tiny values would vanish
    return float((scaled**3).sum() / (6.0 * (scaled**2).sum() ** 1.5))


def bias_corrected_levels(
    replicates: ArrayLike, estimate: float, confidence_level: float, acceleration: float = 0.0
) -> tuple[float, float]:
    """Return the levels Phi(z0 + (z0 -+ z) / (1 - a (z0 -+ z))) of the bias-corrected percentile interval.

    z0 is the normal quantile of the share of replicates below the estimate; ties count one half, and the
    share is kept within [1/(2B), 1 - 1/(2B)] so that z0 is finite. Where the denominator is not positive the level
    is 1 for a > 0 and 0 for a < 0, its limit.

    Parameters
    ----------
    replicates : array-like of float, shape (n_resamples,)
        The estimate recomputed on every draw.
    estimate : float
    confidence_level : float
    acceleration : float, default=0.0
        a; 0 gives Phi(2 z0 -+ z).

    References
    ----------
    Efron and Tibshirani (1993), equation 14.10, with a = 0 in section 14.3.

    Examples
    --------
    >>> [round(level, 3) for level in bias_corrected_levels([0.1, 0.3], 0.2, 0.9)]
    [0.05, 0.95]
    """
    values = np.asarray(replicates, dtype=float)
    tied = np.abs(values - estimate) <= EQUAL
    share = float(((values < estimate) & ~tied).sum() + tied.sum() / 2) / values.size
    edge = 1.0 / (2 * values.size)
    z0 = float(ndtri(min(max(share, edge), 1.0 - edge)))
    z = float(ndtri(0.5 + confidence_level / 2))
    return _accelerated(z0, z0 - z, acceleration), _accelerated(z0, z0 + z, acceleration)


def _accelerated(z0: float, shifted: float, acceleration: float) -> float:
    denominator = 1.0 - acceleration * shifted
    if denominator <= 0.0:
        return 1.0 if acceleration > 0.0 else 0.0
    return float(ndtr(z0 + shifted / denominator))


def bias_corrected_interval(
    replicates: ArrayLike, estimate: float, confidence_level: float, acceleration: float = 0.0
) -> ConfidenceInterval:
    """Return the percentiles of the replicates at the levels of `bias_corrected_levels`.

    With an acceleration it is the BCa interval. SciPy's BCa interval has the same levels and interpolates between
    the replicates.

    Examples
    --------
    >>> bias_corrected_interval([0.1, 0.2, 0.3, 0.4], 0.35, 0.8)
    ConfidenceInterval(low=0.3, high=0.4)
    """
    low, high = bias_corrected_levels(replicates, estimate, confidence_level, acceleration)
    return ConfidenceInterval(inverted_cdf_quantile(replicates, low), inverted_cdf_quantile(replicates, high))


def shifted_interval(replicates: ArrayLike, estimate: float, confidence_level: float) -> ConfidenceInterval:
    """Return the percentile interval minus the bootstrap bias (Efron and Tibshirani 1993, chapter 10).

    Examples
    --------
    >>> shifted_interval([0.25, 0.5, 0.75], 0.25, 0.5)
    ConfidenceInterval(low=0.0, high=0.5)
    """
    interval = percentile_interval(replicates, confidence_level)
    bias = float(np.asarray(replicates, dtype=float).mean()) - estimate
    return ConfidenceInterval(interval.low - bias, interval.high - bias)


def basic_interval(replicates: ArrayLike, estimate: float, confidence_level: float) -> ConfidenceInterval:
    """Return the percentile interval reflected at the estimate, [2 t - q_high, 2 t - q_low].

    Examples
    --------
    >>> basic_interval([0.25, 0.5, 0.75], 0.25, 0.5)
    ConfidenceInterval(low=-0.25, high=0.25)
    """
    interval = percentile_interval(replicates, confidence_level)
    return ConfidenceInterval(2 * estimate - interval.high, 2 * estimate - interval.low)


IntervalOf = Callable[[ArrayLike, float, float], ConfidenceInterval]

#: The corrections that need only the replicates; "bca" also needs the influence values.
CORRECTIONS: dict[str, IntervalOf] = {
    "bc": bias_corrected_interval,
    "shift": shifted_interval,
    "basic": basic_interval,
}


def _outcome(records: Records, confidence_level: float, interval_of: IntervalOf) -> Outcome:
    estimate = estimate_632(records)
    defined, remarks = defined_values(replicates_632(records), "with no row out of bag")
    if not defined.size:
        reason = None if np.isnan(estimate) else "no draw has a .632 estimate"
        return Outcome(estimate, UNDEFINED_LIMITS, remarks=remarks, degenerate=reason)
    return Outcome(
        estimate,
        interval_of(defined, estimate, confidence_level),
        remarks=remarks,
        degenerate="both limits are the same bootstrap replicate",
        center=".632 estimate",
    )


def _percentile(records: Records, confidence_level: float, *, quantile: str) -> Outcome:
    """Percentile bootstrap of the .632 estimate.

    Formula: the d/2 and 1 - d/2 quantiles over the draws of the .632 estimate, recomputed on each from inner draws, or
    with inner='oob' from the rows outside it.
    Assumptions: the error is a smooth function of the data.
    Tendency: often liberal: coverage in 58 settings was .63 to .99.
    Reference: Laber and Murphy (2008), section 5; Efron and Tibshirani (1993), chapter 13.
    """
    return _outcome(
        records, confidence_level, lambda values, _, level: percentile_interval(values, level, quantile)
    )


def _corrected(records: Records, confidence_level: float, *, variant: str) -> Outcome:
    """Bias-corrected percentile bootstrap of the .632 estimate.

    Formula: the quantiles at the levels Phi(2 z_0 - z) and Phi(2 z_0 + z) over the draws of the .632 estimate,
    recomputed on each; z_0 is the normal quantile of the share of them below x, z = z(1 - d/2).
    Assumptions: the error is a smooth function of the data, normal after some monotone transformation.
    Tendency: often liberal: coverage in 58 settings was .62 to .99.
    Reference: Laber and Murphy (2008), section 5; Efron and Tibshirani (1993), chapter 14, with acceleration 0.
    With variant=bca: Bias-corrected and accelerated bootstrap of the .632 estimate.
    Reference with variant=bca: Efron and Tibshirani (1993), chapter 14; Efron and Tibshirani (1997), equations 35
    to 40.
    With variant=shift: Percentile bootstrap of the .632 estimate, minus the bootstrap estimate of its bias.
    Reference with variant=shift: Efron and Tibshirani (1993), chapters 10 and 13.
    With variant=basic: Percentile bootstrap of the .632 estimate, reflected at the estimate.
    Reference with variant=basic: Efron and Tibshirani (1993), chapter 13, with the interval reflected.
    """
    if variant != "bca":
        return _outcome(records, confidence_level, CORRECTIONS[variant])
    if records.groups is not None:
        raise ValueError(
            "variant='bca' of bootstrap-bias-corrected uses influence values of single rows, but these rows belong to "
            "groups. Use variant='bc', 'shift' or 'basic'."
        )
    bootstrap = records.require(BOOTSTRAP)
    if has_unequal_rows(bootstrap):
        return Outcome(
            estimate_632(records), UNDEFINED_LIMITS, degenerate=UNEQUAL_ROWS, center=".632 estimate"
        )
    curvature = acceleration(err1_influences(bootstrap.losses, bootstrap.counts))
    if np.isnan(curvature):
        never = never_out_of_bag(bootstrap.counts)
        return Outcome(
            estimate_632(records),
            UNDEFINED_LIMITS,
            degenerate=f"the acceleration is undefined because {never} points were never out of bag; use more "
            "bootstrap draws",
            center=".632 estimate",
        )
    accelerated = partial(bias_corrected_interval, acceleration=curvature)
    return replace(_outcome(records, confidence_level, accelerated), details={"acceleration": curvature})


PERCENTILE = Method(
    "bootstrap-percentile",
    {LOSSES, BOOTSTRAP, INNER},
    cost="B (1 + inner draws), or B with inner='oob'",
    compute=_percentile,
    options={"quantile": QUANTILE},
)
BIAS_CORRECTED = Method(
    "bootstrap-bias-corrected",
    {LOSSES, BOOTSTRAP, INNER},
    cost="B (1 + inner draws), or B with inner='oob'",
    compute=_corrected,
    options={"variant": Choice(("bc", "bca", "shift", "basic"))},
)
