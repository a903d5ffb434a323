"""What is known before anything is recorded, and all records of a call: for all targets, a family of them, or one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from cudbound.adapters.parts import RecordedOutputs, splits_rows
from cudbound.basis.calls import bar_of_refits
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import Needs, RecordKind
from cudbound.basis.sample import Sample, predicted_labels
from cudbound.basis.validation import check_inner
from cudbound.bound.cud_bound import Bound
from cudbound.metrics.metric import MetricRows
from cudbound.metrics.views import records_for
from cudbound.problem.problem import AdditiveModel
from cudbound.records import Records, TestSetLosses, no_information_error
from cudbound.resampling.bootstrap import USABLE_DRAWS
from cudbound.resampling.failed_refits import Failures, naming_the_step
from cudbound.resampling.refits import Refits, refits_of
from cudbound.resampling.settings import RefitContext, Resampling, Streams, has_one_class
from cudbound.resampling.splits import Splits, make_splits
from cudbound.solve.search import Search

#: Records by name, and what recorders share, such as the draws for refits.
RecordsByName = dict[str, Any]
#: Why records could not be made.
Errors = dict[RecordKind[Any], Exception]
Counts = NDArray[np.int32]
#: Inner draws per draw if refits are made in batches.
INNER_DRAWS = 50


@dataclass(eq=False, kw_only=True)
class RecordingInputs:
    """Everything known before anything is recorded.

    Attributes
    ----------
    sample : Sample
        With its fitted classifier; for a comparison that of one of the two.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The bootstrap draws. The bound uses every one.
    streams : mapping of str to numpy.random.Generator
        Of the whole call.
    given_refits : Refits or None
        The refits to record, such as differences between two classifiers; None for the classifier itself.
    refits_of_each : (Refits, Refits) or None
        The refits of the two classifiers whose differences are recorded.
    resampling : Resampling
        With the number and test share of the caller's splits.
    inner_by_default : bool
        Whether inner draws are made by default if refits are made in batches.
    splits : Splits or None
        The caller's splits, or folds of whole groups; records that they can fill are not drawn.
    test_set : (array-like, ndarray) or None
        New cases.
    test_remarks : tuple of str
        A remark if some of these are training rows.
    model : AdditiveModel or None
    bound : Bound
    search : Search
        How far the draws of the bound are solved.
    user_functions : mapping of str to callable
        User-defined methods, which fit by themselves, by name.
    scoring : RecordedOutputs
        The outputs kept for each row in addition to its loss.
    n_jobs : int
    advance : callable
        Called with the number of fits after each piece of work; set by the progress bar of the records.
    """

    sample: Sample
    counts: Counts
    streams: Streams
    given_refits: Refits | None = None
    refits_of_each: tuple[Refits, Refits] | None = None
    resampling: Resampling = field(default_factory=Resampling)
    inner_by_default: bool = True
    splits: Splits | None = None
    test_set: tuple[Any, NDArray[Any]] | None = None
    test_remarks: tuple[str, ...] = ()
    model: AdditiveModel | None = None
    bound: Bound = field(default_factory=Bound)
    search: Search = field(default_factory=Search)
    user_functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    scoring: RecordedOutputs = field(default_factory=RecordedOutputs)
    n_jobs: int = 1
    advance: Callable[[int], object] = lambda _: None
    _contexts: dict[str, RefitContext] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls, sample: Sample, needs: Needs, streams: Streams, resampling: Resampling, **further: Any
    ) -> RecordingInputs:
        """Return what is known; `needs` determine whether there are folds of whole groups.

        Variances from halves or replicates of the data are for a mean over the same number and size of splits as the
        caller's.
        """
        cv, groups = resampling.cv, sample.groups
        if (
            cv is None
            and groups is not None
            and any(kind.filled_by and not kind.keeps_groups for kind in needs)
        ):
            cv = GroupKFold(min(resampling.n_folds, groups.n_groups))
        splits = None
        if cv is not None:
            rng = streams["cv"].spawn(1)[0]
            splits = make_splits(cv, sample.X, sample.y, sample.names_of_groups, rng)
            n_splits, test_fraction = max(2, len(splits.test)), float(splits.test.mean())
            resampling = replace(resampling, n_splits=n_splits, test_fraction=test_fraction)
        return cls(sample=sample, streams=streams, resampling=resampling, splits=splits, **further)

    @cached_property
    def refits(self) -> Refits:
        """How the classifier is refitted; raises an error if it, or the treatment of copies, allows no refits."""
        if self.given_refits is not None:
            return self.given_refits
        inner = self.resampling.inner
        if inner not in (None, "oob") and not self.copies:
            rule = "'oob' or None for a classifier that is refitted without copies of rows"
            raise ParameterError("inner", rule, inner, " To refit it with copies, pass copies=True as well.")
        return refits_of(self.sample, self.n_jobs, self.scoring)

    @cached_property
    def n_inner(self) -> int | None:
        """Inner draws per draw; None for the out-of-bag variant, which redraws draws that leave no row out."""
        if self.resampling.inner is not None:
            return check_inner(self.resampling.inner)
        return INNER_DRAWS if self.inner_by_default and self.copies and self.refits.batched else None

    @cached_property
    def copies(self) -> bool:
        """Whether a classifier is refitted to a draw with all copies of its rows, or to each of its rows once."""
        if self.resampling.copies is not None:
            return self.resampling.copies
        return not splits_rows(self.sample.estimator)

    def fills(self, kind: RecordKind[Any]) -> bool:
        """Whether the splits fill a record; folds made for groups leave alone those that keep groups themselves."""
        if self.splits is None or kind.filled_by is None or not kind.filled_by(self.splits):
            return False
        return self.resampling.cv is not None or not kind.keeps_groups

    @property
    def n_units(self) -> int:
        """Rows, or groups of rows, that are drawn and left out together."""
        groups = self.sample.groups
        return self.sample.n_samples if groups is None else groups.n_groups

    def context(self, kind: RecordKind[Any]) -> RefitContext:
        """Return the refits of a record, with their random numbers."""
        if kind.name not in self._contexts:
            draws, seeds = self.streams[kind.name].spawn(2)
            errors: Failures | None = {} if kind.some_fail else None
            refit = partial(
                self.refits.outputs,
                rng=seeds,
                advance=self.advance,
                failed=errors,
                scored=kind.scored and bool(self.scoring.kinds),
                each="draw" if kind.of_draws else "split",
            )
            policy: Any = self.resampling.on_single_class or ("fit" if self.refits.batched else "redraw")
            self._contexts[kind.name] = RefitContext(
                refit, self.sample.labels, self.resampling, policy, draws, self.sample.groups, errors
            )
        return self._contexts[kind.name]


def in_order(needs: Needs) -> tuple[RecordKind[Any], ...]:
    """Return the kinds that are made for all targets at once, after those that they need first."""
    kinds: dict[RecordKind[Any], None] = {}
    for kind in sorted(needs):
        if kind.per == "call" and (kind.refit or kind.record):
            kinds |= dict.fromkeys((*in_order(set(kind.after)), kind))
    return tuple(kinds)


def count_refits(needs: Needs, inputs: RecordingInputs) -> int:
    """Count the refits behind all records of a run; exact unless draws are redrawn."""
    n_fits, drawn = 0, needs
    if inputs.splits is not None:
        drawn = {kind for kind in needs if not inputs.fills(kind)}
        n_fits = len(inputs.splits.test) if drawn != needs else 0
    return n_fits + sum(kind.n_fits(inputs) for kind in in_order(drawn) if kind.n_fits)


@contextmanager
def collecting_failures(failed: Errors | None, *kinds: RecordKind[Any]) -> Iterator[None]:
    """Store in `failed` why records could not be made, so that others can still be made; None raises.

    A warning that the caller turned into an error always raises.
    """
    try:
        yield
    except Warning:
        raise
    except Exception as error:
        if failed is None:
            raise
        failed |= dict.fromkeys(kinds, error)


def make_records(
    needs: Needs, inputs: RecordingInputs, existing: RecordsByName | None = None, failed: Errors | None = None
) -> RecordsByName:
    """Make the records for all targets of a call, each once.

    A record does not depend on which others are made: each has its own random numbers.

    Parameters
    ----------
    needs : set of RecordKind
        Those that the caller's splits can fill are made from these.
    inputs : RecordingInputs
    existing : mapping, default=None
        Existing records, by name.
    failed : dict, default=None
        Filled with the exceptions of records that could not be made, because the estimator cannot be fitted to such
        training sets or there are too few rows; None raises the first exception.

    Returns
    -------
    dict
        Records by name, including the given ones.
    """
    records: RecordsByName = dict(existing or {})
    wanted = {kind for kind in needs if kind.name not in records}
    filled = [] if inputs.splits is None else sorted(filter(inputs.fills, wanted))
    if filled:
        with collecting_failures(failed, *filled):
            records |= _record_splits(inputs, filled)
    for kind in in_order(wanted.difference(filled)):
        if kind.name not in records:
            with collecting_failures(failed, kind):
                for earlier in kind.after:
                    if failed and earlier in failed:
                        raise failed[earlier]
                if kind.refit is not None:
                    records[kind.name] = kind.refit(inputs.context(kind))
                elif kind.record is not None:
                    records[kind.name] = kind.record(inputs, records)
    records.pop(USABLE_DRAWS.name, None)
    if failed:
        failed.pop(USABLE_DRAWS, None)
    return records


def _record_splits(inputs: RecordingInputs, kinds: Sequence[RecordKind[Any]]) -> RecordsByName:
    """Fit each of the caller's splits once, as it is, and fill these records."""
    assert inputs.splits is not None
    training = inputs.splits.training.astype(np.int32)
    n_one_class = int(has_one_class(training, inputs.sample.labels).sum())
    remarks = (f"{n_one_class} single-class training sets of cv fitted as drawn",) if n_one_class else ()
    rng, scored = inputs.streams["cv"].spawn(1)[0], bool(inputs.scoring.kinds)
    outputs = inputs.refits.outputs(training, rng, inputs.advance, scored=scored)
    return {
        kind.name: kind.from_splits(inputs.splits, outputs, remarks) for kind in kinds if kind.from_splits
    }


def given_records(inputs: RecordingInputs) -> RecordsByName:
    """Return the losses of a fitted classifier on its training set and on new cases, if any."""
    sample, estimator = inputs.sample, inputs.sample.estimator
    predicted, two = sample.predicted, len(sample.classes) == 2
    records: RecordsByName = {
        "losses": np.asarray(predicted != sample.y),
        "groups": sample.groups,
    }
    if two:
        shares = (sample.labels > 0.0).mean(), (predicted == sample.classes[1]).mean()
        records["no_information"] = float(no_information_error(*shares))
    else:
        # of each row, with the predictions of all rows in its place, weighted like the rows
        weights = np.ones(sample.n_samples) if sample.sample_weight is None else sample.sample_weight
        called = (np.asarray(predicted)[:, None] == sample.classes).T @ weights / weights.sum()
        records["chance_losses"] = np.asarray(1.0 - called[sample.labels.astype(int)])
        records["no_information"] = float(records["chance_losses"].mean())
    if inputs.scoring.kinds:
        records |= inputs.scoring.of(estimator, sample.X)
        records["event"] = sample.events
    if inputs.test_set is not None:
        X_test, y_test = inputs.test_set
        with naming_the_step(estimator, "the classifier on the new cases"):
            wrong = np.asarray(predicted_labels(estimator, X_test, sample.classes) != y_test)
        number = (np.asarray(y_test)[:, None] == sample.classes).argmax(axis=1)
        records["test_set"] = TestSetLosses(
            wrong,
            sample.n_samples,
            estimand="conditional",
            event=number == inputs.scoring.event_class if two else None,
            class_numbers=None if two else number,
            remarks=inputs.test_remarks,
            **inputs.scoring.of(estimator, X_test),
        )
    return records


def record_targets(
    needs: Needs, inputs: RecordingInputs, facts: RecordsByName, targets: Sequence[MetricRows], failed: Errors
) -> tuple[Records, tuple[tuple[MetricRows, Records], ...]]:
    """Make all records of a call, those that do not depend on a target under one progress bar.

    Parameters
    ----------
    needs : set of RecordKind
    inputs : RecordingInputs
    facts : mapping
        Facts about the classifier, such as its design, by name.
    targets : sequence of MetricRows
    failed : dict
        Filled with the errors of missing records.

    Returns
    -------
    records : Records
        For the plain losses.
    records_of_targets : list of Records
        As each target uses them, with the records made for it, and for its family.
    """
    # new cases that cannot be predicted and refits that cannot be made are refused before the bound is searched
    existing = given_records(inputs) | facts
    missing = {kind for kind in needs if kind.name not in existing}
    if any(kind.n_fits and not kind.of_search for kind in missing):
        inputs = replace(inputs, given_refits=inputs.refits)
    of_families: dict[tuple[RecordKind[Any], Any], Any] = {}
    beyond_call = sorted(kind for kind in needs if kind.per != "call")
    for kind in (kind for kind in beyond_call if kind.per == "family"):
        with collecting_failures(failed, kind):
            for target in {target.cud_metrics: target for target in targets if target.cud_metrics}.values():
                if inputs.model is not None and kind.record is not None:
                    of_families[kind, target.cud_metrics] = kind.record(inputs, target)
    with bar_of_refits(count_refits(missing, inputs)) as advance:
        records = Records.of(**make_records(missing, replace(inputs, advance=advance), existing, failed))
    of_targets = []
    for target in targets:
        of_target = records if target.plain else records_for(target, records)
        for kind in beyond_call if of_target.kind == "classes" else ():
            if (kind, target.cud_metrics) in of_families:
                record = of_families[kind, target.cud_metrics][target.cud_metrics.index(target.metric)]
                of_target = of_target.with_record(kind, record)
            elif kind.per == "target" and kind.record is not None:
                of_target = of_target.with_record(kind, kind.record(inputs, target, of_target))
        of_targets.append((target, of_target))
    return records, tuple(of_targets)
