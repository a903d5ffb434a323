"""Arguments of a problem: each checked on its own, copied, and given its type."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.problem.scale import LARGEST_SCALE, SMALLEST_SCALE, check_scale

Array = NDArray[np.float64]

#: A value larger than this times the median of its column (zeros apart) leaves the rest too few digits.
MOST_SPREAD = 1e9


def check_design(design: ArrayLike) -> Array:
    """Return the design rows; no value may be so large that double precision has too few digits for the others."""
    rows = finite("design", design)
    if rows.ndim != 2:
        raise ValueError(f"'design' must have 2 dimension(s). Got {rows.ndim} instead.")
    if not rows.size:
        raise ValueError(
            f"'design' must have at least one row and one column. Got shape {rows.shape} instead."
        )
    check_scale("design", rows)
    _check_spread(rows)
    return rows


def check_counts(counts: ArrayLike, n_samples: int) -> NDArray[np.int32]:
    """Return the counts of draws from `n_samples` rows."""
    given = numbers("counts", counts)
    if given.ndim != 2 or given.shape[1] != n_samples:
        raise ValueError(f"'counts' must have shape (n_draws, {n_samples}). Got {given.shape} instead.")
    if given.dtype.kind == "f" and not np.array_equal(given, np.round(given)):
        raise ValueError("'counts' must be whole numbers. Got a fraction or nan instead.")
    if given.size and (given.min() < 0 or given.max() >= 2**31):
        raise ValueError(f"'counts' must be in [0, 2**31). Got {given.min()} to {given.max()} instead.")
    return np.array(given, dtype=np.int32, order="C")


def one_or_each(name: str, values: ArrayLike | None, size: int) -> Array | None:
    """Return `size` numbers, all equal if one was given."""
    if values is None:
        return None
    given = numbers(name, values)
    return finite(name, np.full(size, given) if given.ndim == 0 else given, (size,))


def non_negative(name: str, values: ArrayLike | None, size: int) -> Array | None:
    """Return `size` numbers of at least 0, all equal if one was given."""
    array = one_or_each(name, values, size)
    if array is not None and (array < 0).any():
        raise ValueError(f"'{name}' must be non-negative. Got {array.min()} instead.")
    return array


def numbers(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return an array of real numbers, of any shape."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"'{name}' must be an array of numbers. Got rows of different lengths instead."
        ) from None
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"'{name}' must be an array of real numbers. Got dtype {array.dtype} instead; "
            f"convert it, for example with np.asarray({name}, dtype=float)."
        )
    return array


def _check_spread(design: Array) -> None:
    """Raise an error if a few values of a column dwarf the others: hyperplanes would differ only by rounding errors."""
    sizes = np.abs(design)
    largest = sizes.max(axis=0)
    smallest = np.where(sizes > 0.0, sizes, np.inf).min(axis=0)
    for column in np.flatnonzero(largest > MOST_SPREAD * smallest):
        typical = np.median(sizes[sizes[:, column] > 0.0, column])
        if largest[column] > MOST_SPREAD * typical:
            raise ValueError(
                f"The values of each column of 'design' must be within a factor of {MOST_SPREAD:g} of their median. "
                f"Got {largest[column]:.3g} in column {column}, whose median absolute value is {typical:.3g}: "
                "double precision cannot distinguish the other rows. Correct the value, or transform the column."
            )


def finite(name: str, values: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    """Return a copy of finite numbers: later changes of the array by the caller have no effect."""
    array = np.array(numbers(name, values), dtype=np.float64, order="C")
    if shape is not None and array.shape != shape:
        raise ValueError(f"'{name}' must have shape {shape}. Got {array.shape} instead.")
    if not np.isfinite(array).all():
        raise ValueError(f"'{name}' must be finite. Got nan or inf instead.")
    return array


def check_size(name: str, array: Array | None) -> None:
    """Raise an error for values whose squares or sums would leave the range of floating-point numbers."""
    largest = 0.0 if array is None else float(np.abs(array).max(initial=0.0))
    if largest > LARGEST_SCALE or 0.0 < largest < SMALLEST_SCALE:
        raise ValueError(
            f"The largest absolute value of '{name}' must be 0 or in [{SMALLEST_SCALE:g}, {LARGEST_SCALE:g}]. Got "
            f"{largest:.3g} instead; rescale it, for example to other units."
        )
