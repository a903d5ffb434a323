"""How well intervals did over the replicates of one cell of a study, with Monte Carlo standard errors.

Every measure is a mean over independent replicates, so its Monte Carlo standard error is the standard deviation of
what is averaged, divided by the root of their number. Shares have that of a binomial share, and an exact interval
beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

from cudbound.results import ConfidenceInterval
from cudbound.validation import check_confidence_level

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """A measure and its Monte Carlo standard error.

    Attributes
    ----------
    value : float
    mcse : float
        nan for a single replicate.
    n_replicates : int
    """

    value: float
    mcse: float
    n_replicates: int


def _mean(name: str, values: ArrayLike) -> Measured:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or not array.size or not np.isfinite(array).all():
        raise ValueError(
            f"The '{name}' parameter must be finite, with one dimension and at least one replicate. "
            f"Got shape {array.shape}; count failed replicates apart."
        )
    mcse = float(array.std(ddof=1)) / math.sqrt(array.size) if array.size > 1 else math.nan
    return Measured(float(array.mean()), mcse, array.size)


def mean_measure(values: ArrayLike) -> Measured:
    """Return the mean over replicates, of widths, scores or errors of the center.

    Parameters
    ----------
    values : array-like of float, shape (n_replicates,)

    Raises
    ------
    ValueError
        If there is no replicate or a value is not finite.

    Examples
    --------
    >>> found = mean_measure([0.25, 0.5, 0.75])
    >>> found.value, round(found.mcse, 4)
    (0.5, 0.1443)
    """
    return _mean("values", values)


@dataclass(frozen=True)
class Share:
    """A share of replicates, such as the coverage.

    Attributes
    ----------
    value : float
    mcse : float
        sqrt(c (1 - c) / R); 0 where all replicates agree, and then `interval` is what to read.
    interval : ConfidenceInterval
        Of Clopper and Pearson, at the level 0.95.
    n_replicates : int
    """

    value: float
    mcse: float
    interval: ConfidenceInterval
    n_replicates: int


def share_measure(happened: ArrayLike) -> Share:
    """Return the share of replicates in which something happened.

    Parameters
    ----------
    happened : array-like of bool, shape (n_replicates,)

    Raises
    ------
    ValueError
        If there is no replicate.

    References
    ----------
    Morris, T. P., White, I. R. and Crowther, M. J. (2019). Using simulation studies to evaluate statistical methods.
    Statistics in Medicine 38, 2074-2102, table 6; Clopper, C. J. and Pearson, E. S. (1934). Biometrika 26, 404-413.

    Examples
    --------
    >>> found = share_measure([True] * 19 + [False])
    >>> round(found.value, 3), round(found.mcse, 4), round(found.interval.low, 3)
    (0.95, 0.0487, 0.751)
    """
    values = np.asarray(happened, dtype=bool)
    if values.ndim != 1 or not values.size:
        raise ValueError(
            f"The 'happened' parameter must have one dimension and at least one replicate. Got shape {values.shape}."
        )
    count, size = int(values.sum()), int(values.size)
    share = count / size
    exact = binomtest(count, size).proportion_ci(0.95, method="exact")
    interval = ConfidenceInterval(float(exact.low), float(exact.high))
    return Share(share, math.sqrt(share * (1.0 - share) / size), interval, size)


def interval_score(low: ArrayLike, high: ArrayLike, truth: ArrayLike, confidence_level: float) -> Array:
    """Return the interval score of each replicate: the width plus a penalty for a miss; lower is better.

    Parameters
    ----------
    low, high, truth : array-like of float, shape (...)
        Limits and what they should hold.
    confidence_level : float
        Nominal level 1 - d.

    Returns
    -------
    ndarray of float, shape (...)
        (high - low) + (2/d) max(low - truth, 0) + (2/d) max(truth - high, 0).

    References
    ----------
    Winkler, R. L. (1972). A decision-theoretic approach to interval estimation. JASA 67, 187-191; Gneiting, T. and
    Raftery, A. E. (2007). Strictly proper scoring rules, prediction, and estimation. JASA 102, 359-378, section 6.2.

    Examples
    --------
    >>> round(float(interval_score(0.1, 0.4, 0.45, 0.95)), 6)
    2.3
    """
    price = 2.0 / (1.0 - check_confidence_level(confidence_level))
    lower, upper, value = (np.asarray(one, dtype=float) for one in (low, high, truth))
    missed = np.maximum(lower - value, 0.0) + np.maximum(value - upper, 0.0)
    return np.asarray(upper - lower + price * missed)


def paired_difference(first: ArrayLike, second: ArrayLike) -> Measured:
    """Return the mean difference of two methods on the same replicates.

    Methods see the same samples, so their difference varies less than the two measures by themselves.

    Parameters
    ----------
    first, second : array-like, shape (n_replicates,)
        Whether each interval held the truth, or widths, of two methods on the same replicates.

    Raises
    ------
    ValueError
        If the lengths differ, there is no replicate, or a value is not finite.

    References
    ----------
    Morris, White and Crowther (2019), section 5.

    Examples
    --------
    >>> paired_difference([1, 1, 0, 1], [1, 0, 0, 1]).value
    0.25
    """
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if one.shape != other.shape:
        raise ValueError(
            f"'first' and 'second' must be of the same replicates. Got shapes {one.shape} and {other.shape}."
        )
    return _mean("difference", one - other)
