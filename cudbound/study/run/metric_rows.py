"""Metrics in studies: their true values on a large sample, and rows for simultaneous coverage of several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.adapters.kept_scores import Scoring
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.validation import Array
from cudbound.metrics.metric import SENSITIVITY, SPECIFICITY, Metric, MetricRows
from cudbound.metrics.metrics import NET_BENEFIT, Metrics
from cudbound.metrics.predictive import VALUES, likelihood_ratio
from cudbound.point_estimates.auc import hanley_mcneil_size, order_codes, weighted_auc
from cudbound.study.populations.population import Truth
from cudbound.study.populations.truth import N_TRUTH_CASES, fixed_cases
from cudbound.study.run.replicate_rows import IntervalRow

#: Cases for the true value of a metric; for a class with a tenth of them, the standard error is at most .0036.
N_METRIC_CASES = 200_000


def true_metrics(population: Any, classifier: Any, metrics: Metrics) -> tuple[Truth, ...]:
    """Return the metrics of a fitted classifier of the classes 0 and 1 on a fixed large sample of a world.

    If a population has ``all_cases``, these are used instead. The prevalence "sample" is that of the large sample.

    Parameters
    ----------
    population : Population
    classifier : fitted scikit-learn classifier
    metrics : Metrics

    Raises
    ------
    ValueError
        If a predictive value is requested for a classifier that never predicts its class.
    """
    asked = metrics.resolve()
    # an AUC and a Brier score rest on all cases, and not on those of one class or of one prediction
    X, event = _cases(population, N_METRIC_CASES if "classes" in metrics.kinds else N_TRUTH_CASES)
    called = np.asarray(classifier.predict(X) == 1)
    found = {
        one.name: _linear_metric(_metric_rows(population, one), called != event)
        if one.reads == "classes"
        else _of_scores(one, Scoring((one.reads,)).of(classifier, X)[one.reads], event)
        for one in dict.fromkeys((*asked.all_metrics, *((SENSITIVITY, SPECIFICITY) if asked.ratios else ())))
    }
    prevalence = asked.prevalence if isinstance(asked.prevalence, float) else float(np.mean(event))
    for name in asked.ratios:
        value = likelihood_ratio(name, found["sensitivity"].value, found["specificity"].value)
        if math.isnan(value):
            raise ValueError(f"The {name} is not defined for a classifier that never makes this prediction.")
        found[name] = Truth(value)
    if NET_BENEFIT in found and not isinstance(asked.prevalence, float):
        cost = found[NET_BENEFIT]
        found[NET_BENEFIT] = Truth(cost.value + prevalence, cost.standard_error)
    for name in asked.predictive:
        # the standard error is that of a share of the cases that are called so
        n_called = int(np.count_nonzero(called == (name == "ppv")))
        if n_called == 0:
            raise ValueError(f"The {name} is not defined for a classifier that never makes this prediction.")
        value = VALUES[name](found["sensitivity"].value, found["specificity"].value, prevalence)
        found[name] = Truth(value, math.sqrt(value * (1.0 - value) / n_called))
    return tuple(found[name] for name in asked.names)


def _linear_metric(rows: MetricRows, wrong: NDArray[np.bool_]) -> Truth:
    loss = min(max(rows.mean_loss(wrong), 0.0), 1.0)  # rounding may pass the ends
    error = rows.metric.scale * math.sqrt(loss * (1.0 - loss) / rows.n_effective)
    return Truth(rows.metric.from_loss(loss), error)


def _of_scores(metric: Metric, scores: Array, event: NDArray[np.bool_]) -> Truth:
    """Return the AUC of scores, or the Brier score of probabilities."""
    if metric.reads == "probabilities":
        errors = (event - scores) ** 2
        return Truth(float(errors.mean()), float(errors.std() / math.sqrt(errors.size)))
    auc = float(weighted_auc(order_codes(scores[None]), event, np.ones(event.size))[0])
    n_cases = hanley_mcneil_size(auc, int(event.sum()), int((~event).sum()))
    return Truth(auc, math.sqrt(auc * (1.0 - auc) / n_cases))


def _cases(population: Any, n_cases: int) -> tuple[Any, NDArray[np.bool_]]:
    all_cases = getattr(population, "all_cases", None)
    X, y = fixed_cases(population, n_cases) if all_cases is None else all_cases
    return X, np.asarray(y == 1)


@lru_cache(maxsize=8)
def _metric_rows(population: Any, metric: Metric) -> MetricRows:
    return MetricRows(metric, _cases(population, N_METRIC_CASES)[1])


def joint_rows(rows: Sequence[IntervalEstimate], truths: Sequence[Truth]) -> tuple[IntervalRow, ...]:
    """Return one row per method, which covers 0 if all its intervals cover their true values.

    Its lower limit is the largest distance of a true value outside its interval, negative if all are inside; its width
    is the mean width of the intervals.

    Parameters
    ----------
    rows : sequence of IntervalEstimate
        Rows of all methods for the first metric, then for the second, and so on.
    truths : sequence of Truth
        One per metric.
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
