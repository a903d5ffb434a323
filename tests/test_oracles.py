"""The enumeration of cells, against counts, solvers and samples that know nothing of it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from cud_vectors import CUD_VECTORS, vector_problem
from oracles import arrange, enumerate_q, interior_point, interior_point_by_linprog, localisation, open_cells
from random_problems import KINDS, make


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


@pytest.mark.parametrize("kind", KINDS)
def test_no_classifier_drawn_at_random_beats_the_enumeration(kind: str) -> None:
    problem = make(kind, 1000)
    rng = np.random.default_rng(0)
    for b in range(problem.n_draws):
        oracle = enumerate_q(problem, b)
        weights = problem.score_weights(b)
        best = 0.0
        for centre, spread in itertools.product(
            (np.zeros_like(problem.coef), problem.coef), (0.01, 0.3, 3.0)
        ):
            for beta in centre + spread * rng.normal(size=(60, problem.coef.size)):
                classes = np.where(problem.design @ beta >= 0.0, 1.0, -1.0)
                g = localisation(problem.alpha, oracle.anchor_loss, np.array(problem.mean_loss(b, beta)))
                best = max(best, abs(weights @ (classes != problem.labels)) * float(g))
        assert best <= oracle.q + 1e-12
        assert oracle.q == pytest.approx(max(oracle.q_plus, oracle.q_minus, 0.0), abs=1e-15)


@pytest.mark.parametrize(
    ("kind", "seed", "draw"),
    [
        ("rank_deficient_draws", 125, 0),
        ("pure_noise", 299, 0),
        ("dependent_columns", 8, 0),
        ("penalised", 1, 0),
    ],
)
def test_least_losses_of_all_cells_agree_with_a_conic_solver(kind: str, seed: int, draw: int) -> None:
    # in the first two scipy's nnls alone returns a loss of about 0 for cells whose least loss is above 0.6
    import cvxpy as cp

    problem = make(kind, seed)
    oracle = enumerate_q(problem, draw)
    n, p = problem.design.shape
    penalty = np.zeros(p) if problem.penalty is None else problem.penalty
    normals = arrange(problem, draw).normals
    beta, signs = cp.Variable(p), cp.Parameter(len(normals))
    squares = cp.multiply(problem.counts[draw] / n, cp.square(problem.labels - problem.design @ beta))
    loss = cp.sum(squares) + cp.sum(cp.multiply(penalty, cp.square(beta)))
    program = cp.Problem(cp.Minimize(loss), [cp.multiply(signs, normals @ beta) >= 0])
    for pattern, least in zip(oracle.patterns, oracle.losses, strict=True):
        signs.value = pattern
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
