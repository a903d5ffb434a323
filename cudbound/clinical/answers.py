"""The computations of a clinical report: each number is computed once, by public functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.adapters.outputs import RecordedOutputs, threshold_on_risk
from cudbound.analysis.analyze import Analysis
from cudbound.analysis.compare_intervals import compare_intervals
from cudbound.analysis.cud_interval import cud_interval
from cudbound.analysis.performance_interval import performance_interval
from cudbound.analysis.table import IntervalTable
from cudbound.basis.calls import over_seeds
from cudbound.basis.exceptions import CudboundWarning, SlowRefitsWarning, StatedError
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.sample import Sample
from cudbound.bound.cud_bound import Bound
from cudbound.clinical.participants import frame_of
from cudbound.estimators.chosen_threshold import ChosenThresholdClassifier
from cudbound.intervals import METHODS, compute_interval
from cudbound.metrics.metrics import NET_BENEFIT, RATIOS, Metrics
from cudbound.problem.draws import Draws
from cudbound.solve.limits import SearchLimits, nodes_within

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.analysis.cud_result import CudResult

RECOMMENDED = "two-center"
CLASSES = ("error", "sensitivity", "specificity", "ppv", "npv", *RATIOS)
#: Further intervals for the error that take no fit beyond those of the recommended one.
OTHERS = (
    "langford-binomial",
    "bootstrap-percentile",
    "kohavi-normal",
    "martin-beta",
    "location-shifted",
    "abcloc",
)
#: What searches may take that are for pictures alone: nodes that take about this long.
SECONDS = 1.0
#: Draws of the calls that show what depends on chance and on the localization.
FEW_DRAWS = 200
#: Localization rates, as multiples of n.
RATES = (0.5, 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class Answers:
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
    draws : Draws or None
        The draws after a further search, for the distribution of Q.
    half_widths : list of dict
        Rate and q at other localization rates, from `FEW_DRAWS` draws each.
    seeds : DataFrame
        The recommended interval for the error with several seeds.
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
    draws: Draws | None
    half_widths: list[dict[str, Any]]
    seeds: pd.DataFrame
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


def answers_of(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    event: Any,
    n_resamples: int,
    n_seeds: int,
    seed: int,
    as_read: tuple[pd.DataFrame, Callable[[pd.DataFrame], Any]] | None = None,
    **shared: Any,
) -> Answers:
    """Compute the results of a report.

    `as_read` has the columns of a file and what makes rows for the classifier of them; `shared` are further arguments
    of all calls.
    """
    sample = Sample.of(estimator, X, y, shared["groups"], shared["sample_weight"])
    metrics, risks, threshold = _metrics(estimator, X, sample, event)
    with _heard() as heard:
        table = compare_intervals(
            estimator,
            X,
            y,
            methods=[RECOMMENDED],
            metric=metrics,
            n_resamples=n_resamples,
            rng=seed,
            **shared,
        )
        cud, why_no_cud = _cud(estimator, X, y, n_resamples=n_resamples, rng=seed, **shared)
    known = table.analysis
    assert known is not None
    records = known.records
    with _heard():  # the same warnings again
        few = partial(performance_interval, estimator, X, y, n_resamples=FEW_DRAWS, **shared)
        seeds = over_seeds(few, n_seeds, seed)
        further = None if cud is None else _further(cud)
        half_widths = [] if cud is None else _half_widths(cud, estimator, X, y, seed, **shared)
    events = sample.events(known.metrics.event_class)
    called = events ^ np.asarray(records.losses, dtype=bool)
    level = shared["confidence_level"]
    columns, coded = as_read or (frame_of(X, sample.features), partial(_like, X))
    scorer = RecordedOutputs(("scores",), known.metrics.event_class)
    return Answers(
        table,
        (*(() if cud is None else (cud.row,)), *(_other(name, records, level) for name in OTHERS)),
        cud,
        why_no_cud,
        further,
        half_widths,
        seeds,
        events,
        called,
        np.ones(events.size) if sample.sample_weight is None else sample.sample_weight,
        risks,
        threshold,
        columns,
        (lambda rows: scorer.of(estimator, coded(rows))["scores"])
        if hasattr(estimator, "decision_function")
        else None,
        tuple({str(one): one for one in heard}.values()),
    )


def _metrics(
    estimator: Any, X: Any, sample: Sample, event: Any
) -> tuple[Metrics, NDArray[np.float64] | None, float | None]:
    """Return the metrics of the report, and the risks and the risk threshold of the classifier if it has any."""
    unweighted = sample.sample_weight is None
    names = (*CLASSES, *(scored_metrics(estimator) if unweighted else ()))
    metrics = Metrics(names, event, prevalence="sample")
    if "brier" not in scored_metrics(estimator):
        return metrics, None, None
    event_class = metrics.resolve(sample.classes.tolist()).event_class
    risks = RecordedOutputs(("probabilities",), event_class).of(estimator, X)["probabilities"]
    called = np.asarray(estimator.predict(X)) == sample.classes[event_class]
    threshold = threshold_on_risk(estimator, risks, called, event_class)
    if threshold is None or not 0.0 < threshold < 1.0:
        return metrics, risks, None
    if unweighted:
        metrics = replace(metrics, asked=(*names, NET_BENEFIT), threshold=threshold)
    return metrics, risks, threshold


def scored_metrics(estimator: Any) -> tuple[str, ...]:
    """Return the metrics of scores and risks that are available for a classifier."""
    scorer = estimator.estimator_ if isinstance(estimator, ChosenThresholdClassifier) else estimator
    if hasattr(scorer, "predict_proba"):
        return ("auc", "brier")
    return ("auc",) if hasattr(scorer, "decision_function") else ()


def _cud(estimator: Any, X: Any, y: Any, **named: Any) -> tuple[CudResult | None, str]:
    try:
        return cud_interval(estimator, X, y, **named), ""
    except StatedError as error:
        return None, error.fact


def _further(cud: CudResult) -> Draws:
    """Return the draws after a search of those that the quantile does not need."""
    limits = SearchLimits(nodes=nodes_within(SECONDS, cud.problem))
    return replace(cud, search=replace(cud.search, all_draws=True)).at(limits=limits).draws


def _half_widths(
    cud: CudResult, estimator: Any, X: Any, y: Any, seed: int, **shared: Any
) -> list[dict[str, Any]]:
    limits = SearchLimits(nodes=nodes_within(SECONDS, cud.problem))
    found = []
    for rate in (share * cud.localization for share in RATES):
        bound = Bound(localization=rate, limits=limits)
        one, _ = _cud(estimator, X, y, n_resamples=FEW_DRAWS, rng=seed, bound=bound, **shared)
        found += [] if one is None else [{"rate": rate, "q": one.q, "certified": one.certified}]
    return found


def _other(name: str, records: Any, level: float) -> IntervalEstimate:
    """Return an interval from recorded refits; a row without numbers if it fails."""
    method = METHODS[name]
    try:
        return compute_interval(method, records, level)
    except ValueError as error:
        undefined = IntervalEstimate.undefined(" ".join(str(error).split()))
        known = {"method": name, "words": method.words, "estimand": method.estimand}
        return IntervalEstimate.of(undefined, n_fits=0, confidence_level=level, **known)


def _like(X: Any, rows: pd.DataFrame) -> Any:
    """Return rows in the form of `X`: a data frame, or else a matrix of its type."""
    if hasattr(X, "columns"):
        return rows
    return rows.to_numpy(dtype=getattr(X, "dtype", None))


@contextmanager
def _heard() -> Iterator[list[CudboundWarning]]:
    """Collect the warnings of this package; that of slow refits is passed on, because it is useful only in advance."""
    heard: list[CudboundWarning] = []
    with warnings.catch_warnings():
        pass_on = warnings.showwarning

        def hear(message: Warning | str, category: type[Warning], *place: Any, **named: Any) -> None:
            if isinstance(message, CudboundWarning) and not isinstance(message, SlowRefitsWarning):
                heard.append(message)
            else:
                pass_on(message, category, *place, **named)

        warnings.simplefilter("always", CudboundWarning)
        warnings.showwarning = hear
        yield heard
