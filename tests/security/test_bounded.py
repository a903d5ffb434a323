"""The bounds that the tests of hostile input set are kept."""

from __future__ import annotations

import itertools
import os
import resource
import signal

import pytest
from bounded import GIB, TooSlow, bounded


def test_memory_beyond_the_bound_is_refused():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with bounded(memory=GIB // 4):
        assert len(bytes(GIB // 8)) == GIB // 8
        with pytest.raises(MemoryError):
            bytes(GIB // 2)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_a_loop_without_end_is_ended():
    with pytest.raises(TooSlow, match=r"0\.05 s of processor time"), bounded(seconds=0.05):
        all(number >= 0 for number in itertools.count())
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_waiting_without_end_is_ended(monkeypatch):
    monkeypatch.setattr("bounded.HANGING_SECONDS", 0.05)
    reader, writer = os.pipe()
    try:
        with pytest.raises(TooSlow, match="it waits for ever"), bounded():
            os.read(reader, 1)
    finally:
        os.close(reader)
        os.close(writer)
