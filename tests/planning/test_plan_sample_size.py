"""Plans: their samples and intervals by hand, what repeats, kinds of pilots and worlds, what is refused."""

from __future__ import annotations

import hashlib
import math
import statistics
from functools import partial

import numpy as np
import pandas as pd
import pytest
from study_frames import summary_of

from cudbound import LeastSquaresClassifier, compare_intervals, plan_sample_size
from cudbound.resampling.settings import Resampling
from cudbound.study import SampleSizePlan
from cudbound.study.planning.plan_sample_size import PlannedSize, _sizes
from cudbound.study.populations.worlds import Gaussians

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
    assert str(of_world.n_samples_for(0.4, None)) == "at most 30 patients"


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


# ---- pilots and worlds ----


# ---- what is written ----


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
