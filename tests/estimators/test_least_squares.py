"""The least-squares classifier: the solution it promises, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from cudbound import LeastSquaresClassifier
from cudbound.adapters import batched_refit
from cudbound.estimators.least_squares import minimum_norm_fits


def _data(seed, n=40, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 100.0, 0.01][:p] + 5.0
    y = np.where(X[:, 0] + rng.normal(size=n) > 5.0, "ill", "healthy")
    return X, y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_equals_linear_regression_on_plus_minus_one(fit_intercept, weighted):
    X, y = _data(0)
    weight = np.random.default_rng(1).random(40) if weighted else None
    ours = LeastSquaresClassifier(fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    peer = LinearRegression(fit_intercept=fit_intercept)
    peer.fit(X, np.where(y == "ill", 1.0, -1.0), sample_weight=weight)
    assert ours.coef_.shape == (1, 3)
    assert ours.intercept_.shape == (1,)
    np.testing.assert_allclose(ours.coef_[0], peer.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_[0], peer.intercept_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.decision_function(X), peer.predict(X), atol=1e-10)


@pytest.mark.parametrize(
    "labels", [[0, 1], [-1, 1], [1, 2], ["no", "yes"], [False, True], [1.0, 2.0]], ids=repr
)
def test_any_two_labels_second_in_order_is_positive(labels):
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array(labels)[[0, 0, 1, 1]]
    clf = LeastSquaresClassifier().fit(X, y)
    assert clf.classes_.tolist() == sorted(labels)
    assert clf.predict(X).tolist() == y.tolist()
    assert (clf.decision_function(X) > 0).tolist() == [False, False, True, True]


def test_score_zero_gives_second_class_although_rounding_says_minus():
    # balanced classes at the same points: the minimizer is 0 exactly, computed scores are +-1e-17
    X = np.array([[0.1], [0.1], [0.3], [0.3], [0.7], [0.7]])
    y = np.array(["a", "b"] * 3)
    clf = LeastSquaresClassifier().fit(X, y)
    assert clf.decision_function(X).tolist() == [0.0] * 6
    assert clf.predict(X).tolist() == ["b"] * 6


def test_one_class_of_weight_gives_the_constant_classifier():
    X = np.random.default_rng(0).normal(size=(6, 9))
    clf = LeastSquaresClassifier().fit(X, [0, 0, 0, 1, 1, 1], sample_weight=[0, 0, 0, 1, 1, 1])
    assert clf.predict(X * 1000).tolist() == [1] * 6


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans(), st.booleans())
@example(1405, 6, False, True)  # more columns than rows, and draws of fewer rows than that
def test_fits_satisfy_the_normal_equations(seed, p, fit_intercept, integers):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    X = rng.integers(-1, 2, size=(n, p)).astype(float) if integers else rng.normal(size=(n, p))
    y = rng.choice([-1.0, 1.0], size=n)
    weights = rng.integers(0, 3, size=(5, n)) + np.eye(n)[rng.integers(n, size=5)]
    coef, intercept = minimum_norm_fits(X, y, weights, fit_intercept=fit_intercept)
    for w, b, b0 in zip(weights, coef, intercept, strict=True):
        residual = w * (y - X @ b - b0)
        size = max(1.0, abs(b).max())
        np.testing.assert_allclose(X.T @ residual, 0.0, atol=1e-9 * size)
        if fit_intercept:
            assert abs(residual.sum()) < 1e-9 * size
        drawn = X[w > 0] - (np.average(X, axis=0, weights=w) if fit_intercept else 0.0)
        # the coefficients lie in the row space: nothing of them is lost by projecting on it
        np.testing.assert_allclose(np.linalg.pinv(drawn, rcond=1e-10) @ (drawn @ b), b, atol=1e-8 * size)


def test_batched_refits_do_not_depend_on_the_batch():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], size=20)
    weights = rng.multinomial(20, np.full(20, 0.05), size=50).astype(float)
    refit = batched_refit(LeastSquaresClassifier().fit(X, y), X, y)
    one_by_one = np.concatenate([refit(weights[b : b + 1])[0] for b in range(50)])
    np.testing.assert_array_equal(refit(weights)[0], one_by_one)
    assert refit(weights[:0])[0].shape == (0, 20)


def test_one_class_in_a_batch_is_the_constant_classifier():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(15, 4))
    y = np.where(np.arange(15) < 5, 1.0, -1.0)
    weights = np.array([y > 0, y < 0], dtype=float)
    refit = batched_refit(LeastSquaresClassifier().fit(X, y), X, y)
    np.testing.assert_array_equal(refit(weights)[0], [y < 0, y > 0])
