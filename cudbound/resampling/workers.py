"""Worker processes that end with their parent process."""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import cache

#: Seconds between two checks whether the parent still exists.
LOOK_SECONDS = 0.5


def begin_worker(parent: int) -> None:
    """Prepare a child process of `parent`: it ignores Ctrl-C, which the parent handles, and ends with the parent.

    A killed parent sends no message: its workers would finish their work and wait minutes for more.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getppid() != parent:
        os._exit(1)
    end_with(parent)


@cache
def end_with(parent: int) -> None:
    """End this process soon after its parent; does nothing in a process that is not a child of `parent`.

    Windows keeps the number of an ended parent; there, workers end when they return their results.
    """
    if os.getppid() == parent:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)  # not by an exception, which would wait for what the worker does
