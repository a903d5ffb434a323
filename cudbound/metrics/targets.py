"""What intervals are for: one target for each metric of a call, with the levels at which it is bounded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.rounding import format_level
from cudbound.basis.validation import Array
from cudbound.metrics.metric import Metric, MetricRows
from cudbound.metrics.metrics import ResolvedMetrics


@dataclass(frozen=True, eq=False)
class Target:
    """One metric on the rows of a training set, and the levels of its intervals, which are made nowhere else.

    Attributes
    ----------
    rows : MetricRows
    family : tuple of MetricRows
        The metrics whose intervals hold together with this one, itself among them.
    own_level : float
        Of the family as a whole, and of the methods that bound the family as a whole.
    each_level : float
        Of each interval of the other methods, by Bonferroni's inequality: the error probability is divided.
    alternative : {"two-sided", "less", "greater"}
        About the metric.
    alternative_of_loss : {"two-sided", "less", "greater"}
        What that says of the mean loss behind it.
    """

    rows: MetricRows
    family: tuple[MetricRows, ...]
    own_level: float
    each_level: float
    alternative: str
    alternative_of_loss: str

    @property
    def metric(self) -> Metric:
        """What is bounded."""
        return self.rows.metric

    @property
    def bounded(self) -> tuple[MetricRows, ...]:
        """The metrics of the family that follow from the classes, which are bounded together."""
        return tuple(one for one in self.family if one.metric.reads == "classes")

    @property
    def bounded_level(self) -> float:
        """The level of these together: what Bonferroni's inequality leaves of the level of the family."""
        if len(self.bounded) == len(self.family):
            return self.own_level
        return 1.0 - (1.0 - self.each_level) * len(self.bounded)

    @property
    def one_sided(self) -> bool:
        """Whether the intervals have one limit."""
        return self.alternative != "two-sided"

    def level(self, needs: frozenset[str]) -> float:
        """Return the level of a method that reads these records."""
        return self.bounded_level if "bound" in needs else self.each_level

    def remarks(self, needs: frozenset[str]) -> tuple[str, ...]:
        """Return with which metrics an interval of such a method holds together by the level that it has."""
        apart = self.bounded if "bound" in needs else (self.rows,)
        others = [one.metric.name for one in self.family if one not in apart]
        level = format_level(round(self.level(needs), 6))
        return (f"together with {' and '.join(others)}: each at {level}",) if others else ()


def targets_of(
    asked: ResolvedMetrics,
    event: NDArray[np.bool_],
    sample_weight: Array | None,
    confidence_level: float,
    alternative: str,
) -> tuple[Target, ...]:
    """Return the target of each metric asked for, and of those behind predictive values.

    `event` says which rows are events, `sample_weight` their weights.
    """
    rows = tuple(MetricRows(one, event, sample_weight) for one in asked.all_metrics)
    each = 1.0 - (1.0 - confidence_level) / len(rows) if asked.joint and len(rows) > 1 else confidence_level
    return tuple(
        Target(
            one,
            rows if asked.joint else (one,),
            confidence_level,
            each,
            alternative,
            one.metric.alternative_of_loss(alternative),
        )
        for one in rows
    )
