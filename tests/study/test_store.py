"""The store of a study: what comes back, its shards, what is refused, and what a kill leaves."""

from __future__ import annotations

import itertools
import json
import os
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from study_cases import Shifted, dump, stored, tiny_study

from cudbound import LeastSquaresClassifier
from cudbound.basis.exceptions import StudyError
from cudbound.study import store as store_module
from cudbound.study.replicate import (
    ExpectedError,
    IntervalRow,
    Key,
    ReplicateRow,
    read_shard,
    replicates_of,
)
from cudbound.study.runner import run_study
from cudbound.study.scenario import Scenario, describe, differences
from cudbound.study.store import Store

# ---- the store of a study ----


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
        assert [stored(store, one.key) for one in rows] == rows
        assert store.finished() == {one.key for one in rows}


def test_status_counts_replicates(tmp_path):
    with Store.resume(tmp_path / "s", STUDY) as store:
        store.add([row(0), row(1), FAILED, row(0, n=20), row(0, "broken")])
        status = store.status()
    assert (status.name, status.n_done, status.n_failed, status.n_total) == ("tiny", 5, 1, 60)
    assert status.running
    assert [(cell.scenario, cell.n, cell.n_done, cell.n_failed, cell.n_total) for cell in status.cells] == [
        ("near", 12, 3, 1, 15),
        ("near", 20, 1, 0, 15),
        ("broken", 12, 1, 0, 15),
        ("broken", 20, 0, 0, 15),
    ]
    with Store.open(tmp_path / "s") as store:
        assert not store.status().running


# what is refused


def test_replicate_is_stored_once_and_its_batch_not_at_all(tmp_path):
    with Store.resume(tmp_path / "s", STUDY) as store:
        store.add([row(0)])
        with pytest.raises(
            StudyError, match=r"store '.*s': it cannot be read or written \(UNIQUE constraint"
        ):
            store.add([row(1), row(0, truth=0.9)])
        assert store.finished() == {Key("near", 12, 0)}
        store.add([row(1)])
    assert len(dump(tmp_path / "s")) == 2


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
    assert len(dump(tmp_path / "s")) == 2


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
    "it has version 99, but this cudbound reads version 6; run the study again into a new store": later,
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
        store.frames()


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


# ---- shards of a study ----


OF_FIVE = tiny_study(n_replicates=5)


def replicate_row(scenario: str, n: int, replicate: int) -> ReplicateRow:
    return ReplicateRow(Key(scenario, n, replicate), 0.5, 0.0, 0.4, 0, None, (), 0.1)


@given(n_shards=st.integers(1, 12), more=st.integers(0, 30))
def test_each_replicate_has_one_shard_and_each_shard_its_share(n_shards, more):
    n_replicates = n_shards + more
    shares = [list(replicates_of((number, n_shards), n_replicates)) for number in range(1, n_shards + 1)]
    assert sorted(itertools.chain(*shares)) == list(range(n_replicates))
    sizes = {len(share) for share in shares}
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    "text", ["", "3", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "1.0/2", "a/b", "1/2\n", "²/3"]
)
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(ValueError, match="is not a shard such as 3/8, the third of eight"):
        read_shard(text)


@pytest.mark.parametrize("shard", [(0, 2), (3, 2), (1,), (1, 2, 3), 1, ("a", 2), "ab", (1.5, 2), (True, 2)])
def test_shards_out_of_range_leave_no_store(tmp_path, shard):
    with pytest.raises(
        ValueError, match=r"'shard' parameter must be a pair \(i, n\) of integers .* Got .* instead"
    ):
        run_study(OF_FIVE, tmp_path / "s", shard=shard)
    assert os.listdir(tmp_path) == []


def test_missing_names_what_is_not_stored(tmp_path):
    with Store.resume(tmp_path / "s", OF_FIVE) as store:
        rows = [
            replicate_row(scenario.name, n, number)
            for scenario in OF_FIVE.scenarios
            for n, numbers in {12: range(5), 20: (0, 2, 3)}.items()
            for number in numbers
        ]
        store.add(rows)
        assert store.missing() == {("near", 20): [1, 4], ("broken", 20): [1, 4]}
        assert store.missing((2, 2)) == {("near", 20): [1], ("broken", 20): [1]}
