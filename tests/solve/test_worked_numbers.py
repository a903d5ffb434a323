"""The worked numbers of the CUD bound, by the compiled solver."""

from __future__ import annotations

from dataclasses import replace

import pytest
from cud_vectors import vector_problem
from oracles import check_witness

from cudbound.problem.problem import Problem
from cudbound.solve.search import solve_draws


def q_at(problem: Problem, alpha: float, side: str = "both") -> float:
    draws = solve_draws(replace(problem, localization=alpha), side=side)
    assert draws.certified.all()
    assert draws.lower[0] == draws.upper[0]
    check_witness(replace(problem, localization=alpha), 0, draws, side=side)
    return float(draws.upper[0])


@pytest.mark.parametrize("name", ["cud_A_0", "cud_duplicates", "cud_sens"])
def test_q_at_every_alpha(name: str) -> None:
    problem, alphas, expected = vector_problem(name)
    assert problem.mean_loss(0, problem.coef) == pytest.approx(expected["loss_of_fhat"], abs=1e-12)
    for alpha, q in zip(alphas, expected["Q"], strict=True):
        assert q_at(problem, alpha) == pytest.approx(q, abs=expected["tol"]), alpha


def test_one_sided_q_at_every_alpha() -> None:
    # the upper limit of the error needs sup(training error - bootstrap error) = sup of -S, the lower one sup of S
    problem, alphas, expected = vector_problem("cud_B_onesided")
    for j, alpha in enumerate(alphas):
        for side, values in (("negative", "Q_upper"), ("positive", "Q_lower"), ("both", "Q_two_sided")):
            assert q_at(problem, alpha, side) == pytest.approx(expected[values][j], abs=expected["tol"]), (
                alpha,
                side,
            )
