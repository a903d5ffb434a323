"""Quantiles of the rows that each fit drew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cudbound.batches.columns import Columns, Draws

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
    found = np.empty((draws.n_fits, columns.n_columns, len(quantiles)))
    for column in range(columns.n_columns):
        values, ends = _sorted(columns.rows[..., column], draws)
        for number, quantile in enumerate(quantiles):
            position = quantile * (draws.totals - 1.0)
            below = np.floor(position)
            low, high = (
                _at(values, ends, place) for place in (below, np.minimum(below + 1.0, draws.totals - 1.0))
            )
            found[:, column, number] = low + (position - below) * (high - low)
    return found


def _sorted(values: Array, draws: Draws) -> tuple[Array, Array]:
    """Return one column in ascending order, and how many drawn rows stand at each place or before it."""
    order = values.argsort(axis=-1, kind="stable")
    if values.ndim == 1:
        return values[order], draws.counts[:, order].cumsum(axis=1)
    counts = np.take_along_axis(draws.counts, order, axis=1)
    return np.take_along_axis(values, order, axis=1), counts.cumsum(axis=1)


def _at(values: Array, ends: Array, place: Array) -> Array:
    """Return the drawn value that stands at a place, counted from 0, shape (n_fits,)."""
    index = (ends <= place[:, None]).sum(axis=1)
    return np.asarray(
        values[index] if values.ndim == 1 else np.take_along_axis(values, index[:, None], 1)[:, 0]
    )
