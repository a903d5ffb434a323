"""The limits under which the other tests of this folder run."""

from __future__ import annotations

import resource
import signal
import time

import numpy as np
import pytest
from within_limits import HangError, within_limits


def test_memory_is_limited_and_the_limit_is_taken_back():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with within_limits(memory=2**26), pytest.raises(MemoryError):
        np.ones(2**24)
    with within_limits(memory=2**28):
        np.ones(2**24)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_a_hang_ends_and_the_watchdog_is_taken_back():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(HangError), within_limits(patience=1):
        time.sleep(600)
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
