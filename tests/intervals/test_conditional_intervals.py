"""Intervals for the error of the fitted classifier beyond the baselines of the paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_losses import equal_losses, random_losses
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from cudbound.basis.proportions import inverted_binomial_interval, inverted_cdf_quantile, sample_quantile
from cudbound.intervals import compute_interval
from cudbound.intervals.at_632 import (
    NORMAL_632,
    NORMAL_632_PLUS,
    err1_influences,
    err1_standard_error,
    scaled_standard_error,
)
from cudbound.intervals.binomial import (
    LEAVE_ONE_OUT_BINOMIAL,
    ON_TEST_SET,
    TRAINING_NORMAL,
)
from cudbound.intervals.bootstrap_percentile import (
    BIAS_CORRECTED,
    acceleration,
    bias_corrected_interval,
    bias_corrected_levels,
)
from cudbound.intervals.laber_murphy import ACI, BoundaryDeviations
from cudbound.problem.draws import draw_counts
from cudbound.records import FoldLosses, Records, TestSetLosses

LEVELS = st.floats(0.5, 0.999)
TEST_SET_METHODS = (
    TEST_SET_WALD,
    TEST_SET_WILSON,
    TEST_SET_CLOPPER_PEARSON,
    TEST_SET_LANGFORD,
    TEST_SET_WILSON_CORRECTED,
    TEST_SET_AGRESTI_COULL,
    TEST_SET_JEFFREYS,
) = ON_TEST_SET


def _test_set(errors, n_tested, estimand="holdout-model"):
    return Records(test_set=TestSetLosses(np.arange(n_tested) < errors, 30, estimand))


# ---- the standard error of Efron and Tibshirani ----


def _plain_influences(losses, counts):
    """The equations as sums over points and draws, without an array operation."""
    n_resamples, n = len(counts), len(counts[0])
    out = [[int(counts[b][i] == 0) for i in range(n)] for b in range(n_resamples)]
    times_out = [sum(out[b][i] for b in range(n_resamples)) for i in range(n)]
    error = [sum(out[b][i] * losses[b][i] for b in range(n_resamples)) / times_out[i] for i in range(n)]
    err1 = sum(error) / n
    q = [sum(out[b][i] * losses[b][i] for i in range(n)) / n for b in range(n_resamples)]
    found = []
    for i in range(n):
        mean_count = sum(counts[b][i] for b in range(n_resamples)) / n_resamples
        slope = sum((counts[b][i] - mean_count) * q[b] for b in range(n_resamples)) / times_out[i]
        found.append((2 + 1 / (n - 1)) * (error[i] - err1) / n + slope)
    return err1, found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_influences_against_plain_python(seed):
    record = random_losses(seed).bootstrap
    # differences of two learners' losses as well as 0/1 losses
    losses = record.losses.astype(int) - (np.random.default_rng(seed).random(record.losses.shape) < 0.2)
    err1, found = _plain_influences(losses.tolist(), record.counts.tolist())
    np.testing.assert_allclose(err1_influences(losses, record.counts), found, atol=1e-12)
    expected = math.sqrt(sum(one**2 for one in found))
    assert err1_standard_error(losses, record.counts) == pytest.approx(expected, abs=1e-12)
    assert scaled_standard_error(0.2, losses, record.counts) == pytest.approx(expected * 0.2 / err1)


@pytest.mark.parametrize("value", [0, 1])
def test_equal_losses_outside_the_draws_have_no_standard_error(value):
    record = equal_losses(value).bootstrap
    assert err1_standard_error(record.losses, record.counts) == 0.0
    assert scaled_standard_error(0.1, record.losses, record.counts) == 0.0


# ---- normal intervals around .632 and .632+ ----


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_normal_632_rows_are_estimate_and_scaled_standard_error(seed):
    records = random_losses(seed)
    err1, influences = _plain_influences(records.bootstrap.losses.tolist(), records.bootstrap.counts.tolist())
    spread = math.sqrt(sum(one**2 for one in influences))
    resubstitution = records.losses.mean()
    z = stats.norm.ppf(0.95)
    estimate = 0.368 * resubstitution + 0.632 * err1
    row = compute_interval(NORMAL_632, records, 0.9)
    half = z * spread * estimate / err1
    assert row.estimate == pytest.approx(estimate, abs=1e-12)
    assert row.raw_interval == pytest.approx((estimate - half, estimate + half), abs=1e-12)
    assert row.standard_error == pytest.approx(half / z)

    gamma = 0.55 * 0.6 + 0.45 * 0.4
    cut = min(err1, gamma)
    rate = (cut - resubstitution) / (gamma - resubstitution) if cut > resubstitution else 0.0
    weight = 0.632 / (1 - 0.368 * rate)
    estimate = (1 - weight) * resubstitution + weight * cut
    row = compute_interval(NORMAL_632_PLUS, records, 0.9)
    half = z * spread * estimate / err1
    assert row.estimate == pytest.approx(estimate, abs=1e-12)
    assert row.raw_interval == pytest.approx((estimate - half, estimate + half), abs=1e-12)
    assert (str(row.estimand), row.n_fits) == ("conditional", 41)


# ---- leave-one-out ----


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 60), st.data(), LEVELS)
def test_leave_one_out_is_the_exact_interval_of_its_peers(n, data, level):
    errors = data.draw(st.integers(0, n))
    losses = np.arange(n) < errors
    row = compute_interval(
        LEAVE_ONE_OUT_BINOMIAL, Records(leave_one_out=FoldLosses(losses, np.arange(n))), level
    )
    assert row.estimate == pytest.approx(errors / n)
    assert row.raw_interval == inverted_binomial_interval(errors, n, level)
    assert row.raw_interval == pytest.approx(
        proportion_confint(errors, n, 1 - level, method="beta"), abs=1e-9
    )
    assert (row.degenerate, row.n_fits, str(row.estimand)) == (None, 1 + n, "conditional")


# ---- test sets ----


@pytest.mark.parametrize(
    ("method", "peer", "scipys"),
    [
        (TEST_SET_WALD, "normal", None),
        (TEST_SET_WILSON, "wilson", "wilson"),
        (TEST_SET_CLOPPER_PEARSON, "beta", "exact"),
        (TEST_SET_WILSON_CORRECTED, None, "wilsoncc"),
        (TEST_SET_AGRESTI_COULL, "agresti_coull", None),
        (TEST_SET_JEFFREYS, "jeffreys", None),
    ],
)
@settings(deadline=None, max_examples=40)
@given(m=st.integers(1, 60), data=st.data(), level=LEVELS)
def test_two_sided_test_set_intervals_are_those_of_their_peers(method, peer, scipys, m, data, level):
    k = data.draw(st.integers(0, m))
    row = compute_interval(method, _test_set(k, m), level)
    if peer is not None:
        # statsmodels clips the normal intervals, SciPy has none
        peers = np.clip(proportion_confint(k, m, 1 - level, method=peer), 0.0, 1.0)
        if peer == "jeffreys":  # statsmodels does not take 0 and 1 for limits at the ends
            peers = np.where([k == 0, k == m], [0.0, 1.0], peers)
        assert row.confidence_interval == pytest.approx(peers, abs=1e-9)
    if scipys is not None:
        theirs = stats.binomtest(k, m).proportion_ci(level, method=scipys)
        assert row.raw_interval == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize("level", [0.2, 0.4, 0.8])
@pytest.mark.parametrize("k", [0, 7, 20])
def test_one_sided_score_limits_solve_their_equation(k, level):
    """Below a level of 1/2 too, where an upper limit lies below the share of errors."""
    m, z = 20, stats.norm.ppf(level)
    for alternative, side, sign in (("less", "high", 1), ("greater", "low", -1)):
        wilson = compute_interval(TEST_SET_WILSON, _test_set(k, m), level, alternative=alternative)
        p = getattr(wilson.raw_interval, side)
        assert p - k / m == pytest.approx(sign * z * math.sqrt(max(p * (1 - p), 0.0) / m), abs=1e-7)
        wald = compute_interval(TEST_SET_WALD, _test_set(k, m), level, alternative=alternative)
        reach = sign * z * math.sqrt(k / m * (1 - k / m) / m)
        assert getattr(wald.raw_interval, side) == pytest.approx(k / m + reach)
        # p = 0 and p = 1 solve the equation at k = 0 and k = m too: on the side of z it is the other solution
        beyond = sign * z > 0
        if k in (0, m) and beyond == (k == 0):
            assert p == pytest.approx(z**2 / (m + z**2) if k == 0 else m / (m + z**2))


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("method", [TEST_SET_CLOPPER_PEARSON, TEST_SET_LANGFORD], ids=lambda one: one.name)
def test_exact_intervals_cover_at_their_level_whatever_the_error(method, alternative):
    """Coverage summed over all outcomes of a test set, no simulation."""
    m, level = 25, 0.9
    rows = [compute_interval(method, _test_set(k, m), level, alternative=alternative) for k in range(m + 1)]
    low, high = np.array([row.raw_interval for row in rows]).T
    for error in np.linspace(0.0, 1.0, 301):
        covered = (low <= error) & (error <= high)
        assert stats.binom.pmf(np.arange(m + 1), m, error)[covered].sum() >= level - 1e-12


@pytest.mark.parametrize("method", TEST_SET_METHODS)
def test_test_set_rows_name_the_estimand_of_their_record(method):
    split_off = compute_interval(method, _test_set(3, 20), 0.95)
    assert (str(split_off.estimand), split_off.n_fits, split_off.estimate) == ("holdout-model", 2, 0.15)
    new = compute_interval(method, _test_set(3, 20, "conditional"), 0.95)
    assert (str(new.estimand), new.n_fits) == ("conditional", 1)
    assert new.raw_interval == split_off.raw_interval


# ---- BCa ----


def test_bca_levels_and_acceleration_are_scipys():
    """SciPy's BCa of a skewed mean: its limits are interpolated percentiles at our levels."""
    sample = np.random.default_rng(3).exponential(size=25)
    peer = stats.bootstrap((sample,), np.mean, n_resamples=2000, method="BCa", random_state=1)
    # the influence values of a mean are the deviations from it, in proportion with SciPy's jackknife
    found = acceleration(sample - sample.mean())
    assert abs(found) > 0.02
    levels = bias_corrected_levels(peer.bootstrap_distribution, float(sample.mean()), 0.95, found)
    expected = np.quantile(peer.bootstrap_distribution, levels)
    assert peer.confidence_interval == pytest.approx(expected, abs=1e-12)
    ours = bias_corrected_interval(peer.bootstrap_distribution, float(sample.mean()), 0.95, found)
    gap = np.diff(np.sort(peer.bootstrap_distribution)).max()  # ours are replicates
    assert ours == pytest.approx(peer.confidence_interval, abs=gap)


@pytest.mark.parametrize("seed", [0, 1])
def test_bca_variant_takes_its_acceleration_from_the_influences_of_err1(seed):
    records = random_losses(seed)
    _, influences = _plain_influences(records.bootstrap.losses.tolist(), records.bootstrap.counts.tolist())
    a = sum(one**3 for one in influences) / (6 * sum(one**2 for one in influences) ** 1.5)
    row = compute_interval(BIAS_CORRECTED, records, 0.9, {"variant": "bca"})
    assert row.details["acceleration"] == pytest.approx(a)
    replicates = 0.368 * records.bootstrap.resubstitution + 0.632 * records.inner.errors
    share = (np.sum(replicates < row.estimate) + np.sum(replicates == row.estimate) / 2) / replicates.size
    z0, z = stats.norm.ppf(share), stats.norm.ppf(0.95)
    levels = [stats.norm.cdf(z0 + (z0 + s) / (1 - a * (z0 + s))) for s in (-z, z)]
    expected = np.quantile(replicates, levels, method="inverted_cdf")
    assert row.raw_interval == pytest.approx(expected, abs=1e-12)


# ---- what all of them share ----


@settings(deadline=None)
@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=30), p=st.floats(0.0, 1.0))
def test_interpolated_quantiles_are_numpys(values, p):
    assert sample_quantile(values, p, "type-7") == pytest.approx(np.quantile(values, p))
    assert sample_quantile(values, p) == inverted_cdf_quantile(values, p)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
def test_the_adaptive_interval_is_that_of_its_order_statistics(level):
    """T - u / sqrt(n) and T - l / sqrt(n); u and l are order statistics, each of its own deviations."""
    rng = np.random.default_rng(0)
    lower = rng.normal(size=200)
    deviations = BoundaryDeviations(lower + rng.random(200), lower, n_samples=25, n_fits=200)
    row = compute_interval(ACI, Records.of(losses=np.arange(25) < 5, boundary=deviations), level)
    rank = round(200 * (1.0 - (1.0 - level) / 2.0))  # of u; 200 (1 - level) / 2 of l
    assert row.raw_interval.low == pytest.approx(0.2 - sorted(deviations.upper)[rank - 1] / 5)
    assert row.raw_interval.high == pytest.approx(0.2 - sorted(deviations.lower)[200 - rank - 1] / 5)
    assert (row.estimate, row.n_fits, row.confidence_level) == (0.2, 201, level)


def test_without_a_loss_out_of_bag_nothing_is_scaled():
    counts = draw_counts(12, 40, np.random.default_rng(0))
    lossless = np.zeros(counts.shape)
    assert scaled_standard_error(0.2, lossless, counts) == 0.0
    one_loss = lossless.copy()
    one_loss[:, 0] = 1.0  # Err(1) is 1/12: far below any number that a condition might hold instead of 0
    expected = err1_standard_error(one_loss, counts) * 0.2 * 12.0
    assert scaled_standard_error(0.2, one_loss, counts) == pytest.approx(expected)


# ---- the training error ----


@given(errors=st.integers(1, 29), level=LEVELS)
@settings(max_examples=50, deadline=None)
def test_training_normal_is_the_normal_interval_for_a_proportion(errors, level):
    records = Records(losses=np.arange(30) < errors)
    row = compute_interval(TRAINING_NORMAL, records, level)
    expected = proportion_confint(errors, 30, alpha=1.0 - level, method="normal")
    assert (row.low, row.high) == pytest.approx(expected, abs=1e-12)
    assert row.estimate == errors / 30
    assert row.n_fits == 1


def test_training_normal_of_five_errors_in_twenty_by_hand():
    row = compute_interval(TRAINING_NORMAL, Records(losses=np.arange(20) < 5), 0.95)
    # .25 -+ 1.959964 sqrt(.25 * .75 / 20)
    assert (row.low, row.high) == pytest.approx((0.060227, 0.439773), abs=1e-6)


@pytest.mark.parametrize("error", [0.0, 1.0])
def test_training_normal_without_variance_is_degenerate(error):
    row = compute_interval(TRAINING_NORMAL, Records(losses=np.full(20, error)), 0.95)
    assert (row.low, row.high) == (error, error)
    assert "variance is 0" in row.degenerate
