"""What the classes of recorded losses check of the arrays they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Losses = NDArray[Any]


def checked(name: str, values: ArrayLike, n_dimensions: int) -> Losses:
    """Return a numeric array of that many dimensions with at least one value, all of them finite."""
    array = np.asarray(values)
    if array.ndim != n_dimensions or array.size == 0 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"The '{name}' parameter must be a numeric array with {n_dimensions} dimension(s) and at least one value. "
            f"Got shape {array.shape} and type {array.dtype} instead."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"The '{name}' parameter must be finite. Got nan or infinite values in it.")
    return array


def check_sizes(n_train: float, n_test: float) -> None:
    """Raise ValueError unless both sizes are at least 1."""
    for name, size in (("n_train", n_train), ("n_test", n_test)):
        if not size >= 1:
            raise ValueError(f"The '{name}' parameter must be at least 1. Got {size!r} instead.")


def check_pairs(means: ArrayLike) -> None:
    """Raise ValueError unless there is one pair of means a halving."""
    if checked("means", means, 2).shape[1] != 2:
        raise ValueError(
            f"The 'means' parameter must have shape (n_halvings, 2). Got {np.shape(means)} instead."
        )
