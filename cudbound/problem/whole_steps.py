"""Columns whose values are whole multiples of one step, such as standardized integers or decimals."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class WholeSteps:
    """A column ``start + span * steps / n_steps``, up to rounding, with whole `steps`."""

    start: float
    span: float
    n_steps: int
    steps: Array


def in_whole_steps(design: Array) -> list[WholeSteps | None]:
    """Return the whole numbers behind each column of a design, or None.

    Standardizing a column of whole numbers, or storing decimals in binary, moves its values by rounding errors. Three
    rows on one line are then not exactly on it: cells appear that exist by rounding alone, too thin for a classifier to
    reach and for the search to rule out. What is decided exactly is therefore decided on the values without rounding.

    A start other than 0 is allowed if a column of ones can hold it. Without one, only an exact 0 has 0 steps. Columns
    of whole numbers are exact as they are, and need none.

    Parameters
    ----------
    design : ndarray of shape (n_samples, n_features)
        Rows of the design.

    Returns
    -------
    list of length n_features

    Examples
    --------
    >>> scores = np.array([3.0, 5.0, 8.0])
    >>> standardized = (scores - scores.mean()) / scores.std()
    >>> ones, found = in_whole_steps(np.column_stack([np.ones(3), standardized]))
    >>> found.n_steps, found.steps
    (5, array([0., 2., 5.]))
    """
    has_ones = bool((design == 1.0).all(axis=0).any())
    return [_whole_steps(column, has_ones) for column in design.T]


def dependence_rows(design: Array) -> Array:
    """Return rows of which the same sets are linearly dependent, exactly, as of the design without rounding.

    Examples
    --------
    >>> decimals = np.array([[0.1, 0.3], [0.2, 0.6], [0.3, 0.7]])
    >>> dependence_rows(decimals)
    array([[1., 3.],
           [2., 6.],
           [3., 7.]])
    """
    found = zip(design.T, in_whole_steps(design), strict=True)
    return np.column_stack([column if steps is None else steps.steps for column, steps in found])


def _whole_steps(column: Array, may_start_anywhere: bool) -> WholeSteps | None:
    if (column == np.rint(column)).all():
        return None
    start = float(column.min()) if may_start_anywhere else 0.0
    from_start = column - start
    sizes = np.abs(from_start)
    largest = float(sizes.max())
    # Euclid's algorithm: the smallest remainder is the next guess of the step
    step = largest
    while 0.0 < largest <= MOST_STEPS * step:
        remainders = np.abs(sizes - np.rint(sizes / step) * step)
        left = remainders[remainders > REMAINDER * largest]
        if left.size == 0:
            break
        step = float(left.min())
    else:
        return None
    n_steps = int(np.rint(largest / step))
    steps = np.rint(from_start / (largest / n_steps))
    apart = np.abs(from_start - steps * (largest / n_steps)).max()
    lost = start == 0.0 and bool(((steps == 0.0) & (column != 0.0)).any())
    if apart > ROUNDING * np.abs(column).max() or lost:
        return None
    return WholeSteps(start, largest, n_steps, steps)
