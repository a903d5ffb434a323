"""Predictive values, from intervals of sensitivity, of specificity and, where it is not stated, of the prevalence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from scipy.special import expit

from cudbound.basis.outcomes import UNDEFINED_LIMITS, ConfidenceInterval
from cudbound.basis.results import IntervalEstimate

NO_POSITIVE = "0/0: no case is called an event"
NO_NEGATIVE = "0/0: no case is called a non-event"
#: Estimates of 0 and 1, whose logarithms are infinite, are moved by this share of a row.
OFF_THE_ENDS = 0.25


class Proportion(NamedTuple):
    """An estimated proportion, its limits in [0, 1], and the number of rows it is of."""

    estimate: float
    low: float
    high: float
    n_rows: float

    @property
    def complement(self) -> Proportion:
        """One minus it."""
        return Proportion(1.0 - self.estimate, 1.0 - self.high, 1.0 - self.low, self.n_rows)

    @property
    def inner(self) -> float:
        """The estimate, moved off 0 and 1."""
        least = OFF_THE_ENDS / self.n_rows
        return min(max(self.estimate, least), 1.0 - least)


def positive_predictive_value(sensitivity: float, specificity: float, prevalence: float) -> float:
    """Return the share of events among the cases that are called events; nan where none is.

    References
    ----------
    Altman, D. G. and Bland, J. M. (1994). Diagnostic tests 2: predictive values. BMJ 309, 102.

    Examples
    --------
    >>> round(positive_predictive_value(0.9, 0.8, 0.1), 4)
    0.3333
    """
    true, false = prevalence * sensitivity, (1.0 - prevalence) * (1.0 - specificity)
    return true / (true + false) if true + false > 0.0 else math.nan


def negative_predictive_value(sensitivity: float, specificity: float, prevalence: float) -> float:
    """Return the share of non-events among the cases that are called non-events; nan where none is.

    Examples
    --------
    >>> round(negative_predictive_value(0.9, 0.8, 0.1), 4)
    0.9863
    """
    return positive_predictive_value(specificity, sensitivity, 1.0 - prevalence)


VALUES = {"ppv": positive_predictive_value, "npv": negative_predictive_value}


def predictive_limits(
    name: str, sensitivity: Proportion, specificity: Proportion, prevalence: Proportion
) -> ConfidenceInterval:
    """Return limits of a predictive value from separate limits of what it is made of, each at the level wanted.

    The log odds of PPV are log se - log(1 - sp) + the log odds of the prevalence, and those of NPV
    log sp - log(1 - se) minus the same: sums, whose limits are as far from the estimate as the root of the sum of the
    squared distances of their parts (MOVER, the method of variance estimates recovery, also called square-and-add).

    Parameters
    ----------
    name : {"ppv", "npv"}
    sensitivity, specificity : Proportion
        An estimate of 0 or 1 is moved by a quarter of a row; limits of 0 and 1 stay, so that those of the value may be
        0 or 1.
    prevalence : Proportion
        One that is stated has itself as both limits and an infinite number of rows, and adds nothing.

    References
    ----------
    Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a general approach.
    Statistics in Medicine 27, 1693-1702.

    Examples
    --------
    >>> stated = Proportion(0.2, 0.2, 0.2, math.inf)
    >>> found = predictive_limits("ppv", Proportion(0.8, 0.6, 0.9, 20), Proportion(0.9, 0.8, 0.95, 80), stated)
    >>> [round(limit, 3) for limit in found]
    [0.486, 0.802]
    """
    if name == "npv":
        sensitivity, specificity = specificity, sensitivity
        prevalence = prevalence.complement
    fallout = specificity.complement
    log_odds = _square_and_add(
        (
            (_log(sensitivity.inner), _log(sensitivity.low), _log(sensitivity.high)),
            (-_log(fallout.inner), -_log(fallout.high), -_log(fallout.low)),
            (_logit(prevalence.inner), _logit(prevalence.low), _logit(prevalence.high)),
        )
    )
    return ConfidenceInterval(*(float(expit(limit)) for limit in log_odds))


def predictive_interval(
    name: str,
    sensitivity: IntervalEstimate,
    specificity: IntervalEstimate,
    prevalence: Proportion,
    n_rows: tuple[float, float],
    at: str,
) -> IntervalEstimate:
    """Return the interval of a predictive value from two intervals, each at its own level.

    Parameters
    ----------
    name : {"ppv", "npv"}
    sensitivity, specificity : IntervalEstimate
        By the same method, at the same level.
    prevalence : Proportion
        With its limits at the level of the rows, see `predictive_limits`.
    n_rows : tuple of float
        Rows of the events and of the others.
    at : str
        The prevalence in words.
    """
    events, others = (
        Proportion(row.estimate, row.low, row.high, n)
        for row, n in zip((sensitivity, specificity), n_rows, strict=True)
    )
    if _lost(sensitivity, specificity):
        limits = UNDEFINED_LIMITS
    else:
        limits = predictive_limits(name, events, others, prevalence)
    how = "limits combined on the log odds (MOVER)"
    return _row(name, sensitivity, specificity, prevalence.estimate, limits, (f"at {at}", how))


def joint_predictive_interval(
    name: str, sensitivity: IntervalEstimate, specificity: IntervalEstimate, prevalence: float, at: str
) -> IntervalEstimate:
    """Return the interval of a predictive value from two intervals that hold together.

    Both predictive values rise with sensitivity and with specificity, so that the limits are those at both lower and
    at both upper limits. They hold together with those of sensitivity and specificity, at a prevalence that is known.

    Parameters
    ----------
    name : {"ppv", "npv"}
    sensitivity, specificity : IntervalEstimate
        By the same method.
    prevalence : float
        Strictly between 0 and 1.
    at : str
        The prevalence in words.

    Returns
    -------
    IntervalEstimate
        Where a limit is 0/0 it is that of the scale.
    """
    value = VALUES[name]
    low = value(sensitivity.low, specificity.low, prevalence)
    high = value(sensitivity.high, specificity.high, prevalence)
    limits = ConfidenceInterval(0.0 if math.isnan(low) else low, 1.0 if math.isnan(high) else high)
    if _lost(sensitivity, specificity):
        limits = UNDEFINED_LIMITS
    how = "from joint limits of sensitivity and specificity"
    return _row(name, sensitivity, specificity, prevalence, limits, (f"at {at}", how))


def _row(
    name: str,
    sensitivity: IntervalEstimate,
    specificity: IntervalEstimate,
    prevalence: float,
    limits: ConfidenceInterval,
    remarks: tuple[str, ...],
) -> IntervalEstimate:
    estimate = VALUES[name](sensitivity.estimate, specificity.estimate, prevalence)
    if math.isnan(estimate) and not _lost(sensitivity, specificity):
        remarks = (*remarks, f"estimate {NO_POSITIVE if name == 'ppv' else NO_NEGATIVE}")
    return replace(
        sensitivity,
        metric=name,
        estimate=estimate,
        raw_interval=limits,
        n_fits=max(sensitivity.n_fits, specificity.n_fits),
        remarks=remarks,
        degenerate=next(filter(None, (row.degenerate for row in (sensitivity, specificity))), None),
        details={},
        standard_error=None,
        center=None,
    )


def _lost(*rows: IntervalEstimate) -> bool:
    return any(math.isnan(row.estimate + row.low + row.high) for row in rows)


def _square_and_add(parts: Sequence[tuple[float, float, float]]) -> ConfidenceInterval:
    """Return limits of a sum from those of its parts; a limit on the wrong side of its estimate counts as equal."""
    total = sum(estimate for estimate, _, _ in parts)
    below = math.hypot(*(max(estimate - low, 0.0) for estimate, low, _ in parts))
    above = math.hypot(*(max(high - estimate, 0.0) for estimate, _, high in parts))
    return ConfidenceInterval(total - below, total + above)


def _log(share: float) -> float:
    return math.log(share) if share > 0.0 else -math.inf


def _logit(share: float) -> float:
    return _log(share) - _log(1.0 - share)
