"""How far the refits of a call are: a bar, or a warning once of refits that are going to take long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cudbound.basis.bars import current_progress
from cudbound.basis.calls import warn
from cudbound.basis.exceptions import SlowRefitsWarning

#: Refits one by one that are likely to take longer than this, judged after this many seconds of them, are announced.
LONG_SECONDS, SECONDS_BEFORE_FORECAST = 60.0, 2.0


class Forecast:
    """Warns once of refits that are going to take long, as soon as the first few tell.

    Parameters
    ----------
    total : int
        Refits of the run.
    clock : callable, default=time.monotonic
    """

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic):
        self._total = total
        self._clock = clock
        self._begun: float | None = None
        self._made = 0
        self._told = False

    def __call__(self, n_fits: int) -> None:
        """Note that so many refits more have been made."""
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
                SlowRefitsWarning(
                    f"{self._total:,} refits will take about {_in_words(seconds)}, judged by the first "
                    f"{self._made}. Ctrl-C stops them; n_jobs=-1 uses all cores, "
                    'resampling=Resampling(inner="oob") and a smaller n_resamples need fewer fits, and '
                    "cudbound.set_config(progress=True) shows how far they are.",
                    n_fits=self._total,
                    seconds=seconds,
                ),
            )


def _in_words(seconds: float) -> str:
    minutes = seconds / 60.0
    return f"{minutes:.0f} minutes" if minutes < 90.0 else f"{minutes / 60.0:.1f} hours"


@contextmanager
def progress_bar(total: int) -> Iterator[Callable[[int], object]]:
    """Show a bar over all refits of a run, with the time that they are likely to take; yields how to advance it.

    Without a bar the time is told if it is going to be long.

    Parameters
    ----------
    total : int
        Refits of the run.
    """
    shown = current_progress()
    if not shown.shown or total == 0:
        yield Forecast(total) if total else lambda _: None
        return
    # with smoothing 0 the time that remains is judged by all fits made so far, not by the last few
    with shown.bar(total=total, desc="refits", unit="fit", smoothing=0) as bar:
        yield bar.update
        if shown.due:
            bar.total = bar.n  # draws that were dropped, or drawn again, are counted here at last
            bar.refresh()
