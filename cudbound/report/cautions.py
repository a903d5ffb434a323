"""What a reader must know before believing an interval: each caution is a warning, and a note under the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import CudboundWarning, LowUpperLimitWarning, SampleSizeWarning
from cudbound.basis.proportions import limit_without_error
from cudbound.basis.results import IntervalEstimate
from cudbound.basis.rounding import format_level, format_proportion

#: Sizes of training sets on which the intervals of this package were studied.
STUDIED = (20, 200)
#: A limit that is lower by no more than this share is rounded.
ROUNDING = 1e-9


def cautions(
    rows: Sequence[IntervalEstimate],
    n_samples: int,
    of_data: Sequence[CudboundWarning] = (),
    percent: bool = False,
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
    percent : bool, default=False
        Whether proportions are written in percent.
    """
    internal = [row for row in rows if row.center != "error on new cases"]
    if not internal:
        return ()
    return (*_low_limits(internal, n_samples, percent), *_size(n_samples), *of_data)


def warn_of(found: Iterable[CudboundWarning]) -> None:
    """Give the cautions as warnings."""
    for one in found:
        warn(one)


def _low_limits(rows: Sequence[IntervalEstimate], n: int, percent: bool) -> list[CudboundWarning]:
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
            f"Too good to be true: {', '.join(_upper_limit(row, percent) for row in found)}. "
            f"Even {n} new cases without a single error "
            f"would show, at {format_level(level)}, no more than that the error is at most "
            f"{format_proportion(limit, percent=percent)}.",
            methods=tuple(row.method for row in found),
            limit=limit,
        )
        for (level, limit), found in low.items()
    ]


def _upper_limit(row: IntervalEstimate, percent: bool) -> str:
    return f"{row.method} (upper limit {format_proportion(row.high, percent=percent)})"


def _size(n: int) -> list[CudboundWarning]:
    least, most = STUDIED
    if least <= n <= most:
        return []
    few, many = "with so few, no interval shows much", "with so many, part of them can serve as a test set"
    advice = few if n < least else many
    message = f"These intervals were studied on {least} to {most} training rows, and there are {n}: {advice}."
    return [SampleSizeWarning(message, n_samples=n)]
