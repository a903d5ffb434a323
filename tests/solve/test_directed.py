"""The search for quantiles against the search of all draws: same numbers, brackets that hold, same bits, few nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from worlds import FEATURES, world_problem

from cudbound.basis.exceptions import NotCertifiedWarning, SolveInterrupted
from cudbound.losses.surrogates import LOSSES, get_loss
from cudbound.problem.draws import Draws, SolveStatus
from cudbound.problem.problem import Problem
from cudbound.solve.native import minimize
from cudbound.solve.search import SearchLimits, solve_draws

SIDES = ("both", "positive", "negative")
#: Two searches reach a draw's Q on different paths. A smooth loss is known to 1e-10 of it, times alpha_n = n <= 24.
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Case:
    """A random problem with a side and one to three ranks in ascending order."""

    problem: Problem
    side: str
    ranks: list[int]


def case(seed: int, *, loss: str | None = None) -> Case:
    """Return a random case; the six losses, three kinds of weights, penalties, offsets and sides take turns."""
    rng = np.random.default_rng([seed, 11])
    name = loss or tuple(LOSSES)[seed % 6]
    n, p, n_draws = int(rng.integers(6, 25)), int(rng.integers(1, 5)), int(rng.integers(5, 60))
    signal = float(rng.choice([0.0, 0.5, 2.0]))
    features = FEATURES[rng.integers(3)]
    intercept = p == 1 or rng.random() < 0.7
    problem = world_problem(n, p, signal, seed, n_draws=n_draws, features=features, intercept=bool(intercept))
    # hardly any cell of a piecewise or exponential loss without a penalty is cheap: most get one
    free = name == "squared" or rng.random() < 0.3
    penalty = None if free else rng.choice([0.01, 0.1], size=p)
    problem = replace(problem, loss=get_loss(name), penalty=penalty)
    if rng.random() < 0.3:
        problem = replace(problem, sample_weight=rng.choice([0.5, 1.0, 2.0], size=n))
    once = replace(problem, counts=np.ones((1, n), dtype=np.int32))
    problem = replace(
        problem, coef=minimize(once).coef[0], localization=float(rng.choice([0.0, n / 4, n, n, n**2]))
    )
    kind = rng.integers(3)
    if kind == 1:
        positive = problem.labels > 0
        drawn = np.maximum(problem.counts[:, positive].sum(axis=1, keepdims=True), 1)
        problem = replace(
            problem, weights=np.where(positive, problem.counts / drawn - 1 / positive.sum(), 0.0)
        )
    elif kind == 2:
        problem = replace(problem, weights=rng.normal(size=(n_draws, n)) * (rng.random((n_draws, n)) < 0.8))
    ranks = np.unique(rng.integers(1, n_draws + 1, size=rng.integers(1, 4)))
    return Case(problem, SIDES[rng.integers(3)], ranks.tolist())


def tolerance_of(problem: Problem, exact: Draws) -> float:
    """By what two searches may differ: Newton's method knows a loss to some 1e-9, which counts times alpha."""
    if problem.loss.name in ("squared", "hinge"):
        return TOLERANCE
    return 10 * TOLERANCE * max(1.0, float(exact.upper.max()))


def assert_brackets_hold(found: Draws, exact: Draws, ranks: list[int], tolerance: float = TOLERANCE) -> None:
    assert (found.lower <= exact.upper + tolerance).all()
    assert (found.upper >= exact.lower - tolerance).all()
    for rank in ranks:
        low, high = found.bracket(rank)
        exact_low, exact_high = exact.bracket(rank)
        assert low <= high
        assert low <= exact_high + tolerance, (rank, low, exact_high)
        assert high >= exact_low - tolerance, (rank, high, exact_low)


def assert_quantiles_agree(one: Case) -> int:
    """Check one case against the search of all draws; return how many of its ranks were proved."""
    exact = solve_draws(one.problem, side=one.side)
    found = solve_draws(one.problem, side=one.side, ranks=one.ranks)
    tolerance = tolerance_of(one.problem, exact)
    assert_brackets_hold(found, exact, one.ranks, tolerance)
    proved = 0
    for rank in one.ranks:
        low, high = found.bracket(rank)
        if SolveStatus.INACCURATE not in (*exact.status, *found.status):
            assert low == high
            assert abs(high - exact.bracket(rank)[1]) <= tolerance
        proved += low == high
    # rounding apart, a draw that is said to lie on one side of the quantiles lies there
    for draw in np.flatnonzero(found.status == SolveStatus.DECIDED):
        for rank in one.ranks:
            low, high = found.bracket(rank)
            assert found.upper[draw] <= low or found.lower[draw] > high or low == high
    return proved


# ---- the same quantiles ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_quantiles_are_those_of_all_draws(loss: str) -> None:
    cases = [case(seed, loss=loss) for seed in range(12)]
    proved = sum(assert_quantiles_agree(one) for one in cases)
    # rounding may leave a quantile open, but seldom
    assert proved >= 0.8 * sum(len(one.ranks) for one in cases)


def test_the_slow_solver_solves_every_draw() -> None:
    problem = world_problem(10, 2, 1.0, 0, n_draws=4)
    slow = solve_draws(problem, ranks=3, limits=SearchLimits(solver="cvxpy"))
    assert slow.certified.all()
    np.testing.assert_allclose(solve_draws(problem, ranks=3).bracket(3), slow.bracket(3), atol=1e-8)


# ---- limits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_brackets_hold_under_every_limit(seed: int) -> None:
    one = case(seed)
    exact = solve_draws(one.problem, side=one.side)
    for limits in (
        {"limits": SearchLimits(nodes_per_draw=0)},
        {"limits": SearchLimits(nodes_per_draw=3)},
        {"limits": SearchLimits(nodes=0)},
        {"limits": SearchLimits(nodes=40)},
        {"limits": SearchLimits(seconds=0.0)},
    ):
        limited = solve_draws(one.problem, side=one.side, ranks=one.ranks, **limits)
        assert_brackets_hold(limited, exact, one.ranks)
        # and what is proved is a start for the rest
        resumed = solve_draws(one.problem, side=one.side, ranks=one.ranks, previous=limited)
        assert_brackets_hold(resumed, exact, one.ranks)
        assert (resumed.lower >= limited.lower).all()
        assert (
            resumed.upper <= limited.upper + 1e-12
        ).all()  # a value that is found may be above by rounding
        if SolveStatus.INACCURATE not in (*exact.status, *resumed.status):
            for rank in one.ranks:
                low, high = resumed.bracket(rank)
                assert low == high


@pytest.mark.parametrize("solver", ["native", "cvxpy"])
def test_limits_of_the_whole_call(solver: str) -> None:
    problem = world_problem(12, 3, 0.0, 0, n_draws=5)
    exact = solve_draws(problem)
    for limits, status in (
        (SearchLimits(solver=solver, nodes=0), SolveStatus.NODE_LIMIT),
        (SearchLimits(solver=solver, seconds=0.0), SolveStatus.TIME_LIMIT),
    ):
        limited = solve_draws(problem, limits=limits)
        assert status in limited.status
        assert (limited.lower <= exact.upper + TOLERANCE).all()
        assert (limited.upper >= exact.upper - TOLERANCE).all()
    free = solve_draws(problem, limits=SearchLimits(solver=solver, nodes=math.inf, seconds=math.inf))
    np.testing.assert_allclose(free.upper, exact.upper, atol=1e-8)


# ---- going on ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_other_ranks_go_on_from_decided_draws(seed: int) -> None:
    one = case(seed)
    exact = solve_draws(one.problem, side=one.side)
    first = solve_draws(one.problem, side=one.side, ranks=one.ranks)
    others = sorted({1, one.problem.n_draws // 2 + 1, one.problem.n_draws})
    second = solve_draws(one.problem, side=one.side, ranks=others, previous=first)
    assert_brackets_hold(second, exact, [*one.ranks, *others])
    assert (second.nodes >= first.nodes).all()
    whole = solve_draws(one.problem, side=one.side, previous=second)
    np.testing.assert_allclose(whole.upper, exact.upper, rtol=0.0, atol=TOLERANCE)
    done = second.certified
    np.testing.assert_array_equal(whole.nodes[done], second.nodes[done])


# ---- words -------------------------------------------------------------------------------------------------------


def test_an_interruption_says_what_is_proved() -> None:
    problem = world_problem(20, 3, 1.0, 0, n_draws=20)
    draws = solve_draws(problem, ranks=19, limits=SearchLimits(nodes_per_draw=0))
    stopped = SolveInterrupted(draws, "the half-width is between 0.1 and 0.2")
    assert str(stopped).startswith(
        f"stopped with {int(draws.decided.sum())} of 20 draws solved; the half-width is"
    )
    assert NotCertifiedWarning("", half_width=(0.1, 0.2)).half_width == (0.1, 0.2)
