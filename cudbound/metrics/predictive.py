"""Predictive values at a prevalence, from limits of sensitivity and specificity that hold together."""

from __future__ import annotations

import math
from dataclasses import replace

from cudbound.outcomes import UNDEFINED_LIMITS, ConfidenceInterval
from cudbound.results import IntervalEstimate

NO_POSITIVE = "0/0: no case is called an event"
NO_NEGATIVE = "0/0: no case is called a non-event"


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


def predictive_interval(
    name: str, sensitivity: IntervalEstimate, specificity: IntervalEstimate, prevalence: float, at: str
) -> IntervalEstimate:
    """Return the interval of a predictive value from two intervals that hold together.

    Both predictive values rise with sensitivity and with specificity, so that the limits are those at both lower and
    at both upper limits. They hold together with those of sensitivity and specificity.

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
    value = positive_predictive_value if name == "ppv" else negative_predictive_value
    low, high, estimate = (
        value(*pair, prevalence)
        for pair in (
            (sensitivity.low, specificity.low),
            (sensitivity.high, specificity.high),
            (sensitivity.estimate, specificity.estimate),
        )
    )
    limits = ConfidenceInterval(0.0 if math.isnan(low) else low, 1.0 if math.isnan(high) else high)
    lost = [
        row.degenerate for row in (sensitivity, specificity) if math.isnan(row.low) or math.isnan(row.high)
    ]
    reason = next(filter(None, (row.degenerate for row in (sensitivity, specificity))), None)
    remarks = [f"at {at}", "from joint limits of sensitivity and specificity"]
    if math.isnan(estimate) and not lost:
        remarks.append(f"estimate {NO_POSITIVE if name == 'ppv' else NO_NEGATIVE}")
    return replace(
        sensitivity,
        metric=name,
        estimate=estimate,
        raw_interval=UNDEFINED_LIMITS if lost else limits,
        n_fits=max(sensitivity.n_fits, specificity.n_fits),
        remarks=tuple(remarks),
        degenerate=reason,
        details={},
        standard_error=None,
        center=None,
    )
