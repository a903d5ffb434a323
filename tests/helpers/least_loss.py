"""A model from arrays, and its least mean loss by cvxpy, with expressions that share nothing with the package."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from cudbound.losses.surrogates import get_loss
from cudbound.problem.additive_model import AdditiveModel

Array = NDArray[np.float64]


def model_of(design: Array, labels: Array, coef: Array, loss: str = "squared", **fields) -> AdditiveModel:
    return AdditiveModel(design, labels, coef, get_loss(loss), np.array(["no", "yes"]), **fields)


EXPRESSIONS = {
    "squared": lambda m: cp.square(1 - m),
    "logistic": lambda m: cp.logistic(-m),
    "exponential": lambda m: cp.exp(-m),
    "squared_hinge": lambda m: cp.square(cp.pos(1 - m)),
    "hinge": lambda m: cp.pos(1 - m),
}


def least_mean_loss(model: AdditiveModel) -> float:
    """Return the minimum by cvxpy, with expressions that share nothing with the package."""
    n, p = model.design.shape
    beta = cp.Variable(p)
    margins = cp.multiply(model.labels, model.design @ beta + model.offset)
    if model.loss.name == "huber":
        # (max(0, 1 - m))^2 down to m = -1 and linear below is min over 0 <= s, s >= 1 - m - t, t >= 0 of s^2 + 4 t
        s, t = cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True)
        losses, constraints = cp.square(s) + 4 * t, [s + t >= 1 - margins]
    else:
        losses, constraints = EXPRESSIONS[model.loss.name](margins), []
    weights = np.ones(n) if model.sample_weight is None else model.sample_weight
    objective = cp.sum(cp.multiply(weights, losses)) / n
    if model.penalty is not None:
        objective += cp.sum(cp.multiply(model.penalty, cp.square(beta)))
    if model.l1_penalty is not None:
        objective += cp.sum(cp.multiply(model.l1_penalty, cp.abs(beta)))
    program = cp.Problem(cp.Minimize(objective), constraints)
    accuracy = {"abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9}
    for solver, options in ((cp.CLARABEL, {}), (cp.ECOS, accuracy)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where one is inaccurate the other is asked
            value = program.solve(solver=solver, **options)
        if program.status == cp.OPTIMAL:
            return float(value)
    raise AssertionError(f"cvxpy found no accurate minimum: {program.status}")
