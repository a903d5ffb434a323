"""Estimators written as plain arrays: what comes out, and what is refused with which words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from cudbound import LeastSquaresClassifier
from cudbound.adapters import to_additive_model
from cudbound.basis.exceptions import NotMinimizerError


def _data(seed=0, n=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "ill", "healthy")


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_least_squares_classifier_as_arrays(fit_intercept):
    X, y = _data()
    clf = LeastSquaresClassifier(fit_intercept).fit(X, y)
    model = to_additive_model(clf, X, y)
    expected = np.column_stack([np.ones(30), X]) if fit_intercept else X
    np.testing.assert_array_equal(model.design, expected)
    assert model.design.flags.c_contiguous
    np.testing.assert_array_equal(model.labels, np.where(y == "ill", 1.0, -1.0))
    np.testing.assert_allclose(model.design @ model.coef, clf.decision_function(X), atol=1e-12)
    assert model.loss.name == "squared"
    assert model.classes.tolist() == ["healthy", "ill"]
    assert model.training_error == pytest.approx(1 - clf.score(X, y), abs=1e-12)


def test_pipeline_uses_its_fitted_transformers_as_basis():
    X, y = _data()
    pipe = make_pipeline(
        StandardScaler(), PCA(2), PolynomialFeatures(2, include_bias=False), LeastSquaresClassifier()
    )
    model = to_additive_model(pipe.fit(X, y), X, y)
    np.testing.assert_allclose(model.design[:, 1:], pipe[:-1].transform(X))
    np.testing.assert_allclose(model.design @ model.coef, pipe.decision_function(X), atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_training_error_is_that_of_the_classifier_also_at_ties(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(12, 2)).astype(float)
    y = np.array([0, 0, 1, 1, *rng.integers(0, 2, size=8)])
    clf = LeastSquaresClassifier().fit(X, y)
    assert to_additive_model(clf, X, y).training_error == pytest.approx(1 - clf.score(X, y), abs=1e-12)


def test_other_training_data_or_weights_are_noticed():
    X, y = _data()
    clf = LeastSquaresClassifier().fit(X, y)
    with pytest.raises(NotMinimizerError, match="do not minimize the mean squared loss"):
        to_additive_model(clf, X[:-1], y[:-1])
    weighted = LeastSquaresClassifier().fit(X, y, sample_weight=np.arange(1, 31))
    with pytest.raises(NotMinimizerError, match="fitted to other rows or with sample weights"):
        to_additive_model(weighted, X, y)


def test_weights_of_classes_are_part_of_the_loss_and_other_parameters_are_noticed():
    X, y = _data()
    clf = LogisticRegression(class_weight={"ill": 4.0}, C=0.2).fit(X, y)
    model = to_additive_model(clf, X, y)
    assert set(model.sample_weight[y == "ill"]) == {4.0}
    assert set(model.sample_weight[y == "healthy"]) == {1.0}
    clf.set_params(class_weight=None)
    with pytest.raises(NotMinimizerError, match="do not minimize the mean logistic loss"):
        to_additive_model(clf, X, y)
    clf.set_params(class_weight={"ill": 4.0}, C=1.0)
    with pytest.raises(NotMinimizerError, match="do not minimize the mean logistic loss"):
        to_additive_model(clf, X, y)
