"""The common path of all intervals for one classifier: from a question to an analysis and its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from cudbound.adapters.model import Model, ModelUse
from cudbound.adapters.outputs import LOSSES_ONLY, RecordedOutputs, distances_from_threshold
from cudbound.adapters.parts import fit_keywords, seeded_clone, unseeded_parameters
from cudbound.adapters.procedure import procedure_in_words
from cudbound.analysis.instability import Instability, instability_in
from cudbound.analysis.plan import NewCases, Plan, check_new_cases, needs_of, use_of_model
from cudbound.analysis.question import Question
from cudbound.analysis.rows import RecordedTargets, Rows, all_rows
from cudbound.basis.exceptions import ParameterError, SavedResultError
from cudbound.basis.method_card import Needs
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.sample import Sample, predicted_probabilities
from cudbound.basis.validation import (
    Array,
    check_can_be_refitted,
    check_confidence_level,
    check_localization,
    check_row_weights,
    count_rows,
)
from cudbound.intervals import Method
from cudbound.intervals.bbc_cv import check_search
from cudbound.metrics.metrics import NET_BENEFIT, Metrics, ResolvedMetrics
from cudbound.metrics.targets import (
    Target,
    check_weights,
    draw_for_metrics,
    targets_of,
    warn_of_few,
    warn_of_few_tested,
)
from cudbound.metrics.views import check_inner_draws
from cudbound.problem.draws import check_resamples, draw_counts
from cudbound.records import Records
from cudbound.report.tables import SINGLE, Run
from cudbound.resampling.failed_refits import naming_the_step
from cudbound.resampling.make_records import (
    INNER_DRAWS,
    Counts,
    Errors,
    RecordingInputs,
    given_records,
    record_call,
    record_targets,
    refits_for,
)
from cudbound.resampling.splits import TEST_SET
from cudbound.saved.saved_file import SavedBound, SavedQuestion, SavedResult, SavedRow


@dataclass(frozen=True, eq=False)
class Analysis:
    """The basis of a table: the question, facts about the sample, draws and records, but no row of the data.

    Attributes
    ----------
    question : Question
    metrics : ResolvedMetrics
    classes : tuple
        The labels of the classifier.
    fingerprint, row_checks : str
        Of the training set, and of each of its rows.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The bootstrap draws.
    draw_remarks : tuple of str
        How the draws differ from ordinary bootstrap draws.
    records : Records
        Of the plain losses.
    bounds : tuple of SavedBound
        What was proved for each family of metrics, if requested.
    coefficients : ndarray of float or None
        The coefficients at the center of the bound; None without a bound.
    run : Run
        The content of the notes under the table.
    distances : ndarray of float, shape (n_samples,), or None
        Distance of each row's score from the threshold of the classifier.
    distances_of : str
        The quantity whose distances they are, or why there are none.
    event : ndarray of bool, shape (n_samples,), or None
        Which rows are events, if scores or probabilities were recorded.
    passed_again : tuple of str
        Arguments that a file cannot contain: "cv" if it is not a number, "new_cases".
    estimator : object
        The fitted classifier; None in a result from a pickle.
    recorded : RecordedTargets
        From which the rows are computed, at any level; None in a result from a pickle.
    """

    question: Question[Any]
    metrics: ResolvedMetrics
    classes: tuple[Any, ...]
    fingerprint: str
    row_checks: str
    counts: Counts = field(repr=False)
    draw_remarks: tuple[str, ...]
    records: Records = field(repr=False)
    bounds: tuple[SavedBound, ...]
    coefficients: Array | None
    run: Run
    distances: Array | None
    distances_of: str
    event: NDArray[np.bool_] | None = field(default=None, repr=False)
    passed_again: tuple[Literal["cv", "new_cases"], ...] = ()
    estimator: Any = field(default=None, repr=False)
    recorded: RecordedTargets | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of a pickle what has rows of the data: the classifier, and the problems of its bounds."""
        return {**vars(self), "estimator": None, "recorded": None}

    @property
    def instability(self) -> Instability | None:
        """How often the refits classify a row differently; None without refits on bootstrap draws of two classes."""
        if len(self.classes) != 2:
            return None
        return instability_in(self.records, self.distances, self.distances_of, self.run)

    def rows(self) -> Rows:
        """Compute the rows of all metrics in the requested order, one per method, at the level of the question."""
        assert self.recorded is not None
        return all_rows(self.question, self.metrics, self.records, self.recorded)

    def at(self, confidence_level: float) -> Analysis:
        """Return the same analysis at another level, from the same records; only a bound may be searched further."""
        if self.recorded is None:
            raise ValueError(
                "A result from a pickle has no rows of the data, and no other level: compute it again."
            )
        question = replace(self.question, confidence_level=check_confidence_level(confidence_level))
        recorded = self.recorded.at(confidence_level)
        reason = "a user-defined method is computed at the level of the call only: call again with this level"
        refused = {
            method.name: reason for method in self.question.methods if method.user_function is not None
        }
        recorded = replace(recorded, refused={**recorded.refused, **refused})
        return replace(
            self, question=question, recorded=recorded, bounds=tuple(map(SavedBound.of, recorded.bounds))
        )


def analyze(
    question: Question[Method],
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    sample_weight: Any = None,
    new_cases: Any = None,
    *,
    several: bool = False,
) -> Analysis:
    """Record what a question about a classifier needs.

    The steps: fit the classifier if it is not fitted; check the sample; set the levels of each target; spawn random
    streams; draw; write the additive model, or the reason for having none; plan; record.

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
    """
    estimator = fitted_classifier(estimator, X, y, question.streams, groups, sample_weight)
    sample = Sample.of(estimator, X, y, groups, sample_weight, several=several)
    metrics = question.metrics.resolve(sample.classes.tolist())
    check_resamples(question.n_resamples, sample.n_samples)
    targets = targets_of(
        metrics,
        sample.events(metrics.event_class),
        sample.sample_weight,
        question.confidence_level,
        question.alternative,
    )
    check_weights(question.metrics.kinds, sample.sample_weight)
    warn_of_few([target.rows for target in _bounded_by(question, targets, on_test_set=False)])
    counts, remarks = _draw(question, sample, metrics, targets)
    _check_threshold(estimator, sample, metrics)
    model = Model.of(estimator, sample, use_of_model(question))
    outputs = tuple(output for output in question.metrics.kinds if output != "classes")
    scoring = RecordedOutputs(outputs, metrics.event_class)
    inputs = _inputs(question, sample, estimator, new_cases, counts, targets, model, scoring)
    check_inner_draws(question.resampling.inner, targets)
    plan = Plan.of(question, inputs, targets, model)
    if refits_for(plan.needs - (set() if inputs.test_set is None else {TEST_SET})):
        # a classifier that cannot be refitted is refused before the bound is searched
        inputs = inputs.prepared()
    failed: Errors = {}
    records, of_targets = record_targets(plan.needs, inputs, {"design": model.design}, targets, failed)
    recorded = RecordedTargets(targets, tuple(of_targets), plan.refused, failed, remarks)
    if records.test_set is not None:
        for metric in {target.metric: None for target in _bounded_by(question, targets, on_test_set=True)}:
            warn_of_few_tested(metric, records.test_set.rows_of(metric.event_class))
    run = _run(question, sample, model, plan.needs, estimator, metrics.event_class)
    objects: dict[Literal["cv", "new_cases"], Any] = {"cv": question.resampling.cv, "new_cases": new_cases}
    return Analysis(
        question,
        metrics,
        tuple(sample.classes.tolist()),
        *sample.fingerprints(metrics.event_class),
        counts,
        remarks,
        records,
        tuple(map(SavedBound.of, recorded.bounds)),
        model.additive.coef if recorded.bounds and model.additive is not None else None,
        run,
        *_distances(estimator, sample, records),
        sample.events(metrics.event_class) if scoring.kinds else None,
        tuple(name for name, value in objects.items() if not isinstance(value, int | np.integer | None)),
        estimator,
        recorded,
    )


def _distances(estimator: Any, sample: Sample, records: Records) -> tuple[Array | None, str]:
    """Return the distances of the rows from the threshold and their description, if refits may classify differently."""
    if records.bootstrap is None:
        return None, "not computed"
    return distances_from_threshold(estimator, sample.X, sample.predicted_by(estimator))


def fitted_classifier(
    estimator: Any,
    X: Any,
    y: Any,
    streams: Mapping[str, np.random.Generator],
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Return a fitted classifier as it is, and otherwise a clone fitted to all rows, seeded if it has no seed.

    Raises
    ------
    ValueError
        If it cannot be fitted with the weights or groups of the rows.
    FailedRefitsError
        If its fit fails.
    """
    seed = int(streams["learners"].integers(2**31 - 1))
    weights = None if sample_weight is None else check_row_weights(sample_weight, count_rows(y))
    return fit_if_needed(estimator, X, y, seed, "the classifier", sample_weight=weights, groups=groups)


def fit_if_needed(learner: Any, X: Any, y: Any, seed: int, what: str, **metadata: Any) -> Any:
    """Return a fitted learner as it is, and otherwise a clone fitted to all rows; `what` names it in messages."""
    check_can_be_refitted(learner)
    try:
        check_is_fitted(learner)
    except NotFittedError:
        keywords = fit_keywords(learner, **metadata)
        fitted = seeded_clone(learner, seed)
        with naming_the_step(fitted, what):
            fitted.fit(X, y, **keywords)
        # clones of it take seeds of their own
        return fitted.set_params(**dict.fromkeys(unseeded_parameters(learner)))
    return learner


def _draw(
    question: Question[Any], sample: Sample, metrics: ResolvedMetrics, targets: Sequence[Target]
) -> tuple[Counts, tuple[str, ...]]:
    """Return the bootstrap draws, and how they differ from ordinary ones."""
    return draw_for_metrics(
        [target.rows for target in targets],
        question.n_resamples,
        question.rng,
        stratified=metrics.drawn_within_classes,
        groups=sample.groups,
        labels=sample.events(metrics.event_class),
    )


def _bounded_by(question: Question[Method], targets: Sequence[Target], *, on_test_set: bool) -> list[Target]:
    """Return the targets of methods that read a test set, or of those that read the training rows."""
    return [
        target
        for target in targets
        if any(
            method.on_test_set == on_test_set for method in question.methods.reading([target.metric.reads])
        )
    ]


def _check_threshold(estimator: Any, sample: Sample, metrics: ResolvedMetrics) -> None:
    """Raise ParameterError if the probabilities of a classifier show that its threshold is not the requested one."""
    cut = metrics.threshold
    if cut is None or not hasattr(estimator, "predict_proba"):
        return
    event = sample.classes.tolist()[metrics.event_class]
    risk = predicted_probabilities(estimator, sample.X, len(sample.classes))[:, metrics.event_class]
    called = sample.predicted_by(estimator) == event
    if ((risk > cut) & ~called | (risk < cut) & called).any():
        advice = (
            f" Pass FixedThresholdClassifier(classifier, threshold={cut:g}, pos_label={event!r}) of "
            f"sklearn.model_selection, fitted; on the command line, --threshold {cut:g}."
        )
        raise ParameterError("threshold", "the threshold of the classifier", cut, advice)


def _run(
    question: Question[Any],
    sample: Sample,
    model: Model,
    needs: Needs,
    estimator: Any,
    event_class: int = 1,
) -> Run:
    """Return the content of the notes under a table, without settings that no record depends on."""
    localized = model.additive is not None and any(kind.per == "family" for kind in needs)
    return Run(
        **sample.facts(event_class),
        n_resamples=question.n_resamples if any(kind.of_draws for kind in needs) else None,
        localization=question.bound.localization if localized else None,
        seed=question.seed,
        classifiers={} if model.words is None else {SINGLE: model.words},
        choices=question.choices,
        procedures={SINGLE: procedure_in_words(estimator)},
        cautions=(*sample.cautions, *model.cautions),
    )


def _inputs(
    question: Question[Method],
    sample: Sample,
    estimator: Any,
    new_cases: Any,
    counts: Counts,
    targets: Sequence[Target],
    model: Model,
    scoring: RecordedOutputs = LOSSES_ONLY,
) -> RecordingInputs:
    """Return everything known before anything is recorded."""
    methods = question.readings
    needs = needs_of(question.methods, question.metrics.kinds)
    if any(kind.of_search for kind in needs):
        check_search(estimator)
    new = NewCases(None) if new_cases is None else check_new_cases(new_cases, sample, methods)
    return RecordingInputs.of(
        sample,
        needs,
        counts=counts,
        streams=question.streams,
        estimator=estimator,
        resampling=question.resampling,
        inner_by_default=all(target.rows.plain for target in targets if target.cud_metrics),
        test_set=new.cases,
        test_remarks=new.remarks,
        model=model.additive,
        bound=question.bound,
        localization=check_localization(question.bound.localization, sample.n_samples),
        search=question.search,
        user_functions={
            method.name: method.user_function
            for method in methods
            if isinstance(method, Method) and method.user_function is not None
        },
        scoring=scoring,
        n_jobs=question.n_jobs,
    )


def record_losses(
    question: Question[Any],
    estimator: Any,
    X: Any,
    y: Any,
    groups: Any = None,
    sample_weight: Any = None,
    new_cases: Any = None,
) -> tuple[Records, Errors, Run]:
    """Record what methods for the plain error need from a classifier and its refits; parameters as for `analyze`.

    Returns
    -------
    records : Records
    failed : dict of RecordKind to Exception
        Records that could not be made, with the error.
    run : Run
        The content of the notes under a table.
    """
    estimator = fitted_classifier(estimator, X, y, question.streams, groups, sample_weight)
    sample = Sample.of(estimator, X, y, groups, sample_weight)
    size = check_resamples(question.n_resamples, sample.n_samples)
    counts = draw_counts(sample.n_samples, size, question.rng, sample.groups)
    model = Model.of(estimator, sample, ModelUse(result="estimate"))
    # no estimator reads inner draws, and none needs a row out of each draw
    inner = INNER_DRAWS if question.resampling.inner is None else question.resampling.inner
    with_inner_draws = replace(question, resampling=replace(question.resampling, inner=inner))
    inputs = _inputs(with_inner_draws, sample, estimator, new_cases, counts, (), model)
    plan = Plan.of(with_inner_draws, inputs, (), None)
    failed: Errors = {}
    records = record_call(plan.needs, inputs, given_records(inputs), failed)
    return records, failed, _run(question, sample, model, plan.needs, estimator)


def saved_analysis(analysis: Analysis | None, rows: Iterable[IntervalEstimate] = ()) -> SavedResult:
    """Return the content of a file for an analysis and its rows.

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
        analysis.bounds,
        saved_rows(rows),
        row_checks=analysis.row_checks,
    )


def _question(analysis: Analysis) -> SavedQuestion:
    metrics, question = analysis.metrics, analysis.question
    resampling = question.resampling
    linear = {metric.name: metric for metric in metrics.metrics if metric.name != NET_BENEFIT}
    return SavedQuestion(
        metric=Metrics(
            tuple(linear.get(name, name) for name in metrics.names),
            event=analysis.classes[metrics.event_class],
            prevalence=metrics.prevalence,
            joint=metrics.joint,
            stratified=metrics.stratified,
            threshold=metrics.threshold,
        ),
        confidence_level=question.confidence_level,
        n_resamples=question.n_resamples,
        bound=question.bound,
        rng=question.seed,
        methods=tuple(method.name for method in question.methods),
        named=tuple(sorted(question.methods.named)),
        options=question.methods.options,
        alternative=question.alternative,
        inner=resampling.inner,
        on_single_class=resampling.on_single_class,
        copies=resampling.copies,
        sizes=resampling.sizes,
        cv=int(resampling.cv) if isinstance(resampling.cv, int | np.integer) else None,
        passed_again=analysis.passed_again,
    )


def saved_rows(rows: Iterable[IntervalEstimate]) -> tuple[SavedRow, ...]:
    """Return the numbers of the rows of a table."""
    return tuple(SavedRow(row.method, row.metric, row.estimate, row.low, row.high) for row in rows)
