"""The plan of a limited search: a larger limit on nodes is not slower to the same answer."""

from __future__ import annotations

import pytest
from worlds import surrogate_problem, world_problem

from cudbound.problem.problem import Problem
from cudbound.solve.limits import SearchLimits
from cudbound.solve.search import solve_draws

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


@pytest.mark.parametrize(("n", "p", "signal", "loss"), PROBLEMS)
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
