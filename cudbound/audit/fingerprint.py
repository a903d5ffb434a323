"""A number that names a training set: the same for the same values on every machine, and another after any change."""

from __future__ import annotations

import hashlib
import math
import struct
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.groups import Groups

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
    values: NDArray[Any] = np.asarray(X.toarray() if hasattr(X, "toarray") else X)  # sparse matrices have it
    digest = hashlib.sha256(LAYOUT)
    parts = (
        (b"X", values),
        (b"event", event),
        (b"groups", None if groups is None else groups.codes),
        (b"weights", sample_weight),
    )
    for name, part in parts:
        digest.update(name)
        if part is not None:
            digest.update(struct.pack("<B", part.ndim) + struct.pack(f"<{part.ndim}q", *part.shape))
            digest.update(_canonical(part))
    return digest.hexdigest()


def _canonical(values: NDArray[Any]) -> bytes:
    """Return numbers as little-endian doubles, row by row, and values that are not all numbers one by one."""
    if values.dtype.kind in "biuf":
        return _doubles(values.astype("<f8", order="C"))
    cells = values.ravel().tolist()
    if all(isinstance(cell, Real) for cell in cells):
        return _doubles(np.array(cells, dtype="<f8"))
    return b"".join(map(_cell, cells))


def _doubles(numbers: NDArray[np.float64]) -> bytes:
    plain = numbers + 0.0  # takes the sign off a negative zero
    plain[np.isnan(plain)] = math.nan
    return b"d" + plain.tobytes()


def _cell(cell: Any) -> bytes:
    """Return a value of a column of any kind, marked so that the text 1 is not the number 1."""
    if isinstance(cell, Real):
        return _doubles(np.array([cell], dtype="<f8"))
    text = str(cell).encode("utf-8", "surrogatepass")
    return b"t" + struct.pack("<q", len(text)) + text
