"""Reasons for caution about an interval: each is issued as a warning and noted under the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from cudbound.basis.calls import warn
from cudbound.basis.exceptions import CudboundWarning, SmallSampleWarning
from cudbound.basis.proportions import limit_without_error
from cudbound.basis.results import IntervalEstimate, Row
from cudbound.basis.rounding import Worded, format_level

#: Least and most training rows of a cell of a study.
STUDIED = (20, 500)
#: Test cases below which one of them is more than a twentieth.
FEW_TESTED = 20
#: A limit that is lower by at most this share differs only by rounding.
ROUNDING = 1e-9


def cautions(
    rows: Sequence[IntervalEstimate],
    n_samples: int,
    of_data: Sequence[CudboundWarning] = (),
) -> tuple[CudboundWarning, ...]:
    """Return reasons for caution about intervals computed from training rows.

    Parameters
    ----------
    rows : sequence of IntervalEstimate
    n_samples : int
        Training rows.
    of_data : sequence of CudboundWarning, default=()
        Cautions from the training rows themselves, which do not concern rows from test cases.
    """
    internal = [row for row in rows if not row.new_cases]
    of_training = (*_low_limits(internal, n_samples), *_size(n_samples), *of_data) if internal else ()
    return (*of_training, *few_test_cases(rows))


def warn_of(found: Iterable[CudboundWarning]) -> None:
    """Issue the cautions as warnings."""
    for one in found:
        warn(one)


def _low_limits(rows: Sequence[IntervalEstimate], n: int) -> list[CudboundWarning]:
    """Warn about upper limits lower than n new cases without an error could support, once per level."""
    low: dict[tuple[float, float], list[IntervalEstimate]] = {}
    for row in rows:
        if row.alternative == "greater" or row.metric != "error":
            continue
        limit = limit_without_error(n, row.confidence_level, row.alternative)
        if row.high < limit * (1.0 - ROUNDING):
            low.setdefault((row.confidence_level, limit), []).append(row)
    return [
        SmallSampleWarning(
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


def few_test_cases(rows: Iterable[Row]) -> tuple[CudboundWarning, ...]:
    """Return a caution if there are few test cases."""
    sizes = {row.new_cases for row in rows if row.new_cases}
    return tuple(
        SmallSampleWarning(
            f"The results on test cases are based on {cases}. With fewer than {FEW_TESTED}, one case changes an "
            "estimate by more than 5 points. Report their number with the interval.",
            n_samples=cases.n,
        )
        for cases in sizes
        if cases.n < FEW_TESTED
    )


def _size(n: int) -> list[CudboundWarning]:
    least, most = STUDIED
    if least <= n <= most:
        return []
    few, many = "with so few, no interval is informative", "with so many, some can be set aside for testing"
    advice = few if n < least else many
    message = (
        f"These intervals were studied with {least} to {most} training rows, but there are {n}: {advice}."
    )
    return [SmallSampleWarning(message, n_samples=n)]
