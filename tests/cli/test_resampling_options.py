"""``cudbound interval`` with every method, option and size of the package, and with folds of one's own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli_fakes import invoke
from click.testing import Result
from sklearn.model_selection import GroupKFold

from cudbound import LeastSquaresClassifier, Resampling, compare_intervals
from cudbound.intervals import GROUPS, METHODS
from cudbound.resampling import ResamplingSizes

N = 30
RNG = np.random.default_rng(2)
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(np.int64)
PATIENT = np.arange(N) // 3
OF_FOLDS = ["resampled-t", "corrected-resampled-t", "k-fold-t", "grandvalet-bengio-t", "bayle-cv"]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample as a file in the current folder; the same group is written in two ways."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=["age", "bmi"]).assign(died=np.where(Y == 1, "yes", "no"))
    frame["patient"] = [f"{group}.0" if row % 2 else str(group) for row, group in enumerate(PATIENT)]
    frame.to_csv("data.csv", index=False)
    return tmp_path / "data.csv"


def run(*arguments: str, exclude: str = "patient") -> Result:
    fixed = [
        "interval",
        "data.csv",
        "--target",
        "died",
        "--positive",
        "yes",
        "--seed",
        "4",
        "--resamples",
        "20",
        "--classifier",
        "least-squares",
    ]
    return invoke(*fixed, *(["--exclude", exclude] if exclude else []), *arguments)


def printed(*arguments: str, exclude: str = "patient") -> pd.DataFrame:
    result = run("--format", "csv", *arguments, exclude=exclude)
    assert result.exit_code == 0, result.stderr
    return pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)


def expected(**arguments: Any) -> pd.DataFrame:
    fitted = LeastSquaresClassifier().fit(X, Y)
    frame = compare_intervals(fitted, X, Y, n_resamples=20, rng=4, **arguments).to_frame()
    return pd.read_csv(io.StringIO(frame.to_csv(index=False)), keep_default_na=False)


@pytest.mark.parametrize("group", [name for name in GROUPS if name != "tuned"])  # which is for Python
def test_each_group_has_the_rows_of_the_package(group):
    metric, kind = ("auc", "scores") if group == "probability" else ("error", "classes")
    rows = printed("--methods", group, "--metric", metric, "--inner", "oob", "--size", "n_nested_repeats=2")
    sizes = ResamplingSizes(n_nested_repeats=2)
    theirs = expected(methods=group, metric=metric, resampling=Resampling.with_sizes(sizes, inner="oob"))
    pd.testing.assert_frame_equal(rows, theirs)
    assert rows["method"].tolist() == [name for name in GROUPS[group] if METHODS[name].reading(kind)]


def test_options_and_sizes_reach_the_package():
    rows = printed(
        *["--methods", "kohavi-normal,yang-cv-normal,5x2cv-t,grandvalet-bengio-t,resampled-t"],
        *["--option", "kohavi-normal.form=wilson", "--option", "yang-cv-normal.center=632"],
        *["--option", "5x2cv-t.repair=none", "--option", "grandvalet-bengio-t.rho=0.25"],
        *["--size", "n_folds=5", "--size", "test_fraction=0.2"],
    )
    theirs = expected(
        methods=[
            ("kohavi-normal", {"form": "wilson"}),
            ("yang-cv-normal", {"center": "632"}),  # a word, not a number
            ("5x2cv-t", {"repair": "none"}),  # a word, not None
            ("grandvalet-bengio-t", {"rho": 0.25}),
            "resampled-t",
        ],
        resampling=Resampling(n_folds=5, test_fraction=0.2),
    )
    pd.testing.assert_frame_equal(rows, theirs)


@pytest.mark.parametrize(("asked", "folds"), [([], 10), (["--folds", "4"], 4)])
def test_groups_are_kept_together(asked, folds):
    rows = printed("--methods", ",".join(OF_FOLDS), "--group", "patient", *asked, exclude="")
    pd.testing.assert_frame_equal(
        rows, expected(methods=OF_FOLDS, resampling=Resampling(cv=GroupKFold(folds)), groups=PATIENT)
    )


def test_bootstrap_draws_take_whole_groups():
    asked = ["two-center", "cud", "langford-binomial"]
    rows = printed("--group", "patient", exclude="")
    pd.testing.assert_frame_equal(rows, expected(methods=asked, groups=PATIENT))
    assert rows["remarks"].str.contains("10 groups of").all()
