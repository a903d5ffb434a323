"""Bootstrap draws as counts: how often each row of the training set stands in each resample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.groups import Groups


def draw_counts(
    n_samples: int, n_resamples: int, rng: np.random.Generator, groups: Groups | None = None
) -> NDArray[np.int32]:
    """Draw the counts phi of the ordinary bootstrap, or of the bootstrap of whole groups of rows.

    Draw ``b`` uses the ``n_samples`` uniform numbers that follow those of draw ``b - 1`` and nothing else. The
    first draws are therefore the same however many follow, and `replay_draw` can repeat any one of them.

    Parameters
    ----------
    n_samples : int
        Rows of the training set, n.
    n_resamples : int
        Number of draws.
    rng : numpy.random.Generator
        Source of randomness; its state advances by ``n_samples * n_resamples`` numbers.
    groups : Groups, default=None
        Rows that are drawn together: each draw has as many groups, drawn with replacement, as there are, with all
        their rows, and takes as many random numbers. Groups of one row give the ordinary bootstrap.

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
    rows = (rng.random((n_resamples, n_samples)) * n_samples).astype(np.int64)
    rows += np.arange(n_resamples)[:, None] * n_samples
    counts = np.bincount(rows.ravel(), minlength=n_resamples * n_samples)
    return counts.reshape(n_resamples, n_samples).astype(np.int32)


def draw_stratified_counts(
    strata: NDArray[np.bool_], n_resamples: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Draw within each of two classes, so that every draw holds as many rows of each as the training set.

    Parameters
    ----------
    strata : ndarray of bool, shape (n_samples,)
        Which rows are of the class that is drawn first.
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
    for rows in (strata, ~strata):
        counts[:, rows] = draw_counts(int(rows.sum()), n_resamples, rng)
    return counts


def replay_draw(n_samples: int, draw: int, seed: int) -> NDArray[np.int32]:
    """Return the counts of one draw of the bootstrap seeded with `seed`, shape (n_samples,)."""
    counts: NDArray[np.int32] = draw_counts(n_samples, draw + 1, np.random.default_rng(seed))[draw]
    return counts
