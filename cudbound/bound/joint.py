"""Simultaneous CUD bounds of several metrics: the quantile over draws of the largest Q over the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import warn
from cudbound.basis.proportions import inverted_cdf_quantile, quantile_rank
from cudbound.metrics.metric import Metric, MetricRows
from cudbound.problem.draws import Draws
from cudbound.problem.problem import AdditiveModel, Problem
from cudbound.solve.minimum import draws_problem
from cudbound.solve.search import Search, search_ended

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointDraws:
    """The draws of several metrics: those of the first, then those of the second, and so on.

    Attributes
    ----------
    problem : Problem
        With scores on the scale of the mean losses, in [-1, 1].
    draws : Draws
    metrics : tuple of Metric
    """

    problem: Problem = field(repr=False)
    draws: Draws = field(repr=False)
    metrics: tuple[Metric, ...]

    def bracket(self, confidence_level: float) -> tuple[float, float]:
        """Return bounds on the quantile of the largest Q over the metrics; they are equal if it is proved."""
        largest = (
            values.reshape(len(self.metrics), -1).max(axis=0)
            for values in (self.draws.lower, self.draws.upper)
        )
        lower, upper = (inverted_cdf_quantile(values, confidence_level) for values in largest)
        return lower, upper

    def of(self, number: int) -> Draws:
        """Return the draws of one metric, on its own scale."""
        part = slice(number * self.n_draws, (number + 1) * self.n_draws)
        scale = self.metrics[number].scale
        taken = {
            name: getattr(self.draws, name)[part] for name in ("lower", "upper", "status", "nodes", "witness")
        }
        taken |= {name: scale * taken[name] for name in ("lower", "upper")}
        return Draws(**taken)

    @property
    def n_draws(self) -> int:
        """Draws of each metric."""
        return len(self.draws) // len(self.metrics)

    def other_metrics(self, metric: Metric) -> str:
        """Return the names of the other metrics, in words."""
        names = [other.name for other in self.metrics if other != metric]
        return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))

    def at(self, confidence_level: float, search: Search) -> JointDraws:
        """Return the draws solved as far as another level or search requires, continuing from the proved bounds."""
        n_metrics = len(self.metrics)
        draws = search_joint(self.problem, n_metrics, confidence_level, search, self.draws)
        return replace(self, draws=draws)


def solve_joint(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    metric_rows: Sequence[MetricRows],
    *,
    confidence_level: float,
    localization: float,
    search: Search,
) -> JointDraws:
    """Solve the draws of several metrics as far as the quantile of the largest Q over them requires.

    Parameters
    ----------
    model, counts, confidence_level, localization, search
        As in `cudbound.bound.cud_bound.solve_bound`.
    metric_rows : sequence of MetricRows
        At least two.

    Warns
    -----
    NotCertifiedWarning
        If a limit, or rounding, stopped the search before the quantile was proved.
    """
    problem = joint_problem(model, counts, metric_rows, localization)
    draws = search_joint(problem, len(metric_rows), confidence_level, search)
    joint = JointDraws(problem, draws, tuple(rows.metric for rows in metric_rows))
    lower, upper = joint.bracket(confidence_level)
    if lower < upper:
        warn(search_ended(search, draws, lower, upper))
    return joint


def joint_problem(
    model: AdditiveModel, counts: NDArray[np.int32], metric_rows: Sequence[MetricRows], localization: float
) -> Problem:
    """Return the draws of several metrics, first those of the first metric, on the scale of their mean losses."""
    weights = []
    for rows in metric_rows:
        scored = rows.score_weights(counts)
        weights.append((counts - 1.0) / counts.shape[1] if scored is None else scored / rows.metric.scale)
    return draws_problem(model, np.tile(counts, (len(metric_rows), 1)), localization, np.concatenate(weights))


def search_joint(
    problem: Problem,
    n_metrics: int,
    confidence_level: float,
    search: Search,
    previous: Draws | None = None,
) -> Draws:
    """Solve draws of several metrics until the quantile of the largest value over the metrics of each draw is known.

    With a values above that quantile, the value of all metrics together that has as many above it is not below it, and
    equal to it unless a draw has several of the larger ones. For each that is, one more order statistic is needed.
    """
    n_draws = problem.n_draws // n_metrics
    n_above = n_draws - quantile_rank(n_draws, confidence_level)
    rank, draws = problem.n_draws - n_above, previous
    while True:
        draws = search.run(problem, confidence_level, draws, rank)
        lower, value = draws.bracket(rank)
        as_large = int((draws.lower.reshape(n_metrics, -1).max(axis=0) >= value).sum())
        if lower < value or as_large > n_above or search.all_draws:
            return draws
        rank -= n_above + 1 - as_large
