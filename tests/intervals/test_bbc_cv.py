"""Bootstrap bias-corrected cross-validation: worked numbers, plain Python, and fitted searches."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from data import sample
from shared_files import FURTHER_EXAMPLES, shared_vectors
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, RepeatedKFold
from sklearn.tree import DecisionTreeClassifier

from cudbound import compare_intervals, from_records
from cudbound.intervals import METHODS
from cudbound.intervals.bbc_cv import TunedLosses
from cudbound.problem.draws import draw_counts

VECTORS = {
    name: vector for name, vector in shared_vectors(FURTHER_EXAMPLES).items() if name.startswith("bbc")
}


@pytest.mark.parametrize("name", VECTORS)
def test_the_worked_examples(name):
    inputs, value, tol = VECTORS[name]["inputs"], VECTORS[name]["value"], VECTORS[name]["tol"]
    n = len(inputs["losses"])
    counts = np.array([np.bincount(drawn, minlength=n) for drawn in inputs["indices"]])
    tuned = TunedLosses(np.array(inputs["losses"]), counts)
    assert tuned.chosen.tolist() == value["chosen"]
    row = from_records(tuned, "bbc-cv", confidence_level=inputs["confidence_level"])
    assert (row.estimate, row.low, row.high) == pytest.approx(
        (value["estimate"], value["low"], value["high"]), abs=tol
    )


def data(n=40):
    return sample(n, 3, seed=3)


def losses_by_hand(search, X, y, folds):
    columns = []
    for parameters in search.cv_results_["params"]:
        wrong = np.zeros(len(y))
        for train, test in folds:
            clf = search.estimator.__class__(**{**search.estimator.get_params(), **parameters})
            wrong[test] += clf.fit(X[train], y[train]).predict(X[test]) != y[test]
        columns.append(wrong * len(y) / sum(len(test) for _, test in folds))
    return np.column_stack(columns)


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(RidgeClassifier(), {"alpha": [0.01, 1.0, 100.0]}, cv=KFold(4)),
        GridSearchCV(
            DecisionTreeClassifier(random_state=0),
            {"max_depth": [1, 3]},
            cv=RepeatedKFold(n_splits=4, n_repeats=2, random_state=0),
        ),
        RandomizedSearchCV(
            LogisticRegression(), {"C": [0.01, 0.1, 1.0, 10.0]}, n_iter=3, cv=KFold(3), random_state=0
        ),
    ],
    ids=["batched", "repeated", "randomized"],
)
def test_a_fitted_search_is_refitted_on_its_folds(search):
    X, y = data()
    search.fit(X, y)
    table = compare_intervals(search, X, y, methods="tuned", n_resamples=60, rng=5)
    counts = draw_counts(len(y), 60, np.random.default_rng(5))
    folds = list(search.cv.split(X, y))
    tuned = TunedLosses(losses_by_hand(search, X, y, folds), counts, len(folds))
    row = from_records(tuned, "bbc-cv")
    found = table["bbc-cv"]
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (row.estimate, row.low, row.high), abs=1e-12
    )
    assert found.n_fits == 1 + len(folds) * len(search.cv_results_["params"])


def test_draws_that_hold_all_rows_are_dropped():
    counts = np.array([[1, 1, 1], [2, 1, 0], [0, 1, 2]])
    row = from_records(TunedLosses(np.array([[0, 1], [1, 0], [0, 1]]), counts), "bbc-cv")
    assert "1 draws that contained all rows dropped" in row.remarks
    none = from_records(TunedLosses(np.array([[0, 1], [1, 0]]), np.ones((2, 2), dtype=int)), "bbc-cv")
    assert "every draw contained all rows" in none.degenerate
    assert METHODS["bbc-cv"].estimand.kind == "rule"


def test_configurations_that_cannot_be_fitted_are_left_out():
    X, y = data()
    grid = {"max_depth": [1, 3], "max_features": [1, -5]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of fits that failed
        search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=3).fit(X, y)
    row = compare_intervals(search, X, y, methods="tuned", n_resamples=10, rng=0).rows[0]
    assert "2 configurations that could not be fitted left out" in row.remarks
    assert row.n_fits == 1 + 3 * 2
