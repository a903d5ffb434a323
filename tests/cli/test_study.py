"""The commands `cudbound study`, from a template to a report, and the shards of the documentation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_fakes import assert_error, invoke
from click.testing import Result
from study_cases import dump

from cudbound.study import runner
from cudbound.study.design_file import read_design, template_names, template_text
from cudbound.study.replicate import run_replicate
from cudbound.study.store import Store

# ---- the commands `cudbound study` ----


QUICK = template_text("quick").replace("n_resamples = 200", "n_resamples = 20")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with quick.toml in it, of fewer draws than the template."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUDBOUND_DATA", raising=False)
    (tmp_path / "quick.toml").write_text(QUICK)
    return tmp_path


def study(*arguments: str) -> Result:
    return invoke("study", *arguments)


def run_quick(*more: str) -> Result:
    return study("run", "quick.toml", "--store", "quick.sqlite", "--replicates", "3", *more)


# --- new


@pytest.mark.parametrize("name", template_names())
def test_new_writes_a_template(folder, name):
    result = study("new", name, "--output", "mine.toml")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == "cudbound: wrote mine.toml\n"
    assert (folder / "mine.toml").read_text() == template_text(name)


# --- run, status, replay


def test_from_a_design_to_its_rows(folder):
    """What the command stores is what the same replicates give in Python."""
    result = run_quick()
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("quick: 6 of 6 replicates done, 0 failed\n")
    assert "No run is writing to the store." in result.stdout
    assert ["noise,", "scaled", "30", "3", "3", "0"] in [line.split() for line in result.stdout.splitlines()]
    planned = read_design("quick.toml", n_replicates=3)
    with Store.open("quick.sqlite") as store:
        frame = store.frames()[1]
    expected = [
        (key.scenario, key.replicate, one.method, one.low, one.high)
        for scenario in planned.scenarios
        for replicate in range(3)
        for row in [run_replicate(planned, scenario, 30, replicate)]
        for key, one in [(row.key, interval) for interval in row.intervals]
    ]
    found = frame[["scenario", "replicate", "method", "low", "high"]].itertuples(index=False, name=None)
    assert sorted(found) == sorted(expected)
    assert len(expected) == 2 * 3 * 4


def test_a_run_goes_on_and_status_says_how_far_it_is(folder):
    run_quick()
    before = study("status", "quick.sqlite").stdout
    assert before.startswith("quick: 6 of 6 replicates done")
    again = run_quick("--replicates", "4", "--jobs", "2")
    assert again.exit_code == 0, again.stderr
    assert study("status", "quick.sqlite").stdout.startswith("quick: 8 of 8 replicates done, 0 failed\n")


def test_a_failed_replicate_is_counted(folder):
    """A penalty of 0 has no minimizer where a sample is separable: that replicate is a row with its reason."""
    (folder / "apart.toml").write_text(
        "n_samples = 10\nn_replicates = 1\nn_resamples = 5\nmethods = ['cud']\n"
        '[[scenario]]\nworld = "near-separable"\ndistance = 90.0\nclassifier = "logistic"\nset = {C = inf}\n'
    )
    result = study("run", "apart.toml", "--store", "apart.sqlite")
    assert result.exit_code == 0, result.stderr
    assert "1 of 1 replicates done, 1 failed" in result.stdout


def test_options_reach_the_runner(folder, monkeypatch):
    calls = []

    def fake(planned, store, **named):
        calls.append((planned.n_replicates, store, named))
        raise ValueError("enough seen")

    monkeypatch.setattr(runner, "run_study", fake)
    options = ("--jobs", "2", "--dask", "tcp://a:1", "--shard", "3/8", "--limit-minutes", "1.5")
    assert_error(run_quick(*options), 1, "enough seen")
    asked = {"n_jobs": 2, "dask": "tcp://a:1", "shard": (3, 8), "limit_minutes": 1.5}
    assert calls == [(3, Path("quick.sqlite"), asked)]


# --- report


@pytest.mark.parametrize("form", ["html", "csv"])
def test_a_report_is_written(folder, form):
    run_quick()
    result = study("report", "quick.sqlite", "--output", f"quick.{form}")
    assert result.exit_code == 0, result.stderr
    text = (folder / f"quick.{form}").read_text()
    assert "langford-binomial" in text
    assert "noise, scaled" in text


# ---- shards on the command line ----


DOCUMENTATION = Path(__file__).parents[2] / "docs" / "how_to" / "run_a_study.md"
#: A shell finds the command beside the Python of the tests, and Slurm is not there.
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("SLURM")},
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


def passing_study(*arguments: str) -> Result:
    result = invoke("study", *arguments)
    assert result.exit_code == 0, result.stderr
    return result


def run(store: str, *more: str) -> Result:
    return passing_study("run", "quick.toml", "--store", store, "--replicates", "5", *more)


def shell(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        ["bash", "-c", script],
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended


# --- run, merge, status


def test_shards_are_run_merged_and_missed(folder):
    run("whole.sqlite")
    run("1.sqlite", "--shard", "1/3")
    run("3.sqlite", "--shard", "3/3")
    merged = passing_study("merge", "3.sqlite", "1.sqlite", "--store", "all.sqlite")
    assert merged.stdout.startswith("quick: 6 of 10 replicates done, 0 failed\n")
    assert "No run is writing to the store." in merged.stdout
    missing = passing_study("status", "all.sqlite", "--missing")
    assert missing.stdout == (
        "gaussians, n = 30: 2 missing: 1, 4\n"
        "noise, scaled, n = 30: 2 missing: 1, 4\n"
        "shards of 3 to run again: 2\n"
    )
    run("2.sqlite", "--shard", "2/3")
    assert passing_study("merge", "2.sqlite", "--store", "all.sqlite").stdout.startswith(
        "quick: 10 of 10 replicates done"
    )
    missing = passing_study("status", "all.sqlite", "--missing")
    assert (missing.stdout, missing.stderr) == ("", "cudbound: no replicate is missing\n")
    assert dump("all.sqlite") == dump("whole.sqlite")


def test_a_limit_ends_a_run_with_success_and_the_same_command_goes_on(folder):
    result = run("a.sqlite", "--shard", "1/2", "--limit-minutes", "0")
    assert result.stdout.startswith("quick: 0 of 10 replicates done")
    result = run("a.sqlite", "--shard", "1/2", "--limit-minutes", "60")
    assert (result.stdout.splitlines()[0], result.stderr) == ("quick: 6 of 10 replicates done, 0 failed", "")


# --- processes


@pytest.fixture(scope="module")
def rows_of_quick(tmp_path_factory) -> list[tuple[object, ...]]:
    """Those of the whole template, run by one process."""
    place = tmp_path_factory.mktemp("whole")
    passing_study("new", "quick", "--output", str(place / "quick.toml"))
    passing_study("run", str(place / "quick.toml"), "--store", str(place / "s"))
    return dump(place / "s")


@pytest.mark.slow
def test_the_loop_of_the_documentation_runs_as_processes(tmp_path, monkeypatch, rows_of_quick):
    (loop,) = (
        block
        for block in re.findall(r"^```text\n(.*?)^```$", DOCUMENTATION.read_text(), re.MULTILINE | re.DOTALL)
        if "for shard in" in block
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CUDBOUND_DATA", raising=False)
    ended = shell(f"set -eu\n{loop}")
    assert sorted(tmp_path.glob("part-*.sqlite")) == [
        tmp_path / f"part-{number}.sqlite" for number in (1, 2, 3)
    ]
    assert ended.stderr.endswith("cudbound: no replicate is missing\n")
    assert dump(tmp_path / "all.sqlite") == rows_of_quick
