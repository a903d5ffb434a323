"""Merged stores: the same rows however a study was split, and what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from study_cases import dump, tiny_study

from cudbound.basis.exceptions import StudyError
from cudbound.study.replicate import ExpectedError, IntervalRow, Key, ReplicateRow
from cudbound.study.runner import run_study
from cudbound.study.store import Store, merge_stores

STUDY = tiny_study(n_replicates=5)
MAX_SHARDS = 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A store of the whole study, and those of every shard of every split, named such as 2-of-3."""
    folder = tmp_path_factory.mktemp("parts")
    run_study(STUDY, folder / "whole")
    for n_shards in range(1, MAX_SHARDS + 1):
        for number in range(1, n_shards + 1):
            run_study(STUDY, folder / f"{number}-of-{n_shards}", shard=(number, n_shards))
    return folder


def shards(folder: Path, n_shards: int) -> list[Path]:
    return [folder / f"{number}-of-{n_shards}" for number in range(1, n_shards + 1)]


def add(path: Path, *rows, study=STUDY) -> Path:
    with Store.resume(path, study) as store:
        store.add(rows)
    return path


def interval(method: str) -> IntervalRow:
    return IntervalRow(method, "conditional", 0.25, 0.1, 0.4, -0.1, None, 3, None, "a remark")


ROW = ReplicateRow(
    *(Key("near", 12, 0), 0.3, 0.001, 0.2, 1, None, (interval("langford-binomial"), interval("cud")), 0.5),
    expected=(ExpectedError(6, 0.375, 0.0),),
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n_shards=st.integers(1, MAX_SHARDS),
    again=st.sets(
        st.sampled_from([(i, n) for n in range(1, MAX_SHARDS + 1) for i in range(1, n + 1)]), max_size=4
    ),
    random=st.randoms(use_true_random=False),
)
def test_rows_are_the_same_whatever_the_split(folder, tmp_path_factory, n_shards, again, random):
    """The shards of one split and, as duplicates, some of others, in any order, at once or one after the other."""
    place = tmp_path_factory.mktemp("merged")
    parts = [*shards(folder, n_shards), *(folder / f"{number}-of-{n}" for number, n in again)]
    random.shuffle(parts)
    before = {path: path.read_bytes() for path in parts}
    status = merge_stores(parts, place / "all")
    assert (status.n_done, status.n_total, status.running) == (20, 20, False)
    assert dump(place / "all") == dump(folder / "whole")
    # another order, and one after the other
    merge_stores(random.sample(parts, len(parts)), place / "reordered")
    assert dump(place / "reordered") == dump(folder / "whole")
    for part in random.sample(parts, len(parts)):
        merge_stores([part], place / "grown")
    assert dump(place / "grown") == dump(folder / "whole")
    assert {path: path.read_bytes() for path in parts} == before
    assert sorted(os.listdir(place)) == ["all", "grown", "reordered"]


def test_what_is_compared_is_results_and_nothing_else(tmp_path, folder):
    one = add(tmp_path / "one", ROW)
    merge_stores([one, add(tmp_path / "slower", replace(ROW, seconds=9.0))], tmp_path / "all")
    assert dump(tmp_path / "all") == dump(one)


# what is refused


def assert_refused(match: str, parts: list[Path], place: Path) -> None:
    """The message, and everything as it was."""
    before = {path: path.read_bytes() for path in place.parent.iterdir() if path.is_file()}
    with pytest.raises(StudyError, match=match):
        merge_stores(parts, place)
    assert {path: path.read_bytes() for path in place.parent.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("other", [{"seed": 4}, {"n_replicates": 9}, {"n_samples": (12,)}])
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_other_designs_are_refused(tmp_path, other, order):
    add(tmp_path / "a", ROW)
    add(tmp_path / "b", study=tiny_study(**{"n_replicates": 5, **other}))
    (name,) = other
    assert_refused(
        rf"store '.*{order[1]}': it has results of another study than '.*{order[0]}' \(.*{name}: stored .*, now",
        [tmp_path / name for name in order],
        tmp_path / "all",
    )


UNEQUAL = {
    "truth": replace(ROW, truth=0.75),
    "an interval": replace(ROW, intervals=(replace(ROW.intervals[0], low=0.5), *ROW.intervals[1:])),
    "one interval less": replace(ROW, intervals=ROW.intervals[1:]),
    "no interval": replace(ROW, intervals=()),
    "an expected error": replace(ROW, expected=()),
    "a failure": replace(ROW, failure="Traceback:\nValueError: why\n"),
}


@pytest.mark.parametrize("what", UNEQUAL)
@pytest.mark.parametrize("turned", [False, True])
def test_unequal_duplicates_are_refused(tmp_path, what, turned):
    parts = [add(tmp_path / "a", ROW), add(tmp_path / "b", UNEQUAL[what])]
    assert_refused(
        r"store '.*[ab]': its replicate 0 of scenario 'near' at n = 12 differs from that in another part; run the "
        "replicate again, with replay, to see which is correct, and leave the other store out",
        parts[::-1] if turned else parts,
        tmp_path / "all",
    )
    # what is at the place of the merged store is a part like all others, and is kept
    merge_stores(parts[:1], tmp_path / "all")
    assert_refused("its replicate 0 of scenario 'near'", parts[1:], tmp_path / "all")


def test_parts_that_are_no_stores_are_refused_and_named(tmp_path, folder):
    good = shards(folder, 2)[0]
    assert_refused(
        "none': there is no such file; give the store", [good, tmp_path / "none"], tmp_path / "all"
    )
    (tmp_path / "text").write_text("a,b\n" * 1000)
    assert_refused(
        r"text': it cannot be read or written \(file is not a database",
        [good, tmp_path / "text"],
        tmp_path / "all",
    )
    content = bytearray(shards(folder, 2)[1].read_bytes())
    page = content.rindex(b"langford-binomial") // 4096
    content[4096 * page : 4096 * page + 8] = b"\xff" * 8
    (tmp_path / "damaged").write_bytes(content)
    assert_refused("damaged': it cannot be read or written", [good, tmp_path / "damaged"], tmp_path / "all")
    with pytest.raises(ValueError, match=r"'parts' parameter must name at least one store\. Got none"):
        merge_stores([], tmp_path / "all")


KILLED = """
import os, signal, sys
from cudbound.study import store
add_part, n_added = store._add_part, 0

def add_two(connection, path):
    global n_added
    add_part(connection, path)
    n_added += 1
    if n_added == 2:
        os.kill(os.getpid(), signal.SIGKILL)

store._add_part = add_two
store.merge_stores(sys.argv[2:], sys.argv[1])
"""


@pytest.mark.slow
def test_a_killed_merge_leaves_what_was_there(tmp_path, folder):
    parts = shards(folder, 3)

    def kill(place: Path) -> None:
        ended = subprocess.run([sys.executable, "-c", KILLED, place, *parts], check=False)
        assert ended.returncode == -signal.SIGKILL

    kill(tmp_path / "all")
    assert not (tmp_path / "all").exists()
    merge_stores(parts[:1], tmp_path / "all")
    before = (tmp_path / "all").read_bytes()
    assert os.listdir(tmp_path) == ["all"]
    kill(tmp_path / "all")
    assert (tmp_path / "all").read_bytes() == before
    merge_stores(parts, tmp_path / "all")
    assert dump(tmp_path / "all") == dump(folder / "whole")
    assert os.listdir(tmp_path) == ["all"]
