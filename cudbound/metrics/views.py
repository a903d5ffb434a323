"""Recorded losses for a metric: the rows that count, with their weights; methods need not know the metric."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.groups import Groups
from cudbound.basis.validation import Losses
from cudbound.metrics.metric import ERROR, MetricRows
from cudbound.metrics.score_views import score_view, squared_errors
from cudbound.metrics.targets import Target
from cudbound.records import (
    BootstrapLosses,
    FoldLosses,
    Records,
    RepeatedFoldLosses,
    ScoreRecords,
    TestSetLosses,
)

#: What the methods of every metric read: records that keep the loss of each row, or are made for each metric, or serve
#: all of them, and "inner", without which its readers have a variant. The others keep means over rows of both classes,
#: which no metric can take apart.
OF_EVERY_METRIC = frozenset(
    {"losses", "bootstrap", "folds", "repeated_folds", "stratified_folds", "leave_one_out", "test_set"}
    | {"bound", "design", "inner"}
)


def check_inner_draws(inner: int | str | None, targets: Iterable[Target]) -> None:
    """Raise ParameterError if inner draws are requested and a metric cannot use them."""
    unread = [one.metric.name for one in targets if one.metric.reads == "classes" and not one.rows.plain]
    if inner not in (None, "oob") and unread:
        what = "weighted rows" if unread == [ERROR.name] else f"the {unread[0]}"
        rule = f"'oob' or None for {what}: inner draws record only unweighted means over all rows"
        raise ParameterError("inner", rule, inner)


def view(records: Records, seen: MetricRows) -> Records | ScoreRecords:
    """Return the records of the rows that count, with losses whose plain mean is the mean loss of the metric.

    Parameters
    ----------
    records : Records
        Losses 0 and 1 on the whole training set.
    seen : MetricRows

    Returns
    -------
    Records or ScoreRecords
        The same records if the metric is the plain error; scores for the AUC, squared errors for the Brier score.
        Records without rows are omitted, and so are folds if fewer than two have a row that counts, and a test set
        without one or with unknown events.
    """
    if seen.plain:
        return records
    if seen.metric.reads != "classes":
        scores = score_view(records, seen)
        return squared_errors(scores) if scores.probabilities else scores
    made: dict[str, Any] = {
        "effective_rows": seen.n_effective,
        "weighed": True,
        "design": records.design,
    }
    if records.groups is not None:
        made["groups"] = Groups.of(records.groups.codes[seen.rows])
    if records.losses is not None:
        wrong = np.asarray(records.losses, dtype=bool)
        made |= {"losses": _weighed(wrong, seen), "no_information": _no_information(wrong, seen, records)}
    if records.bootstrap is not None:
        made["bootstrap"] = _of_draws(records.bootstrap, seen)
        if np.ptp(seen.metric.costs) > 0.0:
            made["square_ratio"] = _square_ratio(records.bootstrap, seen)
    for name in ("folds", "leave_one_out"):
        if (record := getattr(records, name)) is not None:
            made[name] = _of_folds(record, seen)
    for name in ("repeated_folds", "stratified_folds"):
        if (repeated := getattr(records, name)) is not None:
            found = (_of_folds(one, seen) for one in repeated.partitions)
            if whole := tuple(one for one in found if one is not None):
                made[name] = RepeatedFoldLosses(whole, repeated.remarks)
    if records.test_set is not None:
        made["test_set"] = _of_test_set(records.test_set, seen)
    return Records(**made)


def _weighed(wrong: NDArray[np.bool_], seen: MetricRows) -> Losses:
    """Return the losses of the rows that count, shape (..., n_rows); their mean is the mean loss."""
    kept = wrong[..., seen.rows]
    loss = (seen.weights * seen.severity)[seen.rows]
    if np.ptp(seen.weights[seen.rows]) == 0.0 and (seen.severity[seen.rows] == 1.0).all():
        return kept  # 0 and 1 as they stand, without rounding
    return np.asarray(kept * (loss * loss.size))


def _no_information(wrong: NDArray[np.bool_], seen: MetricRows, records: Records) -> float:
    """Return the mean loss if the classes of the rows that count were paired with the predictions of all rows."""
    if records.chance_losses is not None:
        return float((seen.weights * seen.severity) @ records.chance_losses)
    shares = np.ones(wrong.size) if seen.sample_weight is None else seen.sample_weight
    called_event = float(shares @ (wrong ^ seen.event) / shares.sum())
    mistaken = np.where(seen.event, 1.0 - called_event, called_event)
    return float((seen.weights * seen.severity) @ mistaken)


def _square_ratio(record: BootstrapLosses, seen: MetricRows) -> float:
    """Return the mean square of the out-of-bag losses over their mean, with one further row wrong at full cost.

    Without that row, rare costly errors would count as impossible if none was observed.
    """
    outside = np.asarray(record.counts) == 0
    wrong = np.asarray(record.losses, dtype=bool) & outside
    # the mean over the draws that left a row out; a row that none left out says nothing
    loss = seen.weights * seen.severity * wrong.sum(axis=0) / np.maximum(outside.sum(axis=0), 1)
    one_more = 1.0 / seen.n_effective
    return float((loss @ seen.severity + one_more) / (loss.sum() + one_more))


def _of_draws(record: BootstrapLosses, seen: MetricRows) -> BootstrapLosses:
    wrong = np.asarray(record.losses, dtype=bool)
    on_draws = (seen.draw_weights(record.counts) * seen.severity * wrong).sum(axis=1)
    return BootstrapLosses(
        np.ascontiguousarray(record.counts[:, seen.rows]),
        _weighed(wrong, seen),
        record.remarks,
        on_draws=on_draws,
        uneven=True,
        weighed=bool(np.ptp(seen.weights[seen.rows]) > 0.0),
    )


def _of_folds(record: FoldLosses, seen: MetricRows) -> FoldLosses | None:
    held, fold = np.unique(record.fold[seen.rows], return_inverse=True)
    if held.size < 2:
        return None
    lost = record.n_folds - held.size
    notes = (f"{lost} folds without a row that counts omitted",) if lost else ()
    losses = _weighed(np.asarray(record.losses, dtype=bool), seen)
    return replace(
        record,
        losses=losses,
        fold=fold,
        remarks=(*record.remarks, *notes),
        weighed=True,
        n_train_of_all=record.n_train,
    )


def _of_test_set(record: TestSetLosses, seen: MetricRows) -> TestSetLosses | None:
    event = record.events_of(seen.metric.event_class)
    if event is None:
        return None
    tested = MetricRows(seen.metric, event)
    if tested.lacking(np.ones((1, event.size), dtype=np.int32))[0]:
        return None
    losses = _weighed(np.asarray(record.losses, dtype=bool), tested)
    whole = replace(record, event=None, class_numbers=None)
    return replace(whole, losses=losses, effective_rows=tested.n_effective, weighed=True)
