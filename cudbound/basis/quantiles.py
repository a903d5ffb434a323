"""The sample quantile of this package: the inverted distribution function, interpolated only on request."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.rounding import format_proportion

#: A rank that exceeds a whole number by no more than this is that number: 1000 * (1 - 0.05) must give 950.
RANK_ROUNDING = 1e-9


def quantile_rank(size: int, probability: float) -> int:
    """Return the rank, from 1 on, of the order statistic that is the quantile of `size` values."""
    return min(max(1, math.ceil(size * probability - RANK_ROUNDING)), size)


def within(lower: float, upper: float, write: Callable[..., str] = format_proportion) -> str:
    """Return a number, or the range that contains it, with enough digits to distinguish the two ends."""
    if lower == upper:
        return write(upper)
    digits = next((some for some in (None, *range(4, 12)) if write(lower, some) != write(upper, some)), 12)
    return f"between {write(lower, digits)} and {write(upper, digits)}"


def inverted_cdf_quantile(values: ArrayLike, probability: float) -> float:
    """Return the smallest value such that the share of values at or below it is at least `probability`.

    The quantile is the order statistic of rank ceil(B p), at least 1. Interpolating between the atoms of a
    discrete statistic would make an interval shorter than the statistic allows.

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
