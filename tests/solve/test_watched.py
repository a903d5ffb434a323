"""Processes that hang or crash are noticed, and the jobs that follow are done."""

from __future__ import annotations

import os
import time

import pytest
from tiers import quick_first
from watched import Answer, Watched


@pytest.mark.parametrize("processes", quick_first([1, 2]))
def test_what_hangs_is_ended(processes: int) -> None:
    endless = range(10**18)
    with Watched(processes, patience=1.0) as watched:
        answers = {answer.job: answer for answer in watched.run(sum, [range(2), endless, range(3), range(4)])}
    assert answers.pop(endless) == Answer(endless, None, "hung")
    assert {job: answer.result for job, answer in answers.items()} == {range(2): 1, range(3): 3, range(4): 6}
    assert all(answer.fault is None for answer in answers.values())


def test_what_waits_for_a_busy_machine_does_not_hang() -> None:
    with Watched(patience=0.1) as watched:
        assert list(watched.run(time.sleep, [0.5])) == [Answer(0.5)]


def test_what_crashes_is_begun_anew() -> None:
    with Watched() as watched:
        assert list(watched.run(os._exit, [1])) == [Answer(1, None, "crashed")]
        assert list(watched.run(len, ["two", ""])) == [Answer("two", 3), Answer("", 0)]
        assert list(watched.run(len, [])) == []
