"""Progress bars on a terminal and in a notebook, for calls that take longer than a person waits without a sign."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

#: Seconds after which a call shows a bar by itself.
PATIENCE = 2.0


@dataclass(frozen=True)
class Progress:
    """Whether a call shows bars, and from when on; its parts share it, so that the time runs from its beginning.

    Attributes
    ----------
    shown : bool
    since : float
        The time, by `time.monotonic`, before which nothing is shown.
    """

    shown: bool
    since: float

    @classmethod
    def of(cls, asked: bool | Progress | None) -> Progress:
        """Return what was asked for: bars at once or never, or for None bars after `PATIENCE`, if a person sees them.

        Examples
        --------
        >>> Progress.of(False).shown, Progress.of(True).shown
        (False, True)
        """
        if isinstance(asked, Progress):
            return asked
        now = time.monotonic()
        if asked is not None:
            return cls(bool(asked), now)
        return cls(in_notebook() or sys.stderr.isatty(), now + PATIENCE)

    @property
    def due(self) -> bool:
        """Whether a bar may be drawn now."""
        return self.shown and time.monotonic() >= self.since

    @contextmanager
    def bar(self, **settings: Any) -> Iterator[Any]:
        """Yield a bar of tqdm, which has the time that remains; its `settings` are those of tqdm.

        It is drawn with `update` from the time on at which it is due, and wiped out at the end.
        """
        if in_notebook() and find_spec("ipywidgets") is not None:
            from tqdm.notebook import tqdm
        else:
            from tqdm import tqdm

        delay = max(0.0, self.since - time.monotonic())
        with tqdm(disable=not self.shown, delay=delay, leave=False, **settings) as bar:
            yield bar


def in_notebook() -> bool:
    """Whether this is a notebook, whose standard error is no terminal and is read all the same."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config
