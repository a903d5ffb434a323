"""Processes that hang or crash are noticed, and the jobs that follow are done."""

from __future__ import annotations

import os
import time

import pytest
from tiers import quick_first
from watched import Answer, Watched


@pytest.mark.parametrize("processes", quick_first([1, 2]))
def test_what_hangs_is_ended(processes: int) -> None:
    with Watched(processes, patience=3.0) as watched:
        answers = {answer.job: answer for answer in watched.run(time.sleep, [0.0, 1000.0, 0.01, 0.02])}
    assert answers.pop(1000.0) == Answer(1000.0, None, "hung")
    assert sorted(answers) == [0.0, 0.01, 0.02]
    assert all(answer.fault is None for answer in answers.values())


def test_what_crashes_is_begun_anew() -> None:
    with Watched() as watched:
        assert list(watched.run(os._exit, [1])) == [Answer(1, None, "crashed")]
        assert list(watched.run(len, ["two", ""])) == [Answer("two", 3), Answer("", 0)]
        assert list(watched.run(len, [])) == []
