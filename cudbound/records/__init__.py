"""Recorded losses: what every method reads, no matter which software made the fits.

A loss is 0 or 1 (the classifier is right or wrong) or, where two learning algorithms are compared on matched splits,
the loss of the first minus that of the second: -1, 0 or 1. Results of other software can be put into these classes by
hand; they take lists and arrays and check them, by the rules in `cudbound.records.rules`.
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
    SignedSuprema,
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
    HalfSplitLosses,
    HalvingLosses,
    ReplicateLosses,
    SplitLosses,
    TestSetLosses,
)
from cudbound.records.tuned_losses import TunedLosses

__all__ = [
    "BolsteredLosses",
    "BootstrapLosses",
    "BootstrapScores",
    "BoundaryDeviations",
    "Design",
    "FoldLosses",
    "FoldScores",
    "Groups",
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
    "SignedSuprema",
    "SplitLosses",
    "TestSetLosses",
    "TestSetScores",
    "TunedLosses",
]


@dataclass(frozen=True, eq=False)
class BolsteredLosses(Recorded):
    """Share of a kernel around each training point that the fitted classifier gets wrong.

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
        """Rows of the training set."""
        return int(np.size(self.losses))

    @property
    def n_fits(self) -> int:
        """Classifier fits behind the record."""
        return 0


@dataclass(frozen=True, eq=False)
class Records(Recorded):
    """What has been recorded on one training set; the methods read it and nothing else.

    Each attribute is None where nothing was recorded, and a single number nan.

    Attributes
    ----------
    losses : ndarray, shape (n_samples,) or None
        Losses on the training set of the classifier fitted to all of it.
    predicted_positive : float
        Share of the training set that this classifier calls positive; nan if it was not recorded.
    positive : float
        Share of the training set that is positive; nan if it was not recorded.
    chance_losses : ndarray of float, shape (n_samples,), or None
        Mean loss of each row if its prediction were that of another row, where there are more than two classes.
    no_information : float
        Mean loss if labels and predictions were independent; nan leaves it to the two shares.
    effective_rows : float
        Number of equally weighted, independent rows that say as much as the losses do; nan if that is their number.
    square_ratio : float
        Mean square of the out-of-bag losses over their mean; 1 where losses are 0 and 1, nan if it is not known.
    bootstrap : BootstrapLosses
    inner : InnerErrors
        None also stands for the out-of-bag variant of the bootstrap intervals, which needs no inner draws.
    folds : FoldLosses
    repeated_folds : RepeatedFoldLosses
    leave_one_out : FoldLosses
        Every fold is one row.
    test_set : TestSetLosses
    second_test_set : TestSetLosses
        Of a second classifier on its own test set, for comparisons.
    splits : SplitLosses
    half_splits : HalfSplitLosses
    replicates : ReplicateLosses
    halvings : HalvingLosses
    nested : NestedLosses
    removed_cases : RemovedCaseErrors
    replacements : ReplacementErrors
    boundary : BoundaryDeviations
    tuned : TunedLosses
        Of the configurations that a search tried.
    signed_suprema : SignedSuprema
        None where the classifier has no CUD bound, or it caps nothing.
    why_not_capped : str
        Why there are no signed suprema, in a few words; empty where nothing is known of it.
    design : Design
        The matrix that reached the classifier.
    stratified_folds : RepeatedFoldLosses
        Where the rank of the design is nearly that of the rows.
    overfits : bool or None
        Whether the error of the classifier shows that it overfits, see `cudbound.point_estimates.two_centers.overfits`;
        None leaves it to these losses, which are then those of the error.
    averages_classes : bool, default=False
        Whether the losses of both classes are averaged by themselves.
    bolstered : BolsteredLosses
    groups : Groups
        Rows that were drawn and left out together; None where every row is by itself.
    bound : object
        The `cudbound.bound.cud_bound.CudBound` on the same draws.
    own_intervals : mapping
        Estimate and limits by methods of the user's own, by name; an exception where one failed.
    weighed : bool, default=False
        Whether rows have weights within `losses`, so that only their mean is in [0, 1].
    scores, probabilities : ndarray of float, shape (n_samples,), or None
        Of the event, by the classifier fitted to all rows; kept where a metric reads them.
    kind : {"classes", "probabilities"}, default="classes"
        Whether losses say which rows are misclassified, or are the squared errors of probabilities.

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
    replicates: ReplicateLosses | None = None
    halvings: HalvingLosses | None = None
    nested: NestedLosses | None = None
    removed_cases: RemovedCaseErrors | None = None
    replacements: ReplacementErrors | None = None
    boundary: BoundaryDeviations | None = None
    tuned: TunedLosses | None = None
    signed_suprema: SignedSuprema | None = None
    why_not_capped: str = ""
    design: Design | None = None
    stratified_folds: RepeatedFoldLosses | None = None
    overfits: bool | None = None
    averages_classes: Flag = False
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
            raise ValueError(
                "All records must be of one training set. "
                f"Got {', '.join(f'{name} of {size} rows' for name, size in sizes.items())}; leave out those of others."
            )
        if self.bootstrap is not None and self.inner is not None:
            check_same("length", bootstrap=self.bootstrap.counts, inner=self.inner.errors)

    @property
    def n_samples(self) -> int:
        """Rows of the training set.

        Raises
        ------
        ValueError
            If no record shows it.
        """
        for size in self._sizes.values():
            return size
        raise ValueError("The number of training rows is not known: pass the losses on the training set.")

    @property
    def n_effective(self) -> float:
        """Rows that count as independent and equally weighted: those of the training set unless stated otherwise."""
        return float(self.n_samples) if np.isnan(self.effective_rows) else self.effective_rows

    @property
    def _sizes(self) -> dict[str, int]:
        """Rows of the training set by each record that shows them."""
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
            raise ValueError(f"This method needs recorded '{need}', and the records have none.")
        return record
