"""The computations of a clinical report: each number is computed once, by public functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.adapters.parts import RecordedOutputs, threshold_on_risk
from cudbound.analysis.cud_interval import cud_interval
from cudbound.analysis.performance_interval import compare_intervals
from cudbound.analysis.rows import Analysis
from cudbound.analysis.table import IntervalTable
from cudbound.basis.exceptions import CudboundWarning, SlowRefitsWarning, StatedError
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.sample import Sample
from cudbound.intervals import METHODS, compute_interval
from cudbound.metrics.metrics import NET_BENEFIT, RATIOS, Metrics
from cudbound.report.sentences import POOLED

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.analysis.cud_interval import CudResult


RECOMMENDED = "two-center"
CLASSES = ("error", "sensitivity", "specificity", "ppv", "npv", *RATIOS)
#: Further intervals for the error that take no fit beyond those of the recommended one.
OTHERS = (
    *("langford-binomial", "bootstrap-percentile", "kohavi-normal", "martin-beta"),
    *("location-shifted", "abcloc"),
)


@dataclass(frozen=True, eq=False)
class ReportResults:
    """The results for a classifier.

    Attributes
    ----------
    table : IntervalTable
        The recommended interval for every metric, with its draws and refits.
    others : tuple of IntervalEstimate
        Other intervals for the error, from the same refits.
    cud : CudResult or None
        The CUD bound of the error.
    why_no_cud : str
        Why there is no CUD bound.
    event, called : ndarray of bool, shape (n_samples,)
        Which rows are events, and which the classifier predicts to be events.
    weights : ndarray of float, shape (n_samples,)
        Weights of the rows; 1 without weights.
    risks : ndarray of float, shape (n_samples,), or None
        Risks of the event, from the classifier fitted to all rows.
    threshold : float or None
        Risk from which a row is classified as an event.
    columns : DataFrame
        The features as they were given, categories as text.
    scores : callable or None
        Scores of rows like `columns`, larger for the event; None if the classifier has none.
    warnings : tuple of str
        All warnings, each once.
    """

    table: IntervalTable
    others: tuple[IntervalEstimate, ...]
    cud: CudResult | None
    why_no_cud: str
    event: NDArray[np.bool_]
    called: NDArray[np.bool_]
    weights: NDArray[np.float64]
    risks: NDArray[np.float64] | None
    threshold: float | None
    columns: pd.DataFrame
    scores: Callable[[pd.DataFrame], NDArray[np.float64]] | None
    warnings: tuple[CudboundWarning, ...]

    @property
    def analysis(self) -> Analysis:
        """The question, draws and records of the table."""
        assert self.table.analysis is not None
        return self.table.analysis


def report_results(
    sample: Sample,
    *,
    event: Any,
    n_resamples: int,
    seed: int,
    new_cases: Any = None,
    as_read: tuple[pd.DataFrame, Callable[[pd.DataFrame], Any]] | None = None,
    **shared: Any,
) -> ReportResults:
    """Compute the results of a report.

    `as_read` has the columns of a file and what makes rows for the classifier of them; `shared` are further arguments
    of all calls.
    """
    estimator, X, y = sample.estimator, sample.X, sample.y
    metrics, risks, threshold = _metrics(sample, event)
    drawn = {"n_resamples": n_resamples, "rng": seed, **shared}
    with _collected() as messages:
        methods = [RECOMMENDED] if new_cases is None else [RECOMMENDED, POOLED]
        table = compare_intervals(
            estimator, X, y, methods=methods, metric=metrics, new_cases=new_cases, **drawn
        )
    cud, why_no_cud = None, ""
    with _collected() as of_bound:
        try:
            cud = cud_interval(estimator, X, y, **drawn)
        except StatedError as error:
            why_no_cud = error.fact
    # the rows of each class were counted for the table
    messages += [message for message in of_bound if not hasattr(message, "n_rows")]
    analysis = table.analysis
    assert analysis is not None
    events = analysis.sample.events
    level = shared["confidence_level"]
    columns, coded = as_read or (frame_of(X, sample.features), partial(_like, X))
    scorer = RecordedOutputs(("scores",), analysis.sample.event_class)
    return ReportResults(
        table=table,
        others=(
            *(() if cud is None else (cud.row,)),
            *(_other(name, analysis.records, level) for name in OTHERS),
        ),
        cud=cud,
        why_no_cud=why_no_cud,
        event=events,
        called=events ^ np.asarray(analysis.records.losses, dtype=bool),
        weights=np.ones(events.size) if sample.sample_weight is None else sample.sample_weight,
        risks=risks,
        threshold=threshold,
        columns=columns,
        scores=(lambda rows: scorer.of(estimator, coded(rows))["scores"])
        if hasattr(estimator, "decision_function")
        else None,
        warnings=tuple({str(message): message for message in messages}.values()),
    )


def _metrics(sample: Sample, event: Any) -> tuple[Metrics, NDArray[np.float64] | None, float | None]:
    """Return the metrics of the report, and the risks and the risk threshold of the classifier if it has any."""
    estimator, unweighted = sample.estimator, sample.sample_weight is None
    has_risks = hasattr(estimator, "predict_proba")
    scored = ("auc", "brier") if has_risks else ("auc",) if hasattr(estimator, "decision_function") else ()
    names = (*CLASSES, *(scored if unweighted else ()))
    metrics = Metrics(names, event, prevalence="sample")
    if not has_risks:
        return metrics, None, None
    event_class = metrics.event_class(sample.classes.tolist())
    risks = RecordedOutputs(("probabilities",), event_class).of(estimator, sample.X)["probabilities"]
    called = sample.predicted == sample.classes[event_class]
    threshold = threshold_on_risk(estimator, risks, called, event_class)
    if threshold is None or not 0.0 < threshold < 1.0:
        return metrics, risks, None
    if unweighted:
        metrics = replace(metrics, metric=(*names, NET_BENEFIT), threshold=threshold)
    return metrics, risks, threshold


def _other(name: str, records: Any, level: float) -> IntervalEstimate:
    """Return an interval from recorded refits; a row without numbers if it fails."""
    method = METHODS[name]
    try:
        return compute_interval(method, records, level)
    except ValueError as error:
        undefined = IntervalEstimate.undefined(" ".join(str(error).split()))
        words = {"method": name, "words": method.words(), "estimand": method.estimand}
        return IntervalEstimate.of(undefined, n_fits=0, confidence_level=level, **words)


def frame_of(X: Any, names: Sequence[str]) -> pd.DataFrame:
    """Return the features as a data frame; a matrix gets these names, and a sparse one is written out."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X.reset_index(drop=True)
    rows = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return pd.DataFrame(rows.reshape(len(rows), -1), columns=list(names)).infer_objects()


def _like(X: Any, rows: pd.DataFrame) -> Any:
    """Return rows in the form of `X`: a data frame, or else a matrix of its type."""
    if hasattr(X, "columns"):
        return rows
    return rows.to_numpy(dtype=getattr(X, "dtype", None))


@contextmanager
def _collected() -> Iterator[list[CudboundWarning]]:
    """Collect the warnings of this package; that of slow refits is passed on, because it is useful only in advance."""
    messages: list[CudboundWarning] = []
    with warnings.catch_warnings():
        pass_on = warnings.showwarning

        def collect(message: Warning | str, category: type[Warning], *place: Any, **named: Any) -> None:
            if isinstance(message, CudboundWarning) and not isinstance(message, SlowRefitsWarning):
                messages.append(message)
            else:
                pass_on(message, category, *place, **named)

        warnings.simplefilter("always", CudboundWarning)
        warnings.showwarning = collect
        yield messages
