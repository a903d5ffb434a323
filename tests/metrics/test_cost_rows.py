"""How many rows count where wrong rows cost different amounts: the variance by enumeration, and how limits cover."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudbound.intervals.two_center import cost_factor
from cudbound.metrics.metric import Metric, MetricRows
from cudbound.metrics.views import records_for
from cudbound.problem.draws import draw_counts
from cudbound.records import BootstrapLosses, Records

COST = Metric("cost", costs=(1.0, 4.0))
shares = st.lists(
    st.tuples(st.floats(0.01, 1.0), st.floats(0.01, 1.0), st.floats(0.01, 0.99)), min_size=1, max_size=4
)


def moments(rows):
    """Mean and variance of the loss of a random row, by enumeration of (frequency, severity, share of wrong rows)."""
    total = sum(frequency for frequency, _, _ in rows)
    outcomes = [
        (frequency / total * (wrong if is_wrong else 1.0 - wrong), severity * is_wrong)
        for (frequency, severity, wrong), is_wrong in itertools.product(rows, (0, 1))
    ]
    mean = sum(weight * loss for weight, loss in outcomes)
    return mean, sum(weight * (loss - mean) ** 2 for weight, loss in outcomes)


@given(shares)
@settings(deadline=None)
def test_the_factor_is_the_ratio_of_two_variances(rows):
    mean, variance = moments(rows)
    squares = sum(frequency * severity**2 * wrong for frequency, severity, wrong in rows)
    ratio = squares / sum(frequency * severity * wrong for frequency, severity, wrong in rows)
    assert ratio <= 1.0 + 1e-12
    found = cost_factor(min(ratio, 1.0), mean)
    assert found == pytest.approx(variance / (mean * (1.0 - mean)), rel=1e-6, abs=1e-9) or ratio <= mean
    assert 0.0 < found <= 1.0
    # the lower of two centers gives the larger factor, and so the smaller number of rows
    assert cost_factor(min(ratio, 1.0), 0.7 * mean) >= found - 1e-12 or found == 1.0


@pytest.mark.parametrize("weighted", [False, True])
def test_the_ratio_of_out_of_bag_losses_by_plain_loops(weighted):
    rng = np.random.default_rng(2)
    event, weight = rng.random(12) < 0.4, rng.choice([0.5, 1.0, 3.0], size=12)
    counts = draw_counts(12, 25, rng)
    wrong = rng.random((25, 12)) < 0.3
    records = Records(losses=wrong[0], bootstrap=BootstrapLosses(counts, wrong))
    found = records_for(MetricRows(COST, event, weight if weighted else None), records).square_ratio
    rows = weight if weighted else np.ones(12)
    rows = rows / sum(rows)
    first = second = sum(one * one for one in rows)  # one more row, wrong at full cost
    for i in range(12):
        left_out = [b for b in range(25) if counts[b, i] == 0]
        share = sum(wrong[b, i] for b in left_out) / len(left_out) if left_out else 0.0
        severity = 1.0 if event[i] else 0.25
        first += rows[i] * severity * share
        second += rows[i] * severity**2 * share
    assert found == pytest.approx(second / first)
