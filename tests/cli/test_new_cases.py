"""A file of new cases is read like that of the training rows; both are in one interval, which is saved and checked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from cli_fakes import assert_error, invoke
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import compare_intervals
from cudbound.inputs.csv_columns import read_new_cases, read_training_data
from cudbound.inputs.data_file import CsvError, DataFile

RNG = np.random.default_rng(5)
N, M = 60, 25


def cases(n: int) -> pd.DataFrame:
    age = RNG.normal(60, 9, n).round(1)
    return pd.DataFrame(
        {
            "age": age,
            "site": RNG.choice(["a", "b", "c"], n),
            "patient": [f"p{number}" for number in RNG.permutation(10**6)[:n]],
            "died": np.where(age + RNG.normal(0, 8, n) > 62, "yes", "no"),
        }
    )


TRAINING, NEW = cases(N), cases(M)
ROLES = ("--target", "died", "--positive", "yes", "--categorical", "site", "--exclude", "patient")
FEW = ("--classifier", "logistic", "--standardize", "--seed", "3", "--resamples", "40")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TRAINING.to_csv("data.csv", index=False)
    NEW.to_csv("new.csv", index=False)


def as_numbers(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    X = np.column_stack([frame["age"], frame["site"] == "b", frame["site"] == "c"]).astype(float)
    return X, (frame["died"] == "yes").to_numpy().astype(int)


def rows_of(*more: str) -> list[dict[str, object]]:
    result = invoke("interval", "data.csv", *ROLES, *FEW, "--new-cases", "new.csv", "--format", "json", *more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["intervals"]


def test_the_command_is_the_call_in_python():
    rows = rows_of("--metric", "error,sensitivity,auc")
    X, y = as_numbers(TRAINING)
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
    table = compare_intervals(
        classifier,
        X,
        y,
        metric=["error", "sensitivity", "auc"],
        event=1,
        new_cases=as_numbers(NEW),
        n_resamples=40,
        rng=3,
    )
    assert [row["method"] for row in rows[:3]] == ["two-center", "test-set-clopper-pearson", "pooled"]
    for row, expected in zip(rows, table, strict=True):
        assert (row["method"], row["metric"]) == (expected.method, expected.metric)
        assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high), abs=1e-6)
        assert row["n_test"] == (None if row["method"] == "two-center" else M)


def test_a_fitted_model_gets_its_columns():
    X, y = as_numbers(TRAINING)
    frame = pd.DataFrame(X, columns=["age", "site=b", "site=c"])[["site=c", "age", "site=b"]]
    labels = np.where(y, "yes", "no")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, labels)
    skops.io.dump(model, "model.skops")
    result = invoke(
        *("interval", "data.csv", *ROLES, "--model", "model.skops", "--new-cases", "new.csv"),
        *("--seed", "3", "--resamples", "40", "--format", "json", "--methods", "test-set-clopper-pearson"),
    )
    assert result.exit_code == 0, result.output
    X_new, y_new = as_numbers(NEW)
    named = pd.DataFrame(X_new, columns=["age", "site=b", "site=c"])[list(frame)]
    wrong = (model.predict(named) != np.where(y_new, "yes", "no")).mean()
    assert json.loads(result.stdout)["intervals"][0]["estimate"] == pytest.approx(wrong)


def test_the_sentence_quotes_the_interval_from_both():
    result = invoke("interval", "data.csv", *ROLES, *FEW, "--new-cases", "new.csv", "--recommend")
    assert result.exit_code == 0, result.output
    assert f"pooled interval from {N} training rows and {M} test cases" in result.stdout
    assert "The new cases are not clearly worse than the training data promised (p-value" in result.stdout


def test_new_cases_of_another_population_are_named():
    NEW.assign(died=np.where(NEW["died"] == "yes", "no", "yes")).to_csv("new.csv", index=False)
    result = invoke("interval", "data.csv", *ROLES, *FEW, "--new-cases", "new.csv", "--recommend")
    assert "clearly worse than the training data promised" in result.stdout
    assert "they should not be pooled. Report the interval from the new cases alone." in result.stdout


def test_a_saved_result_is_checked_with_the_new_cases():
    rows_of("--save", "result.json")
    assert invoke("verify", "result.json", "data.csv", "--new-cases", "new.csv").exit_code == 0
    without = invoke("verify", "result.json", "data.csv", "--format", "json")
    assert {row["outcome"] for row in json.loads(without.stdout)["checks"]} == {"passed", "not checked"}
    cases(M).to_csv("new.csv", index=False)
    assert invoke("verify", "result.json", "data.csv", "--new-cases", "new.csv").exit_code == 4


def test_pooled_without_new_cases_is_refused():
    result = invoke("interval", "data.csv", *ROLES, *FEW, "--methods", "pooled")
    assert_error(result, 1, "on the command line --new-cases NEW.csv. Without new cases, 'two-center'")


# ---- the file ----


def read(
    new: pd.DataFrame, training: pd.DataFrame = TRAINING, **roles: object
) -> tuple[np.ndarray, np.ndarray]:
    training.to_csv("data.csv", index=False)
    new.to_csv("new.csv", index=False)
    fixed = {"categorical": ("site",), "exclude": () if "group" in roles else ("patient",)}
    file = DataFile(Path("data.csv"), "died", "yes", **fixed | roles)
    return read_new_cases(file, read_training_data(file), Path("new.csv"))


@pytest.mark.parametrize("change", ["none", "one class", "other spelling", "fewer levels", "other order"])
def test_new_cases_are_coded_like_training_rows(change):
    new = NEW
    if change == "one class":
        new = NEW[NEW["died"] == "no"]
    elif change == "other spelling":
        new = NEW.assign(site=NEW["site"].str.upper(), died=NEW["died"].str.title())
    elif change == "fewer levels":
        new = NEW[NEW["site"] == "c"]
    elif change == "other order":
        new = NEW[["died", "site", "patient", "age"]].assign(further=1)
    X, y = read(new)
    plain = new.assign(site=new["site"].str.lower(), died=new["died"].str.lower())
    for values, expected in zip((X, y), as_numbers(plain), strict=True):
        np.testing.assert_array_equal(values, expected)


def test_missing_values_are_left_to_the_classifier_that_fills_them():
    training, new = TRAINING.copy(), NEW.copy()
    training.loc[3, "age"] = new.loc[1, "age"] = new.loc[2, "site"] = np.nan
    X, _ = read(new, training, missing="median")
    assert np.isnan(X[1, 0])
    assert len(read(new, training, missing="drop")[0]) == M - 2
    with pytest.raises(CsvError, match=r"none of the training rows has one.*--missing drop"):
        read(new, TRAINING, missing="median")


@pytest.mark.parametrize(
    ("changes", "roles", "message"),
    [
        ({"died": ["maybe"] + ["no"] * (M - 1)}, {}, "has 'maybe' on line 2, which no training row has"),
        ({"site": ["a"] * (M - 1) + ["d"]}, {}, "'site' of 'new.csv' has 'd' on line 26"),
        ({"age": ["old"] * M}, {}, "not plain numbers, but text: column 'age'"),
        ({"patient": TRAINING["patient"][:M]}, {"group": "patient"}, "'patient' .* also has training rows"),
        (
            {"patient": "p0"},
            {"group": "patient"},
            "'p0' on line 3 of 'new.csv' also has training rows, or a case",
        ),
    ],
)
def test_new_cases_that_cannot_be_used_are_refused(changes, roles, message):
    with pytest.raises(CsvError, match=message):
        read(NEW.assign(**changes), **roles)


def test_a_file_that_lacks_a_column_is_refused():
    with pytest.raises(CsvError, match=r"no column 'age' in 'new\.csv'"):
        read(NEW.drop(columns="age"))


def test_the_report_reads_new_cases():
    result = invoke(
        *("report", "data.csv", *ROLES, *FEW, "--new-cases", "new.csv", "--output", "report.html")
    )
    assert result.exit_code == 0, result.output
    numbers = json.loads(Path("report.json").read_text())
    assert f"{M} test cases" in numbers["new_cases"][0]
    assert "--new-cases new.csv" in numbers["reproduction"]["command"]


def test_warnings_name_options_of_the_command():
    TRAINING.to_csv("new.csv", index=False)
    call = ("interval", "data.csv", *ROLES, *FEW, "--methods", "cud,pooled", "--bound", "nodes_per_draw=1")
    limited = invoke(*call, "--new-cases", "new.csv")
    assert "Remove them from the new cases, unless" in limited.stderr
    assert "lift the default one by Bound(nodes=math.inf), or --bound nodes=inf; in Python," in limited.stderr
