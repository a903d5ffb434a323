"""Worker processes that do not outlive the process that they work for."""

from __future__ import annotations

import os
import signal
import threading
import time
from functools import cache

#: Seconds between two looks at whether the parent is still there.
LOOK_SECONDS = 0.5


def begin_worker(parent: int) -> None:
    """Prepare a process whose parent is `parent`: it ignores Ctrl-C, which its parent answers, and ends with it.

    A parent that is killed says nothing: its workers would finish what they have, and wait for minutes for more.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getppid() != parent:
        os._exit(1)
    end_with(parent)


@cache
def end_with(parent: int) -> None:
    """End this process soon after its parent; does nothing in any process that is no child of `parent`.

    Windows keeps the number of a parent that has ended; workers end there when they hand over what they have.
    """
    if os.getppid() == parent:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)  # not by an exception, which would wait for what the worker does
