"""Intervals that follow from those of sensitivity, specificity and prevalence: predictive values and others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from scipy.special import expit

from cudbound.basis.results import UNDEFINED_LIMITS, ConfidenceInterval, IntervalEstimate, Words
from cudbound.basis.words import format_proportion, grouped

#: Estimates of 0 and 1, whose logarithms are infinite, are moved by this share of a row.
OFF_THE_ENDS = 0.25
#: How limits are combined, after the words of the methods that give them.
AT_PREVALENCE = Words(
    "combined at the given prevalence on the log odds (MOVER)",
    "Altman and Bland (1994), Zou and Donner (2008)",
)
WITH_PREVALENCE = Words(
    "combined with Clopper-Pearson limits of the prevalence on the log odds (MOVER)",
    f"{AT_PREVALENCE.reference}, Clopper and Pearson (1934)",
)
AT_JOINT_LIMITS = Words(
    "combined at both lower and at both upper limits, which hold together", "Altman and Bland (1994)"
)
RATIOS_AT_JOINT_LIMITS = Words(AT_JOINT_LIMITS.title, "Deeks and Altman (2004)")
FROM_PREVALENCE = Words("subtracted from the given prevalence", "Vickers and Elkin (2006)")
FROM_LIMITS_OF_PREVALENCE = Words(
    "combined with Clopper-Pearson limits of the prevalence (MOVER)",
    f"{FROM_PREVALENCE.reference}, Zou and Donner (2008), Clopper and Pearson (1934)",
)
#: The same for readers, by metrics.
DERIVED = {
    "predictive values": AT_PREVALENCE,
    "likelihood ratios": RATIOS_AT_JOINT_LIMITS,
    "net benefit": FROM_LIMITS_OF_PREVALENCE,
}


class Proportion(NamedTuple):
    """An estimated proportion, its limits in [0, 1], and its number of rows."""

    estimate: float
    low: float
    high: float
    n_rows: float

    @property
    def complement(self) -> Proportion:
        """One minus it."""
        return Proportion(1.0 - self.estimate, 1.0 - self.high, 1.0 - self.low, self.n_rows)

    def in_words(self, of_rows: str) -> str:
        """Return the prevalence of a sample in words."""
        estimate, low, high = map(format_proportion, (self.estimate, self.low, self.high))
        return f"the prevalence {estimate} {of_rows}, limits {low} to {high}"

    @property
    def inner(self) -> float:
        """The estimate, moved off 0 and 1."""
        least = OFF_THE_ENDS / self.n_rows
        return min(max(self.estimate, least), 1.0 - least)


def positive_predictive_value(sensitivity: float, specificity: float, prevalence: float) -> float:
    """Return the share of events among the cases predicted as events; nan if there is none.

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
    """Return the share of non-events among the cases predicted as non-events; nan if there is none.

    Examples
    --------
    >>> round(negative_predictive_value(0.9, 0.8, 0.1), 4)
    0.9863
    """
    return positive_predictive_value(specificity, sensitivity, 1.0 - prevalence)


VALUES = {"ppv": positive_predictive_value, "npv": negative_predictive_value}


def likelihood_ratio(name: str, sensitivity: float, specificity: float) -> float:
    """Return LR+ = se / (1 - sp) or LR- = (1 - se) / sp; infinite if only the denominator is 0, nan for 0/0.

    References
    ----------
    Deeks, J. J. and Altman, D. G. (2004). Diagnostic tests 4: likelihood ratios. BMJ 329, 168-169.

    Examples
    --------
    >>> likelihood_ratio("lr+", 0.75, 0.5), likelihood_ratio("lr-", 0.75, 0.5), likelihood_ratio("lr+", 0.75, 1.0)
    (1.5, 0.5, inf)
    """
    positive = name == "lr+"
    above, below = (sensitivity, 1.0 - specificity) if positive else (1.0 - sensitivity, specificity)
    if math.isnan(above + below):
        return math.nan
    return above / below if below > 0.0 else math.inf if above > 0.0 else math.nan


def predictive_limits(
    name: str, sensitivity: Proportion, specificity: Proportion, prevalence: Proportion
) -> ConfidenceInterval:
    """Return limits of a predictive value from separate limits of its parts, each at the target level.

    The log odds of PPV are log se - log(1 - sp) + the log odds of the prevalence, and those of NPV
    log sp - log(1 - se) minus the same: sums, whose limits are as far from the estimate as the root of the sum of the
    squared distances of their parts (MOVER, the method of variance estimates recovery, also called square-and-add).

    Parameters
    ----------
    name : {"ppv", "npv"}
    sensitivity, specificity : Proportion
        An estimate of 0 or 1 is moved by a quarter of a row; limits of 0 and 1 stay, so limits of the value can be 0
        or 1.
    prevalence : Proportion
        A known prevalence is its own lower and upper limit, with an infinite number of rows, and adds no uncertainty.

    References
    ----------
    Zou, G. Y. and Donner, A. (2008). Construction of confidence limits about effect measures: a general approach.
    Statistics in Medicine 27, 1693-1702.

    Examples
    --------
    >>> stated = Proportion(0.2, 0.2, 0.2, math.inf)
    >>> limits = predictive_limits("ppv", Proportion(0.8, 0.6, 0.9, 20), Proportion(0.9, 0.8, 0.95, 80), stated)
    >>> [round(limit, 3) for limit in limits]
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
    at: str,
    n_rows: tuple[float, float] | None = None,
) -> IntervalEstimate:
    """Return the interval of a predictive value from two intervals, simultaneous ones or each at its own level.

    Both predictive values increase with sensitivity and with specificity. From simultaneous intervals, the limits are
    those at both lower and at both upper limits: they are simultaneous with those of sensitivity and specificity, at a
    known prevalence.

    Parameters
    ----------
    name : {"ppv", "npv"}
    sensitivity, specificity : IntervalEstimate
        By the same method, at the same level.
    prevalence : Proportion
        With its limits at the level of the rows, see `predictive_limits`.
    at : str
        Description of the prevalence.
    n_rows : tuple of float, default=None
        Number of events and of non-events; None for simultaneous intervals.
    """
    value = partial(VALUES[name], prevalence=prevalence.estimate)
    if n_rows is None:
        limits = _at_both_ends(sensitivity, specificity, value, 1.0)
        how, words = "from joint limits of sensitivity and specificity", AT_JOINT_LIMITS
    else:
        events, others = (
            Proportion(row.estimate, row.low, row.high, n)
            for row, n in zip((sensitivity, specificity), n_rows, strict=True)
        )
        limits = predictive_limits(name, events, others, prevalence)
        how = "limits combined on the log odds (MOVER)"
        words = AT_PREVALENCE if math.isinf(prevalence.n_rows) else WITH_PREVALENCE
    return _of_both(name, sensitivity, specificity, value, limits, (f"at {at}", how), words)


def ratio_interval(
    name: str, sensitivity: IntervalEstimate, specificity: IntervalEstimate, alternative: str
) -> IntervalEstimate:
    """Return the interval of a likelihood ratio from two simultaneous intervals.

    LR+ increases with sensitivity and with specificity, and LR- decreases. The limits are those at both lower and at
    both upper limits; they hold whenever these do, so the coverage exceeds the level.

    Parameters
    ----------
    name : {"lr+", "lr-"}
    sensitivity, specificity : IntervalEstimate
        By the same method, for `cudbound.metrics.metrics.way_of_parts`.
    alternative : {"two-sided", "less", "greater"}
        About the ratio.

    Returns
    -------
    IntervalEstimate
        A limit that is 0/0 becomes 0 or infinite; a remark reports an infinite limit.
    """
    value = partial(likelihood_ratio, name)
    limits = _at_both_ends(sensitivity, specificity, value, math.inf, decreases=name == "lr-")
    remarks: tuple[str, ...] = ("from joint limits of sensitivity and specificity, conservative",)
    if limits.high == math.inf and alternative != "greater" and not _lost(sensitivity, specificity):
        at = "specificity of 1" if name == "lr+" else "specificity of 0"
        remarks = (*remarks, f"no upper limit: a {at} is within its limits")
    row = _of_both(name, sensitivity, specificity, value, limits, remarks, RATIOS_AT_JOINT_LIMITS)
    return replace(row, alternative=alternative, lowest=0.0, highest=math.inf)


def _at_both_ends(
    sensitivity: IntervalEstimate,
    specificity: IntervalEstimate,
    value: Callable[[float, float], float],
    highest: float,
    *,
    decreases: bool = False,
) -> ConfidenceInterval:
    """Return a value at both lower and at both upper limits; one that is 0/0 is replaced by the end of the scale."""
    pairs = zip(sensitivity.confidence_interval, specificity.confidence_interval, strict=True)
    low, high = (value(*pair) for pair in (reversed(list(pairs)) if decreases else pairs))
    return ConfidenceInterval(0.0 if math.isnan(low) else low, highest if math.isnan(high) else high)


def of_sample(row: IntervalEstimate) -> str:
    """Return of which rows the prevalence of a row with "sample" is, in words."""
    return row.new_cases.of_rows if row.new_cases else "of the sample"


def net_benefit_interval(cost: IntervalEstimate, prevalence: Proportion | None) -> IntervalEstimate:
    """Return the interval of the net benefit from that of minus the mean cost, and the limits of the prevalence.

    It is their sum, whose limits are combined as in `predictive_limits`. Without a prevalence, a known one is in the
    interval already.
    """
    if prevalence is None:
        return replace(cost, words=_after({"the mean cost": cost}, FROM_PREVALENCE))
    ends = cost.confidence_interval if cost.alternative == "two-sided" else cost.raw_interval
    parts = ((cost.estimate, *ends), (prevalence.estimate, prevalence.low, prevalence.high))
    how = "limits of the mean cost and of the prevalence combined (MOVER)"
    return _derived(
        cost,
        UNDEFINED_LIMITS if _lost(cost) else _square_and_add(parts),
        (f"at {prevalence.in_words(of_sample(cost))}", how),
        estimate=cost.estimate + prevalence.estimate,
        highest=1.0,
        words=_after({"the mean cost": cost}, FROM_LIMITS_OF_PREVALENCE),
    )


def _of_both(
    name: str,
    sensitivity: IntervalEstimate,
    specificity: IntervalEstimate,
    value: Callable[[float, float], float],
    limits: ConfidenceInterval,
    remarks: tuple[str, ...],
    how: Words,
) -> IntervalEstimate:
    lost, estimate = _lost(sensitivity, specificity), value(sensitivity.estimate, specificity.estimate)
    if math.isnan(estimate) and not lost:
        side = "an event" if name in ("ppv", "lr+") else "a non-event"
        remarks = (*remarks, f"estimate 0/0: no case is predicted as {side}")
    # the first reason that a part has, with the name of the part unless both have it
    degenerate = sensitivity.degenerate
    if degenerate != specificity.degenerate:
        reasons = (f"{row.metric}: {row.degenerate}" for row in (sensitivity, specificity) if row.degenerate)
        degenerate = next(reasons)
    return _derived(
        sensitivity,
        UNDEFINED_LIMITS if lost else limits,
        remarks,
        metric=name,
        estimate=estimate,
        n_fits=max(sensitivity.n_fits, specificity.n_fits),
        degenerate=degenerate,
        words=_after({"sensitivity": sensitivity, "specificity": specificity}, how),
    )


def _derived(
    row: IntervalEstimate, limits: ConfidenceInterval, remarks: tuple[str, ...], **changes: Any
) -> IntervalEstimate:
    """Return a row that follows from this one: of its remarks and center only those on the tested rows remain."""
    tested = row.tested
    return replace(
        row,
        raw_interval=limits,
        remarks=remarks if tested is None else (tested.remark, *remarks),
        details={},
        standard_error=None,
        center=None if tested is None else tested.center,
        **changes,
    )


def _after(parts: Mapping[str, IntervalEstimate], how: Words) -> Words:
    """Return the words of limits that are made from those of other metrics."""
    metrics_of = grouped((row.title, metric) for metric, row in parts.items())
    limits = " and ".join(f"{title}, for {' and '.join(named)}" for title, named in metrics_of.items())
    sources = dict.fromkeys(row.words.reference for row in parts.values() if row.words is not None)
    return Words(f"{limits}, {how.title}", "; ".join((*sources, how.reference)))


def _lost(*rows: IntervalEstimate) -> bool:
    return any(math.isnan(row.estimate + row.low + row.high) for row in rows)


def _square_and_add(parts: Sequence[tuple[float, float, float]]) -> ConfidenceInterval:
    """Return limits of a sum from those of its parts; a limit on the wrong side of its estimate is set to it."""
    total = sum(estimate for estimate, _, _ in parts)
    below = math.hypot(*(max(estimate - low, 0.0) for estimate, low, _ in parts))
    above = math.hypot(*(max(high - estimate, 0.0) for estimate, _, high in parts))
    return ConfidenceInterval(total - below, total + above)


def _log(share: float) -> float:
    return math.log(share) if share > 0.0 else -math.inf


def _logit(share: float) -> float:
    return _log(share) - _log(1.0 - share)
