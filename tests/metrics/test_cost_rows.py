"""How many rows count where wrong rows cost different amounts: the variance by enumeration, and how limits cover."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudbound.basis.proportions import inverted_binomial_limits
from cudbound.metrics.metric import ERROR, SENSITIVITY, Metric, MetricRows
from cudbound.metrics.views import records_for
from cudbound.point_estimates.bootstrap_632 import cost_factor
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


def test_nothing_known_and_nothing_sensible_divide_by_one():
    assert cost_factor(math.nan, 0.2) == cost_factor(0.2, 0.2) == cost_factor(0.1, 0.2) == 1.0
    assert cost_factor(1.0, 0.0) == cost_factor(1.0, 0.9) == 1.0


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


def test_metrics_of_losses_0_and_1_know_no_ratio():
    counts = draw_counts(12, 25, np.random.default_rng(2))
    event = np.arange(12) < 5
    records = Records(losses=event, bootstrap=BootstrapLosses(counts, np.zeros((25, 12), dtype=bool)))
    for metric in (ERROR, SENSITIVITY, Metric("cost", costs=(3.0, 3.0))):
        assert math.isnan(records_for(MetricRows(metric, event), records).square_ratio)
    assert records_for(MetricRows(COST, event), records).square_ratio == 1.0  # no wrong row shows nothing
    assert math.isnan(records_for(MetricRows(COST, event), Records(losses=event)).square_ratio)


@pytest.mark.parametrize("n", [30, 50, 100])
@pytest.mark.parametrize("costly", [(0.02, 0.8), (0.01, 0.2), (0.05, 0.2), (0.1, 0.3)])
def test_limits_of_that_many_rows_cover_the_mean_of_independent_losses(n, costly):
    """Shares of rows that are wrong at full cost and at a tenth of it; 4000 samples of n rows."""
    full, tenth = costly
    drawn = np.random.default_rng(n).multinomial(n, [full, tenth, 1.0 - full - tenth], size=4000)
    true, covered = full + 0.1 * tenth, []
    for dear, cheap, _ in drawn.tolist():
        center = (dear + 0.1 * cheap) / n
        rows = n / cost_factor((dear + 0.01 * cheap + 1.0) / (dear + 0.1 * cheap + 1.0), center)
        low, high = inverted_binomial_limits(center * rows, rows, 0.95)
        covered.append(low <= true <= high)
    assert np.mean(covered) > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 4000)
