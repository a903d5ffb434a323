"""What the command says first: the interval to quote, the majority class, and what is too good to be true."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_fakes import invoke
from click.testing import Result
from sklearn.linear_model import LogisticRegression
from unwrapped import unwrapped

from cudbound import performance_interval

N = 40
RNG = np.random.default_rng(6)
Y = np.arange(N) % 2
X = RNG.normal(size=(N, 2)) + Y[:, None]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=["age", "bmi"]).assign(died=np.where(Y == 1, "yes", "no"))
    frame.to_csv("data.csv", index=False)
    frame.assign(age=frame["age"] + 20.0 * Y).to_csv("apart.csv", index=False)


def run(command: str, *arguments: str, file: str = "data.csv") -> Result:
    return invoke(command, file, "--target", "died", "--positive", "yes", "--seed", "4", *arguments)


def test_recommend_prints_the_sentences_alone():
    result = run("interval", "--recommend", "--resamples", "20")
    fitted = LogisticRegression().fit(X, Y)
    theirs = performance_interval(fitted, X, Y, n_resamples=20, rng=4)
    assert result.stdout == f"{theirs.sentence} {theirs.basis[0]}\n"
    assert "would be wrong for 50.0% of the training rows" in result.stdout
    whole = run("interval", "--resamples", "20").stdout
    assert unwrapped(whole).startswith(result.stdout.replace(". Always", ".\nAlways"))


def test_recommend_gives_programs_the_row():
    document = json.loads(run("interval", "--recommend", "--resamples", "20", "--format", "json").stdout)
    assert [row["method"] for row in document["intervals"]] == ["two-center"]
    assert document["headline"][0].startswith("The error of this classifier on new cases is estimated at")
    assert document["run"]["base_rate"] == 0.5
