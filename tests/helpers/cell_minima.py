"""The least loss on the closure of each cell, with a certificate: the second half of the oracle.

A closed cell is a cone: non-negative combinations of its extreme rays, plus the directions that no hyperplane
sees. The loss depends on the scores of the drawn rows and on the penalized coefficients alone, so all is done in
the image of the cone in that space.

- Squared loss: one non-negative least-squares problem, in rays whose images need not be linearly independent.
- Smooth losses: Newton steps, each a non-negative least-squares problem (iteratively reweighted least squares).
  For squared loss the first is exact, and for squared hinge loss with one slack per row; the latter are of use for
  modified Huber loss as well.
- Hinge loss: a quadratic program by Clarabel.
- Where the loss falls to its infimum only far out, the rows whose loss vanishes there are found from the cone of
  directions that worsen no row, and are left out: what remains has a minimizer.

Nothing is taken from the libraries on trust. A minimum counts only if the affine function that supports the loss
there is bounded below on the cone by nearly the same value. What scipy's nnls gets wrong (along dependent columns it
may scale up rounding errors by 1e15) is done again by trying all independent sets of rays.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import nnls

from cudbound.losses.surrogates import NativeLoss, get_loss
from cudbound.problem.problem import Problem

Array = NDArray[np.float64]

# Largest gap between a least loss and the lower bound that proves it, relative to max(1, loss); a smaller one is
# sought if it is above the second number.
GAP = 1e-8
SMALL_GAP = 1e-10
# Largest decrease along a ray of unit length in the image, or change along a free direction, at a minimum.
SLOPE = 1e-8
# A ray whose image is shorter than this, relative to the matrix, does not change the loss.
FLAT = 1e-12
# Unit rows closer than this to a direction count as orthogonal to it.
ORTHOGONAL = 1e-9


@dataclass(frozen=True)
class Shape:
    """The loss of one draw on the images u = (scores, root penalties * coefficients), shape (k,).

    Its value is shares @ loss(labels, scores + offset) plus the sum of squares of the rest.
    """

    loss: NativeLoss
    matrix: Array
    labels: Array
    shares: Array
    offset: Array

    def value(self, image: Array) -> float:
        """Penalized mean loss at an image."""
        m = self.labels.size
        losses = self.loss.value(self.labels, image[:m] + self.offset)
        return float(self.shares @ losses + image[m:] @ image[m:])

    def gradient(self, image: Array) -> Array:
        """Gradient at an image."""
        m = self.labels.size
        slopes = self.loss.gradient(self.labels, image[:m] + self.offset)
        return np.concatenate([self.shares * slopes, 2.0 * image[m:]])

    def curvature(self, image: Array) -> Array:
        """Diagonal of the matrix of second derivatives at an image."""
        m = self.labels.size
        bends = self.loss.curvature(self.labels, image[:m] + self.offset)
        return np.concatenate([self.shares * bends, np.full(image.size - m, 2.0)])

    def without(self, rows: NDArray[np.bool_]) -> Shape:
        """Leave out some rows."""
        left = np.concatenate([~rows, np.ones(len(self.matrix) - rows.size, dtype=bool)])
        some = self.labels[~rows], self.shares[~rows], self.offset[~rows]
        return Shape(self.loss, self.matrix[left], *some)


@dataclass(frozen=True)
class Support:
    """An image, and of each row the slope and the value there of an affine function nowhere above its loss."""

    image: Array
    slopes: Array
    values: Array


@dataclass(frozen=True)
class Cone:
    """A closed cell: rays (p, r), free directions (p, q), and the rows (m, p) that are non-negative on it."""

    rays: Array
    free: Array
    rows: Array


Way = Callable[[Shape, Cone], Support]


def shape_of(problem: Problem, draw: int) -> Shape:
    """Return what one draw and the penalty contribute to the loss."""
    assert problem.l1_penalty is None, "the cells of an l1 penalty have kinks inside"
    p = problem.coef.size
    drawn = np.flatnonzero(problem.counts[draw])
    weights = np.ones(problem.labels.size) if problem.sample_weight is None else problem.sample_weight
    shares = problem.counts[draw, drawn] * weights[drawn] / problem.labels.size
    drawn, shares = drawn[shares > 0.0], shares[shares > 0.0]
    penalty = np.zeros(p) if problem.penalty is None else problem.penalty
    ridge = np.diag(np.sqrt(penalty))[penalty > 0.0]
    offset = np.zeros(drawn.size) if problem.offset is None else problem.offset[drawn]
    matrix = np.vstack([problem.design[drawn], ridge])
    return Shape(get_loss(problem.loss.name), matrix, problem.labels[drawn], shares, offset)


def null_space(matrix: Array, columns: int) -> tuple[Array, Array]:
    """Return orthonormal bases (p, r) of the row space and (p, p - r) of the null space."""
    if matrix.shape[0] == 0:
        return np.zeros((columns, 0)), np.eye(columns)
    _, values, right = np.linalg.svd(matrix)
    rank = int((values > 1e-9).sum())
    return right[:rank].T, right[rank:].T


def rays_of(normals: Array) -> Array:
    """Return both unit vectors of every line in which hyperplanes meet; the normals must span the space."""
    m, r = normals.shape
    assert np.linalg.matrix_rank(normals, tol=1e-9) == r, "cells with a lineality space have no extreme rays"
    rays = []
    for chosen in itertools.combinations(range(m), r - 1):
        _, line = null_space(normals[list(chosen)], r)
        if line.shape[1] != 1:
            continue
        rays.extend([line[:, 0], -line[:, 0]])
    return np.array(rays)


def cones_of(normals: Array, patterns: NDArray[np.int64]) -> list[Cone]:
    """Return the closed cell of each sign pattern."""
    p = normals.shape[1]
    row_space, free = null_space(normals, p)
    if normals.shape[0] == 0:
        return [Cone(np.zeros((p, 0)), free, normals) for _ in patterns]
    reduced = normals @ row_space
    rays = rays_of(reduced)
    sides = reduced @ rays.T  # (m, rays)
    sides[np.abs(sides) <= ORTHOGONAL] = 0.0
    cones = []
    for pattern in patterns:
        of_cell = (pattern[:, None] * sides >= 0.0).all(axis=0)
        assert of_cell.any(), "an open pointed cone has extreme rays"
        cones.append(Cone(row_space @ rays[of_cell].T, free, pattern[:, None] * normals))
    return cones


def least_losses(problem: Problem, draw: int, normals: Array, patterns: NDArray[np.int64]) -> Array:
    """Return the infimum of the (penalized) mean loss over the closure of each cell."""
    shape, cones = shape_of(problem, draw), cones_of(normals, patterns)
    if not problem.loss.vanishes:
        return np.array([least_loss(shape, cone) for cone in cones])
    losses = []
    improving = improving_directions(shape, normals)
    margins = shape.labels[:, None] * (shape.matrix[: shape.labels.size] @ improving)
    for cone in cones:
        inside = (cone.rows @ improving >= -ORTHOGONAL).all(axis=0)
        vanishing = (margins[:, inside] > ORTHOGONAL).any(axis=1)
        losses.append(least_loss(shape.without(vanishing), cone))
    return np.array(losses)


def least_loss(shape: Shape, cone: Cone) -> float:
    """Return the minimum over one closed cell, of the way that leads to the smallest gap."""
    least, smallest = np.inf, np.inf
    for find in WAYS[shape.loss.name]:
        support = find(shape, cone)
        gap = gap_of(shape, cone, support)
        if gap < smallest:
            least, smallest = shape.value(support.image), gap
        if smallest <= SMALL_GAP:
            break
    assert smallest <= GAP, f"no certified minimum of {shape} on {cone}"
    return least


def gap_of(shape: Shape, cone: Cone, support: Support) -> float:
    """Return the gap between the loss at an image of the cone and the lower bound by the affine functions.

    With the tangent of the penalty, their sum is least at the apex of the cone if it decreases along no ray; otherwise
    there is no bound.
    """
    m, image = shape.labels.size, support.image
    loss = shape.value(image)
    gradient = np.concatenate([shape.shares * support.slopes, 2.0 * image[m:]])
    images = shape.matrix @ np.hstack([cone.rays, cone.free, -cone.free])
    lengths = np.linalg.norm(images, axis=0)
    steep = lengths > FLAT * np.linalg.norm(shape.matrix)
    falls = (gradient @ (images[:, steep] / lengths[steep])).min(initial=0.0)
    if falls < -SLOPE * max(1.0, loss):
        return np.inf
    lower = shape.shares @ support.values + image[m:] @ image[m:] - gradient @ image
    return float(abs(loss - lower) / max(1.0, loss))


# ---- Newton's method ---------------------------------------------------------------------------------------


def by_newton(shape: Shape, cone: Cone, least_curvature: float) -> Support:
    """Minimize by Newton steps on the cone, with the curvature of each row raised to at least a positive number."""
    image, close = np.zeros(len(shape.matrix)), 0
    for _ in range(200):
        gradient = shape.gradient(image)
        curvature = np.maximum(shape.curvature(image), least_curvature)
        target = image - gradient / curvature
        step = nearest_image(shape.matrix, cone, np.sqrt(curvature), target) - image
        slope, here, length = float(gradient @ step), shape.value(image), 1.0
        if slope > -1e-9 * max(1.0, here):
            close += 1  # the last steps, too short for a line search, double the number of digits each
        else:
            while shape.value(image + length * step) > here + 1e-4 * length * slope:
                length *= 0.5
        image = image + length * step
        if close == 10 or slope > -1e-25 * max(1.0, here):
            break
    scores = image[: shape.labels.size] + shape.offset
    return Support(image, shape.loss.gradient(shape.labels, scores), shape.loss.value(shape.labels, scores))


def nearest_image(matrix: Array, cone: Cone, root: Array, target: Array) -> Array:
    """Return the image of the cone's point that minimizes |root * (image - target)|."""
    images, free = root[:, None] * (matrix @ cone.rays), root[:, None] * (matrix @ cone.free)
    goal = root * target
    rounding = FLAT * float(np.linalg.norm(root[:, None] * matrix))
    # the directions that no hyperplane sees are minimized over freely
    left, values, right = np.linalg.svd(free, full_matrices=False)
    kept = values > rounding
    left, right = left[:, kept], right[kept].T / values[kept]
    columns = images - left @ (left.T @ images)
    goal_left = goal - left @ (left.T @ goal)
    # a ray along which the loss does not change: what rounding leaves of its image must not be scaled up
    lengths = np.linalg.norm(columns, axis=0)
    flat = lengths <= rounding
    lengths[flat] = 1.0
    columns[:, flat] = 0.0
    amounts = project(columns / lengths, goal_left) / lengths
    amounts[flat] = 0.0
    shift = right @ (left.T @ (goal - images @ amounts))
    return np.asarray(matrix @ (cone.rays @ amounts + cone.free @ shift))


def project(columns: Array, target: Array) -> Array:
    """Return x >= 0 that minimizes |columns @ x - target|, for columns that are unit vectors or zero."""
    if columns.shape[1] == 0:
        return np.zeros(0)
    try:
        amounts = nnls(columns, target)[0]
    except RuntimeError:  # its iteration limit
        amounts = np.full(columns.shape[1], np.nan)
    if not _is_projection(columns, target, columns @ amounts):
        amounts = _project_by_trial(columns, target)
    return np.asarray(amounts)


def _is_projection(columns: Array, target: Array, point: Array) -> bool:
    """Whether a point of the cone is the nearest: its residual is normal to it and acute to no column."""
    residual, tolerance = target - point, 1e-10 * max(1.0, float(np.linalg.norm(target)))
    return bool(abs(residual @ point) <= tolerance and (columns.T @ residual).max(initial=0.0) <= tolerance)


def _project_by_trial(columns: Array, target: Array) -> Array:
    """Try the projection on the span of every independent set of columns."""
    best, distance = np.zeros(columns.shape[1]), float(np.linalg.norm(target))
    for size in range(1, int(np.linalg.matrix_rank(columns, tol=1e-9)) + 1):
        for chosen in itertools.combinations(range(columns.shape[1]), size):
            some = columns[:, list(chosen)]
            if np.linalg.svd(some, compute_uv=False)[-1] <= 1e-9:
                continue
            x = np.linalg.lstsq(some, target, rcond=None)[0]
            found = float(np.linalg.norm(some @ x - target))
            if x.min() >= -1e-12 and found < distance:
                best, distance = np.zeros(columns.shape[1]), found
                best[list(chosen)] = np.maximum(x, 0.0)
    return best


def improving_directions(shape: Shape, normals: Array) -> Array:
    """Return directions (p, k) that worsen no row; those in a cell generate all that the cell holds.

    They are rays of the arrangement of the hyperplanes and all drawn rows, in the span of the coefficients that
    bear no penalty.
    """
    m, p = shape.labels.size, shape.matrix.shape[1]
    unpenalized = np.flatnonzero(~shape.matrix[m:].any(axis=0))
    margins = shape.labels[:, None] * shape.matrix[:m][:, unpenalized]
    rows = np.vstack([normals[:, unpenalized], margins])
    lengths = np.linalg.norm(rows, axis=1)
    rows = rows[lengths > 1e-12] / lengths[lengths > 1e-12, None]
    distinct: list[Array] = []
    for row in rows:
        if all(abs(row @ other) < 1.0 - 1e-12 for other in distinct):
            distinct.append(row)
    if not distinct:
        return np.zeros((p, 0))
    row_space, _ = null_space(np.array(distinct), unpenalized.size)
    directions = row_space @ rays_of(np.array(distinct) @ row_space).T
    scale = np.maximum(np.linalg.norm(margins, axis=1), 1e-300)
    directions = directions[:, (margins @ directions >= -ORTHOGONAL * scale[:, None]).all(axis=0)]
    full = np.zeros((p, directions.shape[1]))
    full[unpenalized] = directions
    return full


# ---- programs with slacks ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class HuberWithoutFlat:
    """(1 - m)^2 down to margin -1, and -4 m below: modified Huber loss, were it not 0 beyond margin 1."""

    name: str = "huber without flat"
    vanishes: bool = False

    def value(self, labels: Array, scores: Array) -> Array:
        margins = labels * scores
        return np.where(margins < -1.0, -4.0 * margins, (1.0 - margins) ** 2)

    def gradient(self, labels: Array, scores: Array) -> Array:
        return -2.0 * labels * np.minimum(1.0 - labels * scores, 2.0)

    def curvature(self, labels: Array, scores: Array) -> Array:
        return np.where(labels * scores >= -1.0, 2.0, 0.0)


def by_slacks(shape: Shape, cone: Cone, least_curvature: float) -> Support:
    """Minimize a loss that is 0 from margin 1 on as the least of one that is not, at margin - s over slacks s >= 0."""
    loss = get_loss("squared") if shape.loss.name == "squared_hinge" else HuberWithoutFlat()
    m, (p, r), q = shape.labels.size, cone.rays.shape, cone.free.shape[1]
    slack = np.vstack([np.diag(-shape.labels), np.zeros((len(shape.matrix) - m, m))])
    wider = Shape(loss, np.hstack([shape.matrix, slack]), shape.labels, shape.shares, shape.offset)
    rays = np.block([[cone.rays, np.zeros((p, m))], [np.zeros((m, r)), np.eye(m)]])
    wider_cone = Cone(rays, np.vstack([cone.free, np.zeros((m, q))]), np.zeros((0, p + m)))
    # less its slack, a score of margin above 1 is one of margin 1, where the loss and its slope are the same
    return by_newton(wider, wider_cone, least_curvature)


def by_quadratic_program(shape: Shape, cone: Cone, tolerance: float) -> Support:
    """Minimize hinge loss as the least v over slacks v >= 0, v >= 1 - margin.

    Hinge loss is the largest a (1 - margin) over a in [0, 1]: the multipliers name affine minorants.
    """
    m, p = shape.labels.size, shape.matrix.shape[1]
    margins, slack = shape.labels[:, None] * shape.matrix[:m], np.eye(m)
    system = np.block(
        [[margins, slack], [np.zeros((m, p)), slack], [cone.rows, np.zeros((len(cone.rows), m))]]
    )
    right = np.concatenate([1.0 - shape.labels * shape.offset, np.zeros(m + len(cone.rows))])
    squares = np.concatenate([2.0 * np.square(shape.matrix[m:]).sum(axis=0), np.zeros(m)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    found = clarabel.DefaultSolver(
        sparse.csc_matrix(np.diag(squares)),
        np.concatenate([np.zeros(p), shape.shares]),
        sparse.csc_matrix(-system),
        -right,
        [clarabel.NonnegativeConeT(len(right))],
        settings,
    ).solve()
    image = shape.matrix @ np.array(found.x)[:p]
    slopes = np.clip(np.array(found.z)[:m] / shape.shares, 0.0, 1.0)
    values = slopes * (1.0 - shape.labels * (image[:m] + shape.offset))
    return Support(image, -shape.labels * slopes, values)


def newton(shape: Shape, cone: Cone) -> Support:
    """Minimize a loss with positive curvature."""
    return by_newton(shape, cone, 0.0)


def slacks(least_curvature: float) -> Way:
    """Return `by_slacks` with this least curvature."""
    return lambda shape, cone: by_slacks(shape, cone, least_curvature)


def quadratic_program(tolerance: float) -> Way:
    """Return `by_quadratic_program` with this tolerance."""
    return lambda shape, cone: by_quadratic_program(shape, cone, tolerance)


WAYS: dict[str, tuple[Way, ...]] = {
    "squared": (newton,),
    "logistic": (newton,),
    "exponential": (newton,),
    "squared_hinge": (slacks(0.0),),
    # without curvature below margin -1: a small one in its place costs a few steps more, and never the certificate
    "huber": (slacks(1e-6), slacks(1e-4), slacks(1e-8)),
    # where a tolerance cannot be met, Clarabel's last iterate may be far from its best
    "hinge": tuple(map(quadratic_program, (1e-11, 1e-10, 1e-9))),
}
