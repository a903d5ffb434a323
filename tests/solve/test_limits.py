"""Limits of the search: plans, budgets, interruption, resuming, progress."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles import check_witness
from random_problems import make
from worlds import surrogate_problem, world_problem

from cudbound import Bound, LeastSquaresClassifier, compare_intervals, cud_interval
from cudbound.basis.calls import Progress, shared
from cudbound.basis.exceptions import NotCertifiedWarning
from cudbound.problem.draws import Draws, SolveStatus
from cudbound.problem.problem import Problem
from cudbound.solve.search import (
    DEFAULT_SECONDS,
    LEAST_NODES,
    SearchLimits,
    node_budget,
    solve_draws,
)

# ---- limits ----


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


# ---- the plan of a limited search ----


N_DRAWS = 500
RANK = 475

#: Rows, coefficients, signal and loss.
PROBLEMS = [
    (50, 5, 0.0, "squared"),
    (100, 4, 0.0, "squared"),
    (100, 8, 1.0, "squared"),
    (200, 10, 2.0, "squared"),
    (40, 4, 0.0, "logistic"),
    (60, 6, 1.0, "logistic"),
    (100, 8, 2.0, "logistic"),
    (40, 4, 0.0, "squared_hinge"),
    (60, 6, 1.0, "squared_hinge"),
    (100, 8, 2.0, "squared_hinge"),
]


def problem_of(n: int, p: int, signal: float, loss: str) -> Problem:
    if loss == "squared":
        return world_problem(n, p, signal, 7, n_draws=N_DRAWS)
    return surrogate_problem(n, p, signal, 7, n_draws=N_DRAWS, loss=loss, c=1.0)


@pytest.mark.parametrize(
    ("n", "p", "signal", "loss"),
    [pytest.param(*sizes, marks=pytest.mark.slow if sizes[0] == 100 else ()) for sizes in PROBLEMS],
)
def test_a_larger_limit_is_not_slower_to_the_same_answer(n: int, p: int, signal: float, loss: str) -> None:
    problem = problem_of(n, p, signal, loss)
    proved = solve_draws(problem, ranks=RANK, limits=SearchLimits(nodes=10**9))
    lower, upper = proved.bracket(RANK)
    assert lower == upper
    # setting up each search counts as 12 nodes
    enough = int(proved.nodes.sum()) + 12 * N_DRAWS
    taken = []
    for share in (0.25, 0.5, 1.0, 1.5, 2.0, 4.0, 16.0):
        draws = solve_draws(problem, ranks=RANK, limits=SearchLimits(nodes=int(share * enough)))
        bracket = draws.bracket(RANK)
        assert bracket[0] <= lower <= bracket[1]
        if share >= 1.5:
            assert bracket == (lower, upper)
        if bracket == (lower, upper):
            taken.append(int(draws.nodes.sum()))
    # a tenth, or what takes a few milliseconds
    assert max(taken) <= 1.1 * taken[0] + 500


# ---- how much work a search may be ----


def test_larger_problems_get_fewer_nodes_of_the_same_time() -> None:
    small, large = (world_problem(n, p, 0.0, 0, n_draws=2) for n, p in ((30, 2), (300, 30)))
    logistic = surrogate_problem(50, 5, 0.0, 0, n_draws=2, loss="logistic", c=1.0)
    squared = world_problem(50, 5, 0.0, 0, n_draws=2)
    assert node_budget(small) > node_budget(large) > LEAST_NODES
    assert node_budget(squared) > 5 * node_budget(logistic) > 5 * LEAST_NODES
    for problem in (small, large, logistic, squared):
        assert node_budget(problem, DEFAULT_SECONDS) == node_budget(problem)
        assert node_budget(problem, 2.0 * DEFAULT_SECONDS) == pytest.approx(2 * node_budget(problem), abs=1)
    assert node_budget(squared, 0.0) == LEAST_NODES
    assert node_budget(squared, 1e308) < 2**63  # the quotient is infinite


def noisy_rows(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.normal(size=(n, p)), np.where(rng.random(n) < 0.5, 1, 0)


def test_the_default_call_ends_with_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cudbound.solve.search.DEFAULT_SECONDS", 0.004)
    X, y = noisy_rows(60, 6)
    clf = LeastSquaresClassifier().fit(X, y)
    with pytest.warns(
        NotCertifiedWarning, match=r"A limit stopped the search after \d+ nodes.*Bound\(nodes=math\.inf"
    ):
        result = cud_interval(clf, X, y, n_resamples=200, rng=0)
    assert result.q_lower < result.q
    with pytest.warns(NotCertifiedWarning):
        again = cud_interval(clf, X, y, n_resamples=200, rng=0, n_jobs=2)
    assert (again.q_lower, again.q) == (result.q_lower, result.q)
    with pytest.warns(NotCertifiedWarning):
        table = compare_intervals(clf, X, y, methods=["cud"], n_resamples=200, rng=0)
    assert table["cud"] == result.row
    # the ways out
    whole = result.at(limits=SearchLimits(nodes=np.inf))
    assert whole.certified
    assert (whole.draws.nodes >= result.draws.nodes).all()
    assert result.q_lower <= whole.q <= result.q
    assert cud_interval(clf, X, y, n_resamples=200, rng=0, bound=Bound(seconds=600.0)).q == whole.q
    assert cud_interval(clf, X, y, n_resamples=200, rng=0, all_draws=True).draws.certified.all()
