"""Shards of a study: who has which replicates, limits on time, and what is missing."""

from __future__ import annotations

import itertools
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_cases import tiny_study

from cudbound.study.run.replicate_rows import Key, ReplicateRow, read_shard, replicates_of
from cudbound.study.run.runner import run_study
from cudbound.study.run.store import Store

STUDY = tiny_study(n_replicates=5)


def row(scenario: str, n: int, replicate: int) -> ReplicateRow:
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
        run_study(STUDY, tmp_path / "s", shard=shard)
    assert os.listdir(tmp_path) == []


def test_missing_names_what_is_not_stored(tmp_path):
    with Store.resume(tmp_path / "s", STUDY) as store:
        rows = [
            row(scenario.name, n, number)
            for scenario in STUDY.scenarios
            for n, numbers in {12: range(5), 20: (0, 2, 3)}.items()
            for number in numbers
        ]
        store.add(rows)
        assert store.missing() == {("near", 20): [1, 4], ("broken", 20): [1, 4]}
        assert store.missing((2, 2)) == {("near", 20): [1], ("broken", 20): [1]}
