"""Binomial and related intervals from losses on the training rows, on left-out rows, and on a test set."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import betaincinv, ndtri

from cudbound.basis.method_card import COST_OF_TEST_SET, HOLDOUT_MODEL
from cudbound.basis.proportions import inverted_binomial_interval, wald_interval, wilson_interval
from cudbound.basis.results import ConfidenceInterval, Estimand, Outcome
from cudbound.intervals.at_632 import t_limits_of_brier
from cudbound.intervals.method import Method
from cudbound.point_estimates.bootstrap_632 import NOTHING_OUT_OF_BAG, out_of_bag_error
from cudbound.records import LOSSES, Records
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.folds import LEAVE_ONE_OUT
from cudbound.resampling.splits import TEST_SET


def _training_normal(records: Records, confidence_level: float) -> Outcome:
    """Normal interval on the training error.

    Formula: T +/- z(1 - d/2) sqrt(T (1 - T) / n).
    Assumptions: losses on the training rows are those of one fixed classifier on new cases.
    Tendency: too low: coverage in 8 settings was .00 to .90.
    Reference: Iyengar, Lam and Wang (2024).
    """
    error = float(np.mean(records.require(LOSSES)))
    interval = wald_interval(error, error * (1.0 - error), records.n_effective, confidence_level)
    reason = f"the binomial variance is 0 at a training error of {error:g}" if error in (0.0, 1.0) else None
    return Outcome(error, interval, degenerate=reason, center="training error")


TRAINING_NORMAL = Method(
    "training-normal", {LOSSES}, cost="0", with_groups="refits", compute=_training_normal
)


def _leave_one_out(records: Records, confidence_level: float) -> Outcome:
    """Clopper-Pearson interval from the leave-one-out losses.

    Formula: lo(k; n) and up(k; n); k is the number of leave-one-out errors.
    Assumptions: leave-one-out losses are independent losses of one fixed classifier.
    Reference: Clopper and Pearson (1934); Jiang, Varma and Simon (2008).
    """
    losses = records.require(LEAVE_ONE_OUT).losses
    error, size = float(np.mean(losses)), records.n_effective
    errors = float(np.sum(losses)) if size == np.size(losses) else error * size
    return Outcome(error, inverted_binomial_interval(errors, size, confidence_level))


LEAVE_ONE_OUT_BINOMIAL = Method(
    "leave-one-out-binomial", {LEAVE_ONE_OUT}, cost="n", with_groups="refits", compute=_leave_one_out
)


def _out_of_bag(
    records: Records, confidence_level: float, limits: Callable[[float, float, float], ConfidenceInterval]
) -> Outcome:
    error = out_of_bag_error(records)
    if math.isnan(error):
        return Outcome.undefined(NOTHING_OUT_OF_BAG)
    # weighted rows that were never out of bag can leave a mean above 1
    error = min(error, 1.0)
    return Outcome(error, limits(error, records.n_effective, confidence_level))


def _out_of_bag_wilson(records: Records, confidence_level: float) -> Outcome:
    """Wilson score interval from the out-of-bag losses.

    Formula: Wilson score limits for n Err(1) errors on n cases.
    Assumptions: out-of-bag losses are those of this classifier on new cases.
    Reference: Wilson (1927); Efron and Tibshirani (1997).
    """
    return _out_of_bag(records, confidence_level, wilson_interval)


def _out_of_bag_clopper_pearson(records: Records, confidence_level: float) -> Outcome:
    """Clopper-Pearson interval from the out-of-bag losses.

    Formula: lo(n Err(1); n) and up(n Err(1); n).
    Assumptions: out-of-bag losses are those of this classifier on new cases.
    Tendency: for several classes, coverage in 12 settings was .63 to 1.00.
    Reference: Clopper and Pearson (1934); Efron and Tibshirani (1997).
    """
    return _out_of_bag(
        records, confidence_level, lambda error, n, level: inverted_binomial_interval(error * n, n, level)
    )


OUT_OF_BAG_WILSON, OUT_OF_BAG_CLOPPER_PEARSON = (
    Method(name, {BOOTSTRAP}, cost="B", with_groups="refits", compute=compute)
    for name, compute in (
        ("out-of-bag-wilson", _out_of_bag_wilson),
        ("out-of-bag-clopper-pearson", _out_of_bag_clopper_pearson),
    )
)
#: In the order of the table.
LEFT_OUT = (LEAVE_ONE_OUT_BINOMIAL, OUT_OF_BAG_WILSON, OUT_OF_BAG_CLOPPER_PEARSON)


#: What all methods on a test set have in common.
on_test_set = partial(Method, needs={TEST_SET}, estimand=HOLDOUT_MODEL, cost=COST_OF_TEST_SET)


def wald(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Normal interval for the error on a test set.

    Formula: r +/- z sqrt(r (1 - r) / m); r = k/m; k errors on m test points; z = z(1 - d/2).
    Assumptions: test points are independent and new to the classifier.
    Tendency: liberal if few errors are expected: coverage is .72 with 25 cases and an error of .05.
    Reference: Brown, Cai and DasGupta (2001), section 2.
    """
    share = errors / n_tested
    return wald_interval(share, share * (1.0 - share), n_tested, confidence_level)


def wilson(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Wilson score interval for the error on a test set.

    Formula: (2 k + z^2 +/- z sqrt(z^2 + 4 k (1 - r))) / (2 (m + z^2)); r = k/m; k errors on m test points; z = z(1
    - d/2).
    Assumptions: test points are independent and new to the classifier.
    Tendency: near nominal on average over errors, and below the level at some.
    Reference: Wilson (1927); Brown, Cai and DasGupta (2001), section 3.1.1.
    """
    return wilson_interval(errors / n_tested, n_tested, confidence_level)


def clopper_pearson(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Exact binomial interval for the error on a test set.

    Formula: p with P(X >= k) = d/2 (0 if k = 0) and p with P(X <= k) = d/2 (1 if k = m); X is binomial(m, p); k
    errors on m test points.
    Assumptions: test points are independent and new to the classifier.
    Tendency: conservative: with cases that count alike, coverage of the error is at least nominal.
    Reference: Clopper and Pearson (1934).
    """
    return inverted_binomial_interval(errors, n_tested, confidence_level)


def wilson_corrected(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Wilson score interval with continuity correction for the error on a test set.

    Formula: (2 k + z^2 - 1 - z sqrt(z^2 - 2 - 1/m + 4 r (m (1 - r) + 1))) / (2 (m + z^2)) and (2 k + z^2 + 1 + z
    sqrt(z^2 + 2 - 1/m + 4 r (m (1 - r) - 1))) / (2 (m + z^2)); the lower limit is 0 at k = 0, the upper 1 at k = m;
    r = k/m; k errors on m test points; z = z(1 - d/2).
    Assumptions: test points are independent and new to the classifier.
    Tendency: conservative on average over errors.
    Reference: Newcombe (1998a), method 4.
    """
    z, r = float(ndtri(0.5 + confidence_level / 2)), errors / n_tested

    def limit(sign: int) -> float:
        square = z**2 + sign * 2 - 1 / n_tested + 4 * r * (n_tested - errors - sign)
        return (2 * errors + z**2 + sign + sign * z * math.sqrt(max(square, 0.0))) / (2 * (n_tested + z**2))

    # at a proportion of 0 or 1 one limit is the proportion itself
    low = 0.0 if errors == 0.0 else max(limit(-1), 0.0)
    high = 1.0 if errors == n_tested else min(limit(1), 1.0)
    return ConfidenceInterval(low, high)


def agresti_coull(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Agresti-Coull interval for the error on a test set.

    Formula: c +/- z sqrt(c (1 - c) / (m + z^2)); c = (k + z^2/2) / (m + z^2); k errors on m test points; z = z(1 -
    d/2).
    Assumptions: test points are independent and new to the classifier.
    Tendency: contains the interval of test-set-wilson.
    Reference: Agresti and Coull (1998).
    """
    z = float(ndtri(0.5 + confidence_level / 2))
    larger = n_tested + z**2
    share = (errors + z**2 / 2) / larger
    return wald_interval(share, share * (1.0 - share), larger, confidence_level)


def jeffreys(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Posterior interval under Jeffreys' prior for the error on a test set.

    Formula: the d/2 and 1 - d/2 quantiles of Beta(k + 1/2, m - k + 1/2); k errors on m test points; the lower limit is
    0 at k = 0, the upper 1 at k = m.
    Assumptions: test points are independent and new to the classifier.
    Tendency: near nominal on average over errors.
    Reference: Brown, Cai and DasGupta (2001), section 3.1.
    """
    tail = (1.0 - confidence_level) / 2
    wrong, right = errors + 0.5, n_tested - errors + 0.5
    low = 0.0 if errors == 0.0 else float(betaincinv(wrong, right, tail))
    high = 1.0 if errors == n_tested else float(betaincinv(wrong, right, 1.0 - tail))
    return ConfidenceInterval(low, high)


def langford(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Exact one-sided binomial bound for the error on a test set.

    Formula: 0 and p with P(X <= k) = d (1 if k = m); X is binomial(m, p); k errors on m test points.
    Assumptions: test points are independent and new to the classifier.
    Tendency: conservative: with cases that count alike, coverage of the error is at least nominal.
    Reference: Langford (2005), section 3.
    """
    # each limit of the two-sided interval leaves out 1 - confidence_level; below 1/2 its level is negative and its
    # limits change places, which all the formulas here carry through
    return ConfidenceInterval(0.0, clopper_pearson(errors, n_tested, 2.0 * confidence_level - 1.0).high)


#: ``(errors, n_tested, confidence_level)``: the number of errors k in [0, m], and that of test points m.
Limits = Callable[[float, float, float], ConfidenceInterval]


def _on_test_set(records: Records, confidence_level: float, *, limits: Limits) -> Outcome:
    record = records.require(TEST_SET)
    losses = np.asarray(record.losses)
    error, size = float(losses.mean()), record.n_effective
    # whole numbers stay whole where every loss is 0 or 1 and counts as one row
    errors = float(losses.sum()) if size == losses.size else error * size
    return Outcome(
        error,
        limits(errors, size, confidence_level),
        degenerate=f"all losses on the test set are {losses[0]:g}: their variance is 0",
        estimand=Estimand(record.estimand),
    )


def _each_limit(records: Records, confidence_level: float, _: str) -> Outcome:
    return _on_test_set(records, 2.0 * confidence_level - 1.0, limits=clopper_pearson)


ON_TEST_SET = tuple(
    on_test_set(
        name,
        compute=partial(_on_test_set, limits=limits),
        one_sided=_each_limit if limits is langford else None,
    )
    for name, limits in {
        "test-set-wald": wald,
        "test-set-wilson": wilson,
        "test-set-clopper-pearson": clopper_pearson,
        "test-set-langford": langford,
        "test-set-wilson-corrected": wilson_corrected,
        "test-set-agresti-coull": agresti_coull,
        "test-set-jeffreys": jeffreys,
    }.items()
)


def _brier_score(records: Records, confidence_level: float) -> Outcome:
    """t interval for the Brier score on a test set.

    Formula: B +/- t(1 - d/2; m - 1) sqrt(v / m); B and v are mean and sample variance of the m squared errors on the
    test set.
    Assumptions: test points are independent and new to the classifier; their mean squared error is nearly normal.
    Reference: Student (1908).
    """
    record = records.require(TEST_SET)
    losses = np.asarray(record.losses, dtype=np.float64)
    variance = float(losses.var(ddof=1)) if losses.size > 1 else 0.0
    return t_limits_of_brier(
        float(losses.mean()), variance, float(losses.size), confidence_level, Estimand(record.estimand)
    )


TEST_SET_T = on_test_set("test-set-t", reads="probabilities", compute=_brier_score)
