"""Recorded losses and scores for a metric: the rows that count, with weights; methods need not know the metric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.groups import Groups
from cudbound.basis.validation import Array, Losses
from cudbound.metrics.metric import MetricRows
from cudbound.records import BootstrapLosses, FoldLosses, Records, RepeatedFoldLosses, TestSetLosses


def scored(records: Records) -> Records:
    """Return recorded scores and probabilities as their methods read them: without the draws of one class.

    Raises
    ------
    ParameterError
        If it is unknown which training rows are events.
    """
    bootstrap = records.bootstrap
    if records.event is None and (bootstrap is not None or records.scores is not None):
        raise ParameterError("event", "which training rows are events, for scores and probabilities", None)
    if bootstrap is not None:
        n_events, n_rows = bootstrap.counts @ records.event.astype(np.int64), bootstrap.counts.sum(axis=1)
        kept, remarks = np.flatnonzero((n_events > 0) & (n_events < n_rows)), bootstrap.remarks
        if kept.size < n_rows.size:
            # the losses of the other draws are those of constant classifiers, which have no scores
            omitted = (
                f"{n_rows.size - kept.size} of {n_rows.size} draws contain only one class and were omitted"
            )
            remarks = (*(remark for remark in remarks if "single-class" not in remark), omitted)
        bootstrap = _of_some_draws(bootstrap, kept, remarks) if kept.size else None
    # inner draws, whose errors no method for scores reads, were made of all draws
    return replace(records, bootstrap=bootstrap, inner=None, kind="scores")


def _of_some_draws(
    record: BootstrapLosses, numbers: NDArray[np.intp], remarks: tuple[str, ...]
) -> BootstrapLosses:
    per_draw = ("counts", "losses", "no_information", "on_draws", "scores", "probabilities")
    kept = {name: values[numbers] for name in per_draw if (values := getattr(record, name)) is not None}
    return replace(record, **kept, remarks=remarks, uneven=True)


def on_common_draws(
    first: BootstrapLosses, second: BootstrapLosses
) -> tuple[BootstrapLosses, BootstrapLosses]:
    """Return the records of two classifiers for the draws on which both could be refitted, in the same order.

    Each lacks the draws on which its own refit failed.
    """
    if np.array_equal(first.counts, second.counts):
        return first, second
    number_of = {draw: number for number, draw in enumerate(_told_apart(second.counts))}
    common = [
        (number, number_of[draw])
        for number, draw in enumerate(_told_apart(first.counts))
        if draw in number_of
    ]
    of_first, of_second = np.array(common, dtype=np.intp).reshape(-1, 2).T
    remark = f"{len(common)} draws used, on which both classifiers could be refitted"
    return (
        _of_some_draws(first, of_first, (*first.remarks, remark)),
        _of_some_draws(second, of_second, (*second.remarks, remark)),
    )


def _told_apart(counts: NDArray[Any]) -> list[tuple[bytes, int]]:
    """Return each draw with the number of equal draws before it."""
    n_equal, draws = Counter[bytes](), []
    for draw in map(bytes, np.ascontiguousarray(counts)):
        draws.append((draw, n_equal[draw]))
        n_equal[draw] += 1
    return draws


def squared_errors(records: Records) -> Records:
    """Return recorded probabilities as losses, the squared errors, whose mean is the Brier score.

    Examples
    --------
    >>> squared_errors(Records(event=[True, False], probabilities=[0.5, 0.5])).losses.tolist()
    [0.25, 0.25]
    """
    records = scored(records)
    event = records.event
    parts: dict[str, Any] = {"groups": records.groups, "kind": "probabilities"}
    if records.probabilities is not None:
        parts["losses"] = _errors(records.probabilities, event)
        parts["no_information"] = _chance_brier(records.probabilities, event)
    if (draws := records.bootstrap) is not None and draws.probabilities is not None:
        losses = _errors(draws.probabilities, event)
        parts["bootstrap"] = BootstrapLosses(draws.counts, losses, draws.remarks, uneven=True)
    if records.folds is not None:
        parts["folds"] = _errors_of_folds(records.folds, event)
    parts |= _repeated(records, lambda folds: _errors_of_folds(folds, event))
    if (tested := records.test_set) is not None and tested.probabilities is not None:
        parts["test_set"] = replace(tested, losses=_errors(tested.probabilities, tested.event))
    return Records(**parts)


def _repeated(records: Records, convert: Callable[[FoldLosses], FoldLosses | None]) -> dict[str, Any]:
    """Return the records of several partitions, converted; without the partitions for which that gives None."""
    parts = {}
    for name in ("repeated_folds", "stratified_folds"):
        if (repeated := getattr(records, name)) is not None:
            usable = tuple(folds for folds in map(convert, repeated.partitions) if folds is not None)
            parts[name] = RepeatedFoldLosses(usable, repeated.remarks) if usable else None
    return parts


def _errors(probabilities: Array, event: NDArray[np.bool_]) -> Array:
    return np.asarray((event - probabilities) ** 2)


def _chance_brier(probabilities: Array, event: NDArray[np.bool_]) -> float:
    """Return the Brier score if the probabilities were those of other rows: the mean over all pairs of rows."""
    share = float(event.mean())
    return float(np.mean(share * (1.0 - probabilities) ** 2 + (1.0 - share) * probabilities**2))


def _errors_of_folds(record: FoldLosses, event: NDArray[np.bool_]) -> FoldLosses | None:
    if record.probabilities is None:
        return None
    # the classifier of a training set of one class gives that class the probability 1
    of_one_class = np.array([event[record.fold != number].mean() for number in record.fold])
    probabilities = np.where(np.isnan(record.probabilities), of_one_class, record.probabilities)
    return replace(record, losses=_errors(probabilities, event))


def records_for(metric_rows: MetricRows, records: Records) -> Records:
    """Return the records of the rows that count, with losses whose plain mean is the mean loss of the metric.

    Those of the plain error need not be changed.

    Parameters
    ----------
    records : Records
        Losses 0 and 1 on the whole training set.
    metric_rows : MetricRows

    Returns
    -------
    Records
        For the AUC the same records without draws of one class, and squared errors for the Brier score.
        Records without rows are omitted, and so are folds if fewer than two have a row that counts, and a test set
        without one or with unknown events.
    """
    if metric_rows.metric.reads != "classes":
        return scored(records) if metric_rows.metric.reads == "scores" else squared_errors(records)
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
    parts |= _repeated(records, lambda folds: _of_folds(folds, metric_rows))
    if records.test_set is not None:
        parts["test_set"] = _of_test_set(records.test_set, metric_rows)
    return Records(**parts)


def _weighed(wrong: NDArray[np.bool_], metric_rows: MetricRows) -> Losses:
    """Return the losses of the rows that count, shape (..., n_rows); their mean is the mean loss."""
    rows = metric_rows.rows
    kept, loss = wrong[..., rows], metric_rows.losses[rows]
    if np.ptp(metric_rows.weights[rows]) == 0.0 and (metric_rows.severity[rows] == 1.0).all():
        return kept  # 0 and 1 as they stand, without rounding
    return np.asarray(kept * (loss * loss.size))


def _no_information(wrong: NDArray[np.bool_], metric_rows: MetricRows, records: Records) -> float:
    """Return the mean loss if the classes of the rows that count were paired with the predictions of all rows."""
    if records.chance_losses is not None:
        return float(metric_rows.losses @ records.chance_losses)
    shares = np.ones(wrong.size) if metric_rows.sample_weight is None else metric_rows.sample_weight
    called_event = float(shares @ (wrong ^ metric_rows.event) / shares.sum())
    mistaken = np.where(metric_rows.event, 1.0 - called_event, called_event)
    return float(metric_rows.losses @ mistaken)


def _square_ratio(record: BootstrapLosses, metric_rows: MetricRows) -> float:
    """Return the mean square of the out-of-bag losses over their mean, with one further row wrong at full cost.

    Without that row, rare costly errors would count as impossible if none was observed.
    """
    outside = np.asarray(record.counts) == 0
    wrong = np.asarray(record.losses, dtype=bool) & outside
    # the mean over the draws that left a row out; a row that none left out says nothing
    loss = metric_rows.losses * wrong.sum(axis=0) / np.maximum(outside.sum(axis=0), 1)
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
    return FoldLosses(losses, fold, (*record.remarks, *notes), weighed=True, n_train_of_all=record.n_train)


def _of_test_set(record: TestSetLosses, metric_rows: MetricRows) -> TestSetLosses | None:
    event = record.events_of(metric_rows.metric.event_class)
    if event is None:
        return None
    tested = MetricRows(metric_rows.metric, event)
    if tested.lacking(np.ones((1, event.size), dtype=np.int32))[0]:
        return None
    losses = _weighed(np.asarray(record.losses, dtype=bool), tested)
    return TestSetLosses(
        losses,
        record.n_train,
        record.estimand,
        record.remarks,
        effective_rows=tested.n_effective,
        weighed=True,
    )
