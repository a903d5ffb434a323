"""More than two classes, and more than two learners: what each row is without the others."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, product
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import recall_score
from sklearn.naive_bayes import GaussianNB

from cudbound import (
    ComparisonTable,
    LeastSquaresClassifier,
    Metrics,
    Resampling,
    compare_intervals,
    compare_learners,
    performance_interval,
)
from cudbound.basis.exceptions import ParameterError, SmallSampleWarning, UnsupportedEstimatorError
from cudbound.intervals import GROUPS
from cudbound.intervals.method import holm_adjusted
from cudbound.resampling.settings import has_one_class
from cudbound.study.worlds import SeveralClasses

# ---- classifiers of more than two classes ----


FAST = {"n_resamples": 40, "rng": 0}


def data(n=60, n_classes=3, seed=0, names="abcdefghij"):
    X, y = SeveralClasses(n_classes=n_classes, n_features=5, distance=1.6).sample(
        n, np.random.default_rng(seed)
    )
    y[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    return X, np.array(list(names))[y]


def fitted(classifier=None, **keywords):
    X, y = data(**keywords)
    return (LinearDiscriminantAnalysis() if classifier is None else classifier).fit(X, y), X, y


def clopper_pearson(low, high, n, level=0.95):
    d = (1.0 - level) / 2.0
    first = beta.ppf(d, n * low, n - n * low + 1.0) if low > 0.0 else 0.0
    return first, beta.ppf(1.0 - d, n * high + 1.0, n - n * high)


@pytest.mark.parametrize(("n_classes", "of"), [(3, None), (5, None), (4, "b")])
def test_both_centers_and_the_limits_are_those_of_their_definitions(n_classes, of):
    """Row by row in plain Python; the no-information error is one minus the sum of p q over the classes."""
    clf, X, y = fitted(n=80, n_classes=n_classes)
    metric = "error" if of is None else Metrics("sensitivity", event=of, stratified=False)
    found = performance_interval(clf, X, y, metric=metric, **FAST)
    records = found.analysis.records
    rows = range(80) if of is None else np.flatnonzero(y == of)
    wrong, draws = clf.predict(X) != y, records.bootstrap
    training = fmean(wrong[i] for i in rows)
    left_out = {i: [] for i in rows}
    for counts, lost in zip(draws.counts, draws.losses, strict=True):
        for i in rows:
            if counts[i] == 0:
                left_out[i].append(lost[i])
    err1 = fmean(fmean(losses) for losses in left_out.values() if losses)
    called = {label: np.mean(clf.predict(X) == label) for label in clf.classes_}
    gamma = fmean(1.0 - called[y[i]] for i in rows)
    if of is None:
        assert gamma == pytest.approx(1.0 - sum(np.mean(y == k) * called[k] for k in called))
    rate = (min(err1, gamma) - training) / (gamma - training)
    w = 0.632 / (1.0 - 0.368 * rate)
    plus = (1.0 - w) * training + w * min(err1, gamma)
    detail = found.row.details
    assert detail["no_information"] == pytest.approx(gamma)
    assert detail["at_632_plus"] == pytest.approx(plus)
    held_out = detail["cross_validated"]
    low, high = min(held_out, plus), max(held_out, plus, (held_out + err1) / 2.0)
    limits = clopper_pearson(low, high, len(rows))
    limits = limits if of is None else (1.0 - limits[1], 1.0 - limits[0])
    assert (found.row.low, found.row.high) == pytest.approx(limits, abs=1e-9)


@pytest.mark.filterwarnings("ignore::cudbound.basis.exceptions.SlowRefitsWarning")
def test_every_method_but_those_of_one_boundary_gives_the_error():
    clf, X, y = fitted(GaussianNB(), n=36)
    methods = [*GROUPS["conditional"], *GROUPS["algorithm"]]
    few = Resampling(n_repeats=2, n_splits=2, n_halvings=2, n_replicates=2, n_nested_repeats=1)
    table = compare_intervals(clf, X, y, methods="all", n_resamples=8, resampling=few, rng=0)
    refused = {name for name in methods if math.isnan(table[name].low)}
    # without inner draws, which are not made where refits are clones, two-stage has no limits for two classes either
    assert refused == {"cud", "aci", "two-stage"}
    for name in ("cud", "aci"):
        assert table[name].degenerate == "no CUD bound: the bound needs two classes, not 3"
        with pytest.raises(
            UnsupportedEstimatorError, match="the boundary between two classes, but there are 3"
        ):
            compare_intervals(clf, X, y, methods=[name], **FAST)
    assert table.instability is None


def test_the_sensitivity_of_each_class_is_a_row_of_its_own():
    clf, X, y = fitted(n=90, n_classes=3)
    each = compare_intervals(clf, X, y, methods="out-of-bag-wilson", metric="sensitivity", **FAST)
    joint = Metrics("sensitivity", joint=True)
    together = compare_intervals(clf, X, y, methods="out-of-bag-wilson", metric=joint, **FAST)
    for label, row, wider in zip("abc", each, together, strict=True):
        assert row.metric == wider.metric == f"sensitivity of {label}"
        alone = Metrics("sensitivity", event=label)
        assert compare_intervals(clf, X, y, methods="out-of-bag-wilson", metric=alone, **FAST).rows == (row,)
        assert f"based on {(y == label).sum()} events" in row.remarks
        assert wider.low < row.low < row.high < wider.high
        found = performance_interval(clf, X, y, metric=alone, **FAST).row.details["training"]
        recall = recall_score(y, clf.predict(X), labels=[label], average="macro")
        assert found == pytest.approx(1.0 - recall)
        new = compare_intervals(
            clf,
            X,
            y,
            methods="test-set-clopper-pearson",
            metric=alone,
            new_cases=(X[::2] + 0.01, y[::2]),
            **FAST,
        )
        recall = recall_score(y[::2], clf.predict(X[::2] + 0.01), labels=[label], average="macro")
        assert new.rows[0].estimate == pytest.approx(recall)
        # drawn within each class
        assert not (each.analysis.counts[:, y == label].sum(axis=1) != (y == label).sum()).any()


class CountsFits(GaussianNB):
    """Counts the fits of all its clones."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        CountsFits.fits += 1
        return super().fit(X, y, sample_weight)


def test_the_sensitivity_of_no_class_in_particular_is_refused_before_the_refits():
    X, y = data()
    rule = r"one of the several classes, such as performance_interval\(..., event='a'\)"
    with pytest.raises(ParameterError, match=rule):
        performance_interval(CountsFits(), X, y, metric="sensitivity", **FAST)
    assert CountsFits.fits == 1  # to all rows, which tells the classes
    performance_interval(CountsFits(), X, y, metric="sensitivity", event="b", **FAST)
    assert CountsFits.fits > 2


def test_a_rare_class_is_absent_from_draws_and_they_are_fitted_all_the_same():
    X, y = data(n=40, n_classes=4)
    y[np.flatnonzero(y == "d")[2:]] = "a"
    clf = GaussianNB().fit(X, y)
    found = performance_interval(clf, X, y, **FAST)
    lacking = ~found.analysis.counts[:, y == "d"].any(axis=1)
    assert lacking.any()
    losses = found.analysis.records.bootstrap.losses
    assert losses[lacking][:, y == "d"].all()
    with pytest.warns(SmallSampleWarning, match="The sensitivity of d is based on 2 events"):
        rare = performance_interval(clf, X, y, metric=Metrics("sensitivity", event="d"), **FAST)
    assert 0.0 <= rare.row.low < rare.row.high <= 1.0
    with pytest.warns(SmallSampleWarning):
        mixed = compare_intervals(clf, X, y, methods="two-center", metric=["error", "sensitivity"], **FAST)
    assert "redrawn" in " ".join(mixed["two-center", "sensitivity of d"].remarks)


@settings(max_examples=50, deadline=None)
@given(labels=st.lists(st.integers(0, 3), min_size=2, max_size=12), seed=st.integers(0, 99))
def test_training_sets_of_one_class_are_found(labels, seed):
    counts = np.random.default_rng(seed).integers(0, 2, size=(6, len(labels)))
    found = has_one_class(counts, np.array(labels, dtype=float))
    for row, one in zip(counts, found, strict=True):
        assert one == (len({label for label, k in zip(labels, row, strict=True) if k}) < 2)


# ---- several learners at once ----


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
