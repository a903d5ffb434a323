"""Enumeration of all cells: an oracle for Q that shares no code with either solver of the package.

The hyperplanes design_i'beta = 0 are added one at a time. A cell is kept only if it has an interior point,
which is decided by Gordan's theorem (either A v > 0 has a solution, or A'y = 0 has one with y >= 0, y != 0):
the least-squares problem min |A'y|^2 + (sum y - 1)^2 over y >= 0 has residual 0 in the second case only, and
in the first A'y is a v of largest margin (Lawson & Hanson 1974, chapter 23).

The least loss on the closure of each cell is found, and certified, by `cell_minima`.

Nothing is taken from scipy on trust: an interior point is checked by its signs, its absence by y; where nnls
fails, a linear program decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from cell_minima import LeastLosses
from numpy.typing import NDArray
from scipy.optimize import linprog, nnls

from cudbound.problem.draws import Draws
from cudbound.problem.problem import Problem

Array = NDArray[np.float64]

# Unit rows closer than this (up to sign) are one hyperplane; a sum of weights below this times sum |w| is 0.
SAME = 1e-10
# A cell whose largest margin min_i s_i a_i'v over |v| = 1 (unit rows a_i) is smaller has no interior point.
MARGIN = 1e-9
# localization = inf: losses up to L(coef) + LEVEL * max(1, L(coef)) count as not above L(coef).
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
    least: LeastLosses
    anchor_loss: float

    @property
    def losses(self) -> Array:
        """The least loss of every cell."""
        return self.least.all()

    def q_at(self, alpha: float) -> tuple[float, float, float]:
        """Return (Q, sup of +S g, sup of -S g) at another alpha, from the same cells."""
        return suprema(alpha, self.anchor_loss, self.scores, self.least)


def suprema(
    alpha: float, anchor_loss: float, scores: Array, least: LeastLosses
) -> tuple[float, float, float]:
    """Return (Q, sup of +S g, sup of -S g)."""
    plus, minus = (largest_value(alpha, anchor_loss, signed, least) for signed in (scores, -scores))
    return max(plus, minus), plus, minus


def largest_value(alpha: float, anchor_loss: float, scores: Array, least: LeastLosses) -> float:
    """Return the largest S g, from the largest score down to where no cell can be worth more, as g is in [0, 1]."""
    largest = -np.inf
    for cell in np.argsort(-scores):
        score = float(scores[cell])
        if largest >= max(score, 0.0):
            break
        g = localization(alpha, anchor_loss, least[cell]) if alpha != 0.0 else 1.0
        largest = max(largest, score * float(g))
    return largest


def localization(alpha: float, anchor_loss: float, losses: Array | float) -> Array:
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
    lengths = np.linalg.norm(design, axis=1)
    zero = (weights != 0.0) & (lengths == 0.0)
    constant = float(weights[zero] @ (labels[zero] != 1.0))
    active = np.flatnonzero((weights != 0.0) & ~zero)
    units = design[active] / lengths[active, None]
    threshold = SAME * np.abs(weights).sum()
    kept: list[int] = []
    scores: list[tuple[float, float]] = []
    live = []
    for first, sides in hyperplanes(units):
        rows = active[sides != 0]
        on_positive, on_negative = (
            float(weights[rows] @ (side * sides[sides != 0] != labels[rows])) for side in (1, -1)
        )
        if abs(on_positive - on_negative) <= threshold:
            constant += on_positive
            continue
        kept.append(first)
        scores.append((on_positive, on_negative))
        live.extend(rows)
    positive, negative = np.array(scores, dtype=float).reshape(-1, 2).T
    return Arrangement(units[kept], positive, negative, constant, np.array(sorted(live), dtype=np.int64))


def hyperplanes(units: Array) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the first row of each hyperplane, and of every row 1 or -1 if it is that one or its opposite, else 0."""
    left = np.ones(len(units), dtype=bool)
    for first, unit in enumerate(units):
        if not left[first]:
            continue
        same = left & (np.linalg.norm(units - unit, axis=1) <= SAME)
        opposite = left & ~same & (np.linalg.norm(units + unit, axis=1) <= SAME)
        left &= ~(same | opposite)
        yield first, same.astype(np.int64) - opposite


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
    except (RuntimeError, np.linalg.LinAlgError):  # its iteration limit; a singular system before SciPy 1.15
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
    """Return the sign patterns (cells, m) of the open cells and a unit interior point of each (cells, p).

    The cells on the negative side of the first hyperplane are the opposites of those on its positive side.
    """
    m, p = normals.shape
    if m == 0:
        return np.zeros((1, 0), dtype=np.int64), np.eye(p)[:1]
    patterns, points = np.ones((1, 1), dtype=np.int64), normals[:1]
    for k in range(1, m):
        patterns, points = cut(patterns, points, normals[: k + 1])
    return np.vstack([patterns, -patterns[::-1]]), np.vstack([points, -points[::-1]])


def cut(patterns: NDArray[np.int64], points: Array, normals: Array) -> tuple[NDArray[np.int64], Array]:
    """Cut the open cells of all hyperplanes but the last by it."""
    products = points @ normals.T
    # a point is good for its side as well only if it is not close to any of the walls
    clear = (patterns * products[:, :-1]).min(axis=1) > 1e-4
    grown, inside = [], []
    for pattern, point, side, far in zip(patterns, points, products[:, -1], clear, strict=True):
        for sign in (1, -1):
            signs = np.append(pattern, sign)
            found = point if far and sign * side > 1e-4 else interior_point(signs[:, None] * normals)
            if found is not None:
                grown.append(signs)
                inside.append(found)
    return np.array(grown), np.array(inside)


def enumerate_q(problem: Problem, draw: int) -> OracleResult:
    """Return Q of one draw by enumeration of all open cells of the arrangement."""
    arrangement = arrange(problem, draw)
    patterns, interior = open_cells(arrangement.normals)
    least = LeastLosses(problem, draw, arrangement.normals, patterns)
    on_side = np.where(patterns > 0, arrangement.score_positive, arrangement.score_negative)
    scores = arrangement.constant + on_side.sum(axis=1)
    anchor = problem.mean_loss(draw, problem.coef)
    q, q_plus, q_minus = suprema(problem.localization, anchor, scores, least)
    return OracleResult(q, q_plus, q_minus, len(patterns), patterns, interior, scores, least, anchor)


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
    if np.isinf(problem.localization):
        value = score * float(at_witness <= anchor + tolerance * max(1.0, anchor))
    else:
        value = score * float(localization(problem.localization, anchor, np.array(at_witness)))
    lower, upper = float(draws.lower[draw]), float(draws.upper[draw])
    assert lower <= upper, f"draw {draw}: lower {lower} above upper {upper}"
    assert value >= lower - tolerance, f"draw {draw}: the witness is worth {value}, less than lower {lower}"
    # at localization = inf the tolerance above may admit a loss that the definition does not
    if np.isfinite(problem.localization):
        assert value <= upper + 1e-9, f"draw {draw}: the witness is worth {value}, more than upper {upper}"
    return value
