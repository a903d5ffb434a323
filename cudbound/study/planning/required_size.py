"""The smallest size that meets a target half-width, with its Monte Carlo error, from half-widths at some sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from cudbound.basis.quantiles import inverted_cdf_quantile, quantile_rank
from cudbound.basis.validation import Array
from cudbound.study.planning.closed_forms import round_up

#: Resamples of the simulated samples for the Monte Carlo range, and its level.
N_REDRAWN = 400
RANGE_LEVEL = 0.95


@dataclass(frozen=True)
class RequiredSampleSize:
    """The smallest number of patients for a target half-width; prints as words.

    Attributes
    ----------
    n : float
        Number of patients, a whole number. The smallest simulated size also stands for any smaller size, infinity for
        any above the largest.
    low, high : float
        Range of `n` in 95 % of plans with the same number of samples from the same pilot or world. It says nothing of
        how far another pilot would lead to another size.
    half_width : float
        The target.
    probability : float or None
        Share of samples that must not exceed it; None if the target is for the mean half-width.
    smallest, largest : int
        Smallest and largest simulated size.
    """

    n: float
    low: float
    high: float
    half_width: float
    probability: float | None
    smallest: int
    largest: int

    def in_words(self, n: float) -> str:
        """Return a number of patients, within the simulated range, in words.

        Examples
        --------
        >>> found = RequiredSampleSize(math.inf, 87, math.inf, 0.1, 0.8, 20, 200)
        >>> [found.in_words(n) for n in (20, 87, math.inf)]
        ['at most 20', '87', 'more than 200']
        """
        if n > self.largest:
            return f"more than {self.largest}"
        return f"at most {self.smallest}" if n <= self.smallest else f"{n:.0f}"

    def __str__(self) -> str:
        text = f"{self.in_words(self.n)} patients"
        if self.low == self.high:
            return text
        return f"{text} ({self.in_words(self.low)} to {self.in_words(self.high)} by the error of the simulation alone)"


def quantile_of(probability: float) -> Callable[[Array], Array]:
    """Return a function that takes a quantile, by the inverted distribution function, along the last axis."""

    def measure(values: Array) -> Array:
        rank = quantile_rank(values.shape[-1], probability) - 1
        return np.asarray(np.partition(values, rank, axis=-1)[..., rank])

    return measure


def mean_of(values: Array) -> Array:
    """Return the mean along the last axis."""
    return np.asarray(values.mean(axis=-1))


def required_size(
    sizes: Sequence[int],
    half_widths: Sequence[Array],
    half_width: float,
    probability: float | None,
    rng: np.random.Generator,
) -> RequiredSampleSize:
    """Return the smallest size at which a mean, or a quantile, of the half-widths is at most the target.

    The values at the sizes are made decreasing by isotonic regression, and interpolated linearly in 1 / sqrt(n),
    because half-widths decrease with the square root of n.

    Parameters
    ----------
    sizes : sequence of int
        Ascending.
    half_widths : sequence of ndarray
        Half-widths of the simulated samples, per size.
    half_width : float
        The target.
    probability : float or None
        Probability of not exceeding it; None uses the mean.
    rng : numpy.random.Generator
        For the Monte Carlo range: the samples of every size are resampled with replacement 400 times.

    Examples
    --------
    >>> sizes = [25, 64, 100, 400]
    >>> fixed = [np.full(10, 1.0 / np.sqrt(n)) for n in sizes]
    >>> print(required_size(sizes, fixed, 0.11, 0.8, np.random.default_rng(0)))
    83 patients
    """
    measure = mean_of if probability is None else quantile_of(probability)
    size = smallest_size(sizes, np.array([float(measure(values)) for values in half_widths]), half_width)
    redrawn = np.column_stack(
        [measure(values[rng.integers(0, values.size, (N_REDRAWN, values.size))]) for values in half_widths]
    )
    again = [smallest_size(sizes, values, half_width) for values in redrawn]
    tail = (1.0 - RANGE_LEVEL) / 2.0
    low, high = (inverted_cdf_quantile(again, share) for share in (tail, 1.0 - tail))
    return RequiredSampleSize(size, low, high, half_width, probability, sizes[0], sizes[-1])


def smallest_size(sizes: Sequence[int], values: Array, target: float) -> float:
    """Return the smallest whole size at which decreasing values are at most the target; infinity if there is none."""
    falling = isotonic_regression(values, increasing=False).x
    meets = np.flatnonzero(falling <= target)
    if not meets.size:
        return math.inf
    first = int(meets[0])
    if first == 0:
        return float(sizes[0])
    before, after = (1.0 / math.sqrt(sizes[index]) for index in (first - 1, first))
    share = (target - falling[first]) / (falling[first - 1] - falling[first])
    return float(round_up((after + share * (before - after)) ** -2.0))
