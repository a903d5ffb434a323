"""The records of one training set: the only input of the methods, and the checks that all methods share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar

import numpy as np

from cudbound.basis.groups import Groups
from cudbound.basis.method_card import MethodCard, Needs, RecordKind
from cudbound.basis.results import PointOutcome, TestedRows
from cudbound.records import rules
from cudbound.records.losses import (
    BootstrapLosses,
    Design,
    FoldLosses,
    HalvingLosses,
    InnerErrors,
    RepeatedFoldLosses,
    SplitLosses,
    TestSetLosses,
    never_out_of_bag,
)

R = TypeVar("R")

LOSSES = RecordKind(
    "losses",
    holds=np.ndarray,
    words="losses of the training rows",
    holder="Records(losses=...)",
    resamples=False,
    of_every_metric=True,
)
SCORES = RecordKind(
    "scores", holds=np.ndarray, words="scores of the training rows", holder="Records(scores=...)"
)
DESIGN = RecordKind(
    "design", holds=Design, words="the rank of the design", of_every_metric=True, optional=True
)


@dataclass(frozen=True, eq=False)
class Records(rules.Recorded):
    """The records of one training set, the only input of the methods.

    An attribute that was not recorded is None, or nan for a single number.

    Attributes
    ----------
    losses : ndarray, shape (n_samples,) or None
        Losses on the training set of the classifier fitted to all of it.
    no_information : float
        Mean loss if labels and predictions were independent, see `no_information_error`; the .632+ estimate needs it.
    chance_losses : ndarray of float, shape (n_samples,), or None
        Mean loss of each row if its prediction were that of another row, for more than two classes.
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
    halvings : HalvingLosses
    design : Design
        The matrix that reached the classifier.
    stratified_folds : RepeatedFoldLosses
        With the classes of the whole training set in every fold.
    groups : Groups
        Groups of rows that were drawn and left out together; None without groups.
    weighed : bool, default=False
        Whether `losses` include row weights, so only their mean is in [0, 1].
    event : ndarray of bool, shape (n_samples,), or None
        Which training rows are events, for scores and probabilities.
    scores, probabilities : ndarray of float, shape (n_samples,), or None
        Scores (larger ones favor the event) or probabilities of the event, from the classifier fitted to all rows; kept
        if a metric uses them.
    kind : {"classes", "scores", "probabilities"}, default="classes"
        What methods read: losses that indicate misclassified rows; scores; or losses that are squared errors of
        probabilities.
    of_methods : mapping of str to object
        Records that only one method reads, by the names of their kinds.

    Raises
    ------
    ValueError
        If two of them belong to training sets of different sizes, or to different numbers of draws.
    """

    losses: rules.RowLosses = None
    no_information: rules.Share = np.nan
    chance_losses: rules.RowScores = None
    effective_rows: rules.NumberOrNan = np.nan
    square_ratio: rules.Share = np.nan
    bootstrap: BootstrapLosses | None = None
    inner: InnerErrors | None = None
    folds: FoldLosses | None = None
    repeated_folds: RepeatedFoldLosses | None = None
    leave_one_out: FoldLosses | None = None
    test_set: TestSetLosses | None = None
    second_test_set: TestSetLosses | None = None
    splits: SplitLosses | None = None
    halvings: HalvingLosses | None = None
    design: Design | None = None
    stratified_folds: RepeatedFoldLosses | None = None
    groups: Groups | None = None
    weighed: rules.Flag = False
    event: rules.Flags | Any = None
    scores: rules.RowScores = None
    probabilities: rules.RowProbabilities = None
    kind: Literal["classes", "scores", "probabilities"] = "classes"
    of_methods: Mapping[str, Any] = field(default_factory=dict, repr=False)
    _n_samples: int | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bootstrap is not None and self.inner is not None:
            rules.check_same("length", bootstrap=self.bootstrap.counts, inner=self.inner.errors)
        arrays = {name: getattr(self, name) for name in ("event", "losses", "scores", "probabilities")}
        sizes = [(name, int(np.size(array))) for name, array in arrays.items() if array is not None]
        records = (*vars(self).values(), *self.of_methods.values())
        sizes += [
            (type(record).__name__, record.n_samples) for record in records if hasattr(record, "n_samples")
        ]
        if len({size for _, size in sizes}) > 1:
            each = ", ".join(f"{name} of {size} rows" for name, size in sizes)
            raise ValueError(f"All records must be of one training set. Got {each}; omit those of others.")
        object.__setattr__(self, "_n_samples", sizes[0][1] if sizes else None)

    @classmethod
    def of(cls, **records: Any) -> Records:
        """Return records by name: fields, and the records of single methods."""
        names = {entry.name for entry in fields(cls)}
        of_methods = {name: record for name, record in records.items() if name not in names}
        return cls(**{name: records[name] for name in names & records.keys()}, of_methods=of_methods)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set.

        Raises
        ------
        ValueError
            If no record has it.
        """
        if self._n_samples is None:
            raise ValueError("The number of training rows is unknown: pass the losses on the training set.")
        return self._n_samples

    @property
    def n_effective(self) -> float:
        """Number of independent, equally weighted rows: by default that of the training set."""
        return float(self.n_samples) if np.isnan(self.effective_rows) else self.effective_rows

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

    def get(self, kind: RecordKind[R]) -> R | None:
        """Return one record, or None if it was not recorded."""
        record: R | None = getattr(self, kind.name, None)
        return self.of_methods.get(kind.name) if record is None else record

    def require(self, kind: RecordKind[R]) -> R:
        """Return one record.

        Raises
        ------
        ValueError
            If it was not recorded.
        """
        record = self.get(kind)
        if record is None:
            raise kind.missing("This method")
        return record

    def with_record(self, kind: RecordKind[Any], record: Any) -> Records:
        """Return the same records with one more that only one method reads."""
        return replace(self, of_methods={**self.of_methods, kind.name: record})


def check_records(method: MethodCard, records: Records, needs: Needs, *, of_one: bool = False) -> None:
    """Raise ValueError if a record that a method needs is missing, except optional ones, or lacks what it reads.

    A method for the error `of_one` classifier reads no differences of two losses.
    """
    output = "scores" if records.kind == "scores" else "losses"
    for kind in sorted(needs):
        record = records.get(kind)
        parts = getattr(record, "partitions", (record,))
        if not kind.optional and any(getattr(part, output, part) is None for part in parts):
            raise kind.missing(method.name, "" if record is None else output)
        parts = (records,) if kind is LOSSES else parts
        if of_one and any(getattr(part, "of_differences", False) for part in parts):
            raise ValueError(
                f"{method.name} reads the losses of one classifier, which are in [0, 1]. Got negative values in "
                f"{kind.title}, as in differences; compare two classifiers with from_records(..., differences=True)."
            )


def count_fits(records: Records, needs: Needs) -> int:
    """Count the classifier fits behind a method, including the one on the whole training set."""
    return 1 + sum(getattr(records.get(kind), "n_fits", 0) for kind in needs)


def fields_of_row(
    method: MethodCard, records: Records, needs: Needs, options: Mapping[str, Any], outcome: PointOutcome
) -> dict[str, Any]:
    """Return the fields that every row takes from the method and the records."""
    names = {kind.name for kind in needs}
    tested: TestedRows | None = None
    if "test_set" in names and records.test_set is not None:
        tested = replace(records.test_set.rows_of(), pooled=not method.on_test_set)
    if tested is not None and "second_test_set" in names and (second := records.second_test_set) is not None:
        tested = replace(tested, n=tested.n + second.rows_of().n, n_events=None)
    # on tested rows of known classes, resampled training sets, and groups of rows
    remarks = [] if tested is None or tested.n_events is None else [tested.remark]
    if "bootstrap" in names and records.bootstrap is not None:
        remarks += records.bootstrap.remarks
        if never := never_out_of_bag(records.bootstrap.counts):
            remarks.append(f"{never} points never out of bag")
    for kind in sorted(needs):
        if kind.name != "bootstrap" and kind.per != "family":
            remarks += getattr(records.get(kind), "remarks", ())
    if records.groups is not None:
        if any(kind.resamples for kind in needs):
            remarks.append(f"{records.groups} kept together")
        if method.with_groups == "refits":
            remarks.append("limits as if the rows of a group were independent")
    return {
        "method": method.name,
        "estimand": outcome.estimand or method.estimand,
        "words": outcome.words or method.words(options, records.groups is not None),
        "remarks": (*remarks, *outcome.remarks),
        "tested": tested,
    }
