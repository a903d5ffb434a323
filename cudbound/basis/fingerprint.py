"""A number that names a training set: the same for the same values on every machine, and another after any change."""

from __future__ import annotations

import hashlib
import json
import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.groups import Groups

#: What is hashed first: another order of what follows gets another name.
LAYOUT = b"cudbound training set 1"


def fingerprint(
    X: Any,
    event: NDArray[np.bool_],
    groups: Groups | None = None,
    sample_weight: NDArray[np.float64] | None = None,
) -> str:
    """Return the SHA-256 of a training set, 64 hexadecimal digits.

    One digest is taken of all parts together: that of a few labels alone could be undone by trying all of them.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features) or (n_samples,)
        Numbers, texts or other values; an array, a data frame, a sparse matrix or a list. Names of columns and types
        of numbers do not enter: 1, 1.0 and True are one value, and so are 0.0 and -0.0.
    event : ndarray of bool, shape (n_samples,)
        Which rows are events.
    groups : Groups, default=None
        Which rows belong together; names of groups do not enter.
    sample_weight : ndarray of float, shape (n_samples,), default=None

    Examples
    --------
    >>> event = np.array([True, False])
    >>> fingerprint([[1, 2], [3, 4]], event) == fingerprint(np.array([[1.0, 2.0], [3.0, 4.0]]), event)
    True
    >>> fingerprint([[1, 2], [3, 4]], event) == fingerprint([[1, 2], [3, 5]], event)
    False
    """
    digest = hashlib.sha256(LAYOUT)
    parts: tuple[Any, ...] = (X, event, None if groups is None else groups.codes, sample_weight)
    for part in parts:
        values = np.asarray(part.toarray() if hasattr(part, "toarray") else part)  # sparse matrices have it
        digest.update(repr(values.shape).encode())
        digest.update(_canonical(values))
    return digest.hexdigest()


def _canonical(values: NDArray[Any]) -> bytes:
    """Return numbers as little-endian doubles, row by row, and values that are not all numbers as a list of JSON."""
    try:
        numbers = values.astype("<f8", order="C") + 0.0  # takes the sign off a negative zero
    except (TypeError, ValueError):
        cells = values.ravel().tolist()
        plain = [float(cell) + 0.0 if isinstance(cell, Real) else str(cell) for cell in cells]
        return json.dumps(plain).encode()
    return np.where(np.isnan(numbers), math.nan, numbers).tobytes()
