"""What a reader must know before believing an interval: each caution is a warning, and a note under the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import CudboundWarning, LowUpperLimitWarning, SampleSizeWarning
from cudbound.basis.proportions import limit_without_error
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.rounding import Worded, format_level

#: Sizes of training sets on which the intervals of this package were studied.
STUDIED = (20, 200)
#: A limit that is lower by no more than this share is rounded.
ROUNDING = 1e-9


def cautions(
    rows: Sequence[IntervalEstimate],
    n_samples: int,
    of_data: Sequence[CudboundWarning] = (),
) -> tuple[CudboundWarning, ...]:
    """Return what speaks against believing intervals that were computed from training rows.

    Parameters
    ----------
    rows : sequence of IntervalEstimate
        Those from new cases are left out: how many there were is not known here.
    n_samples : int
        Training rows.
    of_data : sequence of CudboundWarning, default=()
        What the training rows themselves showed.
    """
    internal = [row for row in rows if row.center != "error on new cases"]
    if not internal:
        return ()
    return (*_low_limits(internal, n_samples), *_size(n_samples), *of_data)


def warn_of(found: Iterable[CudboundWarning]) -> None:
    """Give the cautions as warnings."""
    for one in found:
        warn(one)


def _low_limits(rows: Sequence[IntervalEstimate], n: int) -> list[CudboundWarning]:
    """Caution of upper limits that n new cases could not give, not even without an error: one for each level."""
    low: dict[tuple[float, float], list[IntervalEstimate]] = {}
    for row in rows:
        if row.alternative == "greater" or row.metric != "error":
            continue
        limit = limit_without_error(n, row.confidence_level, row.alternative)
        if row.high < limit * (1.0 - ROUNDING):
            low.setdefault((row.confidence_level, limit), []).append(row)
    return [
        LowUpperLimitWarning(
            Worded.of(partial(_too_good, found, n, level, limit)),
            methods=tuple(row.method for row in found),
            limit=limit,
        )
        for (level, limit), found in low.items()
    ]


def _too_good(
    rows: Sequence[IntervalEstimate], n: int, level: float, limit: float, write: Callable[..., str]
) -> str:
    found = ", ".join(f"{row.method} (upper limit {write(row.high)})" for row in rows)
    return (
        f"Too good to be true: {found}. Even {n} new cases without a single error would show, at "
        f"{format_level(level)}, no more than that the error is at most {write(limit)}."
    )


def _size(n: int) -> list[CudboundWarning]:
    least, most = STUDIED
    if least <= n <= most:
        return []
    few, many = "with so few, no interval shows much", "with so many, part of them can serve as a test set"
    advice = few if n < least else many
    message = f"These intervals were studied on {least} to {most} training rows, and there are {n}: {advice}."
    return [SampleSizeWarning(message, n_samples=n)]
