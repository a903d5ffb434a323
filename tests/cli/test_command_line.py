"""The command line with the computation replaced: options, seeds, formats, files, progress, the demo."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from pathlib import Path

import pytest
from cli_fakes import CLEAN, assert_error, interval, invoke

from cudbound.bound.cud_bound import Bound
from cudbound.cli import interval as command
from cudbound.cli import options
from cudbound.cli.demo import FEATURES
from cudbound.intervals import GROUPS
from cudbound.report.render import render_report
from cudbound.resampling import Resampling, ResamplingSizes

DEFAULTS = {
    "methods": ["recommended"],
    "metric": "error",
    "alternative": "two-sided",
    "confidence_level": 0.95,
    "n_resamples": 1000,
    "bound": Bound(),
    "resampling": Resampling(),
    "groups": None,
    "sample_weight": None,
    "n_jobs": 1,
}


def test_defaults(fake, patients):
    result = interval("--seed", "7")
    assert result.exit_code == 0, result.stderr
    (sample, settings), *more = fake.calls
    assert more == []
    assert settings == DEFAULTS | {"rng": 7}
    assert sample.feature_names == ("age", "sex=m", "bmi")
    assert sample.y.tolist() == [1, 0, 1, 0, 0]
    assert (sample.source, sample.event) == ("patients.csv", "died = yes")
    assert result.stderr == ""


def test_every_option_reaches_the_computation(fake, patients):
    result = interval(
        *["--confidence-level", "0.9", "--resamples", "50", "--seed", "1", "--localization", "2.5"],
        *["--methods", "cud, martin-beta", "--exclude", "bmi", "--jobs", "-1", "--node-limit", "3"],
        *["--inner", "oob", "--polish", "--solver", "cvxpy", "--alternative", "less"],
        *["--total-node-limit", "none", "--time-limit", "7.5", "--folds", "3"],
        *["--option", "martin-beta.prior=jeffreys", "--size", "n_folds=5", "--size", "test_fraction=0.2"],
    )
    assert result.exit_code == 0, result.stderr
    sample, settings = fake.calls[0]
    assert sample.feature_names == ("age", "sex=m")
    assert settings == {
        "rng": 1,
        "methods": [
            *("cud", "martin-beta"),
            ("martin-beta", {"prior": "jeffreys"}),
        ],
        "metric": "error",
        "alternative": "less",
        "confidence_level": 0.9,
        "n_resamples": 50,
        "bound": Bound(
            localization=2.5,
            polish=True,
            solver="cvxpy",
            nodes=math.inf,
            seconds=7.5,
            nodes_per_draw=3,
        ),
        "resampling": Resampling(inner="oob", cv=3, n_folds=5, test_fraction=0.2),
        "groups": None,
        "sample_weight": None,
        "n_jobs": -1,
    }


def test_the_default_is_the_group_with_the_interval_to_use(fake, patients):
    assert interval().exit_code == 0
    assert fake.calls[0][1]["methods"] == ["recommended"]
    assert GROUPS["recommended"] == ("two-center", "cud", "langford-binomial", "out-of-bag-percentile")


def test_the_help_names_every_group_and_size_and_where_the_methods_are_listed():
    told = " ".join(invoke("interval", "--help").stdout.split())
    assert all(name in told for name in GROUPS)
    assert all(field.name in told for field in dataclasses.fields(ResamplingSizes))
    assert "'cudbound methods' lists the names" in told


@pytest.mark.parametrize(("delimiter", "option"), [(";", ";"), ("\t", "tab"), ("\t", r"\t"), ("|", "|")])
def test_delimiter(fake, patients, delimiter, option):
    patients.write_text(CLEAN.replace(",", delimiter))
    assert interval("--delimiter", option).exit_code == 0
    assert fake.calls[0][0].X.shape == (5, 3)


def test_a_seed_is_chosen_and_printed_and_repeats_the_run(fake, patients):
    first = interval()
    seed = fake.calls[0][1]["rng"]
    assert first.stderr == f"cudbound: seed {seed} was chosen; repeat this run with --seed {seed}\n"
    assert f"seed {seed}." in first.stdout
    again = interval("--seed", str(seed))
    assert again.stdout == first.stdout
    assert fake.calls[1][1] == fake.calls[0][1]


@pytest.mark.parametrize("form", ["table", "markdown", "latex", "csv", "json"])
def test_every_format_on_stdout_and_in_a_file(fake, patients, form):
    printed = interval("--seed", "7", "--format", form)
    assert printed.exit_code == 0
    assert printed.stdout == render_report(fake.tables[0].report(), form) + "\n"
    written = interval("--seed", "7", "--format", form, "--output", "out.txt")
    assert written.stdout == ""
    assert written.stderr == "cudbound: wrote out.txt\n"
    assert Path("out.txt").read_text(encoding="utf-8") == printed.stdout


def test_the_solvers_of_the_option_are_those_of_the_package():
    from cudbound.solve.limits import SOLVERS

    assert SOLVERS == options.SOLVERS


def test_the_alternatives_of_the_option_are_those_of_the_package():
    from cudbound.intervals.method import ALTERNATIVES

    assert ALTERNATIVES == command.ALTERNATIVES


def test_json_tells_the_run(fake, patients):
    document = json.loads(interval("--seed", "7", "--format", "json").stdout)
    assert document["run"] == {
        "cautions": [],
        "source": "patients.csv",
        "n_samples": 5,
        "n_events": 2,
        "n_non_events": 3,
        "event": "died = yes",
        "features": ["age", "sex=m", "bmi"],
        "preparation": [],
        "weighted_share": None,
        "class_sizes": {},
        "n_resamples": 1000,
        "localization": "n",
        "seed": 7,
        "classifier": "logistic regression with a ridge penalty (C = 1); features not standardized",
        "choices": None,
        "procedure": [],
        "base_rate": 0.4,
    }


def test_output_replaces_a_file_and_keeps_its_permissions(fake, patients):
    Path("out.txt").write_text("old")
    Path("out.txt").chmod(0o640)
    assert interval("--output", "out.txt").exit_code == 0
    assert Path("out.txt").read_text().startswith("The ")
    assert Path("out.txt").stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir()) == ["out.txt", "patients.csv"]


def test_a_dash_is_stdout(fake, patients):
    assert interval("--seed", "1", "--output", "-").stdout == interval("--seed", "1").stdout
    assert sorted(os.listdir()) == ["patients.csv"]


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(fake, patients, monkeypatch):
    Path("out.txt").write_text("old")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert_error(interval("--seed", "1", "--output", "out.txt"), 1, "No space left on device")
    assert Path("out.txt").read_text() == "old"
    assert sorted(os.listdir()) == ["out.txt", "patients.csv"]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nowhere/out.txt", "--output: no such folder"),
        (".", "is a folder; choose a file in it"),
        ("patients.csv", "is an input file; choose another name"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(fake, patients, place, message):
    assert_error(interval("--output", place), 1, message)
    assert fake.calls == []
    assert patients.read_text() == CLEAN


def test_nothing_is_written_if_the_computation_fails(fake, patients):
    fake.error = ValueError("no good")
    assert_error(interval("--seed", "1", "--output", "out.txt"), 1, "no good")
    assert not Path("out.txt").exists()


def test_demo_prints_data_table_and_meaning(fake):
    result = invoke("demo")
    assert result.exit_code == 0, result.stderr
    assert "50 rows drawn at random (seed 1) from the 569" in result.stdout
    assert all(name in result.stdout.replace("\n", " ") for name in FEATURES)
    assert render_report(fake.tables[0].report(), "table") in result.stdout
    assert "What the numbers mean:" in result.stdout
    told = result.stdout.replace("\n", " ")
    assert (
        "in the row two-center, is 0.125 to 0.375: a 95% confidence interval for its error on new cases"
        in told
    )
    assert "What they do not mean:" in result.stdout
