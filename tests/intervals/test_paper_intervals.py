"""Intervals of the paper and of clinical software, by independent code and in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from data import fitted_sample
from direct_refits import Seen, task
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_losses import random_losses
from scipy import stats
from scipy.stats import norm
from shared_files import shared_vectors
from statsmodels.stats.proportion import proportion_confint

from cudbound import LeastSquaresClassifier, from_records
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
from cudbound.problem.draws import draw_counts
from cudbound.records import BootstrapLosses, InnerErrors, Records, no_information_error
from cudbound.resampling.bootstrap import record_bootstrap, record_inner

# ---- every interval formula against worked numbers and independent code ----


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


# ---- the intervals of clinical software ----


PROPERTY = settings(max_examples=60, deadline=None, derandomize=True, database=None)


# ---- a second implementation, in plain Python from METHODS, sections 3 and 10 ----


def quantile(values, p):
    ordered = sorted(values)
    return ordered[min(max(1, math.ceil(len(ordered) * p - 1e-9)), len(ordered)) - 1]


def centers_by_hand(training, counts, losses, p, q):
    n, draws = len(training), range(len(counts))
    t = sum(training) / n
    own = [sum(c * e for c, e in zip(counts[b], losses[b], strict=True)) / n for b in draws]
    whole = [sum(losses[b]) / n for b in draws]
    optimism = t + sum(d - a for a, d in zip(own, whole, strict=True)) / len(counts)
    out = []
    for i in range(n):
        seen = [losses[b][i] for b in draws if counts[b][i] == 0]
        if seen:
            out.append(sum(seen) / len(seen))
    err1, gamma = sum(out) / len(out), p * (1 - q) + (1 - p) * q
    cut = min(err1, gamma)
    rate = (cut - t) / (gamma - t) if cut > t else 0.0
    weight = 0.632 / (1 - 0.368 * rate)
    return own, whole, optimism, (1 - weight) * t + weight * cut, 0.368 * t + 0.632 * err1


def some_losses(seed, n, wrong):
    rng = np.random.default_rng(seed)
    counts = draw_counts(n, 25, rng)
    return {
        "counts": counts,
        "losses": rng.random(counts.shape) < wrong,
        "training": (rng.random(n) < wrong).astype(int),
        "p": rng.random(),
        "q": rng.random(),
    }


def call(method, case, options=None, inner=None, **keywords):
    records = Records(
        losses=case["training"],
        no_information=no_information_error(case["p"], case["q"]),
        bootstrap=BootstrapLosses(case["counts"], case["losses"]),
        inner=inner,
    )
    return from_records(records, (method, options or {}), **keywords)


SEEDS = {"seed": st.integers(0, 10**6), "n": st.sampled_from([6, 11, 30]), "wrong": st.floats(0.0, 1.0)}


@PROPERTY
@given(**SEEDS, level=st.floats(0.5, 0.999), center=st.sampled_from(["optimism", "632", "632-plus"]))
def test_the_clinical_intervals_agree_with_plain_python(seed, n, wrong, level, center):
    case = some_losses(seed, n, wrong)
    training = case["training"].tolist()
    own, whole, *centers = centers_by_hand(
        training, case["counts"].tolist(), case["losses"].tolist(), case["p"], case["q"]
    )
    theta = dict(zip(("optimism", "632-plus", "632"), centers, strict=True))[center]
    tail, shift = (1 - level) / 2, theta - sum(training) / n
    row = call("location-shifted", case, options={"center": center}, confidence_level=level)
    assert row.raw_interval.low == pytest.approx(quantile(own, tail) + shift, abs=1e-9)
    assert row.raw_interval.high == pytest.approx(quantile(own, 1 - tail) + shift, abs=1e-9)
    combined = [a - 1.25 * d for a, d in zip(own, whole, strict=True)]
    mean, z = sum(combined) / len(combined), norm.ppf(1 - tail)
    below, above = ([w for w in combined if s * (w - mean) >= -1e-12] for s in (-1, 1))
    row = call("abcloc", case, options={"center": center}, confidence_level=level)
    for side, limit, sign in ((above, row.raw_interval.low, -1), (below, row.raw_interval.high, 1)):
        spread = math.sqrt(sum((w - mean) ** 2 for w in side) / max(len(side) - 1, 1))
        assert limit == pytest.approx(theta + sign * z * spread, abs=1e-9)


# ---- from a fitted classifier ----


@pytest.fixture(scope="module")
def fitted():
    return fitted_sample()


def test_two_stage_recomputes_the_estimate_on_every_draw(fitted):
    """The inner draws of a draw are fitted and counted here by hand."""
    _, X, y = fitted
    counts = draw_counts(30, 6, np.random.default_rng(0))
    labels = 2.0 * y - 1

    def refit(weights):
        fits = [LeastSquaresClassifier().fit(np.repeat(X, w, axis=0), np.repeat(labels, w)) for w in weights]
        return np.array([one.predict(X) != labels for one in fits])

    seen = Seen(refit)
    recording = task(seen, labels, seed=1)
    outer, inner = record_bootstrap(recording, counts), record_inner(recording, counts, 4)
    draws, fits = seen.calls[1].reshape(6, 4, 30), refit(seen.calls[1]).reshape(6, 4, 30)
    for b in range(6):
        gaps = [((counts[b] - draws[b, k]) * fits[b, k]).sum() / 30 for k in range(4)]
        assert inner.optimism[b] == pytest.approx(np.mean(gaps), abs=1e-12)
        predicted = np.where(outer.losses[b], -labels, labels)
        p, q = (counts[b] @ (values > 0) / 30 for values in (labels, predicted))
        assert outer.no_information[b] == pytest.approx(p * (1 - q) + (1 - p) * q, abs=1e-12)
