"""Given test cases: their number, events, prevalence and words, and warnings about them, beside training rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from cudbound import Metrics, compare_intervals, compare_learners, estimate_error, performance_interval
from cudbound.basis.exceptions import ParameterError, SmallSampleWarning

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


@pytest.mark.parametrize("metric", ["sensitivity", Metrics("ppv", prevalence="sample"), "lr-", "auc"])
def test_without_an_event_among_the_test_cases_there_are_no_numbers(metric):
    methods = "test-set-delong" if metric == "auc" else EXACT
    with pytest.warns(SmallSampleWarning, match="0 events"):
        table = compare_intervals(CLF, X, Y, methods=methods, metric=metric, new_cases=cases(0, 25), **FEW)
    (row,) = table
    assert np.isnan([row.estimate, row.low, row.high]).all()
    assert row.degenerate
    assert (str(row.estimand), row.n_test) == ("conditional", 25)
    assert "0 events" in row.all_remarks()
    assert "Internal" not in " ".join(table.report().notes)


@pytest.mark.parametrize(
    "call",
    [
        lambda new: compare_intervals(CLF, X, Y, methods=[EXACT], new_cases=new, **FEW),
        lambda new: compare_learners([CLF, CLF], X, Y, methods="mcnemar", new_cases=new, rng=0),
        lambda new: estimate_error(CLF, X, Y, methods="holdout", new_cases=new, **FEW),
    ],
)
def test_no_test_case_is_refused(call):
    with pytest.raises(
        ValueError, match=r"a pair \(X_new, y_new\) of at least one case, or None. Got '0 cases'"
    ):
        call((NEW_X[:0], NEW_Y[:0]))


@pytest.mark.parametrize(
    ("new", "kinds"),
    [
        ((NEW_X, None), "ndarray, NoneType"),
        ((None, NEW_Y), "NoneType, ndarray"),
        ((NEW_X, "died"), "ndarray, str"),
    ],
)
def test_new_cases_without_rows_or_labels_are_refused_by_name(new, kinds):
    with pytest.raises(
        ParameterError, match=rf"The 'new_cases' parameter must be a pair .* Got '{kinds}' instead"
    ):
        performance_interval(CLF, X, Y, new_cases=new, **FEW)


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
                          new_cases=(NEW_X, NEW_Y), **FEW).rows[0]
        for clf in (CLF, Turned().fit(X, Y))
    ]  # fmt: skip
    assert rows[0].remarks == rows[1].remarks
    assert rows[0].raw_interval == rows[1].raw_interval
