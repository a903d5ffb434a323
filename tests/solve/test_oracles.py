"""The enumeration of cells, against counts, solvers and samples that know nothing of it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from cell_minima import GAP, WAYS, Support, cones_of, gap_of, shape_of
from cud_vectors import CUD_VECTORS, vector_problem
from least_loss import conic_mean_loss
from numpy.typing import NDArray
from oracles import arrange, enumerate_q, interior_point, interior_point_by_linprog, localization, open_cells
from random_problems import KINDS, make, make_with_loss

from cudbound.losses.surrogates import LOSSES
from cudbound.problem.problem import Problem

Array = NDArray[np.float64]


@pytest.mark.parametrize(("m", "p"), [(1, 1), (4, 2), (7, 2), (6, 3), (8, 3), (7, 4), (4, 5)])
def test_number_of_open_cells_in_general_position(m: int, p: int) -> None:
    # Cover (1965): m hyperplanes through 0 in general position cut R^p into 2 sum_{k<p} C(m-1, k) cells
    normals = np.random.default_rng([m, p]).normal(size=(m, p))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    patterns, interior = open_cells(normals)
    assert len(patterns) == 2 * sum(math.comb(m - 1, k) for k in range(p))
    assert len(np.unique(patterns, axis=0)) == len(patterns)
    assert (patterns * (interior @ normals.T) > 0).all()


@pytest.mark.parametrize("seed", range(8))
def test_strict_feasibility_by_least_squares_and_by_linear_program_agree(seed: int) -> None:
    # integer normals: many subsets are dependent, so that many closed cones have no interior point
    rng = np.random.default_rng(seed)
    p = 2 + seed % 3
    normals = np.unique(rng.integers(-2, 3, size=(6, p)).astype(float), axis=0)
    normals = normals[np.linalg.norm(normals, axis=1) > 0]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    found = []
    for signs in itertools.product((1.0, -1.0), repeat=len(normals)):
        rows = np.array(signs)[:, None] * normals
        by_program = interior_point_by_linprog(rows)
        assert (interior_point(rows) is None) == (by_program is None)
        found.append(by_program is not None)
    assert 0 < sum(found) < len(found)
    distinct = [
        i for i in range(len(normals)) if all(abs(normals[i] @ normals[j]) < 1 - 1e-9 for j in range(i))
    ]
    assert len(open_cells(normals[distinct])[0]) == sum(found)


def best_of_random_classifiers(problem: Problem, draw: int, rng: np.random.Generator) -> float:
    weights, anchor = problem.score_weights(draw), problem.mean_loss(draw, problem.coef)
    best = 0.0
    for center, spread in itertools.product((np.zeros_like(problem.coef), problem.coef), (0.01, 0.3, 3.0)):
        for beta in center + spread * rng.normal(size=(60, problem.coef.size)):
            classes = np.where(problem.design @ beta >= 0.0, 1.0, -1.0)
            g = localization(problem.localization, anchor, np.array(problem.mean_loss(draw, beta)))
            best = max(best, abs(weights @ (classes != problem.labels)) * float(g))
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_no_classifier_drawn_at_random_beats_the_enumeration(kind: str) -> None:
    problem = make(kind, 1000)
    rng = np.random.default_rng(0)
    for b in range(problem.n_draws):
        oracle = enumerate_q(problem, b)
        assert best_of_random_classifiers(problem, b, rng) <= oracle.q + 1e-12
        assert oracle.q == pytest.approx(max(oracle.q_plus, oracle.q_minus, 0.0), abs=1e-15)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_classifier_drawn_at_random_beats_the_enumeration_under_any_loss(loss: str) -> None:
    rng = np.random.default_rng(0)
    for kind in KINDS:
        problem = make_with_loss(kind, 1001, loss)
        assert best_of_random_classifiers(problem, 0, rng) <= enumerate_q(problem, 0).q + 1e-12, kind


# ---- least losses by hand ----------------------------------------------------------------------------------


def intercept_alone(loss: str, labels: list[int], **changes: object) -> dict[int, float]:
    """Return the least loss of an intercept alone, drawn once per row, by its sign."""
    n = len(labels)
    weights = np.arange(1.0, n + 1.0)[None]
    problem = Problem.of(
        np.ones((n, 1)), labels, [0.0], np.ones((1, n)), loss=loss, weights=weights, **changes
    )
    oracle = enumerate_q(problem, 0)
    sides = np.sign(oracle.patterns[:, 0] * arrange(problem, 0).normals[0, 0]).astype(int)
    return dict(zip(sides.tolist(), oracle.losses.tolist(), strict=True))


def log_loss(margin: float) -> float:
    return math.log1p(math.exp(-margin))


# labels 1 in the share 4/5 of the rows, q = 1/5 the other way: the least losses over an intercept b > 0 are those of
# b = log(4) for logistic loss, log(4) / 2 for exponential loss, 4/5 - 1/5 for the quadratic ones and 1 for hinge loss
SHARES = {
    "squared": 4 * 0.8 * 0.2,
    "logistic": -0.8 * math.log(0.8) - 0.2 * math.log(0.2),
    "exponential": 2 * math.sqrt(0.8 * 0.2),
    "squared_hinge": 4 * 0.8 * 0.2,
    "hinge": 2 * 0.2,
    "huber": 4 * 0.8 * 0.2,
}
AT_ZERO = {"logistic": math.log(2.0)}  # the other losses are 1 at score 0


@pytest.mark.parametrize("loss", LOSSES)
def test_least_losses_of_an_intercept_alone(loss: str) -> None:
    # on the wrong side of 0 the nearest point is 0 itself
    expected = {1: SHARES[loss], -1: AT_ZERO.get(loss, 1.0)}
    assert intercept_alone(loss, [1, 1, -1, 1, 1]) == pytest.approx(expected, abs=1e-10)
    # two rows with weights 8/5 and 2/5 in the mean of two stand for these five, and one without weight for none
    weights = [8 / 5, 2 / 5]
    assert intercept_alone(loss, [1, -1], sample_weight=weights) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_an_offset_shifts_the_loss_and_not_the_sides(loss: str) -> None:
    # an offset of 1/4 and the intercept b are one sum: the least loss is the same while the minimizer, at 0.6 to 1.4,
    # less the offset stays positive; on the negative side b = 0 is the best, and the scores are 1/4
    value = LOSSES[loss].value
    at_offset = float(
        0.8 * value(np.ones(1), np.array([0.25]))[0] + 0.2 * value(-np.ones(1), np.array([0.25]))[0]
    )
    expected = {1: SHARES[loss], -1: at_offset}
    assert intercept_alone(loss, [1, 1, -1, 1, 1], offset=0.25) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_least_losses_of_a_single_class(loss: str) -> None:
    # right on all: 0, at a score of 1 or far out; with half of the mean on b^2, the minimum of loss(b) + b^2 / 2
    expected = {1: 0.0, -1: AT_ZERO.get(loss, 1.0)}
    assert intercept_alone(loss, [1, 1, 1]) == pytest.approx(expected, abs=1e-10)
    # at the minimum b of loss(b) + b^2 / 2, -loss'(b) = b: squares 2 (1 - b) = b, hinge loss 1 at b = 1, and the
    # fixed points of 1 / (1 + e^b) and e^-b, 0.401058 and 0.567143
    least = {"squared": 2 / 3, "squared_hinge": 2 / 3, "huber": 2 / 3, "hinge": 1.0}
    least |= {"logistic": 0.4010581375415163, "exponential": 0.5671432904097838}
    b = least[loss]
    expected[1] = float(LOSSES[loss].value(np.ones(1), np.array([b]))[0]) + b**2 / 2
    assert intercept_alone(loss, [1, 1, 1], penalty=0.5) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_only_the_rows_that_can_be_separated_vanish(loss: str) -> None:
    # x = 0 with both labels and x = 1 with label 1: the slope separates the third row at no cost to the others, whose
    # least mean is that of b = 0 for each sign of the intercept; a negative slope leaves the third row as it is
    design = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    problem = Problem.of(design, [1, -1, 1], [0.0, 0.0], [[1, 1, 1]], loss=loss, weights=[[1.0, 0.5, 0.25]])
    oracle, normals = enumerate_q(problem, 0), arrange(problem, 0).normals
    flat = AT_ZERO.get(loss, 1.0)
    for point, least in zip(oracle.interior, oracle.losses, strict=True):
        right = (design @ point)[2] > 0.0
        assert least == pytest.approx((2 * flat + (0.0 if right else flat)) / 3, abs=1e-12)
    assert len(normals) == 2
    assert len(oracle.losses) == 4


def test_modified_huber_loss_is_linear_below_margin_minus_1() -> None:
    # rows at x = 1 that share the weight 1, and one at x = 3 with the other label and the share 1/16: the mean
    # (1 - b)^2 + 4 * 3 b / 16 has the slope 0 at b = 5/8, where the margin of the outlier is -15/8
    problem = Problem.of(
        np.array([[1.0], [1.0], [1.0], [3.0]]),
        [1, 1, 1, -1],
        [0.0],
        [[1, 1, 1, 1]],
        loss="huber",
        weights=[[1.0, 0.0, 0.0, 0.0]],
        sample_weight=[4 / 3, 4 / 3, 4 / 3, 1 / 4],
    )
    oracle = enumerate_q(problem, 0)
    least = oracle.losses[oracle.patterns[:, 0] * arrange(problem, 0).normals[0, 0] > 0]
    assert least == pytest.approx([(1 - 5 / 8) ** 2 + 4 * 15 / 8 / 16], abs=1e-12)


def test_a_point_that_is_not_the_minimum_has_no_certificate() -> None:
    for loss in LOSSES:
        problem = make_with_loss("general", 3, loss, penalized=True)
        shape, normals = shape_of(problem, 0), arrange(problem, 0).normals
        cone = cones_of(normals, enumerate_q(problem, 0).patterns)[0]
        support = WAYS[loss][0](shape, cone)
        assert gap_of(shape, cone, support) <= 1e-10
        moved = support.image + 1e-4 * shape.matrix @ cone.rays.sum(axis=1)
        scores = moved[: shape.labels.size] + shape.offset
        slopes, values = LOSSES[loss].gradient(shape.labels, scores), LOSSES[loss].value(shape.labels, scores)
        assert gap_of(shape, cone, Support(moved, slopes, values)) > GAP
        # the affine functions of the minimum, claimed at the point beside it
        assert gap_of(shape, cone, replace(support, image=moved)) > GAP


# ---- least losses by another solver ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "seed", "draw", "loss"),
    [
        # in the first two scipy's nnls alone returns a loss of about 0 for cells whose least loss is above 0.6
        ("rank_deficient_draws", 125, 0, "squared"),
        ("pure_noise", 299, 0, "squared"),
        ("dependent_columns", 8, 0, "squared"),
        ("penalized", 1, 0, "squared"),
        *(("pure_noise", 7, 1, loss) for loss in LOSSES),
        *(("ridge_with_fewer_rows", 2, 0, loss) for loss in LOSSES),
        *(("duplicates_opposite_labels", 4, 2, loss) for loss in LOSSES),
        *(("single_class_draws", 5, 0, loss) for loss in LOSSES if loss not in {"logistic", "exponential"}),
    ],
)
def test_least_losses_of_all_cells_agree_with_a_conic_solver(
    kind: str, seed: int, draw: int, loss: str
) -> None:
    import cvxpy as cp

    # under a penalty the conic solver finds a minimum of every loss
    vanishing = LOSSES[loss].vanishes
    problem = make(kind, seed) if loss == "squared" else make_with_loss(kind, seed, loss, penalized=vanishing)
    oracle = enumerate_q(problem, draw)
    normals = arrange(problem, draw).normals
    if not len(normals):  # older versions of cvxpy know no constraints on no rows
        normals = np.zeros((1, problem.coef.size))
    beta, signs = cp.Variable(problem.coef.size), cp.Parameter(len(normals))
    mean = conic_mean_loss(problem, draw, beta)
    program = cp.Problem(cp.Minimize(mean), [cp.multiply(signs, normals @ beta) >= 0])
    cells = np.random.default_rng(0).permutation(len(oracle.losses))[: 60 if loss == "squared" else 12]
    for pattern, least in zip(oracle.patterns[cells], oracle.losses[cells], strict=True):
        signs.value = pattern if len(pattern) else [1.0]
        assert program.solve(solver="CLARABEL") == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize("name", CUD_VECTORS)
def test_enumeration_reproduces_the_worked_examples(name: str) -> None:
    problem, alphas, expected = vector_problem(name)
    oracle = enumerate_q(problem, 0)
    for j, alpha in enumerate(alphas):
        q, q_plus, q_minus = oracle.q_at(alpha)
        assert q == pytest.approx(expected.get("Q", expected.get("Q_two_sided"))[j], abs=expected["tol"])
        if name == "cud_B_onesided":
            # the upper limit of the error is decided by the deviation -S, the lower one by +S
            assert q_minus == pytest.approx(expected["Q_upper"][j], abs=expected["tol"])
            assert q_plus == pytest.approx(expected["Q_lower"][j], abs=expected["tol"])
    if name != "cud_B_onesided":
        assert oracle.anchor_loss == pytest.approx(expected["loss_of_fhat"], abs=1e-12)
        for level, loss in expected["frontier"]:
            reached = oracle.losses[np.abs(oracle.scores) >= level - 1e-9]
            assert reached.min() == pytest.approx(loss, abs=expected["tol"])
