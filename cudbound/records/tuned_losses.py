"""Cross-validated losses of every configuration that a search tried."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.validation import Array
from cudbound.records.rules import Counts, DrawLosses, FitCount, Flag, Recorded, Remarks, check_draws


@dataclass(frozen=True, eq=False)
class TunedLosses(Recorded):
    """Cross-validated losses of all configurations on the same folds, and draws of the rows.

    Attributes
    ----------
    losses : ndarray, shape (n_samples, n_configurations)
        Loss of the configuration fitted without the fold of the row, on the row; a mean over partitions if there are
        several.
    counts : ndarray of int, shape (n_resamples, n_samples)
        How often each row occurs in each bootstrap draw.
    n_folds : int, default=0
        Number of folds of all partitions; 0 if unknown.
    remarks : tuple of str
    uneven : bool, default=False
        Whether draws may have more or fewer rows than the training set, such as draws of whole groups.

    Examples
    --------
    >>> drawn = np.array([[0, 0, 2], [1, 2, 2]])
    >>> TunedLosses(np.array([[0, 1], [1, 0], [0, 0]]), np.array([np.bincount(d, minlength=3) for d in drawn])).n_fits
    0
    """

    losses: DrawLosses
    counts: Counts
    n_folds: FitCount = 0
    remarks: Remarks = ()
    uneven: Flag = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.counts.shape[1] != len(self.losses):
            raise ValueError(
                "'counts' must have one column per row of 'losses'. "
                f"Got {self.counts.shape[1]} columns and {len(self.losses)} rows."
            )
        check_draws(self.counts, uneven=self.uneven)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set."""
        return int(np.shape(self.losses)[0])

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return self.n_folds * int(np.shape(self.losses)[1])

    @property
    def chosen(self) -> NDArray[np.intp]:
        """The configuration with the smallest mean loss on each draw, the first if tied, shape (n_resamples,)."""
        means = np.asarray(self.counts) @ np.asarray(self.losses, dtype=float) / self.n_samples
        # sums of the same losses in another order must tie
        return np.asarray((means <= means.min(axis=1, keepdims=True) + 1e-12).argmax(axis=1))

    @property
    def out_of_draw(self) -> Array:
        """Mean loss of the chosen configuration on the rows not in the draw; nan if there is none."""
        outside = np.asarray(self.counts) == 0
        losses = np.asarray(self.losses, dtype=float).T[self.chosen]
        size = outside.sum(axis=1)
        return np.asarray(
            np.divide((losses * outside).sum(axis=1), size, out=np.full(len(size), np.nan), where=size > 0)
        )
