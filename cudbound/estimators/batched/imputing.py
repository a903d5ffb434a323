"""Missing numbers of each fit replaced by a statistic of the rows that it drew, as `SimpleImputer` does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.estimators.batched.columns import Columns, Draws
from cudbound.estimators.batched.order import quantiles_of

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
            return quantiles_of(values, counts, (0.5,))[:, 0]
        if self.strategy == "most_frequent":
            kinds, places = np.unique(values, return_inverse=True)
            return np.asarray(kinds[(counts @ np.eye(kinds.size)[places]).argmax(axis=1)])
        return np.full(len(counts), self.fill_value)
