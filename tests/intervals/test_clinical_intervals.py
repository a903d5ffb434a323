"""The intervals of clinical software: worked numbers, and a second implementation in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from data import fitted_sample
from direct_refits import Seen, task
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from cudbound import LeastSquaresClassifier, from_records
from cudbound.problem.draws import draw_counts
from cudbound.records import BootstrapLosses, Records, no_information_error
from cudbound.resampling.bootstrap import record_bootstrap, record_inner

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
