"""Which steps before a classifier read the labels, by what they do: tags of scikit-learn do not tell."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from cudbound.adapters.seeded import seeded_clone

#: Outputs of two fits to the same rows differ by less than this share of their values where only the order of a
#: parallel sum differed.
ROUNDING = 1e-9
#: Seeds both fits of a random step.
SEED = 0


def transformed(steps: Iterable[Any], X: Any, y: Any) -> tuple[Any, str]:
    """Return the rows as they come out of fitted steps, and the name of the first step that reads the labels.

    Each step is tried on the rows that come out of those before it.

    Parameters
    ----------
    steps : iterable of object
        Fitted transformers. One without ``transform``, which changes training rows alone, counts as reading labels.
    X, y : array-like
        The rows and labels that they were fitted to; `X` is not changed.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 1.0]], [0, 0, 1, 1]
    >>> rows, reads_labels = transformed([StandardScaler().fit(X), SelectKBest(k=1).fit(X, y)], X, y)
    >>> rows.shape, reads_labels
    ((4, 1), 'SelectKBest')
    """
    reads_labels = ""
    for step in steps:
        if not reads_labels and not is_label_free(step, X, y):
            reads_labels = type(step).__name__
        if hasattr(step, "transform"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                X = step.transform(_copied(X))
    return X, reads_labels


def is_label_free(step: Any, X: Any, y: Any) -> bool:
    """Whether a step fitted without labels gives the same output as with them; False wherever that is in doubt."""
    try:
        if is_own_clone(step):  # no refit changes it, whatever it is given
            return True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            without = seeded_clone(step, SEED).fit(_copied(X)).transform(_copied(X))
            given = seeded_clone(step, SEED).fit(_copied(X), y).transform(_copied(X))
            return _equal(without, given)
    except Exception:  # any code of a user may run here, and what fails has not been shown to be label-free
        return False


def is_own_clone(part: Any) -> bool:
    """Whether cloning a part, as every refit does, gives back the fitted one."""
    own = getattr(type(part), "__sklearn_clone__", BaseEstimator.__sklearn_clone__)
    return own is not BaseEstimator.__sklearn_clone__ and clone(part) is part


def _copied(X: Any) -> Any:
    """Return a copy, since steps with copy=False write into the rows that they are given."""
    return X.copy() if hasattr(X, "copy") else X


def _equal(first: Any, second: Any) -> bool:
    both_sparse: bool = sparse.issparse(first) and sparse.issparse(second)
    if both_sparse:
        return first.shape == second.shape and _equal(*map(_entries, (first, second)))
    if list(getattr(first, "columns", ())) != list(getattr(second, "columns", ())):
        return False
    first, second = np.asarray(first), np.asarray(second)
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if np.issubdtype(first.dtype, np.number):
        largest = float(np.nanmax(np.abs(first), initial=0.0))
        return bool(np.allclose(first, second, rtol=ROUNDING, atol=ROUNDING * largest, equal_nan=True))
    # of the two, missing values are those that do not equal themselves
    return all(a is b or a == b or (a != a and b != b) for a, b in zip(first.flat, second.flat, strict=True))


def _entries(matrix: Any) -> Any:
    """Return row, column and value of what is not zero."""
    found = sparse.coo_array(matrix.tocsr())
    found.sum_duplicates()
    found.eliminate_zeros()
    return np.column_stack([*found.coords, found.data])
