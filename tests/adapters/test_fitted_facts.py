"""What is known of a fitted classifier apart from its additive model."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifierCV, SGDClassifier
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler, TargetEncoder
from sklearn.random_projection import GaussianRandomProjection
from sklearn.svm import SVC
from sklearn_versions import sparse_logistic

from cudbound import ConvexLossClassifier, LeastSquaresClassifier
from cudbound.adapters.model import facts_of
from cudbound.basis.sample import Sample

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
X[:, 5] = 2.0 * X[:, 0] - X[:, 1] + 3.0  # adds nothing to the span
Y = np.where(X[:, 0] + RNG.normal(size=40) > 0, "ill", "healthy")
LOGISTIC = LogisticRegression()


class Centered(TransformerMixin, BaseEstimator):
    """Subtracts the mean, of the rows of the class "ill" alone where labels are given: a step of another package."""

    def fit(self, X, y=None):
        self.mean_ = np.mean(X if y is None else X[np.asarray(y) == "ill"], axis=0)
        return self

    def transform(self, X):
        return X - self.mean_


def facts(estimator, X=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, Y)
    return facts_of(estimator, Sample.of(estimator, X, Y))


READING = {
    "SelectKBest": SelectKBest(k=3),
    "SelectFromModel": SelectFromModel(LOGISTIC),
    "RFE": RFE(LOGISTIC, n_features_to_select=2),
    "SequentialFeatureSelector": SequentialFeatureSelector(LOGISTIC, n_features_to_select=1, cv=2),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "ColumnTransformer": make_column_transformer((StandardScaler(), [0]), (SelectKBest(k=1), [1, 2])),
    "FeatureUnion": make_union(PCA(1), SelectKBest(k=1)),
    "Centered": Centered(),
    "TargetEncoder": TargetEncoder(),
}


@pytest.mark.parametrize("name", READING)
def test_steps_that_read_the_labels_are_named(name):
    found = facts(make_pipeline(StandardScaler(), READING[name], LOGISTIC))
    assert (found.reads_labels, found.label_use) == (name, "may use" if name == "Centered" else "uses")


FREE = {
    "none": [],
    "scaler": [StandardScaler()],
    "axes": [PCA(3)],
    "random": [GaussianRandomProjection(3)],  # another matrix in every fit unless it is seeded
    "function": [FunctionTransformer(np.tanh)],
    "passthrough": ["passthrough", None],
    "union": [FeatureUnion([("a", PCA(2)), ("b", "drop"), ("c", "passthrough")])],
    "columns": [make_column_transformer((StandardScaler(), [0, 1]), ("passthrough", [2]))],
    "nested": [make_pipeline(StandardScaler(), make_pipeline(PolynomialFeatures(2)))],
}


@pytest.mark.parametrize("name", FREE)
def test_steps_that_do_not_read_the_labels(name):
    pipeline = Pipeline([(str(k), step) for k, step in enumerate([*FREE[name], LOGISTIC])])
    assert facts(pipeline).reads_labels == ""


@pytest.mark.parametrize(
    "classifier",
    [
        LOGISTIC,
        LogisticRegression(fit_intercept=False),
        sparse_logistic(1.0, solver="liblinear"),
        LinearDiscriminantAnalysis(),
        SGDClassifier(),
        SVC(kernel="linear"),
        LeastSquaresClassifier(),
        ConvexLossClassifier("hinge", penalty=0.1),
    ],
    ids=lambda one: type(one).__name__,
)
def test_rank_of_linear_classifiers(classifier):
    with_ones = getattr(classifier, "fit_intercept", True)
    design = np.column_stack([np.ones(40), X]) if with_ones else X
    assert facts(classifier).design.rank == np.linalg.matrix_rank(design)
    assert facts(make_pipeline(PCA(3), classifier)).design.rank == 3 + with_ones


def test_what_chose_parameters_on_the_rows():
    search = GridSearchCV(LOGISTIC, {"C": [0.1, 1.0]}, cv=2)
    assert facts(LOGISTIC).chosen_by == ()
    assert facts(search).chosen_by == ("GridSearchCV",)
    assert facts(TunedThresholdClassifierCV(search, cv=2)).chosen_by == (
        "TunedThresholdClassifierCV",
        "GridSearchCV",
    )
    assert facts(LogisticRegressionCV(Cs=2, cv=2)).chosen_by == ("LogisticRegressionCV",)
    assert facts(RidgeClassifierCV()).chosen_by == ("RidgeClassifierCV",)
    assert facts(CalibratedClassifierCV(LOGISTIC, cv=2)).chosen_by == ()
