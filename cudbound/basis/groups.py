"""Groups of rows, such as those of one patient; resampling draws whole groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.validation import Losses, check_lengths
from cudbound.basis.words import counted

#: With one group a class vanishes from a third of all draws of groups, and no variance can be seen in it.
MIN_GROUPS_PER_CLASS = 2


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of the rows of a training set.

    Attributes
    ----------
    codes : ndarray of int, shape (n_samples,)
        Number of the group of each row; groups are numbered from 0 in the order in which they first occur.

    Examples
    --------
    >>> groups = Groups.of(["b", "b", "a", "c"])
    >>> groups.codes.tolist(), groups.sizes.tolist(), str(groups)
    ([0, 0, 1, 2], [2, 1, 1], '3 groups of 1 to 2 rows')
    """

    codes: NDArray[np.intp]

    @classmethod
    def of(cls, values: ArrayLike) -> Groups:
        """Return the groups of rows that have equal values.

        Parameters
        ----------
        values : array-like, shape (n_samples,)
            Numbers, texts or other values that can be compared; none missing.

        Raises
        ------
        ValueError
            If they have another shape, one is missing, or all are equal.
        """
        import pandas as pd

        # of a list, no number is rounded
        names = np.asarray(values, dtype=None if hasattr(values, "dtype") else object)
        if names.ndim != 1 or not names.size:
            raise ValueError(f"'groups' must have one value per row. Got shape {names.shape} instead.")
        codes, different = pd.factorize(names)
        if (missing := np.flatnonzero(codes < 0)).size:
            raise ValueError(
                f"'groups' must assign every row to a group. Got {missing.size} missing values, the first in "
                f"row {missing[0]}; give each such row its own group."
            )
        if len(different) < 2:
            raise ValueError(
                "The 'groups' parameter must have at least two values. Got the same in every row."
            )
        return cls(codes)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.sizes.size)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows in each group, shape (n_groups,)."""
        return np.bincount(self.codes)

    @property
    def n_effective(self) -> float:
        """Effective number of groups, (sum m)^2 / sum m^2, where m are the group sizes.

        References
        ----------
        Kish, L. (1965). Survey sampling. Wiley, section 11.7.

        Examples
        --------
        >>> Groups.of([1, 1, 2, 2, 3, 3]).n_effective, Groups.of([1] * 8 + [2, 3]).n_effective
        (3.0, 1.5151515151515151)
        """
        return float(self.codes.size**2 / np.square(self.sizes).sum())

    @cached_property
    def first_rows(self) -> NDArray[np.intp]:
        """The first row of each group, shape (n_groups,)."""
        return np.unique(self.codes, return_index=True)[1]

    def spread(self, of_groups: NDArray[Any]) -> NDArray[Any]:
        """Return values of groups, shape (..., n_groups), as values of their rows, shape (..., n_samples)."""
        return of_groups[..., self.codes]

    def sum(self, of_rows: Losses) -> Losses:
        """Return the sums over the rows of each group, shape (..., n_groups), of values of shape (..., n_samples)."""
        order = np.argsort(self.codes, kind="stable")
        begins = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.asarray(np.add.reduceat(np.asarray(of_rows, dtype=float)[..., order], begins, axis=-1))

    def __str__(self) -> str:
        least, most = self.sizes.min(), self.sizes.max()
        size = f"{least} to {most} rows" if least < most else counted(most, "row")
        return f"{self.n_groups} groups of {size}"


def check_groups(groups: ArrayLike, labels: NDArray[np.float64]) -> Groups:
    """Return the groups of the rows of a training set.

    Parameters
    ----------
    groups : array-like, shape (n_samples,)
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0, or the numbers of the classes.

    Raises
    ------
    ValueError
        If they are not one value per row with at least two different values, or if a class occurs in only one group.
    """
    of_rows = Groups.of(groups)
    check_lengths(labels.size, of_rows.codes.size, ("y", "groups"))
    for label in np.unique(labels):
        n_groups = np.unique(of_rows.codes[labels == label]).size
        if n_groups < MIN_GROUPS_PER_CLASS:
            raise ValueError(
                f"Each class must occur in at least {MIN_GROUPS_PER_CLASS} groups. Got one class that occurs "
                f"in {n_groups} of {of_rows.n_groups}; resampling whole groups cannot show how the classifier "
                "depends on it."
            )
    return of_rows
