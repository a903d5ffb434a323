"""Which rows of tables are equal."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd

#: Up to this size, floating-point numbers hold every integer.
LARGEST_EXACT = 2**53
#: Columns of at most this many values count together as one when equal rows are expected by chance.
FEW_VALUES = 10
#: Tables of more values are not compared: a sparse matrix of words, written out, would fill the memory.
MOST_VALUES = 20_000_000
#: How many times the expected number of equal rows chance explains.
TIMES_EXPECTED = 20


def dense(values: Any) -> Any:
    """Return a sparse array or matrix as a dense one, and anything else as it is."""
    is_sparse = hasattr(values, "toarray")  # scipy.sparse would be loaded by every command
    return values.toarray() if is_sparse else values


def row_keys(table: Any) -> list[Hashable]:
    """Return one value per row of an array or DataFrame; equal rows get equal values.

    Missing values are equal to each other, and whole numbers to the same numbers with a decimal point.
    """
    cells = np.asarray(table)
    if cells.dtype.kind in "biuf" and not _has_long_integers(cells):
        numbers = cells.astype(np.float64) + 0.0  # of the two zeros one
        return [row.tobytes() for row in np.where(np.isnan(numbers), np.nan, numbers)]
    if cells.dtype.kind == "O":
        import pandas as pd

        cells = cells.copy()
        cells[pd.isna(cells)] = None  # pandas.NA, which is neither true nor false, cannot be compared
    return [_key_of_cells(row if isinstance(row, list) else [row]) for row in cells.tolist()]


def _has_long_integers(cells: NDArray[Any]) -> bool:
    """Whether there are integers that floating-point numbers would round."""
    if cells.dtype.kind not in "iu" or not cells.size:
        return False
    return max(abs(int(cells.min())), abs(int(cells.max()))) > LARGEST_EXACT


def _key_of_cells(cells: list[Any]) -> Hashable:
    # of all values, missing ones do not equal themselves
    known = [None if cell is None or cell != cell else cell for cell in cells]
    if all(cell is None or (isinstance(cell, Real) and abs(float(cell)) <= LARGEST_EXACT) for cell in known):
        return (np.array(known, dtype=np.float64) + 0.0).tobytes()  # as of a table of numbers
    return tuple(known)


def count_improbable_copies(X: Any, labels: NDArray[Any] | None = None) -> int:
    """Return how many rows equal an earlier one, also in the label; 0 if chance explains them.

    Rows are equal by chance where columns have few values. The expected number of equal pairs is that of independent
    columns with the frequencies that values have among the distinct rows; the columns of at most `FEW_VALUES` values,
    which often depend on each other, count together as one. Chance explains up to `TIMES_EXPECTED` times as many equal
    rows, and any number if no column has more values.

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
    import pandas as pd

    if np.prod(np.shape(X)) > MOST_VALUES or len(np.shape(X)) > 2:
        return 0
    rows = X if hasattr(X, "iloc") else np.asarray(dense(X))
    table = pd.DataFrame(rows).set_axis(range(np.size(rows, 1) if np.ndim(rows) > 1 else 1), axis=1)
    if labels is not None:
        table = table.assign(**{"labels": np.asarray(labels, dtype=np.float64)})
    first_rows: dict[Hashable, int] = {}
    for row, key in enumerate(row_keys(table)):
        first_rows.setdefault(key, row)
    n_equal = len(table) - len(first_rows)
    if not n_equal:
        return 0
    expected = _equal_pairs_by_chance(table.iloc[list(first_rows.values())])
    return n_equal if n_equal > TIMES_EXPECTED * expected else 0


def _equal_pairs_by_chance(distinct: pd.DataFrame) -> float:
    """Return the expected number of equal pairs among so many rows, infinite if no column has many values."""
    import pandas as pd

    codes = [pd.factorize(distinct.iloc[:, place])[0] for place in range(distinct.shape[1])]
    n_values = [np.unique(column).size for column in codes]
    many = [codes[place] for place in np.argsort(n_values)[::-1] if n_values[place] > FEW_VALUES]
    if not many:
        return np.inf
    few = [column for column, size in zip(codes, n_values, strict=True) if size <= FEW_VALUES]
    counted = [np.unique(few, axis=1, return_inverse=True)[1].ravel()] if few else []
    for column in many:
        # what another column determines, such as the year of birth, tells no further rows apart
        if not any(_determines(other, column) for other in counted[bool(few) :]):
            counted.append(column)
    pairs = len(distinct) * (len(distinct) - 1) / 2
    expected = pairs
    for column in counted:
        sizes = np.unique(column, return_counts=True)[1]
        expected *= float((sizes * (sizes - 1) / 2).sum()) / pairs
    return expected


def _determines(column: NDArray[Any], other: NDArray[Any]) -> bool:
    both = np.unique(np.column_stack([column, other]), axis=0)
    return len(both) == np.unique(column).size


def count_distinct_rows(table: Any) -> float:
    """Return the number of distinct rows of a dense or sparse table; nan for anything else.

    Examples
    --------
    >>> count_distinct_rows([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])
    2.0
    """
    if hasattr(table, "toarray"):
        from scipy import sparse

        rows = sparse.csr_array(table, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        ends = zip(rows.indptr, rows.indptr[1:], strict=False)
        return float(len({(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in ends}))
    return float(len(set(row_keys(table)))) if np.ndim(table) == 2 else np.nan


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
