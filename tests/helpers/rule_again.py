"""The rule of the recommended interval a second time, in plain Python: binomial limits around three centers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

Numbers = dict[str, float]


# ---- binomial limits ----


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(1.0 - x, b, a)
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_factor) / (a * _beta_fraction(x, a, b))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The denominator 1 + d1 / (1 + d2 / (1 + ...)), by the method of Lentz."""
    value, numerator, denominator = 1.0, 1.0, 0.0
    for k in range(1, 10_000):
        m = k // 2
        if k % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1.0 / (1.0 + term * denominator)
        numerator = 1.0 + term / numerator
        value *= numerator * denominator
        if abs(numerator * denominator - 1.0) < 1e-15:
            return value
    raise ArithmeticError(f"the continued fraction does not converge at {x}, {a}, {b}")


def lower_limit(center: float, size: float, tail: float) -> float:
    """The lower Clopper-Pearson limit of a share of `size` cases, which need not be a whole number."""
    if center <= 0.0:
        return 0.0
    low, high = 0.0, 1.0
    while high - low > 1e-15 * high:
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        if incomplete_beta(middle, size * center, size * (1.0 - center) + 1.0) < tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def upper_limit(center: float, size: float, tail: float) -> float:
    """The upper limit: one minus the lower limit of the cases that are not wrong."""
    return 1.0 - lower_limit(1.0 - center, size, tail)


# ---- the rule ----


def mean(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed)


def plus_632(training: float, out_of_bag: float, no_information: float) -> float:
    """Efron and Tibshirani (1997), with Err(1) cut to the no-information rate in both places."""
    cut = min(out_of_bag, no_information)
    overfitting = 0.0
    if cut > training and no_information > training:
        overfitting = (cut - training) / (no_information - training)
    weight = 0.632 / (1.0 - 0.368 * overfitting)
    return (1.0 - weight) * training + weight * cut


def interval(
    training: float,
    cross_validated: float,
    out_of_bag: float,
    no_information: float,
    size: Callable[[float], float],
    tail: float,
    *,
    from_zero: bool = False,
) -> Numbers:
    """The rule for a mean loss; ``size(center)`` is the number of cases behind a limit."""
    plus = plus_632(training, out_of_bag, no_information)
    lower = min(cross_validated, plus)
    upper = max(cross_validated, plus, (cross_validated + out_of_bag) / 2.0)
    return {
        "training": training,
        "cross_validated": cross_validated,
        "out_of_bag": out_of_bag,
        "at_632_plus": plus,
        "lower_center": lower,
        "upper_center": upper,
        "lower_size": size(lower),
        "upper_size": size(upper),
        "estimate": (cross_validated + plus) / 2.0,
        "low": 0.0 if from_zero else lower_limit(lower, size(lower), tail),
        "high": upper_limit(upper, size(upper), tail),
    }
