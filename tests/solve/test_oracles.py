"""The enumeration of cells, against counts, solvers and samples that know nothing of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from least_loss import conic_mean_loss
from oracles import arrange, enumerate_q, open_cells
from random_problems import make, make_with_loss

from cudbound.losses.surrogates import LOSSES


@pytest.mark.parametrize(("m", "p"), [(1, 1), (4, 2), (7, 2), (6, 3), (8, 3), (7, 4), (4, 5)])
def test_number_of_open_cells_in_general_position(m: int, p: int) -> None:
    # Cover (1965): m hyperplanes through 0 in general position cut R^p into 2 sum_{k<p} C(m-1, k) cells
    normals = np.random.default_rng([m, p]).normal(size=(m, p))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    patterns, interior = open_cells(normals)
    assert len(patterns) == 2 * sum(math.comb(m - 1, k) for k in range(p))
    assert len(np.unique(patterns, axis=0)) == len(patterns)
    assert (patterns * (interior @ normals.T) > 0).all()


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
