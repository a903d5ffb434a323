"""Metrics in studies: their true values on a large sample, and rows that say whether all of several were covered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.results import IntervalEstimate
from cudbound.metrics.metric import METRICS, Metric, MetricRows
from cudbound.metrics.metrics import COST, PREDICTIVE, Metrics
from cudbound.metrics.predictive import negative_predictive_value, positive_predictive_value
from cudbound.study.design.scenario import Scenario
from cudbound.study.populations.population import Truth
from cudbound.study.populations.truth import fixed_cases
from cudbound.study.run.replicate_rows import IntervalRow

#: Cases on which a metric is found; for a class that is a tenth of them the standard error is at most .0036.
N_METRIC_CASES = 200_000


def true_metrics(
    population: Any,
    classifier: Any,
    names: Sequence[str],
    *,
    prevalence: float | str | None = None,
    costs: tuple[float, float] | None = None,
) -> tuple[Truth, ...]:
    """Return the metrics of a fitted classifier of the classes 0 and 1 on a fixed large sample of a world.

    A population that has few enough cases to be judged on all of them has them as ``all_cases``.

    Parameters
    ----------
    population : Population
    classifier : fitted scikit-learn classifier
    names : sequence of str
    prevalence : float or "sample" or None, default=None
        Share of events that predictive values are for; "sample" takes that of the large sample.
    costs : tuple of two float, or None, default=None
        What a misclassified non-event and a misclassified event costs, for the metric "cost".

    Raises
    ------
    ValueError
        If a predictive value is asked for of a classifier that never predicts the class it is about.
    """
    X, event = _cases(population)
    wrong = np.asarray(classifier.predict(X) == 1) != event
    return tuple(
        _predictive_value(population, name, wrong, event, prevalence)
        if name in PREDICTIVE
        else _linear_metric(_metric_rows(population, name, costs), wrong)
        for name in names
    )


def _linear_metric(rows: MetricRows, wrong: NDArray[np.bool_]) -> Truth:
    loss = min(max(rows.mean_loss(wrong), 0.0), 1.0)  # rounding may pass the ends
    return Truth(
        rows.metric.from_loss(loss), rows.metric.scale * math.sqrt(loss * (1.0 - loss) / rows.n_effective)
    )


def _predictive_value(
    population: Any,
    name: str,
    wrong: NDArray[np.bool_],
    event: NDArray[np.bool_],
    prevalence: float | str | None,
) -> Truth:
    """Return a predictive value; its standard error is that of a share of the cases that are called so."""
    of_sample = float(np.mean(event))
    share = of_sample if prevalence is None or isinstance(prevalence, str) else prevalence
    sensitivity, specificity = (
        _linear_metric(_metric_rows(population, one, None), wrong).value
        for one in ("sensitivity", "specificity")
    )
    predictive_value = positive_predictive_value if name == "ppv" else negative_predictive_value
    value = predictive_value(sensitivity, specificity, share)
    n_called = int(np.count_nonzero((wrong != event) == (name == "ppv")))
    if n_called == 0:
        raise ValueError(f"The {name} of a classifier that never calls a case so is not defined.")
    return Truth(value, math.sqrt(value * (1.0 - value) / n_called))


def _cases(population: Any) -> tuple[Any, NDArray[np.bool_]]:
    in_all = hasattr(population, "all_cases")
    X, y = population.all_cases if in_all else fixed_cases(population, N_METRIC_CASES)
    return X, np.asarray(y == 1)


@lru_cache(maxsize=8)
def _metric_rows(population: Any, name: str, costs: tuple[float, float] | None) -> MetricRows:
    metric = Metric(COST, costs=costs) if name == COST and costs is not None else METRICS[name]
    return MetricRows(metric, _cases(population)[1])


def metrics_of(scenario: Scenario) -> Metrics:
    """Return the metrics that a scenario studies: one by itself, several together."""
    names = scenario.metric
    costs = None if scenario.costs is None else dict(enumerate(scenario.costs))
    return Metrics(
        names[0] if len(names) == 1 else names,
        joint=len(names) > 1,
        prevalence=scenario.prevalence,
        costs=costs,
    )


def joint_rows(rows: Sequence[IntervalEstimate], truths: Sequence[Truth]) -> tuple[IntervalRow, ...]:
    """Return one row for each method, which covers 0 if all its intervals cover their true values.

    Its lower limit is by how much the true value that is farthest outside lies outside, negative if all are inside;
    its width is the mean width of the intervals.

    Parameters
    ----------
    rows : sequence of IntervalEstimate
        Those of all methods for the first metric, then for the second, and so on.
    truths : sequence of Truth
        One for each metric.
    """
    n_methods = len(rows) // len(truths)
    found = []
    for number, first in enumerate(rows[:n_methods]):
        own = rows[number::n_methods]
        outside = [
            max(row.low - truth.value, truth.value - row.high) for row, truth in zip(own, truths, strict=True)
        ]
        is_given = all(map(math.isfinite, outside))
        low = max(outside) if is_given else None
        high = None if low is None else low + float(np.mean([row.width for row in own]))
        reason = next((row.degenerate for row in own if row.degenerate), None)
        found.append(
            IntervalRow(
                first.method, str(first.estimand), None, low, high, low, high, first.n_fits, reason, "joint"
            )
        )
    return tuple(found)
