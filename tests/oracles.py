"""Enumeration of all cells: an oracle for Q that shares no code with either solver of the package.

The hyperplanes design_i'beta = 0 are added one at a time. A cell is kept only if it has an interior point,
which is decided by Gordan's theorem (either A v > 0 has a solution, or A'y = 0 has one with y >= 0, y != 0):
the least-squares problem min |A'y|^2 + (sum y - 1)^2 over y >= 0 has residual 0 in the second case only, and
in the first A'y is a v of largest margin (Lawson & Hanson 1974, chapter 23).

The minimum of the loss over the closure of a cell is a non-negative least-squares problem in the extreme rays
of the cell, whose images need not be linearly independent: the Gram matrix may be rank-deficient.

Nothing is taken from scipy on trust: an interior point is checked by its signs, its absence by y, a minimum
by its optimality conditions. What scipy's nnls gets wrong (along dependent columns it may scale up rounding
errors by 1e15) is done again by a linear program or by trying all independent sets of rays.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, nnls

from cudbound.problem import Problem
from cudbound.results import Draws

Array = NDArray[np.float64]

# Unit rows closer than this (up to sign) are one hyperplane; a sum of weights below this times sum |w| is 0.
SAME = 1e-10
# A cell whose largest margin min_i s_i a_i'v over |v| = 1 (unit rows a_i) is smaller has no interior point.
MARGIN = 1e-9
# alpha = inf: losses up to L(coef) + LEVEL * max(1, L(coef)) count as not above L(coef).
LEVEL = 1e-9


@dataclass(frozen=True)
class Arrangement:
    """Distinct hyperplanes that change the score, unit normals (m, p), and the score on either side."""

    normals: Array
    score_positive: Array
    score_negative: Array
    constant: float
    live_rows: NDArray[np.int64]


@dataclass(frozen=True)
class OracleResult:
    """All open cells of one draw: sign patterns (cells, m), interior points, scores, least losses, and Q.

    `q_plus` and `q_minus` are the suprema of +S g and -S g, negative if no score has that sign.
    """

    q: float
    q_plus: float
    q_minus: float
    cells: int
    patterns: NDArray[np.int64]
    interior: Array
    scores: Array
    losses: Array
    anchor_loss: float

    def q_at(self, alpha: float) -> tuple[float, float, float]:
        """Return (Q, sup of +S g, sup of -S g) at another alpha, from the same cells."""
        g = localisation(alpha, self.anchor_loss, self.losses)
        values = self.scores * g
        return float(np.abs(values).max()), float(values.max()), float((-values).max())


def localisation(alpha: float, anchor_loss: float, losses: Array) -> Array:
    """Return g(alpha (L(coef) - loss)), g(x) = clip(1 + x, 0, 1), with its limits at alpha = 0 and inf."""
    losses = np.asarray(losses, dtype=float)
    if alpha == 0.0:
        return np.ones_like(losses)
    if np.isinf(alpha):
        return (losses <= anchor_loss + LEVEL * max(1.0, anchor_loss)).astype(float)
    return np.clip(1.0 + alpha * (anchor_loss - losses), 0.0, 1.0)


def arrange(problem: Problem, draw: int) -> Arrangement:
    """Merge the rows of one draw into hyperplanes; rows that cannot change the score go into the constant."""
    weights = problem.score_weights(draw)
    design, labels = problem.design, problem.labels
    constant = 0.0
    groups: list[tuple[Array, list[tuple[int, float]]]] = []  # unit normal, [(row, orientation)]
    for i in np.flatnonzero(weights):
        length = np.linalg.norm(design[i])
        if length == 0.0:
            constant += weights[i] * (labels[i] != 1.0)
            continue
        unit = design[i] / length
        for normal, members in groups:
            if np.linalg.norm(unit - normal) <= SAME:
                members.append((int(i), 1.0))
                break
            if np.linalg.norm(unit + normal) <= SAME:
                members.append((int(i), -1.0))
                break
        else:
            groups.append((unit, [(int(i), 1.0)]))
    normals: list[Array] = []
    positive: list[float] = []
    negative: list[float] = []
    live: list[int] = []
    threshold = SAME * np.abs(weights).sum()
    for normal, members in groups:
        on_positive = sum(weights[i] for i, side in members if side != labels[i])
        on_negative = sum(weights[i] for i, side in members if -side != labels[i])
        if abs(on_positive - on_negative) <= threshold:
            constant += on_positive
            continue
        normals.append(normal)
        positive.append(on_positive)
        negative.append(on_negative)
        live.extend(i for i, _ in members)
    return Arrangement(
        np.array(normals).reshape(len(normals), design.shape[1]),
        np.array(positive, dtype=float),
        np.array(negative, dtype=float),
        float(constant),
        np.array(sorted(live), dtype=np.int64),
    )


def interior_point(rows: Array) -> Array | None:
    """Return a unit v with rows @ v > 0 (rows of unit length), or None if there is none."""
    m, p = rows.shape
    if m == 0:
        return np.asarray(np.eye(p)[0])
    system = np.vstack([rows.T, np.ones((1, m))])
    target = np.zeros(p + 1)
    target[p] = 1.0
    try:
        multipliers, _ = nnls(system, target)
    except RuntimeError:  # its iteration limit
        return interior_point_by_linprog(rows)
    v = rows.T @ multipliers
    length = float(np.linalg.norm(v))
    if length <= MARGIN * 1e-3 and abs(multipliers.sum() - 1.0) <= 1e-6:
        return None
    unit: Array = np.asarray(v / max(length, 1e-300), dtype=float)
    return unit if float((rows @ unit).min()) > MARGIN else interior_point_by_linprog(rows)


def interior_point_by_linprog(rows: Array) -> Array | None:
    """Return the same by a linear program: max t subject to rows @ v >= t, |v|_inf <= 1."""
    m, p = rows.shape
    objective = np.zeros(p + 1)
    objective[p] = -1.0
    found = linprog(
        objective,
        A_ub=np.hstack([-rows, np.ones((m, 1))]),
        b_ub=np.zeros(m),
        bounds=[(-1.0, 1.0)] * p + [(None, 1.0)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.x is not None, found.message
    v = np.asarray(found.x[:p])
    if not (rows @ v).min() > MARGIN:
        return None
    return np.asarray(v / np.linalg.norm(v))


def open_cells(normals: Array) -> tuple[NDArray[np.int64], Array]:
    """Return the sign patterns (cells, m) of the open cells and a unit interior point of each (cells, p)."""
    m, p = normals.shape
    cells: list[tuple[list[int], Array]] = [([], np.eye(p)[0])]
    for k in range(m):
        grown = []
        for signs, point in cells:
            side = normals[k] @ point
            for sign in (1, -1):
                pattern = [*signs, sign]
                # the point is good for the child as well only if it is not close to any of its walls
                inside: Array | None = point
                if not (np.array(pattern) * (normals[: k + 1] @ point)).min() > 1e-4 or sign * side <= 0:
                    inside = interior_point(np.array(pattern)[:, None] * normals[: k + 1])
                if inside is not None:
                    grown.append((pattern, inside))
        cells = grown
    patterns = np.array([signs for signs, _ in cells], dtype=np.int64).reshape(len(cells), m)
    return patterns, np.array([point for _, point in cells])


def _null_space(matrix: Array, columns: int) -> tuple[Array, Array]:
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
        _, line = _null_space(normals[list(chosen)], r)
        if line.shape[1] != 1:
            continue
        rays.extend([line[:, 0], -line[:, 0]])
    return np.array(rays)


def least_losses(problem: Problem, draw: int, normals: Array, patterns: NDArray[np.int64]) -> Array:
    """Return the minimum of the (penalised) mean squared loss over the closure of each cell."""
    assert problem.loss == "squared", "the oracle is written for squared loss"
    n, p = problem.design.shape
    root = np.sqrt(problem.counts[draw] / n)
    matrix, target = root[:, None] * problem.design, root * problem.labels
    if problem.penalty is not None:
        matrix = np.vstack([matrix, np.diag(np.sqrt(problem.penalty))])
        target = np.concatenate([target, np.zeros(p)])
    row_space, lineality = _null_space(normals, p)
    rounding = 1e-12 * np.linalg.norm(matrix)
    # the directions that no hyperplane sees are minimised over freely
    free = matrix @ lineality
    if free.shape[1]:
        left, values, _ = np.linalg.svd(free, full_matrices=False)
        left = left[:, values > rounding]
        matrix = matrix - left @ (left.T @ matrix)
        target = target - left @ (left.T @ target)
    if normals.shape[0] == 0:
        return np.full(len(patterns), float(target @ target))
    reduced = normals @ row_space
    rays = rays_of(reduced)
    sides = reduced @ rays.T  # (m, rays)
    sides[np.abs(sides) <= 1e-9] = 0.0
    images = matrix @ row_space @ rays.T
    # a ray along which the loss does not change: what rounding leaves of its image must not be scaled up
    lengths = np.linalg.norm(images, axis=0)
    images[:, lengths <= rounding] = 0.0
    images /= np.where(lengths <= rounding, 1.0, lengths)
    losses = np.empty(len(patterns))
    for k, pattern in enumerate(patterns):
        of_cell = (pattern[:, None] * sides >= 0.0).all(axis=0)
        assert of_cell.any(), "an open pointed cone has extreme rays"
        losses[k] = square_of_distance_to_cone(images[:, of_cell], target)
    return losses


def square_of_distance_to_cone(columns: Array, target: Array) -> float:
    """Return min |columns @ x - target|^2 over x >= 0, for columns that are unit vectors or zero."""
    try:
        point = columns @ nnls(columns, target)[0]
    except RuntimeError:  # its iteration limit
        point = np.full(target.shape, np.nan)
    if not _is_projection(columns, target, point):
        point = _project_by_trial(columns, target)
        assert _is_projection(columns, target, point), "no set of rays gives the minimum"
    return float(np.square(point - target).sum())


def _is_projection(columns: Array, target: Array, point: Array) -> bool:
    """Whether a point of the cone is the nearest: its residual is normal to it and acute to no column."""
    residual, tolerance = target - point, 1e-10 * max(1.0, float(np.linalg.norm(target)))
    return bool(abs(residual @ point) <= tolerance and (columns.T @ residual).max(initial=0.0) <= tolerance)


def _project_by_trial(columns: Array, target: Array) -> Array:
    """Return the nearest point of the cone: it is the projection on the span of some independent columns."""
    best = np.zeros_like(target)
    for size in range(1, int(np.linalg.matrix_rank(columns, tol=1e-9)) + 1):
        for chosen in itertools.combinations(range(columns.shape[1]), size):
            some = columns[:, list(chosen)]
            if np.linalg.svd(some, compute_uv=False)[-1] <= 1e-9:
                continue
            x = np.linalg.lstsq(some, target, rcond=None)[0]
            if x.min() >= -1e-12 and np.linalg.norm(some @ x - target) < np.linalg.norm(best - target):
                best = some @ x
    return best


def enumerate_q(problem: Problem, draw: int) -> OracleResult:
    """Return Q of one draw by enumeration of all open cells of the arrangement."""
    arrangement = arrange(problem, draw)
    patterns, interior = open_cells(arrangement.normals)
    losses = least_losses(problem, draw, arrangement.normals, patterns)
    on_side = np.where(patterns > 0, arrangement.score_positive, arrangement.score_negative)
    scores = arrangement.constant + on_side.sum(axis=1)
    anchor = problem.mean_loss(draw, problem.coef)
    cells = OracleResult(0.0, 0.0, 0.0, len(patterns), patterns, interior, scores, losses, anchor)
    q, q_plus, q_minus = cells.q_at(problem.alpha)
    return OracleResult(q, q_plus, q_minus, len(patterns), patterns, interior, scores, losses, anchor)


def check_witness(
    problem: Problem,
    draw: int,
    draws: Draws,
    *,
    side: str = "both",
    tolerance: float = 1e-6,
    sign_tolerance: float = 1e-14,
) -> float:
    """Assert that the witness of a draw proves its lower bound, by losses and signs alone; return its value.

    The witness must lie off every hyperplane that changes the score, by `sign_tolerance` relative to
    |row| |witness| (rounding of a product of 5 terms is below 1e-15). Its value |S| g may fall short of
    `lower` by `tolerance`, because the infimum of the loss over an open cell need not be attained in it; it may
    never exceed `upper`. With `side` "positive" or "negative", |S| is replaced by the positive part of S or -S.
    """
    witness = draws.witness[draw]
    assert np.isfinite(witness).all(), f"draw {draw}: witness {witness} is not finite"
    weights, design, labels = problem.score_weights(draw), problem.design, problem.labels
    live = arrange(problem, draw).live_rows
    products = design @ witness
    scale = np.linalg.norm(design, axis=1) * np.linalg.norm(witness)
    on_wall = [int(i) for i in live if not abs(products[i]) > sign_tolerance * scale[i]]
    assert not on_wall, f"draw {draw}: the witness lies on the hyperplanes of rows {on_wall}"
    # the rows that are left sum to the same on either side of their hyperplane, so any point off it will do
    nearby = witness.copy()
    rest = np.setdiff1d(np.flatnonzero(weights), live)
    if rest.size:
        clear = np.abs(products[live]) / np.maximum(np.linalg.norm(design[live], axis=1), 1e-300)
        step = 0.5 * clear.min(initial=1.0)
        direction = np.random.default_rng(7).normal(size=witness.size)
        nearby += step * direction / np.linalg.norm(direction)
    classes = np.where(design @ nearby >= 0.0, 1.0, -1.0)
    signed = float(weights @ (classes != labels))
    score = {"both": abs(signed), "positive": max(signed, 0.0), "negative": max(-signed, 0.0)}[side]
    anchor, at_witness = problem.mean_loss(draw, problem.coef), problem.mean_loss(draw, witness)
    if np.isinf(problem.alpha):
        value = score * float(at_witness <= anchor + tolerance * max(1.0, anchor))
    else:
        value = score * float(localisation(problem.alpha, anchor, np.array(at_witness)))
    lower, upper = float(draws.lower[draw]), float(draws.upper[draw])
    assert lower <= upper, f"draw {draw}: lower {lower} above upper {upper}"
    assert value >= lower - tolerance, f"draw {draw}: the witness is worth {value}, less than lower {lower}"
    # at alpha = inf the tolerance above may admit a loss that the definition does not
    if np.isfinite(problem.alpha):
        assert value <= upper + 1e-9, f"draw {draw}: the witness is worth {value}, more than upper {upper}"
    return value
