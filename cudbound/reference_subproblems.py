"""The convex subproblems of the reference solver, solved by cvxpy: the least loss on a closed cone.

For squared loss the solver's answer is then made exact to rounding, and checked by the optimality conditions.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from cudbound.problem import Problem

Array = NDArray[np.float64]

#: The surrogates as cvxpy expressions: (cvxpy, labels, scores) -> loss of each point.
CVXPY_LOSSES: dict[str, Callable[[Any, Array, Any], Any]] = {
    "squared": lambda cp, labels, scores: cp.square(labels - scores),
}

#: Subtracted, times max(1, loss), from a loss that could not be made exact by `_polish`. Enlarges Q.
SOLVER_ERROR = 1e-9
#: Largest violation of the optimality conditions, relative to the data, in a minimum that is called exact.
KKT_ERROR = 1e-10

#: Weight of |beta|^2, relative to the Gram matrix, in a first attempt on a rank-deficient draw; its answer is
#: used only after `_polish` has removed the effect.
_PULL = 1e-6

_SOLVER_OPTIONS: dict[str, dict[str, Any]] = {
    "ECOS": {"abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10, "max_iters": 200},
    "CLARABEL": {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 200},
}
_ECOS_INTERRUPTED = -4


def import_cvxpy() -> Any:
    """Return the module cvxpy, or raise an ImportError that says how to install it."""
    try:
        import cvxpy
    except ImportError as error:
        raise ImportError(
            "The reference solver (solver='cvxpy') needs cvxpy, which is not installed; "
            "pip install cudbound[reference] installs it with its solvers."
        ) from error
    return cvxpy


def choose_solvers(cp: Any, first: str) -> list[str]:
    """Return the names of the solver asked for and of those that step in where it fails."""
    installed = cp.installed_solvers()
    if first not in installed:
        raise ValueError(
            f"The 'cvxpy_solver' parameter must be an installed solver of cvxpy, one of {installed}. "
            f"Got {first!r} instead; pip install cudbound[reference] installs ECOS and CLARABEL."
        )
    return [first, *(name for name in _SOLVER_OPTIONS if name != first and name in installed)]


@dataclass(frozen=True)
class Minimum:
    """Least loss on a closed cone and a minimiser; of a subproblem that failed, a lower bound and None."""

    loss: float
    beta: Array | None


class Relaxation:
    """The convex subproblem of one draw, built once and solved for many sets of fixed sides."""

    def __init__(self, cp: Any, solvers: list[str], problem: Problem, draw: int, normals: Array):
        n, p = problem.design.shape
        drawn = problem.counts[draw] > 0
        share = problem.counts[draw, drawn] / n
        self._cp, self._solvers, self._normals = cp, solvers, normals
        self._problem, self._draw = problem, draw
        self._beta = cp.Variable(p)
        scores = problem.design[drawn] @ self._beta
        losses = CVXPY_LOSSES[problem.loss](cp, problem.labels[drawn], scores)
        objective = cp.sum(cp.multiply(share, losses)) if drawn.any() else cp.Constant(0.0)
        ridge = np.zeros(p) if problem.penalty is None else problem.penalty
        if ridge.any():
            objective += cp.sum(cp.multiply(ridge, cp.square(self._beta)))
        # an undecided hyperplane has the row 0'beta + 1 >= 0, which leaves the cone its interior
        self._signs = cp.Parameter(len(normals))
        self._free = cp.Parameter(len(normals), nonneg=True)
        constraints = (
            [cp.multiply(self._signs, normals @ self._beta) + self._free >= 0] if len(normals) else []
        )
        self._exact_program = cp.Problem(cp.Minimize(objective), constraints)
        self._programs = [self._exact_program]
        self._least_squares: tuple[Array, Array] | None = None
        if problem.loss == "squared":
            root = np.sqrt(share)
            matrix = np.vstack([root[:, None] * problem.design[drawn], np.diag(np.sqrt(ridge))])
            if np.linalg.matrix_rank(matrix) < p:
                # the minimiser is not unique: find a small one as the start of the polishing
                pull = max(_PULL * float(np.square(matrix).sum()), _PULL)
                pulled = cp.Minimize(objective + pull * cp.sum_squares(self._beta))
                self._programs = [cp.Problem(pulled, constraints), self._exact_program]
            self._least_squares = matrix, np.concatenate([root * problem.labels[drawn], np.zeros(p)])

    def minimum(self, signs: NDArray[np.int8], parent: Minimum) -> Minimum:
        """Minimise the loss over the closed cone of these sides of the first ``len(signs)`` hyperplanes."""
        rows = signs[:, None] * self._normals[: signs.size]
        decided = np.zeros(len(self._normals))
        decided[: signs.size] = signs
        self._signs.value, self._free.value = decided, 1.0 - np.abs(decided)
        inexact = None
        for solver, program in itertools.product(self._solvers, self._programs):
            beta, accurate = self._solve_by(solver, program)
            if beta is None:
                continue
            if self._least_squares is not None:
                polished = _polish(*self._least_squares, rows, beta)
                if polished is not None:
                    return Minimum(self._problem.mean_loss(self._draw, polished), polished)
            if accurate and program is self._exact_program and inexact is None:
                loss = self._problem.mean_loss(self._draw, beta)
                inexact = Minimum(max(parent.loss, loss - SOLVER_ERROR * max(1.0, loss)), beta)
        return inexact or Minimum(parent.loss, None)

    def _solve_by(self, solver: str, program: Any) -> tuple[Array | None, bool]:
        """Return the solver's minimiser, or None if it found none, and whether it calls it accurate."""
        cp = self._cp
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate solution is dealt with by the caller
            try:
                options = dict(_SOLVER_OPTIONS.get(solver, {}))
                data, chain, inverse = program.get_problem_data(solver, solver_opts=options)
                raw = chain.solve_via_data(program, data, solver_opts=options)
                # ECOS catches Ctrl-C by itself; cvxpy would turn it into an ordinary failure
                if isinstance(raw, dict) and raw["info"]["exitFlag"] == _ECOS_INTERRUPTED:
                    raise KeyboardInterrupt
                program.unpack_results(raw, chain, inverse)
            except (cp.error.SolverError, ArithmeticError, ValueError):
                return None, False
        beta = self._beta.value
        if beta is None or not np.isfinite(beta).all():
            return None, False
        return np.asarray(beta, dtype=float), program.status == cp.OPTIMAL


def _polish(matrix: Array, target: Array, rows: Array, beta: Array) -> Array | None:
    """Make a minimiser of |matrix beta - target|^2 over rows @ beta >= 0 exact, or return None.

    The walls that `beta` lies on to solver accuracy are taken as equations. The result is accepted only if it
    satisfies the optimality conditions, so a wrong guess of the walls does no harm.
    """
    scale = float(np.linalg.norm(matrix) * np.linalg.norm(target)) + 1e-300
    slack = rows @ beta
    for closeness in (1e-7, 1e-5, 1e-9, 1e-3):
        tight = rows[slack <= closeness * max(1.0, float(np.abs(beta).max()))]
        _, values, right = np.linalg.svd(tight)
        basis = right[int((values > 1e-10).sum()) :].T
        start = basis @ (basis.T @ beta)
        # the least step, so that a minimiser that is not unique stays inside the cone; singular values are
        # cut relative to the whole matrix, because on the walls all of them may be rounding errors
        left, values, right = np.linalg.svd(matrix @ basis, full_matrices=False)
        kept = values > 1e-12 * np.linalg.norm(matrix)
        step = (left[:, kept].T @ (target - matrix @ start)) / values[kept]
        point = start + basis @ (right[kept].T @ step)
        if np.linalg.norm(point) * np.linalg.norm(matrix) <= 1e-12 * np.linalg.norm(target):
            point = np.zeros_like(point)  # at the apex the signs of rounding errors would name a cell
        if (rows @ point).min(initial=0.0) < -KKT_ERROR * max(1.0, float(np.abs(point).max())):
            continue
        gradient = matrix.T @ (matrix @ point - target)
        try:
            multipliers = nnls(tight.T, gradient)[0] if len(tight) else np.zeros(0)
        except RuntimeError:  # its iteration limit
            continue
        # not the residual that nnls reports, which may be wrong where the walls are dependent
        if np.linalg.norm(tight.T @ multipliers - gradient) <= KKT_ERROR * scale:
            return np.asarray(point, dtype=float)
    return None
