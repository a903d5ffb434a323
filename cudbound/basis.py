"""Coordinates in which the design has orthonormal columns: what the compiled solver is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.problem import Problem

Array = NDArray[np.float64]

#: Singular values of the design, its columns scaled to unit length, below this share of the largest count as zero.
RANK_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Basis:
    """The problem in coordinates gamma in which the design has orthonormal columns.

    ``design`` spans the columns of the original design, ``to_coef`` (n_coefficients, rank) maps gamma to the
    coefficients with the smallest penalty that give the same scores, and ``penalty`` (rank, rank) is that penalty.
    Rounding may have moved an entry of ``design`` by ``error``; ``exact`` (n_samples, rank) are the columns of the
    original design that it spans, without any.
    """

    design: Array
    anchor: Array
    to_coef: Array
    penalty: Array | None
    anchor_penalty: float
    error: float
    exact: Array


def orthonormal_basis(problem: Problem) -> Basis:
    """Remove collinear columns and the effect of bad scaling before the kernel forms Gram matrices."""
    from scipy.linalg import qr, solve_triangular

    scale = np.linalg.norm(problem.design, axis=0)
    scale[scale == 0.0] = 1.0
    q, r, order = qr(problem.design / scale, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(r))
    rank = max(int((diagonal > RANK_TOLERANCE * diagonal.max(initial=0.0)).sum()), 1)
    p = problem.design.shape[1]
    to_coef = np.zeros((p, rank))
    to_coef[order[:rank]] = (
        solve_triangular(r[:rank, :rank], np.eye(rank), check_finite=False) if diagonal[0] > 0 else 0.0
    )
    to_coef /= scale[:, None]
    design = np.ascontiguousarray(q[:, :rank]) if diagonal[0] > 0 else np.zeros((problem.labels.size, 1))
    design[~problem.design.any(axis=1)] = 0.0  # sign(0) = +1 holds for rows that are exactly zero
    to_coef, error = np.ascontiguousarray(to_coef), float(np.finfo(float).eps)
    weakest = diagonal[:rank].min(initial=1.0)
    if weakest < 1e-2 * diagonal[0]:
        # A weak direction amplifies rounding: rows that are not those of the design would be classified otherwise. The
        # columns may be less than orthonormal, but must be the map of the design.
        wide = np.longdouble
        design = np.ascontiguousarray((problem.design.astype(wide) @ to_coef.astype(wide)).astype(float))
        error += float(2.0 * np.finfo(wide).eps * diagonal[0] / weakest)
    error *= 2.0
    anchor = q[:, :rank].T @ (problem.design @ problem.coef)
    exact = np.ascontiguousarray(problem.design[:, order[:rank]])
    if problem.penalty is None:
        return Basis(design, anchor, to_coef, None, 0.0, error, exact)
    if rank < p and diagonal[0] > 0:
        # the smallest penalty among coefficients with the same scores: add a vector of the null space of the design
        kernel = np.zeros((p, p - rank))
        kernel[order[rank:], np.arange(p - rank)] = 1.0
        kernel[order[:rank]] = -solve_triangular(r[:rank, :rank], r[:rank, rank:])
        kernel /= scale[:, None]
        root = np.sqrt(problem.penalty)[:, None]
        # beside a column of rounding errors, whose coefficient is huge for the same scores, the others would count as
        # 0; and what that coefficient leaves behind when it is taken out is taken out once more
        lengths = np.linalg.norm(root * kernel, axis=0)
        kernel /= np.where(lengths > 0.0, lengths, 1.0)
        for _ in range(2):
            to_coef = to_coef - kernel @ np.linalg.lstsq(root * kernel, root * to_coef, rcond=None)[0]
    weighted = np.sqrt(problem.penalty)[:, None] * to_coef
    penalty = np.ascontiguousarray(weighted.T @ weighted)
    return Basis(
        design,
        anchor,
        np.ascontiguousarray(to_coef),
        penalty,
        float(problem.penalty @ problem.coef**2),
        error,
        exact,
    )
