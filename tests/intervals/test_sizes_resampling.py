"""Type I errors under the ideal conditions of the sources, simulated, by exact binomial tests against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from cudbound.intervals.five_by_two import five_by_two_f, five_by_two_t_pivot
from cudbound.intervals.resampled_t import (
    conservative_z_pivot,
    corrected_resampled_t_pivot,
    resampled_t_pivot,
)

LEVEL = 0.05
#: With a fixed seed a test cannot fail by chance twice; this is how rare an outcome the seed may give.
RARE = 1e-3


def _agrees(rejected, size):
    return stats.binomtest(int(np.sum(rejected)), len(rejected), size).pvalue > RARE


def _t_size_with_variance_too_small_by(factor, df):
    return 2 * stats.t.sf(stats.t.ppf(1 - LEVEL / 2, df) / np.sqrt(factor), df)


@pytest.mark.slow
def test_size_of_the_resampled_t_with_and_without_the_correction():
    """Normal means of 15 splits with correlation n2 / (n1 + n2): exact after the correction, 21 % without it."""
    n_train, n_test, n_splits, n_samples = 90, 10, 15, 20_000
    rho = n_test / (n_train + n_test)
    rng = np.random.default_rng(0)
    common = np.sqrt(rho) * rng.normal(size=(n_samples, 1))
    means = common + np.sqrt(1 - rho) * rng.normal(size=(n_samples, n_splits))
    corrected = [corrected_resampled_t_pivot(row, n_train, n_test).pvalue() < LEVEL for row in means]
    plain = [resampled_t_pivot(row).pvalue() < LEVEL for row in means]
    liberal = _t_size_with_variance_too_small_by(1 + n_splits * n_test / n_train, n_splits - 1)
    assert liberal == pytest.approx(0.21, abs=0.005)
    assert _agrees(corrected, LEVEL)
    assert _agrees(plain, liberal)


def _size_of_published_5x2_t():
    """P(|T| > c) for ten independent normal means: T = sqrt(5/2) (S/R + U).

    S is the normalized sum of the first pair, R and U length and first coordinate of the direction of the five
    normalized differences: S sqrt(5) / R has a t distribution with 5 degrees of freedom, U the density
    3/4 (1 - u^2) of a coordinate of a random direction in five dimensions, and they are independent.
    """
    critical = stats.t.ppf(1 - LEVEL / 2, 5) / np.sqrt(2.5)

    def beyond(u):
        return stats.t.sf(np.sqrt(5) * (critical - u), 5) + stats.t.sf(np.sqrt(5) * (critical + u), 5)

    return integrate.quad(lambda u: 0.75 * (1 - u * u) * beyond(u), -1, 1)[0]


def _size_of_the_f():
    """Half of 1 plus an F on 5 and 5 degrees of freedom: sums and differences of the pairs are independent."""
    return stats.f.sf(2 * stats.f.ppf(1 - LEVEL, 10, 5) - 1, 5, 5)


@pytest.mark.slow
def test_size_of_the_5x2_tests():
    """Ten independent normal means: both repairs are exact; as published t rejects in 2.8 %, F in 1.75 %."""
    pairs = np.random.default_rng(1).normal(size=(20_000, 5, 2))
    sizes = {"none": _size_of_published_5x2_t(), "drop-first-split": LEVEL, "average-numerator": LEVEL}
    assert sizes["none"] == pytest.approx(0.0281, abs=0.00005)
    for repair, size in sizes.items():
        rejected = [five_by_two_t_pivot(one, repair=repair).pvalue() < LEVEL for one in pairs]
        assert _agrees(rejected, size), repair
    assert _size_of_the_f() == pytest.approx(0.0175, abs=0.00005)
    assert _agrees([five_by_two_f(one)[1] < LEVEL for one in pairs], _size_of_the_f())


@pytest.mark.slow
def test_conservative_z_is_conservative():
    """Losses that ignore the training rows: the variance is that of half the data, and the test rejects too seldom.

    Two test sets of n2 of n rows share n2 / n of their rows on average, which is the correlation of their means.
    """
    n, n_test, n_splits, n_halvings, n_samples = 40, 4, 15, 10, 12_000
    rng = np.random.default_rng(2)

    def split_estimates(losses, rows):
        """Mean over random test sets of each set of rows in the last axis."""
        orders = rng.permuted(np.repeat(rows[..., None, :], n_splits, axis=-2), axis=-1)
        return losses[orders[..., :n_test]].mean(axis=(-1, -2))

    rejected, estimates, variances = [], [], []
    for losses in rng.normal(size=(n_samples, n)):
        halvings = rng.permuted(np.tile(np.arange(n), (n_halvings, 1)), axis=1)
        pairs = split_estimates(losses, halvings.reshape(n_halvings, 2, n // 2))
        pivot = conservative_z_pivot(float(split_estimates(losses, np.arange(n))), pairs)
        rejected.append(pivot.pvalue() < LEVEL)
        estimates.append(pivot.estimate)
        variances.append(pivot.standard_error**2)
    assert stats.binomtest(sum(rejected), n_samples, LEVEL, alternative="less").pvalue < RARE
    whole, half = ((n_test / rows + (1 - n_test / rows) / n_splits) / n_test for rows in (n, n // 2))
    assert np.var(estimates) == pytest.approx(whole, rel=0.05)
    assert np.mean(variances) == pytest.approx(half, rel=0.02)
    assert half > 1.5 * whole
