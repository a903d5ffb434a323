"""Predictive values from separate limits: the sum of squares by hand, what must hold of it, and how often it covers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta

from cudbound.basis.groups import Groups
from cudbound.metrics.predictive import (
    Proportion,
    predictive_limits,
)
from cudbound.point_estimates.bootstrap_632 import share_limits


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
