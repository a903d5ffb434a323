"""Progress of the refits in a call: a bar, or one warning if they will take long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cudbound.basis.bars import current_progress
from cudbound.basis.calls import warn
from cudbound.basis.exceptions import SlowRefitsWarning

#: Refits expected to take longer than the first are announced, judged after the second, both in seconds.
LONG_SECONDS, SECONDS_BEFORE_FORECAST = 10.0, 0.5


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
        self._total = total
        self._helps = helps
        self._clock = clock
        self._begun: float | None = None
        self._made = 0
        self._told = False

    def __call__(self, n_fits: int) -> None:
        """Add to the number of completed refits."""
        if self._told or not n_fits:
            return
        if self._begun is None:
            # the start of workers says nothing of the others
            self._begun = self._clock()
            return
        self._made += n_fits
        elapsed = self._clock() - self._begun
        if elapsed < SECONDS_BEFORE_FORECAST:
            return
        self._told = True
        seconds = elapsed / self._made * self._total
        if seconds >= LONG_SECONDS:
            warn(
                SlowRefitsWarning(f"{self._total:,} refits will take about {_in_words(seconds)}", self._helps)
            )


def _in_words(seconds: float) -> str:
    minutes = seconds / 60.0
    if minutes < 1.5:
        return f"{seconds:.0f} seconds"
    return f"{minutes:.0f} minutes" if minutes < 90.0 else f"{minutes / 60.0:.1f} hours"


@contextmanager
def progress_bar(total: int, helps: tuple[str, ...] = ()) -> Iterator[Callable[[int], object]]:
    """Show a bar over all refits of a run, and warn if they will take long; yields a function that advances both.

    Parameters
    ----------
    total : int
        Refits of the run.
    helps : tuple of str, default=()
        As for `Forecast`.
    """
    shown, forecast = current_progress(), Forecast(total, helps)
    if not shown.shown or total == 0:
        yield forecast
        return
    # with smoothing 0 the time that remains is judged by all fits made so far, not by the last few
    with shown.bar(total=total, desc="refits", unit="fit", smoothing=0) as bar:

        def advance(n_fits: int) -> None:
            forecast(n_fits)
            bar.update(n_fits)

        yield advance
        if shown.due:
            bar.total = bar.n  # draws that were dropped, or drawn again, are counted here at last
            bar.refresh()
