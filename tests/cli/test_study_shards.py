"""Shards on the command line: many processes, and the loop and the Slurm script of the documentation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_fakes import invoke
from click.testing import Result
from study_cases import dump

from cudbound.study.design.design_file import template_text

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "how_to" / "study_on_a_cluster.md"
QUICK = template_text("quick").replace("n_resamples = 200", "n_resamples = 20")
#: A shell finds the command beside the Python of the tests, and Slurm is not there.
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("SLURM")},
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with quick.toml in it, of fewer draws than the template."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quick.toml").write_text(QUICK)
    return tmp_path


def study(*arguments: str) -> Result:
    result = invoke("study", *arguments)
    assert result.exit_code == 0, result.stderr
    return result


def run(store: str, *more: str) -> Result:
    return study("run", "quick.toml", "--store", store, "--replicates", "5", *more)


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
    merged = study("merge", "3.sqlite", "1.sqlite", "--store", "all.sqlite")
    assert merged.stdout.startswith("quick: 6 of 10 replicates done, 0 failed\n")
    assert "No run is writing to the store." in merged.stdout
    missing = study("status", "all.sqlite", "--missing")
    assert missing.stdout == (
        "gaussians, n = 30: 2 missing: 1, 4\n"
        "noise, scaled, n = 30: 2 missing: 1, 4\n"
        "shards of 3 to run again: 2\n"
    )
    run("2.sqlite", "--shard", "2/3")
    assert study("merge", "2.sqlite", "--store", "all.sqlite").stdout.startswith(
        "quick: 10 of 10 replicates done"
    )
    missing = study("status", "all.sqlite", "--missing")
    assert (missing.stdout, missing.stderr) == ("", "cudbound: no replicate is missing\n")
    assert dump("all.sqlite") == dump("whole.sqlite")
    digests = {study("status", path, "--digest").stdout for path in ("all.sqlite", "whole.sqlite")}
    assert len(digests) == 1
    assert re.fullmatch(r"[0-9a-f]{64}\n", digests.pop())


def test_a_limit_ends_a_run_with_success_and_says_how_to_go_on(folder):
    result = run("a.sqlite", "--shard", "1/2", "--limit-minutes", "0")
    assert result.stdout.startswith("quick: 0 of 10 replicates done")
    assert result.stderr == (
        "cudbound: stopped by --limit-minutes with 6 replicates of shard 1/2 left; run the same command again to "
        "resume\n"
    )
    result = run("a.sqlite", "--limit-minutes", "0")
    assert "with 10 replicates left" in result.stderr
    result = run("a.sqlite", "--shard", "1/2", "--limit-minutes", "60")
    assert (result.stdout.splitlines()[0], result.stderr) == ("quick: 6 of 10 replicates done, 0 failed", "")


# --- processes


@pytest.fixture(scope="module")
def digest_of_quick(tmp_path_factory) -> str:
    """That of the whole template, run by one process."""
    place = tmp_path_factory.mktemp("whole")
    study("new", "quick", "--output", str(place / "quick.toml"))
    study("run", str(place / "quick.toml"), "--store", str(place / "s"))
    return study("status", str(place / "s"), "--digest").stdout.strip()


@pytest.mark.slow
def test_the_loop_of_the_documentation_runs_as_processes(tmp_path, monkeypatch, digest_of_quick):
    (loop,) = (
        block
        for block in re.findall(r"^```text\n(.*?)^```$", DOCUMENTATION.read_text(), re.MULTILINE | re.DOTALL)
        if "for shard in" in block
    )
    monkeypatch.chdir(tmp_path)
    ended = shell(f"set -eu\n{loop}")
    assert sorted(tmp_path.glob("part-*.sqlite")) == [
        tmp_path / f"part-{number}.sqlite" for number in (1, 2, 3)
    ]
    assert ended.stderr.endswith("cudbound: no replicate is missing\n")
    assert study("status", "all.sqlite", "--digest").stdout == f"{digest_of_quick}\n"
