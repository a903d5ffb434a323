"""The workflows as far as they can be judged without running them: what each line names exists, and the right order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
#: Runners of GitHub; a job for another waits forever. macos-14 ended in November 2026, macos-15-intel will in 2027.
RUNNERS = {"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "macos-15-intel", "windows-2022"}
TEXTS = {path.stem: path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml")}
WORKFLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
JOBS = [(f"{name}/{key}", job) for name, flow in WORKFLOWS.items() for key, job in flow["jobs"].items()]
STEPS = [(where, step) for where, job in JOBS for step in job.get("steps", [])]
RELEASE = WORKFLOWS["release"]["jobs"]


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


def test_what_is_released_was_tested_and_has_the_version_of_its_tag():
    called = {key: Path(job["uses"]).stem for key, job in RELEASE.items() if "uses" in job}
    assert called == {"tests": "tests", "build": "wheels"}
    for workflow in called.values():
        assert "workflow_call" in WORKFLOWS[workflow][True]  # YAML reads the key "on" as true
    assert set(RELEASE["publish"]["needs"]) == {*called}
    assert all(RELEASE[key]["needs"] == "version" for key in called)


@pytest.mark.parametrize(("tag", "code"), [("v{}", 0), ("{}", 1), ("v{}rc1", 1)])
def test_a_tag_is_that_of_the_version(tag, code):
    (compare,) = (step["run"] for step in RELEASE["version"]["steps"] if "run" in step)
    name = tag.format(PROJECT["project"]["version"])
    done = subprocess.run(
        ["bash", "-e", "-c", compare],
        cwd=ROOT,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GITHUB_REF_NAME": name,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert code == 0 or f"The tag is {name}, but pyproject.toml has the version" in done.stderr


def artifacts(key: str, job: dict[str, Any]) -> list[str]:
    """The names of what a job uploads, one for each runner, or the patterns of what it downloads."""
    chosen = [step["with"] for step in job["steps"] if f"actions/{key}-artifact@" in step.get("uses", "")]
    runners = job.get("strategy", {}).get("matrix", {}).get("os", [""])
    names = [values.get("name", values.get("pattern", "*")) for values in chosen]
    return [name.replace("${{ matrix.os }}", runner) for name in names for runner in runners]


def test_wheels_and_sources_are_published_and_the_list_of_packages_is_kept():
    made = [name for job in WORKFLOWS["wheels"]["jobs"].values() for name in artifacts("upload", job)]
    assert len(made) == len(set(made)) == 7
    (pattern,) = artifacts("download", RELEASE["publish"])
    assert [name for name in made if not fnmatch(name, pattern)] == ["sbom"]
    assert artifacts("download", RELEASE["page"]) == ["*"]
