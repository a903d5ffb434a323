"""Measures of a study against worked numbers, closed forms and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from shared_files import shared_vectors
from study_measures import mean_measure, paired_difference, share_measure

from cudbound.study.measure.summary import interval_score

VECTORS = shared_vectors()


def test_worked_interval_score():
    inputs, value = VECTORS["winkler"]["inputs"], VECTORS["winkler"]["value"]
    score = interval_score(inputs["l"], inputs["u"], inputs["truth"], 1 - inputs["delta"])
    assert score == pytest.approx(value["score"], abs=1e-12)


def test_worked_paired_difference():
    inputs, value = VECTORS["mcse_paired"]["inputs"], VECTORS["mcse_paired"]["value"]
    found = paired_difference(inputs["A"], inputs["B"])
    assert found.value == pytest.approx(value["diff"], abs=1e-12)
    assert found.mcse == pytest.approx(value["mcse"], abs=1e-12)


def test_the_interval_score_is_least_in_expectation_at_the_true_quantiles():
    """A proper score: of all intervals for a normal value the one of its quantiles has the least mean."""
    truth = np.random.default_rng(0).normal(size=200_000)
    tail = stats.norm.ppf([0.05, 0.95])
    best = interval_score(*tail, truth, 0.9).mean()
    for low, high in (
        (tail[0] - 0.2, tail[1]),
        (tail[0] + 0.2, tail[1]),
        (tail[0], tail[1] + 0.3),
        (-1.0, 1.0),
    ):
        assert interval_score(low, high, truth, 0.9).mean() > best


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_a_share_has_the_exact_interval(happened):
    found = share_measure(happened)
    k, n = sum(happened), len(happened)
    assert found.value == k / n
    assert found.mcse == pytest.approx(math.sqrt(k / n * (1 - k / n) / n))
    low = 0.0 if k == 0 else stats.beta.ppf(0.025, k, n - k + 1)
    high = 1.0 if k == n else stats.beta.ppf(0.975, k + 1, n - k)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=1e-9)


def test_monte_carlo_errors_are_those_of_repeated_studies():
    rng = np.random.default_rng(1)
    studies = rng.exponential(size=(4000, 50))
    said = np.mean([mean_measure(one).mcse for one in studies])
    assert said == pytest.approx(studies.mean(axis=1).std(), rel=0.05)
