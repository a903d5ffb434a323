"""Several learners at once: shared fits, Holm's p-values, simultaneous intervals, and equivalence."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier

from cudbound import ComparisonTable, LeastSquaresClassifier, compare_learners, from_records
from cudbound.intervals.method import holm_adjusted
from cudbound.records import SplitLosses

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
Y = X[:, 0] + RNG.normal(size=40) > 0.0
LEARNERS = {
    "squares": LeastSquaresClassifier(),
    "ridge": RidgeClassifier(30.0),
    "shrunk": RidgeClassifier(1e4),
}
METHODS = ("corrected-resampled-t", "mcnemar", "5x2cv-f", "grandvalet-bengio-t")


def two(a: str, b: str, **arguments: Any) -> ComparisonTable:
    return compare_learners({name: LEARNERS[name] for name in (a, b)}, X, Y, rng=3, **arguments)


@pytest.mark.parametrize(
    "test",
    [
        {"methods": [*METHODS, "independent-test-sets"]},
        {"methods": METHODS[0], "alternative": "less", "null": 0.05},
        {"methods": ["k-fold-t", METHODS[0]], "alternative": "greater"},
        {"methods": METHODS[0], "alternative": "equivalent", "null": 0.1},
    ],
    ids=str,
)
def test_a_pair_is_what_it_is_without_the_others(test):
    table = compare_learners(LEARNERS, X, Y, rng=3, **test)
    pairs = list(combinations(LEARNERS, 2))
    names = [test["methods"]] if isinstance(test["methods"], str) else test["methods"]
    assert [(row.method, row.a, row.b) for row in table] == [(one, *pair) for one in names for pair in pairs]
    for a, b in pairs:
        alone, joint = two(a, b, **test), two(a, b, **test, confidence_level=1 - 0.05 / 3)
        for name in names:
            row = table[a, b, name]
            assert replace(row, adjusted_pvalue=None, simultaneous_interval=None) == alone[name]
            assert row.simultaneous_interval == pytest.approx(joint[name].confidence_interval)
    for name in names:
        rows = [row for row in table if row.method == name]
        assert [row.adjusted_pvalue for row in rows] == pytest.approx(closed([row.pvalue for row in rows]))


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.ManyFeaturesWarning")
def test_a_method_that_cannot_be_computed_keeps_its_rows():
    few = slice(0, 4)
    y = np.array([0, 1, 0, 1])
    table = compare_learners(LEARNERS, X[few], y, methods=["nested-cv", "k-fold-t"], rng=0)
    assert [row.method for row in table if np.isnan(row.pvalue)] == ["nested-cv"] * 3
    assert np.isnan([[row.adjusted_pvalue, *row.simultaneous_interval] for row in table.rows[:3]]).all()
    assert "nested-cv gave no result for error(squares) - error(ridge)" in table.describe().results


def closed(pvalues: list[float]) -> list[float]:
    """Holm's adjustment by its definition: the closed test of Bonferroni's tests of all intersections."""
    m = len(pvalues)
    sets = [chosen for chosen in product((False, True), repeat=m) if any(chosen)]
    local = {
        chosen: min(1.0, sum(chosen) * min(p for p, one in zip(pvalues, chosen, strict=True) if one))
        for chosen in sets
    }
    return [max(p for chosen, p in local.items() if chosen[i]) for i in range(m)]


def test_holm_is_the_closed_bonferroni_test():
    rng = np.random.default_rng(0)
    for size in (1, 2, 5):
        for _ in range(20):
            pvalues = rng.uniform(size=size) ** 3
            assert holm_adjusted(pvalues).tolist() == pytest.approx(closed(pvalues.tolist()))
    assert holm_adjusted([0.01, 0.01, 0.01]).tolist() == pytest.approx([0.03] * 3)
    adjusted = holm_adjusted([np.nan, 0.02])
    assert np.isnan(adjusted[0])
    assert adjusted[1] == 0.04


class Counted(ClassifierMixin, BaseEstimator):
    """The nearest class mean; counts how often it is fitted."""

    n_fits = 0

    def fit(self, X, y):
        Counted.n_fits += 1
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[((X[:, None, :] - self.means_) ** 2).sum(axis=2).argmin(axis=1)]


def test_every_learner_is_fitted_once_to_each_training_set():
    learners = {"means": Counted(), **LEARNERS}
    Counted.n_fits = 0
    table = compare_learners(learners, X, Y, rng=0)
    assert Counted.n_fits == 1 + 10 * 10
    assert len(table) == 6


def test_a_reference_is_the_second_of_every_pair():
    learners = {"majority": DummyClassifier(), **LEARNERS}
    table = compare_learners(learners, X, Y, reference="majority", rng=0)
    assert [(pair.a, pair.b) for pair in table] == [(name, "majority") for name in LEARNERS]
    assert table["squares", "majority"].estimate < 0.0
    with pytest.raises(KeyError, match="no comparison by"):
        table["majority", "squares"]


# ---- region of practical equivalence ----


def posterior(means: np.ndarray, n_train: int, n_test: int, rope: float) -> dict[str, float]:
    """The same probabilities by numeric integration of the model itself: likelihood times prior 1 / variance."""
    size, rho = means.size, n_test / (n_train + n_test)
    covariance = (1 - rho) * np.eye(size) + rho
    inverse = np.linalg.inv(covariance)
    mean, spread = means.mean(), means.std()
    centers = np.linspace(mean - 40 * spread, mean + 40 * spread, 4001)
    log_scales = np.linspace(np.log(spread) - 4, np.log(spread) + 6, 801)
    distances = np.array([(means - c) @ inverse @ (means - c) for c in centers])
    # with the scale s: the density s^-J exp(-distance / (2 s^2)), the prior 1 / s^2 of the variance, in log s
    logs = -size * log_scales[:, None] - distances[None, :] / (2 * np.exp(2 * log_scales)[:, None])
    weights = np.exp(logs - logs.max()).sum(axis=0)
    weights /= weights.sum()
    return {
        "p_below": weights[centers < -rope].sum(),
        "p_within": weights[np.abs(centers) <= rope].sum(),
        "p_above": weights[centers > rope].sum(),
    }


def test_equivalence_is_the_posterior_of_the_stated_model():
    means = np.array([0.05, -0.02, 0.03, 0.08, 0.01, 0.04, -0.01, 0.02])
    found = from_records(
        SplitLosses(means, 90, 10), ("corrected-resampled-t", {"rope": 0.03}), differences=True
    )
    expected = posterior(means, 90, 10, 0.03)
    assert {name: found.details[name] for name in expected} == pytest.approx(expected, abs=5e-3)
    assert sum(expected.values()) == pytest.approx(1.0)
    assert "correlated t model" in str(found)
    plain = from_records(SplitLosses(means, 90, 10), "corrected-resampled-t", differences=True)
    assert "p_within" not in plain.details
    assert (plain.estimate, plain.pvalue) == (found.estimate, found.pvalue)
