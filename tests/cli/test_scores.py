"""The AUC and the Brier score on the command line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_fakes import invoke
from click.testing import Result
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from cudbound import compare_intervals, compare_learners

Y = np.arange(40) % 2
X = np.random.default_rng(8).normal(size=(40, 2)) + Y[:, None]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=["age", "bmi"]).assign(died=np.where(Y == 1, "yes", "no"))
    frame.to_csv("data.csv", index=False)


def run(*arguments: str, classifier: str = "logistic") -> Result:
    fixed = ("--target", "died", "--positive", "yes", "--seed", "4", "--resamples", "40")
    return invoke("interval", "data.csv", *fixed, "--classifier", classifier, *arguments)


def theirs(**settings):
    clf = LogisticRegression().fit(X, Y)
    return compare_intervals(clf, X, Y, metric=["auc", "brier"], n_resamples=40, rng=4, **settings)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_programs_get_the_rows_of_the_call(form):
    text = run("--metric", "c-statistic,brier", "--format", form).stdout
    found = json.loads(text)["intervals"] if form == "json" else csv.DictReader(io.StringIO(text))
    for row, expected in zip(found, theirs().rows, strict=True):
        assert (row["metric"], row["method"]) == (expected.metric, expected.method)
        assert float(row["low"]) == expected.low
        assert float(row["high"]) == expected.high


def test_two_classifiers_are_compared_by_their_auc():
    fixed = ("--target", "died", "--positive", "yes", "--seed", "4", "--resamples", "40", "--format", "json")
    result = invoke("compare-learners", "data.csv", *fixed, "--learners", "logistic,ridge", "--metric", "auc")
    (row,) = json.loads(result.stdout)["comparisons"]
    learners = {"a": LogisticRegression(), "b": RidgeClassifier()}
    expected = compare_learners(learners, X, Y, metric="auc", n_resamples=40, rng=4)
    assert (row["metric"], row["method"]) == ("auc", "auc-difference")
    assert (row["estimate"], row["low"], row["pvalue"]) == (
        expected.estimate,
        expected.row.low,
        expected.pvalue,
    )
