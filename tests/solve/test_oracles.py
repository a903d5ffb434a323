"""The oracles agree with each other, minima by hand, and the stub of the compiled module."""

from __future__ import annotations

import ast
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from least_loss import conic_mean_loss, least_mean_loss, model_of
from oracles import arrange, check_witness, enumerate_q, open_cells
from random_problems import make, make_with_loss
from scipy.optimize import minimize
from shared_files import vector_problem
from worlds import world

import cudbound
from cudbound.basis.exceptions import NoMinimizerError, NotMinimizerError
from cudbound.losses.surrogates import LOSSES
from cudbound.problem.problem import Problem
from cudbound.solve.search import (
    RESIDUAL_TOLERANCE,
    check_minimizer,
    optimality_residual,
    polish,
    solve_draws,
)

# ---- the enumeration of cells ----


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


# ---- the worked numbers of the CUD bound ----


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


# ---- whether coefficients minimize a loss ----


@pytest.mark.parametrize("features", ["normal", "integer", "binary"])
@pytest.mark.parametrize(("n", "p"), [(30, 3), (200, 10), (8, 12)])
def test_least_squares_fits_are_accepted(n: int, p: int, features: str) -> None:
    design, labels, coef = world(n, p, 1.0, 0, features=features)
    model = model_of(design, labels, coef)
    assert optimality_residual(model) < 1e-9
    check_minimizer(model)


def test_the_residual_is_what_g_loses() -> None:
    # squared loss: the excess of the sum of squares is |design (coef - minimizer)|^2, by Pythagoras
    design, labels, coef = world(40, 4, 1.0, 0)
    step = np.array([0.01, -0.02, 0.0, 0.03])
    moved = model_of(design, labels, coef + step)
    assert optimality_residual(moved) == pytest.approx(((design @ step) ** 2).sum(), rel=1e-9)
    # g of the minimizer at alpha_n = n on the training set itself is 1 + n (L(coef) - min L), here 1 - residual
    # of the moved one if the minimizer is the anchor
    problem = moved.training
    lost = problem.localization * (problem.mean_loss(0, coef + step) - problem.mean_loss(0, coef))
    assert optimality_residual(moved) == pytest.approx(lost, rel=1e-9)
    # neither the scale of the columns nor a copy of each row changes how far g is from 1, but for n
    scale = np.array([2.0, 1e3, 1e-3, 1.0])
    scaled = model_of(design * scale, labels, (coef + step) / scale)
    assert optimality_residual(scaled) == pytest.approx(lost, rel=1e-6)
    twice = model_of(np.vstack([design, design]), np.tile(labels, 2), coef + step)
    assert optimality_residual(twice) == pytest.approx(2 * lost, rel=1e-6)


@pytest.mark.parametrize("l1", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_residual_of_every_loss_against_cvxpy(loss: str, l1: bool) -> None:
    design, labels, coef = world(25, 3, 0.7, 1)
    rng = np.random.default_rng(0)
    model = model_of(
        design,
        labels,
        coef,
        loss,
        penalty=np.array([0.0, 0.02, 0.05]),
        l1_penalty=np.array([0.0, 0.03, 0.01]) if l1 else None,
        sample_weight=rng.uniform(0.5, 2.0, size=25),
        offset=0.3,
    )
    problem = model.training
    expected = 25 * (problem.mean_loss(0, coef) - least_mean_loss(model))
    assert expected > 0.1
    assert optimality_residual(model) == pytest.approx(expected, abs=1e-5)
    polished = polish(model)
    assert optimality_residual(polished) < 1e-5
    assert problem.mean_loss(0, polished.coef) == pytest.approx(least_mean_loss(model), abs=1e-7)


@pytest.mark.parametrize("change", ["coefficients", "row", "label"])
def test_other_data_are_noticed(change: str) -> None:
    design, labels, coef = world(200, 3, 1.0, 0)
    design, labels, coef = design.copy(), labels.copy(), coef.copy()
    if change == "coefficients":
        coef[1] += 0.02
    elif change == "row":
        design[17, 1] += 2.0
    else:
        labels[17] *= -1.0
    message = (
        r"do not minimize the mean squared loss on these X and y: optimality residual "
        r"\d\.\d\de-0\d, allowed 1e-02\. If the classifier was fitted to other rows .* pass Bound\(polish=True\)"
    )
    with pytest.raises(NotMinimizerError, match=message):
        check_minimizer(model_of(design, labels, coef))


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_separable_data_have_no_minimizer_and_the_error_says_what_to_do(loss: str) -> None:
    design = np.column_stack([np.ones(6), [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]])
    model = model_of(design, np.repeat([-1.0, 1.0], 3), np.array([0.0, 5.0]), loss)
    for action in (check_minimizer, polish, optimality_residual):
        with pytest.raises(
            NoMinimizerError, match=rf"the mean {loss} loss without a penalty has no minimizer"
        ) as e:
            action(model)
        assert "LogisticRegression(C=1.0)" in str(e.value)
        assert "LeastSquaresClassifier()" in str(e.value)
    penalized = polish(replace(model, penalty=np.array([0.0, 0.01])))
    check_minimizer(penalized)
    # least by another algorithm as well
    problem = penalized.training
    found = minimize(lambda beta: problem.mean_loss(0, beta), np.zeros(2), tol=1e-12)
    assert problem.mean_loss(0, penalized.coef) <= found.fun + 1e-9


def test_the_tolerance_is_on_the_scale_of_g() -> None:
    design, labels, coef = world(40, 3, 1.0, 0)
    step = np.array([1.0, 0.0, 0.0])
    length = np.sqrt(RESIDUAL_TOLERANCE / ((design @ step) ** 2).sum())
    check_minimizer(model_of(design, labels, coef + 0.99 * length * step))
    with pytest.raises(NotMinimizerError, match="optimality residual"):
        check_minimizer(model_of(design, labels, coef + 1.01 * length * step))


# ---- the compiled module ----


PACKAGE = Path(cudbound.__file__).parent


def normalized(source: str) -> str:
    """Return the statements without comments, layout and the order of quotes."""
    return ast.unparse(ast.parse(source))


def test_the_committed_stub_is_that_of_the_module(tmp_path: Path) -> None:
    fresh = tmp_path / "_solvers.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "cudbound._solvers", "-o", str(fresh)]
    subprocess.run(command, check=True)
    committed = (PACKAGE / "_solvers.pyi").read_text()
    assert normalized(committed) == normalized(fresh.read_text()), "write it again with 'make stub'"
    assert "def solve_draws(" in committed


WITHOUT_MODULE = """
import sys
sys.modules["cudbound._solvers"] = None
import cudbound, cudbound.basis.results, cudbound.problem.problem
print("CudResult" in cudbound.__all__)
for module, name in (("cudbound.solve", "solve_draws"), ("cudbound", "cud_interval")):
    try:
        exec(f"from {module} import {name}")
    except ImportError as error:
        print(error)
"""


def test_a_missing_module_says_what_to_do_and_leaves_the_package() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_MODULE], capture_output=True, text=True, check=True)
    first, *said = done.stdout.strip().splitlines()
    assert first == "True"
    assert len(said) == 2
    for line in said:
        assert line.startswith(
            "The compiled part of cudbound, cudbound._solvers, cannot be imported. This happens if Python runs in a "
            "source folder that was not built: install it with 'pip install .', or for development with 'pip install "
            "--no-build-isolation --editable .'."
        )
        assert f"Python {sys.version_info.major}.{sys.version_info.minor}" in line
