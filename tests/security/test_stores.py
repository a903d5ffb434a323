"""Stores that something has damaged, and their locks: one line that names the file, in little time and memory."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from cli_fakes import invoke
from study_cases import tiny_study
from within_limits import within_limits

from cudbound.basis.exceptions import StudyError
from cudbound.study.run import store as store_module
from cudbound.study.run.runner import run_study
from cudbound.study.run.store import Store

STUDY = tiny_study(n_replicates=2)
READINGS = (
    ["status", "s"],
    ["status", "s", "--missing"],
    ["status", "s", "--digest"],
    ["report", "s", "--output", "r.csv"],
    ["merge", "s", "--store", "merged"],
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "s"
    run_study(STUDY, path)
    return path


@pytest.fixture
def place(tmp_path, monkeypatch, whole) -> Path:
    """A copy of the store, alone in the current folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(whole, "s")
    return Path("s")


def test_pages_that_were_overwritten(place, whole):
    """SQLite notices a page that is none; which bytes of a row are wrong, nobody can notice."""
    size = whole.stat().st_size
    for seed in range(20):
        rng = random.Random(seed)
        content = bytearray(whole.read_bytes())
        first = rng.randrange(0, size, 4096)
        content[first : first + 4096] = rng.randbytes(4096)
        if seed % 5 == 0:
            del content[rng.randrange(len(content)) :]
        place.write_bytes(content)
        for command in rng.sample(READINGS, 2):
            with within_limits():
                result = invoke("study", *command)
            assert isinstance(result.exception, SystemExit | None), (seed, command)
            if result.exit_code:
                assert (result.exit_code, result.stdout) == (1, "")
                assert result.stderr.startswith("cudbound: error: store 's': it ")
                assert result.stderr.count("\n") == 1
        assert place.read_bytes() == content


# --- its lock


def test_the_lock_of_a_run_that_was_killed_is_taken_over(place):
    Path("s-lock").touch()
    with Store.open(place) as store:
        assert not store.status().running
    Path("s-lock").touch()
    assert run_study(STUDY, place).n_done == 8
    assert os.listdir() == ["s"]


def test_whoever_waits_for_a_lock_that_is_removed_begins_anew(place, monkeypatch):
    """B waits with the old file open while A ends and C begins: B must not get the lock that nobody sees."""
    first, other = store_module.writer_lock(place, 0.05), store_module.writer_lock(place, 0.05)
    first.__enter__()
    waiting = os.open("s-lock", os.O_RDWR)
    locked = os.open
    opened: list[int] = []

    def open_old(path, *arguments, **named):
        """The file that B opened before A removed it, once."""
        if os.fspath(path).endswith("s-lock") and not opened:
            opened.append(waiting)
            return os.dup(waiting)
        return locked(path, *arguments, **named)

    first.__exit__(None, None, None)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", open_old)
        other.__enter__()
    os.close(waiting)
    assert opened
    assert store_module.is_locked(place)
    with (
        pytest.raises(StudyError, match="another run is writing to it"),
        store_module.writer_lock(place, 0.05),
    ):
        pass
    other.__exit__(None, None, None)
    assert os.listdir() == ["s"]
