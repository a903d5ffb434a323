"""Leave-one-out of least squares from one fit: against fits without the row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from cudbound.estimators.weighted_least_squares import (
    LeastSquaresRefit,
    leave_one_out_scores,
    minimum_norm_fits,
)


def _one_by_one(X, y, fit_intercept):
    rows = range(len(y))
    return np.array(
        [
            LinearRegression(fit_intercept=fit_intercept).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X)
            for i in rows
        ]
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 25), st.integers(1, 8), st.booleans(), st.booleans())
def test_scores_are_those_of_fits_without_the_row(seed, n, p, fit_intercept, integers):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, p)).astype(float) if integers else rng.normal(size=(n, p))
    y = rng.choice([-1.0, 1.0], n)
    scores = leave_one_out_scores(X, y, fit_intercept=fit_intercept)
    if n > p + 2 and not integers:
        np.testing.assert_allclose(scores, _one_by_one(X, y, fit_intercept), atol=1e-7)
    # also where the fit without the row is not unique
    coef, intercept = minimum_norm_fits(X, y, 1.0 - np.eye(n), fit_intercept=fit_intercept)
    np.testing.assert_allclose(scores, coef @ X.T + intercept[:, None], atol=1e-7)


def test_row_of_leverage_one_is_fitted_without_it():
    # only row 0 has the second feature; without it the feature gets no weight
    X = np.array([[0.0, 3.0], [1.0, 0.0], [2.0, 0.0], [4.0, 0.0]])
    y = np.array([1.0, -1.0, 1.0, 1.0])
    scores = leave_one_out_scores(X, y, fit_intercept=True)
    np.testing.assert_allclose(scores, _one_by_one(X, y, True), atol=1e-12)
    np.testing.assert_allclose(scores[0, 0], np.polyval(np.polyfit([1, 2, 4], [-1, 1, 1], 1), 0.0))


def test_one_row_of_a_class_left_out_gives_the_constant_classifier():
    X = np.random.default_rng(0).normal(size=(8, 2))
    y = np.where(np.arange(8) == 3, 1.0, -1.0)
    np.testing.assert_allclose(leave_one_out_scores(X, y, fit_intercept=True)[3], -1.0)


@pytest.mark.parametrize("p", [2, 12, 30])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_refits_that_leave_one_out_agree_with_the_batch(p, fit_intercept, monkeypatch):
    rng = np.random.default_rng(p)
    X, y = rng.normal(size=(24, p)), rng.choice([-1.0, 1.0], 24)
    refit = LeastSquaresRefit(X, y, fit_intercept=fit_intercept)
    weights = 1.0 - np.eye(24)
    quick = refit(weights)
    monkeypatch.setattr(
        "cudbound.estimators.weighted_least_squares.leave_one_out_scores", None
    )  # the batch does without it
    by_halves = np.concatenate([refit(weights[:12]), refit(weights[12:])])
    np.testing.assert_array_equal(quick, by_halves)


@pytest.mark.parametrize("change", ["twice", "other row", "order"])
def test_weights_that_only_look_like_leave_one_out_are_fitted_as_they_are(change, monkeypatch):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(10, 2)), rng.choice([-1.0, 1.0], 10)
    weights = 1.0 - np.eye(10)
    if change == "twice":  # sums and diagonal are those of leave-one-out
        weights[4, 5], weights[4, 6] = 2.0, 0.0
    elif change == "other row":
        weights[4, 4], weights[4, 5] = 1.0, 0.0
    else:
        weights = weights[::-1].copy()
    refit = LeastSquaresRefit(X, y, fit_intercept=True)
    monkeypatch.setattr("cudbound.estimators.weighted_least_squares.leave_one_out_scores", None)
    coef, intercept = minimum_norm_fits(X, y, weights, fit_intercept=True)
    expected = (coef @ X.T + intercept[:, None] >= 0.0) != (y > 0.0)
    np.testing.assert_array_equal(refit(weights), expected)
