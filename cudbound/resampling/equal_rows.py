"""Cases of a test set that equal training rows: whether the test set is what it is called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cudbound.adapters.distinct_rows import row_keys
from cudbound.estimators.least_squares import dense


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
