"""A classifier in words, for the notes under a table."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, RidgeClassifierCV, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from cudbound import ConvexLossClassifier, LeastSquaresClassifier
from cudbound.adapters.procedure import describe_classifier


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (
            LinearSVC(penalty="l1", C=2.0),
            "LinearSVC with a lasso penalty (C = 2, loss = squared_hinge); features not standardized",
        ),
        (
            RidgeClassifier(alpha=3, class_weight="balanced"),
            "RidgeClassifier with a ridge penalty (alpha = 3, class_weight = balanced); "
            "features not standardized",
        ),
        (
            make_pipeline(RobustScaler(), RidgeClassifierCV([2.0])),
            "RobustScaler; RidgeClassifierCV with a "
            "ridge penalty (alpha = 2), tuned by cross-validation in every fit",
        ),
        (
            SGDClassifier(penalty="elasticnet", alpha=0.01),
            "SGDClassifier with a ridge and lasso penalty (alpha = 0.01, loss = hinge); features not standardized",
        ),
        (
            ConvexLossClassifier(penalty=[0.1, 0.2]),
            "ConvexLossClassifier with a ridge penalty (penalty = one per coefficient, loss = logistic); "
            "features not standardized",
        ),
        (
            make_pipeline(make_column_transformer((StandardScaler(), [0])), LeastSquaresClassifier()),
            "StandardScaler; LeastSquaresClassifier",
        ),
        (
            GridSearchCV(make_pipeline(StandardScaler(), SVC(kernel="linear")), {"svc__C": [0.5]}, cv=2),
            "StandardScaler; SVC with a ridge penalty (C = 0.5, kernel = linear); "
            "tuning of C by 2-fold cross-validation, again in every fit",
        ),
        (
            FixedThresholdClassifier(LogisticRegression(), threshold=0.4),
            "LogisticRegression with a ridge penalty (C = 1); FixedThresholdClassifier (threshold = 0.4); "
            "features not standardized",
        ),
        (DecisionTreeClassifier(max_depth=2, random_state=1), "DecisionTreeClassifier (max_depth = 2)"),
    ],
)
def test_a_classifier_in_words(estimator, words):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + rng.normal(size=40) > 0
    assert describe_classifier(estimator.fit(X, y)) == words
