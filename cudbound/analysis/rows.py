"""What was recorded for a question, and the rows: one for each method and metric, and those derived from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np

from cudbound.adapters.model import Model
from cudbound.adapters.parts import describe_classifier, procedure_in_words
from cudbound.analysis.instability_and_calibration import Instability, instability_of
from cudbound.analysis.question import Question
from cudbound.analysis.saved_file import SavedBound, SavedQuestion, SavedResult
from cudbound.basis.exceptions import CudboundWarning, FailedRefitsError
from cudbound.basis.method_card import MethodCard, Needs, RecordKind
from cudbound.basis.results import Estimand, IntervalEstimate, OneRow, TestedRows
from cudbound.basis.sample import Sample
from cudbound.basis.validation import check_confidence_level
from cudbound.basis.words import format_limit, format_proportion
from cudbound.bound.cud_bound import CudBound
from cudbound.intervals import Method, compute_interval
from cudbound.intervals.laber_murphy import BOUND
from cudbound.metrics import predictive
from cudbound.metrics.metric import SENSITIVITY, SPECIFICITY, Metric, MetricRows
from cudbound.metrics.metrics import NET_BENEFIT, PREDICTIVE, RATIOS, Metrics, in_metric_terms, way_of_parts
from cudbound.point_estimates.auc import NO_DRAW_OF_BOTH
from cudbound.point_estimates.bootstrap_632 import share_limits
from cudbound.records import Records
from cudbound.records.records import count_fits
from cudbound.report.tables import SINGLE, Run
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.make_records import Counts
from cudbound.resampling.splits import TEST_SET

#: Why a result that no call returned cannot be saved.
UNKNOWN_ORIGIN = (
    "the origin of this result is unknown, since it is part of a table or was made by hand: save what "
    "cudbound.compare_intervals, cudbound.performance_interval or cudbound.cud_interval returned"
)

Named = TypeVar("Named", bound=MethodCard)
Rows = tuple[IntervalEstimate, ...]


def compute_rows(
    row_class: type[OneRow],
    methods: Iterable[Named],
    compute: Callable[[Named], OneRow],
    needed: Callable[[Named], Needs],
    *,
    refused: Mapping[str, str],
    failed: Mapping[RecordKind[Any], Exception],
    **fields: Any,
) -> tuple[OneRow, ...]:
    """Return one row per method. A method that fails keeps its row, with the reason: the refits of the others are kept.

    Parameters
    ----------
    row_class : type
    methods : iterable of MethodCard
    compute : callable
        ``compute(method)`` returns the row.
    needed : callable
        ``needed(method)`` returns the records that it reads.
    refused : mapping of str to str
        Why methods were left out, by name.
    failed : mapping of RecordKind to Exception
        Records that could not be made, with the error.
    **fields
        Further fields of rows without numbers.

    Raises
    ------
    Exception
        The first error, if no method could be computed.
    """
    rows: list[OneRow] = []
    errors: list[Exception] = []
    n_computed = 0
    for method in methods:
        reason = refused.get(method.name)
        if reason is None:
            try:
                for kind in sorted(needed(method) & failed.keys()) if failed else ():
                    raise failed[kind]
                rows.append(compute(method))
                n_computed += 1
                continue
            except Warning:
                raise
            except Exception as error:
                errors.append(error)
                prefix = "" if isinstance(error, FailedRefitsError) else f"{type(error).__name__}: "
                reason = f"could not be computed: {prefix}{' '.join(str(error).split())}"
        about = {"method": method.name, "estimand": method.estimand, "words": method.words(), "n_fits": 0}
        rows.append(row_class.of(row_class.undefined(reason), **about, **fields))
    if errors and not n_computed:
        raise errors[0]
    return tuple(rows)


@dataclass(frozen=True, eq=False)
class Analysis:
    """The basis of a table: the question, the sample, draws and records. The rest is computed when read.

    A pickle has no row of the data, and no classifier.

    Attributes
    ----------
    question : Question
        With the metrics of the classifier.
    counts : ndarray of int32, shape (n_resamples, n_samples)
        The bootstrap draws.
    draw_remarks : tuple of str
        How the draws differ from ordinary bootstrap draws.
    records : Records
        Of the plain losses.
    sample : Sample
        With its fitted classifier; missing in a result from a pickle, like `model` and `of_targets`.
    model : Model
        Facts on the classifier.
    of_targets : tuple of (MetricRows, Records)
        Each target, with the records as it uses them.
    cautions : tuple of CudboundWarning
        From the training rows themselves, and their features.
    refused : mapping of str to str
        Why methods cannot be computed, by name.
    failed : mapping of RecordKind to Exception
        Records that could not be made, with the error.
    """

    question: Question[Any]
    counts: Counts = field(repr=False)
    draw_remarks: tuple[str, ...]
    records: Records = field(repr=False)
    sample: Sample = field(repr=False)
    model: Model = field(repr=False)
    of_targets: tuple[tuple[MetricRows, Records], ...] = field(repr=False)
    cautions: tuple[CudboundWarning, ...]
    refused: Mapping[str, str]
    failed: Mapping[RecordKind[Any], Exception]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of a pickle what has rows of the data, after what is computed from it."""
        if self.sample is None:
            return vars(self)
        # a pickle is not worth refits
        facts = self.records, self.sample, self.run, self.question.n_jobs
        instability = vars(self).get("instability") or instability_of(*facts, refit=False)
        computed = {"run": self.run, "saved": self.saved, "instability": instability}
        without: dict[str, Any] = {"sample": None, "model": None, "of_targets": (), "failed": {}}
        return {**vars(self), **computed, **without}

    @property
    def cud_bounds(self) -> tuple[tuple[CudBound, ...], ...]:
        """The CUD bounds of each family of metrics; empty if none was requested."""
        bound_of: dict[tuple[Metric, ...], dict[Metric, CudBound]] = {}
        for target, records in self.of_targets:
            if (bound := records.get(BOUND)) is not None:
                bound_of.setdefault(target.cud_metrics, {})[target.metric] = bound
        return tuple(tuple(bounds[metric] for metric in family) for family, bounds in bound_of.items())

    @cached_property
    def saved(self) -> SavedResult:
        """The content of a file, without the rows of a table."""
        bounds, question = self.cud_bounds, self.question
        tested, cv = self.records.test_set, question.resampling.cv
        # splitters and cases are not in the file
        n_folds = int(cv) if isinstance(cv, int | np.integer) else None
        passed_again: dict[Literal["cv", "new_cases"], bool] = {
            "cv": cv is not None and n_folds is None,
            "new_cases": tested is not None and tested.estimand == "conditional",
        }
        return SavedResult(
            SavedQuestion(
                metric=question.metrics,
                confidence_level=question.confidence_level,
                n_resamples=question.n_resamples,
                bound=question.bound,
                rng=question.seed,
                methods=tuple(method.name for method in question.methods),
                named=tuple(sorted(question.methods.named)),
                options=question.methods.options,
                alternative=question.alternative,
                resampling=replace(question.resampling, cv=n_folds),
                passed_again=tuple(name for name, is_needed in passed_again.items() if is_needed),
            ),
            self.sample.fingerprint,
            self.run.classifiers[SINGLE],
            self.counts,
            bounds[0][0].problem.coef if bounds else None,
            tuple(map(SavedBound.of, bounds)),
        )

    @cached_property
    def run(self) -> Run:
        """The content of the notes under the table, without settings that no record depends on."""
        needs, question = self.question.needs(self.refused), self.question
        localized = self.model.additive is not None and any(kind.per == "family" for kind in needs)
        return Run(
            **self.sample.facts,
            n_resamples=question.n_resamples if any(kind.of_draws for kind in needs) else None,
            localization=question.bound.localization if localized else None,
            seed=question.seed,
            classifiers={SINGLE: describe_classifier(self.sample.estimator)},
            choices=question.choices,
            procedures={SINGLE: procedure_in_words(self.sample.estimator)},
            cautions=self.cautions,
        )

    @cached_property
    def instability(self) -> Instability | None:
        """How much the refits differ in each row; None without refits on bootstrap draws of two classes."""
        return instability_of(self.records, self.sample, self.run, self.question.n_jobs)

    def at(self, confidence_level: float) -> Analysis:
        """Return the same analysis at another level, from the same records; only a bound may be searched further."""
        question = replace(self.question, confidence_level=check_confidence_level(confidence_level))
        of_targets = []
        for target, records in self.of_targets:
            target_at = replace(target, family_level=confidence_level)
            if (bound := records.get(BOUND)) is not None:
                records = records.with_record(BOUND, bound.at(confidence_level=target_at.cud_level))
            of_targets.append((target_at, records))
        reason = "a user-defined method is computed at the level of the call only: call again with this level"
        refused = {
            method.name: reason for method in self.question.methods if method.user_function is not None
        }
        return replace(
            self, question=question, of_targets=tuple(of_targets), refused={**self.refused, **refused}
        )

    def rows(self) -> Rows:
        """Compute the rows of all metrics in the requested order, including metrics derived from others."""
        metrics, records, alternative = self.question.metrics, self.records, self.question.alternative
        named: dict[str, Rows] = {}
        target_of: dict[str, MetricRows] = {}
        # rows of sensitivity and specificity that hold together, by their alternative
        pairs: dict[str, dict[str, Rows]] = {}
        for target, target_records in self.of_targets:
            rows = rows_of_target(self, target, target_records)
            if target.of_pair:
                pairs.setdefault(target.alternative, {})[target.metric.name] = rows
            else:
                named[target.metric.name], target_of[target.metric.name] = rows, target

        def parts(rows: Mapping[str, Rows]) -> Iterable[tuple[IntervalEstimate, IntervalEstimate]]:
            return zip(rows[SENSITIVITY.name], rows[SPECIFICITY.name], strict=True)

        for name in metrics.among(PREDICTIVE):
            behind = target_of[SENSITIVITY.name], target_of[SPECIFICITY.name]
            named[name] = tuple(_predictive(name, metrics, behind, pair, records) for pair in parts(named))
        for name in metrics.among(RATIOS):
            of_way = named if metrics.joint else pairs[way_of_parts(name, alternative)]
            named[name] = tuple(predictive.ratio_interval(name, *pair, alternative) for pair in parts(of_way))
        if NET_BENEFIT in named:
            target, is_of_sample = target_of[NET_BENEFIT], metrics.prevalence == "sample"
            named[NET_BENEFIT] = tuple(
                predictive.net_benefit_interval(
                    row, _share(target, records, row.new_cases) if is_of_sample else None
                )
                for row in named[NET_BENEFIT]
            )
        if isinstance(metrics.prevalence, float):
            for name in named.keys() & {*metrics.among(PREDICTIVE), NET_BENEFIT}:
                named[name] = tuple(
                    replace(row, estimand=replace(row.estimand, prevalence=metrics.prevalence))
                    for row in named[name]
                )
        return tuple(row for name in metrics.names for row in named[name])


def rows_of_target(analysis: Analysis, target: MetricRows, target_records: Records) -> Rows:
    """Return the rows of all methods for one target, with the records as it uses them."""
    question, records, metric = analysis.question, analysis.records, target.metric
    methods = question.methods.reading([metric.reads])
    tested = None if records.test_set is None else records.test_set.rows_of(metric.event_class)

    def compute(method: Method) -> IntervalEstimate:
        level, with_others = target.level_and_remarks(method.needs)
        row = compute_interval(
            method,
            target_records,
            level,
            question.methods.options_of(method),
            alternative=metric.alternative_of_loss(target.alternative),
        )
        if method.on_test_set and tested is not None:
            # a record of all tested rows has said it
            based_on = "" if row.tested and row.tested.sizes else tested.averaged(metric.shares)
        else:
            based_on = "" if target.plain else target.based_on
            with_others = (*analysis.draw_remarks, *with_others)
            if row.tested is not None and tested is not None:
                # the record of one class does not know of the other
                if row.tested.sizes is None:
                    with_others = (f"pooled with {tested.averaged(metric.shares)}", *with_others)
                row = replace(row, tested=replace(tested, pooled=True))
        n_fits = count_fits(records, question.methods.needed(method))
        # the level that all intervals of the family have together
        row = replace(row, confidence_level=target.family_level, n_fits=n_fits)
        return in_metric_terms(row, metric, based_on, with_others)

    needed, refused = question.methods.needed, dict(analysis.refused)
    if not target.plain:
        # records without the rows that the metric averages
        unread = {
            kind: _why_unread(kind, metric, tested)
            for kind in needed(*methods)
            if kind.of_every_metric and records.get(kind) is not None and target_records.get(kind) is None
        }
        refused |= {
            card.name: unread[kind] for card in methods for kind in sorted(needed(card) & unread.keys())
        }
    rows = compute_rows(
        IntervalEstimate,
        methods,
        compute,
        needed,
        refused=refused,
        failed=analysis.failed,
        confidence_level=target.family_level,
        alternative=target.alternative,
        metric=metric.name,
        lowest=metric.limits().low,
        highest=metric.limits().high,
    )
    on_test_set = [method.name for method in methods if method.on_test_set]
    if tested is None or not on_test_set:
        return rows
    # also of those that could not be computed
    estimand = Estimand(records.require(TEST_SET).estimand)
    return tuple(
        replace(row, tested=tested, center=tested.center, estimand=estimand)
        if row.method in on_test_set
        else row
        for row in rows
    )


def _why_unread(kind: RecordKind[Any], metric: Metric, tested: TestedRows | None) -> str:
    """Return why a record has not the rows that a metric averages."""
    if kind is BOOTSTRAP:
        return NO_DRAW_OF_BOTH
    if kind is TEST_SET and tested is not None and tested.sizes is not None:
        return f"undefined: based on {tested.averaged(metric.shares)}"
    return f"undefined: {kind.words} has too few rows for the {metric.name}; use fewer, stratified folds"


def _share(target: MetricRows, records: Records, tested: TestedRows | None) -> predictive.Proportion:
    """Return the share of events, with limits at the level of a target's rows: of new cases, or else in training."""
    level = 2.0 * target.family_level - 1.0 if target.alternative != "two-sided" else target.family_level
    if tested is not None:
        event = np.asarray(records.require(TEST_SET).event)
        return predictive.Proportion(*share_limits(event, None, None, level))
    return predictive.Proportion(*share_limits(target.event, target.sample_weight, records.groups, level))


def _predictive(
    name: str,
    metrics: Metrics,
    targets: tuple[MetricRows, MetricRows],
    pair: tuple[IntervalEstimate, IntervalEstimate],
    records: Records,
) -> IntervalEstimate:
    tested = pair[0].tested
    if metrics.prevalence != "sample":
        share = float(metrics.prevalence or 0.0)
        prevalence = predictive.Proportion(share, share, share, np.inf)
        at = f"the prevalence {format_limit(share)}"
    else:
        prevalence = _share(targets[0], records, pair[0].new_cases)
        at = prevalence.in_words(predictive.of_sample(pair[0]))
        if metrics.joint:
            share_in_words = format_proportion(prevalence.estimate)
            at = f"the prevalence {share_in_words} {predictive.of_sample(pair[0])}, taken as known"
    if metrics.joint:
        return predictive.predictive_interval(name, *pair, prevalence, at)
    n_others, n_events = tested.sizes if tested is not None and tested.sizes else (0, 0)
    events, others = targets
    n_rows = (n_events or events.n_effective, n_others or others.n_effective)
    if tested is not None and tested.pooled:
        n_rows = (n_events + events.n_effective, n_others + others.n_effective)
    return predictive.predictive_interval(name, *pair, prevalence, at, n_rows)
