"""Plans by simulation, the size that a half-width requires, and closed forms."""

from __future__ import annotations

import hashlib
import math
import statistics
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from statsmodels.stats.proportion import samplesize_confint_proportion
from study_frames import summary_of

from cudbound import LeastSquaresClassifier, compare_intervals, plan_sample_size
from cudbound.point_estimates.auc import hanley_mcneil_size
from cudbound.resampling.settings import Resampling
from cudbound.study import SampleSizePlan, closed_form_sample_sizes
from cudbound.study.plan_sample_size import PlannedSize, _sizes, required_size, smallest_size
from cudbound.study.worlds import Gaussians

# ---- plans ----


RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = (X[:, 0] + RNG.normal(size=40) > 0.4).astype(int)
CLF = LeastSquaresClassifier()
#: A binomial interval on the training error is quick, and its half-widths are few.
QUICK = {"method": "langford-binomial", "n_samples": (12, 40), "n_replicates": 10, "n_resamples": 2, "rng": 3}
quick_plan = partial(plan_sample_size, **QUICK)


@pytest.fixture(scope="module")
def of_world():
    return plan_sample_size(
        CLF, "gaussians", n_samples=(30, 90), n_replicates=12, n_resamples=40, half_width=0.15, rng=1
    )


@pytest.fixture(scope="module")
def of_pilot():
    return quick_plan(CLF, X, Y, half_width=0.2)


# ---- numbers ----


def by_hand(name, n, replicate, draw, seed, **asked):
    """The half-width of one sample, without the study that a plan is."""
    word = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")
    rng = np.random.default_rng(np.random.SeedSequence([seed, word, n, replicate]))
    while True:
        X_drawn, y_drawn = draw(n, rng)
        if 2 <= y_drawn.sum() <= n - 2:
            break
    clf = LeastSquaresClassifier().fit(X_drawn, y_drawn)
    (row,) = compare_intervals(clf, X_drawn, y_drawn, rng=rng, **asked)
    return (min(1.0, row.raw_high) - max(0.0, row.raw_low)) / 2.0


def test_a_world_by_hand(of_world):
    world = Gaussians()
    for size in of_world.sizes:
        found = [
            by_hand("gaussians", size.n, r, world.sample, 1, methods=["two-center"], n_resamples=40)
            for r in range(12)
        ]
        np.testing.assert_array_equal(size.half_widths, found)
        assert 0.7 <= size.coverage <= 1.0


@pytest.mark.filterwarnings(
    "ignore::cudbound.basis.exceptions.RepeatedRowsWarning"
)  # rows are drawn repeatedly
def test_a_pilot_by_hand(of_pilot):
    def draw(n, rng):
        rows = rng.integers(0, 40, n)
        return X[rows], Y[rows]

    for size in of_pilot.sizes:
        found = [
            by_hand(
                "pilot",
                size.n,
                r,
                draw,
                3,
                methods=["langford-binomial"],
                n_resamples=2,
                resampling=Resampling(inner=50),
            )
            for r in range(10)
        ]
        np.testing.assert_array_equal(size.half_widths, found)
        assert math.isnan(size.coverage)


def test_the_frame_by_hand(of_world):
    frame = of_world.to_frame()
    assert frame["n"].tolist() == [30, 90]
    for row, size in zip(frame.to_dict("records"), of_world.sizes, strict=True):
        values = sorted(size.half_widths.tolist())
        assert row["mean_half_width"] == pytest.approx(statistics.fmean(values), rel=1e-12)
        assert row["mean_half_width_mcse"] == pytest.approx(
            statistics.stdev(values) / math.sqrt(12), rel=1e-12
        )
        assert row["quantile_half_width"] == values[9]  # the 10th of 12 is the first with 80 % at or below it
        share = sum(value <= 0.15 for value in values) / 12
        assert row["share_within"] == pytest.approx(share)
        assert row["share_within_mcse"] == pytest.approx(math.sqrt(share * (1 - share) / 12))
        assert (row["method"], row["half_width"], row["probability"]) == ("two-center", 0.15, 0.8)
    assert of_world.required == of_world.n_samples_for(0.15, 0.8)
    assert 30 < of_world.required.n < 90
    assert str(of_world.n_samples_for(0.01)) == "more than 90 patients"
    assert str(of_world.n_samples_for(0.4, 0.5)) == "at most 30 patients"


def test_the_standard_error_of_the_quantile_is_that_of_repeated_samples():
    """Half-widths from a normal distribution, 400 times: the mean of the standard errors, and the spread."""
    rng = np.random.default_rng(2)
    found = pd.concat([of_half_widths(rng.normal(0.2, 0.02, 60)).to_frame() for _ in range(400)])
    spread = found["quantile_half_width"].std()
    assert found["quantile_half_width_mcse"].mean() == pytest.approx(spread, rel=0.12)


def of_half_widths(half_widths):
    return SampleSizePlan(
        (PlannedSize(50, half_widths),), 0.1, 0.8, "cud", "error", 0.95, "made up", None, "none", 10, 0
    )


def test_a_sample_without_an_interval_counts_as_that_from_0_to_1():
    """Replicate 0 failed, 1 has no limits, 2 has width zero, 3 has the limits .1 and .4."""
    replicates = pd.DataFrame(
        {
            **{"scenario": "s", "n": 30, "replicate": range(4), "truth": [None, 0.2, 0.2, 0.2]},
            **{
                "truth_se": 0.0,
                "training_error": 0.2,
                "n_redrawn": [0, 2, 0, 1],
                "failure": ["why", None, None, None],
            },
        }
    )
    intervals = pd.DataFrame(
        {
            **{"scenario": "s", "n": 30, "replicate": [1, 2, 3], "method": "cud", "estimand": "conditional"},
            **{"estimate": [None, 0.2, 0.2], "low": [None, 0.2, 0.1], "high": [None, 0.2, 0.4]},
            **{"raw_low": [None, 0.2, 0.1], "raw_high": [None, 0.2, 0.4], "n_fits": 1},
            **{"degenerate": ["no draw", "width zero", None], "standard_error": None, "pvalue": None},
        }
    )
    expected = pd.DataFrame(columns=["scenario", "n", "replicate", "n_train", "truth", "truth_se"])
    (size,) = _sizes(summary_of((replicates, intervals, expected)), is_pilot=False)
    assert size.half_widths.tolist() == [0.5, 0.5, 0.5, pytest.approx(0.15)]
    assert (size.n_without, size.n_redrawn) == (3, 3)
    assert size.coverage == 0.5  # of 4: the one of width zero holds .2, too


# ---- what repeats ----


def test_a_plan_repeats_to_the_bit(of_pilot):
    again = quick_plan(CLF, X, Y, half_width=0.2)
    pd.testing.assert_frame_equal(again.to_frame(), of_pilot.to_frame(), check_exact=True)
    assert str(again) == str(of_pilot)
    fresh = quick_plan(CLF, X, Y, rng=None)
    told = quick_plan(CLF, X, Y, rng=fresh.seed)
    pd.testing.assert_frame_equal(fresh.to_frame(), told.to_frame(), check_exact=True)
    assert not fresh.to_frame().equals(again.to_frame())
    assert quick_plan(CLF, X, Y, rng=np.random.default_rng(4)).seed == np.random.default_rng(4).integers(
        2**32
    )


# ---- refusals ----


class Broken(LeastSquaresClassifier):
    """Cannot be fitted to fewer than 20 rows."""

    def fit(self, X, y):
        if len(y) < 20:
            raise ValueError("too few rows")
        return super().fit(X, y)


def test_a_size_at_which_nothing_can_be_analyzed():
    with pytest.raises(
        ValueError,
        match=r"^No sample of 12 patients could be analyzed: .* failed in Broken with ValueError: too few rows",
    ):
        quick_plan(Broken(), X, Y)


# ---- from half-widths at some sizes to the size that is wanted ----


SIZES = (20, 40, 60, 90, 150)


def test_the_law_of_the_root_is_met_exactly():
    """Half-widths c / sqrt(n) meet h from the first whole n of at least (c / h)^2 on."""
    for c in (0.7, 0.9, 1.1):
        values = np.array([c / math.sqrt(n) for n in SIZES])
        for target in np.linspace(c / math.sqrt(149), c / math.sqrt(21), 17):
            assert smallest_size(SIZES, values, target) == math.ceil((c / target) ** 2 - 1e-6)


def falling(values: list[float]) -> list[float]:
    """Isotonic regression by its min-max formula, for equal weights."""
    return [
        min(max(sum(values[i : k + 1]) / (k + 1 - i) for k in range(j, len(values))) for i in range(j + 1))
        for j in range(len(values))
    ]


def test_values_that_do_not_fall_are_made_to():
    """The size is the first at which the curve through the regression, linear in 1 / sqrt(n), is low enough."""
    rng = np.random.default_rng(3)
    n_tied = 0
    for _ in range(200):
        values = np.sort(rng.choice([0.2, 0.15, 0.14, 0.1, 0.0], 5))[::-1] + rng.normal(0.0, 0.02, 5).round(2)
        fitted = falling(values.tolist())
        n_tied += fitted != values.tolist()
        curve = [
            np.interp(1 / math.sqrt(n), [1 / math.sqrt(one) for one in SIZES[::-1]], fitted[::-1])
            for n in range(20, 151)
        ]
        for target in (0.0501, 0.1101, 0.1601):  # no value is one of them, but for rounding
            meets = [n for n, value in zip(range(20, 151), curve, strict=True) if value <= target]
            assert smallest_size(SIZES, values, target) == (meets[0] if meets else math.inf)
    assert n_tied > 50


def test_mean_and_quantile():
    """At 25 half of the samples have .3, half .1; at 100 all have .1."""
    samples = [np.array([0.1, 0.3] * 50), np.full(100, 0.1)]
    for probability, target, n in (
        (0.5, 0.1, 25),
        (0.51, 0.2, 45),
        (0.8, 0.2, 45),
    ):
        # linear in 1 / sqrt(n): .2, halfway from .3 to .1, is at .15, n = 44.4
        assert (
            required_size(
                dict(zip((25, 100), samples, strict=True)), target, probability, np.random.default_rng(0)
            ).n
            == n
        )


def test_equal_samples_have_no_range_and_the_same_numbers_repeat():
    samples = {n: np.full(30, 1.0 / math.sqrt(n)) for n in SIZES}
    found = required_size(samples, 0.1, 0.8, np.random.default_rng(0))
    assert (found.n, found.low, found.high, str(found)) == (100.0, 100.0, 100.0, "100 patients")
    noisy = {n: widths * np.linspace(0.8, 1.2, 30) for n, widths in samples.items()}
    first, second = (required_size(noisy, 0.1, 0.8, np.random.default_rng(5)) for _ in range(2))
    assert first == second
    assert first.low < first.n < first.high


# ---- closed forms for new cases ----


def sizes_of(*values, **named):
    return {one.measure: one.n for one in closed_form_sample_sizes(*values, **named)}


def test_a_published_number():
    """size.ci.prop.os(alpha = .05, p = .2, w = .1) of the R package DGB prints 246; its w is the whole width."""
    assert sizes_of(0.05, accuracy=0.2) == {"accuracy": 246}


def test_a_published_number_for_the_auc():
    """pmvalsampsize(type="b", prevalence=0.018, cstatistic=0.8) in R and Stata: 4252 patients for a width of .1."""
    assert sizes_of(0.05, auc=0.8, prevalence=0.018) == {"auc": 4252}


@pytest.mark.parametrize("auc", [0.5, 0.7, 0.95])
def test_the_auc_has_that_variance_at_that_many_cases_and_not_at_one_less(auc):
    n = sizes_of(0.08, auc=auc, prevalence=0.3)["auc"]
    target = (0.08 / norm.ppf(0.975)) ** 2
    variances = [auc * (1 - auc) / hanley_mcneil_size(auc, 0.3 * cases, 0.7 * cases) for cases in (n - 1, n)]
    assert variances[1] <= target < variances[0]


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("p", [0.03, 0.5, 0.86])
def test_the_accuracy_is_that_of_statsmodels(level, p):
    for half_width in (0.02, 0.1, 0.31):
        theirs = math.ceil(samplesize_confint_proportion(p, half_width, alpha=1.0 - level))
        assert sizes_of(half_width, accuracy=p, confidence_level=level) == {"accuracy": theirs}


@pytest.mark.parametrize(
    ("se", "sp", "phi", "half_width"),
    [(0.9, 0.85, 0.2, 0.05), (0.7, 0.95, 0.5, 0.04), (0.6, 0.6, 0.35, 0.03)],
)
def test_estimates_from_that_many_new_cases_vary_as_planned(se, sp, phi, half_width):
    """Draw the four cells of the table: 1.96 standard deviations of each estimate are the half-width."""
    cells = [phi * se, phi * (1 - se), (1 - phi) * (1 - sp), (1 - phi) * sp]
    found = closed_form_sample_sizes(half_width, sensitivity=se, specificity=sp, prevalence=phi)
    assert [one.measure for one in found] == ["accuracy", "sensitivity", "specificity", "ppv", "npv"]
    for one in found:
        tp, fn, fp, tn = np.random.default_rng(0).multinomial(one.n, cells, 40_000).T
        right, of = {
            "accuracy": (tp + tn, tp + fn + fp + tn),
            "sensitivity": (tp, tp + fn),
            "specificity": (tn, tn + fp),
            "ppv": (tp, tp + fp),
            "npv": (tn, tn + fn),
        }[one.measure]
        estimates = right / of
        assert estimates.mean() == pytest.approx(one.expected, abs=0.003)
        # the number of cases that count varies too, which the formula leaves out: a few percent
        assert 1.96 * estimates.std() == pytest.approx(half_width, rel=0.05)


def test_a_share_of_0_or_1_has_no_size():
    assert sizes_of(accuracy=1.0) == sizes_of(accuracy=0.0) == {"accuracy": None}
    found = closed_form_sample_sizes(sensitivity=0.0, specificity=1.0, prevalence=0.3)
    assert {one.measure: one.n for one in found if one.measure != "npv" and one.measure != "accuracy"} == {
        "sensitivity": None,
        "specificity": None,
        "ppv": None,
    }
    assert math.isnan(found[3].expected)  # nobody is called an event
    assert (found[4].expected, found[0].expected) == (pytest.approx(0.7), pytest.approx(0.7))


@pytest.mark.parametrize(("method", "n_resamples"), [("k-fold-t", None), ("langford-binomial", 2)])
def test_only_methods_that_draw_have_resamples(method, n_resamples):
    plan = quick_plan(CLF, X, Y, method=method, n_samples=(20,))
    assert plan.n_resamples == n_resamples
    assert all(
        ("resamples" in text) == (n_resamples is not None) for text in (str(plan), str(plan.describe()))
    )
