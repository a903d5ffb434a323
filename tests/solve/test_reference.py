"""The reference solver against enumeration of all cells."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles import check_witness, enumerate_q
from random_problems import KINDS, make
from tiers import each_tier

from cudbound.basis.exceptions import CudboundWarning
from cudbound.losses.surrogates import get_loss
from cudbound.problem.draws import SolveStatus, draw_counts
from cudbound.problem.problem import Problem
from cudbound.solve.reference import solve_reference
from cudbound.solve.reference_cones import _Part
from cudbound.solve.reference_polish import Objective, polish

Array = NDArray[np.float64]

# ---- the reference solver ----------------------------------------------------------------------------------


@each_tier(range(2000, 2001), range(2001, 2004))
@pytest.mark.parametrize("kind", KINDS)
def test_reference_equals_enumeration(kind: str, seeds: list[int]) -> None:
    for seed in seeds:
        problem = make(kind, seed)
        draws = solve_reference(problem)[0]
        assert draws.certified.all()
        np.testing.assert_array_equal(draws.lower, draws.upper)
        for b in range(problem.n_draws):
            assert draws.upper[b] == pytest.approx(enumerate_q(problem, b).q, abs=1e-8), (seed, b)
            check_witness(problem, b, draws)


@each_tier(range(1), range(1, 4))
@pytest.mark.parametrize("kind", ["weak_labels", "duplicates_opposite_labels", "signed_weights"])
def test_one_sided_values_equal_enumeration(kind: str, seeds: list[int]) -> None:
    # the positive part of the deviation: 0 where no score has the sign that counts
    for seed in seeds:
        problem = make(kind, seed)
        for side in ("positive", "negative"):
            draws = solve_reference(problem, side=side)[0]
            assert draws.certified.all()
            for b in range(problem.n_draws):
                oracle = enumerate_q(problem, b)
                q = max(oracle.q_plus if side == "positive" else oracle.q_minus, 0.0)
                assert draws.upper[b] == pytest.approx(q, abs=1e-8), (seed, side, b)
                check_witness(problem, b, draws, side=side)


@pytest.mark.parametrize("alpha", [0.0, 0.25, 1.0, math.inf])
def test_a_sign_pattern_without_an_open_cell_does_not_count(alpha: float) -> None:
    # Rows a1 = (1, 0), a2 = (0, 1), a3 = a1 + a2, all labels +1, the third row drawn three times:
    # S = (-1, -1, 2)'e / 3. Right on 1 and 2, wrong on 3 would be worth 2/3, but a1'b > 0 and a2'b > 0 imply
    # a3'b > 0; the closed cone a1'b >= 0, a2'b >= 0, a3'b <= 0 holds b = 0 alone, with loss 1. The fit
    # (2/3, 2/3) has the loss (1 - 4/3)^2 = 1/9, so closed constraints would claim 2/3 (1 - 8 alpha / 9), at
    # alpha = 1/4 that is 14/27 > 1/3. The best open cell is right on 1 and 3, wrong on 2, at loss 0: Q = 1/3.
    design = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    problem = Problem.of(design, np.ones(3), [2 / 3, 2 / 3], [[0, 0, 3]], localization=alpha)
    oracle = enumerate_q(problem, 0)
    assert oracle.cells == 6
    assert oracle.q == pytest.approx(1 / 3, abs=1e-12)
    draws = solve_reference(problem)[0]
    assert draws.upper[0] == pytest.approx(1 / 3, abs=1e-10)
    check_witness(problem, 0, draws)


def test_polishing_keeps_a_right_guess_of_the_walls_and_refuses_a_wrong_one() -> None:
    # min |b - t|^2 over b >= 0 in the plane: t = (-1, 1) gives (0, 1); t = (1, 1) gives (1, 1), so that the
    # least point on the wall b1 = 0 is not the minimizer
    plane, none = np.eye(2), np.zeros(2)

    def distance(target: list[float]) -> Objective:
        return Objective(get_loss("squared"), plane, np.array(target), np.ones(2), none, none, none)

    polished = polish(distance([-1.0, 1.0]), plane, np.array([1e-9, 1.0 + 1e-9]))
    np.testing.assert_allclose(polished, [0.0, 1.0], atol=1e-15)
    assert polish(distance([1.0, 1.0]), plane, np.array([0.0, 1.0])) is None


# ---- limits, failures, interruption ------------------------------------------------------------------------


def hard_problem() -> Problem:
    """Pure noise, n = 12, p = 3, localization = n / 4: hundreds of nodes."""
    rng = np.random.default_rng(11)
    design = np.column_stack([np.ones(12), rng.normal(size=(12, 2))])
    labels = np.where(rng.normal(size=12) > 0, 1.0, -1.0)
    coef = np.linalg.lstsq(design, labels, rcond=None)[0]
    return Problem.of(design, labels, coef, draw_counts(12, 3, rng), localization=3.0)


def test_clarabel_steps_in_where_ecos_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make("general", 4)
    info = {"exitFlag": -2, "timing": {"tsolve": 0.0, "tsetup": 0.0}, "iter": 0}
    monkeypatch.setattr("ecos.solve", lambda *_, **__: {"info": info})
    draws = solve_reference(problem)[0]
    assert draws.certified.all()
    for b in range(problem.n_draws):
        assert draws.upper[b] == pytest.approx(enumerate_q(problem, b).q, abs=1e-8)


def test_q_is_never_lost_where_all_solvers_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = hard_problem().select(0)
    true = enumerate_q(problem, 0).q
    calls = itertools.count()
    solve_by = _Part._solve_by

    def fails_mostly(self: _Part, solver: str, program: Any) -> tuple[Array | None, float]:
        return (None, math.inf) if next(calls) > 2 else solve_by(self, solver, program)

    monkeypatch.setattr(_Part, "_solve_by", fails_mostly)
    with pytest.warns(CudboundWarning, match="No cvxpy solver could solve a subproblem of draw 0"):
        draws = solve_reference(problem)[0]
    assert draws.lower[0] <= true <= draws.upper[0]
    assert draws.lower[0] < draws.upper[0]
    assert draws.status[0] == SolveStatus.INACCURATE
    check_witness(problem, 0, draws)
