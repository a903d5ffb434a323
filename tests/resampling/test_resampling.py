"""Refits made once: recorded losses against refits in plain Python, and draws of one class."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from data import sample
from direct_refits import choose_refit
from record_kinds import kinds

from cudbound import LeastSquaresClassifier, Resampling, compare_intervals
from cudbound.basis.sample import Sample
from cudbound.problem.draws import draw_counts
from cudbound.records import Records
from cudbound.resampling.bootstrap import record_inner
from cudbound.resampling.context import RefitContext
from cudbound.resampling.folds import record_folds
from cudbound.resampling.make_records import RecordingInputs, given_records, make_records
from cudbound.resampling.settings import spawn_streams

FOLDS = {k: Resampling(n_folds=k) for k in (2, 6, 10)}
EVERYTHING = frozenset({"bootstrap", "inner", "folds"})


_data = partial(sample, n=20, p=3, labels=(-1.0, 1.0))


def _record(
    estimator, X, labels, *, needs=EVERYTHING, n_resamples=30, n_inner=4, policy=None, n_jobs=1, seed=0
):
    rng = np.random.default_rng(seed)
    counts = draw_counts(labels.size, n_resamples, rng)
    recording = RecordingInputs(
        sample=Sample.of(estimator.fit(X, labels), X, labels),
        counts=counts,
        streams=spawn_streams(rng),
        estimator=estimator,
        resampling=Resampling(inner="oob" if n_inner is None else n_inner, on_single_class=policy, n_folds=5),
        n_jobs=n_jobs,
    )
    return Records.of(**make_records(kinds(needs), recording, given_records(recording)))


def _slow_loo_bootstrap_error(fit_predict, n, draws):
    """Efron and Tibshirani's Err(1), as a sentence in Python: no arrays, one fit per draw."""
    wrong = {i: [] for i in range(n)}
    for drawn in draws:
        losses = fit_predict(drawn)
        for i in set(range(n)) - set(drawn):
            wrong[i].append(losses[i])
    means = [sum(values) / len(values) for values in wrong.values() if values]
    return sum(means) / len(means)


# ---- what is recorded ----


def test_inner_bootstrap_is_the_loo_bootstrap_of_the_draw_as_a_training_set():
    X, labels = _data(seed=5, n=12)
    counts = draw_counts(12, 6, np.random.default_rng(3))
    refit, _ = choose_refit(LeastSquaresClassifier().fit(X, labels), X, labels, np.random.default_rng(0))
    recorded = record_inner(
        RefitContext(refit, labels, Resampling(), on_single_class="fit", rng=np.random.default_rng(9)),
        counts,
        8,
    )
    # the same inner draws again: positions within the outer draw, which is a training set of 12 rows
    draws, _ = np.random.default_rng(9).spawn(2)
    places = (draws.random((6, 8, 12)) * 12).astype(int)
    for outer, row in enumerate(counts):
        rows = np.repeat(np.arange(12), row)
        X_b, labels_b = X[rows], labels[rows]

        def fit_predict(drawn, X_b=X_b, labels_b=labels_b):
            if np.unique(labels_b[drawn]).size == 1:
                return (labels_b != labels_b[drawn[0]]).astype(int)
            return (
                LeastSquaresClassifier().fit(X_b[drawn], labels_b[drawn]).predict(X_b) != labels_b
            ).astype(int)

        slow = _slow_loo_bootstrap_error(fit_predict, 12, [place.tolist() for place in places[outer]])
        assert recorded.errors[outer] == pytest.approx(slow, abs=1e-12)


def test_cross_validation_leaves_the_fold_out():
    X, labels = _data(seed=8)
    refit, _ = choose_refit(LeastSquaresClassifier().fit(X, labels), X, labels, np.random.default_rng(0))
    seen = []

    def watched(training):
        seen.append(training)
        return refit(training)

    folds = record_folds(
        RefitContext(watched, labels, FOLDS[6], on_single_class="fit", rng=np.random.default_rng(2))
    )
    (training,) = seen
    assert sorted((20 - training.sum(axis=1)).tolist()) == [3, 3, 3, 3, 4, 4]
    np.testing.assert_array_equal((training == 0).sum(axis=0), 1)
    for row in training:
        model = LeastSquaresClassifier().fit(X[row == 1], labels[row == 1])
        left_out = row == 0
        np.testing.assert_array_equal(folds.losses[left_out], (model.predict(X) != labels)[left_out])
    assert folds.n_folds == 6


# ---- draws of one class ----

RARE = np.array([1.0, 1.0, *[-1.0] * 10])  # two positive rows of twelve: a draw misses both in 11 % of cases


def _rare(policy, estimator=None, n_inner=4):
    X = np.random.default_rng(0).normal(size=(12, 2))
    return _record(
        estimator or LeastSquaresClassifier(), X, RARE, policy=policy, n_resamples=60, n_inner=n_inner
    )


def _n_single(counts):
    return int((counts[:, RARE > 0].sum(axis=1) == 0).sum())


def test_single_class_draws_are_fitted_as_constant_classifiers():
    records = _rare("fit")
    single = records.bootstrap.counts[:, RARE > 0].sum(axis=1) == 0
    assert 0 < single.sum() < 20
    np.testing.assert_array_equal(records.bootstrap.losses[single], np.tile(RARE > 0, (single.sum(), 1)))
    assert records.bootstrap.remarks == (f"{single.sum()} single-class draws fitted as drawn",)


def test_single_class_draws_are_redrawn_and_the_others_kept():
    fitted, redrawn = _rare("fit").bootstrap, _rare("redraw").bootstrap
    n_single = _n_single(fitted.counts)
    assert _n_single(redrawn.counts) == 0
    same = (fitted.counts == redrawn.counts).all(axis=1)
    assert (~same).sum() == n_single
    np.testing.assert_array_equal(fitted.losses[same], redrawn.losses[same])
    assert redrawn.remarks == (f"{n_single} single-class draws redrawn",)


def test_folds_are_shuffled_until_both_classes_are_in_training():
    refit, _ = choose_refit(
        LeastSquaresClassifier().fit(np.eye(12), RARE), np.eye(12), RARE, np.random.default_rng(0)
    )
    seen, remarks = [], []

    def watched(training):
        seen.append(training)
        return refit(training)

    for seed in range(10):
        rng = np.random.default_rng(seed)
        remarks.append(
            record_folds(RefitContext(watched, RARE, FOLDS[2], on_single_class="redraw", rng=rng)).remarks
        )
    assert all(_n_single(training) == 0 for training in seen)
    assert any("redrawn" in remark for row in remarks for remark in row)
    fitted = [
        record_folds(
            RefitContext(refit, RARE, FOLDS[2], on_single_class="fit", rng=np.random.default_rng(seed))
        ).remarks
        for seed in range(10)
    ]
    assert ("1 single-class cross-validation training sets fitted as drawn",) in fitted
    bad_seed = next(seed for seed, row in enumerate(fitted) if row)
    with pytest.raises(ValueError, match="1 cross-validation training sets had only one class"):
        record_folds(
            RefitContext(
                refit,
                RARE,
                Resampling(n_folds=2),
                on_single_class="error",
                rng=np.random.default_rng(bad_seed),
            )
        )


def test_draws_with_nothing_out_of_bag_are_redrawn_for_the_out_of_bag_variant():
    X = np.array([[0.0], [1.0], [2.0], [4.0]])
    labels = np.array([-1.0, 1.0, -1.0, 1.0])
    recorded = _record(LeastSquaresClassifier(), X, labels, n_resamples=100, n_inner=None).bootstrap
    full = int((draw_counts(4, 100, np.random.default_rng(0)) > 0).all(axis=1).sum())
    assert full > 0
    assert not (recorded.counts > 0).all(axis=1).any()
    assert f"{full} draws with no row out of bag redrawn" in recorded.remarks


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.SmallSampleWarning")  # four groups are few
@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.SmallSampleWarning")
def test_draws_that_take_the_place_of_others_hold_every_class_that_all_of_them_hold():
    patient = np.repeat(np.arange(4), 3)
    y = (patient > 1).astype(int)
    X = np.random.default_rng(0).normal(size=(12, 1)) + 0.5 * y[:, None]
    table = compare_intervals(
        LeastSquaresClassifier().fit(X, y),
        X,
        y,
        methods=["out-of-bag-wilson"],
        metric=["sensitivity", "specificity"],
        groups=patient,
        n_resamples=300,
        rng=0,
        resampling=Resampling(inner="oob"),
    )
    # of 300 draws of four patients a tenth leaves none out; an eighth of all draws, and no such draw, lacks a class
    assert any("no row out of bag redrawn" in remark for remark in table.rows[0].remarks)
