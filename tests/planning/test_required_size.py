"""From half-widths at some sizes to the size that is wanted: closed cases, brute force, and plans that are repeated."""

from __future__ import annotations

import math

import numpy as np

from cudbound.study.planning.plan_sample_size import required_size, smallest_size

SIZES = (20, 40, 60, 90, 150)


def test_the_law_of_the_root_is_met_exactly():
    """Half-widths c / sqrt(n) meet h from the first whole n of at least (c / h)^2 on."""
    for c in (0.7, 0.9, 1.1):
        values = np.array([c / math.sqrt(n) for n in SIZES])
        for target in np.linspace(c / math.sqrt(149), c / math.sqrt(21), 17):
            assert smallest_size(SIZES, values, target) == math.ceil((c / target) ** 2 - 1e-6)


def falling(values: list[float]) -> list[float]:
    """Isotonic regression by its min-max formula, for equal weights."""
    return [
        min(max(sum(values[i : k + 1]) / (k + 1 - i) for k in range(j, len(values))) for i in range(j + 1))
        for j in range(len(values))
    ]


def test_values_that_do_not_fall_are_made_to():
    """The size is the first at which the curve through the regression, linear in 1 / sqrt(n), is low enough."""
    rng = np.random.default_rng(3)
    n_tied = 0
    for _ in range(200):
        values = np.sort(rng.choice([0.2, 0.15, 0.14, 0.1, 0.0], 5))[::-1] + rng.normal(0.0, 0.02, 5).round(2)
        fitted = falling(values.tolist())
        n_tied += fitted != values.tolist()
        curve = [
            np.interp(1 / math.sqrt(n), [1 / math.sqrt(one) for one in SIZES[::-1]], fitted[::-1])
            for n in range(20, 151)
        ]
        for target in (0.0501, 0.1101, 0.1601):  # no value is one of them, but for rounding
            meets = [n for n, value in zip(range(20, 151), curve, strict=True) if value <= target]
            assert smallest_size(SIZES, values, target) == (meets[0] if meets else math.inf)
    assert n_tied > 50


def test_mean_and_quantile():
    """At 25 half of the samples have .3, half .1; at 100 all have .1."""
    samples = [np.array([0.1, 0.3] * 50), np.full(100, 0.1)]
    for probability, target, n in (
        (0.5, 0.1, 25),
        (0.51, 0.2, 45),
        (0.8, 0.2, 45),
        (None, 0.2, 25),
        (None, 0.15, 45),
    ):
        # linear in 1 / sqrt(n) from .2 to .1: the middle is at .15, n = 44.4
        assert (
            required_size(
                dict(zip((25, 100), samples, strict=True)), target, probability, np.random.default_rng(0)
            ).n
            == n
        )


def test_equal_samples_have_no_range_and_the_same_numbers_repeat():
    samples = {n: np.full(30, 1.0 / math.sqrt(n)) for n in SIZES}
    found = required_size(samples, 0.1, 0.8, np.random.default_rng(0))
    assert (found.n, found.low, found.high, str(found)) == (100.0, 100.0, 100.0, "100 patients")
    noisy = {n: widths * np.linspace(0.8, 1.2, 30) for n, widths in samples.items()}
    first, second = (required_size(noisy, 0.1, 0.8, np.random.default_rng(5)) for _ in range(2))
    assert first == second
    assert first.low < first.n < first.high
