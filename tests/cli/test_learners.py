"""``cudbound compare-learners``: numbers, formats, errors and exit codes, with everything real behind it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_fakes import invoke
from click.testing import Result
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import LeastSquaresClassifier, Resampling
from cudbound import compare_learners as compare

N = 40
RNG = np.random.default_rng(8)
X = RNG.normal(size=(N, 2)) * [1.0, 30.0]
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(np.int64)
WARD = np.arange(N) // 4


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample as a file in the current folder."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=["age", "bmi"]).assign(ward=WARD, died=np.where(Y == 1, "yes", "no"))
    frame.to_csv("data.csv", index=False)
    return tmp_path / "data.csv"


def run(*arguments: str, learners: str = "least-squares,ridge", exclude: str = "ward") -> Result:
    fixed = ["compare-learners", "data.csv", "--target", "died", "--positive", "yes", "--learners", learners]
    return invoke(*fixed, *(["--exclude", exclude] if exclude else []), *arguments)


def frame_of(result: Result) -> pd.DataFrame:
    assert result.exit_code == 0, result.stderr
    return pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)


def expected(a: Any, b: Any, second: str = "ridge", **arguments: Any) -> pd.DataFrame:
    frame = compare({"least-squares": a, second: b}, X, Y, rng=3, **arguments).to_frame()
    return pd.read_csv(io.StringIO(frame.to_csv(index=False)), keep_default_na=False)


def test_two_of_one_kind_are_told_apart_by_their_options():
    result = run("--seed", "3", "--set", "b.alpha=9", learners="a=ridge, b=ridge")
    assert "Differences of two errors, error(a) - error(b)" in result.stdout
    assert "\nb: RidgeClassifier with a ridge penalty (alpha = 9); " in result.stdout


def test_every_option_reaches_the_package():
    names = ["k-fold-t", "grandvalet-bengio-t", "resampled-t"]
    result = run(
        *["--seed", "3", "--format", "csv", "--methods", ",".join(names), "--alternative", "less"],
        *[
            "--confidence-level",
            "0.9",
            "--resampling",
            "n_folds=5",
            "--resampling",
            "n_splits=8",
            "--jobs",
            "2",
        ],
        *["--option", "grandvalet-bengio-t.rho=0.5", "--standardize", "--set", "logistic.C=0.01"],
        learners="least-squares,logistic",
    )
    theirs = expected(
        make_pipeline(StandardScaler(), LeastSquaresClassifier()),
        make_pipeline(StandardScaler(), LogisticRegression(C=0.01, random_state=3)),
        "logistic",
        methods=[*names, ("grandvalet-bengio-t", {"rho": 0.5})],
        alternative="less",
        confidence_level=0.9,
        resampling=Resampling(n_folds=5, n_splits=8),
    )
    pd.testing.assert_frame_equal(frame_of(result), theirs)


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_every_format_on_stdout_and_in_a_file(form):
    arguments = ["--seed", "3", "--methods", "mcnemar,5x2cv-f", "--option", "mcnemar.form=mid-p"]
    printed = run(*arguments, "--format", form)
    assert (printed.exit_code, printed.stderr) == (0, "")
    written = run(*arguments, "--format", form, "--output", "out.txt")
    assert (written.stdout, written.stderr) == ("", "cudbound: wrote out.txt\n")
    assert Path("out.txt").read_text(encoding="utf-8") == printed.stdout


def test_a_seed_is_chosen_and_printed_and_repeats_the_run():
    first = run("--format", "json")
    seed = json.loads(first.stdout)["run"]["seed"]
    assert first.stderr == f"cudbound: seed {seed} was chosen; repeat this run with --seed {seed}\n"
    again = run("--format", "json", "--seed", str(seed))
    assert (again.stdout, again.stderr) == (first.stdout, "")
    assert run("--format", "json", "--seed", str(seed + 1)).stdout != first.stdout
