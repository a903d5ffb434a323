"""Runs that are killed, and disks that fill up: no process is left, no row is lost or changed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from killed_studies import slow_study, wait_until_empty, workers
from study_cases import dump, tiny_study
from within_limits import largest_file

from cudbound.basis.exceptions import StudyError
from cudbound.study.runner import run_study
from cudbound.study.store import Store

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched by /proc")

# ---- runs on two workers that are killed ----


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


# ---- a disk that fills up while a study runs ----


SIZE = 160 * 1024
STUDY = tiny_study(n_replicates=100)


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Let the files of a folder together, or each by itself, not grow beyond `SIZE`."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(folder)]
    if os.geteuid() == 0 and subprocess.run(mount, check=False, capture_output=True).returncode == 0:
        try:
            yield
        finally:
            subprocess.run(["umount", str(folder)], check=True)
        return
    with largest_file(SIZE):
        yield


@pytest.mark.slow
def test_a_study_that_fills_the_disk_keeps_whole_replicates_and_goes_on_elsewhere(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk):
        with pytest.raises(StudyError, match=r"store '.*s': it cannot be read or written \(d"):
            run_study(STUDY, disk / "s")
        assert os.listdir(disk) == ["s"]
        with Store.open(disk / "s") as store:
            status = store.status()
        assert 0 < status.n_done < status.n_total
        assert not status.running
        (tmp_path / "s").write_bytes((disk / "s").read_bytes())
    run_study(STUDY, tmp_path / "s")
    run_study(STUDY, tmp_path / "undisturbed")
    assert dump(tmp_path / "s") == dump(tmp_path / "undisturbed")
