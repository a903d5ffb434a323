"""What is recorded of refits, and resampling."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import partial

import numpy as np
import pytest
from contract_cases import N_INNER, SIZES
from data import fitted_sample, sample
from direct_refits import choose_refit, prepare_refits
from record_kinds import KINDS, kinds
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold

from cudbound import LeastSquaresClassifier, Resampling, compare_intervals
from cudbound.adapters import to_additive_model
from cudbound.basis.method_card import RecordKind
from cudbound.basis.sample import Sample
from cudbound.problem.draws import draw_counts
from cudbound.records import Records
from cudbound.resampling.bootstrap import BOOTSTRAP, INNER, USABLE_DRAWS, record_inner
from cudbound.resampling.folds import record_folds
from cudbound.resampling.make_records import (
    RecordingInputs,
    count_refits,
    given_records,
    in_order,
    make_records,
)
from cudbound.resampling.settings import STREAMS, RefitContext, Streams

# ---- the registry of recorders ----


N_DRAWS = 12
CLF, X, Y = fitted_sample(24, seed=4)
SEARCH = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 10.0]}, cv=KFold(3, shuffle=True)).fit(X, Y)
OF_CALL = [name for name, kind in KINDS.items() if (kind.refit or kind.record) and kind.per == "call"]
OF_SEARCH = {name for name in OF_CALL if KINDS[name].of_search}


def recording_of(estimator=CLF, needs=frozenset(), *, groups=None, cv=None, policy="fit", **further):
    """Return a recording with streams of their own, so that one call takes nothing from another."""
    rng = np.random.default_rng(5)
    counts = draw_counts(len(Y), N_DRAWS, rng)
    refits = prepare_refits(estimator, X, Y)
    return RecordingInputs.of(
        Sample.of(estimator, X, Y, groups),
        frozenset(KINDS.get(need, need) for need in needs),
        Streams(rng),
        replace(SIZES, inner=N_INNER, cv=cv, on_single_class=policy),
        counts=counts,
        refits_of_each=(refits, refits),
        model=to_additive_model(CLF, X, Y),
        **further,
    )


def made_by(needs, estimator=CLF, *, failed=None, **settings):
    needs = {KINDS.get(need, need) for need in needs}
    recording = recording_of(estimator, needs, **settings)
    return make_records(needs, recording, given_records(recording), failed)


def same(one, other):
    """Whether records are equal in every number, bit by bit."""
    if is_dataclass(one):
        parts = [entry.name for entry in fields(one)]
        return type(one) is type(other) and all(same(getattr(one, p), getattr(other, p)) for p in parts)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")


# ---- the kinds ----


def test_the_streams_are_those_of_every_earlier_version():
    assert STREAMS[:19] == (
        "bootstrap",
        "inner",
        "folds",
        "cv",
        "removed_cases",
        "bolstered",
        "repeated_folds",
        "leave_one_out",
        "splits",
        "half_splits",
        "replicates",
        "halvings",
        "test_set",
        "nested",
        "replacements",
        "second_test_set",
        "learners",
        "tuned",
        "stratified_folds",
    )
    assert STREAMS[19:] == ("own_intervals",)
    assert len(set(STREAMS)) == len(STREAMS)
    # a stream more moves none of the others
    rngs, fewer = Streams(np.random.default_rng(1)), np.random.default_rng(1).spawn(19)
    assert [rngs[name].random() for name in STREAMS[:19]] == [rng.random() for rng in fewer]


# ---- what comes first ----


def test_what_comes_first_is_made_first_and_once():
    order = []

    def noted(name, *after):
        def record(_, made):
            assert {kind.name for kind in after} <= made.keys()
            order.append(name)
            return name

        return RecordKind(name, holds=str, words=name, record=record, after=after)

    first = noted("first")
    second = noted("a second", first)
    third, other = noted("third", second), noted("other", first)
    assert in_order({INNER, KINDS["folds"]}) == (KINDS["folds"], USABLE_DRAWS, BOOTSTRAP, INNER)
    assert make_records({third}, recording_of()) == {name: name for name in ("first", "a second", "third")}
    assert order == ["first", "a second", "third"]
    make_records({third, other}, recording_of())
    assert order[3:] == ["first", "other", "a second", "third"]
    # what is there already is not made again
    assert make_records({third}, recording_of(), {"a second": "given"})["a second"] == "given"
    assert "a second" not in order[7:]


# ---- one record and the others ----


@pytest.fixture(scope="module")
def together():
    return made_by(set(OF_CALL) - OF_SEARCH)


@pytest.mark.parametrize("name", [name for name in OF_CALL if name not in OF_SEARCH])
def test_a_record_does_not_depend_on_the_others(name, together):
    assert same(made_by({name})[name], together[name])


@pytest.mark.parametrize("name", OF_CALL)
def test_the_fits_are_counted_before_they_are_made(name):
    fits = []
    estimator = SEARCH if name in OF_SEARCH else CLF
    recording = recording_of(estimator, {name}, advance=fits.append)
    needs = kinds({name})
    counted = count_refits(needs, recording)
    make_records(needs, recording, given_records(recording))
    assert counted == sum(fits)
    assert name in OF_SEARCH or bool(KINDS[name].n_fits) == bool(fits)


# ---- what fails ----


def broken(error):
    def record(*_, **__):
        raise error

    return record


def broken_kind(name, error):
    return replace(KINDS[name], refit=None, record=broken(error))


def test_a_record_that_fails_leaves_the_reason_and_the_others(together):
    error = ValueError("no folds today")
    folds = broken_kind("folds", error)
    failed = {}
    made = made_by({folds} | kinds({"bootstrap", "splits", "nested"}), failed=failed)
    assert failed == {folds: error}
    assert "folds" not in made
    assert all(same(made[name], together[name]) for name in ("bootstrap", "splits", "nested"))
    with pytest.raises(ValueError, match="no folds today"):
        made_by({folds, BOOTSTRAP})


# ---- the caller's splits ----


def test_rows_in_groups_get_folds_of_whole_groups():
    groups = np.repeat(np.arange(6), 4)
    made = made_by({"folds"}, groups=groups)["folds"]
    folds = {group: set(made.fold[groups == group].tolist()) for group in range(6)}
    assert all(len(one) == 1 for one in folds.values())
    assert recording_of(needs={"bootstrap"}, groups=groups).splits is None


# ---- refits made once ----


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
        streams=Streams(rng),
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
