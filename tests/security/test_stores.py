"""Stores that somebody else made, or that something has damaged: one line, in little time and memory."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cli_fakes import invoke
from study_cases import tiny_study
from within_limits import within_limits

from cudbound.exceptions import StudyError
from cudbound.study.run import store_file
from cudbound.study.run.runner import run_study
from cudbound.study.run.store import Store
from cudbound.study.run.store_check import MAX_STORED
from cudbound.study.run.store_columns import METHOD_TIMINGS, RESULTS, TIMINGS

STUDY = tiny_study(n_replicates=2)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "s"
    run_study(STUDY, path)
    change(path, "INSERT INTO expected_errors SELECT scenario, n, replicate, 6, 0.3, 0.01 FROM replicates")
    return path


@pytest.fixture
def place(tmp_path, monkeypatch, whole) -> Path:
    """A copy of the store, alone in the current folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(whole, "s")
    return Path("s")


def change(place: Path, *statements: str, values: tuple[Any, ...] = ()) -> None:
    with closing(sqlite3.connect(place)) as connection, connection:
        for statement in statements:
            connection.execute(statement, values if "?" in statement else ())


READINGS = (
    ["status", "s"],
    ["status", "s", "--missing"],
    ["status", "s", "--digest"],
    ["report", "s", "--output", "r.md", "--format", "markdown"],
    ["report", "s", "--output", "r.csv", "--format", "csv"],
    ["merge", "s", "--store", "merged"],
)
#: One that looks at all of the store, and one that reads it as a part; all refuse by the same means.
SOME = (READINGS[0], READINGS[-1])


def answers(place: Path, commands=READINGS) -> set[str]:
    """Return what commands say of a store, each in one line within the limits, and see that none changes it."""
    before = place.read_bytes()
    said = set()
    for command in commands:
        with within_limits():
            result = invoke("study", *command)
        assert isinstance(result.exception, SystemExit | None), command
        if result.exit_code:
            assert (result.exit_code, result.stdout) == (1, "")
            assert result.stderr.startswith("cudbound: error: store 's': ")
            assert result.stderr.count("\n") == 1
            assert len(result.stderr) < 3000
        said.add(result.stderr if result.exit_code else "")
    assert place.read_bytes() == before
    return said


# --- what it says of the study


def described(whole: Path) -> dict[str, Any]:
    with Store.open(whole) as store:
        return store.description


def without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda settings: {key: value for key, value in settings.items() if key != name}


def having(**changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda settings: {**settings, **changes}


NAMES = [
    "name",
    "scenarios",
    "n_samples",
    "n_replicates",
    "methods",
    "n_resamples",
    "inner",
    "confidence_level",
]
NAMES += ["localization", "options", "sizes", "seed", "published", "cudbound"]
WRONG_VALUES = [
    None,
    True,
    -1,
    0.5,
    [],
    {},
    [None],
    [[]],
    {"near": None},
    {"near": []},
    float("inf"),
    float("nan"),
]
#: Of these, a setting may have some, and the store is then read as it is.
DESCRIPTIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    **{f"no {name}": without(name) for name in NAMES},
    **{f"{name} = {value!r}": having(**{name: value}) for name in NAMES for value in WRONG_VALUES},
    "a list": lambda settings: [settings],
    "a number": lambda settings: 5,
    "nothing": lambda settings: None,
    "an endless count": having(n_replicates=10**18),
    "many counts": having(n_samples=list(range(1, 20_000)), n_replicates=100_000),
    "a long name": having(name="x" * 900_000),
    "a long name of a scenario": lambda settings: {
        **settings,
        "scenarios": {"x" * 900_000: settings["scenarios"]["near"]},
    },
    "a deep setting": having(options={"cud": json.loads('{"a":' * 400 + "1" + "}" * 400)}),
    "a title that is a list": lambda settings: {
        **settings,
        "scenarios": {"near": {**settings["scenarios"]["near"], "title": ["a"]}},
    },
    "published in other words": having(published=[{"a": 1}]),
    "both names of a setting": having(alpha="n"),
}
MAY_BE = {
    *(
        "options = {}",
        "published = []",
        "sizes = {}",
        "inner = 0.5",
        "confidence_level = 0.5",
        "localization = -1",
    ),
    *("localization = 0.5", "localization = inf", "seed = True"),
    *("sizes = {'near': None}", "sizes = {'near': []}"),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_description_of_the_wrong_kind(place, whole, name):
    text = json.dumps(DESCRIPTIONS[name](described(whole)))
    change(place, "UPDATE study SET description = ?", values=(text,))
    if name in MAY_BE:
        answers(place)
    else:
        (said,) = answers(place, SOME)
        assert said


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, '{"a": ' * 100_000, "1" * 10_000, '{"a": 1e999}', b"\xff\xfe", 5, 0.5, "\0"],
)
def test_description_that_is_no_json(place, text):
    change(place, "UPDATE study SET description = ?", values=(text,))
    (said,) = answers(place, SOME)
    assert said


def test_largest_study_is_said_and_its_store_not_made(tmp_path):
    study = tiny_study(n_replicates=MAX_STORED // 2)
    with (
        within_limits(),
        pytest.raises(StudyError, match=r"has 40,000,000 replicates, and no study may have more than"),
    ):
        Store.resume(tmp_path / "s", study)
    assert os.listdir(tmp_path) == []


# --- its tables

TABLES = ["study", "runs", *(table.name for table in (*RESULTS, METHOD_TIMINGS, TIMINGS))]
ENDLESS = "WITH RECURSIVE forever(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM forever) SELECT"
SCHEMAS = {
    "an empty study": ["DELETE FROM study"],
    "no run": ["DELETE FROM runs"],
    "another table": ["CREATE TABLE letters (letter)"],
    "a trigger": ["CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM replicates; END"],
    "an index": ["CREATE INDEX i ON intervals (low)"],
    **{f"no {name}": [f"DROP TABLE {name}"] for name in TABLES},
    **{f"{name} of other columns": [f"DROP TABLE {name}", f"CREATE TABLE {name} (id)"] for name in TABLES},
    **{
        f"a view {name}": [f"ALTER TABLE {name} RENAME TO old", f"CREATE VIEW {name} AS SELECT * FROM old"]
        for name in TABLES
    },
    **{
        f"an endless view {name}": [
            f"DROP TABLE {name}",
            f"CREATE VIEW {name} AS {ENDLESS} n AS id FROM forever",
        ]
        for name in TABLES
    },
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_tables_of_another_make(place, name):
    change(place, *SCHEMAS[name])
    (said,) = answers(place, SOME)
    assert said


def test_a_run_does_not_resume_a_store_of_another_make(place):
    change(place, "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM replicates; END")
    before = place.read_bytes()
    with within_limits(), pytest.raises(StudyError, match="its tables are not those of a study"):
        run_study(STUDY, place)
    assert place.read_bytes() == before
    assert os.listdir() == ["s"]


# --- its rows

WRONG_CELLS = {"blob": b"\x00\xff", "text": "x", "infinite": 9e999, "long": "x" * 900_000, "count": -(2**62)}
COLUMNS = [
    (table.name, column, kind)
    for table in (*RESULTS, METHOD_TIMINGS, TIMINGS)
    for column, kind in table.types.items()
]


#: What a column of a kind takes: SQLite itself makes a text of a number, and a number of no text.
FITTING = {"str": ("infinite", "count"), "float": ("count",)}
#: Texts that are not names, and numbers that are not clipped.
LOOSE = {
    ("estimand", "text"),
    *((column, name) for column in ("failure", "seed", "degenerate", "remarks") for name in ("text", "long")),
    *((column, "infinite") for column in ("raw_low", "raw_high", "standard_error")),
}


@pytest.mark.parametrize(("table", "column", "kind"), COLUMNS, ids=lambda one: str(one))
def test_values_that_no_study_writes(place, whole, table, column, kind):
    for name, value in WRONG_CELLS.items():
        shutil.copy(whole, place)
        keys = "scenario, n, replicate"
        where = f"WHERE ({keys}) = (SELECT {keys} FROM {table} LIMIT 1)"
        try:
            change(place, f"UPDATE {table} SET {column} = ? {where}", values=(value,))
        except sqlite3.IntegrityError:  # the key or the type refuses it
            continue
        said = answers(place, SOME if name == "blob" else SOME[:1])
        if name not in FITTING.get(kind.removesuffix(" | None"), ()) and (column, name) not in LOOSE:
            assert "" not in said, name


@pytest.mark.parametrize("column", ["raw_high", "standard_error"])
def test_reports_take_infinite_limits(place, column):
    change(place, f"UPDATE intervals SET {column} = 9e999, raw_low = -9e999")
    assert answers(place) == {""}


@pytest.mark.parametrize("value", [9e999, -9e999, -1.0, 1e18, "soon", b"1"])
def test_times_of_runs(place, value):
    change(place, "UPDATE runs SET begun = ?", values=(value,))
    (said,) = answers(place, SOME)
    assert said


@pytest.mark.parametrize(
    "value", ["", "[]", "5", '{"python": 3}', '{"python": {"a": []}}', b"{}", "[" * 10**5]
)
def test_environments_of_runs(place, value):
    change(place, "UPDATE runs SET environment = ?", values=(value,))
    (said,) = answers(place, SOME)
    assert said


STRANGERS = {
    "a scenario": "UPDATE {} SET scenario = 'elsewhere' WHERE scenario = 'near'",
    "a size": "UPDATE {} SET n = 99 WHERE n = 12",
    "a replicate": "UPDATE {} SET replicate = replicate + 1000000",
    "a method": "UPDATE intervals SET method = 'unheard-of' WHERE method = 'cud'",
    "an expected error of no size": "UPDATE intervals SET estimand = 'expected(n1=999999999999999999999)'",
}


@pytest.mark.parametrize("name", STRANGERS)
@pytest.mark.parametrize("table", [table.name for table in RESULTS])
def test_rows_of_what_the_study_does_not_have(place, name, table):
    change(place, STRANGERS[name].format(table))
    (said,) = answers(place, SOME)
    assert "has rows that are not of the study it describes" in said


# --- the file


@pytest.mark.parametrize("seed", range(60))
def test_bytes_that_were_changed(place, seed):
    """SQLite notices most damage; what it does not notice is read as any other value."""
    rng = random.Random(seed)
    content = bytearray(place.read_bytes())
    for _ in range(rng.choice([1, 10, 300])):
        content[rng.randrange(100, len(content))] = rng.randrange(256)
    if seed % 5 == 0:
        del content[rng.randrange(len(content)) :]
    place.write_bytes(content)
    answers(place, rng.sample(READINGS, 2))


def test_a_store_that_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("s")
    os.symlink("loop", "loop")
    for name in ("s", "loop", "/dev/zero", "/dev/full"):
        with within_limits(), pytest.raises(StudyError, match="it cannot be opened; name a file in a folder"):
            run_study(STUDY, name)
        with within_limits(), pytest.raises(StudyError, match="there is no such file"):
            Store.open(name)
    assert sorted(os.listdir()) == ["loop", "s"]


# --- its lock


def test_a_file_of_the_user_is_not_taken_for_the_lock(place):
    connection = sqlite3.connect("s-lock")
    connection.execute("CREATE TABLE letters (letter)")
    connection.close()
    before = Path("s-lock").read_bytes()
    with pytest.raises(
        StudyError, match="a run locks it by a file 's-lock', and that holds something else; move that"
    ):
        run_study(STUDY, place)
    with Store.open(place) as store:
        assert not store.status().running
    assert Path("s-lock").read_bytes() == before


def test_the_lock_of_a_run_that_was_killed_is_taken_over(place):
    Path("s-lock").touch()
    with Store.open(place) as store:
        assert not store.status().running
    Path("s-lock").touch()
    assert run_study(STUDY, place).n_done == 8
    assert os.listdir() == ["s"]


def test_whoever_waits_for_a_lock_that_is_removed_begins_anew(place, monkeypatch):
    """B waits with the old file open while A ends and C begins: B must not get the lock that nobody sees."""
    monkeypatch.setattr(store_file, "LOCK_SECONDS", 0.05)
    first, other = store_file.writer_lock(place), store_file.writer_lock(place)
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
    assert store_file.is_locked(place)
    with pytest.raises(StudyError, match="another run is writing it"), store_file.writer_lock(place):
        pass
    other.__exit__(None, None, None)
    assert os.listdir() == ["s"]
