"""Intervals for a proportion, for sample sizes that need not be whole numbers, and the sample quantile."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri

from cudbound.basis.results import ConfidenceInterval
from cudbound.basis.words import format_proportion

Array = NDArray[np.float64]


def wald_interval(
    estimate: float, variance: float, size: float, confidence_level: float
) -> ConfidenceInterval:
    """Return estimate +- z sqrt(variance / size), unclipped; `size` is an effective sample size.

    Examples
    --------
    >>> wald_interval(0.5, 0.25, 100.0, 0.95).high
    0.5979981992270027
    """
    half = float(ndtri(0.5 + confidence_level / 2)) * math.sqrt(variance / size)
    return ConfidenceInterval(estimate - half, estimate + half)


def wilson_interval(estimate: float, size: float, confidence_level: float) -> ConfidenceInterval:
    """Return the Wilson score interval of a proportion on an effective sample size, which need not be a whole number.

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22,
    209-212.

    Examples
    --------
    >>> wilson_interval(0.0, 20.0, 0.95).low
    0.0
    """
    z = float(ndtri(0.5 + confidence_level / 2))
    z2 = z**2
    center = (estimate + z2 / (2 * size)) / (1 + z2 / size)
    half = z * math.sqrt(estimate * (1 - estimate) / size + z2 / (4 * size**2)) / (1 + z2 / size)
    # at a proportion of 0 or 1 one limit is the proportion itself, which rounding must not move
    low = 0.0 if estimate == 0.0 and z > 0.0 else center - half
    high = 1.0 if estimate == 1.0 and z > 0.0 else center + half
    return ConfidenceInterval(low, high)


def inverted_binomial_interval(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Two-sided interval by inverting both binomial tails, extended to counts that are not whole numbers.

    The limits are sup{p: P(X >= k) <= d/2} and inf{p: P(X <= k) <= d/2} with X ~ Binomial(m, p) and
    d = 1 - confidence_level; for whole k and m these are the limits of Clopper and Pearson. Both tails are
    incomplete beta functions, which continue them to real k and m.

    Parameters
    ----------
    errors : float
        Number of wrong points k, in [0, n_tested].
    n_tested : float
        Number of test points m.
    confidence_level : float

    References
    ----------
    Langford, J. (2005). Tutorial on practical prediction theory for classification. JMLR 6;
    Clopper, C. J. and Pearson, E. S. (1934). Biometrika 26, 404-413.

    Examples
    --------
    >>> round(inverted_binomial_interval(0, 10, 0.95).high, 4)
    0.3085
    """
    low, high = inverted_binomial_limits(errors, n_tested, confidence_level)
    return ConfidenceInterval(float(low), float(high))


def inverted_binomial_limits(
    errors: ArrayLike, n_tested: ArrayLike, confidence_level: float
) -> tuple[Array, Array]:
    """Return the limits of `inverted_binomial_interval` for many counts at once, in arrays of their shape.

    It is written here because no library continues them to numbers that are not whole.
    """
    tail = (1.0 - confidence_level) / 2
    k, m = np.asarray(errors, dtype=np.float64), np.asarray(n_tested, dtype=np.float64)
    # where a parameter would be 0 the limit is that of the scale
    low = np.where(k > 0.0, betaincinv(np.where(k > 0.0, k, 1.0), m - k + 1.0, tail), 0.0)
    high = np.where(k < m, betaincinv(k + 1.0, np.where(k < m, m - k, 1.0), 1.0 - tail), 1.0)
    return low, high


def limit_without_error(n_cases: int, confidence_level: float, alternative: str = "two-sided") -> float:
    """Return the exact binomial upper limit for the error of a classifier that is right on all n new cases.

    Parameters
    ----------
    n_cases : int
    confidence_level : float
        In (0, 1).
    alternative : {"two-sided", "less"}, default="two-sided"
        "less" for an upper limit alone, at the whole level.

    References
    ----------
    Clopper, C. J. and Pearson, E. S. (1934). Biometrika 26, 404-413: the p for which (1 - p)^n is the tail.

    Examples
    --------
    >>> round(limit_without_error(120, 0.95), 4), round(limit_without_error(30, 0.95, "less"), 4)
    (0.0303, 0.095)
    """
    tails = 2.0 if alternative == "two-sided" else 1.0
    return float(1.0 - ((1.0 - confidence_level) / tails) ** (1.0 / n_cases))


#: A rank that exceeds a whole number by no more than this is that number: 1000 * (1 - 0.05) must give 950.
RANK_ROUNDING = 1e-9


def quantile_rank(size: int, probability: float) -> int:
    """Return the rank, from 1 on, of the order statistic that is the quantile of `size` values."""
    return min(max(1, math.ceil(size * probability - RANK_ROUNDING)), size)


def within(lower: float, upper: float) -> str:
    """Return a number, or the range that contains it, with enough digits to distinguish the two ends."""
    if lower == upper:
        return format_proportion(upper)
    for digits in (None, *range(4, 13)):
        low, high = format_proportion(lower, digits), format_proportion(upper, digits)
        if low != high:
            break
    return f"between {low} and {high}"


def inverted_cdf_quantile(values: ArrayLike, probability: float) -> float:
    """Return the smallest value such that the share of values at or below it is at least `probability`.

    The quantile is the order statistic of rank ceil(B p), at least 1.

    Parameters
    ----------
    values : array-like of float, shape (n_values,)
        At least one value, none nan.
    probability : float
        In [0, 1].

    Examples
    --------
    >>> inverted_cdf_quantile([0.3, 0.1, 0.2], 0.5)
    0.2
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    return float(ordered[quantile_rank(ordered.size, probability) - 1])


#: How a quantile is taken from a sample: "type-7" interpolates, as numpy and R do by default.
QUANTILE_RULES = ("inverted-cdf", "type-7")


def sample_quantile(values: ArrayLike, probability: float, rule: str = "inverted-cdf") -> float:
    """Return a quantile by one of `QUANTILE_RULES`; "type-7" is for comparisons with other software.

    Examples
    --------
    >>> sample_quantile([0.1, 0.2], 0.5), round(sample_quantile([0.1, 0.2], 0.5, "type-7"), 3)
    (0.1, 0.15)
    """
    if rule == "type-7":
        return float(np.quantile(np.asarray(values, dtype=float), probability))
    return inverted_cdf_quantile(values, probability)
