"""Resampled training sets with only one class: their treatment and its report."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Policy = Literal["fit", "redraw", "drop", "error"]

POLICIES = ("fit", "redraw", "drop", "error")
TREATMENT = {"fit": "fitted as drawn", "redraw": "redrawn", "drop": "dropped"}


def has_one_class(counts: NDArray[Any], labels: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which training sets have only one class, shape (...).

    Parameters
    ----------
    counts : ndarray of int, shape (..., n_samples)
        How often each row occurs in each training set.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0, or the numbers of the classes.
    """
    of_class = labels[:, None] == np.unique(labels)
    return np.asarray((counts @ of_class.astype(np.int64)).max(axis=-1) == counts.sum(axis=-1))


class SingleClassError(ValueError):
    """A resampled training set has only one class, and the caller requested an error in this case."""


def refuse_one_class(what: str, n_affected: int) -> SingleClassError:
    """Return the error for the policy "error"."""
    return SingleClassError(
        f"{n_affected} {what} had only one class, and on_single_class='error' was requested. Pass "
        "on_single_class='redraw' or 'drop' to continue without them, or 'fit' to use the constant classifier "
        "instead."
    )
