"""Every interval formula against worked numbers and independent code, and the contract over all methods."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_losses import random_losses
from scipy import stats
from shared_files import shared_vectors
from statsmodels.stats.proportion import proportion_confint

from cudbound.basis.proportions import inverted_cdf_quantile
from cudbound.intervals import GROUPS, METHODS, compute_interval
from cudbound.intervals.at_632 import kohavi_interval, langford_interval, martin_interval, yang_interval
from cudbound.intervals.bootstrap_percentile import (
    basic_interval,
    bias_corrected_interval,
    bias_corrected_levels,
    percentile_interval,
    shifted_interval,
)
from cudbound.point_estimates.bootstrap_632 import effective_size_bootstrap, effective_size_folds
from cudbound.records import InnerErrors, Records

VECTORS = shared_vectors()
BASELINES = [name for name in GROUPS["paper"] if name != "cud"]
LEVELS = st.floats(0.5, 0.999)


def _example(name):
    entry = VECTORS[name]
    inputs = entry["inputs"]
    level = 1 - inputs["delta"] if "delta" in inputs else None
    return inputs, entry["value"], level


# ---- worked numbers ----


def test_worked_effective_sample_sizes():
    inputs, value, _ = _example("nstar_30")
    assert effective_size_bootstrap(inputs["n"]) == pytest.approx(value["nstar"], abs=1e-12)
    assert effective_size_bootstrap(50) == pytest.approx(31.79151599564416, abs=1e-12)
    inputs, value, _ = _example("nstar_cv")
    assert effective_size_folds(inputs["n"], inputs["k"]) == value["nstar"]


def test_worked_yang():
    inputs, value, level = _example("Y_cv")
    center = float(np.mean(inputs["errors"]))
    assert center == value["center"]
    assert yang_interval(center, inputs["errors"], inputs["k"], level) == pytest.approx(
        value["raw"], abs=1e-12
    )
    inputs, value, level = _example("Y_632")
    assert yang_interval(inputs["center"], inputs["errors"], inputs["k"], level) == pytest.approx(
        value["raw"], abs=1e-12
    )


def test_worked_percentiles():
    _, value, level = _example("percentile_1000")
    replicates = np.random.default_rng(0).permutation(np.arange(1, 1001)) / 1000
    assert list(percentile_interval(replicates, level)) == value["interval"]


@pytest.mark.parametrize(
    ("name", "function"), [("BS2_shift", shifted_interval), ("BS2_basic", basic_interval)]
)
def test_worked_corrections(name, function):
    inputs, value, level = _example(name)
    interval = function(inputs["boot"], inputs["estimate"], level)
    assert interval == pytest.approx(value["interval"], abs=1e-12)


# ---- independent code ----


@pytest.mark.parametrize(
    ("method", "interval", "size"),
    [
        ("normal", lambda xi, n, level: kohavi_interval(xi, n, level), effective_size_bootstrap),
        (
            "wilson",
            lambda xi, n, level: kohavi_interval(xi, n, level, form="wilson"),
            effective_size_bootstrap,
        ),
        ("beta", langford_interval, effective_size_bootstrap),
        (
            "jeffreys",
            lambda xi, n, level: martin_interval(xi, n, level, prior="jeffreys"),
            lambda n: n - effective_size_bootstrap(n),
        ),
    ],
)
@settings(deadline=None, max_examples=40)
@given(xi=st.floats(0.01, 0.99), n=st.integers(4, 200), level=LEVELS)
def test_baselines_are_statsmodels_intervals_on_their_pretended_points(method, interval, size, xi, n, level):
    """The same formulas with numbers of points that are not whole; the peer clips the normal one."""
    m = size(n)
    peer = proportion_confint(xi * m, m, 1 - level, method=method)
    assert interval(xi, n, level).clipped(0.0, 1.0) == pytest.approx(peer, abs=1e-9)


def test_bias_corrected_is_scipys_bca_with_zero_acceleration():
    """SciPy's BCa levels on a statistic whose jackknife has no skewness: the acceleration vanishes."""
    sample = np.array([-3.0, -1.5, -1.0, 1.0, 1.5, 3.0])  # symmetric, so the jackknife of the mean is too
    peer = stats.bootstrap((sample,), np.mean, n_resamples=999, method="BCa", random_state=1)
    z0 = stats.norm.ppf(stats.percentileofscore(peer.bootstrap_distribution, 0.0, kind="mean") / 100)
    levels = bias_corrected_levels(peer.bootstrap_distribution, float(sample.mean()), 0.95)
    assert levels == pytest.approx(
        (stats.norm.cdf(2 * z0 - stats.norm.ppf(0.975)), stats.norm.cdf(2 * z0 + stats.norm.ppf(0.975)))
    )
    ours = bias_corrected_interval(peer.bootstrap_distribution, float(sample.mean()), 0.95)
    # SciPy interpolates between neighboring replicates, so the limits agree to one gap
    gap = 2 * np.diff(np.unique(peer.bootstrap_distribution)).max()
    assert ours.low == pytest.approx(peer.confidence_interval.low, abs=gap)
    assert ours.high == pytest.approx(peer.confidence_interval.high, abs=gap)


@settings(deadline=None)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=40), st.integers(0, 100))
def test_quantile_is_numpys_inverted_cdf(values, percent):
    peer = np.quantile(values, percent / 100, method="inverted_cdf")
    ours = inverted_cdf_quantile(values, percent / 100)
    assert ours in values
    # NumPy does not forgive the rounding error of B p, so that it may be one order statistic further
    rank = len(values) * percent / 100
    if abs(rank - round(rank)) > 1e-6:
        assert ours == peer


# ---- the contract, from recorded losses alone ----


def _slow_632(records):
    counts, losses = records.bootstrap.counts, records.bootstrap.losses
    means = [losses[counts[:, i] == 0, i].mean() for i in range(records.n_samples)]
    return 0.368 * records.losses.mean() + 0.632 * np.mean(means)


@pytest.mark.parametrize("name", BASELINES)
def test_every_interval_is_around_the_632_estimate(name):
    for seed in range(25):
        row = compute_interval(METHODS[name], random_losses(seed), 0.95)
        assert str(row.estimand) == "conditional"
        assert row.estimate == pytest.approx(_slow_632(random_losses(seed)), abs=1e-12)


def test_rows_are_their_formulas_at_the_632_estimate():
    records = random_losses(3)
    estimate = _slow_632(records)
    counts, losses = records.bootstrap.counts, records.bootstrap.losses
    replicates = 0.368 * (counts * losses).sum(axis=1) / 20 + 0.632 * records.inner.errors
    expected = {
        "bootstrap-percentile": percentile_interval(replicates, 0.9),
        "bootstrap-bias-corrected": bias_corrected_interval(replicates, estimate, 0.9),
        "kohavi-normal": kohavi_interval(estimate, 20, 0.9),
        "yang-cv-normal": yang_interval(estimate, records.folds.losses, 10, 0.9),
        "martin-beta": martin_interval(estimate, 20, 0.9),
        "langford-binomial": langford_interval(estimate, 20, 0.9),
    }
    for name, interval in expected.items():
        row = compute_interval(METHODS[name], records, 0.9)
        assert row.raw_interval == pytest.approx(interval, abs=1e-12), name


# ---- degenerate intervals ----


def test_replicates_without_estimate_are_dropped_and_counted():
    records = random_losses(3)
    errors = records.inner.errors.copy()
    errors[:3] = np.nan
    partly = Records(losses=records.losses, bootstrap=records.bootstrap, inner=InnerErrors(errors, 0))
    row = compute_interval(METHODS["bootstrap-percentile"], partly, 0.9)
    kept = (0.368 * records.bootstrap.resubstitution + 0.632 * records.inner.errors)[3:]
    assert row.raw_interval == pytest.approx(percentile_interval(kept, 0.9), abs=1e-12)
    assert row.remarks == ("3 draws with no row out of bag dropped",)
