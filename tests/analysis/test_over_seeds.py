"""The same call with other seeds: a frame of all runs and seeds that repeat."""

from __future__ import annotations

from functools import partial

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
