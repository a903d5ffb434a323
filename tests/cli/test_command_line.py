"""The command line with the computation replaced: options, seeds, formats, files, exit codes, errors."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_fakes import CLEAN, assert_error, interval, invoke

from cudbound import Metrics
from cudbound.bound.cud_bound import Bound
from cudbound.cli.command import worded
from cudbound.intervals import find_methods
from cudbound.problem.draws import Draws, SolveStatus
from cudbound.report.render import render_report
from cudbound.resampling import Resampling
from cudbound.solve.search import search_ended

pytestmark = pytest.mark.usefixtures("patients")

# ---- the command line with the computation replaced ----


DEFAULTS = {
    "methods": replace(find_methods(["recommended"]), settings=Bound()),
    "metric": Metrics(("error",), event=1),
    "alternative": "two-sided",
    "confidence_level": 0.95,
    "n_resamples": 1000,
    "resampling": Resampling(),
    "sample_weight": None,
    "new_cases": None,
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
        *["--confidence-level", "0.9", "--resamples", "50", "--seed", "1", "--bound", "localization=2.5"],
        *["--methods", "cud, martin-beta", "--exclude", "bmi", "--jobs", "-1", "--bound", "nodes_per_draw=3"],
        *[
            "--resampling",
            "inner=oob",
            "--bound",
            "polish=true",
            "--bound",
            "solver=cvxpy",
            "--alternative",
            "less",
        ],
        *["--bound", "nodes=inf", "--bound", "seconds=7.5", "--resampling", "cv=3"],
        *[
            "--resampling",
            "n_folds=5",
            "--resampling",
            "test_fraction=0.2",
        ],
    )
    assert result.exit_code == 0, result.stderr
    sample, settings = fake.calls[0]
    assert sample.feature_names == ("age", "sex=m")
    assert settings == {
        "rng": 1,
        "methods": replace(
            find_methods(["cud", "martin-beta"]),
            settings=Bound(
                localization=2.5, polish=True, solver="cvxpy", nodes=math.inf, seconds=7.5, nodes_per_draw=3
            ),
        ),
        "metric": Metrics(("error",), event=1),
        "alternative": "less",
        "confidence_level": 0.9,
        "n_resamples": 50,
        "resampling": Resampling(inner="oob", cv=3, n_folds=5, test_fraction=0.2),
        "sample_weight": None,
        "new_cases": None,
        "n_jobs": -1,
    }


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


def test_output_replaces_a_file_and_keeps_its_permissions(fake, patients):
    Path("out.txt").write_text("old")
    Path("out.txt").chmod(0o640)
    assert interval("--output", "out.txt").exit_code == 0
    assert Path("out.txt").read_text().startswith("The ")
    assert Path("out.txt").stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir()) == ["out.txt", "patients.csv"]


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
        ("nowhere/out.txt", "no such folder"),
        (".", "is a directory"),
        ("patients.csv", "is an input file; choose another name"),
        ("-", "cannot be named '-'; choose another name, or print the table by leaving out --output"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(fake, patients, place, message):
    assert_error(interval("--output", place), 1 if place[1:] else 2, message)
    assert fake.calls == []
    assert patients.read_text() == CLEAN


def test_nothing_is_written_if_the_computation_fails(fake, patients):
    fake.error = ValueError("no good")
    assert_error(interval("--seed", "1", "--output", "out.txt"), 1, "no good")
    assert not Path("out.txt").exists()


# ---- exit codes ----


def test_not_certified_is_printed_and_exits_3(fake, patients):
    fake.certified = False
    fake.warnings = ("2 of 1000 draws were stopped", "another")
    result = interval("--seed", "1")
    assert result.exit_code == 3
    assert "conditional" in result.stdout
    assert result.stderr == ("cudbound: warning: 2 of 1000 draws were stopped\ncudbound: warning: another\n")


def test_warnings_alone_are_no_failure(fake, patients):
    fake.warnings = ("zero width",)
    result = interval("--seed", "1")
    assert result.exit_code == 0
    assert result.stderr == "cudbound: warning: zero width\n"


def test_interrupt_exits_130(fake, patients):
    fake.error = KeyboardInterrupt()
    result = interval("--seed", "1", "--output", "out.txt")
    assert result.exit_code == 130
    assert result.stdout == ""
    assert result.stderr.strip() == "cudbound: interrupted"
    assert not Path("out.txt").exists()


def test_too_little_memory_is_said_in_one_line(fake, patients):
    fake.error = MemoryError()
    assert_error(interval("--seed", "1"), 1, "not enough memory; use fewer resamples or splits")


def test_a_bug_is_not_disguised_as_bad_data(fake, patients):
    fake.error = ZeroDivisionError("bug")
    assert isinstance(interval("--seed", "1").exception, ZeroDivisionError)


# ---- what is written of a result on the command line ----


#: What a file of each form has and no other.
HAS = {
    "a.tex": r"\begin{table}",
    "a.csv": '"method",',
    "a.html": "<!DOCTYPE html>",
    "a.HTML": "<!DOCTYPE html>",
    "a.md": "\n| method ",
    "a.json": "{",
    "a.txt": "\nmethod  ",
    "a": "\nmethod  ",
}


@pytest.mark.parametrize("name", HAS)
def test_the_extension_decides_the_form(fake, name):
    result = interval("--seed", "1", "--output", name)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"cudbound: wrote {name}\n")
    assert HAS[name] in Path(name).read_bytes().decode("latin-1")


def test_a_picture_beside_the_table(fake):
    for name, start in {"a.svg": b"<?xml", "a.pdf": b"%PDF", "a.png": b"\x89PNG", "b.svg": b"<?xml"}.items():
        result = interval("--seed", "1", "--plot", name)
        assert result.exit_code == 0, result.stderr
        assert "\nmethod  " in result.stdout
        assert Path(name).read_bytes().startswith(start)
    assert Path("b.svg").read_text() == Path("a.svg").read_text()  # neither a date nor a random name


def test_instability_is_drawn_and_told_below_the_table(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a:.2f},{'yes' if a + b > 0 else 'no'}" for a, b in rng.normal(size=(30, 2))]
    patients, picture = tmp_path / "few.csv", tmp_path / "risks.svg"
    patients.write_text("\n".join(["age,died", *lines]))
    few = (
        "interval",
        str(patients),
        *["--target", "died", "--positive", "yes", "--resamples", "20", "--seed", "0"],
    )
    parsed = json.loads(invoke(*few, "--instability", str(picture), "--format", "json").stdout)
    assert parsed["instability"]["mape"] > 0.0
    assert any("not a confidence interval for the risk of a patient" in note for note in parsed["notes"])
    assert picture.read_text().startswith("<?xml")
    refused = invoke(*few, "--methods", "bayle-cv", "--instability", str(picture))
    assert_error(refused, 2, "--instability needs two classes and a method that refits on bootstrap draws")


FEW = ("--methods", "langford-binomial", "--resamples", "20")


@pytest.mark.parametrize("ids", [False, True])
def test_a_warning_says_once_that_rows_were_copied(tmp_path, ids):
    """Where the file says it, with the line; of rows that differ in a column without use, where the rows are known."""
    rng = np.random.default_rng(0)
    patients = pd.DataFrame(rng.normal(size=(40, 2)), columns=["age", "bmi"])
    patients["died"] = np.where(patients["age"] > rng.normal(size=40), "yes", "no")
    patients = pd.concat([patients, patients[:4]], ignore_index=True)
    patients.assign(visit=rng.normal(size=44) if ids else 1.0).to_csv(tmp_path / "data.csv", index=False)
    roles = ("--target", "died", "--positive", "yes", "--exclude", "visit", "--seed", "1", "--format", "csv")
    done = invoke("interval", str(tmp_path / "data.csv"), *roles, *FEW)
    (line,) = [line for line in done.stderr.splitlines() if "4 of 44 rows" in line]
    assert ("equal an earlier row in every feature" if ids else "exact copies of an earlier row") in line


def test_the_default_limit_of_the_search_names_its_option():
    left = Draws(np.zeros(1), np.ones(1), np.array([SolveStatus.NODE_LIMIT]), np.array([9]), np.zeros((1, 2)))
    event = search_ended(left, 0.1, 0.2)
    assert "1 of 1 draws unsolved: to complete it, increase" in worded(event)
    assert "--bound nodes=inf" in worded(event)


def test_ctrl_c_while_a_module_is_loaded_is_an_interruption(monkeypatch):
    def stopped(*_, **__):
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr("cudbound.cli.demo.fit", stopped)
    result = invoke("demo")
    assert (result.exit_code, result.stderr) == (130, "cudbound: interrupted\n")
