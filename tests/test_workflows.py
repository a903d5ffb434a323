"""The workflows, the benchmarks and a clone of the repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

# ---- the workflows as far as they can be judged without running them ----


ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
#: Runners of GitHub; a job for another waits forever. macos-14 ended in November 2026, macos-15-intel will in 2027.
RUNNERS = {"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel", "windows-2022"}
TEXTS = {path.stem: path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml")}
WORKFLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
JOBS = [(f"{name}/{key}", job) for name, flow in WORKFLOWS.items() for key, job in flow["jobs"].items()]
STEPS = [(where, step) for where, job in JOBS for step in job.get("steps", [])]


def commands() -> list[tuple[str, str]]:
    return [(where, step["run"]) for where, step in STEPS if "run" in step]


def test_every_runner_exists():
    for where, job in JOBS:
        names = job.get("strategy", {}).get("matrix", {}).get("os", [job.get("runs-on")])
        assert "uses" in job or set(names) <= RUNNERS, where


def test_every_action_is_pinned_to_one_commit():
    pins = re.findall(r"uses: ([\w-]+/[\w-]+)@(\w+)( # v[\d.]+)?$", "\n".join(TEXTS.values()), re.MULTILINE)
    assert len(pins) == sum("uses" in step for _, step in STEPS)
    assert all(len(commit) == 40 and version for _, commit, version in pins)
    assert len({name for name, *_ in pins}) == len(set(pins))


def test_commands_name_what_exists():
    targets = re.findall(r"^([.\w/-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for where, command in commands():
        assert set(re.findall(r"\bmake ([.\w/-]+)", command)) <= {*targets}, where
        assert set(re.findall(r"--group (\S+)", command)) <= PROJECT["dependency-groups"].keys(), where
        for extras in re.findall(r"\.\[(.*?)\]", command):
            assert set(extras.split(",")) <= PROJECT["project"]["optional-dependencies"].keys(), where
    assert [
        path
        for path in re.findall(r"\btests/[\w/.]+", "\n".join(TEXTS.values()))
        if not (ROOT / path).exists()
    ] == []


# ---- the benchmark still runs ----


BENCHMARKS = ROOT / "docs" / "benchmarks"

SCRIPT = """
import sys
sys.path[:0] = [{benchmarks!r}, {tests!r}]
from pathlib import Path
import curves, directed, run, surrogates, tables
from measure import table
assert all(callable(case) for module in (directed, surrogates, tables) for case in module.CASES)
rows = tables.comparisons(quick=True)
points = [
    curves.Point(n, p, signal, 0.1, 0.01, 10, n < 100, "q 0.1")
    for signal in (3.0, 1.0, 0.0)
    for n, p in ((50, 5), (100, 5), (100, 2))
]
curves.draw(points, Path({picture!r}))
rows += curves.rows(points)
print(table(rows))
"""


@pytest.mark.slow
def test_the_benchmark_runs(tmp_path: Path):
    picture = tmp_path / "cost.svg"
    script = SCRIPT.format(
        benchmarks=str(BENCHMARKS), tests=str(ROOT / "tests" / "helpers"), picture=str(picture)
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert "comparisons together / one by one" in done.stdout
    assert "cost of q of 500 draws" in done.stdout
    assert picture.read_text(encoding="utf-8").rstrip().endswith("</svg>")


# ---- an archive without a history ----


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """What `make lint` and `make wheel` begin with, where there is neither a history nor git."""
    for script in ("house_rules.py", "wheel"):
        (tmp_path / ".ci").mkdir(exist_ok=True)
        (tmp_path / ".ci" / script).write_text((ROOT / ".ci" / script).read_text())
    (tmp_path / "pyproject.toml").touch()
    os.utime(tmp_path / "pyproject.toml", (0, 1234567890))
    return tmp_path


def run(*arguments: str, cwd: Path, path: str = os.defpath) -> str:
    environment = {"PATH": path, "GIT_CEILING_DIRECTORIES": str(cwd.parent)}
    done = subprocess.run(arguments, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", ["", os.defpath], ids=["no git", "no history"])
def test_style_is_checked_without_a_history(archive, path):
    said = run(sys.executable, ".ci/house_rules.py", cwd=archive, path=path)
    assert said.endswith("there is no commit HEAD~1 here, so no added words were read\n")


@pytest.mark.skipif(sys.platform != "linux", reason="wheels for Linux alone are built this way")
def test_a_wheel_without_a_history_has_the_time_of_its_files(archive):
    script = (archive / ".ci" / "wheel").read_text()
    beginning = script[: script.index("if ! test")] + "echo $SOURCE_DATE_EPOCH\n"
    (archive / ".ci" / "wheel").write_text(beginning)
    assert run("bash", ".ci/wheel", cwd=archive) == "1234567890\n"
