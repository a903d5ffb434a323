"""The matrix that reached the classifier: its rank and its distinct rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cudbound.records.rules import NumberOrNan, Recorded, Size

#: Above this share of the units a rank is large: refits then differ much from the classifier fitted to all rows.
MANY = 0.5
#: Above this share a fit is nearly free to give every unit the class that it has.
NEARLY_ALL = 0.9
#: Up to this share of distinct rows many cases lie on the same few points, and so on boundaries between classes.
FEW_DISTINCT = 0.5


@dataclass(frozen=True, eq=False)
class Design(Recorded):
    """Rank and distinct rows of the matrix that reached the classifier, for all rows regardless of the metric.

    Attributes
    ----------
    n_rows : int
        Number of rows of the training set.
    rank : float, default=nan
        Rank of the matrix, including the column of ones of a fitted intercept; nan if the classifier has no linear
        form, or if the rank is unknown.
    distinct_rows : float, default=nan
        Number of distinct rows, ignoring labels; nan if unknown.
    n_groups : int or None, default=None
        Number of groups of rows; None without groups.

    Examples
    --------
    >>> design = Design(50, rank=47, distinct_rows=50)
    >>> design.has_many_columns, design.is_nearly_full, design.has_few_distinct_rows
    (True, True, False)
    """

    n_rows: Size
    rank: NumberOrNan = np.nan
    distinct_rows: NumberOrNan = np.nan
    n_groups: int | None = None

    @property
    def n_units(self) -> int:
        """Number of units that are drawn independently: rows, or groups of rows."""
        return self.n_rows if self.n_groups is None else self.n_groups

    @property
    def has_many_columns(self) -> bool:
        """Whether the rank is known, and above half of the rows or groups."""
        return self.rank > MANY * self.n_units

    @property
    def is_nearly_full(self) -> bool:
        """Whether the rank is known, and above nine tenths of the rows or groups."""
        return self.rank > NEARLY_ALL * self.n_units

    @property
    def has_few_distinct_rows(self) -> bool:
        """Whether at most half of the rows are distinct, or the number is unknown."""
        return not self.distinct_rows > FEW_DISTINCT * self.n_rows
