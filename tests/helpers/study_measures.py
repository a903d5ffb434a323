"""Measures of one cell of a study, replicate by replicate: the oracle of those computed for all cells at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest

from cudbound.basis.outcomes import ConfidenceInterval


@dataclass(frozen=True)
class Mean:
    """A mean and its Monte Carlo standard error, nan for a single replicate."""

    value: float
    mcse: float


@dataclass(frozen=True)
class Share:
    """A share of replicates, sqrt(c (1 - c) / R), and the exact 95% interval of a binomial share."""

    value: float
    mcse: float
    interval: ConfidenceInterval


def mean_measure(values: ArrayLike) -> Mean:
    """Return the mean over replicates (Morris, White and Crowther, 2019, table 6)."""
    array = np.asarray(values, dtype=float)
    assert array.ndim == 1
    assert array.size
    assert np.isfinite(array).all()
    mcse = float(array.std(ddof=1)) / math.sqrt(array.size) if array.size > 1 else math.nan
    return Mean(float(array.mean()), mcse)


def share_measure(happened: ArrayLike) -> Share:
    """Return the share of replicates in which something happened (the same table)."""
    values = np.asarray(happened, dtype=bool)
    share = float(values.mean())
    exact = binomtest(int(values.sum()), values.size).proportion_ci(0.95, method="exact")
    interval = ConfidenceInterval(float(exact.low), float(exact.high))
    return Share(share, math.sqrt(share * (1.0 - share) / values.size), interval)


def paired_difference(first: ArrayLike, second: ArrayLike) -> Mean:
    """Return the mean difference of two methods on the same replicates (the same, section 5)."""
    return mean_measure(np.asarray(first, dtype=float) - np.asarray(second, dtype=float))
