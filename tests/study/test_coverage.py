"""A small study from populations to its summary: which intervals keep their level, judged by exact binomial tests."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binomtest, norm

from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.resampling import Resampling
from cudbound.study import Scenario, Study, run_study, summarize
from cudbound.study.store import Store
from cudbound.study.worlds import Gaussians, NearSeparable, Noise

LEVEL = 0.95
#: Probability below which so few hits are put down to the method and not to luck.
SIGNIFICANT = 1e-4
N_REPLICATES = 250
WORLDS = {"gaussians": Gaussians(), "near-separable": NearSeparable(), "noise": Noise()}
KEEPING = ("cud", "langford-binomial")
FALLING_SHORT = ("kohavi-normal", "bootstrap-percentile")

pytestmark = pytest.mark.slow  # 750 replicates


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    study = Study(
        name="small",
        scenarios=tuple(Scenario(name, world, ClassifierRecipe()) for name, world in WORLDS.items()),
        n_samples=(24,),
        n_replicates=N_REPLICATES,
        methods=(*KEEPING, *FALLING_SHORT),
        n_resamples=100,
        resampling=Resampling(inner="oob"),
        confidence_level=LEVEL,
        seed=20080709,
    )
    path = tmp_path_factory.mktemp("coverage") / "small.sqlite"
    status = run_study(study, path)
    assert (status.n_done, status.n_failed) == (len(WORLDS) * N_REPLICATES, 0)
    return path


@pytest.fixture(scope="module")
def coverage(store) -> pd.Series[float]:
    """Coverage by scenario and method."""
    return summarize(store).cells.set_index(["scenario", "method"])["coverage"]


def chance_of_so_few(coverage: float) -> float:
    """Probability that an interval of exactly the nominal level covers so rarely."""
    return float(binomtest(round(coverage * N_REPLICATES), N_REPLICATES, LEVEL, alternative="less").pvalue)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("method", KEEPING)
def test_methods_that_are_to_keep_their_level_do(coverage, world, method):
    assert chance_of_so_few(coverage[world, method]) > SIGNIFICANT


@pytest.mark.parametrize("method", FALLING_SHORT)
def test_intervals_that_take_few_errors_for_certainty_fall_short_where_classes_hardly_overlap(
    coverage, method
):
    """Where the training error is 0 in most samples, they have hardly any width."""
    assert chance_of_so_few(coverage["near-separable", method]) < SIGNIFICANT


def test_the_summary_counts_what_the_store_holds(store, coverage):
    with Store.open(store) as opened:
        rows = opened.frames()[1].merge(opened.frames()[0], on=["scenario", "n", "replicate"])
    rows["covered"] = (rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"])
    counts = rows.groupby(["scenario", "method"])["covered"].agg(["sum", "size"])
    assert (counts["size"] == N_REPLICATES).all()
    assert (counts["sum"] / N_REPLICATES).to_dict() == coverage.to_dict()


def test_true_errors_are_those_of_the_worlds(store):
    with Store.open(store) as opened:
        truths = opened.frames()[0].groupby("scenario")["truth"]
    # labels that do not depend on the features are missed by half by every rule
    assert (truths.min()["noise"], truths.max()["noise"]) == (0.5, 0.5)
    # no rule errs less than the best one of two Gaussians at these distances
    for world in ("gaussians", "near-separable"):
        least = norm.cdf(-WORLDS[world].distance / 2)
        assert least < truths.min()[world] < truths.mean()[world] < least + 0.15
