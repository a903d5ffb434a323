"""The interval of cudbound's own: binomial limits around two centers, with the upper limit capped by a supremum.

The optimism-corrected error is anchored at the classifier at hand, and too low where there are many features; the
.632+ estimate averages over refits, and misses the error of this classifier where many cases lie on its boundary. The
limits reach from the lower limit of the smaller to the upper limit of the larger of the two, as if each were the error
on as many new cases as there are training rows. Where few features were fitted, the signed side of the CUD bound says
how far the training error can be too low, and may lower the upper limit, down to that of the smaller center.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from cudbound.intervals.effective_size import design_effect, effective_rows
from cudbound.intervals.method import Method
from cudbound.intervals.proportions import inverted_binomial_interval, inverted_binomial_tails
from cudbound.method_card import Choice, Flag
from cudbound.outcomes import UNDEFINED_LIMITS, ConfidenceInterval, Estimand, Outcome
from cudbound.point_estimates.bootstrap_632 import estimate_632_plus
from cudbound.point_estimates.optimism import optimism_corrected_error
from cudbound.quantiles import inverted_cdf_quantile, within
from cudbound.records import Records, SignedSuprema

#: The cap is taken where the rank of the design is at most this share of the rows: near the rows, refits differ more
#: from the classifier than the neighborhood of the supremum allows.
MOST_RANK_PER_ROW = 0.5


@dataclass(frozen=True)
class TwoCenters:
    """The two estimates that the interval is built around, each in [0, 1]."""

    optimism_corrected: float
    error_632_plus: float

    @property
    def low(self) -> float:
        """The smaller one."""
        return min(self.optimism_corrected, self.error_632_plus)

    @property
    def high(self) -> float:
        """The larger one."""
        return max(self.optimism_corrected, self.error_632_plus)

    @property
    def mean(self) -> float:
        """The point estimate: their mean."""
        return (self.optimism_corrected + self.error_632_plus) / 2


def two_centers(records: Records) -> TwoCenters:
    """Return both centers; that of .632+ is nan if no point was ever out of bag."""
    return TwoCenters(
        min(max(optimism_corrected_error(records), 0.0), 1.0), estimate_632_plus(records).estimate
    )


def allows_cap(rank: int, n_samples: int) -> bool:
    """Whether a design of this rank has few enough columns for the cap of the upper limit.

    Examples
    --------
    >>> allows_cap(15, 30), allows_cap(16, 30)
    (True, False)
    """
    return rank <= MOST_RANK_PER_ROW * n_samples


def two_center_interval(
    centers: TwoCenters,
    n_samples: float,
    confidence_level: float,
    *,
    cap: float | None = None,
    tails: str = "equal",
) -> ConfidenceInterval:
    """Return the limits around two centers.

    Parameters
    ----------
    centers : TwoCenters
    n_samples : float
        Rows n of the training set; of rows in groups their effective number.
    confidence_level : float
    cap : float, default=None
        Training error plus the quantile of the signed suprema; the upper limit is not above the larger of this and
        the upper limit of the smaller center. None for no cap.
    tails : {"equal", "shortest"}, default="equal"
        Whether each tail has half of the error probability, or each center the split of it that makes its binomial
        interval shortest. The latter is about 3 % shorter, but a binomial interval of its kind covers no more than
        .929 at 20 rows and the nominal .95.

    Returns
    -------
    ConfidenceInterval
        Within [0, 1], of positive width; it holds the binomial interval of the smaller center.

    Examples
    --------
    >>> round(two_center_interval(TwoCenters(0.0, 0.0), 20, 0.95).high, 4)
    0.1684
    """
    limits = shortest_binomial_interval if tails == "shortest" else inverted_binomial_interval
    smaller, larger = (
        limits(center * n_samples, n_samples, confidence_level) for center in (centers.low, centers.high)
    )
    if cap is None:
        return ConfidenceInterval(smaller.low, larger.high)
    return ConfidenceInterval(smaller.low, min(larger.high, max(smaller.high, cap)))


def cap_range(
    records: Records, confidence_level: float, alternative: str, tails: str = "equal"
) -> tuple[float, float]:
    """Return between which quantiles of the signed suprema the upper limit depends on them.

    Below the first the cap has its whole effect, above the second it has none.
    """
    if alternative != "two-sided":
        confidence_level, tails = 2.0 * confidence_level - 1.0, "equal"
    centers, n = two_centers(records), effective_rows(records)
    training_error = float(np.mean(records.require("losses")))
    most = two_center_interval(centers, n, confidence_level, tails=tails).high
    least = two_center_interval(centers, n, confidence_level, cap=0.0, tails=tails).high
    return least - training_error, most - training_error


def shortest_binomial_interval(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Return the shortest of the intervals that invert both binomial tails, over the splits of the error probability.

    The parameters are those of `cudbound.intervals.proportions.inverted_binomial_interval`, which splits it equally.

    Examples
    --------
    >>> round(shortest_binomial_interval(0, 10, 0.95).high, 4)
    0.2589
    """
    total = 1.0 - confidence_level

    def width(below: float) -> float:
        low, high = inverted_binomial_tails(errors, n_tested, below, total - below)
        return float(high - low)

    # at 0 and at all errors the shortest interval has one tail; elsewhere the width has one minimum between
    inner = float(minimize_scalar(width, bounds=(0.0, total), method="bounded", options={"xatol": 1e-12}).x)
    below = min((0.0, inner, total), key=width)
    low, high = inverted_binomial_tails(errors, n_tested, below, total - below)
    return ConfidenceInterval(float(low), float(high))


def _suprema(records: Records, wanted: bool, probability: float) -> tuple[float, float] | str:
    """Return bounds on the quantile of the signed suprema, or why there is no cap."""
    suprema: SignedSuprema | None = records.signed_suprema
    if not wanted:
        return "upper limit not capped, as requested"
    if suprema is None:
        return "upper limit not capped: no CUD bound available"
    units = suprema.n_samples if suprema.n_groups is None else suprema.n_groups
    if not allows_cap(suprema.rank, units):
        rank = f"rank {suprema.rank} above half of the {units} {'rows' if suprema.n_groups is None else 'groups'}"
        return f"upper limit not capped: {rank}, where the interval may cover less often"
    if suprema.upper is None:
        return "upper limit not capped: no suprema on record"
    upper = inverted_cdf_quantile(suprema.upper, probability)
    return (upper if suprema.lower is None else inverted_cdf_quantile(suprema.lower, probability)), upper


def _two_center(records: Records, confidence_level: float, *, tails: str, cap: bool) -> Outcome:
    centers = two_centers(records)
    if math.isnan(centers.error_632_plus):
        return Outcome(math.nan, UNDEFINED_LIMITS)
    details = {"optimism_corrected": centers.optimism_corrected, "error_632_plus": centers.error_632_plus}
    training_error = float(np.mean(records.require("losses")))
    n = effective_rows(records)

    def limits(q: float | None) -> ConfidenceInterval:
        cap = None if q is None else training_error + q
        return two_center_interval(centers, n, confidence_level, cap=cap, tails=tails)

    suprema = _suprema(records, cap, 0.5 + confidence_level / 2)
    uncapped = interval = limits(None)
    remarks = []
    if records.groups is not None:
        details["effective_rows"] = n
        effect = f"design effect {design_effect(records):.3g} of the out-of-bag losses"
        remarks.append(f"{records.n_samples} rows counted as {n:.1f}: {effect}")
    if isinstance(suprema, str):
        remarks.append(suprema)
    else:
        lower, upper = suprema
        interval = limits(upper)
        details["uncapped_high"] = uncapped.high
        if lower == upper:
            details["q_signed"] = upper
        elif limits(lower) != interval:
            remarks.append(f"q- {within(lower, upper)}, upper value used")
    if interval.high < uncapped.high:
        remarks.append(f"upper limit {uncapped.high:.3f} lowered by the CUD bound")
    return Outcome(
        centers.mean,
        interval,
        remarks=tuple(remarks),
        details=details,
        center="mean of two centers",
    )


def _one_sided(
    records: Records, confidence_level: float, alternative: str, *, tails: str, cap: bool
) -> Outcome:
    level = 2.0 * confidence_level - 1.0
    if alternative == "less":
        return _two_center(records, level, tails="equal", cap=cap)
    return replace(
        _two_center(records, level, tails="equal", cap=False), remarks=()
    )  # nothing caps a lower limit


TWO_CENTER = Method(
    name="two-center",
    title="Binomial limits around the optimism-corrected and the .632+ estimate, capped by the CUD bound",
    formula="low = lo(n a), high = min(up(n b), max(up(n a), T + Q)), or up(n b) without a cap; a and b are the "
    "smaller and the larger of the .632+ estimate and T + mean of (D_b - A_b), lo and up the limits of "
    "Clopper and Pearson among n with d/2 in each tail, continued to numbers of errors that are not whole, "
    "Q the 1 - d/2 quantile of one side of the suprema of cud",
    estimand=Estimand("conditional"),
    needs=frozenset({"losses", "bootstrap", "signed_suprema"}),
    assumptions="one of the two centers is about the error of this classifier, as if seen on n new cases",
    tendency="kept its level, or missed it by .01, in all populations tried in which the rank of the design was at "
    "most half of the rows; can fall short where it is nearly as large as they are; longer than the CUD bound near "
    "separable classes",
    reference="this package, docs/two_center.md; Clopper and Pearson (1934), Efron and Gong (1983), Efron and "
    "Tibshirani (1997), Laber and Murphy (2008)",
    cost="B",
    compute=_two_center,
    one_sided=_one_sided,
    options={"tails": Choice(("equal", "shortest")), "cap": Flag(True)},
)
