"""One replicate: draw a sample, fit, find the true error, and set all intervals beside each other."""

from __future__ import annotations

import math
import time
import traceback
import warnings

import numpy as np

from cudbound.compare import compare_intervals
from cudbound.exceptions import CudboundWarning
from cudbound.results import IntervalEstimate
from cudbound.study.population import Drawn
from cudbound.study.rows import IntervalRow, Key, ReplicateRow
from cudbound.study.scenario import Scenario, Study
from cudbound.validation import MIN_ROWS_PER_CLASS

#: Samples that may lack a class before a replicate counts as failed.
MAX_DRAWS = 1000


def run_replicate(study: Study, scenario: Scenario, n: int, replicate: int) -> ReplicateRow:
    """Run one replicate. An exception becomes a row with its traceback.

    Guarantee
    ---------
    The row depends on the study's settings, the scenario, n and the number of the replicate alone, but for `seconds`.
    """
    begun = time.perf_counter()
    key = Key(scenario.name, n, replicate)
    n_redrawn = 0
    try:
        rng = study.rng(scenario.name, n, replicate)
        drawn, n_redrawn = _draw(scenario, n, rng)
        classifier = scenario.make_classifier().fit(drawn.X, drawn.y)
        truth = drawn.true_error(classifier)
        if not (math.isfinite(truth.value) and math.isfinite(truth.standard_error)):
            raise ValueError(
                f"The true error of {scenario.population.name} must be finite. Got {truth} instead."
            )
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", CudboundWarning
            )  # what they say stands in the remarks of the rows
            table = compare_intervals(
                classifier,
                drawn.X,
                drawn.y,
                methods=study.methods,
                confidence_level=study.confidence_level,
                n_resamples=study.n_resamples,
                alpha=study.alpha,
                inner=study.inner,
                options=study.options,
                rng=rng,
            )
        training_error = float(np.mean(classifier.predict(drawn.X) != drawn.y))
        intervals = tuple(_row(estimate) for estimate in table.rows)
    except Exception:  # a failing replicate is data
        seconds = time.perf_counter() - begun
        return ReplicateRow(key, None, None, None, n_redrawn, traceback.format_exc(), (), seconds)
    return ReplicateRow(
        key,
        truth.value,
        truth.standard_error,
        training_error,
        n_redrawn,
        None,
        intervals,
        time.perf_counter() - begun,
    )


def _draw(scenario: Scenario, n: int, rng: np.random.Generator) -> tuple[Drawn, int]:
    """Draw a sample with at least two cases of each class; count those that had not."""
    for n_redrawn in range(MAX_DRAWS):
        drawn = scenario.population.draw(n, rng)
        positives = int(np.sum(drawn.y))
        if MIN_ROWS_PER_CLASS <= positives <= n - MIN_ROWS_PER_CLASS:
            return drawn, n_redrawn
    raise ValueError(
        f"{MAX_DRAWS} samples of {n} cases of {scenario.population.name} had fewer than {MIN_ROWS_PER_CLASS} cases of "
        "a class each; take larger samples."
    )


def _row(row: IntervalEstimate) -> IntervalRow:
    clipped = row.confidence_interval
    numbers = (row.estimate, clipped.low, clipped.high, row.raw_interval.low, row.raw_interval.high)
    estimate, low, high, raw_low, raw_high = (None if math.isnan(value) else value for value in numbers)
    return IntervalRow(
        row.method,
        row.estimand,
        estimate,
        low,
        high,
        raw_low,
        raw_high,
        row.n_fits,
        row.degenerate,
        "; ".join(row.remarks),
    )
