"""The matrix that reached the classifier: its rank, against the number of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cudbound.records.rules import NumberOrNan, Recorded, Size

#: Above this share of the units a rank is large: refits then differ much from the classifier fitted to all rows.
MANY = 0.5


@dataclass(frozen=True, eq=False)
class Design(Recorded):
    """The rank of the matrix that reached the classifier, for all rows regardless of the metric.

    Attributes
    ----------
    n_rows : int
        Number of rows of the training set.
    rank : float, default=nan
        Rank of the matrix, including the column of ones of a fitted intercept; nan if the classifier has no linear
        form, or if the rank is unknown.
    n_groups : int or None, default=None
        Number of groups of rows; None without groups.

    Examples
    --------
    >>> Design(50, rank=47).has_many_columns, Design(50, rank=3).has_many_columns
    (True, False)
    """

    n_rows: Size
    rank: NumberOrNan = np.nan
    n_groups: int | None = None

    @property
    def n_units(self) -> int:
        """Number of units that are drawn independently: rows, or groups of rows."""
        return self.n_rows if self.n_groups is None else self.n_groups

    @property
    def has_many_columns(self) -> bool:
        """Whether the rank is known, and above half of the rows or groups."""
        return self.rank > MANY * self.n_units
