"""One call, one interval: for any classifier, in words, and with what it is based on."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from data import sample
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, compare_intervals, performance_interval

ARGUMENTS = {"n_resamples": 30, "rng": 0}


#: Numbers that the recommended interval of a linear classifier has.
DETAILS = {
    *("training", "cross_validated", "at_632_plus", "out_of_bag", "no_information", "rank"),
    *("lower_center", "upper_center", "lower_size", "upper_size"),
}


data = partial(sample, n=40, p=3, labels=("well", "ill"))


@pytest.mark.parametrize(
    "clf",
    [LeastSquaresClassifier(), LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())],
    ids=["least squares", "logistic", "pipeline"],
)
def test_the_recommended_interval_of_linear_classifiers(clf):
    X, y = data()
    result = performance_interval(clf.fit(X, y), X, y, **ARGUMENTS)
    row = compare_intervals(clf, X, y, methods="two-center", **ARGUMENTS).rows[0]
    assert result.row == row
    assert (result.estimate, result.confidence_interval) == (row.estimate, row.confidence_interval)
    assert result.details.keys() == DETAILS
    assert not any("_" in word for word in str(result).split())  # words stand for the names
    assert str(result).startswith("The error of this classifier on new cases is estimated at 0.")
    assert "Based on: cross-validated estimate 0." in str(result)
    assert result.to_frame().loc[0, "high"] == result.confidence_interval.high
    assert performance_interval(clf, X, y, n_jobs=2, **ARGUMENTS).row == row


class Counting(LogisticRegression):
    """Counts the predictions of every object of the class."""

    calls: ClassVar[list[int]] = []

    def predict(self, X):
        Counting.calls.append(id(self))
        return super().predict(X)


@pytest.mark.parametrize("method", ["two-center", "cud", "bootstrap-percentile"])
def test_the_classifier_predicts_its_rows_once(method, monkeypatch):
    monkeypatch.setattr(Counting, "calls", [])
    X, y = data()
    clf = Counting().fit(X, y)
    performance_interval(clf, X, y, method=method, **ARGUMENTS)
    assert Counting.calls.count(id(clf)) == 1


@pytest.mark.parametrize(
    "clf",
    [
        DecisionTreeClassifier(max_depth=2, random_state=0),
        LinearDiscriminantAnalysis(),
        GradientBoostingClassifier(n_estimators=3, random_state=0),
        SVC(),
    ],
    ids=["tree", "lda", "boosting", "kernel"],
)
def test_any_other_classifier_has_the_interval(clf):
    X, y = data()
    result = performance_interval(clf.fit(X, y), X, y, **ARGUMENTS)
    assert result.details.keys() | {"rank"} == DETAILS
    assert 0.0 <= result.confidence_interval.low < result.confidence_interval.high <= 1.0


def test_separable_classes_without_a_minimizer_have_the_interval():
    X, y = data()
    y = np.where(X[:, 0] > 0, "ill", "well")
    clf = LogisticRegression(C=np.inf, max_iter=10_000).fit(X, y)
    result = performance_interval(clf, X, y, **ARGUMENTS)
    assert result.confidence_interval.low == 0.0
    assert result.confidence_interval.high >= 1 - 0.025 ** (1 / 40) - 1e-12


def test_no_interval_is_said_in_words():
    X, y = data()
    clf = LeastSquaresClassifier().fit(X, y)
    result = performance_interval(clf, X, y, method="two-stage", n_resamples=5, rng=0)
    assert result.sentence.startswith("The error of this classifier")
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    result = performance_interval(tree, X, y, method="two-stage", n_resamples=5, rng=0)
    assert (
        result.sentence == "No two-stage interval for the error of this classifier on new cases is available."
    )
    assert "Degenerate: no inner draws were recorded" in str(result)


def test_arguments_are_checked_before_the_work():
    X, y = data()
    clf = LeastSquaresClassifier().fit(X, y)
    with pytest.raises(ValueError, match="same number of rows"):
        performance_interval(clf, X, y[:-1], rng=0)
    with pytest.raises(ValueError, match="'method' parameter must be one interval"):
        performance_interval(clf, X, y, method=["two-center"], rng=0)
