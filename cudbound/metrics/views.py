"""Recorded losses and scores for a metric: the rows that count, with weights; methods need not know the metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.groups import Groups
from cudbound.basis.validation import Array, Losses
from cudbound.metrics.metric import ERROR, MetricRows
from cudbound.metrics.targets import Target
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


def recorded_scores(records: Records, kind: str, event: NDArray[np.bool_]) -> ScoreRecords:
    """Return the "scores" or the "probabilities" kept with the losses; `event` marks the rows that are events."""
    parts: dict[str, Any] = {"event": event, "groups": records.groups, "scores": getattr(records, kind)}
    if records.bootstrap is not None:
        parts["bootstrap"] = _scores_of_draws(records.bootstrap, kind, event)
    for name in ("folds", "repeated_folds", "stratified_folds"):
        if (record := getattr(records, name)) is not None:
            parts[name] = _scores_of_partitions(
                getattr(record, "partitions", (record,)), kind, record.remarks
            )
    if records.test_set is not None:
        parts["test_set"] = _scores_of_test_set(records.test_set, kind)
    return ScoreRecords(**parts, probabilities=kind == "probabilities")


def _scores_of_draws(record: BootstrapLosses, kind: str, event: NDArray[np.bool_]) -> BootstrapScores | None:
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
        remarks = tuple(remark for remark in remarks if "single-class" not in remark)
        remarks = (*remarks, f"{n_lost} of {len(both)} draws contain only one class and were omitted")
    return BootstrapScores(record.counts[both], scores[both], remarks)


def _scores_of_partitions(
    parts: Sequence[FoldLosses], kind: str, remarks: tuple[str, ...]
) -> FoldScores | None:
    of_parts = [(getattr(part, kind), part.fold) for part in parts]
    if any(scores is None for scores, _ in of_parts):
        return None
    scores, folds = (np.stack(values) for values in zip(*of_parts, strict=True))
    return FoldScores(scores, folds, remarks)


def _scores_of_test_set(record: TestSetLosses, kind: str) -> TestSetScores | None:
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
    parts: dict[str, Any] = {"groups": records.groups, "kind": "probabilities"}
    if records.scores is not None:
        parts |= {
            "losses": _errors(records.scores, event),
            "no_information": _chance_brier(records.scores, event),
        }
    if (bootstrap := records.bootstrap) is not None:
        losses = _errors(bootstrap.scores, event)
        parts["bootstrap"] = BootstrapLosses(bootstrap.counts, losses, bootstrap.remarks, uneven=True)
    if records.folds is not None:
        parts["folds"] = _errors_of_folds(records.folds, event)[0]
    for name in ("repeated_folds", "stratified_folds"):
        if (repeated := getattr(records, name)) is not None:
            parts[name] = RepeatedFoldLosses(tuple(_errors_of_folds(repeated, event)), repeated.remarks)
    if (tested := records.test_set) is not None:
        losses = _errors(tested.scores, tested.event)
        parts["test_set"] = TestSetLosses(
            losses, tested.n_train, tested.estimand, tested.remarks, tested.event
        )
    return Records(**parts)


def _errors(probabilities: Array, event: NDArray[np.bool_]) -> Array:
    return np.asarray((event - probabilities) ** 2)


def _chance_brier(probabilities: Array, event: NDArray[np.bool_]) -> float:
    """Return the Brier score if the probabilities were those of other rows: the mean over all pairs of rows."""
    share = float(event.mean())
    return float(np.mean(share * (1.0 - probabilities) ** 2 + (1.0 - share) * probabilities**2))


def _errors_of_folds(record: FoldScores, event: NDArray[np.bool_]) -> list[FoldLosses]:
    # the classifier of a training set of one class gives that class the probability 1
    losses = []
    for scores, fold in zip(record.scores, record.fold, strict=True):
        of_one_class = np.array([event[fold != number].mean() for number in fold])
        probabilities = np.where(np.isnan(scores), of_one_class, scores)
        losses.append(FoldLosses(_errors(probabilities, event), fold, record.remarks))
    return losses


def check_inner_draws(inner: int | str | None, targets: Iterable[Target]) -> None:
    """Raise ParameterError if inner draws are requested and a metric cannot use them."""
    unread = [
        target.metric.name for target in targets if target.metric.reads == "classes" and not target.rows.plain
    ]
    if inner not in (None, "oob") and unread:
        what = "weighted rows" if unread == [ERROR.name] else f"the {unread[0]}"
        rule = f"'oob' or None for {what}: inner draws record only unweighted means over all rows"
        raise ParameterError("inner", rule, inner)


def records_for(metric_rows: MetricRows, records: Records) -> Records | ScoreRecords:
    """Return the records of the rows that count, with losses whose plain mean is the mean loss of the metric.

    Parameters
    ----------
    records : Records
        Losses 0 and 1 on the whole training set.
    metric_rows : MetricRows

    Returns
    -------
    Records or ScoreRecords
        The same records if the metric is the plain error; scores for the AUC, squared errors for the Brier score.
        Records without rows are omitted, and so are folds if fewer than two have a row that counts, and a test set
        without one or with unknown events.
    """
    if metric_rows.plain:
        return records
    if metric_rows.metric.reads != "classes":
        scores = recorded_scores(records, metric_rows.metric.reads, np.asarray(metric_rows.event))
        return squared_errors(scores) if scores.probabilities else scores
    parts: dict[str, Any] = {
        "effective_rows": metric_rows.n_effective,
        "weighed": True,
        "design": records.design,
    }
    if records.groups is not None:
        parts["groups"] = Groups.of(records.groups.codes[metric_rows.rows])
    if records.losses is not None:
        wrong = np.asarray(records.losses, dtype=bool)
        parts |= {
            "losses": _weighed(wrong, metric_rows),
            "no_information": _no_information(wrong, metric_rows, records),
        }
    if records.bootstrap is not None:
        parts["bootstrap"] = _of_draws(records.bootstrap, metric_rows)
        if np.ptp(metric_rows.metric.costs) > 0.0:
            parts["square_ratio"] = _square_ratio(records.bootstrap, metric_rows)
    for name in ("folds", "leave_one_out"):
        if (record := getattr(records, name)) is not None:
            parts[name] = _of_folds(record, metric_rows)
    for name in ("repeated_folds", "stratified_folds"):
        if (repeated := getattr(records, name)) is not None:
            of_partitions = (_of_folds(folds, metric_rows) for folds in repeated.partitions)
            if whole := tuple(folds for folds in of_partitions if folds is not None):
                parts[name] = RepeatedFoldLosses(whole, repeated.remarks)
    if records.test_set is not None:
        parts["test_set"] = _of_test_set(records.test_set, metric_rows)
    return Records(**parts)


def _weighed(wrong: NDArray[np.bool_], metric_rows: MetricRows) -> Losses:
    """Return the losses of the rows that count, shape (..., n_rows); their mean is the mean loss."""
    kept = wrong[..., metric_rows.rows]
    loss = (metric_rows.weights * metric_rows.severity)[metric_rows.rows]
    if (
        np.ptp(metric_rows.weights[metric_rows.rows]) == 0.0
        and (metric_rows.severity[metric_rows.rows] == 1.0).all()
    ):
        return kept  # 0 and 1 as they stand, without rounding
    return np.asarray(kept * (loss * loss.size))


def _no_information(wrong: NDArray[np.bool_], metric_rows: MetricRows, records: Records) -> float:
    """Return the mean loss if the classes of the rows that count were paired with the predictions of all rows."""
    if records.chance_losses is not None:
        return float((metric_rows.weights * metric_rows.severity) @ records.chance_losses)
    shares = np.ones(wrong.size) if metric_rows.sample_weight is None else metric_rows.sample_weight
    called_event = float(shares @ (wrong ^ metric_rows.event) / shares.sum())
    mistaken = np.where(metric_rows.event, 1.0 - called_event, called_event)
    return float((metric_rows.weights * metric_rows.severity) @ mistaken)


def _square_ratio(record: BootstrapLosses, metric_rows: MetricRows) -> float:
    """Return the mean square of the out-of-bag losses over their mean, with one further row wrong at full cost.

    Without that row, rare costly errors would count as impossible if none was observed.
    """
    outside = np.asarray(record.counts) == 0
    wrong = np.asarray(record.losses, dtype=bool) & outside
    # the mean over the draws that left a row out; a row that none left out says nothing
    loss = metric_rows.weights * metric_rows.severity * wrong.sum(axis=0) / np.maximum(outside.sum(axis=0), 1)
    one_more = 1.0 / metric_rows.n_effective
    return float((loss @ metric_rows.severity + one_more) / (loss.sum() + one_more))


def _of_draws(record: BootstrapLosses, metric_rows: MetricRows) -> BootstrapLosses:
    wrong = np.asarray(record.losses, dtype=bool)
    on_draws = (metric_rows.draw_weights(record.counts) * metric_rows.severity * wrong).sum(axis=1)
    return BootstrapLosses(
        np.ascontiguousarray(record.counts[:, metric_rows.rows]),
        _weighed(wrong, metric_rows),
        record.remarks,
        on_draws=on_draws,
        uneven=True,
        weighed=bool(np.ptp(metric_rows.weights[metric_rows.rows]) > 0.0),
    )


def _of_folds(record: FoldLosses, metric_rows: MetricRows) -> FoldLosses | None:
    held, fold = np.unique(record.fold[metric_rows.rows], return_inverse=True)
    if held.size < 2:
        return None
    lost = record.n_folds - held.size
    notes = (f"{lost} folds without a row that counts omitted",) if lost else ()
    losses = _weighed(np.asarray(record.losses, dtype=bool), metric_rows)
    return replace(
        record,
        losses=losses,
        fold=fold,
        remarks=(*record.remarks, *notes),
        weighed=True,
        n_train_of_all=record.n_train,
    )


def _of_test_set(record: TestSetLosses, metric_rows: MetricRows) -> TestSetLosses | None:
    event = record.events_of(metric_rows.metric.event_class)
    if event is None:
        return None
    tested = MetricRows(metric_rows.metric, event)
    if tested.lacking(np.ones((1, event.size), dtype=np.int32))[0]:
        return None
    losses = _weighed(np.asarray(record.losses, dtype=bool), tested)
    whole = replace(record, event=None, class_numbers=None)
    return replace(whole, losses=losses, effective_rows=tested.n_effective, weighed=True)
