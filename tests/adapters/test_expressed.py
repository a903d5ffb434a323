"""Classifiers without a CUD bound: which words the table has for it, and which error."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn_versions import sparse_logistic

from cudbound import LeastSquaresClassifier
from cudbound.adapters import to_additive_model
from cudbound.adapters.model import Model, ModelUse, reason_of
from cudbound.basis.exceptions import (
    NoMinimizerError,
    NotMinimizerError,
    NotMinimizerWarning,
    UnsupportedEstimatorError,
    UnsupportedProblemError,
)
from cudbound.basis.sample import Sample

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
LASSO = sparse_logistic(1.0, solver="liblinear", tol=1e-8)
L1_SUPPORT = LinearSVC(penalty="l1", dual=False, tol=1e-8, random_state=0)
SEPARATING = LogisticRegression(C=np.inf)

REASONS = {
    "forest": (
        RandomForestClassifier(3),
        UnsupportedEstimatorError,
        "no linear form known for RandomForestCl",
    ),
    "kernel": (SVC(), UnsupportedEstimatorError, "no linear form known for SVC"),
    "discriminant": (
        LinearDiscriminantAnalysis(),
        UnsupportedEstimatorError,
        "no convex loss known for LinearD",
    ),
    "search": (
        GridSearchCV(RandomForestClassifier(3), {"max_depth": [1, 2]}, cv=2),
        UnsupportedEstimatorError,
        "no linear form known for RandomForestClassifier",
    ),
    "lasso": (
        L1_SUPPORT,
        UnsupportedProblemError,
        "squared_hinge loss with an l1 penalty needs the solver cvxpy",
    ),
    "descent": (
        make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
        NotMinimizerError,
        "the fit does not minimize its loss (residual ",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_no_bound_has_a_reason_and_the_error_of_the_bound_itself(name):
    estimator, error, words = REASONS[name]
    estimator.fit(X, Y)
    with pytest.raises(error) as raised:
        to_additive_model(estimator, X, Y, native=True)
    assert type(raised.value) is error
    assert reason_of(raised.value, estimator).startswith(words)
    with warnings.catch_warnings(record=True, action="always") as caught:
        found = Model.of(estimator, Sample.of(estimator, X, Y), ModelUse(bound=True))
    assert found.additive is None
    assert found.why_none.startswith(
        words if name != "search" else "the bound treats the choice of GridSearchCV"
    )
    assert any(one.category is NotMinimizerWarning for one in caught) == (error is NotMinimizerError)
    with pytest.raises(error, match=re.escape(str(raised.value))):
        Model.of(estimator, Sample.of(estimator, X, Y), ModelUse(bound=True, named=True))


def test_separable_data():
    apart = np.where(Y[:, None] == 1, np.abs(X) + 1.0, -np.abs(X) - 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = SEPARATING.fit(apart, Y)
    with pytest.raises(NoMinimizerError) as raised:
        to_additive_model(fitted, apart, Y)
    assert reason_of(raised.value, fitted) == "its loss has no minimizer on separable data"


def test_what_can_be_expressed_is():
    fitted = LeastSquaresClassifier().fit(X, Y)
    found = Model.of(fitted, Sample.of(fitted, X, Y), ModelUse(bound=True, named=True))
    assert found.why_none == ""
    np.testing.assert_array_equal(found.additive.design, to_additive_model(fitted, X, Y).design)

    descent = make_pipeline(StandardScaler(), SGDClassifier(random_state=0)).fit(X, Y)
    with pytest.raises(NotMinimizerError) as raised:
        to_additive_model(descent, X, Y)
    assert to_additive_model(descent, X, Y, polish=True).polish.residual == pytest.approx(
        raised.value.residual
    )
    assert to_additive_model(LASSO.fit(X, Y), X, Y).l1_penalty is not None
