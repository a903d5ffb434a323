"""A disk that fills up while a study runs: a real one where the tests may mount it, else a limit on files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from study_cases import dump, tiny_study
from within_limits import largest_file

from cudbound.basis.exceptions import StudyError
from cudbound.study.run.runner import run_study
from cudbound.study.run.store import Store

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
