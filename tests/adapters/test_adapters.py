"""Estimators written as plain arrays: what comes out, and what is refused with which words."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from cudbound import (
    ConvexLossClassifier,
    LeastSquaresClassifier,
    compare_intervals,
    cud_interval,
    performance_interval,
)
from cudbound.adapters import to_additive_model
from cudbound.basis.exceptions import NotMinimizerError

# ---- estimators written as plain arrays: what comes out, and what is refused with which words ----


def _data(seed=0, n=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "ill", "healthy")


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


@pytest.mark.parametrize("classifier", [LogisticRegression, LinearSVC, RidgeClassifier])
def test_balanced_classes_of_weighted_rows_are_those_of_the_classifier(classifier):
    X, y = _data()
    weights = np.where(y == "ill", 3.0, np.linspace(0.5, 1.5, y.size))
    clf = classifier(class_weight="balanced", tol=1e-10).fit(X, y, sample_weight=weights)
    model = to_additive_model(clf, X, y, sample_weight=weights)
    again = classifier(tol=1e-10).fit(X, y, sample_weight=model.sample_weight)
    assert again.coef_ == pytest.approx(clf.coef_, abs=1e-5)


@pytest.mark.parametrize("size", [1.0, 2.7, 40.0])
@pytest.mark.parametrize("classifier", [LeastSquaresClassifier(), ConvexLossClassifier("squared")])
def test_only_the_classifier_that_scales_its_weights_has_scaled_ones_also_without_a_penalty(classifier, size):
    X, y = _data()
    weights = size * np.random.default_rng(1).uniform(0.5, 3.5, size=y.size)
    model = to_additive_model(classifier.fit(X, y, sample_weight=weights), X, y, sample_weight=weights)
    scaled = weights / weights.mean() if isinstance(classifier, ConvexLossClassifier) else weights
    assert model.sample_weight == pytest.approx(scaled, rel=1e-12)


# ---- results of statsmodels are refused with the classifier of scikit-learn that has the same coefficients ----


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)


@pytest.mark.parametrize("entry", [performance_interval, cud_interval, compare_intervals])
def test_a_result_that_is_passed_as_it_is_gets_a_way_on(entry):
    result = sm.Logit(Y, sm.add_constant(X)).fit(disp=0)
    with pytest.raises(TypeError, match=r"of statsmodels is a result.*LogisticRegression\(C=np\.inf\)"):
        entry(result, X, Y)
    classifier = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(classifier.coef_[0], result.params[1:], rtol=1e-6)
