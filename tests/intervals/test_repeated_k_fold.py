"""The t interval on repeated cross-validation: plain Python, its special case, records, degenerate cases, margins."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from contract_cases import sample
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from cudbound import Resampling, compare_learners
from cudbound.intervals.k_fold import REPEATED_K_FOLD_T, repeated_k_fold_t_pivot
from cudbound.intervals.resampled_t import corrected_resampled_t_pivot
from cudbound.records import FoldLosses, RepeatedFoldLosses

#: Fold means of one to four partitions, each into two to seven folds.
PARTITIONS = st.lists(
    st.lists(st.integers(-20, 20).map(lambda value: value / 20), min_size=2, max_size=7),
    min_size=1,
    max_size=4,
)
X, Y = sample(40)
TREE, LOGISTIC = DecisionTreeClassifier(max_depth=2, random_state=0), LogisticRegression()


def in_plain_python(partitions):
    """Return estimate, variance and degrees of freedom, as fractions."""
    exact = [[Fraction(value).limit_denominator(20) for value in part] for part in partitions]
    centers = [sum(part) / len(part) for part in exact]
    variances = []
    for part, center in zip(exact, centers, strict=True):
        k = len(part)
        spread = sum((value - center) ** 2 for value in part) / (k - 1)
        variances.append(spread * (Fraction(1, k) + Fraction(1, k - 1)))
    estimate = sum(centers) / len(centers)
    return estimate, sum(variances) / len(variances), sum(len(part) - 1 for part in exact)


def repeated(*partitions):
    """Return partitions of rows, each a list of losses fold by fold."""
    return RepeatedFoldLosses(tuple(FoldLosses.from_blocks(blocks) for blocks in partitions))


# ---- the formula ----


@given(PARTITIONS, st.floats(0.5, 0.999))
def test_the_interval_in_plain_python(partitions, level):
    estimate, variance, df = in_plain_python(partitions)
    pivot = repeated_k_fold_t_pivot(partitions)
    assert pivot.estimate == pytest.approx(float(estimate), abs=1e-12)
    assert pivot.standard_error**2 == pytest.approx(float(variance), abs=1e-12)
    assert pivot.df == df
    assert (pivot.degenerate is None) == (variance > 0)
    half = stats.t.ppf(0.5 + level / 2, df) * math.sqrt(variance)
    assert pivot.interval(level) == pytest.approx((estimate - half, estimate + half), abs=1e-9)


@given(PARTITIONS)
def test_on_one_partition_it_is_the_corrected_t_of_nadeau_and_bengio(partitions):
    means = partitions[0]
    theirs = corrected_resampled_t_pivot(means, len(means) - 1, 1)
    ours = repeated_k_fold_t_pivot([means])
    assert (ours.estimate, ours.df) == (pytest.approx(theirs.estimate), theirs.df)
    assert ours.standard_error == pytest.approx(theirs.standard_error, abs=1e-12)


@given(PARTITIONS)
def test_a_repetition_of_the_same_partitions_does_not_reduce_the_variance(partitions):
    once, twice = repeated_k_fold_t_pivot(partitions), repeated_k_fold_t_pivot(partitions * 2)
    assert twice.estimate == pytest.approx(once.estimate, abs=1e-12)
    assert twice.standard_error == pytest.approx(once.standard_error, abs=1e-12)
    assert twice.df == 2 * once.df


@pytest.mark.slow
@pytest.mark.parametrize(("n_partitions", "rate"), [(1, 0.0094), (10, None)])
def test_losses_that_ignore_the_training_set_are_rejected_too_seldom(n_partitions, rate):
    """On one partition the statistic is t over sqrt(1 + k/(k - 1)); ten share the rows and have no closed form."""
    n, k, n_samples = 40, 10, 12_000
    rng = np.random.default_rng(3)
    rejected = 0
    for losses in rng.normal(size=(n_samples, n)):
        orders = rng.permuted(np.tile(losses, (n_partitions, 1)), axis=1)
        means = orders.reshape(n_partitions, k, n // k).mean(axis=2)
        rejected += repeated_k_fold_t_pivot(means).pvalue() < 0.05
    if rate is None:
        assert rejected / n_samples == pytest.approx(0.008, abs=0.003)
        return
    exact = 2 * stats.t.sf(stats.t.ppf(0.975, k - 1) * math.sqrt(1 + k / (k - 1)), k - 1)
    assert exact == pytest.approx(rate, abs=5e-5)
    assert stats.binomtest(rejected, n_samples, exact).pvalue > 1e-3


# ---- records ----


def test_it_is_computed_from_fits_in_a_loop():
    """Ten partitions by scikit-learn, both learners fitted one by one, and the statistic in plain Python."""
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=1)
    differences = []
    for train, test in cv.split(X, Y):
        wrong = [
            clone(learner).fit(X[train], Y[train]).predict(X[test]) != Y[test] for learner in (TREE, LOGISTIC)
        ]
        differences.append(statistics.fmean(map(float, wrong[0])) - statistics.fmean(map(float, wrong[1])))
    partitions = [differences[start : start + 5] for start in (0, 5, 10)]
    error = math.sqrt(statistics.fmean(statistics.variance(part) * (1 / 5 + 1 / 4) for part in partitions))
    row = compare_learners([TREE, LOGISTIC], X, Y, resampling=Resampling(cv=cv), rng=0).row
    assert row.method == REPEATED_K_FOLD_T.name
    assert row.estimate == pytest.approx(statistics.fmean(differences), abs=1e-12)
    assert row.statistic == pytest.approx(statistics.fmean(differences) / error)
    assert row.pvalue == pytest.approx(2 * stats.t.sf(abs(row.statistic), 12))
    assert (row.n_fits, str(row.estimand)) == (30, "expected(n1=32)")


def test_groups_are_one_partition_into_folds_of_whole_groups():
    groups = np.arange(len(Y)) // 2
    row = compare_learners([TREE, LOGISTIC], X, Y, groups=groups, rng=0).row
    whole = compare_learners([TREE, LOGISTIC], X, Y, methods="corrected-resampled-t", groups=groups, rng=0)
    assert (row.n_fits, row.estimate) == (20, pytest.approx(whole.estimate))
    assert row.pvalue == pytest.approx(whole.pvalue)
    assert row.remarks == ("20 groups of 2 rows kept together",)


# ---- losses without variance ----


# ---- margins, equivalence, several learners ----
