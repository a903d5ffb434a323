"""From records to rows, metric by metric: bounds that hold together, and what each method says of each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.analysis.cud_result import CudResult, solve_bound, solve_joint_bounds
from cudbound.analysis.session import Session
from cudbound.basis.bars import Progress
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.rounding import format_level
from cudbound.bound.signed_suprema import solve_signed_suprema
from cudbound.intervals import Method, compute_interval
from cudbound.intervals.effective_size import share_limits
from cudbound.intervals.two_center import cap_range
from cudbound.metrics.metric import SENSITIVITY, SPECIFICITY, Metric, MetricRows
from cudbound.metrics.metric_terms import in_metric_terms
from cudbound.metrics.metrics import Family, ResolvedMetrics
from cudbound.metrics.predictive import Proportion, joint_predictive_interval, predictive_interval
from cudbound.metrics.views import BY_ROW, can_be_seen, view
from cudbound.point_estimates.two_centers import allows_cap
from cudbound.problem.additive_model import AdditiveModel
from cudbound.records import Records, SignedSuprema
from cudbound.records.reading import count_fits
from cudbound.solve.search import Search


@dataclass(frozen=True, eq=False)
class Bounds:
    """The searches of one call: what they share, and what was found for each metric.

    Attributes
    ----------
    session : Session
    model : AdditiveModel
    counts : ndarray of int32, shape (n_resamples, n_samples)
    localization : float
        Localization rate on the scale of the mean loss.
    search : Search
    progress : bool, Progress or None
    """

    session: Session[Method]
    model: AdditiveModel
    counts: NDArray[np.int32]
    localization: float
    search: Search
    progress: bool | Progress | None = None

    def solve(self, family: Family) -> tuple[CudResult, ...]:
        """Return the CUD results of a family, in the order of its metrics."""
        shared: dict[str, Any] = {
            "confidence_level": family.confidence_level,
            "localization": self.localization,
            "search": self.search,
            "progress": self.progress,
        }
        if len(family.seen) == 1:
            return (solve_bound(self.model, self.counts, seen=family.seen[0], **shared),)
        return solve_joint_bounds(self.model, self.counts, family.seen, **shared)

    def suprema(
        self, family: Family, seen: MetricRows, records: Records, alternative: str, tails: str
    ) -> SignedSuprema:
        """Return the signed suprema of one metric of a family, as far as its upper limit depends on them."""
        level = family.each_level
        # a lower limit does not depend on them
        matters = (1.0, 0.0) if alternative == "greater" else cap_range(records, level, alternative, tails)
        return solve_signed_suprema(
            self.model,
            self.counts,
            probability=level if alternative != "two-sided" else 0.5 + level / 2,
            localization=self.localization,
            search=replace(self.search, side="negative"),
            matters=matters,
            progress=self.progress,
            seen=seen,
        )


@dataclass(frozen=True, eq=False)
class Rows:
    """How rows are computed from records: what the metrics of one call share.

    Attributes
    ----------
    session : Session
    records : Records
        Of the plain losses.
    alternative : str
        About the metrics.
    refused : mapping of str to str
        Why methods were left out, by their names.
    capped : sequence of Method
        Those that read signed suprema.
    bounds : Bounds or None
        None where the classifier has none, or nobody reads them.
    remarks : tuple of str
        What is to be said of the draws in every row.
    """

    session: Session[Method]
    records: Records
    alternative: str
    refused: Mapping[str, str]
    capped: Sequence[Method]
    bounds: Bounds | None
    remarks: tuple[str, ...] = ()
    results: Mapping[str, tuple[CudResult, ...]] = field(default_factory=dict)

    def of(self, family: Family) -> dict[Metric, tuple[IntervalEstimate, ...]]:
        """Return the rows of all methods for each metric of a family."""
        return {one.metric: self._of_metric(family, number) for number, one in enumerate(family.seen)}

    def _of_metric(self, family: Family, number: int) -> tuple[IntervalEstimate, ...]:
        seen = family.seen[number]
        metric = seen.metric
        alternative = metric.alternative_of_loss(self.alternative)
        records = view(self.records, seen)
        if family.key in self.results:
            records = replace(records, bound=self.results[family.key][number])
        searched = self.bounds is not None and self.capped and not records.why_not_capped
        if self.bounds is not None and searched and records.bootstrap is not None and allows_cap(records):
            tails = self.session.options_of(self.capped[0]).get("tails", "equal")
            suprema = self.bounds.suprema(family, seen, records, alternative, tails)
            records = replace(records, signed_suprema=suprema)

        def compute(method: Method) -> IntervalEstimate:
            for need in sorted(method.needs & BY_ROW):
                if getattr(self.records, need) is not None and getattr(records, need) is None:
                    raise ValueError(
                        f"the recorded {need} hold too few rows for the {metric.name}: take fewer, stratified folds, "
                        "or test more rows"
                    )
            own_level = "bound" in method.needs  # its suprema are over all metrics of the family
            level = family.confidence_level if own_level else family.each_level
            row = compute_interval(
                method,
                records,
                level,
                self.session.options_of(method),
                alternative=alternative,
            )
            remarks = self.remarks
            if len(family.seen) > 1 and not own_level:
                others = " and ".join(one.metric.name for one in family.seen if one is not seen)
                remarks = (*remarks, f"together with {others}: each at {format_level(round(level, 6))}")
            n_fits = count_fits(self.records, self.session.needs_of(method))
            row = replace(row, confidence_level=family.confidence_level, n_fits=n_fits)
            return in_metric_terms(row, metric, "" if seen.plain else seen.rests_on, remarks)

        return self.session.rows(
            IntervalEstimate,
            compute,
            refused=self.refused,
            confidence_level=family.confidence_level,
            alternative=self.alternative,
            metric=metric.name,
            highest=metric.scale,
        )

    def all(self, asked: ResolvedMetrics, families: Sequence[Family]) -> tuple[IntervalEstimate, ...]:
        """Return the rows of all metrics, in the order asked for."""
        found: dict[Metric, tuple[IntervalEstimate, ...]] = {}
        for family in families:
            found |= self.of(family)
        seen = {one.metric: one for family in families for one in family.seen}
        named = {metric.name: found[metric] for metric in asked.metrics}
        for name in asked.predictive:
            pairs = zip(found[SENSITIVITY], found[SPECIFICITY], strict=True)
            named[name] = tuple(self._predictive(name, asked, seen, pair) for pair in pairs)
        return tuple(row for name in asked.names for row in named[name])

    def _predictive(
        self,
        name: str,
        asked: ResolvedMetrics,
        seen: Mapping[Metric, MetricRows],
        pair: tuple[IntervalEstimate, IntervalEstimate],
    ) -> IntervalEstimate:
        events, others = seen[SENSITIVITY], seen[SPECIFICITY]
        level = pair[0].confidence_level
        if asked.prevalence != "sample":
            share = float(asked.prevalence or 0.0)
            prevalence, at = Proportion(share, share, share, np.inf), f"the prevalence {share:g}"
        else:
            one_sided = self.alternative != "two-sided"
            prevalence = Proportion(
                *share_limits(
                    events.event,
                    events.sample_weight,
                    self.records.groups,
                    2.0 * level - 1.0 if one_sided else level,
                )
            )
            at = f"the prevalence {prevalence.estimate:.3g} of the sample"
            known = f", limits {prevalence.low:.3g} to {prevalence.high:.3g}"
            at += ", taken as known" if asked.joint else known
        if asked.joint:
            return joint_predictive_interval(name, *pair, prevalence.estimate, at)
        return predictive_interval(name, *pair, prevalence, (events.n_effective, others.n_effective), at)


def check_seen(
    methods: Sequence[Method], asked: ResolvedMetrics, *, lenient: bool, weighted: bool = False
) -> dict[str, str]:
    """Return the methods that cannot be computed for the metrics asked for, or for weights, each with the reason.

    Raises
    ------
    ValueError
        If there are some and they were asked for by name.
    """
    what = "rows with weights" if weighted else " or ".join(asked.names)
    lost = "that cannot be weighted" if weighted else "of both classes that cannot be told apart"
    refused = {
        method.name: f"not available for {what}: it reads {', '.join(sorted(method.needs))}, means over rows {lost}"
        for method in methods
        if not can_be_seen(method.needs)
    }
    if refused and not lenient:
        known = [method.name for method in methods if method.name not in refused]
        first, reason = next(iter(refused.items()))
        instead = "leave the weights out" if weighted else "the error for the metric"
        raise ValueError(
            f"The method {first!r} is {reason}. Take methods that keep every row, such as "
            f"{known or ['two-center', 'cud']}, or {instead}."
        )
    return refused
