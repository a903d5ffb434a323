"""Intervals of a fitted classifier: one, a table of them, the options of each, and classifiers without a bound."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from data import fitted_sample, sample
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn_versions import logistic_cv, sparse_logistic

from cudbound import (
    Bound,
    LeastSquaresClassifier,
    Resampling,
    compare_intervals,
    cud_interval,
    performance_interval,
)
from cudbound.basis.exceptions import NotResampledWarning
from cudbound.intervals import GROUPS, METHODS, find_methods

# ---- one call ----


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


# ---- the table of intervals ----


_fitted = partial(fitted_sample, labels=("healthy", "ill"))


def test_cud_row_is_that_of_cud_interval():
    clf, X, y = _fitted(seed=1)
    for bound, level in (
        (Bound(), 0.95),
        (Bound(localization=3.0), 0.8),
        (Bound(localization="paper-literal"), 0.95),
    ):
        methods = ["kohavi-normal", ("cud", bound)]
        table = compare_intervals(clf, X, y, methods=methods, confidence_level=level, n_resamples=100, rng=7)
        alone = cud_interval(clf, X, y, bound=bound, confidence_level=level, n_resamples=100, rng=7)
        assert table["cud"] == alone.row
        assert table["cud"].raw_interval == alone.raw_interval


def test_settings_of_the_bound_come_with_its_methods():
    clf, X, y = _fitted()
    for methods, message in (
        ([("two-center", Bound())], "'two-center' with a mapping of its options"),
        ([("cud", 5)], "'cud' with a mapping of its options"),
        ([("cud", Bound(nodes=5)), ("aci", Bound())], "methods with the same settings"),
    ):
        with pytest.raises(ValueError, match=message):
            compare_intervals(clf, X, y, methods=methods)


def test_rows_follow_the_seed():
    clf, X, y = _fitted()

    def rows(rng):
        return compare_intervals(
            clf, X, y, n_resamples=40, rng=rng, methods="paper", resampling=Resampling(inner=5)
        ).rows

    assert rows(0) == rows(0) == rows(np.random.default_rng(0))
    assert rows(0) != rows(1)
    assert rows(None) != rows(None)


def test_whole_numbers_may_be_floats_as_r_passes_them():
    clf, X, y = fitted_sample()
    expected = performance_interval(clf, X, y, n_resamples=20, rng=0, n_jobs=1)
    result = performance_interval(clf, X, y, n_resamples=20.0, rng=0.0, n_jobs=1.0)
    assert (result.low, result.high) == (expected.low, expected.high)
    for value in (0.5, float("nan"), -1.0):
        with pytest.raises(ValueError, match="'rng' parameter must be a non-negative integer"):
            performance_interval(clf, X, y, rng=value)
    with pytest.raises(ValueError, match="'rng' parameter must be a generator that can spawn others"):
        performance_interval(clf, X, y, rng=np.random.default_rng(np.random.RandomState(0)))


# ---- options stand with their method ----


FAST = {"n_resamples": 20, "rng": 0, "resampling": Resampling(inner="oob", n_splits=3)}


def test_a_pair_sets_the_options_of_one_method():
    asked = find_methods([("kohavi-normal", {"form": "wilson"}), "langford-binomial"])
    assert [one.name for one in asked] == ["kohavi-normal", "langford-binomial"]
    assert asked.options == {"kohavi-normal": {"form": "wilson"}}
    assert asked.named == {"kohavi-normal", "langford-binomial"}


def test_a_pair_with_a_group_sets_an_option_in_the_members_that_have_it():
    asked = find_methods(("paper", {"form": "wilson"}))
    assert [one.name for one in asked] == list(GROUPS["paper"])
    having = {name for name in GROUPS["paper"] if "form" in METHODS[name].options}
    assert set(asked.options) == having == {"kohavi-normal"}
    assert asked.named == frozenset()


def test_options_change_their_own_row_alone():
    clf, X, y = fitted_sample()
    asked = ["kohavi-normal", "yang-cv-normal"]
    plain = compare_intervals(clf, X, y, methods=asked, **FAST)
    changed = compare_intervals(clf, X, y, methods=[("kohavi-normal", {"form": "wilson"}), asked[1]], **FAST)
    assert changed["yang-cv-normal"] == plain["yang-cv-normal"]
    assert changed["kohavi-normal"].raw_interval != plain["kohavi-normal"].raw_interval
    assert changed.run.choices == "kohavi-normal.form=wilson"


# ---- the recommended interval of classifiers that have no CUD bound ----


N_DRAWS = 25


SPARSE = {
    "LASSO of liblinear": sparse_logistic(1.0, solver="liblinear", tol=1e-8),
    "LASSO of saga": sparse_logistic(1.0, solver="saga", tol=1e-8, max_iter=20000),
    "elastic net": sparse_logistic(0.5, solver="saga", tol=1e-8, max_iter=20000),
    "SGD log_loss": SGDClassifier("log_loss", penalty="l1", alpha=0.02, random_state=0),
    "SGD squared_error": SGDClassifier(
        "squared_error", penalty="elasticnet", l1_ratio=0.5, alpha=0.05, random_state=0
    ),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_classifiers_have_the_bound(name):
    X, y = sample(40, 3)
    bound = Bound(polish=name.startswith("SGD"))
    fitted = SPARSE[name].fit(X, y)
    table = compare_intervals(fitted, X, y, methods=("recommended", bound), n_resamples=N_DRAWS, rng=0)
    assert table["cud"].high > table["cud"].estimate
    assert table["cud"].degenerate is None


SELECTION = make_pipeline(SelectKBest(f_classif, k=2), LeastSquaresClassifier())


def test_no_bound_unless_named_where_a_step_reads_the_labels():
    X, y = sample(40, 30)
    selection = SELECTION.fit(X, y)
    table = compare_intervals(selection, X, y, methods="recommended", n_resamples=N_DRAWS, rng=0)
    row = table["two-center"]
    assert "SelectKBest, which uses the labels" in table["cud"].degenerate
    with pytest.warns(NotResampledWarning, match="SelectKBest") as caught:
        named = compare_intervals(selection, X, y, methods=["cud", "two-center"], n_resamples=N_DRAWS, rng=0)
    assert str(caught[0].message).startswith("SelectKBest uses the labels")
    assert named["cud"].low < named["cud"].high
    assert named["two-center"].confidence_interval == row.confidence_interval
    with pytest.warns(NotResampledWarning, match="SelectKBest"):
        alone = cud_interval(selection, X, y, n_resamples=N_DRAWS, rng=0)
    assert alone.confidence_interval == named["cud"].confidence_interval


@pytest.mark.parametrize(
    "search",
    [GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 10.0]}, cv=3), logistic_cv(Cs=[0.1, 1.0], cv=3)],
    ids=lambda one: type(one).__name__,
)
def test_no_bound_unless_named_where_something_was_chosen_inside(search):
    X, y = sample(40, 3)
    search.fit(X, y)
    table = compare_intervals(search, X, y, methods="recommended", n_resamples=6, rng=0)
    assert f"the choice of {type(search).__name__} on these data as fixed" in table["cud"].degenerate
    with pytest.warns(NotResampledWarning):
        named = compare_intervals(search, X, y, methods=["cud"], n_resamples=6, rng=0)
    assert named["cud"].low < named["cud"].high


class FailsOnFolds(LeastSquaresClassifier):
    """Cannot be fitted to rows that are all different but some, as those of a fold's training set are."""

    def fit(self, X, y):
        if 24 < len(np.unique(X, axis=0)) < 30:
            raise ValueError("no such rows")
        return super().fit(X, y)


def test_folds_that_cannot_be_fitted_are_an_error():
    X, y = sample(30, 3)
    with pytest.raises(ValueError, match="no such rows"):
        performance_interval(
            FailsOnFolds().fit(X, y),
            X,
            y,
            n_resamples=40,
            rng=0,
            resampling=Resampling(on_single_class="fit"),
        )


def test_the_error_does_not_read_the_probabilities():
    class Mine(LeastSquaresClassifier):
        def predict_proba(self, X):
            raise AssertionError

    _, X, y = fitted_sample()
    expected, found = (
        performance_interval(kind().fit(X, y), X, y, n_resamples=20, rng=0).row
        for kind in (LeastSquaresClassifier, Mine)
    )
    assert expected == found
