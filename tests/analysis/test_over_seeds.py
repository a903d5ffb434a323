"""The same call with other seeds: a frame of all runs, seeds that repeat, and the ranges that the command says."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cudbound import (
    LeastSquaresClassifier,
    Metrics,
    compare_intervals,
    compare_learners,
    cud_interval,
    over_seeds,
    performance_interval,
)
from cudbound.basis.exceptions import ParameterError
from cudbound.cli.interval import ranges_over_seeds

RNG = np.random.default_rng(7)
X = RNG.normal(size=(24, 2)).round(2)
Y = np.where(X[:, 0] + RNG.normal(size=24) > 0, "ill", "well")
CLF = LeastSquaresClassifier().fit(X, Y)

CALLS = {
    "bound": partial(cud_interval, CLF, X, Y, n_resamples=20),
    "interval": partial(performance_interval, CLF, X, Y, groups=np.arange(24) // 2, n_resamples=20),
    "table": partial(
        compare_intervals,
        CLF,
        X,
        Y,
        methods=["two-center", "cud"],
        metric=Metrics(["error", "sensitivity"], event="ill"),
        n_resamples=20,
    ),
    "comparison": partial(compare_learners, [CLF, "majority"], X, Y),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_run_is_the_same_call_with_its_seed(name):
    frame = over_seeds(CALLS[name], 3, rng=4)
    seeds = [4, *(int(one.generate_state(1)[0]) for one in np.random.SeedSequence(4).spawn(2))]
    assert list(dict.fromkeys(frame["seed"])) == seeds
    for seed, part in frame.groupby("seed", sort=False):
        alone = CALLS[name](rng=seed).to_frame()
        pd.testing.assert_frame_equal(part.drop(columns="seed").reset_index(drop=True), alone)
    assert frame["low"].nunique() > 1  # the seeds do something
    longer = over_seeds(CALLS[name], 4, rng=4)
    pd.testing.assert_frame_equal(longer.iloc[: len(frame)], frame)


def test_without_a_seed_all_are_new():
    call = CALLS["bound"]
    assert over_seeds(call, 2)["seed"].tolist() != over_seeds(call, 2)["seed"].tolist()
    first = int(np.random.default_rng(0).integers(2**32))
    assert over_seeds(call, 1, np.random.default_rng(0))["seed"].tolist() == [first]


@pytest.mark.parametrize("size", [0, 2.0, "5"])
def test_the_number_of_seeds_is_checked(size):
    with pytest.raises(ParameterError, match="'n_seeds' parameter must be an integer of at"):
        over_seeds(CALLS["bound"], size)




def runs(low, high):
    rows = {"seed": [1, 22], "method": "m", "metric": "error", "estimate": [0.25, 0.22]}
    return pd.DataFrame(rows | {"low": low, "high": high})


def row_of(highest=1.0):
    """The one row of the table, as far as the words depend on it."""
    return [SimpleNamespace(alternative="two-sided", highest=highest)]


def test_ranges_in_words_and_numbers():
    both = runs([0.128, 0.151], [0.372, 0.289])
    words = "estimate 0.220 to 0.250, lower limit 0.128 to 0.151, upper limit 0.289 to 0.372"
    lines, numbers = ranges_over_seeds(both, row_of(), False)
    assert lines == ["Over 2 seeds: 1, 22.", f"m, error: {words}."]
    assert numbers["seeds"] == [1, 22]
    assert numbers["ranges"][0]["high"] == [0.289, 0.372]
    in_percent = "estimate 22.0% to 25.0%, lower limit 12.8% to 15.1%, upper limit 28.9% to 37.2%"
    assert in_percent in ranges_over_seeds(both, row_of(), True)[0][1]
    assert words in ranges_over_seeds(both, row_of(5.0), True)[0][1]  # costs have units of their own
    lines, numbers = ranges_over_seeds(runs([np.nan] * 2, [np.nan] * 2), row_of(), True)
    assert lines[1] == "m, error: no interval."
    assert numbers["ranges"] == [{"method": "m", "metric": "error", "n_seeds": 0}]
    (some,) = ranges_over_seeds(runs([np.nan, 0.1], [np.nan, 0.3]), row_of(), False)[1]["ranges"]
    assert (some["n_seeds"], some["estimate"], some["low"]) == (1, [0.22, 0.22], [0.1, 0.1])
