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

from dataclasses import dataclass

import numpy as np
from cell_minima import least_losses
from numpy.typing import NDArray
from scipy.optimize import linprog, nnls

from cudbound.problem.problem import Problem
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
        g = localization(alpha, self.anchor_loss, self.losses)
        values = self.scores * g
        return float(np.abs(values).max()), float(values.max()), float((-values).max())


def localization(alpha: float, anchor_loss: float, losses: Array) -> Array:
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
        value = score * float(localization(problem.alpha, anchor, np.array(at_witness)))
    lower, upper = float(draws.lower[draw]), float(draws.upper[draw])
    assert lower <= upper, f"draw {draw}: lower {lower} above upper {upper}"
    assert value >= lower - tolerance, f"draw {draw}: the witness is worth {value}, less than lower {lower}"
    # at alpha = inf the tolerance above may admit a loss that the definition does not
    if np.isfinite(problem.alpha):
        assert value <= upper + 1e-9, f"draw {draw}: the witness is worth {value}, more than upper {upper}"
    return value
