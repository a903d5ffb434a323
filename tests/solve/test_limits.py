"""Limits, interruption, resuming, progress, and arguments of the solver."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles import check_witness
from random_problems import make
from worlds import world_problem

from cudbound.basis.calls import Progress, shared
from cudbound.problem.draws import Draws, SolveStatus
from cudbound.problem.problem import Problem
from cudbound.solve.limits import SearchLimits
from cudbound.solve.search import solve_draws

FIELDS = ("lower", "upper", "status", "nodes", "witness")


@pytest.fixture(scope="module")
def noise() -> Problem:
    """Labels independent of the features: hundreds of nodes per draw."""
    return world_problem(50, 5, 0.0, 4, n_draws=30)


@pytest.fixture(scope="module")
def exact(noise: Problem) -> Draws:
    draws = solve_draws(noise)
    assert draws.certified.all()
    assert draws.nodes.max() > 200
    return draws


def hard() -> Problem:
    """Pure noise in 20 dimensions: hours."""
    return world_problem(200, 20, 0.0, 0, n_draws=4)


def assert_bounds_hold(problem: Problem, draws: Draws, exact: Draws, rows: slice = slice(None)) -> None:
    assert (draws.lower <= draws.upper).all()
    assert (draws.lower <= exact.upper[rows] + 1e-12).all()
    assert (draws.upper >= exact.upper[rows] - 1e-12).all()
    np.testing.assert_array_equal(draws.lower[draws.certified], draws.upper[draws.certified])
    for draw in range(problem.n_draws):
        check_witness(problem, draw, draws)


# ---- limits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["both", "positive", "negative"])
def test_a_node_limit_ends_in_bounds_that_hold_and_tighten(noise: Problem, side: str) -> None:
    problem = noise.select(range(8))
    exact = solve_draws(problem, side=side)
    upper, seen = np.full(8, np.inf), set()
    for limit in (0, 1, 2, 3, 5, 8, 13, 30, 60, 120, 250, 500, 1000, 10_000):
        draws = solve_draws(problem, side=side, limits=SearchLimits(nodes_per_draw=limit))
        assert (draws.nodes <= limit).all()
        assert (draws.lower <= draws.upper).all()
        assert (draws.lower <= exact.upper + 1e-12).all()
        assert (draws.upper >= exact.upper - 1e-12).all()
        assert (draws.upper <= upper + 1e-12).all(), "more nodes must not give a worse bound"
        upper = draws.upper
        left = ~draws.certified
        assert (draws.status[left] == SolveStatus.NODE_LIMIT).all()
        assert (draws.lower[left] < draws.upper[left]).all()
        np.testing.assert_array_equal(draws.lower[~left], draws.upper[~left])
        seen.add(int(left.sum()))
        for draw in range(8):
            check_witness(problem, draw, draws, side=side)
    assert max(seen) == 8
    assert min(seen) == 0
    assert len(seen) > 3
    np.testing.assert_array_equal(upper, exact.upper)


@pytest.mark.parametrize(
    "kind", ["weak_labels", "integer_features", "duplicates_opposite_labels", "penalized"]
)
def test_a_node_limit_on_small_problems_of_other_kinds(kind: str) -> None:
    stopped = 0
    for seed in range(30):
        problem = make(kind, seed)
        exact = solve_draws(problem)
        for limit in (0, 1, 2, 4, 8):
            draws = solve_draws(problem, limits=SearchLimits(nodes_per_draw=limit))
            assert_bounds_hold(problem, draws, exact)
            stopped += int((~draws.certified).sum())
    assert stopped > 30


def test_no_nodes_at_all_still_give_bounds(noise: Problem, exact: Draws) -> None:
    draws = solve_draws(noise, limits=SearchLimits(nodes_per_draw=0))
    assert_bounds_hold(noise, draws, exact)
    assert (draws.nodes == 0).all()
    # at worst every row that was not drawn counts
    assert (draws.upper <= (noise.counts == 0).mean(axis=1) + 1e-12).all()


def test_a_time_limit_holds() -> None:
    problem = hard()
    started = time.process_time()
    draws = solve_draws(problem, limits=SearchLimits(seconds=0.1))
    elapsed = time.process_time() - started
    assert (draws.status == SolveStatus.TIME_LIMIT).any()
    assert (draws.lower[~draws.certified] < draws.upper[~draws.certified]).all()
    assert elapsed < 4 * 0.1 + 1.0
    for draw in range(4):
        check_witness(problem, draw, draws)


# ---- going on from an earlier result -----------------------------------------------------------------------------


def test_going_on_gives_the_result_of_a_run_without_limit(noise: Problem, exact: Draws) -> None:
    limited = solve_draws(noise, limits=SearchLimits(nodes_per_draw=60))
    assert 0 < limited.certified.sum() < noise.n_draws
    resumed = solve_draws(noise, previous=limited)
    for name in ("lower", "upper", "status", "witness"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(exact, name), err_msg=name)
    # what was certified is not solved again, the others are, from the start
    spent = np.where(limited.certified, 0, exact.nodes)
    np.testing.assert_array_equal(resumed.nodes, limited.nodes + spent)


def test_a_second_limited_run_keeps_what_the_first_proved(noise: Problem, exact: Draws) -> None:
    first = solve_draws(noise, limits=SearchLimits(nodes_per_draw=60))
    second = solve_draws(noise, limits=SearchLimits(nodes_per_draw=10), previous=first)
    assert (second.lower >= first.lower).all()
    assert (second.upper <= first.upper).all()
    np.testing.assert_array_equal(second.certified, first.certified)
    assert_bounds_hold(noise, second, exact)


OTHER_PROBLEMS = {
    "design": lambda problem: replace(problem, design=problem.design + 1e-9),
    "labels": lambda problem: replace(problem, labels=-problem.labels),
    "coef": lambda problem: replace(problem, coef=problem.coef * 1.5),
    "counts": lambda problem: replace(problem, counts=problem.counts[::-1]),
    "localization": lambda problem: replace(problem, localization=1.0),
    "weights": lambda problem: replace(problem, weights=np.ones(problem.counts.shape)),
    "penalty": lambda problem: replace(problem, penalty=np.ones(problem.coef.size)),
}
ANOTHER = r"'previous' must contain draws of the same problem\. Got .* another one \(other data, rng, localization or"


@pytest.mark.parametrize("solver", ["native", "cvxpy"])
@pytest.mark.parametrize("change", OTHER_PROBLEMS)
def test_draws_of_another_problem_are_refused(change: str, solver: str) -> None:
    problem = make("general", 0)
    earlier = solve_draws(problem)
    assert earlier.certified.all()
    with pytest.raises(ValueError, match=ANOTHER + r".*previous=None to start again"):
        solve_draws(OTHER_PROBLEMS[change](problem), limits=SearchLimits(solver=solver), previous=earlier)


def test_draws_that_were_taken_apart_are_refused() -> None:
    problem = make("general", 0)
    earlier = solve_draws(problem)
    turned = Draws(*(getattr(earlier, name)[::-1] for name in FIELDS))
    with pytest.raises(ValueError, match=ANOTHER + " side, or a subset of draws"):
        solve_draws(problem, previous=turned)


def test_either_solver_goes_on_from_the_other_and_again() -> None:
    problem = make("weak_labels", 3)
    limited = solve_draws(problem, limits=SearchLimits(nodes_per_draw=1))
    slow = solve_draws(problem, limits=SearchLimits(solver="cvxpy", nodes_per_draw=1), previous=limited)
    done = solve_draws(problem, previous=slow)
    assert done.certified.all()
    digests = {draws.problem_digest for draws in (limited, slow, done)}
    assert digests == {problem.digest("both")}
    assert (
        solve_draws(problem, limits=SearchLimits(solver="cvxpy", nodes_per_draw=0)).problem_digest in digests
    )


# ---- progress ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["native", "cvxpy"])
def test_progress_goes_to_standard_error_and_changes_nothing(
    solver: str, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = make("two_coefficients", 1)
    with shared(Progress(shown=True, since=0.0)):
        draws = solve_draws(problem, limits=SearchLimits(solver=solver))
    output = capsys.readouterr()
    assert output.out == ""
    assert "draws:" in output.err
    assert "/3" in output.err
    quiet = solve_draws(problem, limits=SearchLimits(solver=solver))
    assert capsys.readouterr() == ("", "")
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(draws, name), getattr(quiet, name))


# ---- arguments ---------------------------------------------------------------------------------------------------


def variants(problem: Problem) -> dict[str, tuple[Any, Any, Any, Any, Any]]:
    """Return the same arrays in other types and layouts."""
    arrays = (problem.design, problem.labels, problem.coef, problem.counts, problem.weights)
    read_only = tuple(array.copy() for array in arrays)
    for array in read_only:
        array.flags.writeable = False
    strided = tuple(np.repeat(array, 2, axis=-1)[..., ::2] for array in arrays)
    return {
        "lists": tuple(array.tolist() for array in arrays),
        "Fortran order": tuple(np.asfortranarray(array) for array in arrays),
        "read-only": read_only,
        "strided": strided,
        "reversed views": tuple(np.ascontiguousarray(array[..., ::-1])[..., ::-1] for array in arrays),
        "big-endian": tuple(array.astype(array.dtype.newbyteorder(">")) for array in arrays),
        "float32 design": (arrays[0].astype(np.float32), *arrays[1:]),
        "integer labels": (arrays[0], arrays[1].astype(np.int8), *arrays[2:]),
        "int64 counts": (*arrays[:3], arrays[3].astype(np.int64), arrays[4]),
        "uint8 counts": (*arrays[:3], arrays[3].astype(np.uint8), arrays[4]),
        "float counts": (*arrays[:3], arrays[3].astype(float), arrays[4]),
    }


@pytest.mark.parametrize("name", sorted(variants(replace(make("general", 0), weights=np.zeros((3, 1))))))
def test_arrays_of_any_type_and_layout_give_the_same_bits(name: str) -> None:
    problem = world_problem(30, 3, 0.5, 0, n_draws=5, features="integer")
    # integers and multiples of 1/64 are the same numbers in float32
    design = problem.design + np.random.default_rng(0).integers(0, 64, size=problem.design.shape) / 64.0
    weights = np.array([problem.score_weights(draw) for draw in range(5)])
    problem = replace(problem, design=design, weights=weights)
    expected = solve_draws(problem)
    design, labels, coef, counts, weights = variants(problem)[name]
    draws = solve_draws(Problem.of(design, labels, coef, counts, weights=weights))
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(draws, field), getattr(expected, field), err_msg=field)


def test_no_draws_at_all() -> None:
    problem = world_problem(10, 2, 1.0, 0, n_draws=1)
    for solver in ("native", "cvxpy"):
        draws = solve_draws(problem.select([]), limits=SearchLimits(solver=solver))
        assert len(draws) == 0
        assert draws.witness.shape == (0, 2)
        assert len(draws.to_frame()) == 0


def test_alpha_is_the_number_of_rows_unless_given() -> None:
    problem = world_problem(20, 3, 0.5, 0, n_draws=10)
    arrays = (problem.design, problem.labels, problem.coef, problem.counts)
    upper, of_rows, of_zero = (
        solve_draws(Problem.of(*arrays, localization=rate)).upper for rate in (None, 20, 0)
    )
    np.testing.assert_array_equal(upper, of_rows)
    assert (upper != of_zero).any()
