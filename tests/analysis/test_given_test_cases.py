"""Given test cases: their number, events, prevalence and words, and warnings about them, beside training rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cudbound import (
    Metrics,
    compare_intervals,
    compare_learners,
    estimate_error,
)
from cudbound.basis.exceptions import CudboundWarning, SmallSampleWarning

RNG = np.random.default_rng(2)
Y = np.arange(60) % 2
X = RNG.normal(size=(60, 2)) + Y[:, None]
CLF = LogisticRegression().fit(X, Y)
#: A tenth of the new cases are events, and half of the training rows.
NEW_Y = np.arange(200) < 20
NEW_X = RNG.normal(size=(200, 2)) + NEW_Y[:, None]
NEW_Y = NEW_Y.astype(int)
FEW = {"n_resamples": 20, "rng": 0}
EXACT = "test-set-clopper-pearson"


def cases(n_events: int, n_others: int):
    """Return as many new cases of each class."""
    rows = np.r_[:n_events, 20 : 20 + n_others]
    return NEW_X[rows], NEW_Y[rows]


def with_warnings(call):
    """Return the result of a call, and its warnings about few rows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [
        str(warning.message) for warning in caught if issubclass(warning.category, CudboundWarning)
    ]


@pytest.mark.parametrize(
    ("metric", "methods", "words"),
    [
        ("error", [EXACT, "single-split-t"], "25 test cases with 3 events and 22 non-events"),
        ("sensitivity", [EXACT], "3 events of 25 test cases"),
        ("specificity", [EXACT], "22 non-events of 25 test cases"),
        ("balanced-error", ["test-set-wald"], "25 test cases with 3 events and 22 non-events"),
        (
            Metrics("cost", costs={0: 1.0, 1: 4.0}),
            ["test-set-wald"],
            "25 test cases with 3 events and 22 non-events",
        ),
        ("auc", ["test-set-delong", "test-set-newcombe"], "25 test cases with 3 events and 22 non-events"),
        ("brier", ["test-set-t"], "25 test cases with 3 events and 22 non-events"),
        (Metrics("ppv", prevalence=0.2), [EXACT], "25 test cases with 3 events and 22 non-events"),
        ("lr+", [EXACT], "25 test cases with 3 events and 22 non-events"),
    ],
)
def test_rows_and_warnings_are_about_the_test_cases(metric, methods, words):
    table, messages = with_warnings(
        lambda: compare_intervals(CLF, X, Y, methods=methods, metric=metric, test_set=cases(3, 22), **FEW)
    )
    for row in table:
        assert row.remarks[0] == f"based on {words}"
        assert (row.n_test, row.tested.n_events, row.tested.new) == (25, 3, True)
        assert "draws within" not in str(row.remarks)
    assert table.to_frame()["n_test"].tolist() == [25] * len(methods)
    few = [message for message in messages if "25 test cases" in message]
    assert len(few) == len(messages)  # nothing is said of the 60 training rows
    assert len(few) == (metric != "specificity")
    assert "Intervals from 25 test cases with 3 events and 22 non-events" in " ".join(table.report().notes)


@pytest.mark.parametrize("metric", ["sensitivity", Metrics("ppv", prevalence="sample"), "lr-", "auc"])
def test_without_an_event_among_the_test_cases_there_are_no_numbers(metric):
    methods = "test-set-delong" if metric == "auc" else EXACT
    with pytest.warns(SmallSampleWarning, match="0 events"):
        table = compare_intervals(CLF, X, Y, methods=methods, metric=metric, test_set=cases(0, 25), **FEW)
    (row,) = table
    assert np.isnan([row.estimate, row.low, row.high]).all()
    assert row.degenerate
    assert (str(row.estimand), row.n_test) == ("conditional", 25)
    assert "0 events" in row.all_remarks()
    assert "Internal" not in " ".join(table.report().notes)


@pytest.mark.parametrize(
    "call",
    [
        lambda new: compare_intervals(CLF, X, Y, methods=[EXACT], test_set=new, **FEW),
        lambda new: compare_learners([CLF, CLF], X, Y, methods="mcnemar", test_set=new, rng=0),
        lambda new: estimate_error(CLF, X, Y, methods="holdout", test_set=new, **FEW),
    ],
)
def test_no_test_case_is_refused(call):
    with pytest.raises(
        ValueError, match=r"'test_set' parameter must have at least one case, or be None\. Got 0"
    ):
        call((NEW_X[:0], NEW_Y[:0]))


class Turned(LogisticRegression):
    """A classifier whose classes are in the order 1, 0."""

    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = self.classes_[::-1]
        return self

    def predict(self, X):
        return (self.decision_function(X) > 0.0).astype(int)


def test_classes_in_another_order_count_the_same_test_cases():
    rows = [
        compare_intervals(clf, X, Y, methods=EXACT, metric=Metrics("ppv", event=1, prevalence="sample"),
                          test_set=(NEW_X, NEW_Y), **FEW).rows[0]
        for clf in (CLF, Turned().fit(X, Y))
    ]  # fmt: skip
    assert rows[0].remarks == rows[1].remarks
    assert rows[0].raw_interval == rows[1].raw_interval
