"""Comparisons of two errors: McNemar, two test sets, every method with a pivot, against peers and plain code."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlxtend.evaluate import mcnemar as mlxtend_mcnemar
from scipy import stats
from statsmodels.stats import proportion
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.weightstats import DescrStatsW

from cudbound import from_records
from cudbound.basis.results import ConfidenceInterval
from cudbound.intervals.comparisons import (
    INDEPENDENT_TEST_SETS,
    MCNEMAR,
    DiscordantPairs,
    bonett_price_interval,
    mcnemar_pvalue,
)
from cudbound.intervals.method import ALTERNATIVES, compute_comparison
from cudbound.records import FoldLosses, Records, SplitLosses, TestSetLosses

COUNTS = st.integers(0, 40)


def differences(only_a: int, only_b: int, n_tested: int) -> np.ndarray:
    return np.repeat([1, -1, 0], [only_a, only_b, n_tested - only_a - only_b])


def on_two_test_sets(errors_a: int, n_a: int, errors_b: int, n_b: int) -> Records:
    return Records(
        test_set=TestSetLosses(np.arange(n_a) < errors_a, 60),
        second_test_set=TestSetLosses(np.arange(n_b) < errors_b, 60),
    )


def limits(interval: ConfidenceInterval) -> tuple[float, float]:
    return interval.low, interval.high


# --- McNemar


def binomial_tail(only_a: int, only_b: int, count) -> Fraction:
    """Share of all 2^m ways to deal m discordant pairs that `count` takes, as a fraction."""
    m = only_a + only_b
    return sum(
        (Fraction(math.comb(m, k), 2**m) * Fraction(count(k)) for k in range(m + 1)), start=Fraction(0)
    )


@settings(max_examples=60)
@given(COUNTS, COUNTS)
def test_mcnemar_pvalues_are_shares_of_all_ways_to_deal_the_pairs(only_a, only_b):
    if only_a + only_b == 0:
        return
    pairs = DiscordantPairs(only_a, only_b, 100)
    far = abs(only_a - only_b)

    def distance(k: int) -> int:
        return abs(2 * k - only_a - only_b)

    half = Fraction(1, 2)
    oracle = {
        ("exact", "two-sided"): lambda k: distance(k) >= far,
        ("exact", "greater"): lambda k: k >= only_a,
        ("exact", "less"): lambda k: k <= only_a,
        ("mid-p", "two-sided"): lambda k: (distance(k) > far) + half * (distance(k) == far),
        ("mid-p", "greater"): lambda k: (k > only_a) + half * (k == only_a),
        ("mid-p", "less"): lambda k: (k < only_a) + half * (k == only_a),
    }
    for (form, alternative), count in oracle.items():
        expected = float(binomial_tail(only_a, only_b, count))
        assert mcnemar_pvalue(pairs, alternative, form=form) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_mcnemar_agrees_with_statsmodels_and_mlxtend(seed):
    rng = np.random.default_rng(seed)
    losses_a, losses_b = rng.random((2, 60)) < [[0.4], [0.25]]
    records = Records(test_set=TestSetLosses(losses_a.astype(int) - losses_b.astype(int), 60))
    table = [
        [np.sum(~losses_a & ~losses_b), np.sum(~losses_a & losses_b)],
        [np.sum(losses_a & ~losses_b), np.sum(losses_a & losses_b)],
    ]
    exact = compute_comparison(MCNEMAR, records, 0.95)
    assert exact.pvalue == pytest.approx(statsmodels_mcnemar(table, exact=True).pvalue, rel=1e-10)
    # mlxtend doubles a tail without bounding it by 1; the draws here have no tie, where it would exceed 1
    assert exact.pvalue == pytest.approx(mlxtend_mcnemar(np.array(table), exact=True)[1], rel=1e-10)

    asymptotic = compute_comparison(MCNEMAR, records, 0.95, options={"form": "asymptotic"})
    theirs = statsmodels_mcnemar(table, exact=False, correction=False)
    assert asymptotic.statistic**2 == pytest.approx(theirs.statistic, rel=1e-12)
    assert asymptotic.pvalue == pytest.approx(theirs.pvalue, rel=1e-10)
    chi2, pvalue = mlxtend_mcnemar(np.array(table), corrected=False)
    assert (asymptotic.statistic**2, asymptotic.pvalue) == pytest.approx((chi2, pvalue), rel=1e-10)
    assert asymptotic.estimate == pytest.approx(losses_a.mean() - losses_b.mean(), abs=1e-15)


def test_the_airway_example_of_fagerland_lydersen_and_laake():
    """1 against 7 discordant pairs among 21 children: exact .070, asymptotic .034, mid-p .039."""
    pairs = DiscordantPairs(1, 7, 21)
    assert mcnemar_pvalue(pairs) == pytest.approx(2 * 9 / 256)
    assert mcnemar_pvalue(pairs, form="mid-p") == pytest.approx(2 * (1 + 8 / 2) / 256)
    assert mcnemar_pvalue(pairs, form="asymptotic") == pytest.approx(stats.chi2.sf(36 / 8, 1))
    # by hand: proportions 2/23 and 8/23
    half = 1.959963984540054 * math.sqrt((10 / 23 - (6 / 23) ** 2) / 23)
    assert limits(bonett_price_interval(pairs, 0.95)) == pytest.approx((-6 / 23 - half, -6 / 23 + half))


# --- two test sets


@pytest.mark.parametrize("seed", range(10))
def test_two_test_sets_agree_with_statsmodels(seed):
    rng = np.random.default_rng(seed)
    n_a, n_b = rng.integers(20, 90, size=2)
    errors_a, errors_b = rng.integers(1, n_a), rng.integers(1, n_b)
    records = on_two_test_sets(errors_a, n_a, errors_b, n_b)
    counts = (errors_a, n_a, errors_b, n_b)
    for form, test, interval in (("wald", "wald", "wald"), ("newcombe", "score", "newcomb")):
        for alternative, theirs in zip(ALTERNATIVES, ("two-sided", "smaller", "larger"), strict=True):
            found = compute_comparison(INDEPENDENT_TEST_SETS, records, 0.9, alternative, {"form": form})
            peer = proportion.test_proportions_2indep(
                *counts, compare="diff", method=test, alternative=theirs, correction=False
            )
            assert found.statistic == pytest.approx(peer.statistic, rel=1e-10)
            assert found.pvalue == pytest.approx(peer.pvalue, rel=1e-8)
            # a one-sided limit at 90% is one of the two at 80%
            low, high = proportion.confint_proportions_2indep(
                *counts, method=interval, compare="diff", alpha=0.1 if alternative == "two-sided" else 0.2
            )
            expected = {"two-sided": (low, high), "less": (-math.inf, high), "greater": (low, math.inf)}
            assert limits(found.raw_interval) == pytest.approx(expected[alternative], rel=1e-9)


def test_test_sets_without_errors():
    equal = compute_comparison(INDEPENDENT_TEST_SETS, on_two_test_sets(0, 20, 0, 30), 0.95)
    assert equal.pvalue == 1.0
    assert equal.degenerate == "the variance is 0 at errors of 0 and 0"
    with_width = compute_comparison(
        INDEPENDENT_TEST_SETS, on_two_test_sets(0, 20, 0, 30), 0.95, options={"form": "newcombe"}
    )
    assert with_width.degenerate == "the variance is 0 at errors of 0 and 0"
    assert with_width.confidence_interval.width > 0.1


# ---- margins: non-inferiority and equivalence ----


def margin_records():
    rng = np.random.default_rng(4)
    losses = rng.integers(0, 2, 80) - rng.integers(0, 2, 80)
    return FoldLosses(losses, np.arange(80) % 8)


@pytest.mark.parametrize("method", ["k-fold-t", "corrected-resampled-t"])
@pytest.mark.parametrize("margin", [0.02, 0.1, 0.3])
def test_a_margin_shifts_the_test_and_not_the_interval(method, margin):
    records = margin_records() if method == "k-fold-t" else SplitLosses([0.0, 0.1, -0.1, 0.2], 60, 20)
    for alternative in ("two-sided", "less", "greater"):
        plain, shifted = (
            from_records(records, method, alternative=alternative, null=null, differences=True)
            for null in (0.0, margin)
        )
        assert shifted.raw_interval == plain.raw_interval
        assert shifted.statistic == pytest.approx(plain.statistic - margin / plain.standard_error)
    upper = from_records(records, method, alternative="less", null=margin, differences=True)
    # the test rejects where the interval lies below the margin
    assert (upper.pvalue < 0.05) == (upper.raw_interval.high < margin)


@pytest.mark.parametrize("margin", [0.02, 0.1, 0.3])
def test_equivalence_is_two_one_sided_tests(margin):
    found = from_records(
        margin_records(), "k-fold-t", alternative="equivalent", null=margin, differences=True
    )
    less = from_records(margin_records(), "k-fold-t", alternative="less", null=margin, differences=True)
    greater = from_records(
        margin_records(), "k-fold-t", alternative="greater", null=-margin, differences=True
    )
    assert found.pvalue == max(less.pvalue, greater.pvalue)
    # statsmodels tests the mean of one sample, here the means of the folds
    theirs = DescrStatsW(margin_records().means).ttost_mean(-margin, margin)
    assert found.pvalue == pytest.approx(theirs[0], abs=1e-9)
    inside = -margin < found.raw_interval.low and found.raw_interval.high < margin
    assert (found.pvalue < 0.05) == inside
    both = from_records(margin_records(), "k-fold-t", confidence_level=0.9, differences=True)
    assert (found.low, found.high) == pytest.approx((both.low, both.high))
    assert "90% confidence interval" in str(found)
    assert f"against |error(a) - error(b)| >= {margin:g}" in str(found)
