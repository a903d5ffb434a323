"""Progress of the refits in a call: a bar, or one warning if they will take long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cudbound.basis.calls import Forecast, current_progress


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
