"""A forecast of the time of a call, reported shortly after its start if it is long."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import SlowRefitsWarning

#: Calls expected to take longer than the first are announced, judged after the second, both in seconds.
LONG_SECONDS, SECONDS_BEFORE_FORECAST = 10.0, 0.5


def tell(what: str, seconds: float, helps: tuple[str, ...] = ()) -> bool:
    """Warn if a call will take long, and return whether it will.

    Parameters
    ----------
    what : str
        Such as "1,000 refits".
    seconds : float
    helps : tuple of str, default=()
        Ways to make it faster.
    """
    long = seconds >= LONG_SECONDS
    if long:
        warn(SlowRefitsWarning(f"{what} will take about {_in_words(seconds)}", helps))
    return long


def _in_words(seconds: float) -> str:
    minutes = seconds / 60.0
    if minutes < 1.5:
        return f"{seconds:.0f} seconds"
    return f"{minutes:.0f} minutes" if minutes < 90.0 else f"{minutes / 60.0:.1f} hours"


@dataclass
class Repeats:
    """A call that is repeated with several seeds.

    Attributes
    ----------
    times : int
        Remaining calls, including this one; 0 if nothing is to be reported.
    told : bool, default=False
        Whether the time of all of them has been reported.
    """

    times: int = 1
    told: bool = False


#: The repeats of the current call; None for a single call.
REPEATS: ContextVar[Repeats | None] = ContextVar("repeats", default=None)


class Forecast:
    """Warns once if refits will take long, as soon as the first few allow a forecast.

    Parameters
    ----------
    total : int
        Refits of the run.
    helps : tuple of str, default=()
        Ways to make them fewer or faster.
    clock : callable, default=time.monotonic
    """

    def __init__(self, total: int, helps: tuple[str, ...] = (), clock: Callable[[], float] = time.monotonic):
        self._repeats = REPEATS.get() or Repeats()
        self._total = total * self._repeats.times
        self._helps = helps
        self._clock = clock
        self._begun: float | None = None
        self._made = 0
        self._judged = self._repeats.times == 0

    def __call__(self, n_fits: int) -> None:
        """Add to the number of completed refits."""
        if self._judged or not n_fits:
            return
        if self._begun is None:
            # the start of workers does not represent later refits
            self._begun = self._clock()
            return
        self._made += n_fits
        elapsed = self._clock() - self._begun
        if elapsed < SECONDS_BEFORE_FORECAST:
            return
        self._judged = True
        seeds = f" with {self._repeats.times} seeds" if self._repeats.times > 1 else ""
        self._repeats.told |= tell(
            f"{self._total:,} refits{seeds}", elapsed / self._made * self._total, self._helps
        )
