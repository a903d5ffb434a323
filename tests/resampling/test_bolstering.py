"""Bolstered losses: worked numbers, kernels by hand, and closed form against random draws."""

from __future__ import annotations

import math
import statistics
from functools import partial

import numpy as np
import pytest
from data import sample
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import cdist
from shared_files import shared_vectors
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier
from cudbound.point_estimates import ESTIMATORS, compute_estimate
from cudbound.point_estimates.bolstered import (
    N_DRAWS,
    BolsteredLosses,
    kernel_widths,
    linear_bolstered_losses,
    record_bolstered,
)
from cudbound.records import Records

VECTORS = shared_vectors()
UNITS = "one kernel width in all directions makes the estimate depend on the units of the features"
DRAWN = f"{N_DRAWS} random points from the kernel of each row"


_data = partial(sample, labels=("healthy", "ill"))


def _record(estimator, X, y, seed=0):
    return record_bolstered(estimator, X, y, rng=np.random.default_rng(seed))


def _estimate(name, recorded):
    return compute_estimate(ESTIMATORS[name], Records.of(bolstered=recorded)).estimate


# ---- worked numbers ----


def test_worked_semi_bolstered():
    inputs, value = VECTORS["semi_bolstered"]["inputs"], VECTORS["semi_bolstered"]["value"]
    X, y = np.array(inputs["X"]), np.array(inputs["y"])
    losses = linear_bolstered_losses(X, y, kernel_widths(X, y)[0], inputs["a"], inputs["b"])
    recorded = BolsteredLosses(losses, np.where(X @ inputs["a"] + inputs["b"] >= 0, 1.0, -1.0) != y)
    assert recorded.wrong.any()
    assert _estimate("semi-bolstered", recorded) == pytest.approx(value["value"], abs=1e-12)
    assert _estimate("bolstered", recorded) == pytest.approx(value["fully_bolstered"], abs=1e-12)


# ---- kernels ----


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 20), st.integers(1, 6), st.booleans())
def test_kernel_widths_against_all_distances(seed, n, p, with_ties):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, p)).astype(float) if with_ties else rng.normal(size=(n, p))
    y = np.where(np.arange(n) < 2, 1.0, rng.choice([-1.0, 1.0], n))
    y[2:4] = -1.0
    widths, _ = kernel_widths(X, y)
    for label in (-1.0, 1.0):
        distances = cdist(X[y == label], X[y == label])
        nearest = [min(row[j] for j in range(len(row)) if j != i) for i, row in enumerate(distances)]
        width = statistics.fmean(nearest) / stats.chi(p).median()
        assert widths[y == label] == pytest.approx(np.full(len(nearest), width), abs=1e-12)


# ---- what is recorded of a classifier ----

LINEAR = {
    "least squares": LeastSquaresClassifier(),
    "no intercept": LeastSquaresClassifier(fit_intercept=False),
    "logistic": LogisticRegression(),
    "discriminant": LinearDiscriminantAnalysis(),  # no adapter knows it
    "linear kernel": SVC(kernel="linear"),
    "gradient descent": SGDClassifier(random_state=0),
    "search": GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_classifiers_in_closed_form(name):
    """Against the share of 2,000 random points from each kernel that the classifier gets wrong."""
    X, y = _data()
    clf = LINEAR[name].fit(X, y)
    recorded = _record(clf, X, y)
    assert recorded.remarks == (UNITS,)
    np.testing.assert_array_equal(recorded.wrong, clf.predict(X) != y)
    widths = kernel_widths(X, np.where(y == "ill", 1.0, -1.0))[0]
    rng = np.random.default_rng(1)
    points = X[:, None, :] + widths[:, None, None] * rng.standard_normal((30, 2000, 2))
    shares = (clf.predict(points.reshape(-1, 2)).reshape(30, 2000) != y[:, None]).mean(axis=1)
    np.testing.assert_allclose(shares, recorded.losses, atol=5 * 0.5 / math.sqrt(2000))
    error = math.sqrt((recorded.losses * (1 - recorded.losses)).sum() / 2000) / 30
    assert shares.mean() == pytest.approx(recorded.losses.mean(), abs=5 * error)


@pytest.mark.parametrize(
    "clf",
    [
        KNeighborsClassifier(3),
        DecisionTreeClassifier(random_state=0),
        SVC(),
        FixedThresholdClassifier(LogisticRegression(), threshold=0.4, pos_label="healthy"),
    ],
    ids=str,
)
def test_other_classifiers_by_draws(clf):
    X, y = _data(seed=1)
    recorded = _record(clf.fit(X, y), X, y)
    assert recorded.remarks == (UNITS, DRAWN)
    assert recorded.n_fits == 0
    np.testing.assert_allclose(recorded.losses * N_DRAWS, np.round(recorded.losses * N_DRAWS), atol=1e-9)
    np.testing.assert_array_equal(_record(clf, X, y).losses, recorded.losses)
    assert (_record(clf, X, y, seed=1).losses != recorded.losses).any()
    # the mean over 200 other draws per point, with a point of its own for every draw
    widths = kernel_widths(X, np.where(y == "ill", 1.0, -1.0))[0]
    rng = np.random.default_rng(2)
    means = [(clf.predict(X + widths[:, None] * rng.normal(size=X.shape)) != y).mean() for _ in range(200)]
    error = math.sqrt((recorded.losses * (1 - recorded.losses)).sum()) / 30
    assert recorded.losses.mean() == pytest.approx(
        statistics.fmean(means), abs=5 * error * math.sqrt(1 / 100 + 1 / 200)
    )
