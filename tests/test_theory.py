"""The statements about two-center that are proved: limits by simulation, and what holds for every n."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from docs_pages import THEORY
from scipy.special import betaincinv
from scipy.stats import norm
from tiers import quick_first
from uniformity import FEATURE, estimated, limit_law, shares_of, simulated

from cudbound.study.worlds import ThreePoint

#: The table of docs/explanation/theory.md: in the limit, and at n rows where 40 % of the cases are on the boundary.
OF_THE_PAGE = pd.read_csv(THEORY)
IN_THE_LIMIT, BOUNDARY = OF_THE_PAGE[OF_THE_PAGE["n"].isna()], OF_THE_PAGE.dropna(subset="n")
INTERVALS = ["cv alone", ".632+ alone", "two-center"]
CENTERS = ("training", "cross_validated", "out_of_bag", "error_632_plus")


# ---- where a signal is of the order of chance: propositions 1 and 2 ----


@pytest.mark.parametrize("slope", quick_first([0.5, 2.5]))
def test_the_mean_of_the_training_error_is_that_of_the_formula(slope):
    """E[N sign(a + N)] is twice the normal density at a: the optimism, against draws from the limit."""
    leverage = 1.0 + FEATURE**2 / 0.9
    place = slope * FEATURE / np.sqrt(leverage)
    optimism = (shares_of(0.1) * np.sqrt(leverage) * norm.pdf(place)).sum()
    law = limit_law(0.1, slope, 100_000, np.random.default_rng(0))
    assert law.training.mean() == pytest.approx(-optimism, abs=0.005)
    assert shares_of(0.1).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("mass", quick_first([0.1, 0.0]))
def test_the_coverage_of_the_page_in_the_limit(mass):
    """No case in the middle is one binary predictor; the lines of the table are in this order."""
    line = IN_THE_LIMIT.iloc[int(mass > 0)]
    coverage = limit_law(mass, line["slope"], 100_000, np.random.default_rng(0)).coverage()
    assert [coverage[name] for name in INTERVALS] == pytest.approx(list(line[INTERVALS]), abs=0.003)


def test_the_coverage_without_a_signal_in_the_limit():
    coverage = limit_law(0.0, 0.0, 100_000, np.random.default_rng(0)).coverage()
    assert [coverage[name] for name in INTERVALS] == pytest.approx([0.889, 0.932, 0.960], abs=0.003)


@pytest.mark.slow
def test_below_a_slope_of_1_96_the_lower_limit_of_632_plus_is_right():
    """Where Err(1) is cut, .632+ is 1/2, which is slope / (2 sqrt n) above the error of the right direction."""
    half = 0.5 * norm.ppf(0.975)
    for slope, missed in ((1.95, 0.0), (1.97, 0.034)):
        low, _ = limit_law(0.0, slope, 100_000, np.random.default_rng(0)).intervals()["two-center"]
        assert np.mean(low > half) == pytest.approx(missed, abs=0.003)


def coverage_on_the_boundary(n: int, n_sets: int, n_resamples: int) -> float:
    """Return the coverage of two-center where 40 % of the cases are on the boundary of the limiting classifier."""
    error, centers = estimated(ThreePoint(), n, n_sets, n_resamples, np.random.default_rng(0))
    low, high = (n * center for center in centers.intervals()["two-center"])
    lower = np.where(low > 0, betaincinv(np.maximum(low, 1e-9), n - low + 1, 0.025), 0.0)
    return float(np.mean((lower <= error) & (error <= betaincinv(high + 1, n - high, 0.975))))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "coverage"), BOUNDARY[["n", "two-center"]].astype({"n": int}).to_numpy(object))
def test_the_coverage_of_the_page_on_the_boundary(n, coverage):
    assert coverage_on_the_boundary(n, 4000, 100) == pytest.approx(coverage, abs=0.0006)


def agree(mass: float, slope: float, n: int, n_sets: int, n_resamples: int) -> None:
    """Compare means, quantiles and coverage of simulated sets with the limit, within 4 errors."""
    law = limit_law(mass, slope, 100_000, np.random.default_rng(0))
    sets = simulated(mass, slope, n, n_sets, n_resamples, np.random.default_rng(1))
    rounding = 1.0 / math.sqrt(n)  # the training error is a multiple of 1/n
    for name in CENTERS:
        limit, found = getattr(law, name), getattr(sets, name)
        error = float(limit.std()) / math.sqrt(n_sets)
        assert found.mean() == pytest.approx(limit.mean(), abs=4 * error + rounding / 2), name
        for level in (0.05, 0.25, 0.5, 0.75, 0.95):
            place = float(np.quantile(limit, level))
            share = math.sqrt(level * (1 - level) / n_sets)
            assert np.mean(found <= place - rounding) <= level + 4 * share, (name, level)
            assert np.mean(found <= place + rounding) >= level - 4 * share, (name, level)
    assert sets.coverage() == pytest.approx(law.coverage(), abs=4 * math.sqrt(0.07 / n_sets) + 0.003)


@pytest.mark.slow
def test_simulated_sets_follow_the_limit():
    agree(0.1, 2.5, 2000, 1500, 100)
