"""Intervals for the Brier score with t quantiles: around the .632+ estimate, and from a test set."""

from __future__ import annotations

import math

import numpy as np

from cudbound.basis.outcomes import Estimand, Outcome
from cudbound.intervals.method import EQUAL, Method, Pivot
from cudbound.point_estimates.bootstrap_632 import (
    NOTHING_OUT_OF_BAG,
    brier_variance,
    effective_rows,
    estimate_632_plus,
)
from cudbound.records import LOSSES, Records
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.splits import TEST_SET

EQUAL_LOSSES = "all squared errors are equal: their variance is 0"


def _limits(
    estimate: float, variance: float, n: float, confidence_level: float, estimand: Estimand | None
) -> Outcome:
    if n < 2.0:
        return Outcome.undefined("undefined: a single row has no variance")
    error = math.sqrt(max(variance, 0.0) / n)
    error = 0.0 if error <= EQUAL else error
    pivot = Pivot(estimate, error, n - 1.0, degenerate=EQUAL_LOSSES, estimand=estimand)
    return pivot.outcome(confidence_level)


def _plus(records: Records, confidence_level: float) -> Outcome:
    """t interval around the .632+ Brier score, with the variance of squared errors.

    Formula: E +/- t(1 - d/2; n - 1) sqrt(v / n); E is the .632+ Brier score, v the larger of two variances of squared
    errors, on the training rows and out of bag, where every row counts once.
    Assumptions: the .632+ estimate varies like the mean of n new squared errors.
    Tendency: liberal: at level .95, coverage was .70 in the worst and .93 in the median of 87 settings; misses
    subgroups with few rows in the data.
    Reference: Efron and Tibshirani (1997), section 3, for the estimate; the limits are by definition those of a mean.
    """
    plus = estimate_632_plus(records).estimate
    if math.isnan(plus):
        return Outcome.undefined(NOTHING_OUT_OF_BAG)
    return _limits(plus, brier_variance(records), effective_rows(records), confidence_level, None)


def _test_set(records: Records, confidence_level: float) -> Outcome:
    """t interval for the Brier score on a test set.

    Formula: B +/- t(1 - d/2; m - 1) sqrt(v / m); B and v are mean and sample variance of the m squared errors on the
    test set.
    Assumptions: test points are independent and new to the classifier; their mean squared error is nearly normal.
    Tendency: liberal if few test points have large squared errors; zero width if all are equal.
    Reference: Student (1908).
    """
    record = records.require(TEST_SET)
    losses = np.asarray(record.losses, dtype=np.float64)
    variance = float(losses.var(ddof=1)) if losses.size > 1 else 0.0
    return _limits(
        float(losses.mean()), variance, float(losses.size), confidence_level, Estimand(record.estimand)
    )


PLUS_T_632 = Method(
    name="632-plus-t", reads="probabilities", needs=frozenset({LOSSES, BOOTSTRAP}), cost="B", compute=_plus
)

TEST_SET_T = Method(
    name="test-set-t",
    reads="probabilities",
    estimand=Estimand("holdout-model"),
    needs=frozenset({TEST_SET}),
    cost="1, or 0 with a new test set",
    compute=_test_set,
)
