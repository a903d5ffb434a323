"""``cudbound compare-learners`` of several: every pair as in a comparison of two, adjusted for the number of pairs."""

from __future__ import annotations

import io
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_fakes import invoke
from click.testing import Result

N = 40
RNG = np.random.default_rng(8)
X = RNG.normal(size=(N, 2))
Y = X[:, 0] + RNG.normal(size=N) > 0
NAMES = ("ridge", "logistic", "tree")
PAIR_COLUMNS = ["adjusted_pvalue", "simultaneous_low", "simultaneous_high"]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample as a file in the current folder."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=["age", "bmi"]).assign(died=np.where(Y, "yes", "no"))
    frame.to_csv("data.csv", index=False)
    return tmp_path / "data.csv"


def run(*arguments: str) -> Result:
    fixed = ["compare-learners", "data.csv", "--target", "died", "--positive", "yes", "--seed", "3"]
    return invoke(*fixed, "--resampling", "n_splits=5", "--resampling", "n_repeats=2", *arguments)


def several(*arguments: str, names: tuple[str, ...] = NAMES) -> Result:
    return run("--learners", ",".join(names), *arguments)


def frame_of(result: Result) -> pd.DataFrame:
    assert result.exit_code == 0, result.stderr
    return pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)


def holm(pvalues: list[float]) -> list[float]:
    """Holm's procedure, by its definition: the k-th smallest of m times m - k + 1, and never below those before."""
    adjusted, highest = [0.0] * len(pvalues), 0.0
    for k, i in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        highest = max(highest, min(1.0, (len(pvalues) - k) * pvalues[i]))
        adjusted[i] = highest
    return adjusted


@pytest.mark.parametrize("reference", [None, "tree"])
def test_each_pair_is_that_of_two_learners_and_the_number_of_pairs_is_accounted_for(reference):
    chosen = [] if reference is None else ["--reference", reference]
    options = ["--standardize", "--confidence-level", "0.9", "--format", "csv", "--option"]
    options += ["corrected-resampled-t.rope=0.1", "--methods", "corrected-resampled-t"]
    table = frame_of(several(*chosen, *options, "--set", "logistic.C=0.01"))
    pairs = list(combinations(NAMES, 2))
    if reference is not None:
        pairs = [pair for pair in pairs if reference in pair]
    assert list(zip(table["a"], table["b"], strict=True)) == pairs
    alone = table.drop(columns=PAIR_COLUMNS)
    for (a, b), (_, row) in zip(pairs, table.iterrows(), strict=True):
        sets = ["--set", "logistic.C=0.01"] if "logistic" in (a, b) else []
        two = frame_of(several(*sets, *options, names=(a, b)))
        expected = alone.loc[[row.name]].reset_index(drop=True)
        pd.testing.assert_frame_equal(two, expected)
        joint = frame_of(
            several(*sets, *options, "--confidence-level", str(1 - 0.1 / len(pairs)), names=(a, b))
        )
        limits = row[["simultaneous_low", "simultaneous_high"]].astype(float).tolist()
        assert limits == pytest.approx(joint.loc[0, ["low", "high"]].astype(float).tolist(), abs=1e-12)
    assert table["adjusted_pvalue"].tolist() == pytest.approx(holm(table["pvalue"].tolist()), rel=1e-12)
