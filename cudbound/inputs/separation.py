"""Columns that tell too much: that alone separate the classes, or that relabel another column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: An agreement is questioned if it has a smaller chance than this, among all columns that were looked at.
IMPROBABLE = 1e-3
#: Levels are looked at one by one if there are at most so many per row.
LEVELS_PER_ROW = 0.25

Codes = NDArray[np.intp]


def is_improbable(counts: NDArray[np.intp], log_ways: float, n_tries: int) -> bool:
    """Whether an agreement with a column is improbable if the rows were shuffled.

    Parameters
    ----------
    counts : ndarray of int
        Rows of each value of the column.
    log_ways : float
        Logarithm of the number of orders of its values that agree, or of a bound.
    n_tries : int
        Number of agreements that were looked for.

    Examples
    --------
    >>> [is_improbable(np.array([n, n]), math.log(2), 1) for n in (3, 10)]  # a threshold separates 3 and 3, 10 and 10
    [False, True]
    """
    log_orders = math.lgamma(counts.sum() + 1) - sum(map(math.lgamma, counts + 1.0))
    return log_ways - log_orders < math.log(IMPROBABLE / max(n_tries, 1))


def separation(values: NDArray[Any], y: Codes, groups: Codes | None, n_columns: int) -> str:
    """Return how a column alone separates the classes: "threshold", "levels", or "" if it does not, or may by chance.

    By a threshold, the values of each class are on one side of those of another one; by levels, each value has one
    class. With k classes, k! orders of the classes are separated by thresholds, and of m levels at most k^m. The chance
    is that of shuffled classes, with one row of each class per group.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,)
        Numbers, or the numbers of levels; nan is left out.
    y : ndarray of int, shape (n_rows,)
    groups : ndarray of int, shape (n_rows,), or None
    n_columns : int
        Number of columns that are looked at.
    """
    known = ~np.isnan(values)
    values, y, groups = values[known], y[known], None if groups is None else groups[known]
    pairs = np.unique(y if groups is None else np.column_stack([y, groups]), axis=0)
    counts = np.unique(y if groups is None else pairs[:, 0], return_counts=True)[1]
    levels, level = np.unique(values, return_inverse=True)
    if counts.size < 2 or levels.size < 2:
        return ""
    k, m = counts.size, levels.size
    class_of_level = np.zeros(m, dtype=np.intp)
    class_of_level[level] = y
    if (class_of_level[level] != y).any():
        return ""
    if np.count_nonzero(np.diff(class_of_level)) == k - 1 and is_improbable(
        counts, math.lgamma(k + 1), n_columns
    ):
        return "threshold"
    by_levels = m <= LEVELS_PER_ROW * values.size and is_improbable(counts, m * math.log(k), n_columns)
    return "levels" if by_levels else ""


def relabelings(columns: Mapping[str, Codes], groups: Codes | None) -> dict[str, str]:
    """Return the columns that relabel an earlier one, by name: each value of one belongs to one value of the other.

    The chance of m levels to agree is that of at most m! orders, or of 2 if the columns also have the same order.

    Parameters
    ----------
    columns : mapping of str to ndarray of int
        Numbers of the levels of each column, in their order.
    groups : ndarray of int, shape (n_rows,), or None
    """
    n_pairs = len(columns) * (len(columns) - 1) // 2
    first: dict[bytes, str] = {}
    found: dict[str, str] = {}
    for name, codes in columns.items():
        levels, place, level = np.unique(codes, return_index=True, return_inverse=True)
        pairs = level if groups is None else np.unique(np.column_stack([level, groups]), axis=0)[:, 0]
        counts = np.bincount(pairs)
        ranks = min(level.tobytes(), (levels.size - 1 - level).tobytes())
        names = np.argsort(np.argsort(place))[level].tobytes()  # in the order of the rows
        for key, log_ways in (
            (b"order" + ranks, math.log(2)),
            (b"names" + names, math.lgamma(levels.size + 1)),
        ):
            if key in first and levels.size > 1 and is_improbable(counts, log_ways, n_pairs):
                found.setdefault(name, first[key])
            first.setdefault(key, name)
    return found
