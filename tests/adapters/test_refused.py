"""What is not supported: with which reason, and which way out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
)

from cudbound import Bound, LeastSquaresClassifier, cud_interval
from cudbound.adapters import REFUSALS, to_additive_model
from cudbound.basis.exceptions import NoMinimizerError, UnsupportedEstimatorError

TIGHT = {"tol": 1e-8, "max_iter": 100_000}


def _data(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "ill", "healthy")


def test_refusals_hold_for_subclasses_but_not_for_namesakes():
    X, y = _data()

    class Mine(Perceptron):
        pass

    class Perceptron2(LeastSquaresClassifier):
        pass

    Perceptron2.__name__ = "Perceptron"
    with pytest.raises(UnsupportedEstimatorError, match=r"^Mine has no convex loss"):
        to_additive_model(Mine().fit(X, y), X, y)
    assert to_additive_model(Perceptron2().fit(X, y), X, y).loss.name == "squared"
    assert all(refusal.reason and refusal.remedy.endswith(".") for refusal in REFUSALS)


def test_separable_data_without_a_penalty():
    X = np.array([[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]])
    y = np.repeat(["healthy", "ill"], 3)
    clf = LogisticRegression(C=np.inf).fit(X, y)
    for polish in (False, True):
        with pytest.raises(
            NoMinimizerError, match=r"logistic loss without a penalty has no minimizer.*C=1\.0"
        ):
            cud_interval(clf, X, y, bound=Bound(polish=polish))
    assert cud_interval(LogisticRegression(**TIGHT).fit(X, y), X, y, n_resamples=5, rng=0).certified


def test_a_subclass_that_fits_otherwise_is_noticed_by_the_residual():
    X, y = _data()

    class Doubled(LogisticRegression):
        def fit(self, X, y):
            super().fit(X, y)
            self.coef_ = 2.0 * self.coef_
            return self

    with pytest.raises(ValueError, match="do not minimize the mean logistic loss"):
        to_additive_model(Doubled(**TIGHT).fit(X, y), X, y)
