"""The common path of all intervals for one classifier: from a question to an analysis and its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from cudbound.adapters.model import Model
from cudbound.adapters.parts import RecordedOutputs, fit_keywords, seeded_fit
from cudbound.analysis.question import Question, check_new_cases
from cudbound.analysis.rows import Analysis
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import Needs
from cudbound.basis.sample import Sample, check_before_fit, count_rows, predicted_probabilities, related_rows
from cudbound.basis.validation import check_can_be_refitted, check_row_weights
from cudbound.intervals.bootstrap_cv import check_search
from cudbound.metrics.metrics import draw_for_metrics, targets_of, warn_of_few, warn_of_few_tested
from cudbound.problem.draws import check_resamples
from cudbound.records import DESIGN
from cudbound.resampling.failed_refits import naming_the_step
from cudbound.resampling.make_records import Errors, RecordingInputs, record_targets
from cudbound.resampling.settings import Streams
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
    one_metric: bool = False,
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
    one_metric : bool, default=False
        Whether a metric that stands for one of each class is refused.
    result : {"interval", "estimate"}, default="interval"
        What the classifier is used for.
    """
    sample = fitted_sample(estimator, X, y, question.streams, groups, sample_weight, several=several)
    classes = sample.classes.tolist()
    metrics = question.metrics.resolve(classes, one=one_metric)
    question = replace(question, metrics=metrics)
    sample = replace(sample, event_class=metrics.event_class(classes))
    size = check_resamples(question.n_resamples, sample.n_samples)
    level, weights = question.confidence_level, sample.sample_weight
    targets = targets_of(metrics, sample.events, weights, level, question.alternative)
    counts, draw_remarks = draw_for_metrics(metrics, targets, sample, size, question.rng)
    if result == "interval":
        read = {method.reads for method in question.readings if not method.on_test_set}
        warn_of_few([target for target in targets if target.metric.reads in read])
    if metrics.threshold is not None:
        _check_threshold(sample, metrics.threshold)
    needs = question.needs()
    model = _model_for(question, needs, sample, result)
    tested = {} if new_cases is None else check_new_cases(new_cases, sample, question.readings)
    inputs = RecordingInputs.of(
        sample,
        needs,
        question.streams,
        question.resampling,
        counts=counts,
        inner_by_default=all(target.plain for target in targets if target.cud_metrics),
        model=model.additive,
        bound=question.bound,
        search=Search(question.all_draws, n_jobs=question.n_jobs, limits=question.bound),
        user_functions=question.user_functions,
        scoring=RecordedOutputs(
            tuple(kind for kind in metrics.kinds if kind != "classes"), sample.event_class
        ),
        n_jobs=question.n_jobs,
        **tested,
    )
    refused = question.refusals(inputs, targets, model)
    needs = question.needs(refused)
    failed: Errors = {}
    records, of_targets = record_targets(needs, inputs, {"design": model.facts.design}, targets, failed)
    if records.test_set is not None and result == "interval":
        read = {method.reads for method in question.readings if method.on_test_set}
        for metric in {target.metric: None for target in targets if target.metric.reads in read}:
            warn_of_few_tested(metric, records.test_set.rows_of(metric.event_class))
    related = related_rows(sample.X, sample.events, sample.groups, sample.sample_weight)
    cautions = (*related, *model.cautions)
    return Analysis(
        question, counts, draw_remarks, records, sample, model, of_targets, cautions, refused, failed
    )


def _model_for(question: Question[Any], needs: Needs, sample: Sample, result: str) -> Model:
    """Return the model of a classifier as far as the methods use it, which must be a search for those of searches."""
    if any(kind.of_search for kind in needs):
        check_search(sample.estimator)
    if result == "estimate":
        return Model.of(sample, result=result)
    of_model = {method.name for method in question.readings if any(kind.of_model for kind in method.needs)}
    return Model.of(
        sample,
        needed=bool(of_model) or DESIGN in needs,
        named=not of_model.isdisjoint(question.methods.named),
        refits=any(kind.n_fits and not kind.of_search for kind in needs),
        polish=question.bound.polish,
        native=question.bound.solver == "native",
    )


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
    estimator: Any,
    X: Any,
    y: Any,
    streams: Streams,
    groups: Any = None,
    sample_weight: Any = None,
    *,
    several: bool = False,
    what: str = "the classifier",
) -> Sample:
    """Return the training set of a fitted classifier, or of a clone fitted to all rows, seeded if it has no seed.

    `what` names the classifier in messages.

    Raises
    ------
    ValueError
        If the parts do not fit each other, or the classifier cannot be fitted with the weights or groups of the rows.
    FailedRefitsError
        If its fit fails.
    """
    seed = int(streams["learners"].integers(2**31 - 1))
    check_can_be_refitted(estimator)
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        check_before_fit(X, y)
        weights = None if sample_weight is None else check_row_weights(sample_weight, count_rows(y))
        keywords = fit_keywords(estimator, sample_weight=weights, groups=groups)
        with naming_the_step(estimator, what):
            estimator = seeded_fit(estimator, X, y, seed, **keywords)
    return Sample.of(estimator, X, y, groups, sample_weight, several=several)
