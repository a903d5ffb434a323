"""The compiled solver with an l1 penalty, against one convex program for each cell and against the reference solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from least_loss import q_by_one_program_a_cell
from oracles import check_witness
from random_problems import KINDS, make_with_loss
from tiers import each_tier

from cudbound.problem.draws import SolveStatus
from cudbound.problem.problem import Problem
from cudbound.solve import SearchLimits, solve_draws
from cudbound.solve.native import L1_LOSSES, unsupported

CVXPY = SearchLimits(solver="cvxpy")


def l1_problem(kind: str, seed: int, loss: str) -> Problem:
    """Return a problem of one draw, with an anchor that has zeros; the intercept is free in half of them."""
    problem = make_with_loss(kind, seed, loss).select(seed % 3)
    rng = np.random.default_rng([seed, 1])
    l1 = rng.choice([0.01, 0.1, 0.5, 2.0]) * rng.choice([0.5, 1.0, 1.5], size=problem.coef.size)
    if rng.random() < 0.5:
        l1[0] = 0.0
    coef = problem.coef * rng.choice([0.0, 0.5, 1.0], size=problem.coef.size)
    return replace(
        problem, l1_penalty=l1, coef=coef, localization=float(rng.choice([1.0, problem.labels.size]))
    )


@each_tier(range(2), range(2, 12), range(12, 120))
@pytest.mark.parametrize("loss", L1_LOSSES)
def test_kernel_equals_one_program_a_cell(loss: str, seeds: list[int]) -> None:
    asked, decided_by_the_loss, left_open = 0, 0, 0
    for kind in KINDS:
        for seed in seeds:
            problem = l1_problem(kind, seed, loss)
            if unsupported(problem) is not None:
                continue
            draws = solve_draws(problem)
            assert set(draws.status) <= {SolveStatus.OPTIMAL, SolveStatus.INACCURATE}
            expected, g = q_by_one_program_a_cell(problem)
            assert draws.lower[0] - 1e-6 <= expected <= draws.upper[0] + 1e-6, (kind, seed)
            check_witness(problem, 0, draws)
            asked += 1
            left_open += int(draws.upper[0] - draws.lower[0] > 1e-6)
            decided_by_the_loss += 0.0 < g < 1.0
    assert decided_by_the_loss > asked // 20
    assert left_open <= asked // 20
