"""Losses recorded by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import Array, check_integer
from cudbound.records.rules import (
    Flag,
    FoldNumbers,
    MeanLoss,
    Means,
    NestedFoldLosses,
    Recorded,
    Remarks,
    RowLosses,
    RowScoresIfRecorded,
    Size,
    check_same,
    numeric,
)


@dataclass(frozen=True, eq=False)
class FoldLosses(Recorded):
    """Cross-validated losses on one partition of the rows into folds.

    Attributes
    ----------
    losses : ndarray, shape (n_samples,)
        Loss of the classifier fitted without the fold of the row, on the row.
    fold : ndarray of int, shape (n_samples,)
        Which fold the row belongs to, numbered from 0.
    remarks : tuple of str
    weighed : bool, default=False
        Whether the losses include row weights, so only their mean is in [0, 1].
    scores, probabilities : ndarray of float, shape (n_samples,), or None
        Scores or probabilities of the event, from the classifier fitted without the fold of the row; nan if it was
        fitted to one class. Kept if a metric uses them.
    n_train_of_all : float or None, default=None
        Mean number of training rows, if losses are kept for some of the rows only.
    """

    losses: RowLosses
    fold: FoldNumbers
    remarks: Remarks = ()
    weighed: Flag = False
    scores: RowScoresIfRecorded = None
    probabilities: RowScoresIfRecorded = None
    n_train_of_all: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_same("shape", losses=self.losses, fold=self.fold)
        numbers = np.unique(self.fold)
        if numbers.size < 2 or numbers[-1] != numbers.size - 1:
            raise ValueError(
                "The 'fold' parameter must number at least two folds 0, 1, 2, ... without gaps. "
                f"Got the numbers {numbers[:10].tolist()} instead."
            )

    @classmethod
    def from_blocks(cls, blocks: Sequence[ArrayLike]) -> FoldLosses:
        """Build the record from one array of losses per fold.

        Examples
        --------
        >>> FoldLosses.from_blocks([[1, 0, 0], [0, 1, 0]]).means.round(3).tolist()
        [0.333, 0.333]
        """
        arrays = [numeric(f"blocks[{number}]", block, 1) for number, block in enumerate(blocks)]
        if len(arrays) < 2:
            raise ValueError(
                f"The 'blocks' parameter must contain at least two folds. Got {len(arrays)} instead."
            )
        return cls(
            np.concatenate(arrays), np.repeat(np.arange(len(arrays)), [array.size for array in arrays])
        )

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set."""
        return int(np.size(self.losses))

    @property
    def n_folds(self) -> int:
        """Number of folds K."""
        return int(self.fold.max()) + 1

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return self.n_folds

    @property
    def n_train(self) -> float:
        """Mean number of training rows over the folds.

        Examples
        --------
        >>> FoldLosses.from_blocks([[1, 0, 0], [0, 1, 0]]).n_train
        3.0
        """
        own = self.n_samples * (1.0 - 1.0 / self.n_folds)
        return own if self.n_train_of_all is None else self.n_train_of_all

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each fold, shape (n_folds,)."""
        return np.bincount(self.fold)

    @property
    def means(self) -> Array:
        """Mean loss of each fold, shape (n_folds,)."""
        return np.asarray(np.bincount(self.fold, weights=self.losses) / self.sizes)


@dataclass(frozen=True, eq=False)
class RepeatedFoldLosses(Recorded):
    """Cross-validated losses on several partitions of the same rows.

    Attributes
    ----------
    partitions : tuple of FoldLosses
        At least one.
    remarks : tuple of str
    """

    partitions: tuple[FoldLosses, ...]
    remarks: Remarks = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.partitions
        if (
            not isinstance(given, list | tuple)
            or not given
            or not all(isinstance(one, FoldLosses) for one in given)
        ):
            raise ParameterError("partitions", "one FoldLosses or more, in a tuple", given)
        sizes = {one.n_samples for one in given}
        if len(sizes) > 1:
            raise ParameterError("partitions", "of the same rows", f"{sorted(sizes)} rows")
        object.__setattr__(self, "partitions", tuple(given))

    @property
    def of_differences(self) -> bool:
        """Whether there are negative losses, which occur only for differences of two losses."""
        return any(one.of_differences for one in self.partitions)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set, from the first partition."""
        return self.partitions[0].n_samples

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return sum(partition.n_fits for partition in self.partitions)


@dataclass(frozen=True, eq=False)
class NestedLosses(Recorded):
    """Losses of nested cross-validation with folds of equal size.

    Attributes
    ----------
    inner : ndarray, shape (n_repeats, n_folds, n_inner)
        For each outer fold, the losses of cross-validation inside the other folds.
    outer : ndarray, shape (n_repeats, n_folds, n_outer)
        The losses of the classifier fitted to the other folds, on the outer fold.
    n_samples : int
        Number of rows of the training set; more than ``n_folds * n_outer`` if the folds do not use all rows.
    remarks : tuple of str
    """

    inner: NestedFoldLosses
    outer: NestedFoldLosses
    n_samples: Size
    remarks: Remarks = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        inner, outer = self.inner, self.outer
        if inner.shape[:2] != outer.shape[:2] or inner.shape[2] != (outer.shape[1] - 1) * outer.shape[2]:
            raise ValueError(
                "'inner' must have shape (n_repeats, n_folds, (n_folds - 1) * n_outer) where 'outer' has shape "
                f"(n_repeats, n_folds, n_outer). Got {inner.shape} and {outer.shape} instead."
            )
        check_integer(
            "n_samples", self.n_samples, outer.shape[1] * outer.shape[2]
        )  # the rows that are in a fold

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record; a fit without folds j and k is used for both."""
        n_repeats, n_folds = np.shape(self.outer)[:2]
        return int(n_repeats * (n_folds + n_folds * (n_folds - 1) // 2))


@dataclass(frozen=True, eq=False)
class ReplacementErrors(Recorded):
    """Cross-validated error of half the data, and with each of its rows replaced by one of the other half.

    Attributes
    ----------
    full : float
        Cross-validated error of all rows.
    half : float
        Cross-validated error of the first half.
    replaced : ndarray of float, shape (n_samples // 2,)
        Cross-validated error of the first half with row l replaced by row l of the second half.
    n_samples, n_folds : int
    remarks : tuple of str
    """

    full: MeanLoss
    half: MeanLoss
    replaced: Means
    n_samples: Size
    n_folds: Size
    remarks: Remarks = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.replaced.size != self.n_samples // 2:
            raise ValueError(
                f"The 'replaced' parameter must contain n_samples // 2 = {self.n_samples // 2} values. "
                f"Got {np.size(self.replaced)} instead."
            )

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return (int(np.size(self.replaced)) + 2) * self.n_folds
