"""Refits on bootstrap draws that fail are left out and counted, up to a tenth of them."""

from __future__ import annotations

import numpy as np
import pytest
from direct_refits import prepare_refits
from record_kinds import KINDS, kinds
from sklearn.base import clone
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.tree import DecisionTreeClassifier
from sklearn_versions import KNOWS_RANK
from tiers import quick_first

from cudbound.basis.exceptions import FailedRefitsError
from cudbound.basis.sample import Sample
from cudbound.problem.draws import draw_counts
from cudbound.resampling import Resampling
from cudbound.resampling.make_records import RecordingInputs, make_records
from cudbound.resampling.settings import Streams

N = 20
X = np.column_stack([np.arange(N), np.random.default_rng(0).normal(size=N)])
Y = np.tile([-1.0, 1.0, 1.0, -1.0], 5)


class Fussy(DecisionTreeClassifier):
    """It cannot be fitted to as many rows as there are if one of them stands there twice."""

    def __init__(self, twice=0, error=ValueError, max_depth=2, random_state=0):
        super().__init__(max_depth=max_depth, random_state=random_state)
        self.twice, self.error = twice, error

    def fit(self, X, y):
        if len(y) == N and (X[:, 0] == self.twice).sum() > 1:
            raise self.error(f"row {self.twice} is there twice.")
        return super().fit(X, y)


def _draws(n_draws, failing, row=0):
    """Return draws of which those that are named hold a row twice; the others lack it."""
    counts = np.zeros((n_draws, N), dtype=np.int32)
    rng = np.random.default_rng(1)
    others = np.setdiff1d(np.arange(N), [row])
    for number, draw in enumerate(counts):
        twice = 2 * (number in failing)
        draw[row] = twice
        np.add.at(draw, rng.choice(others, N - twice), 1)
    return counts


def _by_hand(counts):
    """Return the losses of fits to rows that are written out."""
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    return np.array([clone(tree).fit(np.repeat(X, w, 0), np.repeat(Y, w)).predict(X) != Y for w in counts])


def _record(refits, counts, needs=frozenset({"bootstrap"}), failed=None, rows=X, labels=Y, **settings):
    recording = RecordingInputs(
        sample=Sample(rows, labels, np.unique(labels), labels),
        counts=counts,
        streams=Streams(np.random.default_rng(0)),
        given_refits=refits,
        resampling=Resampling(**{"inner": 3, **settings}),
    )
    return make_records(kinds(needs), recording, failed=failed)


def test_refits_that_fail_are_left_out_and_counted():
    failing = [4, 5, 29]
    counts = _draws(30, failing)
    needs = {"bootstrap", "inner", "removed_cases"}
    made = _record(prepare_refits(Fussy().fit(X, Y), X, Y), counts, needs)
    kept = np.delete(counts, failing, axis=0)
    np.testing.assert_array_equal(made["bootstrap"].counts, kept)
    np.testing.assert_array_equal(made["bootstrap"].losses, _by_hand(kept))
    assert made["bootstrap"].remarks == ("3 of 30 refits failed and were left out",)
    assert made["bootstrap"].n_fits == made["inner"].errors.size == 27
    # whose own refits do not fail, so that its numbers do not depend on who else reads the draws
    assert made["removed_cases"].errors.size == 30
    alone = _record(prepare_refits(Fussy().fit(X, Y), X, Y), counts, {"removed_cases"})["removed_cases"]
    np.testing.assert_array_equal(alone.errors, made["removed_cases"].errors)


@KNOWS_RANK
@pytest.mark.parametrize("n_jobs", quick_first([1, 2]))
def test_covariances_without_full_rank_are_left_out(n_jobs):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(60, 5)), np.arange(60) < 14
    clf = QuadraticDiscriminantAnalysis().fit(rows, y)
    counts = draw_counts(60, 200, rng)
    refits = prepare_refits(clf, rows, y, n_jobs=n_jobs)
    labels = np.where(y, 1.0, -1.0)
    made = _record(refits, counts, rows=rows, labels=labels, on_single_class="fit")["bootstrap"]
    # the centered rows of the smaller class span five directions only if six of them are distinct
    full = (counts[:, y] > 0).sum(axis=1) > 5
    assert 180 <= full.sum() < 200
    np.testing.assert_array_equal(made.counts, counts[full])
    assert made.remarks == (f"{200 - full.sum()} of 200 refits failed and were left out",)


@pytest.mark.parametrize(("n_draws", "n_failing", "enough"), [(30, 3, True), (30, 4, False), (29, 3, False)])
def test_a_tenth_of_the_draws_may_fail(n_draws, n_failing, enough):
    counts = _draws(n_draws, range(n_failing))
    refits = prepare_refits(Fussy().fit(X, Y), X, Y)
    failed = {}
    made = _record(refits, counts, {"bootstrap", "inner", "folds"}, failed=failed)
    assert "folds" in made
    if enough:
        assert not failed
        assert made["bootstrap"].n_fits == n_draws - n_failing
        return
    assert made.keys() == {"folds"}
    assert failed[KINDS["inner"]] is failed[KINDS["bootstrap"]]
    fact = (
        f"{n_failing} of {n_draws} refits on bootstrap draws failed, more than 10%, the first on draw 1 in "
    )
    assert failed[KINDS["bootstrap"]].fact == f"{fact}Fussy with ValueError: row 0 is there twice."
    with pytest.raises(FailedRefitsError, match=f"{n_failing} of {n_draws} refits"):
        _record(refits, counts)


@pytest.mark.parametrize("error", [KeyboardInterrupt, UserWarning])
def test_ctrl_c_and_warnings_that_are_errors_stop_the_run(error):
    refits = prepare_refits(Fussy(error=error).fit(X, Y), X, Y)
    with pytest.raises(error):
        _record(refits, _draws(30, [1]), failed={})
