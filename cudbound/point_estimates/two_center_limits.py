"""The limits around two centers, and the range of signed suprema on which they depend."""

from __future__ import annotations

from cudbound.basis.outcomes import ConfidenceInterval
from cudbound.basis.proportions import inverted_binomial_interval, inverted_binomial_tails
from cudbound.point_estimates.effective_size import cost_factor, effective_rows
from cudbound.point_estimates.two_centers import TwoCenters, two_centers
from cudbound.records import Records


def two_center_interval(
    centers: TwoCenters,
    n_samples: float,
    confidence_level: float,
    *,
    cap: float | None = None,
    tails: str = "equal",
) -> ConfidenceInterval:
    """Return the limits around the centers.

    Parameters
    ----------
    centers : TwoCenters
    n_samples : float
        Rows n of the training set; for rows in groups, weighted rows and costs, their effective number.
    confidence_level : float
    cap : float, default=None
        Training error plus the quantile of the signed suprema; the upper limit is at most the larger of this and the
        upper limit of the smaller center. None for no cap.
    tails : {"equal", "shortest"}, default="equal"
        Whether each tail has half of the error probability, or each center the split with the shortest binomial
        interval. The latter is about 3 % shorter, but such a binomial interval covers as little as .929 at 20 rows and
        nominal .95.

    Returns
    -------
    ConfidenceInterval
        Within [0, 1], of positive width; it contains the binomial interval of the smaller of the two centers.

    Examples
    --------
    >>> round(two_center_interval(TwoCenters(0.0, 0.0, 0.0), 20, 0.95).high, 4)
    0.1684
    """
    limits = shortest_binomial_interval if tails == "shortest" else inverted_binomial_interval
    lowest, smaller, largest = (
        limits(center * n_samples, n_samples, confidence_level)
        for center in (centers.low, centers.smaller, centers.high)
    )
    high = largest.high if cap is None else min(largest.high, max(smaller.high, cap))
    return ConfidenceInterval(min(lowest.low, smaller.low), high)


def counted_rows(records: Records, centers: TwoCenters) -> float:
    """Return the effective number of independent 0/1 losses."""
    return effective_rows(records) / cost_factor(records.square_ratio, centers.low)


def cap_range(
    records: Records, confidence_level: float, alternative: str, tails: str = "equal"
) -> tuple[float, float]:
    """Return the range of the quantile of the signed suprema in which it affects the upper limit.

    Below the range the cap has its full effect, above it none.
    """
    if alternative != "two-sided":
        confidence_level, tails = 2.0 * confidence_level - 1.0, "equal"
    centers = two_centers(records)
    n = counted_rows(records, centers)
    most = two_center_interval(centers, n, confidence_level, tails=tails).high
    least = two_center_interval(centers, n, confidence_level, cap=0.0, tails=tails).high
    return least - centers.training_error, most - centers.training_error


def shortest_binomial_interval(errors: float, n_tested: float, confidence_level: float) -> ConfidenceInterval:
    """Return the shortest interval that inverts both binomial tails, over the splits of the error probability.

    The parameters are those of `cudbound.basis.proportions.inverted_binomial_interval`, which splits it equally.

    Examples
    --------
    >>> round(shortest_binomial_interval(0, 10, 0.95).high, 4)
    0.2589
    """
    from scipy.optimize import minimize_scalar

    total = 1.0 - confidence_level

    def width(below: float) -> float:
        low, high = inverted_binomial_tails(errors, n_tested, below, total - below)
        return float(high - low)

    # at 0 and at all errors the shortest interval has one tail; elsewhere the width has one minimum between
    inner = float(minimize_scalar(width, bounds=(0.0, total), method="bounded", options={"xatol": 1e-12}).x)
    below = min((0.0, inner, total), key=width)
    low, high = inverted_binomial_tails(errors, n_tested, below, total - below)
    return ConfidenceInterval(float(low), float(high))
