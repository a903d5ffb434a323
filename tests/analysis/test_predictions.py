"""What a classifier returns is checked: labels of another type, probabilities that are none, losses that are none."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from cudbound import (
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


def test_the_error_does_not_read_the_probabilities():
    expected = performance_interval(tree(), X, Y, **SMALL).row
    assert performance_interval(tree(risks=lambda p: 3 * p), X, Y, **SMALL).row == expected
