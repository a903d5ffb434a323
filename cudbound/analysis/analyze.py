"""The common path of all intervals for one classifier: from a question to an analysis and its rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from cudbound.adapters.model import Model
from cudbound.adapters.parts import RecordedOutputs, fit_keywords, seeded_fit
from cudbound.analysis.question import Question, check_new_cases
from cudbound.analysis.rows import Analysis
from cudbound.basis.exceptions import ParameterError, SavedResultError
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.sample import Sample, check_before_fit, count_rows, predicted_probabilities
from cudbound.basis.validation import check_can_be_refitted, check_row_weights
from cudbound.intervals.bootstrap_cv import check_search
from cudbound.metrics.metric import MetricRows
from cudbound.metrics.metrics import Metrics, draw_for_metrics, targets_of, warn_of_few, warn_of_few_tested
from cudbound.problem.draws import check_resamples
from cudbound.report.tables import SINGLE
from cudbound.resampling.failed_refits import naming_the_step
from cudbound.resampling.make_records import Counts, Errors, RecordingInputs, record_targets, refits_for
from cudbound.resampling.settings import Streams
from cudbound.resampling.splits import TEST_SET
from cudbound.saved.saved_file import SavedBound, SavedQuestion, SavedResult, SavedRow
from cudbound.solve.search import Search


def analyze(
    question: Question[Any],
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    sample_weight: Any = None,
    new_cases: Any = None,
    *,
    several: bool = False,
    result: Literal["interval", "estimate"] = "interval",
) -> Analysis:
    """Record what a question about a classifier needs.

    The steps: fit the classifier if it is not fitted; check the sample; set the levels of each target; draw; write the
    additive model, or the reason for having none; refuse methods; record.

    Parameters
    ----------
    question : Question
    estimator : object
        Fitted to these rows, or not fitted.
    X, y, groups, sample_weight : array-like
        The training rows.
    new_cases : (array-like, array-like) or None
        New cases.
    several : bool, default=False
        Whether there may be more than two classes.
    result : {"interval", "estimate"}, default="interval"
        What the classifier is used for.
    """
    sample = fitted_sample(estimator, X, y, question.streams, groups, sample_weight, several=several)
    metrics = question.metrics.resolve(sample.classes.tolist())
    sample = replace(sample, event_class=metrics.event_class(sample.classes.tolist()))
    check_resamples(question.n_resamples, sample.n_samples)
    targets, counts, draw_remarks = draw_for(question, metrics, sample, question.rng)
    if result == "interval":
        warn_of_few(_bounded_by(question, targets, on_test_set=False))
    if metrics.threshold is not None:
        _check_threshold(sample, metrics.threshold)
    model = question.model_of(sample) if result == "interval" else Model.of(sample, result=result)
    if any(kind.of_search for kind in question.needs()):
        check_search(sample.estimator)
    cases, remarks = check_new_cases(new_cases, sample, question.readings)
    outputs = tuple(output for output in metrics.kinds if output != "classes")
    inputs = RecordingInputs.of(
        sample,
        question.needs(),
        question.streams,
        question.resampling,
        counts=counts,
        inner_by_default=all(target.plain for target in targets if target.cud_metrics),
        test_set=cases,
        test_remarks=remarks,
        model=model.additive,
        bound=question.bound,
        search=Search(question.all_draws, n_jobs=question.n_jobs, limits=question.bound),
        user_functions=question.user_functions,
        scoring=RecordedOutputs(outputs, sample.event_class),
        n_jobs=question.n_jobs,
    )
    refused = question.refusals(inputs, targets, model)
    needs = question.needs(refused)
    if refits_for(needs - (set() if inputs.test_set is None else {TEST_SET})):
        inputs.check_refits()  # before the bound is searched
    failed: Errors = {}
    records, of_targets = record_targets(needs, inputs, {"design": model.facts.design}, targets, failed)
    if records.test_set is not None and result == "interval":
        for metric in {target.metric: None for target in _bounded_by(question, targets, on_test_set=True)}:
            warn_of_few_tested(metric, records.test_set.rows_of(metric.event_class))
    return Analysis(
        question, metrics, counts, draw_remarks, records, sample, model, of_targets, refused, failed
    )


def draw_for(
    question: Question[Any] | SavedQuestion, metrics: Metrics, sample: Sample, rng: np.random.Generator
) -> tuple[tuple[MetricRows, ...], Counts, tuple[str, ...]]:
    """Return the target of each metric, the bootstrap draws of a sample, and how these differ from ordinary ones."""
    weights = sample.sample_weight
    if weights is not None and set(metrics.kinds) != {"classes"}:
        raise ValueError(
            "The 'sample_weight' parameter must be left out for the AUC and the Brier score, whose intervals were not "
            f"studied for weighted rows. Got weights of {len(weights)} rows."
        )
    targets = targets_of(metrics, sample.events, weights, question.confidence_level, question.alternative)
    return targets, *draw_for_metrics(metrics, targets, sample, question.n_resamples, rng)


def _bounded_by(
    question: Question[Any], targets: Sequence[MetricRows], on_test_set: bool
) -> list[MetricRows]:
    """Return the targets of methods that read a test set, or of those that read the training rows."""
    reads = {method.reads for method in question.readings if method.on_test_set == on_test_set}
    return [target for target in targets if target.metric.reads in reads]


def _check_threshold(sample: Sample, threshold: float) -> None:
    """Raise ParameterError if the probabilities of a classifier show that its threshold is another one."""
    estimator = sample.estimator
    if not hasattr(estimator, "predict_proba"):
        return
    event = sample.classes.tolist()[sample.event_class]
    risk = predicted_probabilities(estimator, sample.X, len(sample.classes))[:, sample.event_class]
    called = sample.predicted == event
    if ((risk > threshold) & ~called | (risk < threshold) & called).any():
        advice = (
            f" Pass FixedThresholdClassifier(classifier, threshold={threshold:g}, pos_label={event!r}) of "
            f"sklearn.model_selection, fitted; on the command line, --threshold {threshold:g}."
        )
        raise ParameterError("threshold", "the threshold of the classifier", threshold, advice)


def fitted_sample(
    estimator: Any, X: Any, y: Any, streams: Streams, groups: Any, sample_weight: Any, several: bool = False
) -> Sample:
    """Return the training set of a fitted classifier, or of a clone fitted to all rows, seeded if it has no seed.

    Raises
    ------
    ValueError
        If the parts do not fit each other, or the classifier cannot be fitted with the weights or groups of the rows.
    FailedRefitsError
        If its fit fails.
    """
    seed = int(streams["learners"].integers(2**31 - 1))
    weights = None if sample_weight is None else check_row_weights(sample_weight, count_rows(y))
    fitted = fit_if_needed(estimator, X, y, seed, "the classifier", sample_weight=weights, groups=groups)
    return Sample.of(fitted, X, y, groups, sample_weight, several=several)


def fit_if_needed(learner: Any, X: Any, y: Any, seed: int, what: str, **metadata: Any) -> Any:
    """Return a fitted learner as it is, and otherwise a clone fitted to all rows; `what` names it in messages."""
    check_can_be_refitted(learner)
    try:
        check_is_fitted(learner)
    except NotFittedError:
        check_before_fit(X, y)
        keywords = fit_keywords(learner, **metadata)
        with naming_the_step(learner, what):
            return seeded_fit(learner, X, y, seed, **keywords)
    return learner


def saved_analysis(
    analysis: Analysis | None,
    rows: Iterable[IntervalEstimate] = (),
    bounds: tuple[SavedBound, ...] | None = None,
) -> SavedResult:
    """Return the content of a file for an analysis and its rows; `bounds` replace those of the analysis.

    Raises
    ------
    SavedResultError
        If the origin of a result is unknown.
    """
    if analysis is None:
        raise SavedResultError(
            "the origin of this result is unknown, since it is part of a table or was made by hand: save what "
            "cudbound.compare_intervals, cudbound.performance_interval or cudbound.cud_interval returned"
        )
    return SavedResult(
        _question(analysis),
        analysis.fingerprint,
        analysis.run.classifiers.get(SINGLE, ""),
        analysis.counts,
        analysis.coefficients,
        analysis.bounds if bounds is None else bounds,
        saved_rows(rows),
    )


def _question(analysis: Analysis) -> SavedQuestion:
    question = analysis.question
    resampling = question.resampling
    tested = analysis.records.test_set
    # splitters and cases are not in the file
    n_folds = int(resampling.cv) if isinstance(resampling.cv, int | np.integer) else None
    passed_again: dict[Literal["cv", "new_cases"], bool] = {
        "cv": resampling.cv is not None and n_folds is None,
        "new_cases": tested is not None and tested.estimand == "conditional",
    }
    return SavedQuestion(
        metric=analysis.metrics,
        confidence_level=question.confidence_level,
        n_resamples=question.n_resamples,
        bound=question.bound,
        rng=question.seed,
        methods=tuple(method.name for method in question.methods),
        named=tuple(sorted(question.methods.named)),
        options=question.methods.options,
        alternative=question.alternative,
        resampling=replace(resampling, cv=n_folds),
        passed_again=tuple(name for name, is_needed in passed_again.items() if is_needed),
    )


def saved_rows(rows: Iterable[IntervalEstimate]) -> tuple[SavedRow, ...]:
    """Return the numbers of the rows of a table."""
    return tuple(SavedRow(row.method, row.metric, row.estimate, row.low, row.high) for row in rows)
