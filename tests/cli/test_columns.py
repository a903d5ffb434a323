"""Columns and learners of the command."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from cli_fakes import Fake, assert_error, invoke
from click.testing import Result
from data import unwrapped
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import LeastSquaresClassifier, Resampling, compare_intervals
from cudbound import compare_learners as compare
from cudbound.report.render import render_report

# ---- options of the command that say which columns are used ----


N = 40


@pytest.fixture
def patients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Forty patients with gaps in a number and in a category."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"age": rng.integers(30, 80, N), "bmi": rng.normal(25.0, 4.0, N).round(1)})
    frame["died"] = np.where(frame["age"] + rng.normal(0.0, 15.0, N) > 55, "yes", "no")
    frame["site"] = rng.choice(["north", "south", "west"], N)
    frame.loc[[3, 7, 8], "bmi"] = np.nan
    frame.loc[[1, 7], "site"] = None
    frame.to_csv("patients.csv", index_label="id")
    return frame


def interval(*arguments: str):
    return invoke(
        "interval", "patients.csv", "--target", "died", "--positive", "yes", "--seed", "1", *arguments
    )


def test_decimal_commas_and_codes_of_missing_values(fake: Fake, patients):
    written = patients.assign(bmi=patients["bmi"].fillna(-9), site=patients["site"].fillna("n.k."))
    written.to_csv("patients.csv", index_label="id", sep=";", decimal=",")
    arguments = ["--delimiter", ";", "--decimal", ",", "--exclude", "id", "--categorical", "auto"]
    given = ["--missing-values=-9,n.k.", "--missing", "drop"]
    assert interval(*arguments, *given).exit_code == 0
    np.testing.assert_array_equal(fake.fitted[0].X[:, 1], patients.dropna()["bmi"])
    repeated = interval(*arguments, *given, "--missing-values", "x")
    assert repeated.exit_code == 2
    assert "--missing-values is given twice; separate the names by commas" in repeated.stderr


def test_the_table_is_that_of_the_pipeline_in_python(patients):
    given = ["--features", "age,bmi", "--missing", "median", "--resamples", "30", "--format", "csv"]
    result = interval(*given, "--classifier", "logistic-ml")
    assert result.exit_code == 0, result.stderr
    X, y = patients[["age", "bmi"]].to_numpy(), (patients["died"] == "yes").to_numpy().astype(int)
    logistic = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-8, random_state=1)
    pipeline = make_pipeline(SimpleImputer(strategy="median"), logistic).fit(X, y)
    table = compare_intervals(pipeline, X, y, methods="recommended", n_resamples=30, rng=1)
    assert result.stdout == render_report(table.report(), "csv") + "\n"


# --- a model that is fitted


def save(estimator, patients: pd.DataFrame, complete: bool = False) -> None:
    rows = patients.dropna() if complete else patients
    skops.io.dump(estimator.fit(rows[["age", "bmi"]], rows["died"]), "model.skops")


def with_model(*arguments: str):
    return interval("--features", "age,bmi", "--model", "model.skops", *arguments)


def test_missing_values_are_left_to_a_model_that_fills_them(fake: Fake, patients):
    save(make_pipeline(SimpleImputer(), LogisticRegression()), patients)
    result = with_model()
    assert result.exit_code == 0, result.stderr
    assert np.isnan(fake.fitted[0].X["bmi"]).sum() == 3
    assert "\nMissing values: 'bmi' 3 of 40 rows, passed to the model.\n" in unwrapped(result.stdout)
    assert_error(with_model("--missing", "error"), 1, "3 missing values in 'patients.csv': 'bmi' 3;")


def test_a_model_that_fills_nothing_needs_complete_rows(fake: Fake, patients):
    save(LogisticRegression(), patients, complete=True)
    assert_error(with_model(), 1, "if it has no step that fills them, with --missing drop")
    assert with_model("--missing", "drop").exit_code == 0
    assert fake.fitted[0].y.size == 37


# ---- ``cudbound compare-learners`` ----


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
        "--standardize",
        learners="least-squares,logistic",
    )
    theirs = expected(
        make_pipeline(StandardScaler(), LeastSquaresClassifier()),
        make_pipeline(StandardScaler(), LogisticRegression(random_state=3)),
        "logistic",
        methods=names,
        alternative="less",
        confidence_level=0.9,
        resampling=Resampling(n_folds=5, n_splits=8),
    )
    pd.testing.assert_frame_equal(frame_of(result), theirs)
