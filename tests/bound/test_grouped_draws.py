"""Draws of whole groups of rows: the worked example, enumeration of all cells, exact arithmetic, and groups of one."""

from __future__ import annotations

import numpy as np
import pytest
from data import fitted_sample, sample
from exact_verdicts import faults
from grouped_rows import by_hand, grouped_data, in_two_groups
from oracles import check_witness, enumerate_q
from shared_files import FURTHER_EXAMPLES, shared_vectors

from cudbound import Bound, ConvexLossClassifier, LeastSquaresClassifier, cud_interval
from cudbound.basis.groups import Groups
from cudbound.problem.draws import draw_counts
from cudbound.solve.search import solve_draws

# so few groups that every call says so
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::cudbound.basis.exceptions.{name}")
    for name in ("SmallSampleWarning", "ManyFeaturesWarning")
]


def check_against_enumeration(clf, X, y, codes, seed, tolerance):
    result = cud_interval(
        clf, X, y, groups=codes, n_resamples=3, rng=seed, all_draws=True, bound=Bound(polish=True)
    )
    for draw in range(3):
        oracle = enumerate_q(by_hand(result.problem, draw), 0)
        assert result.draws.lower[draw] <= oracle.q + tolerance
        assert result.draws.upper[draw] >= oracle.q - tolerance
        assert result.draws.upper[draw] == pytest.approx(oracle.q, abs=tolerance)
        check_witness(result.problem, draw, result.draws)
        negative = solve_draws(result.problem.select(draw), side="negative")
        assert negative.upper[0] == pytest.approx(max(oracle.q_minus, 0.0), abs=tolerance)


def check_least_squares(seed):
    X, y, codes = grouped_data(seed)
    if not in_two_groups(y, codes):
        return False
    check_against_enumeration(LeastSquaresClassifier().fit(X, y), X, y, codes, seed, 1e-8)
    return True


def test_least_squares_agrees_with_enumeration():
    assert sum(check_least_squares(seed) for seed in range(30)) >= 25


@pytest.mark.parametrize("seed", range(4))
def test_penalized_losses_agree_with_enumeration(seed):
    # a draw of fewer rows weighs the penalty as the training set does, relative to its mean loss
    X, y, codes = grouped_data(2 * seed)
    clf = ConvexLossClassifier(loss="logistic", penalty=0.05).fit(X, y)
    check_against_enumeration(clf, X, y, codes, seed, 1e-6)


def test_one_class_missing_in_a_draw():
    # groups of one class each: draws of the two groups of one class alone are frequent
    X = np.array([[0.0], [1.0], [2.0], [0.5], [1.5], [3.0], [2.5]])
    y, codes = np.array([0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 2, 2, 3, 3])
    clf = LeastSquaresClassifier().fit(X, y)
    result = cud_interval(clf, X, y, groups=codes, n_resamples=60, rng=3, all_draws=True)
    positives = result.problem.counts[:, y == 1].sum(axis=1)
    held = result.problem.counts.sum(axis=1)
    assert result.n_single_class_draws == int(((positives == 0) | (positives == held)).sum())
    assert result.n_single_class_draws >= 5
    for draw in np.flatnonzero(positives == 0)[:3]:
        oracle = enumerate_q(by_hand(result.problem, draw), 0)
        assert result.draws.upper[draw] == pytest.approx(oracle.q, abs=1e-8)


def test_the_worked_example():
    example = shared_vectors(FURTHER_EXAMPLES)["grouped_draw"]
    value, tol = example["value"], example["tol"]
    codes = example["inputs"]["groups"]
    X = np.arange(10.0)[:, None]
    y = np.array([0, 1, 0, 0, 1, 0, 1, 1, 0, 1])
    problem = cud_interval(
        LeastSquaresClassifier().fit(X, y), X, y, groups=codes, n_resamples=2000, rng=0
    ).problem
    drawn = np.bincount(example["inputs"]["drawn_groups"], minlength=6)
    assert (drawn[codes] == value["counts"]).all()
    found = np.flatnonzero((problem.counts == value["counts"]).all(axis=1))
    assert found.size > 0
    for draw in found:
        assert problem.counts[draw].sum() == value["total"]
        assert problem.score_weights(draw) == pytest.approx(value["score_weights"], abs=tol)
        losses = (problem.labels - problem.scores(problem.coef)) ** 2
        mean = sum(count * loss for count, loss in zip(value["counts"], losses, strict=True)) / value["total"]
        assert problem.mean_loss(draw, problem.coef) == pytest.approx(mean, abs=tol)


def test_groups_of_one_row_are_no_groups():
    clf, X, y = fitted_sample(24, seed=5)
    plain = cud_interval(clf, X, y, n_resamples=100, rng=1, all_draws=True)
    single = cud_interval(
        clf, X, y, groups=[f"patient {i}" for i in range(24)], n_resamples=100, rng=1, all_draws=True
    )
    assert single.problem.draw_scale is None
    assert single.problem.weights is None
    assert (single.problem.counts == plain.problem.counts).all()
    assert (single.draws.upper == plain.draws.upper).all()
    assert single.q == plain.q


def test_repeated_rows_of_every_patient_change_nothing_but_localization():
    # every patient twice: each draw has the errors and the mean losses of the draw of single patients
    X, y = sample(15, seed=6)
    twice, of = np.repeat(X, 2, axis=0), np.repeat(np.arange(15), 2)
    once = cud_interval(LeastSquaresClassifier().fit(X, y), X, y, n_resamples=60, rng=2, all_draws=True)
    clf = LeastSquaresClassifier().fit(twice, y[of])
    how = {"groups": of, "n_resamples": 60, "all_draws": True, "bound": Bound(localization=15.0)}
    doubled = cud_interval(clf, twice, y[of], rng=2, **how)
    assert doubled.draws.upper == pytest.approx(once.draws.upper, abs=1e-9)
    assert doubled.q == pytest.approx(once.q, abs=1e-9)


def test_bounds_hold_in_exact_arithmetic():
    X, y, codes = grouped_data(4)
    result = cud_interval(
        LeastSquaresClassifier().fit(X, y), X, y, groups=codes, n_resamples=8, rng=0, all_draws=True
    )
    assert result.problem.draw_scale is not None
    for draw in range(8):
        assert faults(result.problem, result.draws, draw, "both") == []


def test_counts_are_those_of_drawn_groups():
    groups = Groups.of(["a", "a", "b", "c", "c", "c"])
    drawn = draw_counts(3, 50, np.random.default_rng(9))
    counts = draw_counts(6, 50, np.random.default_rng(9), groups)
    for one, rows in zip(drawn.tolist(), counts.tolist(), strict=True):
        assert rows == [one[0], one[0], one[1], one[2], one[2], one[2]]
    assert counts.dtype == np.int32
    assert counts.flags.c_contiguous
