"""Whether data frames and labels that both have an index have the same one."""

from __future__ import annotations

from typing import Any

from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_lengths, count_rows


def check_index(X: Any, y: Any, *, names: tuple[str, str] = ("X", "y")) -> None:
    """Raise ValueError if both have an index of pandas, and these differ: rows are read by their order.

    Parameters
    ----------
    X, y : array-like
    names : tuple of str, default=("X", "y")
        What the error calls them.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [40, 50]}, index=["ann", "bob"])
    >>> try:
    ...     check_index(X, pd.Series([0, 1], index=["bob", "ann"]))
    ... except ValueError as error:
    ...     print(str(error)[:85])
    The 'y' parameter must be in the order of the index of X, which is 'ann' in row 0, co
    """
    if not (hasattr(X, "iloc") and hasattr(y, "iloc")):
        return
    check_lengths(count_rows(X), count_rows(y))
    if X.index.equals(y.index):
        return
    X_name, y_name = names
    labels = zip(X.index.tolist(), y.index.tolist(), strict=True)
    differing = ((row, *pair) for row, pair in enumerate(labels) if pair[0] != pair[1])
    row, of_rows, of_labels = next(differing, (0, X.index.dtype, y.index.dtype))
    raise ParameterError(
        y_name,
        f"in the order of the index of {X_name}, which is {of_rows!r} in row {row}, counted from 0",
        of_labels,
        f" Align them, such as {y_name}.loc[{X_name}.index], or pass {y_name}.to_numpy() if their rows are in the same "
        "order already.",
    )
