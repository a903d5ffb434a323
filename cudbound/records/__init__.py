"""Recorded losses: the input of every method, from any software.

A loss is 0 or 1 (the classifier is right or wrong) or, if two learning algorithms are compared on matched splits, the
loss of the first minus that of the second: -1, 0 or 1. Results of other software can be put into these classes by
hand; they accept lists and arrays and check them, by the rules in `cudbound.records.rules`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from cudbound.basis.groups import Groups
from cudbound.records.bootstrap_losses import (
    BootstrapLosses,
    BoundaryDeviations,
    InnerErrors,
    RemovedCaseErrors,
)
from cudbound.records.design import Design
from cudbound.records.fold_losses import FoldLosses, NestedLosses, RepeatedFoldLosses, ReplacementErrors
from cudbound.records.rules import (
    Flag,
    Flags,
    Means,
    NumberOrNan,
    Recorded,
    Remarks,
    RowLossesIfRecorded,
    RowScoresIfRecorded,
    Share,
    check_same,
)
from cudbound.records.scores import BootstrapScores, FoldScores, ScoreRecords, TestSetScores
from cudbound.records.split_losses import (
    HalfFoldLosses,
    HalfSplitLosses,
    HalvingLosses,
    ReplicateLosses,
    SplitLosses,
    TestSetLosses,
)
from cudbound.records.tuned_losses import TunedLosses
from cudbound.records.words import WORDS, missing_record

__all__ = [
    "BolsteredLosses",
    "BootstrapLosses",
    "BootstrapScores",
    "BoundaryDeviations",
    "Design",
    "FoldLosses",
    "FoldScores",
    "Groups",
    "HalfFoldLosses",
    "HalfSplitLosses",
    "HalvingLosses",
    "InnerErrors",
    "NestedLosses",
    "Records",
    "RemovedCaseErrors",
    "RepeatedFoldLosses",
    "ReplacementErrors",
    "ReplicateLosses",
    "ScoreRecords",
    "SplitLosses",
    "TestSetLosses",
    "TestSetScores",
    "TunedLosses",
]


@dataclass(frozen=True, eq=False)
class BolsteredLosses(Recorded):
    """Share of a kernel around each training point that the fitted classifier misclassifies.

    Attributes
    ----------
    losses : ndarray of float, shape (n_samples,)
        In [0, 1].
    wrong : ndarray of bool, shape (n_samples,)
        Whether the point itself is misclassified.
    remarks : tuple of str
    """

    losses: Means
    wrong: Flags
    remarks: Remarks = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_same("shape", losses=self.losses, wrong=self.wrong)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set."""
        return int(np.size(self.losses))

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return 0


@dataclass(frozen=True, eq=False)
class Records(Recorded):
    """The records of one training set, the only input of the methods.

    An attribute that was not recorded is None, or nan for a single number.

    Attributes
    ----------
    losses : ndarray, shape (n_samples,) or None
        Losses on the training set of the classifier fitted to all of it.
    predicted_positive : float
        Share of the training set that this classifier predicts as positive; nan if it was not recorded.
    positive : float
        Share of the training set that is positive; nan if it was not recorded.
    chance_losses : ndarray of float, shape (n_samples,), or None
        Mean loss of each row if its prediction were that of another row, for more than two classes.
    no_information : float
        Mean loss if labels and predictions were independent; nan means that it follows from the two shares.
    effective_rows : float
        Effective sample size: number of equally weighted, independent rows with the same information; nan if it is the
        number of rows.
    square_ratio : float
        Mean square of the out-of-bag losses over their mean; 1 if losses are 0 and 1, nan if unknown.
    bootstrap : BootstrapLosses
    inner : InnerErrors
        None also means the out-of-bag variant of the bootstrap intervals, which needs no inner draws.
    folds : FoldLosses
    repeated_folds : RepeatedFoldLosses
    leave_one_out : FoldLosses
        Every fold is one row.
    test_set : TestSetLosses
    second_test_set : TestSetLosses
        Test losses of a second classifier on its own test set, for comparisons.
    splits : SplitLosses
    half_splits : HalfSplitLosses
    half_folds : HalfFoldLosses
    replicates : ReplicateLosses
    halvings : HalvingLosses
    nested : NestedLosses
    removed_cases : RemovedCaseErrors
    replacements : ReplacementErrors
    boundary : BoundaryDeviations
    tuned : TunedLosses
        Losses of the configurations that a search tried.
    design : Design
        The matrix that reached the classifier.
    stratified_folds : RepeatedFoldLosses
        With the classes of the whole training set in every fold.
    bolstered : BolsteredLosses
    groups : Groups
        Groups of rows that were drawn and left out together; None without groups.
    bound : object
        The `cudbound.bound.cud_bound.CudBound` on the same draws.
    own_intervals : mapping
        Estimate and limits by user-defined methods, by name; an exception if one failed.
    weighed : bool, default=False
        Whether `losses` include row weights, so only their mean is in [0, 1].
    scores, probabilities : ndarray of float, shape (n_samples,), or None
        Scores or probabilities of the event, from the classifier fitted to all rows; kept if a metric uses them.
    kind : {"classes", "probabilities"}, default="classes"
        Whether losses indicate misclassified rows, or are squared errors of probabilities.

    Raises
    ------
    ValueError
        If two of them belong to training sets of different sizes, or to different numbers of draws.
    """

    losses: RowLossesIfRecorded = None
    predicted_positive: Share = np.nan
    positive: Share = np.nan
    chance_losses: RowScoresIfRecorded = None
    no_information: Share = np.nan
    effective_rows: NumberOrNan = np.nan
    square_ratio: Share = np.nan
    bootstrap: BootstrapLosses | None = None
    inner: InnerErrors | None = None
    folds: FoldLosses | None = None
    repeated_folds: RepeatedFoldLosses | None = None
    leave_one_out: FoldLosses | None = None
    test_set: TestSetLosses | None = None
    second_test_set: TestSetLosses | None = None
    splits: SplitLosses | None = None
    half_splits: HalfSplitLosses | None = None
    half_folds: HalfFoldLosses | None = None
    replicates: ReplicateLosses | None = None
    halvings: HalvingLosses | None = None
    nested: NestedLosses | None = None
    removed_cases: RemovedCaseErrors | None = None
    replacements: ReplacementErrors | None = None
    boundary: BoundaryDeviations | None = None
    tuned: TunedLosses | None = None
    design: Design | None = None
    stratified_folds: RepeatedFoldLosses | None = None
    bolstered: BolsteredLosses | None = None
    groups: Groups | None = None
    bound: Any = field(default=None, repr=False)
    own_intervals: Any = field(default=None, repr=False)
    weighed: Flag = False
    scores: RowScoresIfRecorded = None
    probabilities: RowScoresIfRecorded = None
    kind: str = "classes"

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = self._sizes
        if len(set(sizes.values())) > 1:
            found = ", ".join(f"{WORDS[name][1]} of {size} rows" for name, size in sizes.items())
            raise ValueError(f"All records must be of one training set. Got {found}; omit those of others.")
        if self.bootstrap is not None and self.inner is not None:
            check_same("length", bootstrap=self.bootstrap.counts, inner=self.inner.errors)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set.

        Raises
        ------
        ValueError
            If no record has it.
        """
        for size in self._sizes.values():
            return size
        raise ValueError("The number of training rows is unknown: pass the losses on the training set.")

    @property
    def n_effective(self) -> float:
        """Number of independent, equally weighted rows: by default that of the training set."""
        return float(self.n_samples) if np.isnan(self.effective_rows) else self.effective_rows

    @property
    def _sizes(self) -> dict[str, int]:
        """Number of rows of the training set by each record that has it."""
        sizes = {} if self.losses is None else {"losses": int(np.size(self.losses))}
        records = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "losses"}
        return sizes | {
            name: record.n_samples for name, record in records.items() if hasattr(record, "n_samples")
        }

    def require(self, need: str) -> Any:
        """Return one record.

        Raises
        ------
        ValueError
            If it is None.
        """
        record = getattr(self, need)
        if record is None:
            raise missing_record("This method", need, self.kind)
        return record
