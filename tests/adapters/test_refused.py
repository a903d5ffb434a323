"""What is not supported: with which reason, and which way out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from cudbound import Bound, LeastSquaresClassifier, cud_interval
from cudbound.adapters import REFUSALS, to_additive_model
from cudbound.basis.exceptions import NoMinimizerError, UnsupportedEstimatorError

TIGHT = {"tol": 1e-8, "max_iter": 100_000}


def _data(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "ill", "healthy")


UNSUPPORTED = {
    "perceptron": (Perceptron(), r"^Perceptron has no convex loss.*Fit LinearSVC"),
    "discriminant": (
        LinearDiscriminantAnalysis(),
        "^LinearDisc.*a different intercept.*Fit LeastSquaresClassifier",
    ),
    "quadratic": (
        QuadraticDiscriminantAnalysis(),
        "^QuadraticDiscriminantAnalysis derives its rule from estimated",
    ),
    "adaboost": (
        AdaBoostClassifier(n_estimators=5),
        r"^AdaBoost.*does not revise.*basis=stump_basis\(model\)\)",
    ),
    "boosting": (
        GradientBoostingClassifier(n_estimators=5),
        r"^GradientBoosting.*Refit on its stumps.*max_depth=1",
    ),
    "histograms": (
        HistGradientBoostingClassifier(max_iter=5),
        r"^Hist.*Fit GradientBoostingClassifier\(max_depth=1\)",
    ),
    "calibrated": (
        CalibratedClassifierCV(LogisticRegression(), ensemble=False),
        "^CalibratedClassifierCV averages.*Pass the inner classifier",
    ),
    "forest": (RandomForestClassifier(n_estimators=3), "^RandomForestClassifier is not a known additive"),
    "kernel": (SVC(), r"^SVC\(kernel='rbf'\) has no fixed basis.*Nystroem"),
    "sgd loss": (
        SGDClassifier("perceptron"),
        r"^SGDClassifier\(loss='perceptron'\) is not.*'modified_huber'",
    ),
    "positive": (RidgeClassifier(positive=True), r"^RidgeClassifier\(positive=True\) constrains"),
    "search": (
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, refit=False),
        r"^GridSearchCV\(refit=False\) has no fitted classifier\. Fit it with refit=True",
    ),
    "inside a pipeline": (
        make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
        "^LinearDiscriminantAnalysis derives its rule",
    ),
    "inside a search": (
        GridSearchCV(RandomForestClassifier(n_estimators=3), {"max_depth": [1, 2]}, cv=2),
        "^RandomForestClassifier is not a known",
    ),
    "threshold without intercept": (
        FixedThresholdClassifier(LogisticRegression(fit_intercept=False), threshold=0.3),
        "needs a classifier with a fitted, unpenalized intercept",
    ),
    "threshold with a penalized intercept": (
        FixedThresholdClassifier(LinearSVC(), threshold=0.3, response_method="decision_function"),
        r"unpenalized intercept: then it is an offset.*SVC\(kernel='linear'\) instead of LinearSVC",
    ),
    "threshold on another probability": (
        FixedThresholdClassifier(SGDClassifier("modified_huber"), threshold=0.3),
        "the loss here is huber. Fit it with response_method='decision_function'",
    ),
    "threshold of 1": (
        FixedThresholdClassifier(LogisticRegression(), threshold=1.0),
        r"with the threshold 1\.0 assigns every case to the same class",
    ),
    "tuned threshold with a scorer": (
        TunedThresholdClassifierCV(
            LogisticRegression(), scoring=make_scorer(f1_score, pos_label="ill"), cv=2, thresholds=5
        ),
        "is unknown for TunedThresholdClassifierCV with a custom scorer. Fit FixedThresholdClassifier",
    ),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_reason_and_way_out(name):
    X, y = _data()
    estimator, message = UNSUPPORTED[name]
    with pytest.raises(UnsupportedEstimatorError, match=message):
        cud_interval(estimator.fit(X, y), X, y, n_resamples=5)


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
