"""Tests and intervals from random splits, five halvings and repeated folds, against peers and plain Python."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import baycomp
import numpy as np
import pytest
from contract_cases import sample
from data import signed_sample
from direct_refits import Scored, Seen, next_score, refit_of, task
from hypothesis import assume, given
from hypothesis import strategies as st
from mlxtend.evaluate import combined_ftest_5x2cv, paired_ttest_5x2cv, paired_ttest_resampled
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from statsmodels.stats.weightstats import DescrStatsW

from cudbound import LeastSquaresClassifier, Resampling, compare_learners
from cudbound.intervals.cross_validation import REPEATED_K_FOLD_T, repeated_k_fold_t_pivot
from cudbound.intervals.random_splits import (
    FIVE_BY_TWO_F,
    conservative_z_pivot,
    five_by_two_f,
    five_by_two_f_set,
    five_by_two_t_pivot,
    pseudo_bootstrap_pivot,
    record_half_splits,
    record_replicates,
    resampled_t_pivot,
    single_split_t_pivot,
)
from cudbound.records import FoldLosses, HalvingLosses, Records, RepeatedFoldLosses, TestSetLosses
from cudbound.resampling.splits import draw_split, hold_out, record_halvings, record_splits

# ---- random splits ----


MEANS = st.lists(st.integers(-20, 20).map(lambda k: k / 20), min_size=2, max_size=12)


# ---- peers and closed forms ----


@given(means=MEANS)
def test_corrected_resampled_t_is_the_correlated_t_of_baycomp(means):
    """Their correlation is 1 over the folds of a run: n2/n1 = 1/(K - 1) for one run of K folds."""
    pivot = resampled_t_pivot(means, len(means) - 1, 1)
    if pivot.standard_error == 0.0:
        return
    left, right = baycomp.two_on_single(np.zeros(len(means)), np.array(means))
    assert pivot.pvalue(alternative="greater") == pytest.approx(left, abs=1e-9)
    assert pivot.pvalue(alternative="less") == pytest.approx(right, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_resampled_t_is_the_resampled_test_of_mlxtend(seed):
    """Theirs compares scores, so that the sign is the other one; it makes 30 splits with 30 % of the rows tested."""
    errors = np.random.default_rng(seed).uniform(size=(2, 30))
    statistic, pvalue = paired_ttest_resampled(
        *map(Scored, errors), np.zeros((20, 1)), np.arange(20), scoring=next_score
    )
    pivot = resampled_t_pivot(errors[0] - errors[1])
    assert pivot.statistic() == pytest.approx(-statistic, rel=1e-9)
    assert pivot.pvalue() == pytest.approx(pvalue, rel=1e-9)


@pytest.mark.parametrize("losses", [[0, 1, 0, 0, 1, 0, 1], [1, -1, 0, 1, 1, 0, 0, 1], [True, False, False]])
def test_single_split_t_and_z_are_those_of_statsmodels(losses):
    theirs = DescrStatsW(np.array(losses, dtype=float))
    record = TestSetLosses(losses, 20)
    t, z = single_split_t_pivot(record), single_split_t_pivot(record, reference="normal")
    assert t.interval(0.9) == pytest.approx(theirs.tconfint_mean(0.1), abs=1e-12)
    assert z.interval(0.9) == pytest.approx(theirs.zconfint_mean(0.1), abs=1e-12)
    assert (t.statistic(), t.pvalue()) == pytest.approx(theirs.ttest_mean(0.0)[:2], abs=1e-12)
    assert (z.statistic(), z.pvalue()) == pytest.approx(theirs.ztest_mean(0.0), abs=1e-12)


@given(replicates=MEANS, n_splits=st.integers(2, 30), n_test=st.integers(1, 50))
def test_pseudo_bootstrap_in_plain_python(replicates, n_splits, n_test):
    spread = statistics.stdev(replicates)
    plain = pseudo_bootstrap_pivot(0.25, replicates)
    corrected = pseudo_bootstrap_pivot(0.25, replicates, n_splits, 60, n_test)
    assert plain.estimate == corrected.estimate == 0.25
    assert plain.df == corrected.df == len(replicates) - 1
    assert plain.standard_error == pytest.approx(spread, abs=1e-12)
    assert corrected.standard_error == pytest.approx(
        spread * math.sqrt(1 + n_splits * n_test / 60), abs=1e-12
    )


@given(
    pairs=st.lists(st.tuples(*[st.integers(-9, 9).map(lambda k: k / 9)] * 2), min_size=1, max_size=9).filter(
        lambda pairs: any(a != b for a, b in pairs)
    )
)
def test_conservative_z_in_plain_python(pairs):
    variance = sum((a - b) ** 2 for a, b in pairs) / (2 * len(pairs))
    interval = conservative_z_pivot(0.25, pairs).interval(0.95)
    normal = statistics.NormalDist(0.25, math.sqrt(variance))
    assert interval == pytest.approx((normal.inv_cdf(0.025), normal.inv_cdf(0.975)), abs=1e-9)


# ---- recorders ----


def _plain_losses(X, labels, train, test):
    """0/1 losses of one fit, in the order of `test`; rows may repeat."""
    if np.unique(labels[train]).size == 1:
        return (labels[test] != labels[train][0]).astype(float)
    model = LeastSquaresClassifier().fit(X[train], labels[train])
    return (model.predict(X[test]) != labels[test]).astype(float)


def _record(recorder, X, labels, sizes, policy="fit", seed=7):
    refit = Seen(refit_of(LeastSquaresClassifier(), X, labels))
    made = recorder(task(refit, labels, sizes, policy=policy, seed=seed))
    assert refit.sizes == [made.n_fits]
    return made, refit.training


SMALL = Resampling(n_splits=4, n_halvings=3, n_replicates=3, test_fraction=0.2, holdout_fraction=0.4)


def test_recorded_splits_in_a_plain_loop():
    X, labels = signed_sample(20)
    made, _ = _record(record_splits, X, labels, SMALL)
    rng = np.random.default_rng(7)
    for mean in made.means:
        order = rng.permutation(20)
        assert mean == pytest.approx(_plain_losses(X, labels, order[4:], order[:4]).mean(), abs=1e-12)
    assert (made.n_train, made.n_test, made.remarks) == (16, 4, ())


@pytest.mark.parametrize("n", [20, 21])
def test_recorded_half_splits_in_a_plain_loop(n):
    X, labels = signed_sample(n)
    made, training = _record(record_half_splits, X, labels, SMALL)
    rng = np.random.default_rng(7)
    halvings = [rng.permutation(n) for _ in range(3)]
    for pair, order in zip(made.means, halvings, strict=True):
        for mean, rows in zip(pair, (order[:10], order[10:20]), strict=True):
            orders = [rng.permutation(rows) for _ in range(4)]
            plain = [_plain_losses(X, labels, one[4:], one[:4]).mean() for one in orders]
            assert mean == pytest.approx(np.mean(plain), abs=1e-12)
    assert (made.n_train, made.n_test, made.n_splits) == (6, 4, 4)
    assert ("1 row left out of each halving" in made.remarks) == (n == 21)
    trained = training.reshape(3, 2, 4, n).any(axis=2)
    assert not (trained[:, 0] & trained[:, 1]).any()


def test_recorded_replicates_in_a_plain_loop():
    X, labels = signed_sample(20)
    made, training = _record(record_replicates, X, labels, SMALL)
    rng = np.random.default_rng(7)
    on_both_sides = False
    replicates = [rng.integers(20, size=20) for _ in range(3)]
    for mean, rows in zip(made.means, replicates, strict=True):
        orders = [rng.permutation(rows) for _ in range(4)]
        plain = [_plain_losses(X, labels, one[4:], one[:4]).mean() for one in orders]
        assert mean == pytest.approx(np.mean(plain), abs=1e-12)
        on_both_sides |= any(np.intersect1d(one[4:], one[:4]).size for one in orders)
    assert on_both_sides
    assert (made.n_train, made.n_test, made.n_splits, made.remarks) == (16, 4, 4, ())
    np.testing.assert_array_equal(training.sum(axis=1), 16)


@pytest.mark.parametrize("n", [20, 21])
def test_recorded_halvings_in_a_plain_loop(n):
    X, labels = signed_sample(n)
    made, _ = _record(record_halvings, X, labels, SMALL)
    rng = np.random.default_rng(7)
    for pair in made.means:
        order = rng.permutation(n)
        first, second = order[:10], order[10:20]
        plain = [_plain_losses(X, labels, *sides).mean() for sides in ((first, second), (second, first))]
        assert pair == pytest.approx(plain, abs=1e-12)
    assert made.means.shape == (5, 2)
    assert made.n_train == 10
    assert made.remarks == (() if n == 20 else ("1 row left out of each halving",))


def test_recorded_test_set_in_a_plain_loop():
    X, labels = signed_sample(20)
    made, _ = _record(hold_out, X, labels, SMALL)
    order = np.random.default_rng(7).permutation(20)
    test = np.sort(order[:8])
    np.testing.assert_array_equal(made.losses, _plain_losses(X, labels, np.sort(order[8:]), test))
    assert (made.n_train, str(made.estimand), made.remarks) == (12, "holdout-model", ())


@given(rows=st.lists(st.integers(0, 9), min_size=2, max_size=20), seed=st.integers(0, 2**32), data=st.data())
def test_a_split_uses_every_row_once(rows, seed, data):
    n_test = data.draw(st.integers(1, len(rows) - 1))
    design = draw_split(np.array(rows), 10, n_test, np.random.default_rng(seed))
    assert design.testing.sum() == n_test
    np.testing.assert_array_equal(design.training + design.testing, [np.bincount(rows, minlength=10)])


# ---- 5x2 cross-validation: the t with its repairs and the F set, against worked numbers, peers and plain code ----


MEAN = st.integers(-20, 20).map(lambda k: k / 20)
PAIRS = st.lists(st.tuples(MEAN, MEAN), min_size=5, max_size=5)


def _records(pairs, n_train=20):
    return Records(halvings=HalvingLosses(np.array(pairs, dtype=float), n_train))


# ---- peers ----


@pytest.mark.parametrize("seed", range(10))
def test_t_and_f_are_those_of_mlxtend(seed):
    """Theirs compares scores, so that the sign of t is the other one.

    Two differences of definition do not show here: its halves differ by one row where the number of rows is odd, where
    ours leaves one out, and it divides by zero where ours says that there is no variance.
    """
    errors = np.random.default_rng(seed).uniform(size=(2, 5, 2))

    def run(test):
        return test(*map(Scored, errors), np.zeros((20, 1)), np.arange(20), scoring=next_score)

    differences = errors[0] - errors[1]
    statistic, pvalue = run(paired_ttest_5x2cv)
    pivot = five_by_two_t_pivot(differences)
    assert (pivot.statistic(), pivot.pvalue()) == pytest.approx((-statistic, pvalue), rel=1e-9)
    assert five_by_two_f(differences) == pytest.approx(run(combined_ftest_5x2cv), rel=1e-9)


# ---- plain code and properties ----


@given(pairs=PAIRS, null=st.floats(-0.5, 0.5))
def test_repairs_in_plain_python(pairs, null):
    squares = [(a - b) ** 2 for a, b in pairs]
    assume(sum(squares[1:]) > 0)
    (a, b), rest = pairs[0], sum(squares[1:])
    expected = {
        "none": ((a - null) / math.sqrt(sum(squares) / 10), 5),
        "drop-first-split": ((a - null) / math.sqrt(rest / 8), 4),
        "average-numerator": (math.sqrt(2) * ((a + b) / 2 - null) / math.sqrt(sum(squares) / 10), 5),
    }
    for repair, (statistic, df) in expected.items():
        pivot = five_by_two_t_pivot(pairs, repair=repair)
        assert pivot.statistic(null) == pytest.approx(statistic, rel=1e-9, abs=1e-9)
        assert pivot.pvalue(null) == pytest.approx(2 * stats.t.sf(abs(statistic), df), rel=1e-9)


@given(pairs=PAIRS, level=st.floats(0.5, 0.99))
def test_the_f_set_holds_what_the_f_test_does_not_reject(pairs, level):
    interval = five_by_two_f_set(pairs, level)
    assume(any(a != b for a, b in pairs))
    center = float(np.mean(pairs))
    if math.isnan(interval.low):  # the test rejects even what it likes best
        assert five_by_two_f(pairs, center)[1] < 1 - level + 1e-9
        return
    assert five_by_two_f(pairs, interval.low)[1] == pytest.approx(1 - level, abs=1e-6)
    assert five_by_two_f(pairs, interval.high)[1] == pytest.approx(1 - level, abs=1e-6)
    assert interval.low + interval.high == pytest.approx(2 * center, abs=1e-12)
    assert five_by_two_f(pairs, center)[1] >= 1 - level - 1e-9
    assert five_by_two_f_set(pairs, level + 0.009).width > interval.width


# ---- without variance ----


def test_no_variance_is_no_evidence():
    assert five_by_two_f(np.zeros((5, 2))) == (0.0, 1.0)
    assert five_by_two_f(np.full((5, 2), 0.3)) == (math.inf, 1.0)
    assert five_by_two_t_pivot(np.zeros((5, 2))).pvalue() == 1.0
    outcome = FIVE_BY_TWO_F.test(_records(np.zeros((5, 2))), 0.95, "two-sided")
    assert (outcome.statistic, outcome.pvalue) == (0.0, 1.0)
    assert outcome.degenerate.startswith("both halves have the same mean loss")


# ---- repeated folds ----


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
    theirs = resampled_t_pivot(means, len(means) - 1, 1)
    ours = repeated_k_fold_t_pivot([means])
    assert (ours.estimate, ours.df) == (pytest.approx(theirs.estimate), theirs.df)
    assert ours.standard_error == pytest.approx(theirs.standard_error, abs=1e-12)


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
