"""Intervals and tests of mlr3inferr and mlxtend, from the same splits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

from cudbound import (
    Resampling,
    compare_intervals,
    compare_learners,
    from_records,
)
from cudbound.records import FoldLosses, SplitLosses

RNG = np.random.default_rng(11)
X = RNG.normal(size=(60, 4))
Y = np.where(X[:, 0] - X[:, 1] + RNG.normal(size=60) > 0, "ill", "well")


def losses_of(learner: Any, splitter: Any) -> list[np.ndarray]:
    return [
        (clone(learner).fit(X[train], Y[train]).predict(X[test]) != Y[test]).astype(float)
        for train, test in splitter.split(X)
    ]


def test_the_corrected_t_is_that_of_mlr3inferr():
    """mlr3inferr, measure "ci.cor_t" (Nadeau and Bengio 2003): mean +- t sqrt(var (1/J + n2/n1))."""
    splits = losses_of(LogisticRegression(), ShuffleSplit(15, test_size=12, random_state=0))
    means = np.array([one.mean() for one in splits])
    half = stats.t.ppf(0.975, 14) * np.sqrt(means.var(ddof=1) * (1 / 15 + 12 / 48))
    row = from_records(SplitLosses(means, 48, 12), "corrected-resampled-t")
    assert tuple(row.raw_interval) == pytest.approx((means.mean() - half, means.mean() + half))
    same = compare_intervals(
        LogisticRegression().fit(X, Y),
        X,
        Y,
        methods=["corrected-resampled-t"],
        rng=0,
        resampling=Resampling(cv=ShuffleSplit(15, test_size=12, random_state=0)),
    )
    assert tuple(same.rows[0].raw_interval) == pytest.approx(tuple(row.raw_interval))


def test_the_cross_validated_z_is_that_of_mlr3inferr():
    """mlr3inferr, "ci.wald_cv" (Bayle and others 2020, all pairs): mean +- z sd / sqrt(n), with the divisor n."""
    folds = losses_of(LogisticRegression(), KFold(10, shuffle=True, random_state=0))
    pooled = np.concatenate(folds)
    half = stats.norm.ppf(0.975) * pooled.std() / np.sqrt(60)
    row = from_records(FoldLosses.from_blocks(np.array(folds)), "bayle-cv")
    assert tuple(row.raw_interval) == pytest.approx((pooled.mean() - half, pooled.mean() + half))


def test_the_paired_t_tests_are_those_of_mlxtend():
    """mlxtend, paired_ttest_kfold_cv: differences of accuracies, so of the opposite sign, and the same p-value."""
    splitter = KFold(6, shuffle=True, random_state=1)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    accuracies = [
        [1.0 - one.mean() for one in losses_of(learner, splitter)] for learner in (LogisticRegression(), tree)
    ]
    t, p = stats.ttest_rel(*accuracies)
    found = compare_learners(
        [LogisticRegression(), tree], X, Y, methods="k-fold-t", rng=0, resampling=Resampling(cv=splitter)
    ).row
    assert found.statistic == pytest.approx(-t)
    assert found.pvalue == pytest.approx(p)
    blocks = np.array(losses_of(LogisticRegression(), splitter)) - np.array(losses_of(tree, splitter))
    assert from_records(FoldLosses.from_blocks(blocks), "k-fold-t", differences=True).pvalue == pytest.approx(
        p
    )
