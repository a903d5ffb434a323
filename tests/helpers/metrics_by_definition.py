"""Metrics, and the supremum of their deviations, row by row in plain Python, as they are defined."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from oracles import enumerate_q, localization

from cudbound.metrics.metric import (
    ACCURACY,
    BALANCED_ACCURACY,
    BALANCED_ERROR,
    ERROR,
    FNR,
    FPR,
    SENSITIVITY,
    SPECIFICITY,
    Metric,
    MetricRows,
)
from cudbound.problem.problem import Problem
from cudbound.records import Records

COST = Metric("cost", costs=(1.0, 4.0))
#: What each is the mean over, with the shares: the events (True), the others (False), or all rows (None).
PARTS: dict[Metric, list[tuple[float, bool | None]]] = {
    ERROR: [(1.0, None)],
    ACCURACY: [(1.0, None)],
    FPR: [(1.0, False)],
    FNR: [(1.0, True)],
    BALANCED_ACCURACY: [(0.5, False), (0.5, True)],
    SENSITIVITY: [(1.0, True)],
    SPECIFICITY: [(1.0, False)],
    BALANCED_ERROR: [(0.5, False), (0.5, True)],
    COST: [(1.0, None)],
}
#: One minus the mean.
COMPLEMENTS = (SENSITIVITY, SPECIFICITY, ACCURACY, BALANCED_ACCURACY)
METRICS = tuple(PARTS)


def by_definition(metric: Metric, wrong: Iterable[Any], event: Iterable[Any], weight: Iterable[Any]) -> float:
    """The metric of a sample of rows, each listed with its weight, in plain Python; it must hold what is averaged."""
    mean = mean_loss(metric, wrong, event, weight, [1.0 for _ in event])
    return 1.0 - mean if metric in COMPLEMENTS else mean * (4.0 if metric is COST else 1.0)


def enumerated(
    problem: Problem, metric: Metric, event: NDArray[np.bool_], draw: int, weight: NDArray[np.float64]
) -> float:
    """Q of one draw: every open cell, the metric on the draw and on the training set, and g, as they are defined."""
    cells = enumerate_q(problem, draw)
    rng = np.random.default_rng(0)
    found = 0.0
    for cell in range(cells.cells):
        # off the hyperplanes of rows whose weights cancel, which the cells ignore
        point = cells.interior[cell] + 1e-10 * rng.normal(size=problem.coef.size)
        scores = problem.design @ point
        wrong = np.where((scores > 0.0) | ~problem.design.any(axis=1), 1.0, -1.0) != problem.labels
        on_draw = by_definition(metric, wrong, event, problem.counts[draw] * weight)
        gap = abs(on_draw - by_definition(metric, wrong, event, weight))
        found = max(
            found, gap * float(localization(problem.localization, cells.anchor_loss, cells.least[cell]))
        )
    return found


def mean_loss(
    metric: Metric, wrong: Iterable[Any], event: Iterable[Any], weight: Iterable[Any], times: Iterable[Any]
) -> float | None:
    """The mean loss of rows that stand `times` in a sample, in [0, 1]; None where a class is missing."""
    rows = list(zip(weight, wrong, event, times, strict=True))
    total = 0.0
    for share, label in PARTS[metric]:
        above = below = 0.0
        for w, m, e, k in rows:
            if label is None or e == label:
                below += w * k
                above += w * k * m * (1.0 if metric is not COST or e else 0.25)
        if below == 0.0:
            return None
        total += share * above / below
    return total


def centers_by_hand(
    metric: Metric, records: Records, event: NDArray[np.bool_], weight: Any
) -> tuple[float, float, float]:
    """Optimism-corrected mean loss, Err(1), .632 and .632+ by their definitions, for one row after another."""
    wrong, draws = records.losses, records.bootstrap
    ones = np.ones(event.size)
    training = mean_loss(metric, wrong, event, weight, ones)
    gaps = [
        mean_loss(metric, row, event, weight, ones) - mean_loss(metric, row, event, weight, times)
        for row, times in zip(draws.losses, draws.counts, strict=True)
    ]
    seen = MetricRows(metric, event, weight)
    per_row, mass = [], []
    for i in np.flatnonzero(seen.rows):
        out = [row[i] for row, times in zip(draws.losses, draws.counts, strict=True) if times[i] == 0]
        if out:
            alone = np.arange(event.size) == i
            price = 0.25 if metric is COST and not event[i] else 1.0
            per_row.append(price * sum(out) / len(out))
            mass.append(mean_loss(metric, alone, event, weight, ones) / price)
    n = int(seen.rows.sum())
    err1 = sum(w * e for w, e in zip(mass, per_row, strict=True)) * n / len(per_row)
    called = wrong ^ event
    share = sum(w * c for w, c in zip(weight, called, strict=True)) / sum(weight)
    gamma = sum(
        p * mean_loss(metric, (event != guess), event, weight, ones)
        for guess, p in ((True, share), (False, 1 - share))
    )
    least = min(err1, gamma)
    rate = (least - training) / (gamma - training) if least > training else 0.0
    w = 0.632 / (1.0 - 0.368 * rate)
    optimism = min(max(training + sum(gaps) / len(gaps), 0.0), 1.0)
    return optimism, 0.368 * training + 0.632 * err1, (1 - w) * training + w * least
