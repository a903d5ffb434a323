"""What to believe of an interval: sizes that were not studied, more features than rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from data import unwrapped
from scipy.stats import binomtest
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier

from cudbound import (
    ConfidenceInterval,
    IntervalEstimate,
    LeastSquaresClassifier,
    compare_intervals,
    cud_interval,
    performance_interval,
)
from cudbound.basis.exceptions import ManyFeaturesWarning, SmallSampleWarning
from cudbound.basis.proportions import limit_without_error
from cudbound.basis.results import Estimand, TestedRows
from cudbound.report.sentences import cautions, headline, majority_sentence
from cudbound.report.tables import Run

# ---- what stands above and under an interval ----


FEW = {"n_resamples": 60, "rng": 0}


def fitted(n, shift, seed=0):
    """Return a classifier with two features of two classes of n/2 cases each, and its rows."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + shift * y[:, None]
    return LeastSquaresClassifier().fit(X, y), X, y


def row(method="two-center", low=0.1, high=0.4, alternative="two-sided", **known):
    made = {
        "estimate": 0.2,
        "raw_interval": ConfidenceInterval(low, high),
        "estimand": Estimand("conditional"),
        "confidence_level": 0.95,
        "n_fits": 1001,
    }
    return IntervalEstimate(method=method, alternative=alternative, **made | known)


# --- which row to quote


@pytest.mark.parametrize(
    ("rows", "begins"),
    [
        (
            [row("cud"), row("two-center")],
            "The error of this classifier on new cases is estimated at 0.200 (95%",
        ),
        ([row("bbc-cv", estimand=Estimand("rule"))], "The error on new cases of the learning algorithm"),
        (
            [
                row("test-set-wald", center="error on new cases", tested=TestedRows(30)),
                row("test-set-wilson", center="error on new cases", tested=TestedRows(30)),
            ],
            "The error of this classifier on new cases is estimated at 0.200 (95% confidence interval 0.100 to 0.400; "
            "test-set-wilson interval from 30 test cases).",
        ),
        (
            [row("cud")],
            "The interval to quote for the error of this classifier, two-center, is not in this table.",
        ),
        (
            [row(metric="sensitivity"), row()],
            "The sensitivity of this classifier on new cases is estimated at 0.200",
        ),
        (
            [row(low=float("nan"))],
            "No two-center interval for the error of this classifier on new cases is available.",
        ),
    ],
)
def test_which_row_is_quoted(rows, begins):
    assert headline(rows)[0].startswith(begins)


# --- compared with what


def run_with(n_events, n_other, **more):
    return Run(None, n_events + n_other, n_events, n_other, "died", (), None, None, 0, **more)


@pytest.mark.parametrize(
    ("one", "ends"),
    [
        (
            row(low=0.1, high=0.4),
            "the interval includes that value: no evidence that this classifier beats the majority class.",
        ),
        (
            row(low=0.1, high=0.3),
            "the interval includes that value: no evidence that this classifier beats the majority class.",
        ),
        (row(low=0.1, high=0.29), "that is above the interval."),
        (row(low=0.31, high=0.4), "that is below the interval: it is better than this classifier."),
        (
            row(low=-np.inf, high=0.4, alternative="less"),
            "no evidence that this classifier beats the majority class.",
        ),
        (row(low=0.1, high=np.inf, alternative="greater"), "would be wrong for 30.0% of the training rows."),
        (row(low=0.4, high=np.inf, alternative="greater"), "it is better than this classifier."),
    ],
)
def test_an_interval_is_held_against_the_majority_class(one, ends):
    (sentence,) = majority_sentence(one, run_with(30, 70))
    assert sentence.startswith(
        "Always predicting the majority class would be wrong for 30.0% of the training rows"
    )
    assert sentence.endswith(ends)


def test_noise_does_not_beat_the_majority_class_and_a_signal_does():
    text = "no evidence that this classifier beats the majority class"
    assert text in str(performance_interval(*fitted(40, 0.0), **FEW))
    assert text in str(cud_interval(*fitted(40, 0.0), **FEW))
    assert text not in str(performance_interval(*fitted(100, 3.0), **FEW))


# --- too good to be true


@pytest.mark.parametrize(("n", "level"), [(20, 0.95), (120, 0.95), (50, 0.8)])
def test_the_limit_without_error_is_that_of_clopper_and_pearson(n, level):
    two_sided = binomtest(0, n).proportion_ci(level, method="exact").high
    one_sided = binomtest(0, n, alternative="less").proportion_ci(level, method="exact").high
    assert limit_without_error(n, level) == pytest.approx(two_sided, rel=1e-9)
    assert limit_without_error(n, level, "less") == pytest.approx(one_sided, rel=1e-9)


def test_limits_that_new_cases_could_not_give_are_named_with_a_warning():
    clf, X, y = fitted(60, 12.0)
    with pytest.warns(
        SmallSampleWarning, match=r"^Too good to be true: cud \(upper limit 0\.000\)\. Even 60"
    ) as caught:
        table = compare_intervals(clf, X, y, methods=["cud", "two-center"], **FEW)
    assert caught[0].message.methods == ("cud",)  # two-center is as long as these 60 new cases make it
    assert caught[0].message.limit == pytest.approx(1 - 0.025 ** (1 / 60))
    assert caught[0].filename == __file__
    assert str(caught[0].message) in unwrapped(str(table))
    with pytest.warns(SmallSampleWarning) as caught:
        result = cud_interval(clf, X, y, **FEW)
    assert caught[0].filename == __file__
    assert "Too good to be true: cud (upper limit 0.000)" in str(result)


def test_a_one_sided_limit_is_held_against_the_one_sided_one():
    between = (limit_without_error(50, 0.95, "less") + limit_without_error(50, 0.95)) / 2
    assert len(cautions([row("cud", 0.0, between)], 50)) == 1
    assert cautions([row("cud", -np.inf, between, "less")], 50) == ()
    assert cautions([row("cud", 0.0, np.inf, "greater")], 50) == ()


@pytest.mark.parametrize("n", [18, 502])
def test_sizes_that_were_not_studied_are_warned_of(n):
    with pytest.warns(
        SmallSampleWarning, match=rf"studied with 20 to 500 training rows, but there are {n}"
    ) as caught:
        result = performance_interval(*fitted(n, 1.0), **FEW)
    (warning,) = (one.message for one in caught if "training rows" in str(one.message))
    assert warning.n_samples == n
    assert f"but there are {n}" in str(result)


@pytest.mark.parametrize("n", [20, 500])
def test_sizes_that_were_studied_are_not(n):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        performance_interval(*fitted(n, 1.0), **FEW)


# ---- more features than rows ----


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
