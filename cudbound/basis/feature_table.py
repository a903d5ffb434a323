"""Tables of rows of any kind: arrays, sparse matrices, data frames of pandas and polars, tables of pyarrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudbound.basis.parameter_error import ParameterError


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


def check_in_memory(name: str, values: Any) -> None:
    """Raise ParameterError for a frame of polars whose rows have not been computed, also within a pair."""
    for part in values if isinstance(values, tuple) else (values,):
        if type(part).__name__ == "LazyFrame":
            raise ParameterError(name, "rows in memory", type(part).__name__, " Call its collect() first.")
