"""Classifiers that are not fitted yet, and results at another level: both equal the direct call."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from data import sample
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from cudbound import (
    Metrics,
    clinical_report,
    compare_intervals,
    cud_interval,
    estimate_error,
    performance_interval,
)
from cudbound.basis.exceptions import FailedRefitsError

X, Y = sample(30)
CALLS = {
    "performance_interval": partial(performance_interval, n_resamples=20),
    "compare_intervals": partial(compare_intervals, methods=["two-center", "bayle-cv"], n_resamples=20),
    "cud_interval": partial(cud_interval, n_resamples=20),
    "estimate_error": partial(estimate_error, methods=["bootstrap-632", "k-fold"], n_resamples=20),
    "clinical_report": partial(clinical_report, n_resamples=20),
}


def _numbers(result):
    return result.to_dict() if hasattr(result, "to_dict") else result.to_frame().to_dict("records")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_classifier_that_is_not_fitted_is_fitted_to_the_rows(call):
    unfitted = make_pipeline(StandardScaler(), LogisticRegression())
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    assert repr(_numbers(call(unfitted, X, Y, rng=0))) == repr(_numbers(call(fitted, X, Y, rng=0)))
    with pytest.raises(NotFittedError):
        check_is_fitted(unfitted)


def test_weights_and_groups_reach_the_fit():
    weights, groups = np.linspace(0.5, 2.0, len(Y)), np.repeat(np.arange(15), 2)
    call = partial(
        performance_interval, X=X, y=Y, sample_weight=weights, groups=groups, n_resamples=20, rng=0
    )
    fitted = LogisticRegression().fit(X, Y, sample_weight=weights)
    again = call(LogisticRegression())
    assert np.array_equal(again.estimator.coef_, fitted.coef_)
    assert again.row == call(fitted).row


def test_an_unseeded_classifier_has_a_fit_that_the_seed_repeats():
    tree = DecisionTreeClassifier(max_features=1)
    first, second, other = (
        performance_interval(tree, X, Y, n_resamples=20, rng=seed).row for seed in (1, 1, 2)
    )
    assert first == second != other
    # refits have seeds of their own, so the fitted clone has none
    assert performance_interval(tree, X, Y, n_resamples=20, rng=1).estimator.random_state is None


class CountsFits(ClassifierMixin, BaseEstimator):
    """Predicts by the sign of the first column."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 0).astype(int)]


def test_another_level_refits_nothing():
    result = performance_interval(CountsFits(), X, Y, n_resamples=20, rng=0)
    fits = CountsFits.fits
    assert result.at(0.8).confidence_interval.width < result.confidence_interval.width
    assert CountsFits.fits == fits > 20


@pytest.mark.parametrize("alternative", ["two-sided", "less"])
@pytest.mark.parametrize("joint", [False, True])
def test_another_level_gives_the_table_of_a_call_at_that_level(joint, alternative):
    methods = ["two-center", "cud", "kohavi-normal", "bayle-cv"]
    metric = (
        Metrics(("error", "sensitivity", "specificity"), joint=True)
        if joint
        else Metrics(("error", "sensitivity", "ppv", "lr+", "brier"), prevalence="sample")
    )
    call = partial(
        compare_intervals,
        LogisticRegression(),
        X,
        Y,
        methods=methods,
        metric=metric,
        alternative=alternative,
        n_resamples=40,
        rng=0,
    )
    table = call().at(0.8)
    assert repr(table.rows) == repr(call(confidence_level=0.8).rows)
    assert repr(table.at(0.95).rows) == repr(call().rows)
    assert {row.confidence_level for row in table} == {0.8}


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (Y[:-1], r"X and y must have the same number of rows\. Got \d+ and \d+\."),
        (
            np.where(np.arange(len(Y)) == 3, np.nan, Y[0] == Y),
            r"y must have a label for every row\. .* in row 3,",
        ),
        (np.ones(len(Y)), r"y must contain labels of two classes\. Got only \[1\.0\]\."),
    ],
)
def test_labels_with_which_no_fit_can_succeed_are_named(labels, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        performance_interval(LogisticRegression(), X, labels)


@pytest.mark.parametrize("fit", [LogisticRegression, lambda: LogisticRegression().fit(X, Y)])
def test_censored_times_are_not_labels(fit):
    times = np.array([(label == Y[0], 1.0) for label in Y], dtype=[("event", bool), ("time", float)])
    with pytest.raises(
        ValueError, match=r"^y must contain class labels\. Got censored times to an event; use the"
    ):
        performance_interval(fit(), X, times)


def test_the_error_of_a_first_fit_does_not_mention_resampling():
    with pytest.raises(FailedRefitsError, match="Complex data not supported") as caught:
        performance_interval(LogisticRegression(), X + 1j, Y)
    assert "Training sets" not in str(caught.value)
