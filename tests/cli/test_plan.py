"""``cudbound plan``: the numbers are those of Python, its options reach it, what is wrong is said in one line."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_fakes import invoke
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import Metrics, plan_sample_size

RNG = np.random.default_rng(4)
X = RNG.normal(size=(30, 2)) * [1.0, 30.0]
DIED = X[:, 0] + RNG.normal(size=30) > 0.5
FEW = ("--n-samples", "12,24", "--replicates", "10", "--resamples", "20", "--seed", "6")
PILOT = ("pilot.csv", "--target", "died", "--positive", "yes", "--exclude", "ward")


@pytest.fixture(autouse=True)
def pilot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pilot as a file in the current folder."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=["age", "bmi"]).assign(
        ward=np.arange(30) // 3, died=np.where(DIED, "yes", "no")
    )
    frame.to_csv("pilot.csv", index=False)
    return tmp_path / "pilot.csv"


def plan(*arguments: str, few: tuple[str, ...] = FEW):
    return invoke("plan", *arguments, *few)


def same(result, expected) -> None:
    assert result.exit_code == 0, result.stderr
    found = pd.read_csv(io.StringIO(result.stdout))
    pd.testing.assert_frame_equal(found, pd.read_csv(io.StringIO(expected.to_csv())), check_exact=True)


def test_a_pilot_is_planned_as_in_python():
    python = {"n_samples": (12, 24), "n_replicates": 10, "n_resamples": 20, "rng": 6}
    same(plan(*PILOT, "--format", "csv"), plan_sample_size(LogisticRegression(), X, DIED, **python))
    ridge = make_pipeline(StandardScaler(), RidgeClassifier(alpha=2.0, random_state=6))
    asked = {
        "half_width": 0.2,
        "probability": 0.7,
        "confidence_level": 0.9,
        "method": "location-shifted",
    }
    same(
        plan(
            *(
                *PILOT,
                "--classifier",
                "ridge",
                "--set",
                "alpha=2.0",
                "--standardize",
                "--metric",
                "specificity",
            ),
            *("--half-width", "0.2", "--probability", "0.7", "--confidence-level", "0.9", "--format", "csv"),
            *("--method", "location-shifted"),
        ),
        plan_sample_size(ridge, X, DIED, metric=Metrics("specificity", event=True), **asked, **python),
    )


QUICK = (*PILOT, "--method", "langford-binomial")


def test_without_a_seed_one_is_chosen_that_repeats_the_plan():
    few = FEW[:-2]
    first = plan(*QUICK, "--format", "csv", few=few)
    assert first.exit_code == 0
    chosen = first.stderr.split("--seed ")[1].strip()
    again = plan(*QUICK, "--format", "csv", "--seed", chosen, few=few)
    assert again.stdout == first.stdout
