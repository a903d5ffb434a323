"""Full disks under `cudbound study`: one line, a store as it was or with whole batches, and a study that goes on."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_fakes import invoke
from click.testing import Result
from study_cases import dump
from within_limits import largest_file

from cudbound.study.run import store as store_module

DESIGN = """n_samples = 12
n_replicates = 40
n_resamples = 5
methods = ["langford-binomial", "martin-beta"]

[[scenario]]
world = "gaussians"

[[scenario]]
world = "noise"
"""
RUN = ["study.toml", "--store", "study.sqlite"]

pytestmark = pytest.mark.slow


def run(*arguments: str) -> Result:
    return invoke("study", "run", *arguments)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> list[tuple[object, ...]]:
    """What the store of the whole study holds if nothing stops it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("whole"))
        Path("study.toml").write_text(DESIGN)
        assert run(*RUN).exit_code == 0
        return dump("study.sqlite")


@pytest.fixture
def begun(tmp_path, monkeypatch) -> None:
    """A current folder with a study of which two replicates of each scenario are stored."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(DESIGN)
    assert run(*RUN, "--replicates", "2").exit_code == 0


def assert_refused(result: Result, reason: str) -> None:
    """One line that names the store, and no file that was not there."""
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(
        f"cudbound: error: store 'study.sqlite': it cannot be read or written ({reason}"
    )
    assert result.stderr.count("\n") == 1
    assert sorted(os.listdir()) == ["study.sqlite", "study.toml"]


@contextmanager
def no_more_pages(patch: pytest.MonkeyPatch) -> Iterator[str]:
    """SQLite may not make the file larger than it is, and says what it says on a full disk."""
    connect = store_module.connect

    def to_full_disk(path: Path, mode: str) -> tuple[sqlite3.Connection, bool]:
        connection, new = connect(path, mode)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection, new

    with patch.context() as inner:
        inner.setattr(store_module, "connect", to_full_disk)
        yield "database or disk is full"


@contextmanager
def no_larger_file(patch: pytest.MonkeyPatch) -> Iterator[str]:
    with largest_file(Path("study.sqlite").stat().st_size):
        yield "disk I/O error"


@pytest.mark.parametrize(
    ("obstacle", "jobs"), [(no_more_pages, "1"), (no_more_pages, "2"), (no_larger_file, "1")]
)
def test_a_full_disk_keeps_whole_batches(begun, whole, monkeypatch, obstacle, jobs):
    before = dump("study.sqlite")
    with obstacle(monkeypatch) as message:
        assert_refused(run(*RUN, "--jobs", jobs), message)
    after = dump("study.sqlite")
    assert set(before) <= set(after) < set(whole)
    assert sum(row[0] == "interval" for row in after) == 2 * sum(row[0] == "replicate" for row in after)
    assert run(*RUN).exit_code == 0
    assert dump("study.sqlite") == whole


def test_a_disk_that_is_full_from_the_start_keeps_the_file(begun, whole):
    """Neither the file of the lock nor the journal of a transaction can be written."""
    content = Path("study.sqlite").read_bytes()
    with largest_file(0):
        result = run(*RUN)
        status = invoke("study", "status", "study.sqlite")
    assert_refused(result, "")
    assert status.stdout.startswith("study: 4 of 4 replicates done")
    assert Path("study.sqlite").read_bytes() == content
    assert run(*RUN).exit_code == 0
    assert dump("study.sqlite") == whole


def test_a_store_that_finds_no_room_is_made_when_there_is_some(begun, whole):
    with largest_file(4096):
        result = run("study.toml", "--store", "other.sqlite")
    assert result.exit_code == 1
    assert result.stderr.startswith("cudbound: error: store 'other.sqlite': it cannot be read or written (")
    assert not Path("other.sqlite-lock").exists()
    assert run("study.toml", "--store", "other.sqlite").exit_code == 0
    assert dump("other.sqlite") == whole
