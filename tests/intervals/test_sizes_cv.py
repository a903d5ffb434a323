"""Simulated type-I errors of the methods on cross-validation, under the conditions that their sources state.

Every rate has an exact value under these conditions; the number of rejections is then binomial, and an exact test
of it at 1 in 1000 with a fixed seed decides.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from cudbound.intervals import compute_interval
from cudbound.intervals.grandvalet_bengio import (
    grandvalet_bengio_pivot,
    rho_of_halves,
    type_1_error,
)
from cudbound.intervals.k_fold import BAYLE
from cudbound.records import FoldLosses, Records

pytestmark = pytest.mark.slow


def _agrees(n_rejected, n_simulated, rate):
    return stats.binomtest(int(n_rejected), n_simulated, rate).pvalue > 1e-3


def _equicorrelated_means(rho, n_folds, n_simulated, seed):
    """Normal fold means of variance 1 whose covariance is rho times the variance of their mean."""
    covariance = rho / (n_folds - (n_folds - 1) * rho)
    rng = np.random.default_rng(seed)
    shared = math.sqrt(covariance) * rng.standard_normal((n_simulated, 1))
    return shared + math.sqrt(1.0 - covariance) * rng.standard_normal((n_simulated, n_folds))


@pytest.mark.parametrize(
    ("rho", "true_rho", "rate"),
    [(0.7, 0.7, 0.05), (0.0, 0.0, 0.05), (0.0, 0.7, 0.247), (0.7, 0.0, 0.0026), (0.5, 0.5, 0.05)],
)
def test_grandvalet_bengio(rho, true_rho, rate):
    means = _equicorrelated_means(true_rho, 10, 10_000, seed=11)
    rejected = sum(grandvalet_bengio_pivot(one, 9, rho=rho).pvalue() < 0.05 for one in means)
    exact = type_1_error(rho, true_rho, n_folds=10)
    assert exact == pytest.approx(rate, abs=5e-4)
    assert _agrees(rejected, 10_000, exact)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.7])
def test_rho_of_halves_is_that_of_equicorrelated_means(rho):
    """Many halvings of independent data: W / V is then (1 - rho) F on nearly infinitely many degrees of freedom."""
    means = _equicorrelated_means(rho, 10, 20_000, seed=15).reshape(-1, 2, 10)
    # V has 10,000 degrees of freedom, so that a relative error of .06 is four standard errors
    assert (1.0 - rho_of_halves(means)) / (1.0 - rho) == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize(("variance", "df", "rate"), [("all-pairs", 99, 0.0540), ("within-fold", 90, 0.0531)])
def test_bayle_on_independent_normal_losses(variance, df, rate):
    """Losses that ignore the training set: both statistics are exact t, read from the normal distribution."""
    losses = (
        np.random.default_rng(21).standard_normal((10_000, 100)) / 10
    )  # in [-1, 1]; the scale does not matter
    fold = np.arange(100) % 10
    rejected = sum(
        BAYLE.pivot(Records(folds=FoldLosses(one, fold)), variance=variance).pvalue() < 0.05 for one in losses
    )
    # all-pairs divides by n and not by n - 1
    scale = math.sqrt(df / 100) if variance == "all-pairs" else 1.0
    exact = 2 * stats.t.sf(stats.norm.ppf(0.975) * scale, df)
    assert exact == pytest.approx(rate, abs=5e-5)
    assert _agrees(rejected, 10_000, exact)


def test_bayle_covers_the_error_of_a_rule_that_ignores_the_training_set():
    """All-pairs reads the number of errors only, so that its coverage is a binomial sum; .95 for large n."""
    n, error = 400, 0.3
    covers = np.empty(n + 1, dtype=bool)
    fold = np.arange(n) % 10
    for wrong in range(n + 1):
        records = Records(folds=FoldLosses((np.arange(n) < wrong).astype(int), fold))
        interval = compute_interval(BAYLE, records, 0.95).raw_interval
        covers[wrong] = interval.low <= error <= interval.high
    exact = stats.binom.pmf(np.arange(n + 1), n, error) @ covers
    assert exact == pytest.approx(0.95, abs=0.01)
