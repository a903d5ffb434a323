"""The registry of recorders: what has one, what comes first, what fails alone, and what the caller's splits fill."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from contract_cases import N_INNER, SIZES
from data import fitted_sample
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, ShuffleSplit

from cudbound import LeastSquaresClassifier, Resampling
from cudbound.adapters import to_additive_model
from cudbound.basis.sample import Sample
from cudbound.intervals import METHODS
from cudbound.point_estimates import ESTIMATORS
from cudbound.problem.draws import draw_counts
from cudbound.records import Records, ScoreRecords
from cudbound.resampling import recorders
from cudbound.resampling.recorders import (
    GIVEN,
    RECORDERS,
    Recorder,
    count_fits_of,
    in_order,
    make_records,
    refits_for,
)
from cudbound.resampling.recording import FROM_SPLITS, STREAMS, Recording, spawn_streams
from cudbound.resampling.refits import prepare_refits
from cudbound.resampling.single_class import SingleClassError
from cudbound.resampling.target_records import given_records

N_DRAWS = 12
CLF, X, Y = fitted_sample(24, seed=4)
SEARCH = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 10.0]}, cv=KFold(3, shuffle=True)).fit(X, Y)
#: Shared by records, but none of them.
SHARED = {"usable_draws", "cv"}
OF_CALL = [name for name, one in RECORDERS.items() if one.per == "call" and name not in SHARED]


def recording_of(estimator=CLF, needs=frozenset(), *, groups=None, cv=None, policy="fit", **further):
    """Return a recording with streams of their own, so that one call takes nothing from another."""
    rng = np.random.default_rng(5)
    counts = draw_counts(len(Y), N_DRAWS, rng)
    refits = prepare_refits(estimator, X, Y)
    return Recording.of(
        Sample.of(estimator, X, Y, groups),
        frozenset(needs),
        spawn_streams(rng),
        Resampling(inner=N_INNER, sizes=SIZES, cv=cv, on_single_class=policy),
        counts=counts,
        estimator=estimator,
        refits_of_each=(refits, refits),
        model=to_additive_model(CLF, X, Y),
        **further,
    )


def made_by(needs, estimator=CLF, *, failed=None, **settings):
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


# ---- the registry ----


def test_every_record_that_a_method_reads_has_a_recorder_or_is_given():
    methods = [*METHODS.values(), *(other for method in METHODS.values() for other in method.others.values())]
    cards = [*methods, *ESTIMATORS.values()]
    needs = frozenset[str]().union(*(card.needs | card.needed({}) for card in cards))
    assert needs - RECORDERS.keys() == GIVEN


def test_a_recorder_fills_a_record_or_what_records_share():
    assert RECORDERS.keys() - {entry.name for entry in fields(Records)} == SHARED
    assert RECORDERS.keys() >= FROM_SPLITS
    assert {entry.name for kind in (Records, ScoreRecords) for entry in fields(kind)} >= GIVEN


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
    assert STREAMS[19:] == ("own_intervals", "half_folds")
    assert len(set(STREAMS)) == len(STREAMS)
    # a stream more moves none of the others
    rngs, fewer = spawn_streams(np.random.default_rng(1)), np.random.default_rng(1).spawn(19)
    assert [rngs[name].random() for name in STREAMS[:19]] == [rng.random() for rng in fewer]


# ---- what comes first ----


def test_what_comes_first_stands_first_in_the_registry():
    names = list(RECORDERS)
    for name, one in RECORDERS.items():
        assert all(names.index(first) < names.index(name) for first in one.after)
    assert in_order({"inner", "folds"}) == ("usable_draws", "bootstrap", "inner", "folds")


def test_what_comes_first_is_made_first_and_once(monkeypatch):
    order = []

    def noted(name, *after):
        def record(_, made):
            assert set(after) <= made.keys()
            order.append(name)
            return name

        return Recorder(record, after=after)

    registry = {
        "first": noted("first"),
        "second": noted("second", "first"),
        "third": noted("third", "second"),
    }
    monkeypatch.setattr(recorders, "RECORDERS", registry | {"other": noted("other", "first")})
    assert make_records({"third"}, recording_of()) == {name: name for name in registry}
    assert order == ["first", "second", "third"]
    make_records({"third", "other"}, recording_of())
    assert order[3:] == ["first", "second", "third", "other"]
    # what is there already is not made again
    assert make_records({"third"}, recording_of(), {"second": "given"})["second"] == "given"
    assert "second" not in order[7:]


# ---- one record and the others ----


@pytest.fixture(scope="module")
def together():
    return made_by(set(OF_CALL) - {"tuned"})


@pytest.mark.parametrize("name", [name for name in OF_CALL if name != "tuned"])
def test_a_record_does_not_depend_on_the_others(name, together):
    assert same(made_by({name})[name], together[name])


@pytest.mark.parametrize("cv", [None, 4], ids=["drawn", "given"])
def test_the_folds_of_a_search_do_not_depend_on_the_others(cv):
    """The splitter of the search has no seed, so that its folds take one from the stream of the caller's splits."""
    alone, among = (made_by(needs, SEARCH, cv=cv)["tuned"] for needs in ({"tuned"}, {"tuned", "folds"}))
    assert same(alone, among)
    assert same(alone, made_by({"tuned"}, SEARCH)["tuned"])


@pytest.mark.parametrize("name", OF_CALL)
def test_the_fits_are_counted_before_they_are_made(name):
    fits = []
    estimator = SEARCH if name == "tuned" else CLF
    recording = recording_of(estimator, {name}, advance=fits.append)
    make_records({name}, recording, given_records(recording))
    assert sum(fits) == count_fits_of({name}, recording)
    assert refits_for({name}) == (sum(fits) > 0 and name != "tuned")


# ---- what fails ----


def broken(error):
    def record(*_):
        raise error

    return record


def break_recorder(monkeypatch, name, error):
    monkeypatch.setitem(RECORDERS, name, replace(RECORDERS[name], record=broken(error)))


def test_a_record_that_fails_leaves_the_reason_and_the_others(monkeypatch, together):
    error = ValueError("no folds today")
    break_recorder(monkeypatch, "folds", error)
    failed = {}
    made = made_by({"folds", "bootstrap", "splits", "nested"}, failed=failed)
    assert failed == {"folds": error}
    assert "folds" not in made
    assert all(same(made[name], together[name]) for name in ("bootstrap", "splits", "nested"))
    with pytest.raises(ValueError, match="no folds today"):
        made_by({"folds", "bootstrap"})


def test_what_comes_after_a_record_fails_with_it(monkeypatch, together):
    error = ValueError("no draws today")
    break_recorder(monkeypatch, "usable_draws", error)
    failed = {}
    after = {"bootstrap", "inner", "removed_cases"}
    made = made_by({*after, "folds"}, failed=failed)
    assert failed == dict.fromkeys(after, error)
    assert not after & made.keys()
    assert same(made["folds"], together["folds"])


@pytest.mark.parametrize("error", [SingleClassError("one class"), UserWarning("w"), KeyboardInterrupt()])
def test_what_ends_the_run_is_no_reason(monkeypatch, error):
    break_recorder(monkeypatch, "folds", error)
    with pytest.raises(type(error)):
        made_by({"folds"}, failed={})


# ---- the caller's splits ----


@pytest.mark.parametrize(
    ("cv", "filled"),
    [
        (KFold(4, shuffle=True), {"splits", "folds", "repeated_folds", "stratified_folds"}),
        (
            RepeatedKFold(n_splits=2, n_repeats=5),
            {"splits", "repeated_folds", "stratified_folds", "halvings"},
        ),
        (ShuffleSplit(4, test_size=5), {"splits"}),
    ],
    ids=lambda one: type(one).__name__,
)
def test_splits_fill_what_they_can_and_nothing_that_is_not_asked_for(cv, filled, together):
    for needs in (FROM_SPLITS, FROM_SPLITS - {"splits"}, {"bootstrap", "leave_one_out"}):
        recording = recording_of(needs=needs, cv=cv)
        assert recording.fills == filled
        made = make_records(needs, recording)
        assert made.keys() == needs
        for name in needs:
            assert same(made[name], together[name]) == (name not in filled), name
        drawn = needs - filled
        splits = len(recording.splits.test) if needs & filled else 0
        assert count_fits_of(needs, recording) == splits + count_fits_of(drawn, recording_of())


def test_rows_in_groups_get_folds_of_whole_groups():
    groups = np.repeat(np.arange(6), 4)
    made = made_by({"folds"}, groups=groups)["folds"]
    folds = {group: set(made.fold[groups == group].tolist()) for group in range(6)}
    assert all(len(one) == 1 for one in folds.values())
    assert recording_of(needs={"bootstrap"}, groups=groups).splits is None


def test_splits_that_cannot_be_fitted_are_the_reason_for_all_that_they_fill(monkeypatch, together):
    error = ValueError("cannot be fitted")
    break_recorder(monkeypatch, "cv", error)
    failed = {}
    made = made_by({"splits", "folds", "leave_one_out"}, failed=failed, cv=3)
    assert failed == {"splits": error, "folds": error}
    assert same(made["leave_one_out"], together["leave_one_out"])


def test_a_splitter_counts_for_the_variances_of_other_designs():
    sizes = recording_of(needs={"splits"}, cv=KFold(6)).sizes
    assert (sizes.n_splits, sizes.test_fraction) == (6, pytest.approx(1 / 6))
    assert recording_of().sizes == SIZES


def test_clones_and_batches_record_the_same():
    class Looped(LeastSquaresClassifier):
        """The package does not know that its refits can be batched."""

    needs = {"folds", "splits", "bootstrap", "nested"}
    one, other = made_by(needs), made_by(needs, Looped().fit(X, Y), policy="fit")
    assert all(same(one[name], other[name]) for name in needs - {"bootstrap"})
    np.testing.assert_array_equal(one["bootstrap"].losses, other["bootstrap"].losses)
