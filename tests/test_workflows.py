"""The workflows as far as they can be judged without running them: what each line names exists, and the right order."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

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
