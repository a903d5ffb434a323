"""Studies on two workers that are killed: no row is lost or changed, and no process is left."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from killed_studies import slow_study
from study_cases import dump

from cudbound.study.run.runner import run_study

HELPERS = Path(__file__).parents[1] / "helpers"


def check_kills(folder: Path, *numbers: int) -> None:
    ended = subprocess.run(
        [sys.executable, HELPERS / "killed_studies.py", folder / "killed", *map(str, numbers)],
        env={**os.environ, "PYTHONPATH": str(HELPERS)},
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert ended.returncode == 0, ended.stderr
    *kills, n_replicates = ended.stdout.splitlines()
    names, counts, _ = zip(*map(str.split, kills), strict=True)
    assert Counter(names) == Counter(dict(zip(KINDS, numbers, strict=True)))
    assert list(map(int, counts)) == sorted(map(int, counts))
    study = slow_study(int(n_replicates))
    run_study(study, folder / "killed")
    run_study(study, folder / "undisturbed")
    assert dump(folder / "killed") == dump(folder / "undisturbed")
    assert sorted(os.listdir(folder)) == ["killed", "undisturbed"]


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched by /proc")
KINDS = ("kill", "termination", "worker")


@pytest.mark.slow
def test_a_run_that_is_killed_or_terminated_leaves_no_process_and_no_trace(tmp_path):
    check_kills(tmp_path, 1, 1, 0)


@pytest.mark.long
def test_ninety_kills_leave_no_process_and_no_trace(tmp_path):
    check_kills(tmp_path, 50, 20, 20)
