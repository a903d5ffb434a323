"""Bootstrap draws as counts: how often each row of the training set occurs in each draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.groups import Groups
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_integer

#: Draws of one call; a quantile is known to a thousandth of its spread with fewer.
MAX_RESAMPLES = 1_000_000
#: Draws times rows, so that the counts and what is computed of them fit into memory.
MAX_COUNTS = 100_000_000
#: Counts that are drawn at once, for the same reason.
CHUNK_COUNTS = 4_000_000


def check_resamples(n_resamples: object, n_samples: int) -> int:
    """Return the number of bootstrap draws after checking it for this number of rows.

    Raises
    ------
    ValueError
        If it is not an integer from 1 to `MAX_RESAMPLES`, or to `MAX_COUNTS` divided by the rows if that is less.
    """
    size = check_integer("n_resamples", n_resamples, 1, MAX_RESAMPLES)
    if size * n_samples > MAX_COUNTS:
        largest = max(1, MAX_COUNTS // n_samples)
        raise ParameterError(
            "n_resamples", f"an integer of at most {largest:,} for {n_samples:,} rows", n_resamples
        )
    return size


def draw_counts(
    n_samples: int, n_resamples: int, rng: np.random.Generator, groups: Groups | None = None
) -> NDArray[np.int32]:
    """Draw the counts phi of the ordinary bootstrap, or of the bootstrap of whole groups of rows.

    Draw ``b`` uses only the ``n_samples`` uniform numbers after those of draw ``b - 1``. So the first draws are the
    same for any number of draws, and `replay_draw` can repeat each of them.

    Parameters
    ----------
    n_samples : int
        Number of rows of the training set, n.
    n_resamples : int
        Number of draws.
    rng : numpy.random.Generator
        Source of randomness; its state advances by ``n_samples * n_resamples`` numbers.
    groups : Groups, default=None
        Groups of rows that are drawn together. Each draw has as many groups as the training set, drawn with
        replacement, with all their rows, and uses as many random numbers. Groups of one row give the ordinary
        bootstrap.

    Returns
    -------
    ndarray of int32, shape (n_resamples, n_samples)
        Counts; every row sums to `n_samples` unless groups have different sizes.

    Examples
    --------
    >>> import numpy as np
    >>> draw_counts(5, 2, np.random.default_rng(0)).sum(axis=1)
    array([5, 5])
    >>> draw_counts(5, 1, np.random.default_rng(0), Groups.of(["a", "a", "b", "b", "b"]))
    array([[1, 1, 1, 1, 1]], dtype=int32)
    """
    if groups is not None:
        return np.ascontiguousarray(groups.spread(draw_counts(groups.n_groups, n_resamples, rng)))
    counts = np.empty((n_resamples, n_samples), dtype=np.int32)
    size = max(1, CHUNK_COUNTS // max(1, n_samples))
    for chunk in (counts[first : first + size] for first in range(0, n_resamples, size)):
        rows = (rng.random(chunk.shape) * n_samples).astype(np.int64)
        rows += np.arange(len(chunk))[:, None] * n_samples
        chunk[:] = np.bincount(rows.ravel(), minlength=chunk.size).reshape(chunk.shape)
    return counts


def draw_stratified_counts(
    strata: NDArray[Any], n_resamples: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Draw within each class: every draw has as many rows of each class as the training set.

    Parameters
    ----------
    strata : ndarray, shape (n_samples,)
        Booleans or numbers that are equal for rows of one class; the largest is drawn first.
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int32, shape (n_resamples, n_samples)

    Examples
    --------
    >>> import numpy as np
    >>> draw_stratified_counts(np.array([True, False, False]), 2, np.random.default_rng(0))[:, 0]
    array([1, 1], dtype=int32)
    """
    counts = np.empty((n_resamples, strata.size), dtype=np.int32)
    for label in np.unique(strata)[::-1]:
        rows = strata == label
        counts[:, rows] = draw_counts(int(rows.sum()), n_resamples, rng)
    return counts


def replay_draw(n_samples: int, draw: int, seed: int) -> NDArray[np.int32]:
    """Return the counts of one draw of the bootstrap seeded with `seed`, shape (n_samples,)."""
    counts: NDArray[np.int32] = draw_counts(n_samples, draw + 1, np.random.default_rng(seed))[draw]
    return counts
