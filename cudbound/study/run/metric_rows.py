"""Metrics in studies: their true values on a large sample, and rows that say whether all of several were covered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.metrics.asked import METRICS, Metrics
from cudbound.metrics.metric import MetricRows
from cudbound.results import IntervalEstimate
from cudbound.study.populations.population import Truth
from cudbound.study.populations.truth import TRUTH_SEED
from cudbound.study.run.rows import IntervalRow

#: Cases on which a metric is found; for a class that is a tenth of them the standard error is at most .0036.
N_METRIC_CASES = 200_000


def true_metrics(population: Any, classifier: Any, names: Sequence[str]) -> tuple[Truth, ...]:
    """Return the metrics of a fitted classifier of the classes 0 and 1 on a fixed large sample of a world.

    A population that has few enough cases to be judged on all of them has them as ``all_cases``.
    """
    X, event = _cases(population)
    wrong = np.asarray(classifier.predict(X) == 1) != event
    found = []
    for name in names:
        seen = _seen(population, name)
        value = min(max(seen.value(wrong), 0.0), 1.0)  # rounding may pass the ends
        found.append(Truth(value, math.sqrt(value * (1.0 - value) / seen.n_effective)))
    return tuple(found)


@lru_cache(maxsize=4)
def _cases(population: Any) -> tuple[Any, NDArray[np.bool_]]:
    if hasattr(population, "all_cases"):
        X, y = population.all_cases
    else:
        X, y = population.sample(N_METRIC_CASES, np.random.default_rng(TRUTH_SEED))
    return X, np.asarray(y == 1)


@lru_cache(maxsize=8)
def _seen(population: Any, name: str) -> MetricRows:
    return MetricRows(METRICS[name], _cases(population)[1])


def asked_for(names: Sequence[str]) -> Metrics:
    """Return what is asked for: one metric by itself, several together."""
    return Metrics(names[0]) if len(names) == 1 else Metrics(tuple(names), joint=True)


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
    for number in range(n_methods):
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
                own[0].method,
                str(own[0].estimand),
                None,
                low,
                high,
                low,
                high,
                own[0].n_fits,
                reason,
                "joint",
            )
        )
    return tuple(found)
