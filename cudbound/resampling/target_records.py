"""All records of a call: those for all targets, and those for a family of targets or a single target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.sample import Sample, predicted_labels
from cudbound.bound.cud_bound import CudBound
from cudbound.metrics.targets import Target
from cudbound.metrics.views import view
from cudbound.records import Records, ScoreRecords, TestSetLosses
from cudbound.resampling.failed_refits import naming_the_step
from cudbound.resampling.progress import progress_bar
from cudbound.resampling.recorders import (
    RECORDERS,
    Made,
    count_fits_of,
    kept_going,
    make_records,
    refits_for,
    what_helps,
)
from cudbound.resampling.recording import Recording


def given_records(recording: Recording) -> Made:
    """Return the losses of a fitted classifier on its training set and on new cases, if any."""
    sample, estimator = recording.sample, recording.estimator
    predicted, two = sample.predicted_by(estimator), len(sample.classes) == 2
    shares: Made = {
        "predicted_positive": float((predicted == sample.classes[1]).mean()),
        "positive": float((sample.labels > 0.0).mean()),
    }
    made: Made = {
        "losses": np.asarray(predicted != sample.y),
        **(shares if two else {"chance_losses": _chance_losses(predicted, sample)}),
        "groups": sample.groups,
        **recording.scoring.of(estimator, sample.X),
    }
    if recording.test_set is not None:
        X_test, y_test = recording.test_set
        with naming_the_step(estimator, "the classifier on the cases of test_set"):
            wrong = np.asarray(predicted_labels(estimator, X_test, sample.classes) != y_test)
        number = (np.asarray(y_test)[:, None] == sample.classes).argmax(axis=1)
        made["test_set"] = TestSetLosses(
            wrong,
            sample.n_samples,
            estimand="conditional",
            event=number == recording.scoring.event_class if two else None,
            class_numbers=None if two else number,
            remarks=recording.test_remarks,
            **recording.scoring.of(estimator, X_test),
        )
    return made


def _chance_losses(predicted: Any, sample: Sample) -> NDArray[np.float64]:
    """Return the mean loss of each row with the predictions of all rows in its place, weighted like the rows."""
    weights = np.ones(sample.n_samples) if sample.sample_weight is None else sample.sample_weight
    called = (np.asarray(predicted)[:, None] == sample.classes).T @ weights / weights.sum()
    return np.asarray(1.0 - called[sample.labels.astype(int)])


def record_call(
    needs: frozenset[str], recording: Recording, given: Made, failed: dict[str, Exception]
) -> Records:
    """Make the records that do not depend on a target, under one progress bar.

    Parameters
    ----------
    needs : frozenset of str
    recording : Recording
    given : mapping
        From `given_records`, and other known facts about the classifier, such as its design.
    failed : dict
        Filled with the errors of missing records.

    Raises
    ------
    ValueError
        If the classifier cannot be refitted.
    """
    needs -= given.keys()
    if refits_for(needs, recording.fills):
        recording = replace(recording, given_refits=recording.refits)
    helps = what_helps(needs, recording)
    with progress_bar(count_fits_of(needs, recording), helps) as advance:
        return Records(**make_records(needs, replace(recording, advance=advance), given, failed))


def record_targets(
    needs: frozenset[str],
    recording: Recording,
    known: Made,
    targets: Sequence[Target],
    failed: dict[str, Exception],
) -> tuple[Records, list[Records | ScoreRecords], tuple[tuple[CudBound, ...], ...]]:
    """Make all records of a call; parameters as for `record_call`, with `known` in addition to the given records.

    Returns
    -------
    records : Records
        For the plain losses.
    seen : list of Records or ScoreRecords
        As each target uses them, with the records made for it.
    bounds : tuple of tuple of CudBound
        For each family of targets, if needed.
    """
    # first, since new cases that cannot be predicted are refused before the bound is searched
    given = given_records(recording) | known
    bounds: dict[Any, tuple[CudBound, ...]] = {}
    if "bound" in needs and recording.model is not None:
        with kept_going(failed, "bound"):
            for family in {target.bounded: target for target in targets if target.bounded}.values():
                bounds[family.bounded] = RECORDERS["bound"].record(recording, family)
    records = record_call(needs, recording, given, failed)
    seen = [_of_target(needs, recording, records, target, bounds) for target in targets]
    return records, seen, tuple(bounds.values())


def _of_target(
    needs: frozenset[str],
    recording: Recording,
    records: Records,
    target: Target,
    bounds: dict[Any, tuple[CudBound, ...]],
) -> Records | ScoreRecords:
    seen = view(records, target.rows)
    if isinstance(seen, ScoreRecords) or seen.kind != "classes":
        return seen
    if target.bounded in bounds:
        seen = replace(seen, bound=bounds[target.bounded][target.bounded.index(target.rows)])
    for name, recorder in RECORDERS.items():
        if recorder.per == "target" and name in needs:
            seen = replace(seen, **{name: recorder.record(recording, target, seen)})
    return seen
