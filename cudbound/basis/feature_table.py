"""Tables of rows of any kind, arrays, sparse matrices, data frames, and which of their rows are equal."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def count_rows(X: Any) -> int:
    """Return the number of rows of an array, a data frame, a sparse matrix or a list; TypeError for others."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):  # such as a LazyFrame of polars
        raise TypeError(
            "Rows and labels must be in memory, as an array, a data frame, a sparse matrix or a list. "
            f"Got {type(X).__name__} instead; call its collect() first, if it has one."
        )
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def as_table(X: Any) -> Any:
    """Return rows as a table whose rows `sklearn.utils._safe_indexing` can take; data frames stay what they are."""
    if hasattr(X, "tocsr"):  # not every sparse format gives single rows; this one does
        return X.tocsr()
    return X if hasattr(X, "columns") else np.asarray(X)


def copied(X: Any) -> Any:
    """Return a copy, because steps with copy=False change the rows that they receive."""
    return X.copy() if hasattr(X, "copy") else X  # other tables cannot be changed


def column_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a table, or None if they have none."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # columns of pyarrow are values
    return None if names is None else list(names)


#: Ratio of standard deviations from which a penalty that treats all features alike is worth a warning.
UNEQUAL_SPREADS = 100.0


def unequal_spreads(columns: NDArray[np.float64]) -> str:
    """Return the range of the standard deviations of columns in words if they differ greatly, else an empty text.

    Constant columns and missing values (nan) are left out.

    Examples
    --------
    >>> unequal_spreads(np.array([[0.0, 140_000.0, 1.0], [1.0, 320_000.0, 1.0]]))
    '0.5 to 90,000'
    """
    spreads = np.nanstd(columns, axis=0)
    spreads = spreads[spreads > 0.0]
    if not spreads.size or spreads.max() <= UNEQUAL_SPREADS * spreads.min():
        return ""
    return " to ".join(f"{float(f'{spread:.2g}'):,g}" for spread in (spreads.min(), spreads.max()))


#: Tables of more values are not compared: a sparse matrix of words, written out, would fill the memory.
MOST_VALUES = 20_000_000
#: Where no column has more values, any rows may be equal by chance.
FEW_VALUES = 10
#: How many times the expected number of equal pairs chance explains, by independent columns and by nearly equal rows.
TIMES_EXPECTED, TIMES_NEARLY_EQUAL = 20, 3


def dense(values: Any) -> Any:
    """Return a sparse array or matrix as a dense one, and anything else as it is."""
    is_sparse = hasattr(values, "toarray")  # scipy.sparse would be loaded by every command
    return values.toarray() if is_sparse else values


def count_improbable_copies(X: Any, labels: NDArray[Any] | None = None) -> int:
    """Return how many rows equal an earlier one, also in the label; 0 if chance explains them.

    Rows are equal by chance where columns have few values, or one that many rows share, such as 0. The expected number
    of equal pairs is counted in two ways: that of independent columns, without those that another one determines; and,
    as columns may depend on each other, from the pairs that differ in a single column. Chance explains up to
    `TIMES_EXPECTED` times the first, and `TIMES_NEARLY_EQUAL` times the second, and any number if no column has more
    than `FEW_VALUES` values.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame, shape (n_rows, n_columns) or (n_rows,)
        Missing values are equal to each other.
    labels : ndarray of float, shape (n_rows,), default=None

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> weight, sex = rng.normal(size=40), rng.integers(0, 2, size=40)
    >>> X = np.column_stack([weight, sex])
    >>> count_improbable_copies(np.vstack([X, X[:3]])), count_improbable_copies(sex)
    (3, 0)
    """
    if np.prod(np.shape(X)) > MOST_VALUES or len(np.shape(X)) > 2:
        return 0
    codes = _codes_of_columns(X if hasattr(X, "iloc") else np.asarray(dense(X)), labels)
    # equal rows have equal sums; a sum less the part of a column tells which rows are equal elsewhere
    parts = codes * np.random.default_rng(0).integers(1, 2**63, codes.shape[1], dtype=np.uint64)
    sums = parts.sum(axis=1, dtype=np.uint64)
    n_equal = len(codes) - np.unique(sums).size
    if not n_equal:
        return 0
    if codes.max() < FEW_VALUES:
        return 0
    equal, pairs = _count_pairs(sums), len(codes) * (len(codes) - 1) / 2
    equal_here = np.array([_count_pairs(column) for column in codes.T])
    equal_elsewhere = np.array([_count_pairs(sums - part) for part in parts.T])
    # of the pairs that differ elsewhere, which no copies are; if there are none, any share explains them
    differ_elsewhere = pairs - equal_elsewhere
    share = np.divide(
        equal_here - equal, differ_elsewhere, out=np.ones(len(differ_elsewhere)), where=differ_elsewhere > 0
    )
    from_nearly_equal = float(np.sum((equal_elsewhere - equal) * share / np.maximum(1.0 - share, 1e-9)))
    if equal <= TIMES_NEARLY_EQUAL * from_nearly_equal:
        return 0
    expected = pairs * float(np.prod(share[_not_determined(codes)]))
    return n_equal if equal > TIMES_EXPECTED * expected else 0


def _codes_of_columns(table: Any, labels: NDArray[Any] | None) -> NDArray[np.uint64]:
    """Return the number of each value among those of its column, shape (n_rows, n_columns)."""
    if isinstance(table, np.ndarray) and table.dtype.kind in "biuf":
        columns = [*table.reshape(len(table), -1).T, *([] if labels is None else [labels])]
        codes = [np.unique(column, return_inverse=True)[1] for column in columns]
        return np.column_stack(codes).astype(np.uint64)
    import pandas as pd

    frame = pd.DataFrame(table)
    columns = [frame.iloc[:, place] for place in range(frame.shape[1])]
    if labels is not None:
        columns.append(pd.Series(np.asarray(labels, dtype=np.float64)))
    codes = [pd.factorize(column, use_na_sentinel=False)[0] for column in columns]
    return np.column_stack(codes).astype(np.uint64)


def _count_pairs(keys: NDArray[np.uint64]) -> float:
    sizes = np.unique(keys, return_counts=True)[1]
    return float((sizes * (sizes - 1) / 2).sum())


def _not_determined(codes: NDArray[np.uint64]) -> list[int]:
    """Return the columns but those that another determines, as age does its year of birth or decade."""
    sizes = codes.max(axis=0) + np.uint64(1)
    kept: list[int] = []
    for place in np.argsort(-sizes.astype(np.int64), kind="stable"):
        both = (codes[:, other] * sizes[place] + codes[:, place] for other in kept)
        if not any(np.unique(pair).size == sizes[other] for pair, other in zip(both, kept, strict=True)):
            kept.append(int(place))
    return kept


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
    tested, training = (
        list(zip(_row_keys(rows), np.asarray(labels).tolist(), strict=True))
        for rows, labels in ((X_test, y_test), (X, y))
    )
    among_training = set(training)
    return sum(row in among_training for row in tested)


def _row_keys(table: Any) -> list[Hashable]:
    """Return one value per row; equal rows get equal values, and missing values are equal to each other."""
    import pandas as pd

    cells = pd.DataFrame(np.asarray(dense(table))).astype(object)
    return list(cells.where(cells.notna(), None).itertuples(index=False, name=None))
