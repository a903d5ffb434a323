"""Recorded scores and probabilities for the AUC and the Brier score, without draws and folds of one class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.validation import Array
from cudbound.metrics.metric import MetricRows
from cudbound.records import (
    BootstrapLosses,
    BootstrapScores,
    FoldLosses,
    FoldScores,
    Records,
    RepeatedFoldLosses,
    ScoreRecords,
    TestSetLosses,
    TestSetScores,
)


def score_view(records: Records, seen: MetricRows) -> ScoreRecords:
    """Return the scores or the probabilities that were kept with the losses of a training set.

    Parameters
    ----------
    records : Records
        With the outputs that `seen` uses.
    seen : MetricRows
    """
    return recorded_scores(records, seen.metric.reads, np.asarray(seen.event))


def recorded_scores(records: Records, kind: str, event: NDArray[np.bool_]) -> ScoreRecords:
    """Return the "scores" or the "probabilities" kept with the losses; `event` marks the rows that are events."""
    made: dict[str, Any] = {"event": event, "groups": records.groups, "scores": getattr(records, kind)}
    if records.bootstrap is not None:
        made["bootstrap"] = _of_draws(records.bootstrap, kind, event)
    if records.folds is not None:
        made["folds"] = _of_partitions([records.folds], kind, records.folds.remarks)
    for name in ("repeated_folds", "stratified_folds"):
        if (repeated := getattr(records, name)) is not None:
            made[name] = _of_partitions(repeated.partitions, kind, repeated.remarks)
    if records.test_set is not None:
        made["test_set"] = _of_test_set(records.test_set, kind)
    return ScoreRecords(**made, probabilities=kind == "probabilities")


def _of_draws(record: BootstrapLosses, kind: str, event: NDArray[np.bool_]) -> BootstrapScores | None:
    scores = getattr(record, kind)
    if scores is None:
        return None
    n_events, n_rows = record.counts @ event.astype(np.int64), record.counts.sum(axis=1)
    both = (n_events > 0) & (n_events < n_rows)
    n_lost = int((~both).sum())
    if n_lost == len(both):
        return None
    remarks = record.remarks
    if n_lost:
        # the losses of these draws are those of constant classifiers, which have no scores
        remarks = tuple(one for one in remarks if "single-class" not in one)
        remarks = (*remarks, f"{n_lost} of {len(both)} draws contain only one class and were omitted")
    return BootstrapScores(record.counts[both], scores[both], remarks)


def _of_partitions(parts: Sequence[FoldLosses], kind: str, remarks: tuple[str, ...]) -> FoldScores | None:
    found = [(getattr(one, kind), one.fold) for one in parts]
    if any(scores is None for scores, _ in found):
        return None
    scores, folds = (np.stack(values) for values in zip(*found, strict=True))
    return FoldScores(scores, folds, remarks)


def _of_test_set(record: TestSetLosses, kind: str) -> TestSetScores | None:
    scores = getattr(record, kind)
    if scores is None or record.event is None:
        return None
    return TestSetScores(record.event, scores, record.n_train, record.remarks, record.estimand)


def squared_errors(records: ScoreRecords) -> Records:
    """Return recorded probabilities as losses, the squared errors, whose mean is the Brier score.

    Examples
    --------
    >>> squared_errors(ScoreRecords([True, False], [0.5, 0.5], probabilities=True)).losses.tolist()
    [0.25, 0.25]
    """
    event = records.event
    made: dict[str, Any] = {"groups": records.groups, "kind": "probabilities"}
    if records.scores is not None:
        made |= {
            "losses": _errors(records.scores, event),
            "no_information": _no_information(records.scores, event),
        }
    if (bootstrap := records.bootstrap) is not None:
        losses = _errors(bootstrap.scores, event)
        made["bootstrap"] = BootstrapLosses(bootstrap.counts, losses, bootstrap.remarks, uneven=True)
    if records.folds is not None:
        made["folds"] = _folds(records.folds, event)[0]
    for name in ("repeated_folds", "stratified_folds"):
        if (repeated := getattr(records, name)) is not None:
            made[name] = RepeatedFoldLosses(tuple(_folds(repeated, event)), repeated.remarks)
    if (tested := records.test_set) is not None:
        losses = _errors(tested.scores, tested.event)
        made["test_set"] = TestSetLosses(
            losses, tested.n_train, tested.estimand, tested.remarks, tested.event
        )
    return Records(**made)


def _errors(probabilities: Array, event: NDArray[np.bool_]) -> Array:
    return np.asarray((event - probabilities) ** 2)


def _no_information(probabilities: Array, event: NDArray[np.bool_]) -> float:
    """Return the Brier score if the probabilities were those of other rows: the mean over all pairs of rows."""
    share = float(event.mean())
    return float(np.mean(share * (1.0 - probabilities) ** 2 + (1.0 - share) * probabilities**2))


def _folds(record: FoldScores, event: NDArray[np.bool_]) -> list[FoldLosses]:
    # the classifier of a training set of one class gives that class the probability 1
    found = []
    for scores, fold in zip(record.scores, record.fold, strict=True):
        of_one_class = np.array([event[fold != number].mean() for number in fold])
        known = np.where(np.isnan(scores), of_one_class, scores)
        found.append(FoldLosses(_errors(known, event), fold, record.remarks))
    return found
