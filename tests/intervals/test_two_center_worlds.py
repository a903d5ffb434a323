"""Worlds in which intervals from bootstrap refits alone are too short or too long, a few sets of each."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, performance_interval
from cudbound.basis.proportions import inverted_binomial_interval
from cudbound.study.populations.worlds import Binary, Correlated, Gaussians, Noise

SELECTION = make_pipeline(SelectKBest(f_classif, k=4), LeastSquaresClassifier())


def rows_of(classifier, world, n, n_sets, n_resamples):
    """Return the true error and the interval of each training set; none of it depends on the machine's speed."""
    found = []
    for seed in range(n_sets):
        rng = np.random.default_rng([seed, n])
        drawn = world.draw(n, rng)
        fitted = clone(classifier).fit(drawn.X, drawn.y)
        with warnings.catch_warnings(action="ignore"):
            row = performance_interval(fitted, drawn.X, drawn.y, n_resamples=n_resamples, rng=seed)
        found.append((drawn.true_error(fitted).value, row))
    return found


def coverage(rows):
    return float(np.mean([row.row.low <= truth <= row.row.high for truth, row in rows]))


def relative_width(rows, n):
    """Return the mean width over that of an interval from n new cases with the mean true error."""
    error = np.mean([truth for truth, _ in rows])
    new_cases = inverted_binomial_interval(error * n, n, 0.95).width
    return float(np.mean([row.row.width for _, row in rows])) / new_cases


@pytest.mark.parametrize(
    ("classifier", "world", "n", "n_sets"),
    [
        pytest.param(SELECTION, Noise(n_features=200), 40, 30, marks=pytest.mark.slow),
        (LogisticRegression(), Gaussians(n_features=60), 100, 20),
        (DecisionTreeClassifier(random_state=0), Gaussians(), 100, 25),
        pytest.param(KNeighborsClassifier(1), Gaussians(), 100, 25, marks=pytest.mark.slow),
        pytest.param(LeastSquaresClassifier(), Correlated(n_features=46), 50, 40, marks=pytest.mark.slow),
        pytest.param(LeastSquaresClassifier(), Correlated(n_features=92), 100, 30, marks=pytest.mark.slow),
    ],
    ids=["selection", "logistic", "tree", "neighbor", "46 of 50", "92 of 100"],
)
def test_classifiers_that_overfit_are_covered_by_intervals_that_say_something(classifier, world, n, n_sets):
    rows = rows_of(classifier, world, n, n_sets, 40)
    assert coverage(rows) >= 0.92
    assert relative_width(rows, n) <= 1.5


@pytest.mark.slow
def test_one_binary_predictor_is_covered():
    """An odds ratio of 5 at 30 rows."""
    rows = rows_of(LeastSquaresClassifier(), Binary(n_features=1, n_signal=1, signal=1.0), 30, 250, 50)
    assert coverage(rows) >= 0.93
    assert relative_width(rows, 30) <= 1.2
