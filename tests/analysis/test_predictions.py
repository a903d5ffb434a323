"""What a classifier returns is checked: labels of another type, probabilities that are none, losses that are none."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from cudbound import (
    Metrics,
    clinical_report,
    compare_intervals,
    compare_learners,
    cud_interval,
    estimate_error,
    performance_interval,
    plan_sample_size,
)

RNG = np.random.default_rng(2)
X = RNG.normal(size=(40, 3))
Y = (X[:, 0] + RNG.normal(size=40) > 0).astype(int)
SMALL = {"n_resamples": 10, "rng": 0}


class Mine(DecisionTreeClassifier):
    """A tree of which the predictions, or the probabilities, are changed."""

    labels = staticmethod(lambda labels: labels)
    risks = staticmethod(lambda risks: risks)

    def predict(self, X):
        return self.labels(super().predict(X))

    def predict_proba(self, X):
        return self.risks(super().predict_proba(X))


def tree(y=Y, **changed):
    kind = type("Mine", (Mine,), {name: staticmethod(change) for name, change in changed.items()})
    return kind(max_depth=2, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (lambda p: p.astype(str), "returned '0' and '1', which are of another type"),
        (lambda p: 0.9 * p + 0.05, "returned 0.05 and 0.95, which may be probabilities"),
        (lambda p: 2 * p - 1, "returned -1, which are not in y"),
        (lambda p: np.where(p, "ill", "well"), "returned 'ill' and 'well', which are not in y"),
        (
            lambda p: p[:, None],
            r"returned an array of shape \(40, 1\) for 40 rows. Return it through np.ravel",
        ),
        (lambda p: {"labels": p}, "returned one dict for 40 rows"),
        (
            lambda p: np.column_stack([1 - p, p]),
            r"returned an array of shape \(40, 2\) for 40 rows. Return the label of the largest",
        ),
        (lambda p: p[1:], "returned 39 values for 40 rows"),
        (lambda p: np.where(p, np.nan, 0.0), "returned nan, but every row needs a label"),
        (lambda p: np.where(p, None, 0), "returned None, but every row needs a label"),
    ],
    ids=["texts", "probabilities", "signs", "words", "column", "mapping", "columns", "length", "nan", "None"],
)
def test_predictions_that_are_no_labels_are_refused(labels, message):
    rule = rf"^Mine.predict must return one of the labels that it was fitted to, 0 or 1, for each row. It {message}"
    with pytest.raises(ValueError, match=rule):
        performance_interval(tree(labels=labels), X, Y, **SMALL)


def test_every_call_refuses_them():
    texts = tree(labels=lambda p: p.astype(str))
    calls = [compare_intervals, estimate_error, clinical_report]
    for call in calls:
        with pytest.raises(ValueError, match="It returned '0' and '1'"):
            call(texts, X, Y, **SMALL)
    with pytest.raises(ValueError, match="It returned '0' and '1'"):
        compare_learners({"tree": DecisionTreeClassifier(max_depth=1), "mine": texts}, X, Y, rng=0)
    with pytest.raises(ValueError, match="It returned '0' and '1'"):
        plan_sample_size(texts, X, Y, n_samples=[20], half_width=0.2, n_replicates=10, **SMALL)

    class Linear(LogisticRegression):
        def predict(self, X):
            return super().predict(X).astype(str)

    with pytest.raises(ValueError, match="It returned '0' and '1'"):
        cud_interval(Linear().fit(X, Y), X, Y, **SMALL)
    three = Y + (X[:, 1] > 0)
    with pytest.raises(ValueError, match=r"fitted to, 0, 1 or 2, for each row. It returned '0', '1' and '2'"):
        performance_interval(tree(three, labels=lambda p: p.astype(str)), X, three, **SMALL)
    words = Y.astype(str)
    with pytest.raises(
        ValueError, match=r"fitted to, '0' or '1', for each row. It returned 0 and 1, which are of"
    ):
        performance_interval(tree(words, labels=lambda p: p.astype(int)), X, words, **SMALL)
    # only on new cases
    late = tree(labels=lambda p: p if len(p) == 40 else p.astype(str))
    for call in (
        lambda **given: performance_interval(late, X, Y, method="test-set-wilson", **given),
        lambda **given: compare_learners([late, "majority"], X, Y, methods="mcnemar", **given),
    ):
        with pytest.raises(ValueError, match="It returned '0' and '1'"):
            call(new_cases=(X[:30] + 1, Y[:30]))


@pytest.mark.parametrize(
    ("risks", "message"),
    [
        (lambda p: 3 * p, "returned values from 0 to 3: scores are not probabilities"),
        (lambda p: p - 0.5, "returned values from -0.5 to 0.5: scores are not"),
        (lambda p: 0.7 * p, "returned rows with sums from 0.7 to 0.7"),
        (
            lambda p: p[:, 1:],
            r"returned an array of shape \(40, 1\) for 40 rows and 2 classes. Return np.column_stack\(\[1 - p, p\]\)",
        ),
        (lambda p: p[:, 1], "returned 40 values for 40 rows and 2 classes. Return np.column_stack"),
        (lambda p: p[1:], r"returned an array of shape \(39, 2\) for 40 rows"),
        (
            lambda p: np.where(p > 0.9, np.nan, p),
            "returned nan or infinite values for .* rows, the first in row",
        ),
    ],
    ids=["large", "negative", "sums", "column", "flat", "length", "nan"],
)
def test_probabilities_that_are_none_are_refused(risks, message):
    for metric in ("brier", "auc", Metrics("net_benefit", threshold=0.3, prevalence="sample")):
        with pytest.raises(
            ValueError, match=f"^Mine.predict_proba must return a probability for each row.* It {message}"
        ):
            performance_interval(tree(risks=risks), X, Y, metric=metric, **SMALL)
    # the error does not read them
    expected = performance_interval(tree(), X, Y, **SMALL).row
    assert performance_interval(tree(risks=risks), X, Y, **SMALL).row == expected
