"""What software for clinical prediction models prints: limits around an estimate that is corrected for optimism."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from cudbound.basis.method_card import Choice
from cudbound.basis.results import UNDEFINED_LIMITS, ConfidenceInterval, Outcome, PointOutcome
from cudbound.basis.validation import Array
from cudbound.intervals.bootstrap_percentile import QUANTILE, percentile_interval
from cudbound.intervals.method import Method, defined_values, replicates_632
from cudbound.point_estimates import auc, bootstrap_632
from cudbound.records import LOSSES, SCORES, Records
from cudbound.resampling.bootstrap import BOOTSTRAP, INNER

CENTER = Choice(("optimism", "632", "632-plus"))
SAME_REPLICATE = "both limits are the same bootstrap replicate"


def estimate_at(records: Records, center: str) -> PointOutcome:
    """Return the optimism-corrected error, the .632 or the .632+ estimate of the training set, or such an AUC.

    The optimism-corrected error may leave [0, 1]; the others are undefined if no point was ever out of bag.
    """
    if records.kind == "scores":
        if center == "optimism":
            optimism = float(np.mean(auc.aucs_on_draws(records) - auc.aucs_on_training_rows(records)))
            return PointOutcome(min(max(auc.training_auc(records) - optimism, 0.0), 1.0))
        aucs, reason = auc.auc_estimates(records), auc.NO_PAIR
        estimate = (
            float(bootstrap_632.error_632(aucs.training, aucs.out_of_bag)) if center == "632" else aucs.plus
        )
    else:
        if center == "optimism":
            return bootstrap_632.optimism_corrected(records)
        reason = bootstrap_632.NOTHING_OUT_OF_BAG
        estimate = (
            bootstrap_632.estimate_632(records)
            if center == "632"
            else bootstrap_632.estimate_632_plus(records).estimate
        )
    return PointOutcome(estimate, degenerate=reason if math.isnan(estimate) else None)


def replicates_at(records: Records, center: str) -> Array:
    """Return the same estimate recomputed on every draw from inner draws; nan where it is undefined.

    Raises
    ------
    ValueError
        If the records lack what the estimate needs.
    """
    if center == "632":
        return replicates_632(records)
    bootstrap, inner = records.require(BOOTSTRAP), records.require(INNER)
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
