"""Quantiles of the rows that each fit drew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cudbound.estimators.batched.columns import Columns, Draws

Array = NDArray[np.float64]


def drawn_quantiles(columns: Columns, draws: Draws, quantiles: Sequence[float]) -> Array:
    """Return quantiles of each column among the drawn rows, copies included, interpolated as `numpy.quantile` does.

    Parameters
    ----------
    columns : Columns
        Without a map.
    draws : Draws
    quantiles : sequence of float
        In [0, 1].

    Returns
    -------
    ndarray of float, shape (n_fits, n_columns, n_quantiles)

    Examples
    --------
    >>> draws = Draws(np.array([[2.0, 1.0, 0.0]]), np.array([-1.0, 1.0, 1.0]))
    >>> drawn_quantiles(Columns(np.array([[1.0], [3.0], [9.0]])), draws, (0.5, 0.75)).tolist()
    [[[1.0, 2.0]]]
    """
    return np.stack(
        [
            quantiles_of(columns.rows[..., column], draws.counts, quantiles)
            for column in range(columns.n_columns)
        ],
        axis=1,
    )


def quantiles_of(values: Array, counts: Array, quantiles: Sequence[float]) -> Array:
    """Return quantiles of one column, shape (n_fits, n_quantiles); each fit must have drawn a row.

    Parameters
    ----------
    values : ndarray of float, shape (n_samples,) or (n_fits, n_samples)
    counts : ndarray of float, shape (n_fits, n_samples)
    quantiles : sequence of float
    """
    order = values.argsort(axis=-1, kind="stable")
    if values.ndim == 1:
        values, counts = values[order], counts[:, order]
    else:
        values, counts = (np.take_along_axis(each, order, axis=1) for each in (values, counts))
    ends = counts.cumsum(axis=1)  # drawn rows at a place or before it
    last = ends[:, -1] - 1.0
    found = []
    for quantile in quantiles:
        position = quantile * last
        below = np.floor(position)
        low, high = (_at(values, ends, place) for place in (below, np.minimum(below + 1.0, last)))
        found.append(low + (position - below) * (high - low))
    return np.stack(found, axis=1)


def _at(values: Array, ends: Array, place: Array) -> Array:
    """Return the drawn value at a place, counted from 0, shape (n_fits,)."""
    index = (ends <= place[:, None]).sum(axis=1)
    return np.asarray(
        values[index] if values.ndim == 1 else np.take_along_axis(values, index[:, None], 1)[:, 0]
    )
