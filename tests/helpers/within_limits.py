"""Run a block of a test with little memory and an end: what eats memory, or hangs, fails and harms no other test."""

from __future__ import annotations

import faulthandler
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

#: Bytes that a refusal may take beyond what the process has already.
MEMORY = 2**30
#: Seconds after which a block is taken to hang, on the most heavily loaded machine as well.
PATIENCE = 60


class HangError(BaseException):
    """The block did not end; no handler of the package catches it."""


@contextmanager
def within_limits(memory: int = MEMORY, patience: int = PATIENCE) -> Iterator[None]:
    """Give the block `memory` further bytes of address space and `patience` seconds.

    Beyond them it meets a MemoryError or a HangError. Where not even Python gets its turn, the process ends with the
    lines that it stood at.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + memory, hard))
    before = signal.signal(signal.SIGALRM, _hang)
    signal.setitimer(signal.ITIMER_REAL, patience)
    faulthandler.dump_traceback_later(2 * patience, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
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
    raise HangError(f"no end within {PATIENCE} seconds")
