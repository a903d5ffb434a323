"""The targets of intervals: one per metric of a call, with its confidence levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from numpy.typing import NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.rounding import format_level
from cudbound.basis.validation import Array
from cudbound.metrics.metric import SENSITIVITY, SPECIFICITY, Metric, MetricRows
from cudbound.metrics.metrics import ResolvedMetrics


@dataclass(frozen=True, eq=False)
class Target:
    """One metric on the rows of a training set, and the levels of its intervals, which are computed only here.

    Attributes
    ----------
    rows : MetricRows
    family : tuple of MetricRows
        The metrics whose intervals are simultaneous with this one, including itself.
    own_level : float
        Level of the family, and of methods that bound the family as a whole.
    each_level : float
        Level of each interval of the other methods, by Bonferroni's inequality: the error probability is divided.
    alternative : {"two-sided", "less", "greater"}
        About the metric.
    alternative_of_loss : {"two-sided", "less", "greater"}
        The same alternative for the underlying mean loss.
    """

    rows: MetricRows
    family: tuple[MetricRows, ...]
    own_level: float
    each_level: float
    alternative: str
    alternative_of_loss: str

    @property
    def metric(self) -> Metric:
        """The metric."""
        return self.rows.metric

    @property
    def bounded(self) -> tuple[MetricRows, ...]:
        """The metrics of the family that depend on the classes, which are bounded together."""
        return tuple(one for one in self.family if one.metric.reads == "classes")

    @property
    def bounded_level(self) -> float:
        """The joint level of these, after Bonferroni's inequality for the family."""
        if len(self.bounded) == len(self.family):
            return self.own_level
        return 1.0 - (1.0 - self.each_level) * len(self.bounded)

    def at(self, confidence_level: float) -> Target:
        """Return the same target at another level of its family."""
        each = level_of_each(confidence_level, len(self.family))
        return replace(self, own_level=confidence_level, each_level=each)

    @property
    def one_sided(self) -> bool:
        """Whether the intervals have one limit."""
        return self.alternative != "two-sided"

    def level(self, needs: frozenset[str]) -> float:
        """Return the level of a method that uses these records."""
        return self.bounded_level if "bound" in needs else self.each_level

    def remarks(self, needs: frozenset[str]) -> tuple[str, ...]:
        """Return the metrics with which an interval of such a method is simultaneous, and its level."""
        apart = self.bounded if "bound" in needs else (self.rows,)
        others = [one.metric.name for one in self.family if one not in apart]
        level = format_level(round(self.level(needs), 6))
        return (f"together with {' and '.join(others)}: each at {level}",) if others else ()


def level_of_each(confidence_level: float, n_intervals: int) -> float:
    """Return the level of each of several intervals that hold together at a level, by Bonferroni's inequality."""
    return confidence_level if n_intervals == 1 else 1.0 - (1.0 - confidence_level) / n_intervals


def targets_of(
    asked: ResolvedMetrics,
    event: NDArray[Any],
    sample_weight: Array | None,
    confidence_level: float,
    alternative: str,
) -> tuple[Target, ...]:
    """Return the target of each requested metric, and of the metrics behind predictive values and likelihood ratios.

    Those behind likelihood ratios come last, as simultaneous pairs of sensitivity and specificity, unless all metrics
    are simultaneous.

    `event` marks the events, or gives the class of each row; `sample_weight` their weights.
    """

    def family(metrics: Sequence[Metric], joint: bool, way: str) -> tuple[Target, ...]:
        numbers = (1 if one.event_class is None else one.event_class for one in metrics)
        parts = [(one, event == number) for one, number in zip(metrics, numbers, strict=True)]
        rows = tuple(MetricRows(one, is_event, sample_weight) for one, is_event in parts)
        each = level_of_each(confidence_level, len(rows) if joint else 1)
        loss_ways = [one.metric.alternative_of_loss(way) for one in rows]
        return tuple(
            Target(one, rows if joint else (one,), confidence_level, each, way, loss_way)
            for one, loss_way in zip(rows, loss_ways, strict=True)
        )

    found = family(asked.all_metrics, asked.joint, alternative)
    if asked.joint:
        if "lr-" in asked.ratios and alternative != "two-sided":
            rule = "'two-sided' for an lr- jointly with other metrics: it decreases as sensitivity increases"
            raise ParameterError("alternative", rule, alternative)
        return found
    ways = dict.fromkeys(way_of_parts(name, alternative) for name in asked.ratios)
    return (*found, *chain.from_iterable(family((SENSITIVITY, SPECIFICITY), True, way) for way in ways))


def way_of_parts(ratio: str, alternative: str) -> str:
    """Convert an alternative about a likelihood ratio to sensitivity and specificity: LR- decreases with both."""
    return SENSITIVITY.alternative_of_loss(alternative) if ratio == "lr-" else alternative
