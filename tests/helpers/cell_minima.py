"""The least loss on the closure of each cell, with a certificate: the second half of the oracle.

A closed cell is a cone: non-negative combinations of its extreme rays, plus the directions that no hyperplane
sees. The loss depends on the scores of the drawn rows and on the penalized coefficients alone, so all is done in
the image of the cone in that space.

- Squared loss: one non-negative least-squares problem, in rays whose images need not be linearly independent. All
  cells of a draw share the preparation for it.
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
from functools import cached_property

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
# Sets of rays that are tried together.
AT_ONCE = 5_000


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
    if r == 1:
        return np.array([[1.0], [-1.0]])
    chosen = normals[np.array(list(itertools.combinations(range(m), r - 1)))]
    _, values, right = np.linalg.svd(chosen)
    lines = right[values[:, -1] > 1e-9, -1]
    return np.stack([lines, -lines], axis=1).reshape(-1, r)


@dataclass(frozen=True)
class ClosedCells:
    """The closed cells of an arrangement: rays (p, R), which of them each cell has (cells, R), and free directions."""

    normals: Array
    patterns: NDArray[np.int64]
    rays: Array
    of_cell: NDArray[np.bool_]
    free: Array

    def cone(self, cell: int) -> Cone:
        """Return one of them."""
        rows = self.patterns[cell, :, None] * self.normals
        return Cone(self.rays[:, self.of_cell[cell]], self.free, rows)


def closed_cells(normals: Array, patterns: NDArray[np.int64]) -> ClosedCells:
    """Return the closed cells of the sign patterns."""
    m, p = normals.shape
    row_space, free = null_space(normals, p)
    if m == 0:
        none = np.zeros((len(patterns), 0), dtype=bool)
        return ClosedCells(normals, patterns, np.zeros((p, 0)), none, free)
    reduced = normals @ row_space
    rays = rays_of(reduced)
    sides = reduced @ rays.T  # (m, rays)
    outside = (patterns > 0) @ (sides < -ORTHOGONAL) | (patterns < 0) @ (sides > ORTHOGONAL)
    assert not outside.all(axis=1).any(), "an open pointed cone has extreme rays"
    return ClosedCells(normals, patterns, row_space @ rays.T, ~outside, free)


class LeastLosses:
    """The infimum of the (penalized) mean loss over the closure of each cell, found when it is first asked for."""

    def __init__(self, problem: Problem, draw: int, normals: Array, patterns: NDArray[np.int64]) -> None:
        self._shape, self._cells = shape_of(problem, draw), closed_cells(normals, patterns)
        self._found: dict[int, float] = {}

    def __getitem__(self, cell: int) -> float:
        if cell not in self._found:
            self._found[cell] = self._find(cell)
        return self._found[cell]

    def all(self) -> Array:
        """Return those of all cells."""
        return np.array([self[cell] for cell in range(len(self._cells.patterns))])

    def _find(self, cell: int) -> float:
        cone = self._cells.cone(cell)
        if self._shape.loss.vanishes:
            return least_loss(self._shape.without(self._vanishing(cone)), cone)
        if self._shape.loss.name == "squared":
            projection, target = self._squared
            support = tangent(self._shape, projection.nearest_image(target, self._cells.of_cell[cell]))
            if gap_of(self._shape, cone, support) <= SMALL_GAP:
                return self._shape.value(support.image)
        return least_loss(self._shape, cone)

    @cached_property
    def _squared(self) -> tuple[Projection, Array]:
        """Of squared loss, the norm that it is but for a constant, and where it is least without any hyperplane."""
        shape, start = self._shape, np.zeros(len(self._shape.matrix))
        curvature = shape.curvature(start)
        projection = Projection(shape.matrix, self._cells.rays, self._cells.free, np.sqrt(curvature))
        return projection, start - shape.gradient(start) / curvature

    @cached_property
    def _improving(self) -> tuple[Array, Array]:
        """The directions that worsen no row, and the margin of each row along them."""
        shape = self._shape
        improving = improving_directions(shape, self._cells.normals)
        return improving, shape.labels[:, None] * (shape.matrix[: shape.labels.size] @ improving)

    def _vanishing(self, cone: Cone) -> NDArray[np.bool_]:
        """Return the rows whose loss vanishes far out in a cell."""
        improving, margins = self._improving
        inside = (cone.rows @ improving >= -ORTHOGONAL).all(axis=0)
        return np.asarray((margins[:, inside] > ORTHOGONAL).any(axis=1))


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
    here = shape.value(image)
    for _ in range(200):
        gradient = shape.gradient(image)
        curvature = np.maximum(shape.curvature(image), least_curvature)
        projection = Projection(shape.matrix, cone.rays, cone.free, np.sqrt(curvature))
        step = projection.nearest_image(image - gradient / curvature) - image
        slope, length = float(gradient @ step), 1.0
        there = shape.value(image + step)
        if slope > -1e-9 * max(1.0, here):
            close += 1  # the last steps, too short for a line search, double the number of digits each
        else:
            while there > here + 1e-4 * length * slope:
                length *= 0.5
                there = shape.value(image + length * step)
        arrived = close == 10 or slope > -1e-25 * max(1.0, here)
        image, here = image + length * step, there
        if arrived:
            break
    return tangent(shape, image)


def tangent(shape: Shape, image: Array) -> Support:
    """Return the tangents of the losses at an image."""
    scores = image[: shape.labels.size] + shape.offset
    return Support(image, shape.loss.gradient(shape.labels, scores), shape.loss.value(shape.labels, scores))


class Projection:
    """Nearest points in the norm |root * image|, among the images of cones with the same free directions."""

    def __init__(self, matrix: Array, rays: Array, free: Array, root: Array) -> None:
        self._root = root
        self._image_of_rays, self._image_of_free = matrix @ rays, matrix @ free
        rounding = FLAT * float(np.linalg.norm(root[:, None] * matrix))
        images = root[:, None] * self._image_of_rays
        # the directions that no hyperplane sees are minimized over freely
        left, values, right = np.linalg.svd(root[:, None] * self._image_of_free, full_matrices=False)
        kept = values > rounding
        self._left, self._right = left[:, kept], right[kept].T / values[kept]
        self._along = self._left.T @ images
        columns = images - self._left @ self._along
        # a ray along which the loss does not change: what rounding leaves of its image must not be scaled up
        self._lengths = np.linalg.norm(columns, axis=0)
        self._flat = self._lengths <= rounding
        self._lengths[self._flat] = 1.0
        columns[:, self._flat] = 0.0
        self._columns = columns / self._lengths

    def nearest_image(self, target: Array, of_cell: NDArray[np.bool_] | slice = slice(None)) -> Array:
        """Return the image of the point that minimizes |root * (image - target)|, on the cone of some of the rays."""
        goal = self._root * target
        along = self._left.T @ goal
        goal_left = goal - self._left @ along
        amounts = project(self._columns[:, of_cell], goal_left) / self._lengths[of_cell]
        amounts[self._flat[of_cell]] = 0.0
        shift = self._right @ (along - self._along[:, of_cell] @ amounts)
        return np.asarray(self._image_of_rays[:, of_cell] @ amounts + self._image_of_free @ shift)


def project(columns: Array, target: Array) -> Array:
    """Return x >= 0 that minimizes |columns @ x - target|, for columns that are unit vectors or zero."""
    if columns.shape[1] == 0:
        return np.zeros(0)
    try:
        amounts = nnls(columns, target)[0]
    except (RuntimeError, np.linalg.LinAlgError):  # its iteration limit; a singular system before SciPy 1.15
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
        sets = itertools.combinations(range(columns.shape[1]), size)
        while some := list(itertools.islice(sets, AT_ONCE)):
            chosen = np.array(some)
            amounts, far = _projections_on_spans(columns.T[chosen], target)
            nearest = int(far.argmin())
            if far[nearest] < distance:
                best, distance = np.zeros(columns.shape[1]), float(far[nearest])
                best[chosen[nearest]] = np.maximum(amounts[nearest], 0.0)
    return best


def _projections_on_spans(sets: Array, target: Array) -> tuple[Array, Array]:
    """Return the amounts (sets, size) of vectors (sets, size, k), and the distance; it is inf unless they are >= 0."""
    left, values, right = np.linalg.svd(sets, full_matrices=False)
    values = np.where(values > 1e-9, values, np.inf)
    amounts = np.einsum("nij,nj->ni", left, right @ target / values)
    far = np.linalg.norm(np.einsum("nik,ni->nk", sets, amounts) - target, axis=1)
    allowed = np.isfinite(values[:, -1]) & (amounts.min(axis=1) >= -1e-12)
    return amounts, np.where(allowed, far, np.inf)


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
