"""Cases of a test set that equal training rows: whether the test set is what it is called."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


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
    known = set(zip(_rows(X), np.asarray(y).tolist(), strict=True))
    return sum(row in known for row in zip(_rows(X_test), np.asarray(y_test).tolist(), strict=True))


def _rows(X: Any) -> Iterable[Hashable]:
    """Return one value for each row, equal for equal rows."""
    table = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    try:
        numbers = table.astype(np.float64) + 0.0  # of the two zeros one
    except (TypeError, ValueError):  # texts, dates, ...
        return [str(row.tolist()) for row in table]
    return [np.where(np.isnan(row), np.nan, row).tobytes() for row in numbers]
