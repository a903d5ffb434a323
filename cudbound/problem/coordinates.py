"""Coordinates in which the design has orthonormal columns: the input of the compiled solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: A range of more steps than this is not seen as a lattice: values of full precision would be.
MOST_STEPS = 2**16
#: How far a few operations may have moved a value, relative to the largest of its column.
ROUNDING = 8.0 * float(np.finfo(float).eps)
#: Remainders above this share of the range are not rounding errors, which Euclid's algorithm multiplies: well below the
#: smallest step.
REMAINDER = 1e-6


def dependence_rows(design: Array) -> Array:
    """Return rows of which the same sets are linearly dependent, exactly, as of the design without rounding.

    They have the whole numbers of steps behind each column ``start + step * numbers``, up to rounding. Standardizing a
    column of whole numbers, or storing decimals in binary, moves its values by rounding errors. Three rows on one line
    are then not exactly on it: cells appear that exist by rounding alone, too thin for a classifier to reach and for
    the search to rule out. What is decided exactly is therefore decided on the values without rounding.

    A start other than 0 is allowed if a column of ones can hold it. Without one, only an exact 0 has 0 steps. Columns
    of whole numbers are exact as they are, and columns that are not on a lattice stay.

    Examples
    --------
    >>> decimals = np.array([[0.1, 0.3], [0.2, 0.6], [0.3, 0.7]])
    >>> dependence_rows(decimals)
    array([[1., 3.],
           [2., 6.],
           [3., 7.]])
    >>> scores = np.array([3.0, 5.0, 8.0])
    >>> standardized = (scores - scores.mean()) / scores.std()
    >>> dependence_rows(np.column_stack([np.ones(3), standardized]))[:, 1]
    array([0., 2., 5.])
    """
    has_ones = bool((design == 1.0).all(axis=0).any())
    start = design.min(axis=0) if has_ones else np.zeros(design.shape[1])
    from_start = design - start
    sizes = np.abs(from_start)
    largest = sizes.max(axis=0)
    searched = (largest > 0.0) & (design != np.rint(design)).any(axis=0)
    # Euclid's algorithm: the smallest remainder is the next guess of the step
    step, on_lattice = np.where(searched, largest, 1.0), np.zeros(largest.size, dtype=bool)
    while searched.any():
        remainders = np.abs(sizes - np.rint(sizes / step) * step)
        left = np.where(remainders > REMAINDER * largest, remainders, np.inf).min(axis=0)
        on_lattice |= searched & np.isinf(left)
        searched &= np.isfinite(left)
        step = np.where(searched, left, step)
        searched &= largest <= MOST_STEPS * step
    step = np.where(on_lattice, largest / np.maximum(np.rint(largest / step), 1.0), 1.0)
    steps = np.rint(from_start / step)
    apart = np.abs(from_start - steps * step).max(axis=0)
    lost = (start == 0.0) & ((steps == 0.0) & (design != 0.0)).any(axis=0)
    held = on_lattice & (apart <= ROUNDING * np.abs(design).max(axis=0)) & ~lost
    return np.where(held, steps, design)


#: What a column adds to the span of others counts as zero below this share of its length. Columns arrive with rounding
#: errors, such as those of standardizing degrees Celsius and Fahrenheit, which are well above those of a factorization.
RANK_TOLERANCE = 1e-12
#: Columns whose largest value exceeds their median by this factor come first in the factorization.
OUTLYING = 1e3


@dataclass(frozen=True, eq=False)
class Basis:
    """The problem in coordinates gamma in which the design has orthonormal columns, up to rounding.

    ``design`` spans the columns of the original design, ``to_coef`` (n_coefficients, rank) maps gamma to the
    coefficients with the smallest penalty that give the same scores, and ``penalty`` (rank, rank) is that penalty.
    Rounding may have moved a row of ``design`` by ``error`` times its length; ``exact`` (n_samples, rank) are the
    columns of the original design that it spans, without rounding errors (`dependence_rows`).
    """

    design: Array
    anchor: Array
    to_coef: Array
    penalty: Array | None
    anchor_penalty: float
    error: float
    exact: Array


def mapped_rows(design: Array, to_coef: Array) -> tuple[Array, float]:
    """Return ``design @ to_coef`` and how far rounding may have moved a row, relative to its length."""
    wide = np.longdouble
    mapped = (design.astype(wide) @ to_coef.astype(wide)).astype(float)
    terms = np.abs(design) @ np.abs(to_coef).max(axis=1, initial=0.0)
    lengths = np.linalg.norm(mapped, axis=1)
    spread = np.divide(terms, lengths, out=np.full(lengths.size, 1.0), where=lengths > 0.0)
    steps = design.shape[1] * np.finfo(wide).eps * float(spread.max(initial=1.0))
    return np.ascontiguousarray(mapped), 2.0 * (np.finfo(float).eps + float(steps))


def outlying_first(design: Array, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the columns, starting with those in which single values exceed the others by orders of magnitude.

    The coordinate of such a column is as huge as its outlier. Factored first, it is zero in no row but affects no
    other coefficient; factored later, every row and the penalty would be small differences of huge terms.
    """
    sizes = np.sort(np.abs(design[:, columns]), axis=0)
    # the median of the values that are not 0, which are sorted below the zeros
    end, column = len(sizes) + (sizes == 0.0).sum(axis=0), np.arange(columns.size)
    lower, upper = (end - 1) // 2, np.minimum(end // 2, len(sizes) - 1)
    typical = (sizes[lower, column] + sizes[upper, column]) / 2.0
    ratios = sizes[-1] / np.where(typical > 0.0, typical, np.inf)
    return columns[np.argsort(-np.where(ratios > OUTLYING, ratios, 0.0), kind="stable")]


def design_rank(design: Array) -> int:
    """Return the number of columns that `orthonormal_basis` keeps, at least 1.

    Examples
    --------
    >>> design_rank(np.array([[1.0, 2.0, 3.0], [1.0, 4.0, 5.0], [1.0, 6.0, 7.0]]))
    2
    """
    return _factored(design)[-1]


def _factored(design: Array) -> tuple[Array, Any, Any, NDArray[np.intp], int]:
    """Return the lengths of the columns, the pivoted QR factorization of columns of length 1, and the rank."""
    from scipy.linalg import qr

    lengths = np.linalg.norm(design, axis=0)
    lengths[lengths == 0.0] = 1.0
    q, r, pivots = qr(design / lengths, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(r))
    rank = max(int((diagonal > RANK_TOLERANCE * diagonal.max(initial=0.0)).sum()), 1)
    return lengths, q, r, np.asarray(pivots, dtype=np.intp), rank


def carrying_columns(
    design: Array, penalty: Array | None, l1_penalty: Array | None
) -> NDArray[np.intp] | None:
    """Return columns whose coefficients give all scores at the least penalty; None if an l1 penalty has no such choice.

    Without an l1 penalty these are all columns. With one, columns of zeros are left out. Of columns that are multiples
    of each other, one carries the whole coefficient: the one whose l1 penalty is least for the same scores, unless a
    quadratic penalty spreads it over them. Which of the coefficients of otherwise dependent columns are 0 depends on
    the scores.

    Examples
    --------
    >>> design = np.array([[1.0, 2.0, 0.0, 3.0], [1.0, 2.0, 0.0, -1.0]])
    >>> carrying_columns(design, None, np.ones(4))
    array([1, 3])
    """
    columns = np.arange(design.shape[1])
    if l1_penalty is None or not l1_penalty.any():
        return columns
    lengths, *_, rank = _factored(design)
    if rank == columns.size:
        return columns
    units = design / lengths
    ridge = np.zeros(columns.size) if penalty is None else penalty
    kept: list[int] = []
    for j in np.lexsort((ridge, l1_penalty / lengths)):
        if not design[:, j].any():
            continue
        along = units[:, kept].T @ units[:, j]
        apart = np.linalg.norm(units[:, [j]] - units[:, kept] * along, axis=0)
        like = np.flatnonzero(apart <= RANK_TOLERANCE)
        if like.size == 0:
            kept.append(int(j))
        elif ridge[kept[like[0]]] > 0.0:
            return None
    independent = np.sort(np.array(kept or [0], dtype=np.intp))
    return independent if design_rank(design[:, independent]) == independent.size else None


def orthonormal_basis(
    design: Array, coef: Array, penalty: Array | None = None, l1_penalty: Array | None = None
) -> Basis:
    """Remove collinear columns and the effect of bad scaling before the kernel forms Gram matrices.

    With an l1 penalty there must be `carrying_columns`.
    """
    from scipy.linalg import qr
    from scipy.linalg.blas import dtrsm  # of a few columns: solve_triangular of SciPy starts threads for them

    kept = carrying_columns(design, penalty, l1_penalty)
    if kept is not None and kept.size < coef.size:
        return _basis_of_columns(design, coef, penalty, kept)
    scale, q, r, order, rank = _factored(design)
    p, is_zero = design.shape[1], r[0, 0] == 0.0
    leading_columns = outlying_first(design, order[:rank])
    if (leading_columns != order[:rank]).any():
        order = np.append(leading_columns, order[rank:])
        q, leading = qr((design / scale)[:, leading_columns], mode="economic", check_finite=False)
        r = np.hstack([leading, q.T @ (design / scale)[:, order[rank:]]])
    to_coef = np.zeros((p, rank))
    to_coef[order[:rank]] = dtrsm(1.0, r[:rank, :rank], np.eye(rank)) if not is_zero else 0.0
    to_coef /= scale[:, None]
    # The columns need not be exactly orthonormal, but every row must be the image of its row of the design, relative
    # to its own length: otherwise short rows, and all rows near a weak direction, would be classified differently.
    to_coef = np.ascontiguousarray(to_coef)
    mapped, error = mapped_rows(design, to_coef)
    anchor = q[:, :rank].T @ (design @ coef)
    exact = np.ascontiguousarray(dependence_rows(design[:, order[:rank]]))
    if penalty is None:
        return Basis(mapped, anchor, to_coef, None, 0.0, error, exact)
    if rank < p and not is_zero:
        # the smallest penalty among coefficients with the same scores: add a vector of the null space of the design
        kernel = np.zeros((p, p - rank))
        kernel[order[rank:], np.arange(p - rank)] = 1.0
        kernel[order[:rank]] = dtrsm(-1.0, r[:rank, :rank], r[:rank, rank:])
        # what is a rounding error beside coefficients without a penalty must not count as all of the penalty
        kernel[np.abs(kernel) <= RANK_TOLERANCE * np.abs(kernel).max(axis=0)] = 0.0
        kernel /= scale[:, None]
        root = np.sqrt(penalty)[:, None]
        # next to a column of rounding errors, whose coefficient is huge for the same scores, the others would count as
        # 0; and what that coefficient leaves behind when it is taken out is taken out once more
        lengths = np.linalg.norm(root * kernel, axis=0)
        kernel /= np.where(lengths > 0.0, lengths, 1.0)
        for _ in range(2):
            to_coef = to_coef - kernel @ np.linalg.lstsq(root * kernel, root * to_coef, rcond=None)[0]
    weighted = np.sqrt(penalty)[:, None] * to_coef
    squares, anchor_penalty = np.ascontiguousarray(weighted.T @ weighted), float(penalty @ coef**2)
    return Basis(mapped, anchor, np.ascontiguousarray(to_coef), squares, anchor_penalty, error, exact)


def _basis_of_columns(design: Array, coef: Array, penalty: Array | None, kept: NDArray[np.intp]) -> Basis:
    """Return the basis where the other columns have coefficient 0."""
    columns = design[:, kept]
    same: Array = np.linalg.lstsq(columns, design @ coef, rcond=None)[0].astype(float)
    basis = orthonormal_basis(columns, same, None if penalty is None else penalty[kept])
    to_coef = np.zeros((coef.size, basis.to_coef.shape[1]))
    to_coef[kept] = basis.to_coef
    stated = 0.0 if penalty is None else float(penalty @ coef**2)
    return replace(basis, to_coef=to_coef, anchor_penalty=stated)
