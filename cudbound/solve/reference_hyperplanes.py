"""Hyperplanes of a draw for the reference solver: equal rows merged, and whether a cell is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from cudbound.problem.problem import Problem

Array = NDArray[np.float64]

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
    found = solve_linear_program(
        np.append(np.zeros(p), -1.0),
        np.hstack([-rows, np.ones((m, 1))]),
        [(-1.0, 1.0)] * p + [(None, 1.0)],
        f"a feasibility problem of {m} rows",
    )
    return found[:p] if (rows @ found[:p]).min(initial=np.inf) > OPEN_MARGIN else None


def solve_linear_program(
    objective: Array, rows: Array, bounds: Sequence[tuple[float | None, float | None]], what: str
) -> Array:
    """Return the v within its bounds that minimizes objective @ v under rows @ v <= 0.

    Raises
    ------
    RuntimeError
        If there is none, or if HiGHS fails; the message gives the reason.
    """
    found = linprog(
        objective,
        A_ub=rows,
        b_ub=np.zeros(len(rows)),
        bounds=bounds,
        method="highs",
        options={"primal_feasibility_tolerance": _LP_TOLERANCE, "dual_feasibility_tolerance": _LP_TOLERANCE},
    )
    if found.status != 0 or found.x is None:
        raise RuntimeError(
            f"HiGHS failed on {what}: {found.message} Save the problem with Problem.save and report it."
        )
    return np.asarray(found.x, dtype=float)
