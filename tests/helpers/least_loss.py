"""The mean loss of a draw for conic solvers, in terms that share nothing with the package, and its minimum."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from oracles import arrange, localization, open_cells

from cudbound.losses.surrogates import get_loss
from cudbound.problem.problem import AdditiveModel, Problem

Array = NDArray[np.float64]


def model_of(design: Array, labels: Array, coef: Array, loss: str = "squared", **fields) -> AdditiveModel:
    return AdditiveModel(design, labels, coef, get_loss(loss), np.array(["no", "yes"]), **fields)


def conic_losses(loss: str, margins: Any) -> Any:
    """Return the loss of each row from its margin, each in another way than in the package."""
    if loss == "squared":
        return cp.square(1.0 - margins)
    if loss == "logistic":
        return cp.log_sum_exp(cp.vstack([np.zeros(margins.shape), -margins]), axis=0)
    if loss == "exponential":
        return cp.exp(-margins)
    positive = cp.maximum(1.0 - margins, 0.0)
    if loss == "huber":
        return cp.huber(positive, 2.0)
    return cp.square(positive) if loss == "squared_hinge" else positive


def conic_mean_loss(problem: Problem, draw: int, beta: cp.Variable) -> Any:
    """Return the penalized mean loss of a draw."""
    n = problem.labels.size
    offset = np.zeros(n) if problem.offset is None else problem.offset
    weights = problem.counts[draw] * (1.0 if problem.sample_weight is None else problem.sample_weight) / n
    margins = cp.multiply(problem.labels, problem.design @ beta + offset)
    mean = cp.sum(cp.multiply(weights, conic_losses(problem.loss.name, margins)))
    if problem.penalty is not None:
        mean += cp.sum(cp.multiply(problem.penalty, cp.square(beta)))
    if problem.l1_penalty is not None:
        mean += cp.sum(cp.multiply(problem.l1_penalty, cp.abs(beta)))
    return mean


def least_mean_loss(model: AdditiveModel) -> float:
    """Return the minimum on the training set."""
    beta = cp.Variable(model.coef.size)
    program = cp.Problem(cp.Minimize(conic_mean_loss(model.training, 0, beta)))
    accuracy = {"abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9}
    for solver, options in ((cp.CLARABEL, {}), (cp.ECOS, accuracy)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where one is inaccurate the other is asked
            value = program.solve(solver=solver, **options)
        if program.status == cp.OPTIMAL:
            return float(value)
    raise AssertionError(f"cvxpy found no accurate minimum: {program.status}")


def q_by_one_program_a_cell(problem: Problem) -> tuple[float, float]:
    """Return Q of the first draw, and g where it is reached, with the least loss of every cell by Clarabel."""
    arrangement = arrange(problem, 0)
    patterns, _ = open_cells(arrangement.normals)
    beta, signs = cp.Variable(problem.coef.size), cp.Parameter(len(arrangement.normals))
    mean = conic_mean_loss(problem, 0, beta)
    program = cp.Problem(cp.Minimize(mean), [cp.multiply(signs, arrangement.normals @ beta) >= 0])
    losses = np.empty(len(patterns))
    for k, pattern in enumerate(patterns):
        signs.value = pattern
        losses[k] = program.solve(solver="CLARABEL")
    sides = np.where(patterns > 0, arrangement.score_positive, arrangement.score_negative)
    scores = arrangement.constant + sides.sum(axis=1)
    g = localization(problem.localization, problem.mean_loss(0, problem.coef), losses)
    best = int((np.abs(scores) * g).argmax())
    return float(abs(scores[best]) * g[best]), float(g[best])
