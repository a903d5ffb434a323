"""Percentiles and other limits from bootstrap draws: of the .632 estimate, of corrected estimates, and out of bag.

Laber and Murphy (2008), section 5, use percentiles (BS1) and corrected percentiles (BS2) and give no details. Our
reading: the estimate that is bootstrapped is the .632 estimate, and "corrected" is the bias-corrected percentile
interval of Efron and Tibshirani (1993), chapter 14, with acceleration 0. Both treat the error as a smooth function of
the data, which it is not. Limits around an estimate that is corrected for optimism are those that software for clinical
prediction models prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from cudbound.basis.method_card import Choice
from cudbound.basis.proportions import (
    QUANTILE_RULES,
    inverted_cdf_quantile,
    sample_quantile,
)
from cudbound.basis.results import UNDEFINED_LIMITS, ConfidenceInterval, Outcome, PointOutcome
from cudbound.basis.validation import Array
from cudbound.intervals.at_632 import UNEQUAL_ROWS, err1_influences, has_unequal_rows
from cudbound.intervals.method import EQUAL, Method
from cudbound.point_estimates import auc, bootstrap_632
from cudbound.point_estimates.auc import order_codes, weighted_auc
from cudbound.point_estimates.bootstrap_632 import NOTHING_OUT_OF_BAG, estimate_632
from cudbound.records import LOSSES, SCORES, Records
from cudbound.records.losses import never_out_of_bag
from cudbound.resampling.bootstrap import BOOTSTRAP, INNER

#: How the quantiles are taken; "type-7", which other software uses, can make an interval shorter.
QUANTILE = Choice(QUANTILE_RULES)
SAME_REPLICATE = "both limits are the same bootstrap replicate"


def percentile_interval(
    replicates: ArrayLike, confidence_level: float, quantile: str = "inverted-cdf"
) -> ConfidenceInterval:
    """Return the equal-tailed quantiles of the replicates.

    Parameters
    ----------
    replicates : array-like of float, shape (n_resamples,)
        The estimate recomputed on every draw.
    confidence_level : float
    quantile : {"inverted-cdf", "type-7"}, default="inverted-cdf"
        Order statistics, or interpolated between them.

    References
    ----------
    Efron and Tibshirani (1993), chapter 13.

    Examples
    --------
    >>> percentile_interval([k / 1000 for k in range(1, 1001)], 0.9)
    ConfidenceInterval(low=0.05, high=0.95)
    """
    tail = (1.0 - confidence_level) / 2
    return ConfidenceInterval(
        sample_quantile(replicates, tail, quantile), sample_quantile(replicates, 1.0 - tail, quantile)
    )


def acceleration(influences: ArrayLike) -> float:
    """Return the acceleration sum u^3 / (6 (sum u^2)^(3/2)) of a statistic from its influence values u.

    Parameters
    ----------
    influences : array-like of float, shape (n_samples,)
        Change of the statistic with the weight of each point; their scale does not matter.

    Returns
    -------
    float
        In [-1/6, 1/6]; 0 if all influence values are 0, nan if one is nan.

    References
    ----------
    DiCiccio, T. J. and Efron, B. (1996). Bootstrap confidence intervals. Statistical Science 11, 189-228,
    equation 6.6; Efron and Tibshirani (1993), equation 14.15, with jackknife values.

    Examples
    --------
    >>> round(acceleration([-1.0, -1.0, 2.0]), 4)
    0.068
    """
    values = np.asarray(influences, dtype=float)
    largest = float(np.abs(values).max())
    if largest == 0.0:
        return 0.0
    scaled = values / largest  # powers of tiny values would vanish
    return float((scaled**3).sum() / (6.0 * (scaled**2).sum() ** 1.5))


def bias_corrected_levels(
    replicates: ArrayLike, estimate: float, confidence_level: float, acceleration: float = 0.0
) -> tuple[float, float]:
    """Return the levels Phi(z0 + (z0 -+ z) / (1 - a (z0 -+ z))) of the bias-corrected percentile interval.

    z0 is the normal quantile of the share of replicates below the estimate; ties count one half, and the
    share is kept within [1/(2B), 1 - 1/(2B)] so that z0 is finite. Where the denominator is not positive the level
    is 1 for a > 0 and 0 for a < 0, its limit.

    Parameters
    ----------
    replicates : array-like of float, shape (n_resamples,)
        The estimate recomputed on every draw.
    estimate : float
    confidence_level : float
    acceleration : float, default=0.0
        a; 0 gives Phi(2 z0 -+ z).

    References
    ----------
    Efron and Tibshirani (1993), equation 14.10, with a = 0 in section 14.3.

    Examples
    --------
    >>> [round(level, 3) for level in bias_corrected_levels([0.1, 0.3], 0.2, 0.9)]
    [0.05, 0.95]
    """
    values = np.asarray(replicates, dtype=float)
    tied = np.abs(values - estimate) <= EQUAL
    share = float(((values < estimate) & ~tied).sum() + tied.sum() / 2) / values.size
    edge = 1.0 / (2 * values.size)
    z0 = float(ndtri(min(max(share, edge), 1.0 - edge)))
    z = float(ndtri(0.5 + confidence_level / 2))
    return _accelerated(z0, z0 - z, acceleration), _accelerated(z0, z0 + z, acceleration)


def _accelerated(z0: float, shifted: float, acceleration: float) -> float:
    denominator = 1.0 - acceleration * shifted
    if denominator <= 0.0:
        return 1.0 if acceleration > 0.0 else 0.0
    return float(ndtr(z0 + shifted / denominator))


def bias_corrected_interval(
    replicates: ArrayLike, estimate: float, confidence_level: float, acceleration: float = 0.0
) -> ConfidenceInterval:
    """Return the percentiles of the replicates at the levels of `bias_corrected_levels`.

    With an acceleration it is the BCa interval. SciPy's BCa interval has the same levels and interpolates between
    the replicates.

    Examples
    --------
    >>> bias_corrected_interval([0.1, 0.2, 0.3, 0.4], 0.35, 0.8)
    ConfidenceInterval(low=0.3, high=0.4)
    """
    low, high = bias_corrected_levels(replicates, estimate, confidence_level, acceleration)
    return ConfidenceInterval(inverted_cdf_quantile(replicates, low), inverted_cdf_quantile(replicates, high))


def shifted_interval(replicates: ArrayLike, estimate: float, confidence_level: float) -> ConfidenceInterval:
    """Return the percentile interval minus the bootstrap bias (Efron and Tibshirani 1993, chapter 10).

    Examples
    --------
    >>> shifted_interval([0.25, 0.5, 0.75], 0.25, 0.5)
    ConfidenceInterval(low=0.0, high=0.5)
    """
    interval = percentile_interval(replicates, confidence_level)
    bias = float(np.asarray(replicates, dtype=float).mean()) - estimate
    return ConfidenceInterval(interval.low - bias, interval.high - bias)


def basic_interval(replicates: ArrayLike, estimate: float, confidence_level: float) -> ConfidenceInterval:
    """Return the percentile interval reflected at the estimate, [2 t - q_high, 2 t - q_low].

    Examples
    --------
    >>> basic_interval([0.25, 0.5, 0.75], 0.25, 0.5)
    ConfidenceInterval(low=-0.25, high=0.25)
    """
    interval = percentile_interval(replicates, confidence_level)
    return ConfidenceInterval(2 * estimate - interval.high, 2 * estimate - interval.low)


IntervalOf = Callable[[ArrayLike, float, float], ConfidenceInterval]

#: The corrections that need only the replicates; "bca" also needs the influence values.
CORRECTIONS: dict[str, IntervalOf] = {
    "bc": bias_corrected_interval,
    "shift": shifted_interval,
    "basic": basic_interval,
}


def defined_values(replicates: Array, lost: str) -> tuple[Array, tuple[str, ...]]:
    """Return the defined replicates, and a remark about draws that were `lost`, if any."""
    defined = replicates[~np.isnan(replicates)]
    n_lost = replicates.size - defined.size
    return defined, (f"{n_lost} draws {lost} dropped",) if n_lost else ()


def _of_632(records: Records, confidence_level: float, interval_of: IntervalOf) -> Outcome:
    estimate = estimate_632(records)
    defined, remarks = defined_values(replicates_at(records, "632"), "with no row out of bag")
    if not defined.size:
        reason = None if np.isnan(estimate) else "no draw has a .632 estimate"
        return Outcome(estimate, UNDEFINED_LIMITS, remarks=remarks, degenerate=reason)
    return Outcome(
        estimate,
        interval_of(defined, estimate, confidence_level),
        remarks=remarks,
        degenerate=SAME_REPLICATE,
        center=".632 estimate",
    )


def _percentile(records: Records, confidence_level: float, *, quantile: str) -> Outcome:
    """Percentile bootstrap of the .632 estimate.

    Formula: the d/2 and 1 - d/2 quantiles over the draws of the .632 estimate, recomputed on each from inner draws, or
    with inner='oob' from the rows outside it.
    Assumptions: the error is a smooth function of the data.
    Tendency: often liberal: coverage in 58 settings was .63 to .99.
    Reference: Laber and Murphy (2008), section 5; Efron and Tibshirani (1993), chapter 13.
    """
    return _of_632(
        records, confidence_level, lambda values, _, level: percentile_interval(values, level, quantile)
    )


def _corrected(records: Records, confidence_level: float, *, variant: str) -> Outcome:
    """Bias-corrected percentile bootstrap of the .632 estimate.

    Formula: the quantiles at the levels Phi(2 z_0 - z) and Phi(2 z_0 + z) over the draws of the .632 estimate,
    recomputed on each; z_0 is the normal quantile of the share of them below x, z = z(1 - d/2).
    Assumptions: the error is a smooth function of the data, normal after some monotone transformation.
    Tendency: often liberal: coverage in 58 settings was .62 to .99.
    Reference: Laber and Murphy (2008), section 5; Efron and Tibshirani (1993), chapter 14, with acceleration 0.
    With variant=bca: Bias-corrected and accelerated bootstrap of the .632 estimate.
    Reference with variant=bca: Efron and Tibshirani (1993), chapter 14; Efron and Tibshirani (1997), equations 35
    to 40.
    With variant=shift: Percentile bootstrap of the .632 estimate, minus the bootstrap estimate of its bias.
    Reference with variant=shift: Efron and Tibshirani (1993), chapters 10 and 13.
    With variant=basic: Percentile bootstrap of the .632 estimate, reflected at the estimate.
    Reference with variant=basic: Efron and Tibshirani (1993), chapter 13, with the interval reflected.
    """
    if variant != "bca":
        return _of_632(records, confidence_level, CORRECTIONS[variant])
    if records.groups is not None:
        raise ValueError(
            "variant='bca' of bootstrap-bias-corrected uses influence values of single rows, but these rows belong to "
            "groups. Use variant='bc', 'shift' or 'basic'."
        )
    bootstrap = records.require(BOOTSTRAP)
    reason, curvature = UNEQUAL_ROWS, math.nan
    if not has_unequal_rows(bootstrap):
        curvature = acceleration(err1_influences(bootstrap.losses, bootstrap.counts))
        never = never_out_of_bag(bootstrap.counts)
        reason = f"the acceleration is undefined because {never} points were never out of bag; use more bootstrap draws"
    if math.isnan(curvature):
        return Outcome(estimate_632(records), UNDEFINED_LIMITS, degenerate=reason, center=".632 estimate")
    accelerated = partial(bias_corrected_interval, acceleration=curvature)
    return replace(_of_632(records, confidence_level, accelerated), details={"acceleration": curvature})


PERCENTILE = Method(
    "bootstrap-percentile",
    {LOSSES, BOOTSTRAP, INNER},
    cost="B (1 + inner draws), or B with inner='oob'",
    compute=_percentile,
    options={"quantile": QUANTILE},
)
BIAS_CORRECTED = Method(
    "bootstrap-bias-corrected",
    {LOSSES, BOOTSTRAP, INNER},
    cost="B (1 + inner draws), or B with inner='oob'",
    compute=_corrected,
    options={"variant": Choice(("bc", "bca", "shift", "basic"))},
)


NO_DRAW = "undefined: no draw leaves out rows of both classes; use more bootstrap draws"


def out_of_bag_aucs(records: Records) -> Array:
    """Return the AUC of each draw's classifier on the rows outside the draw; nan if they belong to one class."""
    bootstrap, event = records.require(BOOTSTRAP), records.event
    out = np.asarray(bootstrap.counts) == 0
    both = out[:, event].any(axis=1) & out[:, ~event].any(axis=1)
    aucs = np.full(len(out), np.nan)
    aucs[both] = weighted_auc(order_codes(bootstrap.scores[both]), event, out[both])
    return aucs


def _of_aucs(records: Records, confidence_level: float, *, quantile: str) -> Outcome:
    """Percentiles of the AUCs of the refits on the rows outside their draws.

    Formula: the d/2 and 1 - d/2 quantiles of the AUCs or Brier scores of the refits on the rows outside their draws.
    Assumptions: estimates from .37 n rows vary like those of this classifier on n rows.
    Tendency: at level .95, coverage was .12 in the worst and .98 in the median of 91 settings.
    Reference: Efron and Tibshirani (1993), applied to out-of-bag estimates.
    """
    aucs = out_of_bag_aucs(records)
    return percentiles_of_draws(aucs, confidence_level, "that left out one class", NO_DRAW, quantile)


def _of_means(records: Records, confidence_level: float, *, quantile: str) -> Outcome:
    """Percentiles of the Brier scores of the refits on the rows outside their draws.

    Tendency: at level .95, coverage was .90 in the worst and .97 in the median of 87 settings.
    """
    means = records.require(BOOTSTRAP).out_of_bag
    return percentiles_of_draws(means, confidence_level, "that left out no row", NOTHING_OUT_OF_BAG, quantile)


def percentiles_of_draws(
    values: Array, confidence_level: float, lost: str, none: str, quantile: str = "inverted-cdf"
) -> Outcome:
    """Return mean and percentiles of a value per draw; remarks count draws that were `lost`, `none` is for all lost."""
    values, remarks = defined_values(values, lost)
    if values.size == 0:
        return Outcome.undefined(none)
    interval = percentile_interval(values, confidence_level, quantile)
    return Outcome(float(values.mean()), interval, remarks=remarks, degenerate=SAME_REPLICATE)


OUT_OF_BAG_PERCENTILE = Method(
    "out-of-bag-percentile",
    {BOOTSTRAP},
    reads="scores",
    cost="B",
    compute=_of_aucs,
    options={"quantile": QUANTILE},
    variants={"probabilities": {"compute": _of_means}},
)


CENTER = Choice(("optimism", "632", "632-plus"))


def estimate_at(records: Records, center: str) -> PointOutcome:
    """Return the optimism-corrected error, the .632 or the .632+ estimate of the training set, or such an AUC.

    The optimism-corrected error may leave [0, 1]; the others are undefined if no point was ever out of bag.
    """
    of_scores = records.kind == "scores"
    if center == "optimism" and of_scores:
        optimism = float(np.mean(auc.aucs_on_draws(records) - auc.aucs_on_training_rows(records)))
        return PointOutcome(min(max(auc.training_auc(records) - optimism, 0.0), 1.0))
    if center == "optimism":
        return bootstrap_632.optimism_corrected(records)
    if of_scores:
        aucs, reason = auc.auc_estimates(records), auc.NO_PAIR
        at_632 = float(bootstrap_632.error_632(aucs.training, aucs.out_of_bag))
        estimate = at_632 if center == "632" else aucs.plus
    else:
        reason = bootstrap_632.NOTHING_OUT_OF_BAG
        at_plus = center == "632-plus"
        estimate = bootstrap_632.estimate_632_plus(records).estimate if at_plus else estimate_632(records)
    return PointOutcome(estimate, degenerate=reason if math.isnan(estimate) else None)


def replicates_at(records: Records, center: str) -> Array:
    """Return the same estimate recomputed on every draw, shape (n_resamples,); nan where it is undefined.

    It comes from inner draws. Without them the .632 estimate is the variant .368 err(f_b on D_b) + .632 err(f_b off
    D_b), which needs no further fits, and is nan where nothing was out of bag.

    Raises
    ------
    ValueError
        If the records lack what the estimate needs.
    """
    bootstrap = records.require(BOOTSTRAP)
    if center == "632":
        left_out = bootstrap.out_of_bag if records.inner is None else records.inner.errors
        return bootstrap_632.error_632(bootstrap.resubstitution, left_out)
    inner = records.require(INNER)
    name, recorded = (
        ("optimism", inner.optimism) if center == "optimism" else ("no_information", bootstrap.no_information)
    )
    if recorded is None:
        owner = "InnerErrors" if center == "optimism" else "BootstrapLosses"
        raise ValueError(
            f"center={center!r} needs {name!r} of {owner}, which the records do not have. Pass {owner}(..., "
            f"{name}=...), or center='632'."
        )
    if center == "optimism":
        return np.asarray(bootstrap.resubstitution + recorded)
    each = zip(bootstrap.resubstitution, inner.errors, recorded, strict=True)
    return np.array(
        [bootstrap_632.error_632_plus(*(float(value) for value in parts)).estimate for parts in each]
    )


def _on_draws(records: Records) -> Array:
    """Return the error or the AUC of each refit on its own draw."""
    if records.kind == "scores":
        return auc.aucs_on_draws(records)
    return np.asarray(records.require(BOOTSTRAP).resubstitution)


def _location_shifted(records: Records, confidence_level: float, *, center: str, quantile: str) -> Outcome:
    """Percentiles of the errors of refits on their own draws, shifted to the corrected estimate.

    Formula: the d/2 and 1 - d/2 quantiles of A_b, both plus E - T; E is the corrected error; A_b, T and E are AUCs
    or Brier scores for these metrics.
    Assumptions: E varies around the true value as A_b varies around T.
    Tendency: liberal: coverage in 60 settings was .03 to .99; its authors studied C-statistics of logistic models.
    Reference: Noma et al. (2021), algorithm 1; as in the R packages predboot and pminternal.
    """
    corrected = estimate_at(records, center)
    if corrected.degenerate:
        return Outcome.undefined(corrected.degenerate)
    scored = records.kind == "scores"
    training = auc.training_auc(records) if scored else float(np.mean(records.require(LOSSES)))
    interval = percentile_interval(_on_draws(records), confidence_level, quantile)
    shift = corrected.estimate - training
    return Outcome(
        corrected.estimate,
        ConfidenceInterval(interval.low + shift, interval.high + shift),
        remarks=corrected.remarks,
        degenerate=SAME_REPLICATE,
    )


def _location_shifted_auc(records: Records, confidence_level: float, **options: str) -> Outcome:
    """Percentiles of the AUCs of refits on their own draws, shifted to the corrected AUC.

    Tendency: liberal: coverage was 0 in the worst and .68 in the median of 91 settings.
    Reference: Noma et al. (2021), algorithm 1; as in the R packages predboot and pminternal.
    """
    return _location_shifted(records, confidence_level, **options)


def _location_shifted_brier(records: Records, confidence_level: float, **options: str) -> Outcome:
    """Percentiles of the Brier scores of refits on their own draws, shifted to the corrected Brier score.

    Tendency: liberal: coverage was 0 in the worst and .77 in the median of 87 settings.
    """
    return _location_shifted(records, confidence_level, **options)


LOCATION_SHIFTED = Method(
    "location-shifted",
    {LOSSES, BOOTSTRAP},
    cost="B",
    compute=_location_shifted,
    options={"center": CENTER, "quantile": QUANTILE},
    variants={
        "scores": {"compute": _location_shifted_auc, "needs": {SCORES, BOOTSTRAP}},
        "probabilities": {"compute": _location_shifted_brier},
    },
)


#: Weight of the error on the training set in the combination W, found by simulation.
WEIGHT = 1.25
#: With fewer draws both sides get the standard deviation of all.
FEWEST_DRAWS = 10


def dual_deviations(values: ArrayLike) -> tuple[float, float]:
    """Return the standard deviations about the mean of the values at or below it, and at or above it.

    Examples
    --------
    >>> below, above = dual_deviations([0, 0, 0, 0, 0, 0, 0, 0, 0, 10])
    >>> round(below, 4), above
    (1.0607, 9.0)
    """
    numbers = np.asarray(values, dtype=float)
    mean = float(numbers.mean())
    if numbers.size < FEWEST_DRAWS:
        spread = float(numbers.std(ddof=1)) if numbers.size > 1 else 0.0
        return spread, spread
    # rounding must not put values that are equal beside their own mean
    sides = (numbers[numbers <= mean + 1e-12], numbers[numbers >= mean - 1e-12])
    below, above = (float(np.sqrt(((side - mean) ** 2).sum() / max(side.size - 1, 1))) for side in sides)
    return below, above


def _abcloc(records: Records, confidence_level: float, *, center: str) -> Outcome:
    """Asymmetric limits from the spread of the errors of refits, around the corrected estimate.

    Formula: E - z(1 - d/2) s_above and E + z(1 - d/2) s_below; E is the corrected error, s_above and s_below the
    standard deviations of A_b - 1.25 D_b about its mean, from the values above and below it, or from all if there are
    fewer than 10 draws; A_b, D_b and E are AUCs or Brier scores for these metrics.
    Assumptions: A_b - 1.25 D_b varies over refits as E varies over training sets.
    Tendency: liberal: coverage in 60 settings was .69 to .94; made for indexes of regression models.
    Reference: Harrell (2025), R package rms 8.1-0.
    """
    corrected = estimate_at(records, center)
    if corrected.degenerate:
        return Outcome.undefined(corrected.degenerate)
    if records.kind == "scores":
        on_training_rows = auc.aucs_on_training_rows(records)
    else:
        on_training_rows = np.asarray(records.require(BOOTSTRAP).losses).mean(axis=1)
    below, above = dual_deviations(_on_draws(records) - WEIGHT * on_training_rows)
    z = float(ndtri(0.5 + confidence_level / 2))
    return Outcome(
        corrected.estimate,
        ConfidenceInterval(corrected.estimate - z * above, corrected.estimate + z * below),
        remarks=corrected.remarks,
        degenerate="the performance of the refits does not vary",
    )


def _abcloc_auc(records: Records, confidence_level: float, *, center: str) -> Outcome:
    """Asymmetric limits from the spread of the AUCs of refits, around the corrected AUC.

    Tendency: liberal: coverage was 0 in the worst and .79 in the median of 91 settings.
    Reference: Harrell (2025), R package rms 8.1-0.
    """
    return _abcloc(records, confidence_level, center=center)


def _abcloc_brier(records: Records, confidence_level: float, *, center: str) -> Outcome:
    """Asymmetric limits from the spread of the Brier scores of refits, around the corrected Brier score.

    Tendency: liberal: coverage was 0 in the worst and .87 in the median of 87 settings.
    """
    return _abcloc(records, confidence_level, center=center)


ABCLOC = Method(
    "abcloc",
    {LOSSES, BOOTSTRAP},
    cost="B",
    compute=_abcloc,
    options={"center": CENTER},
    variants={
        "scores": {"compute": _abcloc_auc, "needs": {SCORES, BOOTSTRAP}},
        "probabilities": {"compute": _abcloc_brier},
    },
)


NO_INNER_DRAWS = "no inner draws were recorded: request 50, which needs 50 further refits per draw"
#: Used if rows have weights, or only some rows count.
NO_MEANS_OF_SOME_ROWS = (
    "inner draws are recorded as unweighted means over all rows, which only give the unweighted error"
)


def _two_stage(records: Records, confidence_level: float, *, center: str, quantile: str) -> Outcome:
    """Percentiles of the corrected estimate, recomputed on every draw from inner draws.

    Formula: the d/2 and 1 - d/2 quantiles over the draws of the corrected error, recomputed on each from inner draws;
    no limits with inner='oob'.
    Assumptions: the corrected error varies around the true error as those of draws vary around it.
    Reference: Noma et al. (2021), algorithm 2.
    """
    corrected = estimate_at(records, center)
    if corrected.degenerate:
        return Outcome.undefined(corrected.degenerate)
    if records.inner is None:
        reason = NO_MEANS_OF_SOME_ROWS if records.weighed else NO_INNER_DRAWS
        return Outcome(corrected.estimate, UNDEFINED_LIMITS, remarks=corrected.remarks, degenerate=reason)
    defined, lost = defined_values(replicates_at(records, center), "without an estimate")
    remarks = (*corrected.remarks, *lost)
    if not defined.size:
        reason = "the inner draws give no estimate in any draw"
        return Outcome(corrected.estimate, UNDEFINED_LIMITS, remarks=remarks, degenerate=reason)
    return Outcome(
        corrected.estimate,
        percentile_interval(defined, confidence_level, quantile),
        remarks=remarks,
        degenerate=SAME_REPLICATE,
    )


TWO_STAGE = Method(
    "two-stage",
    {LOSSES, BOOTSTRAP, INNER},
    cost="B (1 + inner draws)",
    compute=_two_stage,
    options={"center": CENTER, "quantile": QUANTILE},
)

#: What software for clinical prediction models prints.
CLINICAL = (LOCATION_SHIFTED, ABCLOC, TWO_STAGE)
