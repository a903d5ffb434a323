"""Progress bars on a terminal and in a notebook, for calls that take several seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

#: Seconds after which a call shows a bar by itself.
PATIENCE = 2.0


@dataclass(frozen=True)
class Progress:
    """Whether a call shows bars, and after how long.

    Attributes
    ----------
    shown : bool
    since : float
        The time, by `time.monotonic`, before which nothing is shown.
    """

    shown: bool
    since: float

    @property
    def due(self) -> bool:
        """Whether a bar may be drawn now."""
        return self.shown and time.monotonic() >= self.since

    @contextmanager
    def bar(self, **settings: Any) -> Iterator[Any]:
        """Yield a tqdm bar, which shows the remaining time; `settings` are passed to tqdm.

        It is drawn with `update` from the time on at which it is due, and wiped out at the end.
        """
        if in_notebook() and find_spec("ipywidgets") is not None:
            from tqdm.notebook import tqdm
        else:
            from tqdm import tqdm

        delay = max(0.0, self.since - time.monotonic())
        with tqdm(disable=not self.shown, delay=delay, leave=False, **settings) as bar:
            yield bar


#: Shows nothing, whatever is asked for.
HIDDEN = Progress(False, 0.0)
#: That of the outermost call, so that the time of its parts runs from its beginning.
_SHARED: ContextVar[Progress | None] = ContextVar("progress", default=None)
#: What `cudbound.set_config` set: bars at once (True), never (False), or where a person sees them (None).
CONFIG: dict[str, bool | None] = {"progress": None}


def current_progress() -> Progress:
    """Return the progress of the enclosing call, or a new one with the settings of `cudbound.set_config`."""
    if (outer := _SHARED.get()) is not None:
        return outer
    now = time.monotonic()
    if CONFIG["progress"] is not None:
        return Progress(CONFIG["progress"], now)
    return Progress(in_notebook() or (sys.stderr is not None and sys.stderr.isatty()), now + PATIENCE)


@contextmanager
def shared(progress: Progress) -> Iterator[None]:
    """Use this progress for all calls in the block."""
    token = _SHARED.set(progress)
    try:
        yield
    finally:
        _SHARED.reset(token)


def in_notebook() -> bool:
    """Whether this is a notebook, which shows standard error although it is not a terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config
