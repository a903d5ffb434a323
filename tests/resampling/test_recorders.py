"""The registry of recorders: what has one, what comes first, what fails alone, and what the caller's splits fill."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from contract_cases import N_INNER, SIZES
from data import fitted_sample
from record_kinds import KINDS, kinds
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold

from cudbound.adapters import to_additive_model
from cudbound.basis.record_kind import RecordKind
from cudbound.basis.sample import Sample
from cudbound.problem.draws import draw_counts
from cudbound.resampling.bootstrap import BOOTSTRAP, INNER, USABLE_DRAWS
from cudbound.resampling.make_records import (
    RecordingInputs,
    count_fits_of,
    given_records,
    in_order,
    make_records,
    refits_for,
)
from cudbound.resampling.refits import prepare_refits
from cudbound.resampling.settings import STREAMS, spawn_streams

N_DRAWS = 12
CLF, X, Y = fitted_sample(24, seed=4)
SEARCH = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 10.0]}, cv=KFold(3, shuffle=True)).fit(X, Y)
OF_CALL = [name for name, kind in KINDS.items() if (kind.refit or kind.record) and kind.per == "call"]


def recording_of(estimator=CLF, needs=frozenset(), *, groups=None, cv=None, policy="fit", **further):
    """Return a recording with streams of their own, so that one call takes nothing from another."""
    rng = np.random.default_rng(5)
    counts = draw_counts(len(Y), N_DRAWS, rng)
    refits = prepare_refits(estimator, X, Y)
    return RecordingInputs.of(
        Sample.of(estimator, X, Y, groups),
        frozenset(KINDS.get(need, need) for need in needs),
        spawn_streams(rng),
        replace(SIZES, inner=N_INNER, cv=cv, on_single_class=policy),
        counts=counts,
        estimator=estimator,
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
    assert STREAMS[19:] == ("own_intervals", "half_folds")
    assert len(set(STREAMS)) == len(STREAMS)
    # a stream more moves none of the others
    rngs, fewer = spawn_streams(np.random.default_rng(1)), np.random.default_rng(1).spawn(19)
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
    return made_by(set(OF_CALL) - {"tuned"})


@pytest.mark.parametrize("name", [name for name in OF_CALL if name != "tuned"])
def test_a_record_does_not_depend_on_the_others(name, together):
    assert same(made_by({name})[name], together[name])


@pytest.mark.parametrize("name", OF_CALL)
def test_the_fits_are_counted_before_they_are_made(name):
    fits = []
    estimator = SEARCH if name == "tuned" else CLF
    recording = recording_of(estimator, {name}, advance=fits.append)
    needs = kinds({name})
    make_records(needs, recording, given_records(recording))
    assert sum(fits) == sum(count_fits_of(needs, recording).values())
    assert refits_for(needs) == (sum(fits) > 0 and name != "tuned")


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
