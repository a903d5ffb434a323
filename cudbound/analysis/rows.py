"""From records to rows: the result of each method for each target, and rows derived from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from cudbound.analysis.question import Question
from cudbound.basis.exceptions import FailedRefitsError
from cudbound.basis.method_card import MethodCard, Needs
from cudbound.basis.outcomes import Estimand, TestedRows
from cudbound.basis.record_kind import RecordKind
from cudbound.basis.results import IntervalEstimate, OneRow
from cudbound.basis.rounding import format_limit, format_proportion
from cudbound.bound.cud_bound import CudBound
from cudbound.intervals import Method, compute_interval
from cudbound.intervals.cud import BOUND
from cudbound.metrics.metric import SENSITIVITY, SPECIFICITY, Metric, MetricRows
from cudbound.metrics.metrics import NET_BENEFIT, ResolvedMetrics
from cudbound.metrics.predictive import (
    Proportion,
    net_benefit_interval,
    of_sample,
    predictive_interval,
    ratio_interval,
)
from cudbound.metrics.targets import Target, in_metric_terms, way_of_parts
from cudbound.point_estimates.bootstrap_632 import share_limits
from cudbound.records import Records
from cudbound.records.records import count_fits
from cudbound.resampling.splits import TEST_SET

Named = TypeVar("Named", bound=MethodCard)
Rows = tuple[IntervalEstimate, ...]


@dataclass(frozen=True, eq=False)
class RecordedTargets:
    """The records of all targets of a question, from which rows are computed at any level.

    Attributes
    ----------
    targets : tuple of Target
    records : tuple of Records
        As each target uses them.
    refused : mapping of str to str
        Why methods cannot be computed, by name.
    failed : mapping of RecordKind to Exception
        Records that could not be made, with the error.
    draw_remarks : tuple of str
        How the draws differ from ordinary bootstrap draws.
    """

    targets: tuple[Target, ...]
    records: tuple[Records, ...]
    refused: Mapping[str, str]
    failed: Mapping[RecordKind[Any], Exception]
    draw_remarks: tuple[str, ...]

    @property
    def bounds(self) -> tuple[tuple[CudBound, ...], ...]:
        """The CUD bounds of each family of targets; empty if none was requested."""
        bound_of: dict[tuple[MetricRows, ...], dict[MetricRows, CudBound]] = {}
        for target, records in zip(self.targets, self.records, strict=True):
            if (bound := records.get(BOUND)) is not None:
                bound_of.setdefault(target.cud_metrics, {})[target.rows] = bound
        return tuple(tuple(bounds[rows] for rows in family) for family, bounds in bound_of.items())

    def at(self, confidence_level: float) -> RecordedTargets:
        """Return the same at another level; a bound is searched further if what was proved does not suffice."""
        targets = tuple(target.at(confidence_level) for target in self.targets)

        def at_level(target: Target, records: Records) -> Records:
            bound = records.get(BOUND)
            if bound is None:
                return records
            return records.with_record(BOUND, bound.at(confidence_level=target.cud_level))

        return replace(self, targets=targets, records=tuple(map(at_level, targets, self.records)))


def compute_rows(
    kind: type[OneRow],
    methods: Iterable[Named],
    compute: Callable[[Named], OneRow],
    options_of: Callable[[Named], Mapping[str, Any]],
    *,
    refused: Mapping[str, str] = MappingProxyType({}),
    failed: Mapping[RecordKind[Any], Exception] = MappingProxyType({}),
    **fields: Any,
) -> tuple[OneRow, ...]:
    """Return one row per method. A method that fails keeps its row, with the reason: the refits of the others are kept.

    Parameters
    ----------
    kind : type
        The class of the rows.
    methods : iterable of MethodCard
    compute : callable
        ``compute(method)`` returns the row.
    options_of : callable
        ``options_of(method)`` returns its options, on which the records that it reads may depend.
    refused : mapping of str to str, default={}
        Why methods were left out, by name.
    failed : mapping of RecordKind to Exception, default={}
        Records that could not be made, with the error.
    **fields
        Further fields of rows without numbers.

    Raises
    ------
    Exception
        The first error, if no method could be computed.
    """

    def unavailable(method: Named, reason: str) -> OneRow:
        undefined = kind.undefined(reason)
        return kind.of(
            undefined, method=method.name, estimand=method.estimand, words=method.words, n_fits=0, **fields
        )

    rows: list[OneRow] = []
    errors: list[Exception] = []
    n_computed = 0
    for method in methods:
        if method.name in refused:
            rows.append(unavailable(method, refused[method.name]))
            continue
        try:
            for kind_of_record in sorted(method.needed(options_of(method)) & failed.keys()) if failed else ():
                raise failed[kind_of_record]
            rows.append(compute(method))
            n_computed += 1
        except Warning:
            raise
        except Exception as error:
            errors.append(error)
            prefix = "" if isinstance(error, FailedRefitsError) else f"{type(error).__name__}: "
            reason = " ".join(str(error).split())
            rows.append(unavailable(method, f"could not be computed: {prefix}{reason}"))
    if errors and not n_computed:
        raise errors[0]
    return tuple(rows)


def rows_of_target(
    question: Question[Method],
    target: Target,
    records: Records,
    target_records: Records,
    recorded: RecordedTargets,
) -> Rows:
    """Return the rows of all methods for one target.

    Parameters
    ----------
    question : Question
    target : Target
    records : Records
        For the plain losses.
    target_records : Records
        As the target uses them.
    recorded : RecordedTargets
        Its remarks on the draws are for every row that reads the training rows.
    """
    metric = target.metric
    methods = question.methods.reading([metric.reads])
    tested = None if records.test_set is None else records.test_set.rows_of(metric.event_class)

    def compute(method: Method) -> IntervalEstimate:
        options = question.methods.options_of(method)
        row = compute_interval(
            method,
            target_records,
            target.level(method.needs),
            options,
            alternative=metric.alternative_of_loss(target.alternative),
        )
        with_others = target.remarks(method.needs)
        if method.on_test_set and tested is not None:
            # a record of all tested rows has said it
            based_on = "" if row.tested and row.tested.sizes else tested.averaged(metric.shares)
            row = in_metric_terms(row, metric, based_on, with_others)
        else:
            based_on = "" if target.rows.plain else target.rows.based_on
            with_others = (*recorded.draw_remarks, *with_others)
            if row.tested is not None and tested is not None:
                # the record of one class does not know of the other
                if row.tested.sizes is None:
                    with_others = (f"pooled with {tested.averaged(metric.shares)}", *with_others)
                row = replace(row, tested=replace(tested, pooled=True))
            row = in_metric_terms(row, metric, based_on, with_others)
        n_fits = count_fits(records, method.needed(options))
        # the level that all intervals of the family have together
        return replace(row, confidence_level=target.family_level, n_fits=n_fits)

    needed = (method.needed(question.methods.options_of(method)) for method in methods)
    needs = {kind for kinds in needed for kind in kinds}
    untested, too_few = _unread(needs, metric, records, target_records, tested)
    rows = compute_rows(
        IntervalEstimate,
        methods,
        compute,
        question.methods.options_of,
        refused={**recorded.refused}
        | {card.name: untested for card in methods if untested and TEST_SET in card.needs},
        failed={**recorded.failed, **too_few},
        confidence_level=target.family_level,
        alternative=target.alternative,
        metric=metric.name,
        lowest=metric.range.low,
        highest=metric.range.high,
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


def _unread(
    needs: Needs,
    metric: Metric,
    records: Records,
    target_records: Records,
    tested: TestedRows | None,
) -> tuple[str, dict[RecordKind[Any], Exception]]:
    """Return why no row that a metric averages was tested, if so, and errors for other records without such rows."""
    unread = [
        kind
        for kind in needs
        if kind.of_every_metric and records.get(kind) is not None and target_records.get(kind) is None
    ]
    rule = f"has too few rows for the {metric.name}: use fewer, stratified folds"
    too_few: dict[RecordKind[Any], Exception] = {kind: ValueError(f"{kind.words} {rule}") for kind in unread}
    if tested is None or tested.sizes is None or too_few.pop(TEST_SET, None) is None:
        return "", too_few
    return f"undefined: based on {tested.averaged(metric.shares)}", too_few


def all_rows(
    question: Question[Method], metrics: ResolvedMetrics, records: Records, recorded: RecordedTargets
) -> Rows:
    """Return the rows of all metrics in the requested order, including metrics derived from others.

    `records` are those of the plain losses.
    """
    named: dict[str, Rows] = {}
    target_of: dict[str, Target] = {}
    # rows of sensitivity and specificity that hold together, by their alternative
    pairs: dict[str, dict[str, Rows]] = {}
    for target, target_records in zip(recorded.targets, recorded.records, strict=True):
        rows = rows_of_target(question, target, records, target_records, recorded)
        if target.of_pair:
            pairs.setdefault(target.alternative, {})[target.metric.name] = rows
        else:
            named[target.metric.name], target_of[target.metric.name] = rows, target

    def parts(rows: Mapping[str, Rows]) -> Iterable[tuple[IntervalEstimate, IntervalEstimate]]:
        return zip(rows[SENSITIVITY.name], rows[SPECIFICITY.name], strict=True)

    for name in metrics.predictive:
        behind = target_of[SENSITIVITY.name], target_of[SPECIFICITY.name]
        named[name] = tuple(_predictive(name, metrics, behind, pair, records) for pair in parts(named))
    for name in metrics.ratios:
        of_way = named if metrics.joint else pairs[way_of_parts(name, question.alternative)]
        named[name] = tuple(ratio_interval(name, *pair, question.alternative) for pair in parts(of_way))
    if NET_BENEFIT in named:
        target, is_of_sample = target_of[NET_BENEFIT], metrics.prevalence == "sample"
        named[NET_BENEFIT] = tuple(
            net_benefit_interval(row, _share(target, records, row.new_cases) if is_of_sample else None)
            for row in named[NET_BENEFIT]
        )
    if isinstance(metrics.prevalence, float):
        for name in named.keys() & {*metrics.predictive, NET_BENEFIT}:
            named[name] = tuple(
                replace(row, estimand=replace(row.estimand, prevalence=metrics.prevalence))
                for row in named[name]
            )
    return tuple(row for name in metrics.names for row in named[name])


def _share(target: Target, records: Records, tested: TestedRows | None) -> Proportion:
    """Return the share of events, with limits at the level of a target's rows: of new cases, or else in training."""
    level = 2.0 * target.family_level - 1.0 if target.one_sided else target.family_level
    if tested is not None:
        event = np.asarray(records.require(TEST_SET).event)
        return Proportion(*share_limits(event, None, None, level))
    return Proportion(*share_limits(target.rows.event, target.rows.sample_weight, records.groups, level))


def _predictive(
    name: str,
    metrics: ResolvedMetrics,
    targets: tuple[Target, Target],
    pair: tuple[IntervalEstimate, IntervalEstimate],
    records: Records,
) -> IntervalEstimate:
    tested = pair[0].tested
    if metrics.prevalence != "sample":
        share = float(metrics.prevalence or 0.0)
        prevalence = Proportion(share, share, share, np.inf)
        at = f"the prevalence {format_limit(share)}"
    else:
        prevalence = _share(targets[0], records, pair[0].new_cases)
        at = prevalence.in_words(of_sample(pair[0]))
        if metrics.joint:
            share_in_words = format_proportion(prevalence.estimate)
            at = f"the prevalence {share_in_words} {of_sample(pair[0])}, taken as known"
    if metrics.joint:
        return predictive_interval(name, *pair, prevalence, at)
    n_others, n_events = tested.sizes if tested is not None and tested.sizes else (0, 0)
    events, others = (target.rows for target in targets)
    n_rows = (n_events or events.n_effective, n_others or others.n_effective)
    if tested is not None and tested.pooled:
        n_rows = (n_events + events.n_effective, n_others + others.n_effective)
    return predictive_interval(name, *pair, prevalence, at, n_rows)
