"""Metrics that are one minus another: the same interval from the other end, by every method."""

from __future__ import annotations

import pytest
from data import fitted_sample
from sklearn.metrics import accuracy_score, balanced_accuracy_score, recall_score

from cudbound import compare_intervals

PAIRS = {
    "accuracy": "error",
    "balanced-accuracy": "balanced-error",
    "fpr": "specificity",
    "fnr": "sensitivity",
}
FAST = {"n_resamples": 40, "rng": 0}


@pytest.mark.parametrize(("name", "other"), PAIRS.items())
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_limits_are_one_minus_those_of_the_other(name, other, alternative):
    clf, X, y = fitted_sample(40, seed=1)
    methods = ["two-center", "cud", "langford-binomial", "bootstrap-632-normal"]
    turned = {"two-sided": "two-sided", "less": "greater", "greater": "less"}[alternative]
    rows = compare_intervals(clf, X, y, methods=methods, metric=name, alternative=alternative, **FAST)
    others = compare_intervals(clf, X, y, methods=methods, metric=other, alternative=turned, **FAST)
    for row, opposite in zip(rows, others, strict=True):
        assert (row.metric, row.alternative) == (name, alternative)
        assert row.estimate == pytest.approx(1.0 - opposite.estimate, abs=1e-12)
        assert row.confidence_interval == pytest.approx(
            (1.0 - opposite.high, 1.0 - opposite.low), abs=1e-12
        ), row.method


def test_the_estimates_of_cud_are_those_of_scikit_learn():
    clf, X, y = fitted_sample(40, seed=3)
    called = clf.predict(X)
    rows = compare_intervals(clf, X, y, methods="cud", metric=list(PAIRS), **FAST)
    expected = {
        "accuracy": accuracy_score(y, called),
        "balanced-accuracy": balanced_accuracy_score(y, called),
        "fpr": 1.0 - recall_score(y, called, pos_label=clf.classes_[0]),
        "fnr": 1.0 - recall_score(y, called, pos_label=clf.classes_[1]),
    }
    assert {row.metric: row.estimate for row in rows} == pytest.approx(expected)
