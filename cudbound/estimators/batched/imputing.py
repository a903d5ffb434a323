"""Missing numbers of each fit replaced by a statistic of the rows that it drew, as `SimpleImputer` does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.estimators.batched.columns import Columns, Draws

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

STRATEGIES = ("mean", "median", "most_frequent", "constant")


@dataclass(frozen=True)
class Imputer:
    """Replaces nan; a fit that drew no number of a column is not clear, since the column is then dropped.

    Attributes
    ----------
    strategy : {"mean", "median", "most_frequent", "constant"}
        Of the most frequent numbers the smallest is taken.
    fill_value : float
        For "constant".
    """

    strategy: str
    fill_value: float = 0.0

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Columns, Bools]:
        """Return the columns without nan, and which fits are clear."""
        missing = np.isnan(columns.rows)  # shared: nothing that makes nan comes before
        if not missing.any():
            return columns, np.ones(draws.n_fits, dtype=bool)
        stacked = np.repeat(columns.rows[None], draws.n_fits, axis=0)
        clear = np.ones(draws.n_fits, dtype=bool)
        for column in np.flatnonzero(missing.any(axis=0)):
            known = ~missing[:, column]
            counts = draws.counts[:, known]
            drawn = counts.any(axis=1)
            clear &= drawn
            counts[~drawn] = 1.0
            values = columns.rows[known, column]
            stacked[:, ~known, column] = self._statistic(values, counts)[:, None]
        return Columns(stacked), clear

    def _statistic(self, values: Array, counts: Array) -> Array:
        if self.strategy == "mean":
            return np.asarray(counts @ values / counts.sum(axis=1))
        if self.strategy == "median":
            return drawn_medians(values, counts)
        if self.strategy == "most_frequent":
            kinds, places = np.unique(values, return_inverse=True)
            return np.asarray(kinds[(counts @ np.eye(kinds.size)[places]).argmax(axis=1)])
        return np.full(len(counts), self.fill_value)


def drawn_medians(values: Array, counts: Array) -> Array:
    """Return the median of the drawn values in each fit, copies included, shape (n_fits,).

    Parameters
    ----------
    values : ndarray of float, shape (n_samples,)
    counts : ndarray of float, shape (n_fits, n_samples)
        Each fit must have drawn a row.

    Examples
    --------
    >>> drawn_medians(np.array([9.0, 1.0, 3.0]), np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 1.0]])).tolist()
    [1.0, 6.0]
    """
    order = values.argsort(kind="stable")
    values = values[order]
    ends = counts[:, order].cumsum(axis=1)  # drawn rows at a place or before it
    middle = 0.5 * (ends[:, -1] - 1.0)
    low, high = (
        values[(ends <= place[:, None]).sum(axis=1)] for place in (np.floor(middle), np.ceil(middle))
    )
    return np.asarray(low + 0.5 * (high - low))
