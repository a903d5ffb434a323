"""Which rows of tables are equal."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse


def dense(values: Any) -> Any:
    """Return a sparse array or matrix as a dense one, and anything else as it is."""
    is_sparse: bool = sparse.issparse(values)
    return values.toarray() if is_sparse else values


def row_keys(table: Any) -> list[Hashable]:
    """Return one value per row of an array or DataFrame; equal rows get equal values.

    Missing values are equal to each other, and whole numbers to the same numbers with a decimal point.
    """
    cells = np.asarray(table)
    try:
        numbers = cells.astype(np.float64) + 0.0  # of the two zeros one
    except (TypeError, ValueError):  # texts, dates, ...
        return [str([_one_zero(cell) for cell in row]) for row in cells.tolist()]
    return [row.tobytes() for row in np.where(np.isnan(numbers), np.nan, numbers)]


def count_distinct_rows(table: Any) -> float:
    """Return the number of distinct rows of a dense or sparse table; nan for anything else.

    Examples
    --------
    >>> count_distinct_rows([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    2.0
    """
    is_sparse: bool = sparse.issparse(table)
    if is_sparse:
        rows = sparse.csr_array(table, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        ends = zip(rows.indptr, rows.indptr[1:], strict=False)
        return float(len({(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in ends}))
    return float(len(set(row_keys(table)))) if np.ndim(table) == 2 else np.nan


def _one_zero(cell: Any) -> Any:
    return 0.0 if isinstance(cell, float) and cell == 0.0 else cell  # not -0.0


def count_equal_rows(X_test: Any, y_test: ArrayLike, X: Any, y: ArrayLike) -> int:
    """Count the test cases that equal a training row in every feature and in the label.

    Parameters
    ----------
    X_test, X : array-like, sparse matrix or DataFrame, shape (n_rows, n_features)
        Missing values are equal to each other, and whole numbers to the same numbers with a decimal point.
    y_test, y : array-like, shape (n_rows,)

    Examples
    --------
    >>> count_equal_rows([[1.0, 2.0], [3.0, 4.0]], [0, 1], [[1, 2], [3, 4]], [0, 0])
    1
    """
    known = set(zip(row_keys(dense(X)), np.asarray(y).tolist(), strict=True))
    return sum(row in known for row in zip(row_keys(dense(X_test)), np.asarray(y_test).tolist(), strict=True))
