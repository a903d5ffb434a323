"""Point estimates from shared refits: against plain loops, with the random numbers of the intervals; and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from contract_cases import SIZES, sample
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from cudbound import LeastSquaresClassifier, compare_intervals, estimate_error
from cudbound.problem.draws import draw_counts

X, Y = sample(30)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
LEAST_SQUARES = LeastSquaresClassifier()
BOTH = pytest.mark.parametrize("clf", [TREE, LEAST_SQUARES], ids=["clones", "batched"])


@BOTH
def test_estimates_of_plain_loops(clf):
    """The estimates once more, one fit after the other, on the draws that the seed gives."""
    clf = clf.fit(X, Y)
    table = estimate_error(clf, X, Y, n_resamples=40, rng=5, resampling=SIZES)
    counts = draw_counts(30, 40, np.random.default_rng(5))
    wrong, out = np.zeros((40, 30), dtype=bool), counts == 0
    for draw, row in enumerate(counts):
        rows = np.repeat(np.arange(30), row)
        wrong[draw] = clone(clf).fit(X[rows], Y[rows]).predict(X) != Y
    err1 = np.mean([wrong[out[:, i], i].mean() for i in range(30)])
    resubstitution = 1 - clf.score(X, Y)
    assert table["resubstitution"].estimate == pytest.approx(resubstitution, abs=1e-12)
    assert table["leave-one-out-bootstrap"].estimate == pytest.approx(err1, abs=1e-12)
    assert table["bootstrap-pooled"].estimate == pytest.approx(wrong[out].mean(), abs=1e-12)
    assert table["bootstrap-632"].estimate == pytest.approx(0.368 * resubstitution + 0.632 * err1)
    share, called = Y.mean(), clf.predict(X).mean()
    gamma = share * (1 - called) + (1 - share) * called
    rate = max(0.0, (min(err1, gamma) - resubstitution) / (gamma - resubstitution))
    weight = 0.632 / (1 - 0.368 * rate)
    assert table["bootstrap-632-plus"].estimate == pytest.approx(
        (1 - weight) * resubstitution + weight * min(err1, gamma)
    )
    left_out = 1 - cross_val_score(clf, X, Y, cv=LeaveOneOut())
    assert table["leave-one-out"].estimate == pytest.approx(left_out.mean(), abs=1e-12)


@BOTH
def test_the_same_seed_gives_the_draws_and_folds_of_the_intervals(clf):
    clf = clf.fit(X, Y)
    arguments = {"n_resamples": 30, "rng": 4, "resampling": SIZES}
    points = estimate_error(clf, X, Y, **arguments)
    rows = compare_intervals(
        clf,
        X,
        Y,
        methods=["martin-beta", "bootstrap-632-plus-normal", "bayle-cv", "test-set-wald"],
        **arguments,
    )
    assert points["bootstrap-632"].estimate == rows["martin-beta"].estimate
    assert points["bootstrap-632-plus"].estimate == rows["bootstrap-632-plus-normal"].estimate
    assert points["k-fold"].estimate == rows["bayle-cv"].estimate
    assert points["holdout"].estimate == rows["test-set-wald"].estimate


def test_an_estimate_that_cannot_keep_groups_says_so():
    table = estimate_error(LEAST_SQUARES.fit(X, Y), X, Y, groups=np.arange(30) // 2, n_resamples=20, rng=0)
    refused = {row.method for row in table if row.degenerate}
    assert refused == {"holdout", "lv1o"}
    assert all("would split groups" in table[name].degenerate for name in refused)
