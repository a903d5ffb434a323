"""Intervals from random splits: worked numbers, peers, degenerate records, and the recorders against plain loops."""

from __future__ import annotations

import math
import statistics

import baycomp
import numpy as np
import pytest
from data import signed_sample
from direct_refits import Scored, Seen, next_score, refit_of, task
from hypothesis import given
from hypothesis import strategies as st
from mlxtend.evaluate import paired_ttest_resampled
from shared_files import shared_vectors
from statsmodels.stats.weightstats import DescrStatsW

from cudbound import LeastSquaresClassifier
from cudbound.intervals.grandvalet_bengio import record_half_folds
from cudbound.intervals.method import compute_interval
from cudbound.intervals.resampled_t import (
    CORRECTED_RESAMPLED_T,
    HalfSplitLosses,
    ReplicateLosses,
    conservative_z_pivot,
    corrected_pseudo_bootstrap_pivot,
    corrected_resampled_t_pivot,
    pseudo_bootstrap_pivot,
    record_half_splits,
    record_replicates,
    resampled_t_pivot,
    single_split_t_pivot,
)
from cudbound.records import Records, SplitLosses, TestSetLosses
from cudbound.resampling.folds import draw_folds
from cudbound.resampling.settings import ResamplingSizes
from cudbound.resampling.splits import (
    draw_split,
    hold_out,
    record_halvings,
    record_splits,
)

VECTORS = shared_vectors()
MEANS = st.lists(st.integers(-20, 20).map(lambda k: k / 20), min_size=2, max_size=12)


def _splits(means, n_train=90, n_test=10):
    return SplitLosses(np.array(means, dtype=float), n_train, n_test)


SPLITS = _splits([0.2, 0.3, 0.25, 0.15, 0.35])
REPLICATES = ReplicateLosses(np.array([0.2, 0.25, 0.3, 0.27]), 90, 10, n_splits=5)
HALVES = HalfSplitLosses(np.array([[0.2, 0.28], [0.25, 0.22], [0.18, 0.27]]), 40, 10, n_splits=5)
TEST_SET = TestSetLosses(np.array([0, 1, 0, 0, 1, 0, 0, 0, 0, 0]), 10)
RECORDS = Records.of(splits=SPLITS, replicates=REPLICATES, half_splits=HALVES, test_set=TEST_SET)


# ---- worked numbers ----


def test_worked_corrected_resampled_t():
    entry = VECTORS["nb_corrected_t"]
    inputs, value = entry["inputs"], entry["value"]
    pivot = corrected_resampled_t_pivot(inputs["mu"], inputs["n1"], inputs["n2"])
    assert pivot.estimate == pytest.approx(value["center"], abs=1e-12)
    assert pivot.standard_error**2 == pytest.approx(value["var"], abs=1e-12)
    assert pivot.df == value["df"]
    assert pivot.interval(1 - inputs["delta"]) == pytest.approx(value["interval"], abs=1e-9)
    row = compute_interval(CORRECTED_RESAMPLED_T, RECORDS, 0.95)
    assert row.raw_interval == pytest.approx(value["interval"], abs=1e-9)


def test_worked_conservative_z():
    entry = VECTORS["nb_conservative_z"]
    inputs, value = entry["inputs"], entry["value"]
    pivot = conservative_z_pivot(inputs["center"], inputs["pairs"])
    assert pivot.standard_error**2 == pytest.approx(value["var"], abs=1e-12)
    assert pivot.interval(1 - inputs["delta"]) == pytest.approx(value["interval"], abs=1e-9)


# ---- peers and closed forms ----


@given(means=MEANS)
def test_corrected_resampled_t_is_the_correlated_t_of_baycomp(means):
    """Their correlation is 1 over the folds of a run: n2/n1 = 1/(K - 1) for one run of K folds."""
    pivot = corrected_resampled_t_pivot(means, len(means) - 1, 1)
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
    t, z = single_split_t_pivot(losses), single_split_t_pivot(losses, reference="normal")
    assert t.interval(0.9) == pytest.approx(theirs.tconfint_mean(0.1), abs=1e-12)
    assert z.interval(0.9) == pytest.approx(theirs.zconfint_mean(0.1), abs=1e-12)
    assert (t.statistic(), t.pvalue()) == pytest.approx(theirs.ttest_mean(0.0)[:2], abs=1e-12)
    assert (z.statistic(), z.pvalue()) == pytest.approx(theirs.ztest_mean(0.0), abs=1e-12)


@given(replicates=MEANS, n_splits=st.integers(2, 30), n_test=st.integers(1, 50))
def test_pseudo_bootstrap_in_plain_python(replicates, n_splits, n_test):
    spread = statistics.stdev(replicates)
    plain = pseudo_bootstrap_pivot(0.25, replicates)
    corrected = corrected_pseudo_bootstrap_pivot(0.25, replicates, n_splits, 60, n_test)
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


# ---- records, estimands, degenerate cases ----


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


SMALL = ResamplingSizes(n_splits=4, n_halvings=3, n_replicates=3, test_fraction=0.2, holdout_fraction=0.4)


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


@pytest.mark.parametrize("n", [20, 21])
def test_recorded_half_folds_in_a_plain_loop(n):
    X, labels = signed_sample(n)
    made, training = _record(record_half_folds, X, labels, ResamplingSizes(n_folds=4, n_halvings=3))
    rng = np.random.default_rng(7)
    for pair in made.means:
        order = rng.permutation(n)
        for means, rows in zip(pair, (order[:10], order[10:20]), strict=True):
            fold = draw_folds(10, 4, rng)
            plain = [_plain_losses(X, labels, rows[fold != k], rows[fold == k]).mean() for k in range(4)]
            assert means == pytest.approx(plain, abs=1e-12)
    assert (made.means.shape, made.n_train) == ((3, 2, 4), 7.5)
    assert made.remarks == (() if n == 20 else ("1 row left out of each halving",))
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
