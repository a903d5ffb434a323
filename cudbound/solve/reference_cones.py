"""The convex subproblems of the reference solver, solved by cvxpy: the least loss on a closed cone.

The answer of the solver is then made exact to rounding, where the loss is one of `cudbound.losses.surrogates`, and
checked by the optimality conditions. A vanishing loss need not have a minimizer on a cone; a linear program finds the
rows that can be given any margin at no cost to others, and the loss of the remaining rows has one.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, lsq_linear

from cudbound.basis.exceptions import NotMinimizerError
from cudbound.losses.surrogates import LOSSES, Loss, NativeLoss
from cudbound.losses.surrogates import import_cvxpy as import_cvxpy
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
    multipliers = np.zeros(0)
    if len(face.normals):
        bounds = (face.low, face.high)
        multipliers = lsq_linear(face.normals.T, gradient, bounds=bounds, method="bvls").x
    residual = np.linalg.norm(face.normals.T @ multipliers - gradient)
    return bool(residual <= KKT_ERROR * objective.scale())


# ---- the subproblems as programs of cvxpy ----


def _margins(cp: Any, labels: Array, scores: Any) -> Any:
    return cp.multiply(labels, scores)


#: The surrogates as cvxpy expressions: (cvxpy, labels, scores) -> loss of each point.
CVXPY_LOSSES: dict[str, Callable[[Any, Array, Any], Any]] = {
    "squared": lambda cp, labels, scores: cp.square(labels - scores),
    "logistic": lambda cp, labels, scores: cp.logistic(-_margins(cp, labels, scores)),
    "exponential": lambda cp, labels, scores: cp.exp(-_margins(cp, labels, scores)),
    "squared_hinge": lambda cp, labels, scores: cp.square(cp.pos(1.0 - _margins(cp, labels, scores))),
    "hinge": lambda cp, labels, scores: cp.pos(1.0 - _margins(cp, labels, scores)),
    "huber": lambda cp, labels, scores: cp.huber(cp.pos(1.0 - _margins(cp, labels, scores)), 2.0),
}

#: Subtracted, times max(1, loss), from a loss that could not be made exact by `polish`, together with the gap that
#: the solver leaves between its primal and dual objectives. Enlarges Q.
SOLVER_ERROR = 1e-9
#: Margin at which the loss of a row that can have any margin is taken as 0: exp(-50) is below 1e-21.
FAR = 50.0

#: Weight of |beta|^2, relative to the Gram matrix, in a first attempt on a rank-deficient draw; its answer is
#: used only after `polish` has removed the effect.
_PULL = 1e-6

_SOLVER_OPTIONS: dict[str, dict[str, Any]] = {
    "ECOS": {"abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10, "max_iters": 200},
    "CLARABEL": {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 200},
}
_ECOS_INTERRUPTED = -4


def choose_solvers(cp: Any, preferred: str) -> list[str]:
    """Return the names of the solvers that are installed: the one to try first, and the one to try if it fails."""
    return sorted(set(_SOLVER_OPTIONS) & set(cp.installed_solvers()), key=lambda name: name != preferred)


def loss_expression(cp: Any, loss: Loss, labels: Array, scores: Any) -> Any:
    """Return the loss of each point as a cvxpy expression.

    Raises
    ------
    ValueError
        If the loss is neither one of `CVXPY_LOSSES` nor a `cudbound.solve.CvxpyLoss`.
    """
    build = getattr(loss, "build", None)  # the expression that a CvxpyLoss brings with it
    if build is not None:
        return build(labels, scores)
    expression = CVXPY_LOSSES.get(loss.name)
    if expression is None:
        raise ValueError(
            f"The reference solver supports the losses {sorted(CVXPY_LOSSES)} and any cudbound.solve.CvxpyLoss. "
            f"Got {loss.name!r} instead; write it as a CvxpyLoss."
        )
    return expression(cp, labels, scores)


def objective_expression(cp: Any, objective: Objective, beta: Any) -> Any:
    """Return the penalized mean loss as a cvxpy expression of the coefficients."""
    terms = [cp.Constant(0.0)]
    if objective.labels.size:
        scores = objective.design @ beta + objective.offset
        losses = loss_expression(cp, objective.loss, objective.labels, scores)
        terms.append(cp.sum(cp.multiply(objective.shares, losses)))
    if objective.ridge.any():
        terms.append(cp.sum(cp.multiply(objective.ridge, cp.square(beta))))
    if objective.l1.any():
        terms.append(cp.sum(cp.multiply(objective.l1, cp.abs(beta))))
    return sum(terms)


def rescaled(problem: Problem, scale: Array) -> Problem:
    """Return the same problem with the columns of the design divided by `scale`, for coefficients times `scale`."""
    return replace(
        problem,
        design=problem.design / scale,
        coef=problem.coef * scale,
        penalty=None if problem.penalty is None else problem.penalty / scale**2,
        l1_penalty=None if problem.l1_penalty is None else problem.l1_penalty / scale,
    )


def minimize_by_cvxpy(problem: Problem, draw: int) -> Array:
    """Minimize the penalized mean loss of one draw, to the tolerances of a cvxpy solver.

    Raises
    ------
    NotMinimizerError
        If all solvers fail.
    """
    cp = import_cvxpy()
    # columns of equal length, so that the solver's tolerances mean the same for all of them
    scale = np.linalg.norm(problem.design, axis=0)
    scale[scale == 0.0] = 1.0
    beta = cp.Variable(scale.size)
    objective = objective_expression(
        cp, Objective.of(rescaled(problem, scale), *problem.weighted_rows(draw)), beta
    )
    program = cp.Problem(cp.Minimize(objective))
    for solver in choose_solvers(cp, "CLARABEL"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a minimum that is inaccurate shows in the residual
            try:
                program.solve(solver=solver)
            except cp.error.SolverError:
                continue
        if beta.value is not None:
            return np.asarray(beta.value / scale, dtype=float)
    raise NotMinimizerError(
        f"No cvxpy solver could minimize the mean {problem.loss.name} loss on these data, so the fitted coefficients "
        "cannot be checked.",
        "Standardize the features.",
    )


@dataclass(frozen=True)
class Minimum:
    """Least loss on a closed cone and a minimizer; for a subproblem that failed, a lower bound and None.

    Where the infimum is approached along a direction, `beta` is a point so far out that the loss is the infimum to
    rounding.
    """

    loss: float
    beta: Array | None


class Relaxation:
    """The convex subproblem of one draw, built once and solved for many sets of fixed sides."""

    def __init__(self, cp: Any, solvers: list[str], problem: Problem, draw: int, normals: Array):
        self._cp, self._solvers, self._normals = cp, solvers, normals
        self._problem = problem
        self._rows, self._shares = problem.weighted_rows(draw)
        self._objective = Objective.of(problem, self._rows, self._shares)
        self._margins = self._objective.labels[:, None] * self._objective.design
        self._parts: dict[bytes, _Part] = {}
        nowhere = np.zeros((0, problem.coef.size))
        self._separable = problem.loss.vanishes and bool(self._vanishing(nowhere)[0].any())

    def minimum(self, signs: NDArray[np.int8], parent: Minimum) -> Minimum:
        """Minimize the loss over the closed cone of these sides of the first ``len(signs)`` hyperplanes."""
        rows = signs[:, None] * self._normals[: signs.size]
        if not self._separable:
            return self._part(np.zeros(self._objective.labels.size, dtype=bool)).minimum(rows, signs, parent)
        vanishing, direction = self._vanishing(rows)
        minimum = self._part(vanishing).minimum(rows, signs, parent)
        if minimum.beta is None or not vanishing.any():
            return minimum
        margins = self._margins @ minimum.beta + self._objective.labels * self._objective.offset
        gains = self._margins[vanishing] @ direction
        distance = float(np.max((FAR - margins[vanishing]) / gains, initial=0.0))
        return Minimum(minimum.loss, minimum.beta + distance * direction)

    def _part(self, vanishing: NDArray[np.bool_]) -> _Part:
        """Return the subproblem of the rows whose loss does not vanish."""
        key = vanishing.tobytes()
        if key not in self._parts:
            objective = Objective.of(self._problem, self._rows[~vanishing], self._shares[~vanishing])
            self._parts[key] = _Part(self._cp, self._solvers, objective, self._normals)
        return self._parts[key]

    def _vanishing(self, rows: Array) -> tuple[NDArray[np.bool_], Array]:
        """Find the drawn rows whose loss a direction of the cone drives to 0 without raising any other.

        The largest sum of gains min(1, y_i x_i'd) over the directions d of the cone that lower no margin and no
        unpenalized coefficient: where it is positive for a row it is 1, because d may be of any length.
        """
        m, p = self._margins.shape
        penalized = (self._objective.ridge > 0.0) | (self._objective.l1 > 0.0)
        solution = solve_linear_program(
            np.concatenate([np.zeros(p), -np.ones(m)]),
            np.block([[-self._margins, np.eye(m)], [-rows, np.zeros((len(rows), m))]]),
            [(0.0, 0.0) if fixed else (None, None) for fixed in penalized] + [(0.0, 1.0)] * m,
            f"the separability of {m} rows",
        )
        return solution[p:] > 0.5, solution[:p]


class _Part:
    """The least penalized loss of some rows on a closed cone; it has a minimizer."""

    def __init__(self, cp: Any, solvers: list[str], objective: Objective, normals: Array):
        p = objective.design.shape[1]
        self._cp, self._solvers, self._objective = cp, solvers, objective
        self._has_derivatives = objective.loss.name in LOSSES
        self._beta = cp.Variable(p)
        penalized_loss = objective_expression(cp, objective, self._beta)
        # an undecided hyperplane has the row 0'beta + 1 >= 0, which leaves the cone its interior
        size = max(1, len(normals))  # older cvxpy takes no parameter without entries
        self._signs = cp.Parameter(size)
        self._free = cp.Parameter(size, nonneg=True)
        constraints = (
            [cp.multiply(self._signs, normals @ self._beta) + self._free >= 0] if len(normals) else []
        )
        self._exact_program = cp.Problem(cp.Minimize(penalized_loss), constraints)
        self._programs = [self._exact_program]
        penalties = np.diag(np.sqrt(objective.ridge + objective.l1))
        matrix = np.vstack([np.sqrt(objective.shares)[:, None] * objective.design, penalties])
        if self._has_derivatives and np.linalg.matrix_rank(matrix) < p:
            # the minimizer is not unique: find a small one as the start of the polishing
            pull = max(_PULL * float(np.square(matrix).sum()), _PULL)
            pulled = cp.Minimize(penalized_loss + pull * cp.sum_squares(self._beta))
            self._programs = [cp.Problem(pulled, constraints), self._exact_program]

    def minimum(self, rows: Array, signs: NDArray[np.int8], parent: Minimum) -> Minimum:
        """Minimize over the cone of `rows`, the first ``len(signs)`` hyperplanes with these signs."""
        if not self._objective.labels.size:
            return Minimum(0.0, np.zeros(self._beta.size))
        decided = np.zeros(self._signs.size)
        decided[: signs.size] = signs
        self._signs.value, self._free.value = decided, 1.0 - np.abs(decided)
        inexact = None
        for solver, program in itertools.product(self._solvers, self._programs):
            beta, gap = self._solve_by(solver, program)
            if beta is None:
                continue
            if self._has_derivatives:
                polished = polish(self._objective, rows, beta)
                if polished is not None:
                    return Minimum(self._objective.value(polished), polished)
            if np.isfinite(gap) and program is self._exact_program and inexact is None:
                loss = self._objective.value(beta)
                inexact = Minimum(max(parent.loss, loss - gap - SOLVER_ERROR * max(1.0, loss)), beta)
        return inexact or Minimum(parent.loss, None)

    def _solve_by(self, solver: str, program: Any) -> tuple[Array | None, float]:
        """Return the solver's minimizer, or None if it found none, and its gap, infinite if it is not accurate."""
        cp = self._cp
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the caller deals with an inaccurate solution
            try:
                options = dict(_SOLVER_OPTIONS.get(solver, {}))
                data, chain, inverse = program.get_problem_data(solver, solver_opts=options)
                raw = chain.solve_via_data(program, data, solver_opts=options)
                # ECOS catches Ctrl-C by itself; cvxpy would turn it into an ordinary failure
                if isinstance(raw, dict) and raw["info"]["exitFlag"] == _ECOS_INTERRUPTED:
                    raise KeyboardInterrupt
                program.unpack_results(raw, chain, inverse)
            except (cp.error.SolverError, ArithmeticError, ValueError):
                return None, np.inf
        beta = self._beta.value
        if beta is None or not np.isfinite(beta).all():
            return None, np.inf
        gap = _gap(raw) if program.status == cp.OPTIMAL else np.inf
        return np.asarray(beta, dtype=float), gap


def _gap(raw: Any) -> float:
    """Difference of the primal and the dual objective that the solver reports, 0 if it reports none."""
    if isinstance(raw, dict) and "pcost" in raw.get("info", {}):
        return abs(float(raw["info"]["pcost"]) - float(raw["info"]["dcost"]))
    if hasattr(raw, "obj_val_dual"):
        return abs(float(raw.obj_val) - float(raw.obj_val_dual))
    return 0.0


#: Unit rows closer than this, up to sign, are one hyperplane, and one whose two sides differ in score by less
#: than this times sum |w| is dropped. Errs on either side by less than that difference.
SAME_HYPERPLANE = 1e-10
#: A row shorter than this, relative to the longest, is a row of zeros.
ZERO_ROW = 1e-13
#: A cone counts as open if some v with |v|_inf <= 1 lies further than this from all its walls. A narrower cell would
#: be lost; this is the only tolerance that could make Q smaller; HiGHS works to a tenth of it.
OPEN_MARGIN = 1e-9
_LP_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Hyperplanes:
    """Unit normals (m, p), the score on their negative and positive sides (m, 2), and that of other rows."""

    normals: Array
    scores: Array
    constant: float

    def score(self, signs: NDArray[np.int8]) -> float:
        """Score of the other rows and of the first ``len(signs)`` hyperplanes on these sides."""
        return float(self.constant + self.scores[np.arange(signs.size), (signs > 0).astype(int)].sum())


def merge_rows(problem: Problem, draw: int) -> Hyperplanes:
    """Merge collinear rows: all rows of a hyperplane change class together, regardless of their labels."""
    weights = problem.score_weights(draw)
    lengths = np.linalg.norm(problem.design, axis=1)
    zero = lengths <= ZERO_ROW * lengths.max()
    constant = float(weights[zero & (problem.labels < 0.0)].sum())
    left = np.flatnonzero((weights != 0.0) & ~zero)
    units = problem.design[left] / lengths[left, None]
    normals, scores = [], []
    while left.size:
        same = np.linalg.norm(units - units[0], axis=1) <= SAME_HYPERPLANE
        opposite = np.linalg.norm(units + units[0], axis=1) <= SAME_HYPERPLANE
        positive = problem.labels[left] > 0.0
        errors_below = np.where(positive, same, opposite)
        errors_above = np.where(positive, opposite, same)
        below, above = float(weights[left] @ errors_below), float(weights[left] @ errors_above)
        if abs(above - below) > SAME_HYPERPLANE * np.abs(weights).sum():
            normals.append(units[0])
            scores.append((below, above))
        else:
            constant += below
        left, units = left[~(same | opposite)], units[~(same | opposite)]
    m, p = len(normals), problem.design.shape[1]
    sides = np.array(scores, dtype=float).reshape(m, 2)
    order = np.argsort(-np.abs(sides[:, 1] - sides[:, 0]), kind="stable")
    return Hyperplanes(np.array(normals).reshape(m, p)[order], sides[order], constant)


def interior_point(rows: Array) -> Array | None:
    """Return v, |v|_inf <= 1, with the largest minimum of rows @ v, or None if it is below `OPEN_MARGIN`."""
    m, p = rows.shape
    solution = solve_linear_program(
        np.append(np.zeros(p), -1.0),
        np.hstack([-rows, np.ones((m, 1))]),
        [(-1.0, 1.0)] * p + [(None, 1.0)],
        f"a feasibility problem of {m} rows",
    )
    return solution[:p] if (rows @ solution[:p]).min(initial=np.inf) > OPEN_MARGIN else None


def solve_linear_program(
    objective: Array, rows: Array, bounds: Sequence[tuple[float | None, float | None]], what: str
) -> Array:
    """Return the v within its bounds that minimizes objective @ v under rows @ v <= 0.

    Raises
    ------
    RuntimeError
        If there is none, or if HiGHS fails; the message gives the reason.
    """
    solution = linprog(
        objective,
        A_ub=rows,
        b_ub=np.zeros(len(rows)),
        bounds=bounds,
        method="highs",
        options={"primal_feasibility_tolerance": _LP_TOLERANCE, "dual_feasibility_tolerance": _LP_TOLERANCE},
    )
    if solution.status != 0 or solution.x is None:
        raise RuntimeError(f"HiGHS failed on {what}: {solution.message} Pickle the problem and report it.")
    return np.asarray(solution.x, dtype=float)
