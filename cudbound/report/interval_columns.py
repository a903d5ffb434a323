"""What a reader of an interval table sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cudbound.outcomes import Center
from cudbound.report.estimands import ERRORS, explain_estimands
from cudbound.report.tables import (
    LEVEL,
    REMARKS,
    Column,
    Report,
    Run,
    level_note,
    levels_of,
    reader_records,
)
from cudbound.results import IntervalEstimate
from cudbound.rounding import format_level

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = (
    Column("method", "method", "text"),
    Column("estimate", "estimate", "proportion"),
    Column("low", "low", "proportion"),
    Column("high", "high", "proportion"),
    Column("width", "width", "proportion"),
    Column("estimand", "estimand", "text"),
    Column("n_fits", "fits", "count"),
    REMARKS,
)

#: What the title speaks of, by the alternative that all rows share.
_LIMITS = {"two-sided": "intervals", "less": "upper limits", "greater": "lower limits"}

#: What the title speaks of if all rows have one kind of estimand.
_SUBJECTS = {
    "conditional": "the error of this fitted classifier",
    "expected": "the mean error of this learning algorithm",
}


def interval_report(
    rows: Sequence[IntervalEstimate], to_frame: Callable[[], pd.DataFrame], run: Run | None = None
) -> Report:
    """Return rows of intervals with what must stand around them."""
    return Report(
        "intervals",
        title(rows),
        tuple(notes(rows, run)),
        reader_columns(rows),
        reader_records(rows),
        to_frame,
        run,
        tuple(row.details for row in rows),
    )


def reader_columns(rows: Sequence[IntervalEstimate]) -> tuple[Column, ...]:
    """Return the columns; the level has one only where the rows differ in it, else the title names it."""
    if len(levels_of(rows)) > 1:
        return (*_COLUMNS[:1], LEVEL, *_COLUMNS[1:])
    return _COLUMNS


def title(rows: Sequence[IntervalEstimate]) -> str:
    """Return what the table shows, with the nominal level where all rows share it."""
    levels = levels_of(rows)
    level = f"{format_level(levels[0])} confidence" if len(levels) == 1 else "Confidence"
    kinds = {row.estimand.kind for row in rows} or {"conditional"}
    of = (
        _SUBJECTS.get(kinds.pop(), "the error of a classifier")
        if len(kinds) == 1
        else "the error of a classifier"
    )
    ways = {row.alternative for row in rows}
    what = _LIMITS[ways.pop()] if len(ways) == 1 else "intervals"
    return f"{level} {what} for {of}"


def notes(rows: Sequence[IntervalEstimate], run: Run | None) -> list[str]:
    """Return what must stand under every such table: data, scale, what is covered, what is not promised."""
    return [
        *([] if run is None else run.notes()),
        "Scale: proportions in [0, 1], limits clipped to it; width = high - low.",
        *explain_estimands((row.estimand for row in rows), ERRORS),
        _validation_note(rows),
        *_center_notes(rows),
        level_note(rows),
    ]


def _validation_note(rows: Sequence[IntervalEstimate]) -> str:
    external = _methods(rows, "error on new cases")
    internal = "Internal intervals, from the training data alone; no external validation"
    if not external:
        return f"{internal}."
    if len(external) == len(dict.fromkeys(row.method for row in rows)):
        return "Intervals from test cases that the classifier was not fitted to."
    return f"{internal}; except {', '.join(external)}, from test cases that the classifier was not fitted to."


def _center_notes(rows: Sequence[IntervalEstimate]) -> list[str]:
    training, resampled = _methods(rows, "training error"), _methods(rows, ".632 estimate")
    others = {row.method for row in rows} - set(training)
    messages = []
    if training:
        names = ", ".join("CUD" if name == "cud" else name for name in training)
        messages.append(f"{names} {'is' if len(training) == 1 else 'are'} centered at the training error")
    if resampled:
        who = ", ".join(resampled) if others - set(resampled) else "the others" if training else ""
        verb = "" if training else "centered " if who else "Centered "
        messages.append(f"{who} {verb}at the .632 estimate".strip())
    separator = "; " if others - set(resampled) else ", "
    return [f"{separator.join(messages)}."] if messages else []


def _methods(rows: Sequence[IntervalEstimate], center: Center) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows if row.center == center))
