"""Methods on the losses of one cross-validation: k-fold t, Grandvalet and Bengio, Bayle et al."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from mlxtend.evaluate import paired_ttest_kfold_cv
from scipy import stats
from shared_files import shared_vectors
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import cudbound as cb
from cudbound.intervals.cross_validation import (
    GRANDVALET_BENGIO,
    K_FOLD_T,
    bayle_pivot,
    grandvalet_bengio_pivot,
    rho_threshold,
)
from cudbound.records import FoldLosses, Records

VECTORS = shared_vectors()
ALTERNATIVES = ("two-sided", "less", "greater")

#: Losses, or differences of losses, in 2 to 5 folds of one size from 2 to 6.
BLOCKS = st.tuples(st.integers(2, 5), st.integers(2, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([-1, 0, 1]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)
#: Fold means with more than one value.
MEANS = st.lists(st.integers(-20, 20), min_size=2, max_size=12).map(lambda values: np.array(values) / 20)


# ---- worked numbers ----


@pytest.mark.parametrize("data", ["letter", "forest"])
@pytest.mark.parametrize(("rho", "suffix"), [(0.0, "rho0"), (0.7, "rho07")])
def test_worked_table_of_type_1_errors(data, rho, suffix):
    entry = VECTORS["gb_table2"]
    # how often the t test at rho rejects where the true value is another one (proposition 2)
    critical = stats.t.ppf(0.975, 9)
    shares = [math.sqrt((1 - true / 100) / (1 - rho)) for true in entry["inputs"][f"rho_{data}"]]
    found = [100 * 2 * stats.t.cdf(-critical * share, 9) for share in shares]
    assert found == pytest.approx(entry["value"][f"predicted_{data}_{suffix}"], abs=entry["tol"])
    # the simulated values that are printed differ, since trees do not give normal fold means
    assert found == pytest.approx(entry["value"][f"{data}_type1_{suffix}"], abs=1.3)


# ---- k-fold t against peers ----


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_paired_k_fold_t_is_mlxtends(seed):
    """mlxtend compares accuracies, so that its statistic has the other sign."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=60) > 0).astype(int)
    first, second = GaussianNB(), DecisionTreeClassifier(max_depth=3, random_state=0)
    statistic, pvalue = paired_ttest_kfold_cv(first, second, X, y, cv=6, shuffle=True, random_seed=seed)
    differences, fold = np.empty(60), np.empty(60, dtype=int)
    for number, (train, test) in enumerate(KFold(6, shuffle=True, random_state=seed).split(X)):
        wrong = [one.fit(X[train], y[train]).predict(X[test]) != y[test] for one in (first, second)]
        differences[test] = wrong[0].astype(int) - wrong[1]
        fold[test] = number
    pivot = K_FOLD_T.pivot(Records(folds=FoldLosses(differences, fold)))
    assert pivot.statistic() == pytest.approx(-statistic, rel=1e-9)
    assert pivot.pvalue() == pytest.approx(pvalue, rel=1e-9)
    test = GRANDVALET_BENGIO.test(Records(folds=FoldLosses(differences, fold)), 0.95, "two-sided", rho=0.0)
    assert (test.statistic, test.pvalue) == pytest.approx((-statistic, pvalue), rel=1e-9)


# ---- Grandvalet and Bengio's t ----


@settings(deadline=None)
@given(MEANS, st.floats(0, 0.99), st.floats(-1, 1), st.floats(0.01, 0.4), st.sampled_from(ALTERNATIVES))
@example(np.array([0.05, -0.05]), 0.0, 1e-172, 0.25, "two-sided")
def test_rho_threshold_parts_rejection_from_acceptance(means, rho, null, significance, alternative):
    assume(np.ptp(means) > 0)
    threshold = rho_threshold(means, null, significance, alternative=alternative)
    assume(abs(rho - threshold) > 1e-6)
    pvalue = grandvalet_bengio_pivot(means, 10, rho=rho).pvalue(null, alternative)
    assert (pvalue < significance) == (rho < threshold)
    assert threshold < 1


@settings(deadline=None)
@given(MEANS, st.floats(0, 0.99))
def test_statistic_is_that_of_the_paper(means, rho):
    assume(np.ptp(means) > 0)
    k = means.size
    expected = (
        math.sqrt(k * (k - 1) * (1 - rho)) * means.mean() / math.sqrt(((means - means.mean()) ** 2).sum())
    )
    assert grandvalet_bengio_pivot(means, 10, rho=rho).statistic() == pytest.approx(
        expected, rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("k", [2, 5, 10])
def test_corrected_resampled_t_on_folds_is_a_rho(k):
    """Nadeau and Bengio's 1/K + n2/n1 with n2/n1 = 1/(K - 1) is rho = K/(2K - 1); .526 for ten folds."""
    means = np.random.default_rng(k).random(k)
    corrected = math.sqrt((1 / k + 1 / (k - 1)) * means.var(ddof=1))
    found = grandvalet_bengio_pivot(means, 10, rho=k / (2 * k - 1))
    assert found.standard_error == pytest.approx(corrected, rel=1e-12)


# ---- Bayle et al. ----


@settings(deadline=None)
@given(BLOCKS, st.floats(0.5, 0.999))
def test_bayle_variances(blocks, level):
    losses = np.array(blocks, dtype=float)
    n, k = losses.size, len(losses)
    variances = {
        "all-pairs": ((losses - losses.mean()) ** 2).sum() / n,
        # as in the authors' program
        "within-fold": n / (n - k) * ((losses**2).mean() - (losses.mean(axis=1) ** 2).mean()),
    }
    for option, variance in variances.items():
        pivot = bayle_pivot(FoldLosses.from_blocks(blocks), variance=option)
        half = stats.norm.ppf(0.5 + level / 2) * math.sqrt(max(variance, 0.0) / n)
        assert pivot.interval(level) == pytest.approx((losses.mean() - half, losses.mean() + half), abs=1e-7)


def test_a_mean_difference_that_only_rounding_keeps_from_zero_is_zero():
    means = [0.1, 0.2, -0.3]
    assert np.mean(means) != 0.0
    folds = FoldLosses.from_blocks([[1] + [0] * 9, [1] * 2 + [0] * 8, [-1] * 3 + [0] * 7])
    row = cb.from_records(folds, "k-fold-t", differences=True)
    assert (row.estimate, row.statistic, row.pvalue) == (0.0, 0.0, 1.0)
    assert rho_threshold(means) == -math.inf
