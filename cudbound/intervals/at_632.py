"""Intervals around the .632 and .632+ estimates, from a binomial or a bootstrap variance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from cudbound.basis.method_card import Choice, Needs
from cudbound.basis.proportions import inverted_binomial_interval, wald_interval, wilson_interval
from cudbound.basis.results import UNDEFINED_LIMITS, Center, ConfidenceInterval, Estimand, Outcome
from cudbound.basis.validation import Array
from cudbound.intervals.method import EQUAL, Method, Pivot
from cudbound.point_estimates import bootstrap_632
from cudbound.point_estimates.bootstrap_632 import (
    NOTHING_OUT_OF_BAG,
    brier_variance,
    effective_rows,
    estimate_632,
    estimate_632_plus,
)
from cudbound.records import LOSSES, BootstrapLosses, FoldLosses, Records
from cudbound.records.losses import leave_one_out_bootstrap_error, never_out_of_bag, ratio_or_nan
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.folds import FOLDS

#: ``(estimate, n_samples, confidence_level, **options)``: the .632 estimate, and the rows of the training set.
Limits = Callable[..., ConfidenceInterval]


def _outcome(records: Records, confidence_level: float, *, limits: Limits, **options: Any) -> Outcome:
    estimate = bootstrap_632.estimate_632(records)
    interval = limits(estimate, records.n_effective, confidence_level, **options)
    reason = f"the binomial variance is 0 at an estimate of {estimate:g}; form='wilson' has positive width"
    at_the_edge = estimate in (0.0, 1.0)
    return Outcome(estimate, interval, degenerate=reason if at_the_edge else None, center=".632 estimate")


#: A method for the interval at the .632 estimate by a formula, which has its docstring.
_method = partial(Method, needs={LOSSES, BOOTSTRAP}, cost="B", with_groups="refits")


def kohavi_interval(
    estimate: float, n_samples: float, confidence_level: float, *, form: str = "wald"
) -> ConfidenceInterval:
    """Normal interval with binomial variance around the .632 estimate.

    Formula: x +/- z(1 - d/2) sqrt(x (1 - x) / n*); n* = n (1 - (1 - 1/n)^n).
    Assumptions: the .632 estimate is a mean of n* independent losses of one fixed classifier.
    Tendency: coverage in 58 settings was .68 to .99.
    Reference: Laber and Murphy (2008), section 2, item 1; Kohavi (1995).
    With form=wilson: Wilson score interval around the .632 estimate, for n* = n (1 - (1 - 1/n)^n) points.
    Reference with form=wilson: Laber and Murphy (2008), section 2, item 1; Wilson (1927).

    Examples
    --------
    >>> round(kohavi_interval(0.2, 30, 0.95).low, 4)
    0.0208
    """
    size = bootstrap_632.effective_size_bootstrap(n_samples)
    if form == "wilson":
        return wilson_interval(estimate, size, confidence_level)
    return wald_interval(estimate, estimate * (1.0 - estimate), size, confidence_level)


KOHAVI = _method(
    "kohavi-normal",
    compute=partial(_outcome, limits=kohavi_interval),
    options={"form": Choice(("wald", "wilson"))},
)


def langford_interval(estimate: float, n_samples: float, confidence_level: float) -> ConfidenceInterval:
    """Inverted binomial interval on about .632 n hypothetical test points, at the .632 estimate.

    Formula: lo(n* x; n*) and up(n* x; n*); n* = n (1 - (1 - 1/n)^n).
    Assumptions: the .632 estimate is the error on n* independent test points.
    Tendency: mostly conservative: coverage in 58 settings was .91 to 1.00; too low for trees and forests fitted to
    noise, and far too low for least squares with 95 features and 100 rows.
    Reference: Laber and Murphy (2008), section 5, footnote 3; Langford (2005).

    The paper takes n* to be the size of the test set here and that of the training set in the Beta interval; both are
    kept as written.

    Examples
    --------
    >>> round(langford_interval(0.2, 30, 0.95).high, 4)
    0.4428
    """
    size = bootstrap_632.effective_size_bootstrap(n_samples)
    return inverted_binomial_interval(estimate * size, size, confidence_level)


LANGFORD = _method("langford-binomial", compute=partial(_outcome, limits=langford_interval))

#: The value of both parameters of the Beta prior.
PRIORS = {"uniform": 1.0, "jeffreys": 0.5}


def martin_interval(
    estimate: float, n_samples: float, confidence_level: float, *, prior: str = "uniform"
) -> ConfidenceInterval:
    """Beta posterior interval from the points left out of a draw, at the .632 estimate.

    Formula: the d/2 and 1 - d/2 quantiles of Beta(a + x m, a + (1 - x) m); m = n - n*, n* = n (1 - (1 - 1/n)^n), a =
    1, or 1/2 under Jeffreys' prior.
    Assumptions: the .632 estimate is the error on n - n* independent test points.
    Tendency: conservative: coverage in 58 settings was .95 to 1.00; far too low for least squares with 95 features
    and 100 rows.
    Reference: Laber and Murphy (2008), section 2, item 2; Martin and Hirschberg (1996).

    The paper does not state the prior; we assume it is uniform. The numbers of test points and of errors are not
    rounded.

    Examples
    --------
    >>> round(martin_interval(0.2, 30, 0.95).high, 4)
    0.5046
    """
    strength = PRIORS[prior]
    n_tested = n_samples - bootstrap_632.effective_size_bootstrap(n_samples)
    wrong = strength + estimate * n_tested
    right = strength + (1.0 - estimate) * n_tested
    tail = (1.0 - confidence_level) / 2
    return ConfidenceInterval(
        float(betaincinv(wrong, right, tail)), float(betaincinv(wrong, right, 1.0 - tail))
    )


MARTIN = _method(
    "martin-beta", compute=partial(_outcome, limits=martin_interval), options={"prior": Choice(tuple(PRIORS))}
)


def yang_interval(
    estimate: float, losses: ArrayLike, n_folds: int, confidence_level: float
) -> ConfidenceInterval:
    """Return the limits from the n cross-validated 0/1 losses of k folds.

    Laber and Murphy name the method and give no formula. Our reading: the formula of their item 1 with nu^2
    the sample variance (divisor n - 1) of the losses.

    Examples
    --------
    >>> round(yang_interval(0.25, [1, 0, 0, 0], 2, 0.95).high, 3)
    0.943
    """
    values = np.asarray(losses, dtype=float)
    size = bootstrap_632.effective_size_folds(values.size, n_folds)
    return wald_interval(estimate, float(values.var(ddof=1)), size, confidence_level)


def _yang(records: Records, confidence_level: float, *, center: str) -> Outcome:
    """Normal interval with the variance of cross-validated losses around the .632 estimate.

    Formula: x +/- z(1 - d/2) sqrt(v / n*); v is the sample variance of the n cross-validated losses, n* = n - n/K.
    Assumptions: cross-validated losses are independent, and vary like those behind the estimate.
    Tendency: often liberal: coverage in 58 settings was .26 to .97.
    Reference: Laber and Murphy (2008), section 2, item 1, and section 5; Yang (2006).
    With center=cv: Normal interval with the variance of cross-validated losses around the cross-validated error.
    Reference with center=cv: Yang (2006).
    """
    folds: FoldLosses = records.require(FOLDS)
    estimate = bootstrap_632.estimate_632(records) if center == "632" else float(folds.losses.mean())
    return Outcome(
        estimate,
        yang_interval(estimate, folds.losses, folds.n_folds, confidence_level),
        degenerate="all cross-validated losses are equal" if not np.isnan(estimate) else None,
        center=".632 estimate" if center == "632" else None,
    )


def _yang_needs(options: Mapping[str, Any]) -> Needs:
    return {FOLDS} if options["center"] == "cv" else {LOSSES, BOOTSTRAP, FOLDS}


YANG = Method(
    "yang-cv-normal",
    {LOSSES, BOOTSTRAP, FOLDS},
    needs_with=_yang_needs,
    cost="B + K, or K with center='cv'",
    with_groups="refits",
    compute=_yang,
    options={"center": Choice(("632", "cv"))},
)
#: Those of Laber and Murphy (2008), in the order of the table.
AT_632 = (KOHAVI, YANG, MARTIN, LANGFORD)


#: Why an interval has no limits if rows are weighted, or if the draws differ in how many rows the metric counts, such
#: as the events for the sensitivity.
UNEQUAL_ROWS = "it needs equal weights, and equally many of the rows that the metric counts in each draw"


def has_unequal_rows(bootstrap: BootstrapLosses) -> bool:
    """Return whether rows have weights, or draws hold different numbers of rows: influence values assume neither."""
    return bootstrap.weighed or bool(np.ptp(bootstrap.counts.sum(axis=1)) > 0)


def err1_influences(losses: ArrayLike, counts: ArrayLike) -> Array:
    """Return how the leave-one-out bootstrap error Err(1) changes with the weight of each point.

    With E_i the mean loss at point i over the draws without it, N_bi the count of point i in draw b, I_bi = 1 where
    that is 0, and q_b = (1/n) sum_i I_bi loss_bi,

        D_i = (2 + 1/(n-1)) (E_i - Err(1)) / n + sum_b (N_bi - mean_b N_bi) q_b / sum_b I_bi.

    Parameters
    ----------
    losses : array-like, shape (n_resamples, n_samples)
        Loss on the point of the classifier fitted to the draw.
    counts : array-like of int, shape (n_resamples, n_samples)
        How often the point occurs in the draw.

    Returns
    -------
    ndarray of float, shape (n_samples,)
        nan for a point that no draw left out. All 0 if all losses outside the draws are equal: Err(1) is then the same
        on every draw, and the second term is only Monte Carlo noise.

    Raises
    ------
    ValueError
        If the two arrays differ in shape, are not finite, or have fewer than two points.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA 92,
    548-560, equations 35 to 40.

    Examples
    --------
    >>> err1_influences([[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[2, 0, 1], [0, 1, 2], [1, 2, 0]]).round(3).tolist()
    [0.278, -0.056, -0.222]
    """
    record = BootstrapLosses(np.asarray(counts), np.asarray(losses))
    n = record.counts.shape[1]
    if n < 2:
        raise ValueError(f"The 'counts' parameter must have at least two points (columns). Got {n} instead.")
    outside = record.counts == 0
    times_out = outside.sum(axis=0)
    wrong = np.where(outside, record.losses, 0.0)
    per_point = ratio_or_nan(wrong.sum(axis=0), times_out)
    if np.unique(np.asarray(record.losses)[outside]).size < 2:
        return np.asarray(np.where(times_out > 0, 0.0, np.nan))
    drawn = record.counts - record.counts.mean(axis=0)
    slope = ratio_or_nan(drawn.T @ wrong.mean(axis=1), times_out)
    return np.asarray((2.0 + 1.0 / (n - 1)) * (per_point - np.nanmean(per_point)) / n + slope)


def err1_standard_error(losses: ArrayLike, counts: ArrayLike) -> float:
    """Return the standard error of Err(1): sqrt(sum_i D_i^2) with D of `err1_influences`.

    Parameters
    ----------
    losses, counts : array-like, shape (n_resamples, n_samples)
        As in `err1_influences`.

    Returns
    -------
    float
        nan if no draw left out some point; 0 if all losses outside the draws are equal.

    Raises
    ------
    ValueError
        As in `err1_influences`.

    Notes
    -----
    The Monte Carlo error of the second term of D_i enters the sum of squares. The standard error therefore tends to
    decrease as n_resamples increases; with few draws per row it is visibly too large.

    References
    ----------
    Efron and Tibshirani (1997), equations 35 to 40.

    Examples
    --------
    >>> losses = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    >>> round(err1_standard_error(losses, [[2, 0, 1], [0, 1, 2], [1, 2, 0]]), 3)
    0.36
    """
    return float(np.sqrt(np.square(err1_influences(losses, counts)).sum()))


def scaled_standard_error(estimate: float, losses: ArrayLike, counts: ArrayLike) -> float:
    """Return the standard error of an estimate that is proportional to Err(1).

    It is the standard error of Err(1) times estimate / Err(1).

    Parameters
    ----------
    estimate : float
        .632 or .632+ estimate, in [0, 1].
    losses, counts : array-like, shape (n_resamples, n_samples)
        As in `err1_influences`.

    Returns
    -------
    float
        0 where Err(1) is 0; nan where the standard error of Err(1) is.

    References
    ----------
    Efron and Tibshirani (1997), with equations 35 to 40.

    Examples
    --------
    >>> losses = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    >>> round(scaled_standard_error(1 / 3, losses, [[2, 0, 1], [0, 1, 2], [1, 2, 0]]), 3)
    0.18
    """
    err1 = float(leave_one_out_bootstrap_error(losses, counts))
    standard_error = err1_standard_error(losses, counts)
    return standard_error if err1 == 0.0 else standard_error * estimate / err1


def _normal(
    records: Records, confidence_level: float, estimate: float, center: Center | None = None
) -> Outcome:
    bootstrap = records.require(BOOTSTRAP)
    if has_unequal_rows(bootstrap):
        return Outcome(estimate, UNDEFINED_LIMITS, degenerate=UNEQUAL_ROWS, center=center)
    standard_error = scaled_standard_error(estimate, bootstrap.losses, bootstrap.counts)
    if never := never_out_of_bag(bootstrap.counts):
        reason = (
            f"the standard error is undefined because {never} points were never out of bag; "
            "use more bootstrap draws"
        )
    elif estimate == 0.0:
        reason = "the standard error is 0 at an estimate of 0"
    else:
        reason = "all losses outside the draws are equal: the standard error is 0"
    return Outcome(
        estimate,
        Pivot(estimate, standard_error).interval(confidence_level),
        degenerate=None if np.isnan(estimate) else reason,
        center=center,
        standard_error=standard_error,
    )


def _normal_632(records: Records, confidence_level: float) -> Outcome:
    """Normal interval around the .632 estimate with the standard error of Efron and Tibshirani.

    Formula: x +/- z(1 - d/2) SE x / Err(1); SE is the root of the sum of squares of the n influence values of
    Err(1).
    Assumptions: the estimate is nearly normal, unbiased, and proportional to Err(1).
    Tendency: long with few draws; far too low for least squares with 95 features and 100 rows.
    Reference: Efron and Tibshirani (1997), equations 35 to 40.
    """
    return _normal(records, confidence_level, estimate_632(records), ".632 estimate")


def _normal_632_plus(records: Records, confidence_level: float) -> Outcome:
    """Normal interval around the .632+ estimate with the standard error of Efron and Tibshirani.

    Formula: x' +/- z(1 - d/2) SE x' / Err(1); x' is the .632+ estimate; SE is the root of the sum of squares of the
    n influence values of Err(1).
    Assumptions: the estimate is nearly normal, unbiased, and proportional to Err(1).
    Tendency: long with few draws; coverage in 12 settings was .84 to 1.00.
    Reference: Efron and Tibshirani (1997), section 3, and equations 35 to 40.
    """
    return _normal(records, confidence_level, estimate_632_plus(records).estimate)


# influence values are those of single rows
NORMAL_632 = Method(
    "bootstrap-632-normal", {LOSSES, BOOTSTRAP}, cost="B", with_groups="no", compute=_normal_632
)
NORMAL_632_PLUS = Method(
    "bootstrap-632-plus-normal", {LOSSES, BOOTSTRAP}, cost="B", with_groups="no", compute=_normal_632_plus
)


EQUAL_LOSSES = "all squared errors are equal: their variance is 0"


def t_limits_of_brier(
    estimate: float, variance: float, n: float, confidence_level: float, estimand: Estimand | None
) -> Outcome:
    """Return t limits of a mean of `n` squared errors with this variance."""
    if n < 2.0:
        return Outcome.undefined("undefined: a single row has no variance")
    error = math.sqrt(max(variance, 0.0) / n)
    error = 0.0 if error <= EQUAL else error
    pivot = Pivot(estimate, error, n - 1.0, degenerate=EQUAL_LOSSES, estimand=estimand)
    return pivot.outcome(confidence_level)


def _plus(records: Records, confidence_level: float) -> Outcome:
    """t interval around the .632+ Brier score, with the variance of squared errors.

    Formula: E +/- t(1 - d/2; n - 1) sqrt(v / n); E is the .632+ Brier score, v the larger of the variances of squared
    errors on the training rows and out of bag.
    Assumptions: the .632+ estimate varies like the mean of n new squared errors.
    Tendency: liberal: at level .95, coverage was .70 in the worst and .93 in the median of 87 settings.
    Reference: Efron and Tibshirani (1997), for the estimate.
    """
    plus = estimate_632_plus(records).estimate
    if math.isnan(plus):
        return Outcome.undefined(NOTHING_OUT_OF_BAG)
    return t_limits_of_brier(plus, brier_variance(records), effective_rows(records), confidence_level, None)


PLUS_T_632 = Method("632-plus-t", {LOSSES, BOOTSTRAP}, reads="probabilities", cost="B", compute=_plus)
