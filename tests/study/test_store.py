"""The store of a study: what comes back, what is refused, and what a kill leaves."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from study_cases import Shifted, dump, tiny_study

from cudbound import LeastSquaresClassifier
from cudbound.basis.exceptions import StudyError
from cudbound.study.design.scenario import MAX_SHOWN, Scenario, describe, differences, shown
from cudbound.study.run import replicate_rows as tables
from cudbound.study.run import store as store_module
from cudbound.study.run.replicate_rows import ExpectedError, IntervalRow, Key, ReplicateRow
from cudbound.study.run.store import Store

STUDY = tiny_study()


def interval(method: str = "cud", **changes: object) -> IntervalRow:
    row = IntervalRow(method, "conditional", 0.25, 0.1, 0.4, -0.1, 0.4, 3, None, "a remark", 0.0625, 0.5)
    return replace(row, **changes)


def row(replicate: int = 0, scenario: str = "near", n: int = 12, **changes: object) -> ReplicateRow:
    made = ReplicateRow(
        Key(scenario, n, replicate),
        0.3,
        0.001,
        0.2,
        1,
        None,
        (interval("langford-binomial"), interval()),
        0.5,
        (ExpectedError(6, 0.375, 0.0), ExpectedError(10, 0.35, 0.001)),
    )
    return replace(made, **changes)


FAILED = row(
    7,
    truth=None,
    truth_se=None,
    training_error=None,
    failure="Traceback:\n  in f\nValueError: why\n",
    intervals=(),
    expected=(),
)


def write(path: Path, *batches: list[ReplicateRow]) -> None:
    with Store.resume(path, STUDY) as store:
        for batch in batches:
            store.add(batch)


NUMBERS = st.none() | st.floats(allow_nan=False)
FINITE = st.none() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
INTERVALS = st.builds(
    IntervalRow,
    st.just("cud"),
    TEXTS,
    *[FINITE] * 3,
    *[NUMBERS] * 2,
    st.integers(0, 10**9),
    st.none() | TEXTS,
    TEXTS,
    details=st.none() | st.dictionaries(TEXTS, FINITE, max_size=3).map(json.dumps),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.tuples(*[FINITE] * 3, st.integers(0, 999), INTERVALS), min_size=1, max_size=5),
    random=st.randoms(use_true_random=False),
)
def test_what_is_stored_comes_back_and_order_leaves_no_trace(tmp_path_factory, values, random):
    rows = [
        ReplicateRow(Key("near", 12, number), truth, truth_se, error, n_redrawn, None, (one,), 0.1)
        for number, (truth, truth_se, error, n_redrawn, one) in enumerate(values)
    ]
    folder = tmp_path_factory.mktemp("stores")
    write(folder / "one", rows)
    shuffled = random.sample(rows, len(rows))
    write(folder / "two", *[[one] for one in shuffled])
    assert dump(folder / "one") == dump(folder / "two")
    with Store.open(folder / "two") as store:
        assert [store.replicate(one.key) for one in rows] == rows
        assert store.finished() == {one.key for one in rows}


def test_intervals_come_back_in_the_order_of_the_methods(tmp_path):
    write(tmp_path / "s", [row()])
    with Store.open(tmp_path / "s") as store:
        found = store.replicate(Key("near", 12, 0))
        assert [one.method for one in found.intervals] == ["langford-binomial", "cud"]
        assert found.seconds == 0.5
        assert [one[4] for one in dump(tmp_path / "s") if one[0] == "interval"] == [
            "cud",
            "langford-binomial",
        ]


def test_numbers_of_numpy_are_stored_as_numbers(tmp_path):
    given = row(
        truth=np.float32(0.5),
        n_redrawn=np.int64(2),
        key=Key("near", np.int64(12), np.int64(3)),
        intervals=(interval(n_fits=np.int32(4), low=np.float64(0.125)),),
    )
    write(tmp_path / "s", [given])
    with Store.open(tmp_path / "s") as store:
        found = store.replicate(Key("near", 12, 3))
    assert (found.truth, found.n_redrawn, found.intervals[0].n_fits, found.intervals[0].low) == (
        0.5,
        2,
        4,
        0.125,
    )


def test_seed_in_words_gives_the_random_numbers_of_the_replicate(tmp_path):
    write(tmp_path / "s", [row(4)])
    with Store.open(tmp_path / "s") as store:
        words = store.frame(tables.REPLICATES)["seed"][0]
    rng = np.random.default_rng(eval(words, {"numpy": np}))
    assert rng.random() == STUDY.rng("near", 12, 4).random()


def test_frames_are_in_the_order_of_the_keys(tmp_path):
    write(tmp_path / "s", [FAILED, row(1, n=20)], [row(0, "broken"), row(1), row(0, truth=0.75)])
    with Store.open(tmp_path / "s") as store:
        replicates, rows = store.frame(tables.REPLICATES), store.frame(tables.INTERVALS)
        timings, runs = store.frame(tables.TIMINGS), store.runs()
        expected = store.frame(tables.EXPECTED)
    keys = [("broken", 12, 0), ("near", 12, 0), ("near", 12, 1), ("near", 12, 7), ("near", 20, 1)]
    assert list(replicates[["scenario", "n", "replicate"]].itertuples(index=False, name=None)) == keys
    assert replicates["truth"].to_list()[:3] == [0.3, 0.75, 0.3]
    assert replicates["truth"].isna().to_list() == [False, False, False, True, False]
    assert replicates["failure"].notna().to_list() == [False, False, False, True, False]
    assert replicates["failure"][3] == FAILED.failure
    assert rows.shape == (8, 16)
    assert rows["method"].to_list() == ["cud", "langford-binomial"] * 4
    assert rows["raw_low"].to_list() == [-0.1] * 8
    assert rows["degenerate"].isna().all()
    assert rows["pvalue"].to_list() == [0.5] * 8
    assert expected["n_train"].to_list() == [6, 10] * 4
    assert expected["truth"].to_list() == [0.375, 0.35] * 4
    assert timings["seconds"].to_list() == [0.5] * 5
    assert runs[0]["numpy"] == np.__version__


def test_frames_are_read_in_parts(tmp_path, monkeypatch):
    write(tmp_path / "s", [row(number, truth=number / 8) for number in range(8)])
    monkeypatch.setattr(tables, "ROWS_PER_FETCH", 3)
    with Store.open(tmp_path / "s") as store:
        assert store.frame(tables.REPLICATES)["truth"].to_list() == [number / 8 for number in range(8)]


def test_frames_of_an_empty_store_have_their_columns(tmp_path):
    write(tmp_path / "s")
    with Store.open(tmp_path / "s") as store:
        assert list(store.frame(tables.INTERVALS).columns) == list(tables.INTERVALS.columns)
        assert len(store.frame(tables.REPLICATES)) == 0


def test_status_counts_replicates_and_foretells_the_end(tmp_path, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(store_module.time, "time", lambda: clock[0])
    with Store.resume(tmp_path / "s", STUDY) as store:
        assert store.status().rate is None
        clock[0] = 1010.0
        store.add([row(0), row(1), FAILED, row(0, n=20), row(0, "broken")])
        status = store.status()
    # 5 of 60 in 10 seconds: the other 55 take 110
    assert (status.name, status.n_done, status.n_failed, status.n_total) == ("tiny", 5, 1, 60)
    assert (status.running, status.rate) == (True, 0.5)
    assert status.expected_end == datetime.fromtimestamp(1120.0)
    assert [(cell.scenario, cell.n, cell.n_done, cell.n_failed, cell.n_total) for cell in status.cells] == [
        ("near", 12, 3, 1, 15),
        ("near", 20, 1, 0, 15),
        ("broken", 12, 1, 0, 15),
        ("broken", 20, 0, 0, 15),
    ]
    with Store.open(tmp_path / "s") as store:
        status = store.status()
    assert (status.running, status.rate, status.expected_end) == (False, 0.5, None)


def test_status_has_the_rate_of_the_last_run(tmp_path, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(store_module.time, "time", lambda: clock[0])
    write(tmp_path / "s", [row(0)])
    clock[0] = 9000.0
    with Store.resume(tmp_path / "s", STUDY) as store:
        clock[0] = 9001.0
        store.add([row(number) for number in range(1, 5)])
        assert store.status().rate == 4.0


# what is refused


def test_reading_store_takes_no_rows(tmp_path):
    write(tmp_path / "s", [row()])
    with (
        Store.open(tmp_path / "s") as store,
        pytest.raises(StudyError, match=r"opened for reading; open it with Store\.resume"),
    ):
        store.add([row(1)])


def test_unknown_replicate_is_refused(tmp_path):
    write(tmp_path / "s", [row()])
    with (
        Store.open(tmp_path / "s") as store,
        pytest.raises(
            StudyError, match="has no replicate 5 of scenario 'near' at n = 12; continue the study"
        ),
    ):
        store.replicate(Key("near", 12, 5))


def test_replicate_is_stored_once_and_its_batch_not_at_all(tmp_path):
    with Store.resume(tmp_path / "s", STUDY) as store:
        store.add([row(0)])
        with pytest.raises(
            StudyError, match=r"store '.*s': it cannot be read or written \(UNIQUE constraint"
        ):
            store.add([row(1), row(0, truth=0.9)])
        assert store.finished() == {Key("near", 12, 0)}
        store.add([row(1)])
    # a replicate with two intervals and two expected errors, twice
    assert len(dump(tmp_path / "s")) == 10


def test_full_disk_keeps_what_was_stored(tmp_path):
    with Store.resume(tmp_path / "s", STUDY) as store:
        store.add([row(0)])
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(
            f"PRAGMA max_page_count = {pages}"
        )  # SQLite then says that the disk is full
        with pytest.raises(StudyError, match=r"it cannot be read or written \(database or disk is full\)"):
            store.add([row(number) for number in range(1, 200)])
        assert store.finished() == {Key("near", 12, 0)}
        store._connection.execute("PRAGMA max_page_count = 100000")
        store.add([row(1)])
    # a replicate with two intervals and two expected errors, twice
    assert len(dump(tmp_path / "s")) == 10


CHANGES = {
    "seed: stored 3, now 4": {"seed": 4},
    "n_resamples: stored 10, now 20": {"n_resamples": 20},
    "n_replicates: stored 15, now 14": {"n_replicates": 14},
    r"n_samples: stored \[12, 20\], now \[12\]": {"n_samples": (12,)},
    r"methods: stored \[.*\], now \[\"cud\"\]": {"methods": ("cud",)},
    'localization: stored "n", now 30.0': {"localization": 30.0},
    'name: stored "tiny", now "other"': {"name": "other"},
    r"options: stored \{\}, now \{\"cud\"": {"options": {"cud": {}}},
    "scenario broken: stored, now missing": {"scenarios": STUDY.scenarios[:1]},
    r"scenario near, parameters: stored \"Shifted\(shift=0\.5, breaks=0\)\", now \"Shifted\(shift=0\.6": {
        "scenarios": (Scenario("near", Shifted(0.6), LeastSquaresClassifier), STUDY.scenarios[1])
    },
    r"scenario near, description\.table\.C: stored nothing, now 2": {
        "scenarios": (replace(STUDY.scenarios[0], description={"table": {"C": 2}}), STUDY.scenarios[1])
    },
}


@pytest.mark.parametrize("text", CHANGES)
def test_a_change_of_the_study_is_named(text):
    found = differences(describe(STUDY), describe(tiny_study(**CHANGES[text])))
    assert re.match(text, found[0])


def test_changed_study_is_refused_with_the_difference(tmp_path):
    write(tmp_path / "s", [row()])
    before = (tmp_path / "s").read_bytes()
    with pytest.raises(
        StudyError, match=r"results of another study \(seed: stored 3, now 4\); undo the change, or use"
    ):
        Store.resume(tmp_path / "s", tiny_study(seed=4))
    assert (tmp_path / "s").read_bytes() == before
    assert os.listdir(tmp_path) == ["s"]


def test_more_replicates_sizes_and_scenarios_are_welcome(tmp_path):
    write(tmp_path / "s", [row()])
    third = Scenario("third", Shifted(2.0), LeastSquaresClassifier)
    larger = tiny_study(
        n_replicates=20,
        n_samples=(20, 12, 30),
        scenarios=(third, *STUDY.scenarios),
        methods=STUDY.methods[::-1],
    )
    with Store.resume(tmp_path / "s", larger) as store:
        assert store.finished() == {Key("near", 12, 0)}
        assert store.status().n_total == 3 * 3 * 20
    with pytest.raises(StudyError, match="n_replicates: stored 20, now 15"):
        Store.resume(tmp_path / "s", STUDY)


def test_other_version_of_the_package_is_a_difference(monkeypatch):
    before = describe(STUDY)
    monkeypatch.setattr("cudbound.study.design.scenario.version", lambda _: "9.9")
    assert differences(before, describe(STUDY)) == [f'cudbound: stored "{before["cudbound"]}", now "9.9"']


def test_long_lists_of_differences_are_cut():
    assert shown(["a", "b"]) == "a; b"
    assert shown([str(number) for number in range(MAX_SHOWN + 2)]).endswith("5; and 2 more")


def test_description_has_no_places_in_memory_and_takes_numbers_of_numpy():
    scenario = Scenario(
        "s", object.__new__(Plain), LeastSquaresClassifier, {"levels": np.arange(2), "C": np.float64(2)}
    )
    described = describe(tiny_study(scenarios=(scenario,), n_samples=(np.int64(12),)))
    assert described["n_samples"] == [12]
    assert described["scenarios"]["s"]["description"] == {"levels": [0, 1], "C": 2.0}
    assert " at 0x" not in described["scenarios"]["s"]["parameters"]
    assert differences(described, described) == []


class Plain:
    """Prints with its place in memory."""

    name = "plain"
    title = "none"


def test_titles_may_be_reworded():
    stored = describe(STUDY)
    now = describe(STUDY)
    now["scenarios"]["near"]["title"] = "in other words"
    assert differences(stored, now) == []


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE letters (letter)")
    connection.close()


def later(path: Path) -> None:
    write(path, [row()])
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


NO_STORES = {
    "it is not a store of a study; choose another file": foreign,
    "it has version 99, but this cudbound reads version 5; run the study again into a new store": later,
    r"it cannot be read or written \(file is not a database\)": lambda path: path.write_text("a,b\n" * 1000),
}


@pytest.mark.parametrize("text", NO_STORES)
def test_file_that_is_no_store_is_refused_and_stays(tmp_path, text):
    path = tmp_path / "s"
    NO_STORES[text](path)
    before = path.read_bytes()
    with pytest.raises(StudyError, match=f"store '.*s': {text}"):
        Store.open(path)
    with pytest.raises(StudyError, match=f"store '.*s': {text}"):
        Store.resume(path, STUDY)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["s"]


def test_damaged_store_is_refused(tmp_path):
    write(tmp_path / "s", [row(number) for number in range(300)])
    content = bytearray((tmp_path / "s").read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    (tmp_path / "s").write_bytes(content)
    with (
        Store.open(tmp_path / "s") as store,
        pytest.raises(StudyError, match=r"it cannot be read or written \(database disk image is malformed\)"),
    ):
        store.digest()


def test_missing_file_and_empty_file_cannot_be_read(tmp_path):
    with pytest.raises(StudyError, match="there is no such file; give the store of a study that was run"):
        Store.open(tmp_path / "s")
    assert not (tmp_path / "s").exists()
    (tmp_path / "s").touch()
    with pytest.raises(StudyError, match="it is not a store of a study; choose another file"):
        Store.open(tmp_path / "s")


def test_place_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(StudyError, match="its folder does not exist; create it, or choose another"):
        Store.resume(tmp_path / "no" / "s", STUDY)
    with pytest.raises(StudyError, match=r"it cannot be read or written \(unable to open database file\)"):
        Store.resume(tmp_path, STUDY)


def test_one_run_writes_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "LOCK_SECONDS", 0.05)
    with Store.resume(tmp_path / "s", STUDY) as first:
        first.add([row(0)])
        with pytest.raises(
            StudyError, match="another run is writing to it; wait for that run to end, or stop it"
        ):
            Store.resume(tmp_path / "s", STUDY)
        first.add([row(1)])
        with Store.open(tmp_path / "s") as reader:  # readers are let in
            assert len(reader.finished()) == 2
            assert reader.status().running
    write(tmp_path / "s", [row(2)])
    assert os.listdir(tmp_path) == ["s"]


def test_store_that_another_program_holds(tmp_path, monkeypatch):
    write(tmp_path / "s", [row()])
    monkeypatch.setattr(store_module, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(tmp_path / "s", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StudyError, match=r"it cannot be read or written \(database is locked\)"):
        Store.resume(tmp_path / "s", STUDY)
    with pytest.raises(StudyError, match=r"it cannot be read or written \(database is locked\)"):
        Store.open(tmp_path / "s")
    other.close()
    write(tmp_path / "s", [row(1)])


KILLED = """
import os, signal, sys
from study_cases import tiny_study
from cudbound.study.run.replicate_rows import Key, ReplicateRow
from cudbound.study.run.store import Store
store = Store.resume(sys.argv[1], tiny_study())
store.add([ReplicateRow(Key("near", 12, 0), 0.5, 0.0, 0.5, 0, None, (), 0.1)])
store._connection.execute("PRAGMA cache_size = 2")  # spills to the file before the transaction ends
store._connection.execute("BEGIN IMMEDIATE")
for number in range(1, 2000):
    store._connection.execute(
        "INSERT INTO replicates VALUES ('near', 12, ?, 0.5, 0.0, 0.5, 0, NULL, 'seed')", (number,)
    )
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_kill_inside_a_transaction_leaves_no_part_of_it_and_no_lock(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "helpers")}
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "s")], env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert (tmp_path / "s-journal").exists()
    with Store.open(tmp_path / "s") as store:
        assert store.finished() == {Key("near", 12, 0)}
        assert not store.status().running
    write(tmp_path / "s", [row(1)])
    assert sorted(os.listdir(tmp_path)) == ["s"]


def work(store: Store, batch: list[ReplicateRow]) -> tuple[int, int]:
    """Store a batch; return about how many instructions SQLite and how many lines Python ran for it."""
    instructions = lines = 0

    def instruct() -> None:
        nonlocal instructions
        instructions += 1

    def trace(frame: object, event: str, argument: object) -> object:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    store._connection.set_progress_handler(instruct, 1)
    sys.settrace(trace)
    try:
        store.add(batch)
    finally:
        sys.settrace(before)
        store._connection.set_progress_handler(None, 0)
    return instructions, lines


@pytest.mark.slow
def test_storing_does_not_slow_down(tmp_path):
    """Counted and not timed, so that no load on the machine breaks it."""
    methods = [f"method-{number}" for number in range(7)]
    counted = []
    with Store.resume(tmp_path / "s", tiny_study(n_replicates=60_000)) as store:
        for number in range(80):
            batch = [row(65 * number + at, intervals=tuple(map(interval, methods))) for at in range(65)]
            if number in (1, 40, 79):
                counted.append(work(store, batch))
            else:
                store.add(batch)
    early, *later = counted
    assert min(early) > 65
    for one in later:
        assert one[0] < 1.1 * early[0]
        assert one[1] < 1.1 * early[1]
