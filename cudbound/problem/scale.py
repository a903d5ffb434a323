"""The range of numbers that the solvers can square."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Absolute values whose squares, and sums of squares, neither overflow nor underflow, with room to spare.
SMALLEST_SCALE, LARGEST_SCALE = 1e-100, 1e100


def check_scale(argument: str, columns: Array, names: Sequence[str] | None = None) -> None:
    """Raise an error for columns whose squares would leave the range of floating-point numbers.

    Parameters
    ----------
    argument : str
        Name of the argument, for the message.
    columns : ndarray of float, shape (n_rows, n_columns)
        Finite.
    names : sequence of str, default=None
        Names of the columns, for the message; None means their numbers.

    Raises
    ------
    ValueError
        If the largest absolute value of a column is above 1e100, or below 1e-100 and not zero.
    """
    largest = np.abs(columns).max(axis=0, initial=0.0)
    bad = np.flatnonzero((largest > LARGEST_SCALE) | ((largest > 0.0) & (largest < SMALLEST_SCALE)))
    if bad.size:
        first = int(bad[0])
        column = str(first) if names is None else repr(names[first])
        raise ValueError(
            f"The largest absolute value of each column of {argument!r} must be 0 or in "
            f"[{SMALLEST_SCALE:g}, {LARGEST_SCALE:g}], for computing squares. Got {largest[first]:.3g} in "
            f"column {column} instead; rescale it, for example to other units."
        )
