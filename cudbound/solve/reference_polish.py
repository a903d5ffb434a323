"""Exact minimizers from those that a cvxpy solver finds: Newton steps on a guessed face, then optimality conditions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear, nnls

from cudbound.losses.surrogates import LOSSES, Loss, NativeLoss
from cudbound.problem.problem import Problem

Array = NDArray[np.float64]

#: Largest violation of the optimality conditions, relative to the data, in a minimum that is called exact.
KKT_ERROR = 1e-10
#: A point is on a wall or a kink, at first guess, if it is this close to it, relative to its length.
CLOSENESS = (1e-7, 1e-5, 1e-9, 1e-3)
#: Newton steps on one face; from a solver's answer they double the number of digits each.
NEWTON_STEPS = 20


@dataclass(frozen=True)
class Objective:
    """Mean loss of some rows with their shares and offsets, plus ridge @ beta^2 + l1 @ abs(beta)."""

    loss: Loss
    design: Array
    labels: Array
    shares: Array
    offset: Array
    ridge: Array
    l1: Array

    @classmethod
    def of(cls, problem: Problem, rows: NDArray[np.intp], shares: Array) -> Objective:
        """Return the objective of some rows of a problem."""
        unpenalized = np.zeros(problem.coef.size)
        return cls(
            problem.loss,
            problem.design[rows],
            problem.labels[rows],
            shares,
            np.zeros(rows.size) if problem.offset is None else problem.offset[rows],
            unpenalized if problem.penalty is None else problem.penalty,
            unpenalized if problem.l1_penalty is None else problem.l1_penalty,
        )

    @property
    def native(self) -> NativeLoss:
        """The loss with its derivatives, which those written in cvxpy do not have."""
        return LOSSES[self.loss.name]

    def value(self, beta: Array) -> float:
        """Penalized mean loss at some coefficients."""
        losses = self.loss.value(self.labels, self.design @ beta + self.offset)
        return float(self.shares @ losses + self.ridge @ beta**2 + self.l1 @ np.abs(beta))

    def scale(self) -> float:
        """Size of the gradients that are compared with each other."""
        slopes = np.abs(self.native.gradient(self.labels, self.offset)) + 1.0
        return float((self.shares * slopes) @ np.linalg.norm(self.design, axis=1) + np.linalg.norm(self.l1))


@dataclass(frozen=True)
class _Face:
    """Where ``normals @ beta = values``: walls of the cone, then kinks of hinge loss, then kinks of the l1 penalty.

    The gradient of what is smooth on the face must be ``normals.T @ multipliers`` with multipliers between `low` and
    `high`.
    """

    normals: Array
    values: Array
    low: Array
    high: Array
    at_kink: NDArray[np.bool_]
    at_zero: NDArray[np.bool_]


def polish(objective: Objective, rows: Array, beta: Array) -> Array | None:
    """Make a minimizer of the objective over rows @ beta >= 0 exact, or return None.

    The walls and kinks that `beta` lies on to solver accuracy are taken as equations. The result is accepted only
    if it satisfies the optimality conditions, so a wrong guess does no harm.
    """
    for closeness in CLOSENESS:
        face = _face(objective, rows, beta, closeness * _length(beta))
        with np.errstate(over="ignore", invalid="ignore"):  # divergent steps are refused
            point = _newton(objective, face, beta)
        if point is not None and _is_minimum(objective, face, rows, point):
            return np.asarray(point, dtype=float)
    return None


def _length(beta: Array) -> float:
    return max(1.0, float(np.abs(beta).max()))


def _face(objective: Objective, rows: Array, beta: Array, closeness: float) -> _Face:
    walls = rows[rows @ beta <= closeness]
    margins = objective.labels * (objective.design @ beta + objective.offset)
    has_kink = not objective.native.smooth
    at_kink = (np.abs(margins - 1.0) <= closeness) & has_kink
    at_zero = (objective.l1 > 0.0) & (np.abs(beta) <= closeness)
    labels, shares, l1 = objective.labels[at_kink], objective.shares[at_kink], objective.l1[at_zero]
    return _Face(
        np.vstack([walls, labels[:, None] * objective.design[at_kink], np.eye(beta.size)[at_zero]]),
        np.concatenate([np.zeros(len(walls)), 1.0 - labels * objective.offset[at_kink], np.zeros(l1.size)]),
        np.concatenate([np.zeros(len(walls)), np.zeros(shares.size), -l1]),
        np.concatenate([np.full(len(walls), np.inf), shares, l1]),
        at_kink,
        at_zero,
    )


def _newton(objective: Objective, face: _Face, beta: Array) -> Array | None:
    """Minimize on a face by Newton steps from its point nearest to `beta`."""
    left, values, right = np.linalg.svd(face.normals)
    rank = int((values > 1e-10 * max(1.0, values.max(initial=0.0))).sum())
    off = face.normals @ beta - face.values
    point = beta - right[:rank].T @ ((left[:, :rank].T @ off) / values[:rank])
    basis = right[rank:].T
    for _ in range(NEWTON_STEPS):
        step = basis @ _newton_step(objective, face, basis, point)
        point = point + step
        if not np.isfinite(point).all():
            return None
        if np.abs(step).max(initial=0.0) <= 1e-15 * _length(point):
            break
    if np.abs(point).max() * max(1.0, float(np.abs(objective.design).max())) <= 1e-12:
        point = 0.0 * point  # at the apex the signs of rounding errors would determine a cell
    return np.asarray(point, dtype=float)


def _newton_step(objective: Objective, face: _Face, basis: Array, point: Array) -> Array:
    """Return the least step in the coordinates of the basis to the minimizer of the quadratic model."""
    scores = objective.design @ point + objective.offset
    smooth = ~face.at_kink
    slopes = objective.shares * objective.native.gradient(objective.labels, scores) * smooth
    bends = objective.shares * objective.native.curvature(objective.labels, scores) * smooth
    curved = bends > 0.0
    # |matrix @ step - target|^2 / 2 + linear @ step
    roots = np.sqrt(np.concatenate([bends[curved], 2.0 * objective.ridge]))
    matrix = roots[:, None] * np.vstack([objective.design[curved], np.eye(point.size)])
    bent = np.concatenate([-slopes[curved], -2.0 * objective.ridge * point])
    target = np.divide(bent, roots, out=np.zeros_like(bent), where=roots > 0.0)
    linear = objective.design[~curved].T @ slopes[~curved]
    linear = linear + np.where(face.at_zero, 0.0, objective.l1 * np.sign(point))
    # the least step, so that a minimizer that is not unique stays inside the cone; singular values are cut relative to
    # the whole matrix, because on the walls all of them may be rounding errors
    left, values, right = np.linalg.svd(matrix @ basis, full_matrices=False)
    kept = values > 1e-12 * np.linalg.norm(matrix)
    left, values, right = left[:, kept], values[kept], right[kept]
    return np.asarray(right.T @ ((left.T @ target - right @ (basis.T @ linear) / values) / values))


def _is_minimum(objective: Objective, face: _Face, rows: Array, point: Array) -> bool:
    """Whether a point of a face satisfies the optimality conditions on the cone."""
    length = _length(point)
    if (rows @ point).min(initial=0.0) < -KKT_ERROR * length:
        return False
    if np.abs(face.normals @ point - face.values).max(initial=0.0) > KKT_ERROR * length:
        return False
    scores = objective.design @ point + objective.offset
    slopes = objective.shares * objective.native.gradient(objective.labels, scores) * ~face.at_kink
    gradient = objective.design.T @ slopes + 2.0 * objective.ridge * point
    gradient += np.where(face.at_zero, 0.0, objective.l1 * np.sign(point))
    if not len(face.normals):
        multipliers = np.zeros(0)
    elif np.isinf(face.high).all():
        try:
            multipliers = nnls(face.normals.T, gradient)[0]
        except (
            RuntimeError,
            np.linalg.LinAlgError,
        ):  # its iteration limit; a singular system before SciPy 1.15
            return False
    else:
        bounds = (face.low, face.high)
        multipliers = lsq_linear(face.normals.T, gradient, bounds=bounds, method="bvls").x
    # not the residual that nnls reports, which may be wrong where the walls are dependent
    residual = np.linalg.norm(face.normals.T @ multipliers - gradient)
    return bool(residual <= KKT_ERROR * objective.scale())
