"""What stops `cudbound study run`: one line and an exit code for each, a store as it was, and a study that goes on."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import pytest
from cli_fakes import invoke
from click.testing import Result
from study_cases import dump

from cudbound.intervals import GROUPS
from cudbound.intervals import METHODS as METHODS_OF_ALL
from cudbound.study.design.design_file import read_design
from cudbound.study.run import store as store_module
from cudbound.study.run import store_file
from cudbound.study.run.store import Store
from cudbound.study.run.store_file import SCHEMA_VERSION

METHODS = '["langford-binomial", "martin-beta"]'
DESIGN = f"""n_samples = 12
n_replicates = 40
n_resamples = 5
methods = {METHODS}

[[scenario]]
world = "gaussians"

[[scenario]]
data = "toy"
"""
#: Arguments of `study run` and what it answers.
Refusal = tuple[list[str], str]
Obstacle = Callable[[pytest.MonkeyPatch], AbstractContextManager[Refusal]]
RUN = ["study.toml", "--store", "study.sqlite"]


def run(*arguments: str) -> Result:
    return invoke("study", "run", *arguments)


def fill_folder(folder: Path) -> None:
    """Write a design, and the folder of data that it names."""
    data = folder / "data"
    data.mkdir()
    rng = np.random.default_rng(5)
    lines = [f"{a:.3f},{b:.3f},{int(a + b > 0)}" for a, b in rng.normal(size=(700, 2))]
    content = "\n".join(["a,b,target", *lines, ""]).encode()
    (data / "toy.csv").write_bytes(content)
    entry = {
        "name": "toy",
        "title": "Toy",
        "file": "toy.csv",
        "sha256": hashlib.sha256(content).hexdigest(),
        "feature_columns": ["a", "b"],
        "target_column": "target",
    }
    (data / "MANIFEST.json").write_text(json.dumps({"datasets": [entry]}))
    (folder / "study.toml").write_text(DESIGN)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> list[tuple[object, ...]]:
    """What the store of the whole study holds if nothing stops it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("whole"))
        patch.setenv("CUDBOUND_DATA", "data")
        fill_folder(Path())
        assert run(*RUN).exit_code == 0
        return dump("study.sqlite")


@pytest.fixture
def begun(tmp_path, monkeypatch) -> None:
    """A current folder with a study of which two replicates of each scenario are stored."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDBOUND_DATA", "data")
    fill_folder(tmp_path)
    assert run(*RUN, "--replicates", "2").exit_code == 0


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let the operating system write no file beyond a size: a disk that is full, for those who may fill none."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def changed(path: str, old: str, new: str) -> Iterator[None]:
    """Replace a text of a file, for a while."""
    content = Path(path).read_text()
    assert old in content
    Path(path).write_text(content.replace(old, new, 1))
    yield
    Path(path).write_text(content)


# --- what stops a study before it runs


@contextmanager
def no_folder(patch: pytest.MonkeyPatch) -> Iterator[Refusal]:
    yield (
        ["study.toml", "--store", "none/study.sqlite"],
        "store 'none/study.sqlite': its folder is not there; make it, or name another",
    )


@contextmanager
def other_version(patch: pytest.MonkeyPatch) -> Iterator[Refusal]:
    content = Path("study.sqlite").read_bytes()
    connection = sqlite3.connect("study.sqlite")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    yield (
        RUN,
        f"store 'study.sqlite': it is of version 99, and this cudbound reads version {SCHEMA_VERSION}; run the "
        "study again into a new store",
    )
    Path("study.sqlite").write_bytes(content)


@contextmanager
def another_run(patch: pytest.MonkeyPatch) -> Iterator[Refusal]:
    with patch.context() as inner, Store.resume("study.sqlite", read_design("study.toml", n_replicates=2)):
        inner.setattr(store_file, "LOCK_SECONDS", 0.05)
        yield (
            RUN,
            "store 'study.sqlite': another run is writing it; wait for that run to end, or stop it",
        )


@contextmanager
def no_data_folder(patch: pytest.MonkeyPatch) -> Iterator[Refusal]:
    Path("data").rename("moved")
    yield (
        RUN,
        "study.toml: [[scenario]] 2: There is no folder data. Pass the folder of the data sets (--data-folder), or "
        "set CUDBOUND_DATA.",
    )
    Path("moved").rename("data")


@contextmanager
def no_data_file(patch: pytest.MonkeyPatch) -> Iterator[Refusal]:
    Path("data/toy.csv").rename("data/moved.csv")
    yield (
        RUN,
        "study.toml: [[scenario]] 2: Cannot read data/toy.csv, the file of 'toy': No such file or directory. Restore "
        "it from its source.",
    )
    Path("data/moved.csv").rename("data/toy.csv")


@contextmanager
def wrong_checksum(patch: pytest.MonkeyPatch) -> Iterator[Refusal]:
    due = hashlib.sha256(Path("data/toy.csv").read_bytes()).hexdigest()
    with changed("data/toy.csv", ",0\n", ",1\n"):
        found = hashlib.sha256(Path("data/toy.csv").read_bytes()).hexdigest()
        yield (
            RUN,
            "study.toml: [[scenario]] 2: data/toy.csv is not the file that MANIFEST.json describes: its SHA-256 is "
            f"{found[:16]}..., not {due[:16]}.... Restore it from its source.",
        )


@contextmanager
def unknown_method(patch: pytest.MonkeyPatch) -> Iterator[Refusal]:
    with changed("study.toml", METHODS, '["langford-binomial", "martin"]'):
        rule = (
            f"The 'methods' parameter must be one of the groups {sorted(GROUPS)} or a list of names out of "
            f"{[name for name, method in METHODS_OF_ALL.items() if method.gives_interval]}."
        )
        yield RUN, f"study.toml: {rule} Got 'martin' instead. Did you mean 'martin-beta'?"


OBSTACLES: list[Obstacle] = [
    no_folder,
    other_version,
    another_run,
    no_data_folder,
    no_data_file,
    wrong_checksum,
    unknown_method,
]


@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_what_stops_a_study_is_said_and_changes_nothing(begun, whole, monkeypatch, obstacle):
    files = sorted(os.listdir())
    with obstacle(monkeypatch) as (arguments, message):
        content, inside = Path("study.sqlite").read_bytes(), sorted(os.listdir())
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == f"cudbound: error: {message}\n"
        assert Path("study.sqlite").read_bytes() == content
        assert sorted(os.listdir()) == inside
    assert sorted(os.listdir()) == files
    assert run(*RUN).exit_code == 0
    assert dump("study.sqlite") == whole


def test_no_folder_of_data_is_named(begun, whole, monkeypatch):
    content = Path("study.sqlite").read_bytes()
    monkeypatch.delenv("CUDBOUND_DATA")
    result = run(*RUN)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(
        "cudbound: error: study.toml: [[scenario]] 2: No folder of data sets is named."
    )
    assert "CUDBOUND_DATA" in result.stderr
    assert result.stderr.count("\n") == 1
    assert Path("study.sqlite").read_bytes() == content
    assert run(*RUN, "--data-folder", "data").exit_code == 0
    assert dump("study.sqlite") == whole


# --- a full disk, which stops a study while it runs


@contextmanager
def full(patch: pytest.MonkeyPatch) -> Iterator[str]:
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
def file_limit(patch: pytest.MonkeyPatch) -> Iterator[str]:
    with largest_file(Path("study.sqlite").stat().st_size):
        yield "disk I/O error"


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("obstacle", [full, file_limit])
def test_a_full_disk_keeps_whole_batches(begun, whole, monkeypatch, obstacle, jobs):
    before = dump("study.sqlite")
    with obstacle(monkeypatch) as message:
        result = run(*RUN, "--jobs", jobs)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(
        f"cudbound: error: store 'study.sqlite': it cannot be read or written ({message}); "
    )
    assert result.stderr.count("\n") == 1
    assert sorted(os.listdir()) == ["data", "study.sqlite", "study.toml"]
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
    assert result.exit_code == 1
    assert result.stderr.startswith("cudbound: error: store 'study.sqlite': it cannot be read or written (")
    assert result.stderr.count("\n") == 1
    assert status.stdout.startswith("study: 4 of 4 replicates done")
    assert Path("study.sqlite").read_bytes() == content
    assert sorted(os.listdir()) == ["data", "study.sqlite", "study.toml"]
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


def test_a_report_that_finds_no_room_leaves_the_old_one(begun):
    Path("report.csv").write_text("old")
    content, files = Path("study.sqlite").read_bytes(), sorted(os.listdir())
    command = ("study", "report", "study.sqlite", "--format", "csv", "--output", "report.csv")
    with largest_file(100):
        result = invoke(*command)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"cudbound: error: --output: 'report.csv' cannot be written: {os.strerror(errno.EFBIG)}; free some space or "
        "name another file\n"
    )
    assert Path("report.csv").read_text() == "old"
    assert Path("study.sqlite").read_bytes() == content
    assert sorted(os.listdir()) == files
    assert invoke(*command).exit_code == 0
    assert "langford-binomial" in Path("report.csv").read_text()


def test_a_design_that_finds_no_room_is_not_begun(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with largest_file(100):
        result = invoke("study", "new", "quick", "--output", "mine.toml")
    assert result.exit_code == 1
    assert result.stderr.startswith("cudbound: error: --output: 'mine.toml' cannot be written: ")
    assert os.listdir() == []


@pytest.mark.parametrize("store", ["report.csv", "report-samples.csv"])
def test_a_report_never_takes_the_place_of_the_store(begun, store):
    Path("study.sqlite").rename(store)
    content = Path(store).read_bytes()
    result = invoke("study", "report", store, "--output", "report.csv", "--format", "csv")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert repr(store) in result.stderr
    assert "choose another name" in result.stderr
    assert Path(store).read_bytes() == content
    assert sorted(os.listdir()) == sorted(["data", store, "study.toml"])
