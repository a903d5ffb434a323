"""One call, one interval: for any classifier, in words, and with what it is based on."""

from __future__ import annotations

import re
from dataclasses import replace
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

from cudbound import Bound, LeastSquaresClassifier, Resampling, compare_intervals, performance_interval
from cudbound.basis.exceptions import ManyFeaturesWarning, NotMinimizerError, NotMinimizerWarning

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


def test_one_sided_limits_in_words():
    X, y = data()
    clf = LeastSquaresClassifier().fit(X, y)
    upper, lower = (
        performance_interval(clf, X, y, alternative=way, **ARGUMENTS) for way in ("less", "greater")
    )
    assert re.match(
        r"With 95% confidence, the error of this classifier on new cases is at most 0\.\d{3} \(", str(upper)
    )
    assert re.match(
        r"With 95% confidence, the error of this classifier on new cases is at least 0\.\d{3} \(", str(lower)
    )
    assert upper.confidence_interval.low == 0.0
    assert lower.confidence_interval.high == 1.0
    lines = str(
        compare_intervals(clf, X, y, methods="two-center", alternative="less", **ARGUMENTS)
    ).splitlines()
    assert "95% confidence upper limits for the error of this fitted classifier" in lines


def test_many_features_are_warned_of():
    X, y = data(n=20, p=12)
    clf = LeastSquaresClassifier().fit(X, y)
    with pytest.warns(ManyFeaturesWarning, match=r"12 features \(rank of the design 13\) for 20 rows"):
        performance_interval(clf, X, y, **ARGUMENTS)


def test_another_method_and_its_options():
    X, y = data()
    clf = LeastSquaresClassifier().fit(X, y)
    result = performance_interval(clf, X, y, method=("kohavi-normal", {"form": "wilson"}), **ARGUMENTS)
    row = compare_intervals(
        clf, X, y, methods=["kohavi-normal", ("kohavi-normal", {"form": "wilson"})], **ARGUMENTS
    ).rows[0]
    assert result.row == row
    expected = performance_interval(clf, X, y, method="k-fold-t", **ARGUMENTS)
    assert "averaged over training sets of n1 = 36 cases" in expected.sentence
    with pytest.raises(ValueError, match="two-center has no option 'form'"):
        performance_interval(clf, X, y, method=("two-center", {"form": "wilson"}), **ARGUMENTS)
    with pytest.raises(ValueError, match="Got 'two-centre' instead"):
        performance_interval(clf, X, y, method="two-centre", **ARGUMENTS)


def test_a_classifier_of_other_rows_is_warned_of():
    X, y = data()
    clf = LeastSquaresClassifier().fit(X[:30], y[:30])
    with pytest.warns(NotMinimizerWarning, match="fitted to other rows") as caught:
        performance_interval(clf, X, y, **ARGUMENTS)
    assert caught[0].message.residual > 0.01
    with pytest.raises(NotMinimizerError, match="pass its X and y"):
        performance_interval(clf, X, y, method="cud", **ARGUMENTS)


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


def test_html_is_escaped():
    X, y = data()
    result = performance_interval(LeastSquaresClassifier().fit(X, y), X, y, **ARGUMENTS)
    text = replace(result, rows=(result.row.of(result.row, remarks=("<script>",)),))._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text.lower()


def test_inner_draws_and_the_exact_minimizer_can_be_asked_for():
    X, y = data()
    tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    result = performance_interval(tree, X, y, method="two-stage", resampling=Resampling(inner=2), **ARGUMENTS)
    assert result.row.degenerate is None
    rough = LogisticRegression(max_iter=1, C=10.0)
    with pytest.warns(Warning, match="converge"):
        rough.fit(X, y)
    with pytest.warns(NotMinimizerWarning, match=r"the exact minimizer \(polish\)"):
        performance_interval(rough, X, y, **ARGUMENTS)
    performance_interval(rough, X, y, bound=Bound(polish=True), **ARGUMENTS)


def test_arguments_are_checked_before_the_work():
    X, y = data()
    clf = LeastSquaresClassifier().fit(X, y)
    with pytest.raises(ValueError, match="same number of rows"):
        performance_interval(clf, X, y[:-1], rng=0)
    with pytest.raises(ValueError, match="'method' parameter must be one interval"):
        performance_interval(clf, X, y, method=["two-center"], rng=0)


def test_a_test_set_is_no_internal_validation():
    X, y = data()
    clf = LeastSquaresClassifier().fit(X, y)
    result = performance_interval(clf, X, y, method="test-set-clopper-pearson", **ARGUMENTS)
    assert "without a finite-sample guarantee" not in str(result)
