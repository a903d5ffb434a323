"""Options of the command that say which columns are used, and what is done about missing values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from cli_fakes import Fake, assert_error, invoke
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from unwrapped import unwrapped

from cudbound import compare_intervals
from cudbound.report.render import render_report

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
    assert_error(with_model("--missing", "error"), 1, "3 missing value(s) in 'patients.csv': 'bmi' 3;")


def test_a_model_that_fills_nothing_needs_complete_rows(fake: Fake, patients):
    save(LogisticRegression(), patients, complete=True)
    assert_error(
        with_model(),
        1,
        "if it has no step that fills missing values, drop these rows with --missing drop",
    )
    assert with_model("--missing", "drop").exit_code == 0
    assert fake.fitted[0].y.size == 37
