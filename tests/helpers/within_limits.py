"""Run a block of a test with little memory and an end: what eats memory, or hangs, fails and harms no other test."""

from __future__ import annotations

import faulthandler
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

resource = pytest.importorskip("resource", reason="Windows limits neither memory nor files")

#: Bytes that a refusal may take beyond what the process has already.
MEMORY = 2**30
#: Seconds of processor time after which a block is taken to hang, however busy the machine is.
PATIENCE = 60
#: Seconds after which the process ends where not even Python gets its turn, or where nothing is computed.
LONGEST = 1200


class HangError(BaseException):
    """The block did not end; no handler of the package catches it."""


@contextmanager
def within_limits(memory: int = MEMORY, patience: float = PATIENCE) -> Iterator[None]:
    """Give the block `memory` further bytes of address space and `patience` seconds of processor time.

    Beyond them it meets a MemoryError or a HangError. After `LONGEST` seconds the process ends with the lines that it
    stood at. Only Linux can limit the address space.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + memory, hard))
    before = signal.signal(signal.SIGPROF, _hang)
    signal.setitimer(signal.ITIMER_PROF, patience)
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let the operating system write no file beyond a size: a disk that is full, for those who may fill none."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _hang(signum: int, frame: FrameType | None) -> None:
    raise HangError("no end within the processor time that was allowed")
