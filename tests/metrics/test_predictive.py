"""Predictive values from separate limits: the sum of squares by hand, what must hold of it, and how often it covers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from cudbound.basis.groups import Groups
from cudbound.metrics.predictive import (
    Proportion,
    negative_predictive_value,
    positive_predictive_value,
    predictive_limits,
)
from cudbound.point_estimates.bootstrap_632 import share_limits


def by_hand(name, se, sp, prevalence):
    """Limits by Zou and Donner in odds; each argument is (estimate, low, high, rows)."""

    def inner(part):
        estimate, _, _, n = part
        return min(max(estimate, 0.25 / n), 1.0 - 0.25 / n)

    def odds(a, b, share):
        if name == "npv":
            a, b, share = b, a, 1.0 - share
        up, down = a * share, (1.0 - b) * (1.0 - share)
        return math.inf if down == 0.0 else up / down

    middle = [inner(one) for one in (se, sp, prevalence)]
    value = odds(*middle)
    limits = []
    for end in (1, 2):
        distance = 0.0
        for place, part in enumerate((se, sp, prevalence)):
            # one part at its limit, the others at the estimate: its distance in log odds
            limit = part[3 - end] if place == 2 and name == "npv" else part[end]
            moved = odds(*(limit if place == other else middle[other] for other in range(3)))
            ratio = moved / value if end == 2 else (math.inf if moved == 0.0 else value / moved)
            distance += max(math.log(ratio), 0.0) ** 2 if ratio != math.inf else math.inf
        factor = math.exp(math.sqrt(distance)) if distance != math.inf else math.inf
        limits.append(value * factor if end == 2 else value / factor)
    return [1.0 if one == math.inf else one / (1.0 + one) for one in limits]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # se 16/20 (.6, .9), sp 72/80 (.8, .95), prevalence .2 stated. PPV: odds .8/.1 * .25 = 2, in log .6931;
        # below sqrt(log(.8/.6)^2 + log(.2/.1)^2) = .7505, above sqrt(log(.9/.8)^2 + log(.1/.05)^2) = .7031
        ("ppv", (0.4857, 0.8016)),
        # NPV: odds .9/.2 * 4 = 18, in log 2.8904; below sqrt(log(.9/.8)^2 + log(.4/.2)^2) = .7031,
        # above sqrt(log(.95/.9)^2 + log(.2/.1)^2) = .6952
        ("npv", (0.8991, 0.9730)),
    ],
)
def test_a_worked_example(name, expected):
    se, sp = Proportion(0.8, 0.6, 0.9, 20), Proportion(0.9, 0.8, 0.95, 80)
    found = predictive_limits(name, se, sp, Proportion(0.2, 0.2, 0.2, math.inf))
    assert tuple(found) == pytest.approx(expected, abs=5e-5)


@st.composite
def proportions(draw, *, inside=False):
    n = draw(st.integers(2, 200))
    k = draw(st.integers(1 if inside else 0, n - 1 if inside else n))
    low, high = (
        (0.0 if k == 0 else beta.ppf(0.025, k, n - k + 1)),
        (1.0 if k == n else beta.ppf(0.975, k + 1, n - k)),
    )
    return Proportion(k / n, float(low), float(high), n)


@given(proportions(), proportions(), proportions(inside=True), st.sampled_from(["ppv", "npv"]))
@settings(deadline=None, max_examples=150)
def test_limits_by_another_way_to_write_them(se, sp, prevalence, name):
    found = predictive_limits(name, se, sp, prevalence)
    assert tuple(found) == pytest.approx(by_hand(name, se, sp, prevalence), abs=1e-9)
    value = positive_predictive_value if name == "ppv" else negative_predictive_value
    estimate = value(se.estimate, sp.estimate, prevalence.estimate)
    assert 0.0 <= found.low <= found.high <= 1.0
    assert math.isnan(estimate) or found.low - 1e-12 <= estimate <= found.high + 1e-12
    # roles exchanged: NPV is the PPV of those who call the other class the event
    other = predictive_limits("npv" if name == "ppv" else "ppv", sp, se, prevalence.complement)
    assert tuple(other) == pytest.approx(tuple(found), abs=1e-12)


def test_the_share_of_events_by_plain_loops():
    rng = np.random.default_rng(1)
    event, weight = rng.random(40) < 0.3, rng.choice([1.0, 2.0, 5.0], size=40)
    share, low, high, n = share_limits(event, weight, None, 0.9)
    assert share == pytest.approx(sum(w for w, one in zip(weight, event, strict=True) if one) / sum(weight))
    assert n == pytest.approx(sum(weight) ** 2 / sum(w * w for w in weight))
    assert (low, high) == pytest.approx(
        (beta.ppf(0.05, share * n, n - share * n + 1), beta.ppf(0.95, share * n + 1, n - share * n))
    )
    codes = np.arange(40) // 4
    sums = [sum(weight[i] * (event[i] - share) for i in range(40) if codes[i] == g) for g in range(10)]
    squares = sum((weight[i] * (event[i] - share)) ** 2 for i in range(40))
    effect = sum(one * one for one in sums) / squares
    assert share_limits(event, weight, Groups.of(codes), 0.9)[3] == pytest.approx(
        min(n, max(n / effect, 10.0))
    )
    # patients who are all ill or all well count once, however many rows they have
    assert share_limits(np.repeat(event[:10], 4), None, Groups.of(codes), 0.9)[3] == pytest.approx(10.0)
