"""The compiled solver under every loss: against enumeration, the reference solver, and relations that Q satisfies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis_cases import Case, assert_same_q, cases, of_examples, solved, with_weights
from oracles import OracleResult, check_witness, enumerate_q
from random_problems import KINDS, N_DRAWS, make_with_loss
from worlds import world_problem

from cudbound.losses.surrogates import LOSSES, get_loss
from cudbound.problem.draws import SolveStatus, draw_counts
from cudbound.problem.problem import Problem
from cudbound.solve import native as kernel
from cudbound.solve.search import SearchLimits, solve_draws

SIDES = ("both", "positive", "negative")
TOLERANCE = 1e-6


def values_of(oracle: OracleResult) -> dict[str, float]:
    return {"both": oracle.q, "positive": max(oracle.q_plus, 0.0), "negative": max(oracle.q_minus, 0.0)}


def assert_equal_to_enumeration(problem: Problem, draw: int, label: object) -> int:
    """Return how many of the sides rounding left without proof; their bounds must enclose the answer."""
    expected = values_of(enumerate_q(problem, draw))
    left_open = 0
    for side in SIDES:
        draws = solve_draws(problem, side=side)
        assert draws.lower[draw] <= expected[side] + TOLERANCE, (label, side)
        assert draws.upper[draw] >= expected[side] - TOLERANCE, (label, side)
        check_witness(problem, draw, draws, side=side)
        if draws.status[draw] == SolveStatus.INACCURATE:
            left_open += 1
            continue
        assert draws.status[draw] == SolveStatus.OPTIMAL, (label, side, draws)
        assert draws.lower[draw] == pytest.approx(expected[side], abs=TOLERANCE), (label, side)
        assert draws.upper[draw] == pytest.approx(expected[side], abs=TOLERANCE), (label, side)
    return left_open


# ---- against other solvers -------------------------------------------------------------------------------------


# The first seeds of each kind; what follows is mixed at random.
CHOSEN: list[dict[str, bool]] = [
    {"penalized": False},  # unless the kind has a penalty
    {"penalized": True, "weighted": False},
    {"weighted": True, "shifted": True},  # with sample weights and an offset
]


def count_open(kind: str, loss: str, seeds: Iterable[int]) -> int:
    """Count what rounding leaves open, most of all draws with flat directions: then the bounds must enclose."""
    left_open = 0
    for seed in seeds:
        options = CHOSEN[seed] if seed < len(CHOSEN) else {}
        problem = make_with_loss(kind, seed, loss, **options)
        left_open += assert_equal_to_enumeration(problem, seed % N_DRAWS, (kind, seed))
    return left_open


@pytest.mark.parametrize("loss", LOSSES)
def test_kernel_equals_enumeration(loss: str) -> None:
    assert sum(count_open(kind, loss, [i % 3]) for i, kind in enumerate(KINDS)) <= 4


@pytest.mark.parametrize("loss", LOSSES)
def test_kernel_equals_reference(loss: str) -> None:
    for i, kind in enumerate(KINDS):
        problem = make_with_loss(kind, 3000 + i, loss).select(i % N_DRAWS)
        side = SIDES[i % 4 % 3]  # both sides at once in every other problem
        native = solve_draws(problem, side=side)
        reference = solve_draws(problem, side=side, limits=SearchLimits(solver="cvxpy"))
        assert native.certified.all(), (kind, native)
        assert reference.certified.all(), (kind, reference)
        assert native.upper[0] == pytest.approx(reference.upper[0], abs=TOLERANCE), (kind, side)
        check_witness(problem, 0, native, side=side)


# ---- larger problems -------------------------------------------------------------------------------------------


def fitted_world(
    loss: str, n: int, p: int, signal: float, seed: int, n_draws: int, penalty: float | None = None
) -> Problem:
    """Return a `world_problem` whose anchor minimizes the penalized loss of the training set."""
    problem = world_problem(n, p, signal, seed, n_draws=n_draws)
    problem = replace(problem, loss=get_loss(loss), penalty=None if penalty is None else np.full(p, penalty))
    training = replace(problem, counts=np.ones((1, n), dtype=np.int32))
    found = kernel.minimize(training)
    assert found.attained.all()
    return replace(problem, coef=found.coef[0])


# Upper limits of the nodes of 20 draws, three times what the solver took when they were written: a change of the
# search that loses one of its bounds takes tens to thousands of times as many.
MOST_NODES = {
    "squared": (250, 1_200, 2_000),
    "logistic": (350, 1_200, 3_300),
    "exponential": (350, 1_200, 3_000),
    "squared_hinge": (350, 900, 4_700),
    "hinge": (350, 900, 4_700),
    "huber": (350, 900, 4_700),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_number_of_nodes(loss: str) -> None:
    worlds = ((50, 3, 1.0, None), (50, 5, 0.5, 0.01), (40, 4, 0.0, None))
    for (n, p, signal, penalty), most in zip(worlds, MOST_NODES[loss], strict=True):
        problem = fitted_world(loss, n, p, signal, 0, n_draws=20, penalty=penalty)
        draws = solved(problem)
        for draw in range(problem.n_draws):
            check_witness(problem, draw, draws)
        assert draws.nodes.sum() <= most, (n, p, signal)


@pytest.mark.parametrize("loss", LOSSES)
def test_more_coefficients_than_rows_with_a_ridge_penalty(loss: str) -> None:
    n, p = 40, 200
    rng = np.random.default_rng(5)
    design = np.column_stack([np.ones(n), rng.normal(size=(n, p - 1))])
    labels = np.where(design[:, 1] + rng.normal(size=n) > 0.0, 1.0, -1.0)
    penalty = np.full(p, 1.0)
    penalty[0] = 0.0
    problem = Problem.of(design, labels, np.zeros(p), draw_counts(n, 3, rng), loss=loss, penalty=penalty)
    problem = replace(
        problem, coef=kernel.minimize(replace(problem, counts=np.ones((1, n), np.int32))).coef[0]
    )
    draws = solve_draws(problem, limits=SearchLimits(nodes_per_draw=300))
    assert (draws.lower <= draws.upper).all()
    assert np.isin(draws.status, (SolveStatus.OPTIMAL, SolveStatus.NODE_LIMIT)).all()
    np.testing.assert_array_equal(draws.lower[draws.certified], draws.upper[draws.certified])
    for draw in range(problem.n_draws):
        check_witness(problem, draw, draws)
    # a stronger penalty leaves fewer classifiers in reach
    assert solve_draws(replace(problem, localization=1e4)).certified.all()


# ---- relations that other losses add to those of test_properties.py ---------------------------------------------

RELATION = of_examples(60)
every_loss = cases(losses=tuple(LOSSES), penalized=True, infinite=False)


@RELATION
@given(every_loss)
def test_counts_are_copies_of_rows(case: Case) -> None:
    # n mean losses stay as they are when alpha / n and n times the penalty do
    problem = with_weights(case.problem.select(0))
    n, counts = problem.labels.size, problem.counts[0]
    copies = np.repeat(np.arange(n), np.maximum(counts, 1))
    drawn = counts[copies] > 0
    share = copies.size / n
    written_out = replace(
        problem,
        design=problem.design[copies],
        labels=problem.labels[copies],
        counts=drawn[None].astype(np.int32),
        weights=(problem.weights / np.maximum(counts, 1))[:, copies],
        sample_weight=None if problem.sample_weight is None else problem.sample_weight[copies],
        offset=None if problem.offset is None else problem.offset[copies],
        penalty=None if problem.penalty is None else problem.penalty / share,
        localization=problem.localization * share,
    )
    assert written_out.mean_loss(0, problem.coef) * share == pytest.approx(problem.mean_loss(0, problem.coef))
    assert_same_q(problem, written_out)


@RELATION
@given(every_loss)
def test_penalty_offset_and_weights_of_no_effect(case: Case) -> None:
    n, p = case.problem.design.shape
    bare = replace(case.problem, penalty=None, sample_weight=None, offset=None)
    dressed = replace(bare, penalty=np.zeros(p), sample_weight=np.ones(n), offset=np.zeros(n))
    assert_same_q(bare, dressed)


def test_bounds_enclose_where_rounding_hides_the_minimizer_of_a_draw() -> None:
    # the loss overflows on the way: nothing may be claimed of the point where the search for the minimizer ended
    problem = make_with_loss("no_intercept", 142, "exponential").select(2)
    expected = enumerate_q(problem, 0).q
    draws = solve_draws(problem)
    assert draws.lower[0] <= expected + TOLERANCE
    assert draws.upper[0] >= expected - TOLERANCE
    check_witness(problem, 0, draws)


def test_rows_that_newton_puts_just_beside_a_common_flat() -> None:
    # x_8 = (x_0 + 2 x_10) / 3: at the minimizer of a cone all three are ties, one of them by a bit more than rounding,
    # and the cell with all three favorable sides, which does not exist, was taken for the best one
    design = np.column_stack(
        [
            np.ones(14),
            [-1, -2, -2, 1, -2, -1, 0, -2, 1, 2, 2, 0, 2, 2],
            [-2, -1, 2, 1, -1, -1, 0, 2, -2, 2, -2, 1, -2, -2],
        ]
    )
    labels = np.array([1, 1, 1, -1, -1, 1, -1, 1, -1, -1, -1, 1, -1, -1])
    problem = Problem.of(
        design,
        labels,
        np.array([-0.12258380229997551, -0.4286762906777588, 0.05676535356006857]),
        np.array([[0, 1, 2, 0, 0, 0, 0, 2, 0, 0, 2, 1, 1, 5]], dtype=np.int32),
        localization=14.0,
        loss="logistic",
        sample_weight=np.array([0.5, 0.5, 0.5, 2, 2, 0.5, 2, 2, 2, 1, 0.5, 2, 0, 1]),
    )
    draws = solve_draws(problem, side="negative")
    assert draws.certified.all()
    np.testing.assert_allclose(draws.upper, enumerate_q(problem, 0).q_minus, rtol=0.0, atol=TOLERANCE)


def test_the_best_cell_of_all_needs_no_certain_flat_directions() -> None:
    # at alpha = 0 the loss does not matter, and whether it is flat along a direction neither
    design = np.array(
        [
            [0, 1, 1, 0, 1],
            [0, 0, 1, 1, 1],
            [1, 0, 0, 0, 0],
            [0, 0, 1, 0, 0],
            [1, 0, 1, 1, 1],
            [1, 1, 1, 0, 1],
            [0, 1, 0, 1, 0],
            [0, 0, 0, 0, 1],
            [1, 1, 0, 1, 1],
        ]
    )
    problem = Problem.of(
        design,
        np.array([-1, 1, 1, 1, 1, -1, -1, 1, 1]),
        np.array([4, -10, -1, 4, 4]) / 7,
        np.array([[1, 0, 0, 2, 2, 2, 1, 0, 1]], dtype=np.int32),
        localization=0.0,
        penalty=np.array([0.0, 1.0, 0.01, 0.1, 0.0]),
        sample_weight=np.array([0.0, 0.5, 2.0, 0.5, 2.0, 0.5, 0.0, 1.0, 1.0]),
    )
    draws = solve_draws(problem)
    assert draws.certified.all()
    assert draws.upper[0] == pytest.approx(2 / 9)
