"""Comparisons of two errors: McNemar, two test sets, every method with a pivot, against peers and plain code."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mlxtend.evaluate import mcnemar as mlxtend_mcnemar
from record_kinds import KINDS, kinds
from scipy import stats
from statsmodels.stats import proportion
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.weightstats import DescrStatsW

from cudbound import from_records
from cudbound.analysis.table import ComparisonTable
from cudbound.basis.outcomes import ConfidenceInterval, Estimand, TestOutcome
from cudbound.basis.results import ComparisonResult
from cudbound.intervals.at_632 import LANGFORD
from cudbound.intervals.difference import compute_comparison
from cudbound.intervals.independent_test_sets import (
    INDEPENDENT_TEST_SETS,
    newcombe_interval,
)
from cudbound.intervals.mcnemar import (
    MCNEMAR,
    DiscordantPairs,
    bonett_price_interval,
    discordant_pairs,
    mcnemar_pvalue,
    mcnemar_statistic,
)
from cudbound.intervals.method import ALTERNATIVES, Method, Pivot, compute_interval
from cudbound.records import BootstrapLosses, FoldLosses, Records, SplitLosses, TestSetLosses

COUNTS = st.integers(0, 40)
LEVELS = st.floats(0.55, 0.999)


def differences(only_a: int, only_b: int, n_tested: int) -> np.ndarray:
    return np.repeat([1, -1, 0], [only_a, only_b, n_tested - only_a - only_b])


def on_one_test_set(only_a: int, only_b: int, n_tested: int, estimand: str = "holdout-model") -> Records:
    return Records(test_set=TestSetLosses(differences(only_a, only_b, n_tested), 60, estimand))


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


@pytest.mark.parametrize("form", ["exact", "asymptotic", "mid-p"])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_no_discordant_pair_is_no_evidence(form, alternative):
    found = compute_comparison(MCNEMAR, on_one_test_set(0, 0, 30), 0.95, alternative, {"form": form})
    assert (found.estimate, found.statistic, found.pvalue) == (0.0, 0.0, 1.0)
    assert (
        found.degenerate == "no point is misclassified by exactly one of the two: the test has no information"
    )
    assert found.confidence_interval.width > 0.0


@settings(max_examples=50)
@given(COUNTS, COUNTS, st.integers(0, 30), LEVELS)
def test_mcnemar_does_not_depend_on_which_is_called_a(only_a, only_b, others, level):
    n_tested = only_a + only_b + others + 1
    ours = DiscordantPairs(only_a, only_b, n_tested)
    mirrored = DiscordantPairs(only_b, only_a, n_tested)
    assert mcnemar_statistic(ours) == -mcnemar_statistic(mirrored)
    for form in ("exact", "asymptotic", "mid-p"):
        assert mcnemar_pvalue(ours, form=form) == pytest.approx(mcnemar_pvalue(mirrored, form=form))
        assert mcnemar_pvalue(ours, "less", form=form) == pytest.approx(
            mcnemar_pvalue(mirrored, "greater", form=form)
        )
    low, high = limits(bonett_price_interval(ours, level))
    assert limits(bonett_price_interval(mirrored, level)) == pytest.approx((-high, -low))
    wider = bonett_price_interval(ours, 0.5 + level / 2)
    assert wider.low < low < high < wider.high


def test_differences_that_are_no_differences_of_errors():
    with pytest.raises(
        ValueError, match=r"must contain only -1, 0 and 1.*Also got \[0\.5, 2\.0\]; .* t-test"
    ):
        discordant_pairs([0.5, 1, 2, 0.5])


def test_an_unknown_form():
    with pytest.raises(ValueError, match=r"The 'form' parameter must be one of .*Got 'corrected' instead"):
        compute_comparison(MCNEMAR, on_one_test_set(1, 2, 9), 0.95, options={"form": "corrected"})
    with pytest.raises(
        ValueError, match=r"The 'alternative' parameter must be one of .*Got 'larger' instead"
    ):
        compute_comparison(MCNEMAR, on_one_test_set(1, 2, 9), 0.95, "larger")


# --- two test sets


def test_the_lecture_example():
    """Errors .2 and .3 on 100 points each: d = .1, sd .0608, confidence .95 that the second errs more."""
    found = compute_comparison(INDEPENDENT_TEST_SETS, on_two_test_sets(20, 100, 30, 100), 0.95, "less")
    assert found.standard_error == pytest.approx(0.0608, abs=5e-5)
    assert found.statistic == pytest.approx(-1.644, abs=5e-4)
    assert 1 - found.pvalue == pytest.approx(0.94991, abs=5e-6)
    assert found.n_fits == 2
    assert str(found.estimand) == "holdout-model"


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


@pytest.mark.parametrize(
    ("counts", "level", "expected"),
    [
        ((56, 70, 48, 80), 0.95, (0.0524, 0.3339)),
        ((9, 10, 3, 10), 0.95, (0.1705, 0.8090)),
        ((10, 10, 0, 20), 0.95, (0.6791, 1.0000)),
        ((10, 10, 0, 10), 0.95, (0.6075, 1.0000)),
    ],
)
def test_newcombes_own_table(counts, level, expected):
    """Newcombe (1998), table II, method 10."""
    errors_a, n_a, errors_b, n_b = counts
    found = newcombe_interval(errors_a / n_a, n_a, errors_b / n_b, n_b, level)
    assert limits(found) == pytest.approx(expected, abs=5.1e-5)


@settings(max_examples=50)
@given(st.floats(0, 1), st.integers(1, 60), st.floats(0, 1), st.integers(1, 60), LEVELS)
@example(0.0, 1, 0.9999999999999999, 1, 0.8000002093613148)
def test_newcombe_properties(error_a, n_a, error_b, n_b, level):
    found = newcombe_interval(error_a, n_a, error_b, n_b, level)
    wider = newcombe_interval(error_a, n_a, error_b, n_b, 0.5 + level / 2)
    swapped = newcombe_interval(error_b, n_b, error_a, n_a, level)
    limits_in_order = [-1.0, wider.low, found.low, error_a - error_b, found.high, wider.high, 1.0]
    assert all(np.diff(limits_in_order) >= -1e-12)  # but for rounding
    assert found.width > 0
    assert limits(swapped) == pytest.approx((-found.high, -found.low))


def test_one_sided_limits_that_hold_less_than_half_of_the_time():
    """The upper limit at 10% is the lower one at 90%."""
    for level in (0.1, 0.3):
        low = newcombe_interval(0.2, 30, 0.4, 25, level, "less").high
        assert low == pytest.approx(newcombe_interval(0.2, 30, 0.4, 25, 1 - level, "greater").low)


def test_test_sets_without_errors():
    equal = compute_comparison(INDEPENDENT_TEST_SETS, on_two_test_sets(0, 20, 0, 30), 0.95)
    assert equal.pvalue == 1.0
    assert equal.degenerate == "the variance is 0 at errors of 0 and 0"
    with_width = compute_comparison(
        INDEPENDENT_TEST_SETS, on_two_test_sets(0, 20, 0, 30), 0.95, options={"form": "newcombe"}
    )
    assert with_width.degenerate == "the variance is 0 at errors of 0 and 0"
    assert with_width.confidence_interval.width > 0.1


def test_opposite_errors_have_no_unpooled_variance():
    opposite = on_two_test_sets(0, 20, 30, 30)
    wald = compute_comparison(INDEPENDENT_TEST_SETS, opposite, 0.95)
    assert wald.pvalue == 1.0
    assert wald.degenerate == (
        "the variance is 0 at errors of 0 and 1; form='newcombe' tests with the pooled variance"
    )
    newcombe = compute_comparison(INDEPENDENT_TEST_SETS, opposite, 0.95, options={"form": "newcombe"})
    assert newcombe.degenerate is None
    assert newcombe.statistic == pytest.approx(-1 / math.sqrt(0.6 * 0.4 * (1 / 20 + 1 / 30)))


def test_the_estimand_of_two_test_sets():
    losses = np.arange(20) < 5
    new, split_off = TestSetLosses(losses, 60, "conditional"), TestSetLosses(losses, 60)
    for first, second, estimand, n_fits in (
        (new, new, "conditional", 0),
        (new, split_off, "holdout-model", 1),
        (split_off, split_off, "holdout-model", 2),
    ):
        records = Records(test_set=first, second_test_set=second)
        found = compute_comparison(INDEPENDENT_TEST_SETS, records, 0.95)
        assert (str(found.estimand), found.n_fits) == (estimand, n_fits)


def test_differences_are_no_errors_of_one_classifier():
    records = Records(
        test_set=TestSetLosses(differences(1, 1, 9), 60), second_test_set=TestSetLosses([0, 1], 60)
    )
    with pytest.raises(
        ValueError, match=r"losses of 'test_set' must be 0 or 1.*Also got \[-1\]; .* use mcnemar"
    ):
        compute_comparison(INDEPENDENT_TEST_SETS, records, 0.95)


# --- methods with a pivot


def _t_pivot(records: Records) -> Pivot:
    means = np.asarray(records.require(KINDS["splits"]).means, dtype=float)
    standard_error = float(means.std(ddof=1)) / math.sqrt(means.size)
    return Pivot(
        float(means.mean()),
        standard_error,
        df=means.size - 1,
        remarks=("own remark",),
        degenerate=None if standard_error > 0 else "all means are equal",
        estimand=Estimand("expected", 40),
        details={"n_means": means.size},
    )


def a_method(**given) -> Method:
    return Method(
        name="some-t",
        title="",
        estimand=Estimand("expected"),
        needs=kinds({"splits"}),
        assumptions="",
        tendency="",
        reference="",
        cost="J",
        **given,
    )


SOME_T = a_method(pivot=_t_pivot)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", range(5))
def test_a_pivot_is_the_t_test_of_scipy(alternative, seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, 12))
    records = Records(splits=SplitLosses(first - second, 40, 10, ("a split remark",)))
    found = compute_comparison(SOME_T, records, 0.9, alternative)
    one_sample = stats.ttest_1samp(first - second, 0.0, alternative=alternative)
    paired = stats.ttest_rel(first, second, alternative=alternative)
    for peer in (one_sample, paired):
        assert (found.statistic, found.pvalue) == pytest.approx((peer.statistic, peer.pvalue), rel=1e-9)
        expected = peer.confidence_interval(0.9)
        assert limits(found.raw_interval) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert found.estimate == pytest.approx(np.mean(first - second))
    assert str(found.estimand) == "expected(n1=40)"
    assert found.n_fits == 24  # one fit of each on every split
    assert found.remarks == ("a split remark", "own remark")
    assert found.details == {"n_means": 12}
    assert found.degenerate is None


def test_equal_means_reject_nothing():
    found = compute_comparison(SOME_T, Records(splits=SplitLosses(np.full(5, 0.25), 40, 10)), 0.95)
    assert (found.estimate, found.pvalue) == (0.25, 1.0)
    assert math.isnan(found.statistic)
    assert limits(found.confidence_interval) == (-1.0, 1.0)
    assert found.degenerate == "all means are equal"


# --- the contract of the result


def a_test(outcome: TestOutcome) -> Method:
    return a_method(test=lambda records, level, alternative: outcome)


@pytest.mark.parametrize(
    ("estimate", "statistic", "pvalue", "low", "high", "reason"),
    [
        (0.0, 0.0, 1.0, 0.1, 0.1, "zero width"),
        (0.0, 0.0, 1.0, 0.2, 0.1, "zero width"),
        (0.0, 0.0, 1.0, math.nan, math.nan, "undefined limits"),
        (math.nan, 0.0, 1.0, 0.0, 0.1, "undefined difference or test"),
        (0.0, 0.0, math.nan, 0.0, 0.1, "undefined difference or test"),
        (0.0, math.nan, 1.0, 0.0, 0.1, "undefined difference or test"),
        (0.9, 9.0, 0.01, 1.1, 1.3, "both raw limits lie outside [-1, 1]"),
        (0.0, 1.0, 0.3, -0.1, 0.1, None),
        (0.0, 1.0, 0.3, -math.inf, 0.1, None),
    ],
)
def test_nothing_is_undefined_in_silence(estimate, statistic, pvalue, low, high, reason):
    outcome = TestOutcome(estimate, statistic, pvalue, ConfidenceInterval(low, high))
    records = Records(splits=SplitLosses(np.zeros(2), 40, 10))
    assert compute_comparison(a_test(outcome), records, 0.95).degenerate == reason
    own = dataclasses.replace(outcome, degenerate="because")
    assert compute_comparison(a_test(own), records, 0.95).degenerate == "because"


def test_a_method_that_compares_nothing_says_so():
    records = Records(
        losses=np.zeros(4),
        bootstrap=BootstrapLosses(np.ones((2, 4), dtype=int), np.zeros((2, 4))),
    )
    with pytest.raises(ValueError, match="langford-binomial is an interval for the error of one classifier"):
        compute_comparison(LANGFORD, records, 0.95)


def test_a_test_gives_no_interval_for_one_error():
    for method in (MCNEMAR, INDEPENDENT_TEST_SETS):
        assert method.compares
        assert not method.gives_interval
    with pytest.raises(ValueError, match="mcnemar compares two classifiers and has no interval"):
        compute_interval(MCNEMAR, on_one_test_set(1, 2, 9), 0.95)


def test_arguments_that_are_refused():
    records = on_one_test_set(1, 2, 9)
    with pytest.raises(
        ValueError, match=r"The 'alternative' parameter must be one of .*Got 'one-sided' instead"
    ):
        compute_comparison(MCNEMAR, records, 0.95, "one-sided")


@settings(max_examples=40)
@given(COUNTS, COUNTS, st.integers(0, 40), LEVELS, st.sampled_from(ALTERNATIVES))
def test_limits_are_clipped_and_raw_ones_kept(only_a, only_b, others, level, alternative):
    n_tested = only_a + only_b + others + 1
    found = compute_comparison(MCNEMAR, on_one_test_set(only_a, only_b, n_tested), level, alternative)
    clipped, raw = found.confidence_interval, found.raw_interval
    assert -1.0 <= clipped.low < clipped.high <= 1.0
    assert (raw.low == -math.inf) == (alternative == "less")
    assert (raw.high == math.inf) == (alternative == "greater")
    assert clipped == raw.clipped(-1.0, 1.0)
    assert found.n_fits == 2
    assert compute_comparison(MCNEMAR, on_one_test_set(2, 1, 9, "conditional"), level).n_fits == 0


# --- what is printed of one result, and the table


def a_result(**changes) -> ComparisonResult:
    found = compute_comparison(MCNEMAR, on_one_test_set(12, 4, 100), 0.95)
    return dataclasses.replace(found, **changes)


def test_a_result_in_words():
    assert (
        str(a_result())
        == repr(a_result())
        == (
            "mcnemar: error(a) - error(b) = 0.080 (95% confidence interval -0.002 to 0.159; "
            "statistic 2.000, p-value 0.077 against equal errors)\n"
            "estimand holdout-model; 2 fits\n"
            "only a wrong = 12, only b wrong = 4, n tested = 100"
        )
    )
    one_sided = str(a_result(alternative="greater", degenerate="why \x1b[2J", details={}))
    assert "against error(a) <= error(b)" in one_sided
    assert one_sided.endswith("degenerate: why \\x1b[2J")


def test_the_frame_and_the_rows_of_a_table():
    table = ComparisonTable((a_result(), a_result(method="other", remarks=("r",), degenerate="d")))
    assert table["other"].remarks == ("r",)
    with pytest.raises(
        KeyError, match=r"no comparison by 'cud' in this table, which has \['mcnemar', 'other'\]"
    ):
        table["cud"]
    frame = table.to_frame()
    assert list(frame.columns) == [
        *("a", "b", "method", "metric", "estimate", "low", "high", "raw_low", "raw_high", "confidence_level"),
        "statistic",
        *("pvalue", "alternative", "null", "estimand", "n_fits", "n_test", "degenerate", "remarks"),
    ]
    assert frame["remarks"].tolist() == ["", "r; d"]
    assert frame["degenerate"].tolist() == [False, True]
    assert frame.loc[0, "estimate"] == 0.08
    assert table.rows[0].to_frame().equals(frame.iloc[:1])
    assert repr(table).partition("\n\nNotes")[0] in str(table)
    assert "proves" not in str(table)


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


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"null": 1.0}, r"'null' parameter must be a number in the range \(-1, 1\)\. Got 1.0"),
        ({"null": "x"}, r"'null' parameter must be a number in the range"),
        ({"alternative": "equivalent"}, r"must be above 0 for the alternative 'equivalent'"),
        ({"alternative": "equivalent", "null": 0.1, "confidence_level": 0.4}, r"must be above 0.5"),
        ({"method": "mcnemar", "null": 0.1}, r"must be 0 for mcnemar, which can only test for equal errors"),
    ],
)
def test_margins_that_cannot_be_tested_are_refused(keywords, message):
    arguments = {"method": "k-fold-t"} | keywords
    method = arguments.pop("method")
    records = margin_records() if method != "mcnemar" else TestSetLosses(np.array([1, 0, -1]), 9)
    with pytest.raises(ValueError, match=message):
        from_records(records, method, **arguments, differences=True)
