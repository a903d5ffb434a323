"""Bounds on what a test may take, so that a hostile input that finds a way to more fails one test, not the machine."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

GIB = 2**30
#: Seconds after which a block that waits is ended, for a pipe that nobody writes to say; no test takes as long.
HANGING_SECONDS = 60.0


class TooSlow(BaseException):
    """The block took more processor time than allowed, or waited for ever; no handler of errors catches it."""


@contextmanager
def bounded(memory: int = GIB, seconds: float = 10.0) -> Iterator[None]:
    """Let the block take so many further bytes of address space, and so many seconds of processor time.

    An allocation beyond the bytes is refused as on a full machine, with MemoryError. Of the main thread alone.
    """

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TooSlow(f"{seconds} s of processor time" if signum == signal.SIGPROF else "it waits for ever")

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    handlers = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory, hard))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, HANGING_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for number, handler in handlers.items():
            signal.signal(number, handler)
