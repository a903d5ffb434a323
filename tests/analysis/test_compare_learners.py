"""Comparing two classifiers: reproducible, on matched splits, against plain code; and refusals."""

from __future__ import annotations

import pytest
from contract_cases import SIZES, exactly, sample
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from cudbound import LeastSquaresClassifier, compare_learners

X, Y = sample(30)
NEW_X, NEW_Y = sample(30, seed=5)
A, B = LeastSquaresClassifier(), GaussianNB()
ALL = SIZES


def test_a_learner_that_was_fitted_elsewhere_is_taken_as_it_is_on_new_cases():
    elsewhere = LeastSquaresClassifier().fit(*sample(50, seed=1))
    taken = compare_learners([elsewhere, B], X, Y, methods="mcnemar", new_cases=(NEW_X, NEW_Y), rng=0)
    nb = GaussianNB().fit(X, Y)
    assert taken.estimate == pytest.approx(nb.score(NEW_X, NEW_Y) - elsewhere.score(NEW_X, NEW_Y), abs=1e-12)


def test_unseeded_learners_follow_rng():
    forest = RandomForestClassifier(n_estimators=1, max_depth=3)
    arguments = {"methods": ["mcnemar", "k-fold-t", "independent-test-sets"], "resampling": ALL}

    def rows(rng, **more):
        return exactly(compare_learners([forest, B], X, Y, rng=rng, **arguments, **more))

    assert rows(0) == rows(0)
    assert rows(0) != rows(1)
    # the fit to all rows, which meets the new cases, follows it too
    new = sample(300, seed=6)
    found = [
        compare_learners([forest, B], X, Y, methods="mcnemar", new_cases=new, rng=rng).estimate
        for rng in (0, 0, 1, 2, 3, 4)
    ]
    assert found[0] == found[1]
    assert len(set(found)) > 1


def test_each_refit_has_a_seed_of_its_own_also_where_the_learner_was_not_fitted():
    """Two forests of one random tree differ between folds in both, or all folds would share one seed."""
    forest = RandomForestClassifier(n_estimators=1, max_depth=2, bootstrap=False, max_features=1)
    rows = [
        compare_learners([each, B], X, Y, methods=["nested-cv", "conservative-z"], resampling=ALL, rng=0)
        for each in (forest, clone(forest).fit(X, Y))
    ]
    assert exactly(rows[0]) == exactly(rows[1])
