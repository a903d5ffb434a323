"""``cudbound plan``: the numbers are those of Python, its options reach it, what is wrong is said in one line."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_fakes import assert_error, invoke
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cudbound import Metrics, plan_sample_size
from cudbound.study.populations.worlds import Gaussians

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
        "method": ("location-shifted", {"center": "632"}),
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
            *("--method", "location-shifted", "--option", "location-shifted.center=632"),
        ),
        plan_sample_size(
            ridge,
            X,
            DIED,
            metric=Metrics("specificity", event=True),
            **asked,
            **python,
        ),
    )


def test_a_world_is_planned_as_in_python():
    result = plan(
        *("--world", "gaussians", "--parameter", "distance=1.1", "--parameter", "n_features=2"),
        *("--method", "langford-binomial", "--format", "csv"),
    )
    same(
        result,
        plan_sample_size(
            LogisticRegression(),
            world=Gaussians(distance=1.1, n_features=2),
            method="langford-binomial",
            n_samples=(12, 24),
            n_replicates=10,
            n_resamples=20,
            rng=6,
        ),
    )


QUICK = ("--world", "gaussians", "--method", "langford-binomial")


def test_without_a_seed_one_is_chosen_that_repeats_the_plan():
    few = FEW[:-2]
    first = plan(*QUICK, "--format", "csv", few=few)
    assert first.exit_code == 0
    chosen = first.stderr.split("--seed ")[1].strip()
    again = plan(*QUICK, "--format", "csv", "--seed", chosen, few=few)
    assert again.stdout == first.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "Missing FILE.csv: give a pilot, FILE.csv with --target and --positive, or a simulated"),
        (("pilot.csv",), 2, "Missing --target: give a pilot"),
        (("--world", "gaussians", "--target", "died"), 2, "--target and --world cannot be combined"),
        (("pilot.csv", "--world", "gaussians"), 2, "FILE.csv and --world cannot be combined"),
        ((*PILOT, "--group", "ward"), 2, "--group and FILE.csv cannot be combined: a plan draws single rows"),
        (
            (*PILOT, "--parameter", "distance=1"),
            2,
            "--parameter and FILE.csv cannot be combined",
        ),
        (("--world", "gaussian"), 2, "'--world': there is no world 'gaussian'; did you mean gaussians?"),
        (
            ("--world", "gaussians", "--parameter", "far=1"),
            2,
            "'--parameter': world gaussians has no key 'far'",
        ),
        (
            ("--world", "gaussians", "--parameter", "distance=-1"),
            2,
            "'--parameter': The 'distance' parameter must be a number in",
        ),
        ((*QUICK, "--n-samples", "20:x"), 2, "'20:x' is not a list of whole numbers, such as 50,100,150."),
        ((*QUICK, "--n-samples", "3"), 2, "--n-samples must be an integer of at least 4"),
        ((*QUICK, "--half-width", "nan"), 2, "--half-width must be"),
        ((*QUICK, "--probability", "1"), 2, "--probability must be"),
        (
            ("--world", "gaussians", "--method", "paper"),
            2,
            "'paper' is a group of several methods; choose one",
        ),
        (("--world", "gaussians", "--method", "cud,aci"), 2, "Got 'cud,aci' instead"),
        (("--world", "gaussians", "--method", "mcnemar"), 2, "compares two classifiers"),
        ((*PILOT, "--output", "pilot.csv"), 1, "is an input file"),
    ],
    ids=str,
)
def test_what_is_refused(arguments, code, message):
    assert_error(invoke("plan", *arguments, *FEW[2:]), code, message)
