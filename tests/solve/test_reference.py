"""The reference solver under every loss, against enumeration of all cells and programs of cvxpy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from least_loss import conic_losses, q_by_one_program_a_cell
from numpy.typing import NDArray
from oracles import check_witness, enumerate_q
from random_problems import KINDS, make, make_with_loss
from tiers import each_tier, quick_first

from cudbound.basis.exceptions import CudboundWarning
from cudbound.losses.surrogates import LOSSES, get_loss
from cudbound.problem.draws import SolveStatus, draw_counts
from cudbound.problem.problem import Problem
from cudbound.solve import CvxpyLoss
from cudbound.solve.reference import solve_reference
from cudbound.solve.reference_cones import Objective, _Part, polish

# ---- the reference solver against enumeration of all cells ----


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


# ---- every loss of the package -----------------------------------------------------------------------------


def compare_with_enumeration(kind: str, seed: int, loss: str) -> None:
    problem = make_with_loss(kind, seed, loss).select(seed % 3)
    oracle = enumerate_q(problem, 0)
    side = ("both", "positive", "negative", "both")[seed % 4]
    q = {"both": oracle.q, "positive": oracle.q_plus, "negative": oracle.q_minus}[side]
    draws = solve_reference(problem, side=side)[0]
    assert draws.certified.all()
    assert draws.upper[0] == pytest.approx(max(q, 0.0), abs=1e-9), (kind, seed, side)
    check_witness(problem, 0, draws, side=side)


@each_tier([0], [5000, 5001], range(5100, 5112))
@pytest.mark.parametrize("loss", LOSSES)
def test_reference_of_every_loss_equals_enumeration(loss: str, seeds: list[int]) -> None:
    for i, kind in enumerate(KINDS):  # with the kinds, the sides and the draws change
        for seed in seeds:
            compare_with_enumeration(kind, seed + i, loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_an_answer_that_cannot_be_made_exact_is_a_lower_bound_of_the_loss(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cudbound.solve.reference_cones.polish", lambda *_: None)
    for kind in ("penalized", "single_class_draws"):
        problem = make_with_loss(kind, 2, loss).select(2)
        oracle, draws = enumerate_q(problem, 0).q, solve_reference(problem)[0]
        assert oracle - 1e-12 <= draws.upper[0] <= oracle + 1e-6
        check_witness(problem, 0, draws)


# ---- losses that vanish far out ----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("alpha", [0.0, 3.0, 1e6, math.inf])
@pytest.mark.parametrize("anchor", [0.3, 10.0])
def test_a_draw_of_one_class_by_hand(loss: str, alpha: float, anchor: float) -> None:
    # an intercept alone, labels (1, 1, -1), counts (2, 1, 0), w = (1, 0, -1) / 3. A positive intercept is wrong on the
    # third row alone, |S| = 1/3, with the infimum 0 of the loss of the drawn rows, which is below that of any
    # anchor, so g = 1. A negative one is wrong on the others, |S| = 1/3 as well
    problem = Problem.of(np.ones((3, 1)), [1, 1, -1], [anchor], [[2, 1, 0]], localization=alpha, loss=loss)
    draws = solve_reference(problem)[0]
    assert draws.lower[0] == draws.upper[0] == pytest.approx(1 / 3, abs=1e-12)
    assert draws.witness[0, 0] > 0.0 or alpha == 0.0
    check_witness(problem, 0, draws)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_a_row_that_can_be_separated_does_not_count_in_the_least_loss(loss: str) -> None:
    # x = 0 with both labels and x = 1 with label 1, one draw of each. Weights on the third row alone: it is wrong on
    # b0 + b1 < 0, where its loss is that at score 0 at least, L = c with c = log 2 or 1; the anchor (0, 0) has the same
    # loss, so g = 1 and Q = 1. At the anchor (0, 40) the loss is 2 c / 3, to rounding, and g = 1 - alpha c / 3
    design = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    c, weights = math.log(2.0) if loss == "logistic" else 1.0, [[0.0, 0.0, 1.0]]
    for anchor, q in (([0.0, 0.0], 1.0), ([0.0, 40.0], 1.0 - c / 3.0)):
        problem = Problem.of(
            design, [1, -1, 1], anchor, [[1, 1, 1]], localization=1.0, loss=loss, weights=weights
        )
        draws = solve_reference(problem)[0]
        assert draws.upper[0] == pytest.approx(q, abs=1e-12)
        check_witness(problem, 0, draws)


def test_a_penalty_on_every_coefficient_leaves_no_direction_free() -> None:
    # separable and penalized: the minimum of log(1 + e^-b) + b^2 / 2 is at b = 1 / (1 + e^b) = 0.401058
    b = 0.4010581375415163
    least = math.log1p(math.exp(-b)) + b**2 / 2
    problem = Problem.of(
        np.ones((2, 1)),
        [1, 1],
        [-3.0],
        [[2, 0]],
        localization=1.0,
        loss="logistic",
        penalty=0.5,
        weights=[[1.0, 0.0]],
    )
    assert enumerate_q(problem, 0).losses.min() == pytest.approx(least, abs=1e-12)
    # wrong on b < 0 with the least loss log 2, which is below that of the anchor
    assert solve_reference(problem)[0].upper[0] == 1.0


# ---- l1 and elastic net ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ridge", quick_first([True, False]))
def test_l1_and_elastic_net_equal_one_program_a_cell(loss: str, ridge: bool) -> None:
    decided_by_the_loss = 0
    for kind, seed in (("two_coefficients", 0), ("two_coefficients", 2), ("weak_labels", 0)):
        problem = make_with_loss(kind, seed, loss, penalized=ridge).select(0)
        # strengths that make some coefficients 0; the intercept is free in one of three
        l1 = np.full(problem.coef.size, 0.15)
        l1[0] = 0.0 if kind == "weak_labels" else 0.05
        weights = np.random.default_rng(seed).normal(size=problem.counts.shape)
        problem = replace(problem, l1_penalty=l1, localization=1.0, weights=weights)
        draws = solve_reference(problem)[0]
        assert draws.certified.all()
        expected, g = q_by_one_program_a_cell(problem)
        assert draws.upper[0] == pytest.approx(expected, abs=1e-6), (kind, seed)
        check_witness(problem, 0, draws)
        decided_by_the_loss += 0.0 < g < 1.0
    assert decided_by_the_loss > 0


# ---- exact minimizers --------------------------------------------------------------------------------------


def one_coefficient(loss: str, ridge: float = 0.0, l1: float = 0.0, label: float = 1.0) -> Objective:
    one = np.ones(1)
    return Objective(get_loss(loss), one[None], label * one, one, 0.0 * one, ridge * one, l1 * one)


@pytest.mark.parametrize(
    ("objective", "minimizer"),
    [
        # (1 - b)_+ + r b^2 has its least point at the kink b = 1 for r <= 1/2, and at b = 1 / (2 r) beyond
        (one_coefficient("hinge", ridge=0.25), 1.0),
        (one_coefficient("hinge", ridge=1.0), 0.5),
        # (1 - b)^2 + s |b|: b = 1 - s / 2 for s < 2, and 0 from there on
        (one_coefficient("squared", l1=0.5), 0.75),
        (one_coefficient("squared", l1=3.0), 0.0),
        # both kinks at once: (1 - b)_+ + |b| s at b = 1 for s < 1 and at 0 for s > 1
        (one_coefficient("hinge", l1=0.5), 1.0),
        (one_coefficient("hinge", l1=1.5), 0.0),
        # -1/(1 + e^b) + b = 0, and e^-b = b
        (one_coefficient("logistic", ridge=0.5), 0.4010581375415163),
        (one_coefficient("exponential", ridge=0.5), 0.5671432904097838),
        # the linear part of modified Huber loss does not reach a margin above -1: (1 - b)^2 + 2 b^2 at b = 1/3
        (one_coefficient("huber", ridge=2.0), 1 / 3),
        (one_coefficient("squared_hinge", ridge=1.0), 0.5),
        # on the wall b = 0 with the other label
        (one_coefficient("logistic", ridge=0.5, label=-1.0), 0.0),
        (one_coefficient("hinge", l1=0.1, label=-1.0), 0.0),
    ],
)
def test_polishing_finds_minimizers_by_hand_and_refuses_other_points(
    objective: Objective, minimizer: float
) -> None:
    wall = np.ones((1, 1))
    found = polish(objective, wall, np.array([minimizer + 3e-8]))
    np.testing.assert_allclose(found, [minimizer], atol=1e-12)
    # a guess of the kinks and walls that is wrong leads to a point that is refused, or to the minimizer all the same
    for start in (minimizer + 0.3, minimizer - 0.3 + 1e-8):
        other = polish(objective, wall, np.array([start]))
        assert other is None or other == pytest.approx([minimizer], abs=1e-12)
    if minimizer == 1.0:
        assert polish(objective, wall, np.array([1.3])) is None


# ---- losses written for cvxpy ------------------------------------------------------------------------------


def formula(loss: str) -> CvxpyLoss:
    import cvxpy as cp

    return CvxpyLoss(
        f"my {loss}", lambda y, f: conic_losses(loss, cp.multiply(y, f)), vanishes=get_loss(loss).vanishes
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_a_formula_equals_the_loss_of_the_package(loss: str) -> None:
    for kind, seed in (
        ("pure_noise", 9),
        ("single_class_draws", 2),
        ("duplicates_opposite_labels", 1),
        ("ridge_with_fewer_rows", 0),
    ):
        problem = make_with_loss(kind, seed, loss).select(0)
        mine = replace(problem, loss=formula(loss))
        draws = solve_reference(mine)[0]
        assert draws.certified.all()
        assert draws.upper[0] == pytest.approx(enumerate_q(problem, 0).q, abs=1e-6), (kind, seed)
        check_witness(mine, 0, draws)


def test_another_convex_loss_by_hand() -> None:
    # |y - f|, the least absolute deviation: labels 1, 1, -1 on an intercept alone have the least mean 2/3 at b = 1 for
    # b > 0 and 1 at b = 0 for b < 0, the anchor. Weights on the third row alone are wrong for b > 0
    absolute = CvxpyLoss("absolute", lambda labels, scores: abs_of(labels - scores))
    np.testing.assert_allclose(absolute.value(np.array([1.0, -1.0]), np.array([0.25, 3.0])), [0.75, 4.0])
    for weights, q in (([[0.0, 0.0, 1.0]], 1.0), ([[1.0, 0.0, 0.0]], 0.5)):
        # right on the first row is worth nothing, and wrong on it g = 1 + 3/2 (2/3 - 1) = 1/2 at the anchor b = 1
        problem = Problem.of(
            np.ones((3, 1)), [1, 1, -1], [1.0], [[1, 1, 1]], localization=1.5, loss=absolute, weights=weights
        )
        draws = solve_reference(problem)[0]
        assert draws.upper[0] == pytest.approx(q, abs=1e-7)
        check_witness(problem, 0, draws)


def abs_of(expression: Any) -> Any:
    import cvxpy as cp

    return cp.abs(expression)


def summed(labels: Array, scores: Any) -> Any:
    import cvxpy as cp

    return cp.sum(abs_of(labels - scores))


def concave(labels: Array, scores: Any) -> Any:
    return -abs_of(labels - scores)


def logarithm(labels: Array, scores: Any) -> Any:
    import cvxpy as cp

    return cp.pos(2 - cp.log(cp.multiply(labels, scores)))  # pos lets no negative value come first


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        (
            lambda y, f: np.abs(y),
            TypeError,
            r"loss 'mine' must return a cvxpy expression\. Got ndarray instead",
        ),
        (lambda y, f: None, TypeError, r"loss 'mine' must return a cvxpy expression\. Got NoneType instead"),
        (summed, ValueError, r"one value per point, shape \(\d+,\)\. Got shape \(\) instead; do not sum"),
        (
            concave,
            ValueError,
            r"loss 'mine' must be convex in the scores .* Got -\(?abs\(.* instead; see http",
        ),
        (logarithm, ValueError, r"loss 'mine' must be defined at every score\. Got \[.*nan"),
        (lambda y, f: abs_of(y - f) - 2, ValueError, r"loss 'mine' must not be negative\. Got -.* instead"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in log:RuntimeWarning")
def test_a_formula_that_breaks_a_rule(
    expression: Callable[[Array, Any], Any], error: type[Exception], message: str
) -> None:
    loss = CvxpyLoss("mine", expression)
    with pytest.raises(error, match=message):
        loss.value(np.array([1.0, -1.0]), np.array([0.5, 0.5]))
    with pytest.raises(error, match=message):
        solve_reference(replace(make("general", 0), loss=loss))
