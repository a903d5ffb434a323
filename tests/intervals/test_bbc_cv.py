"""Bootstrap bias-corrected cross-validation of rows and of folds: worked numbers, plain Python, and fitted searches."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from data import sample
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_files import FURTHER_EXAMPLES, shared_vectors
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, RepeatedKFold
from sklearn.tree import DecisionTreeClassifier

from cudbound import compare_intervals, from_records
from cudbound.intervals import METHODS
from cudbound.intervals.bootstrap_cv import TunedFolds, TunedLosses
from cudbound.problem.draws import draw_counts
from cudbound.resampling.settings import Streams

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
    assert found.n_fits == 1 + (len(folds) + 1) * len(search.cv_results_["params"])


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
    assert row.n_fits == 1 + (3 + 1) * 2


class CountedTree(DecisionTreeClassifier):
    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        CountedTree.n_fits += 1
        return super().fit(X, y, sample_weight=sample_weight)


def test_every_fit_is_counted():
    X, y = data()
    search = GridSearchCV(CountedTree(random_state=0), {"max_depth": [1, 3]}, cv=KFold(4)).fit(X, y)
    CountedTree.n_fits = 0
    row = compare_intervals(search, X, y, methods=["bbc-cv"], n_resamples=10, rng=0).rows[0]
    assert row.n_fits == 1 + CountedTree.n_fits  # the fit of the search is the caller's


# ---- draws of the folds ----


def limits_by_hand(losses, drawn, level):
    """Plain loops over draws of fold numbers: mean and percentiles of the loss outside the draw, as the authors'."""
    n_folds, n_configurations = len(losses), len(losses[0])
    values = []
    for folds in drawn:
        left_out = [fold for fold in range(n_folds) if fold not in folds]
        if not left_out:
            continue
        best, smallest = None, np.inf
        for configuration in range(n_configurations):
            mean = sum(losses[fold][configuration] for fold in folds) / n_folds
            if mean < smallest - 1e-12:
                best, smallest = configuration, mean
        values.append(sum(losses[fold][best] for fold in left_out) / len(left_out))
    values.sort()
    rank = [int(np.ceil(q * len(values) - 1e-9)) for q in ((1 - level) / 2, (1 + level) / 2)]
    return sum(values) / len(values), *(values[max(r, 1) - 1] for r in rank)


@pytest.mark.parametrize("splitter", [KFold(5), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)])
def test_folds_are_drawn_in_plain_loops(splitter):
    X, y = data(42)  # folds of unequal sizes
    grid = {"max_depth": [1, 2, 4]}
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, cv=splitter).fit(X, y)
    losses = []
    for train, test in splitter.split(X, y):
        fits = [
            DecisionTreeClassifier(max_depth=d, random_state=0).fit(X[train], y[train]) for d in (1, 2, 4)
        ]
        losses.append([float((fit.predict(X[test]) != y[test]).mean()) for fit in fits])
    row = compare_intervals(search, X, y, methods=["bbc-f"], n_resamples=80, rng=5).rows[0]
    rng, k = Streams(np.random.default_rng(5))["tuned_folds"], len(losses)
    counts = rng.multinomial(k, np.full(k, 1.0 / k), size=80)
    drawn = [np.repeat(np.arange(len(losses)), count).tolist() for count in counts]
    by_hand = limits_by_hand(losses, drawn, 0.95)
    recorded = from_records(TunedFolds(losses, counts), "bbc-f")
    assert (recorded.estimate, recorded.low, recorded.high) == pytest.approx(by_hand, abs=1e-12)
    assert (row.estimate, row.low, row.high) == pytest.approx(by_hand, abs=1e-12)
    assert row.n_fits == recorded.n_fits == 1 + (len(losses) + 1) * 3


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 10**6), n_folds=st.integers(2, 12), n_configurations=st.integers(1, 5))
def test_draws_of_folds_keep_the_range_and_do_not_depend_on_the_order(seed, n_folds, n_configurations):
    rng = np.random.default_rng(seed)
    losses = rng.random((n_folds, n_configurations))  # without ties
    counts = draw_counts(n_folds, 30, rng)
    row = from_records(TunedFolds(losses, counts), "bbc-f")
    folds, configurations = rng.permutation(n_folds), rng.permutation(n_configurations)
    same = from_records(TunedFolds(losses[folds][:, configurations], counts[:, folds]), "bbc-f")
    assert (row.estimate, row.low, row.high) == pytest.approx((same.estimate, same.low, same.high), abs=1e-12)
    assert losses.min() - 1e-12 <= row.low <= row.high <= losses.max() + 1e-12
    assert row.low - 1e-12 <= row.estimate <= row.high + 1e-12
    best = losses.min(axis=1)
    lower = from_records(TunedFolds(best[:, None], counts), "bbc-f")
    assert lower.low <= row.low + 1e-12  # no configuration is better than the best of each fold


def test_bbc_cv_reads_means_over_partitions():
    losses = np.array([[0.0, 1 / 3], [2 / 3, 1.0], [1 / 3, 0.0]])
    row = from_records(TunedLosses(losses, np.array([[2, 1, 0], [0, 1, 2]])), "bbc-cv")
    assert row.estimate == pytest.approx(1 / 3)


def test_draws_of_all_folds_are_dropped():
    row = from_records(TunedFolds([[0.1], [0.2]], [[1, 1], [2, 0], [0, 2]]), "bbc-f")
    assert "1 draws that contained all folds dropped" in row.remarks
    assert row.estimate == pytest.approx(0.15)
    assert (
        "every draw contained all folds"
        in from_records(TunedFolds([[0.1], [0.2]], [[1, 1]]), "bbc-f").degenerate
    )
