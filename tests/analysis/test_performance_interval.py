"""One call, one interval: for any classifier, in words, and with what it is based on."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from data import sample
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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


def test_separable_classes_without_a_minimizer_have_the_interval():
    X, y = data()
    y = np.where(X[:, 0] > 0, "ill", "well")
    clf = LogisticRegression(C=np.inf, max_iter=10_000).fit(X, y)
    result = performance_interval(clf, X, y, **ARGUMENTS)
    assert result.confidence_interval.low == 0.0
    assert result.confidence_interval.high >= 1 - 0.025 ** (1 / 40) - 1e-12
