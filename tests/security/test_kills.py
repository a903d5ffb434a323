"""Runs on two workers that are killed: no process is left, and of a study no row is lost or changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from killed_studies import slow_study, wait_until_empty, workers
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


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_an_interval_that_is_terminated_while_its_workers_start_leaves_no_process(tmp_path, seconds):
    """They learn of the end of a parent that they have never seen."""
    rows = np.random.default_rng(0).normal(size=(100, 3))
    labels = np.where(rows[:, 0] > 0.5, "ill", "well")
    pd.DataFrame(rows, columns=list("abc")).assign(y=labels).to_csv(tmp_path / "rows.csv", index=False)
    options = [
        "--target",
        "y",
        "--positive",
        "ill",
        "--classifier",
        "svm",
        "--resamples",
        "20000",
        "--jobs",
        "2",
    ]
    command = [sys.executable, "-m", "cudbound", "interval", str(tmp_path / "rows.csv"), *options]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True) as run:
        while len(workers(run.pid)) < 2:
            assert run.poll() is None, run.stderr.read()
            time.sleep(0.005)
        time.sleep(seconds)
        run.terminate()
        assert run.wait() == -signal.SIGTERM
        wait_until_empty(run.pid)
