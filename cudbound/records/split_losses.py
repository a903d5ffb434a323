"""Losses recorded on held-out or new test sets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.outcomes import TestedRows
from cudbound.basis.validation import Array
from cudbound.records.rules import (
    ClassNumbersIfRecorded,
    Flag,
    FlagsIfRecorded,
    HalvesOfFoldMeans,
    Means,
    MeanSize,
    NumberOrNan,
    PairsOfMeans,
    Recorded,
    Remarks,
    RowLosses,
    RowScoresIfRecorded,
    Size,
    check_same,
)

#: The methods of 5x2 cross-validation are defined for this many halvings; their degrees of freedom follow from it.
N_HALVINGS = 5


@dataclass(frozen=True, eq=False)
class SplitLosses(Recorded):
    """Mean losses on the test sets of random splits, or of the folds of cross-validation.

    Attributes
    ----------
    means : ndarray of float, shape (n_splits,)
        Mean loss on each test set.
    n_train, n_test : float
        Number of rows of a training and of a test set; means over the splits if they differ.
    remarks : tuple of str
    """

    means: Means
    n_train: MeanSize
    n_test: MeanSize
    remarks: Remarks = ()

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return int(np.size(self.means))


@dataclass(frozen=True, eq=False)
class _MeansOfSplits(Recorded):
    """Each of the means is over `n_splits` random splits of some rows."""

    means: Array
    n_train: Size
    n_test: Size
    n_splits: Size
    remarks: Remarks = ()

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return int(np.size(self.means)) * self.n_splits


@dataclass(frozen=True, eq=False)
class HalfSplitLosses(_MeansOfSplits):
    """Mean losses of `n_splits` random splits inside each half of the data, for several halvings.

    Attributes
    ----------
    means : ndarray of float, shape (n_halvings, 2)
        Mean over the splits inside the first and inside the second half.
    n_train, n_test : int
        Rows of a training and of a test set within a half.
    n_splits : int
        Splits inside a half, J.
    remarks : tuple of str
    """

    means: PairsOfMeans


@dataclass(frozen=True, eq=False)
class HalfFoldLosses(Recorded):
    """Mean losses of the folds of a cross-validation inside each half of the data, for several halvings.

    Attributes
    ----------
    means : ndarray of float, shape (n_halvings, 2, n_folds)
        Mean loss of each fold inside the first and inside the second half.
    n_train : float
        Mean number of training rows within a half.
    remarks : tuple of str
    """

    means: HalvesOfFoldMeans
    n_train: MeanSize
    remarks: Remarks = ()

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return int(np.size(self.means))


@dataclass(frozen=True, eq=False)
class ReplicateLosses(_MeansOfSplits):
    """The random-split estimate recomputed on bootstrap replicates of the data.

    Attributes
    ----------
    means : ndarray of float, shape (n_replicates,)
        Mean over the splits of each replicate.
    n_train, n_test : int
        Rows of a training and of a test set within a replicate.
    n_splits : int
        Splits of a replicate, J.
    remarks : tuple of str
    """

    means: Means


@dataclass(frozen=True, eq=False)
class HalvingLosses(Recorded):
    """Mean losses of two-fold cross-validation, repeated: each half is the test set of the other.

    Attributes
    ----------
    means : ndarray of float, shape (n_halvings, 2)
        Mean loss on the second half after training on the first, and vice versa.
    n_train : int
        Rows of a half.
    remarks : tuple of str
    """

    means: PairsOfMeans
    n_train: Size
    remarks: Remarks = ()

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return int(np.size(self.means))


@dataclass(frozen=True, eq=False)
class TestSetLosses(Recorded):
    """Losses of one classifier on a test set.

    Attributes
    ----------
    losses : ndarray, shape (n_tested,)
    n_train : int
        Rows that the classifier was fitted to.
    estimand : {"holdout-model", "conditional"}
        "conditional" if the classifier is the given one and the test set is new, "holdout-model" if it was fitted to
        the rest of the training set.
    remarks : tuple of str
    event : ndarray of bool, shape (n_tested,), or None
        Which of the tested rows are events; None if this was not recorded, or there are more than two classes.
    class_numbers : ndarray of int, shape (n_tested,), or None
        The class of each tested row, for more than two classes.
    effective_rows : float
        Effective sample size: number of equally weighted rows with the same information; nan if it is the number of
        rows.
    weighed : bool, default=False
        Whether the losses include row weights, so only their mean is in [0, 1].
    scores, probabilities : ndarray of float, shape (n_tested,), or None
        Scores or probabilities of the event. Kept if a metric uses them.
    """

    __test__ = False  # the name is not a test for pytest

    losses: RowLosses
    n_train: Size
    estimand: str = "holdout-model"
    remarks: Remarks = ()
    event: FlagsIfRecorded = None
    effective_rows: NumberOrNan = np.nan
    weighed: Flag = False
    scores: RowScoresIfRecorded = None
    probabilities: RowScoresIfRecorded = None
    class_numbers: ClassNumbersIfRecorded = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.event is not None:
            check_same("shape", losses=self.losses, event=self.event)
        if self.estimand not in ("holdout-model", "conditional"):
            raise ParameterError("estimand", "'holdout-model' or 'conditional'", self.estimand)

    @property
    def n_effective(self) -> float:
        """Number of equally weighted rows: by default the number of tested rows."""
        return float(np.size(self.losses)) if np.isnan(self.effective_rows) else self.effective_rows

    def events_of(self, event_class: int | None = None) -> NDArray[np.bool_] | None:
        """Return which rows are events, or belong to one of more than two classes; None if unknown."""
        if self.class_numbers is None or event_class is None:
            return self.event
        return np.asarray(self.class_numbers == event_class)

    def rows_of(self, event_class: int | None = None) -> TestedRows:
        """Return what is known of the tested rows; `event_class` is that of a metric of one of several classes."""
        classes = self.event if self.class_numbers is None else self.class_numbers
        tested = TestedRows.of(np.size(self.losses), self.events_of(event_class), self.estimand)
        if classes is None:
            return tested
        return replace(tested, majority_error=1.0 - float(np.bincount(classes).max()) / tested.n)

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return 0 if self.estimand == "conditional" else 1
