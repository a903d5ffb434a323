"""More features than rows: every call says so, and an interval is then no evidence against the majority class."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from data import unwrapped
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier

from cudbound import compare_intervals, performance_interval
from cudbound.basis.exceptions import ManyFeaturesWarning

# noise: the error of any classifier is .5
X = np.random.default_rng(3).normal(size=(40, 120))
Y = np.repeat([0, 1], 20)
RIDGE = RidgeClassifier().fit(X, Y)
SMALL = {"n_resamples": 20, "rng": 0}


def with_warnings(call, *arguments, **options):
    """Return the result of a call, and its warnings of many features."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call(*arguments, **options)
    many = [warning for warning in caught if issubclass(warning.category, ManyFeaturesWarning)]
    assert all(warning.filename == __file__ for warning in many)
    return result, [str(warning.message) for warning in many]


@pytest.mark.parametrize(
    "method", ["two-center", "cud", "bootstrap-percentile", "bayle-cv", "langford-binomial"]
)
def test_every_interval_warns_and_shows_no_better_classifier(method):
    for call in (performance_interval, compare_intervals):
        named = {"method": method} if call is performance_interval else {"methods": method}
        result, (message,) = with_warnings(call, RIDGE, X, Y, **named, **SMALL)
        assert message.startswith("The classifier has 120 features (rank of the design 40) for 40 rows.")
        assert "do not rely on intervals that use the training error, except two-center" in message
        assert message in unwrapped(str(result))
        assert "above the interval" not in unwrapped(str(result))


@pytest.mark.parametrize(
    ("classifier", "columns", "message"),
    [
        (make_pipeline(PolynomialFeatures(3), RidgeClassifier()), 5, "56 features (rank of the design 40)"),
        (make_pipeline(SelectKBest(k=4), LogisticRegression()), 120, "120 features for 40 rows"),
        (DecisionTreeClassifier(random_state=0), 120, "120 features for 40 rows"),
        (RidgeClassifier(), 30, "30 features (rank of the design 31)"),
        (DecisionTreeClassifier(random_state=0), 30, ""),
        (make_pipeline(PCA(4, random_state=0), LogisticRegression()), 120, ""),
        (LogisticRegression(), 5, ""),
    ],
    ids=["expanded", "selected", "tree", "many", "fewer", "components", "few"],
)
def test_the_features_that_the_classifier_chooses_among_are_counted(classifier, columns, message):
    part = X[:, :columns]
    _, messages = with_warnings(
        performance_interval, classifier.fit(part, Y), part, Y, method="bootstrap-percentile", **SMALL
    )
    assert len(messages) == bool(message)
    assert all(message in text for text in messages)


def test_new_cases_are_evidence():
    result, messages = with_warnings(
        performance_interval, RIDGE, X, Y, method="test-set-wilson", new_cases=(X + 1e-3, Y), **SMALL
    )
    assert messages == []
    assert "above the interval" in str(result)
