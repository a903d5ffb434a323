"""Recorded scores and probabilities: the input of the methods for the AUC and the Brier score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.groups import Groups
from cudbound.basis.outcomes import TestedRows
from cudbound.basis.record_kind import RecordKind
from cudbound.basis.validation import Array
from cudbound.records.rules import (
    Counts,
    DrawScores,
    Flag,
    Flags,
    Recorded,
    Remarks,
    RowScores,
    RowScoresIfRecorded,
    Size,
    check_draws,
    check_same,
)


@dataclass(frozen=True, eq=False)
class BootstrapScores(Recorded):
    """Scores, on all training rows, of the classifiers fitted to bootstrap draws.

    Attributes
    ----------
    counts : ndarray of int, shape (n_resamples, n_samples)
        How often each row occurs in each draw. Draws of one class have no scores: omit them.
    scores : ndarray of float, shape (n_resamples, n_samples)
        Larger scores favor the event; B n numbers of 8 bytes, 1.6 MB for 1,000 draws of 200 rows.
    remarks : tuple of str
        The number of omitted draws, and other changes to draws.
    """

    counts: Counts
    scores: DrawScores
    remarks: Remarks = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_same("shape", counts=self.counts, scores=self.scores)
        check_draws(self.counts, uneven=True)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set."""
        return int(np.shape(self.counts)[1])

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return len(self.counts)


@dataclass(frozen=True, eq=False)
class FoldScores(Recorded):
    """Scores of the rows by the classifiers fitted without their folds, for one partition or several.

    Attributes
    ----------
    scores : ndarray of float, shape (n_repeats, n_samples)
        Larger scores favor the event; nan if the classifier was fitted to one class.
    fold : ndarray of int, shape (n_repeats, n_samples)
        Which fold the row belongs to, numbered from 0 in each partition.
    remarks : tuple of str
    """

    scores: DrawScores
    fold: Counts
    remarks: Remarks = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_same("shape", scores=self.scores, fold=self.fold)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set."""
        return int(np.shape(self.scores)[1])

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return int((self.fold.max(axis=1) + 1).sum())


@dataclass(frozen=True, eq=False)
class TestSetScores(Recorded):
    """Scores of one classifier on new cases.

    Attributes
    ----------
    event : ndarray of bool, shape (n_tested,)
    scores : ndarray of float, shape (n_tested,)
    n_train : int
        Rows that the classifier was fitted to.
    remarks : tuple of str
    estimand : {"conditional", "holdout-model"}
        As in `cudbound.records.TestSetLosses`.
    """

    __test__ = False  # the name is not a test for pytest

    event: Flags
    scores: RowScores
    n_train: Size
    remarks: Remarks = ()
    estimand: str = "conditional"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_same("shape", event=self.event, scores=self.scores)

    def rows_of(self) -> TestedRows:
        """Return what is known of the tested rows."""
        return TestedRows.of(self.event.size, self.event, self.estimand)

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return 0 if self.estimand == "conditional" else 1


_OF_FOLDS = ("folds", "repeated_folds", "stratified_folds")


@dataclass(frozen=True, eq=False)
class ScoreRecords(Recorded):
    """The recorded scores of one training set, the only input of the methods for the AUC.

    Attributes
    ----------
    event : ndarray of bool, shape (n_samples,)
        Which training rows are events.
    scores : ndarray of float, shape (n_samples,) or None
        Scores of the classifier fitted to all rows.
    bootstrap : BootstrapScores
    folds, repeated_folds : FoldScores
        Scores from one partition, and from several.
    test_set : TestSetScores
    groups : Groups
        Groups of rows that were drawn and left out together; None without groups.
    second : ScoreRecords
        The records of a second classifier on the same rows and draws, for the difference.
    probabilities : bool, default=False
        Whether the scores are probabilities of the event, for the Brier score.
    stratified_folds : FoldScores
        Scores from several partitions into stratified folds.

    Raises
    ------
    ValueError
        If two of them belong to training sets of different sizes, or probabilities are not in [0, 1].
    """

    event: Flags
    scores: RowScoresIfRecorded = None
    bootstrap: BootstrapScores | None = None
    folds: FoldScores | None = None
    repeated_folds: FoldScores | None = None
    test_set: TestSetScores | None = None
    groups: Groups | None = None
    second: ScoreRecords | None = None
    probabilities: Flag = False
    stratified_folds: FoldScores | None = None
    #: What the matrix of a classifier says is not read by methods of scores.
    design: Any = field(default=None, init=False, repr=False)

    #: What is recorded, for the methods that can read it.
    kind: ClassVar[str] = "scores"

    def __post_init__(self) -> None:
        super().__post_init__()
        records = {name: getattr(self, name) for name in ("scores", "bootstrap", *_OF_FOLDS, "groups")}
        sizes = {"event": self.event.size} | {
            name: int(np.size(record) if name == "scores" else record.n_samples)
            for name, record in records.items()
            if record is not None
        }
        if len(set(sizes.values())) > 1:
            raise ValueError(
                "All records must be of one training set. "
                f"Got {', '.join(f'{name} of {size} rows' for name, size in sizes.items())}; omit those of others."
            )
        if self.probabilities:
            for name in ("bootstrap", *_OF_FOLDS, "test_set"):
                _check_probabilities(name, None if records.get(name) is None else records[name].scores)
            _check_probabilities("scores", self.scores)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set."""
        return int(self.event.size)

    @property
    def n_events(self) -> int:
        """Number of events."""
        return int(self.event.sum())

    @property
    def n_fewer(self) -> int:
        """Number of rows of the rarer class or, with groups, of groups that have such a row."""
        if self.groups is None:
            return min(self.n_events, self.n_samples - self.n_events)
        codes = self.groups.codes
        return min(np.unique(codes[self.event]).size, np.unique(codes[~self.event]).size)

    def get(self, kind: RecordKind[Any]) -> Any:
        """Return one record, or None if it was not recorded."""
        return getattr(self, kind.name, None)

    def require(self, kind: RecordKind[Any]) -> Any:
        """Return one record; raise ValueError if it was not recorded."""
        record = self.get(kind)
        if record is None:
            raise kind.missing("This method", self.kind)
        return record


def _check_probabilities(name: str, values: Array | None) -> None:
    if values is not None and ((values < 0.0) | (values > 1.0)).any():
        raise ParameterError(
            name, "of probabilities in [0, 1]", float(values[(values < 0.0) | (values > 1.0)][0])
        )
