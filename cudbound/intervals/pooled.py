"""Training cases and new ones in one interval, from cudbound: the counts of both are added.

The recommended interval, `cudbound.intervals.two_center`, has limits as if its centers had been observed on n new
cases. New cases of the same population add to these: the mean loss on m of them is observed. A check compares both.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import betainc, betaln, expit, log_expit

from cudbound.basis.proportions import inverted_binomial_limits
from cudbound.basis.results import ConfidenceInterval, IntervalEstimate, Outcome
from cudbound.basis.validation import check_number
from cudbound.intervals.method import Method
from cudbound.intervals.two_center import TWO_CENTER, brier_size, of_complement
from cudbound.point_estimates.auc import AucSize, delong_variance, placements
from cudbound.point_estimates.bootstrap_632 import effective_rows
from cudbound.records import Records
from cudbound.resampling.splits import TEST_SET

ONE_CLASS = "undefined: the new cases are of one class"
NOT_NEW = (
    "pooled adds new cases to the training rows, and these are rows held out of them: pass new_cases=(X_new, y_new), "
    "or TestSetLosses(..., estimand='conditional'). Without new cases, use two-center."
)


def new_worse_pvalue(center: float, n: float, loss: float, m: float) -> float:
    """Return the p-value for a larger mean loss of new cases than the training data promised.

    It is the probability of m `loss` errors or more among m new cases, averaged over what n cases with n `center`
    errors leave open about the error. For whole numbers it is Fisher's exact test, which counts the uncertainty of both
    parts and rejects a true hypothesis at most at its level; incomplete beta functions continue it to other numbers.

    References
    ----------
    Altham, P. M. E. (1969). Exact Bayesian analysis of a 2 x 2 contingency table, and Fisher's "exact" significance
    test. Journal of the Royal Statistical Society B 31, 261-269.

    Examples
    --------
    >>> round(new_worse_pvalue(0.2, 50, 0.4, 25), 4), new_worse_pvalue(0.2, 50, 0.0, 25)
    (0.0599, 1.0)
    """
    if loss <= 0.0 or center >= 1.0:
        return 1.0
    errors, before, after = m * loss, n * center + 1.0, n * (1.0 - center)
    # over the log-odds of the error the density is smooth, and sums of equal steps are as good as exact
    step = min(0.05, 0.5 / math.sqrt(n + m))
    odds = np.arange(-40.0, 40.0, step)
    density = np.exp(before * log_expit(odds) + after * log_expit(-odds) - betaln(before, after))
    fewer = betainc(m - errors + 1.0, errors, expit(-odds))
    return min(max(1.0 - step * float(density @ fewer), 0.0), 1.0)


def _pooled(
    trained: Outcome, loss: float, size: Callable[[float], float], confidence_level: float
) -> Outcome:
    """Return the interval of a mean loss; ``size(center)``: number of zeros and ones that the new cases count as."""
    numbers = trained.details
    low_size, high_size = numbers["lower_size"], numbers["upper_size"]
    low_new, high_new = size(numbers["lower_center"]), size(numbers["upper_center"])
    # its lower limit is also 0 for a classifier that may be perfect
    lower = numbers["lower_center"] if trained.raw_interval.low > 0.0 else 0.0
    errors = low_size * lower + low_new * loss, high_size * numbers["upper_center"] + high_new * loss
    low = float(inverted_binomial_limits(errors[0], low_size + low_new, confidence_level)[0])
    high = float(inverted_binomial_limits(errors[1], high_size + high_new, confidence_level)[1])
    estimate = (high_size * trained.estimate + high_new * loss) / (high_size + high_new)
    return replace(
        trained,
        estimate=min(max(estimate, low), high),
        raw_interval=ConfidenceInterval(low, high),
        details={
            **numbers,
            "new_cases": loss,
            "new_size": high_new,
            "new_worse_pvalue": new_worse_pvalue(numbers["upper_center"], high_size, loss, high_new),
        },
        center="mean of training and new cases",
        words=None,
    )


def cases_needed(row: IntervalEstimate, n_samples: int, half_width: float) -> int:
    """Return the smallest number of new cases for which the expected half-width of "pooled" is at most a target.

    The new cases are expected to have the estimate of `row`, and the same share of events as the training rows.

    Parameters
    ----------
    row : IntervalEstimate
        By "two-center" or "pooled", two-sided; only what it says of the training rows is used.
    n_samples : int
        Training rows.
    half_width : float
        On the scale of the mean loss, in [0.0001, 0.5).

    Raises
    ------
    ValueError
        If the row has no centers, or has one limit only.
    """
    check_number("half_width", half_width, 1e-4, 0.5)
    numbers, level = row.details, row.confidence_level
    if "lower_size" not in numbers or row.alternative != "two-sided":
        raise ValueError(
            "The number of new cases follows from two-sided intervals by two-center and pooled, of metrics not made "
            f"from others. This one is by {row.method}, {row.alternative}, for the {row.metric}."
        )
    expected = (numbers["cross_validated"] + numbers["at_632_plus"]) / 2.0
    sizes, centers = (
        np.array([numbers[f"{side}_{what}"] for side in ("lower", "upper")]) for what in ("size", "center")
    )

    def half(m: int) -> float:
        added = sizes * m / n_samples
        limits = inverted_binomial_limits(sizes * centers + added * expected, sizes + added, level)
        return float(limits[1][1] - limits[0][0]) / 2.0

    most = 1
    while half(most) > half_width:
        most *= 2
    return (
        0
        if half(0) <= half_width
        else bisect_left(range(most + 1), True, key=lambda m: half(m) <= half_width)
    )


def _trained(records: Records, confidence_level: float) -> Outcome:
    """Return the recommended interval; raise ValueError if the tested rows were held out of the training set."""
    if records.require(TEST_SET).estimand != "conditional":
        raise ValueError(NOT_NEW)
    method: Any = TWO_CENTER.reading(records.kind)
    outcome: Outcome = method.compute(records, confidence_level)
    return outcome


def _of_classes(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits for the training cases, as in two-center, and new cases together.

    Formula: low = lo(n l + k; n + m), high = up(n h + k; n + m); k errors on m new cases; l, h and n are the
    centers and numbers of cases of two-center; low = lo(k; n + m) where two-center has the lower limit 0.
    Assumptions: those of two-center; the new cases are independent, and of the same population.
    Tendency: in the registered study, with new cases of the same population, it reached its level in 45 of 45 cells for
    the error and in 84 of 90 for sensitivity and specificity; run again, the lowest coverage in the others was .901;
    wrong if the new cases are of another population.
    Reference: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934); Efron and
    Tibshirani (1997); Kohavi (1995); Altham (1969).
    """
    trained, record = _trained(records, confidence_level), records.require(TEST_SET)
    if math.isnan(trained.estimate):
        return trained
    # costs count as in training
    size = record.n_effective * trained.details["upper_size"] / effective_rows(records)
    return _pooled(trained, float(np.mean(record.losses)), lambda _: size, confidence_level)


def _of_probabilities(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits for the training cases, as in two-center, and new cases together.

    Formula: low = lo(n l + me b; n + me), high = up(n h + me b; n + me); l, h and n are the centers and numbers of
    cases of two-center; b is the Brier score of the new cases; me is their number of cases by the same rule, with
    the larger of the variances in training and among them.
    Assumptions: those of two-center; the new cases are independent, and of the same population.
    Tendency: in the registered study, with new cases of the same population, it reached its level in 36 of 36 cells;
    the lowest coverage was .927.
    Reference: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934); Efron and
    Tibshirani (1997); Kohavi (1995); Altham (1969).
    """
    trained = _trained(records, confidence_level)
    losses = np.asarray(records.require(TEST_SET).losses, dtype=float)
    if math.isnan(trained.estimate):
        return trained
    m = float(losses.size)
    variance = max(trained.details["variance"], float(losses.var(ddof=1)) if m > 1.0 else 0.0)
    return _pooled(
        trained, float(losses.mean()), lambda center: brier_size(center, variance, m), confidence_level
    )


def _of_scores(records: Records, confidence_level: float) -> Outcome:
    """Binomial limits for the training cases, as in two-center, and new cases together.

    Formula: low = lo(n l + me a; n + me), high = up(n h + me a; n + me), for the loss 1 - AUC; l, h and n are the
    centers and numbers of cases of two-center; 1 - a is the AUC of the new cases; me is their number of cases by
    the same rule.
    Assumptions: those of two-center; the new cases are independent, and of the same population.
    Tendency: in the registered study, with new cases of the same population, it reached its level in 36 of 36 cells;
    the lowest coverage was .933.
    Reference: this package, docs/explanation/recommended_interval.md; Clopper and Pearson (1934); Efron and
    Tibshirani (1997); Kohavi (1995); Hanley and McNeil (1982); DeLong et al. (1988); Newcombe (2006); Altham
    (1969).
    """
    trained, record = _trained(records, confidence_level), records.require(TEST_SET)
    if math.isnan(trained.estimate):
        return trained
    n_events, n_others = int(record.event.sum()), int((~record.event).sum())
    if min(n_events, n_others) == 0:
        return Outcome.undefined(ONE_CLASS)
    parts = placements(record.scores, record.event)
    sizes = AucSize(n_events, n_others, min(n_events, n_others), delong_variance(*parts))
    of_loss = _pooled(
        of_complement(trained),
        1.0 - float(parts[0].mean()),
        lambda center: sizes.at(1.0 - center),
        confidence_level,
    )
    return of_complement(of_loss)


POOLED = Method(
    "pooled",
    TWO_CENTER.needs | {TEST_SET},
    cost="B + 50",
    compute=_of_classes,
    variants={
        kind: {"compute": compute, "needs": TWO_CENTER.variants[kind].needs | {TEST_SET}}
        for kind, compute in (("scores", _of_scores), ("probabilities", _of_probabilities))
    },
)
