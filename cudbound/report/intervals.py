"""What a reader of an interval table sees."""

from __future__ import annotations

from collections.abc import Sequence

from cudbound.report.estimands import ERRORS, base, explain_estimands
from cudbound.report.style import format_level
from cudbound.report.tables import (
    LEVEL,
    REMARKS,
    Column,
    Report,
    Run,
    joined_remarks,
    level_note,
    levels_of,
)
from cudbound.results import Center, IntervalEstimate, IntervalTable

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

#: What the title speaks of if all rows have one kind of estimand.
_SUBJECTS = {
    "conditional": "the error of this fitted classifier",
    "expected": "the mean error of this learning algorithm",
}


def interval_report(table: IntervalTable, run: Run | None = None) -> Report:
    """Return an interval table with what must stand around it."""
    return Report(
        "intervals",
        title(table),
        tuple(notes(table, run)),
        reader_columns(table),
        tuple(reader_rows(table)),
        table.to_frame,
        run,
        tuple(row.details for row in table.rows),
    )


def reader_columns(table: IntervalTable) -> tuple[Column, ...]:
    """Return the columns; the level has one only where the rows differ in it, else the title names it."""
    if len(levels_of(table.rows)) > 1:
        return (*_COLUMNS[:1], LEVEL, *_COLUMNS[1:])
    return _COLUMNS


def reader_rows(table: IntervalTable) -> list[dict[str, str | float]]:
    """Return one unrounded row a method, limits clipped to [0, 1], with every key of `reader_columns`."""
    return [
        {
            "method": row.method,
            "confidence_level": row.confidence_level,
            "estimate": row.estimate,
            "low": row.confidence_interval.low,
            "high": row.confidence_interval.high,
            "width": row.confidence_interval.width,
            "estimand": row.estimand,
            "n_fits": row.n_fits,
            "remarks": joined_remarks(row),
        }
        for row in table.rows
    ]


def title(table: IntervalTable) -> str:
    """Return what the table shows, with the nominal level where all rows share it."""
    levels = levels_of(table.rows)
    level = f"{format_level(levels[0])} confidence" if len(levels) == 1 else "Confidence"
    kinds = {base(row.estimand) for row in table.rows} or {"conditional"}
    of = (
        _SUBJECTS.get(kinds.pop(), "the error of a classifier")
        if len(kinds) == 1
        else "the error of a classifier"
    )
    return f"{level} intervals for {of}"


def notes(table: IntervalTable, run: Run | None) -> list[str]:
    """Return what must stand under every such table: data, scale, what is covered, what is not promised."""
    return [
        *([] if run is None else run.notes()),
        "Scale: proportions in [0, 1], limits clipped to it; width = high - low.",
        *explain_estimands((row.estimand for row in table.rows), ERRORS),
        _validation_note(table.rows),
        *_center_notes(table.rows),
        level_note(table.rows),
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
    said = []
    if training:
        names = ", ".join("CUD" if name == "cud" else name for name in training)
        said.append(f"{names} {'is' if len(training) == 1 else 'are'} centred at the training error")
    if resampled:
        who = ", ".join(resampled) if others - set(resampled) else "the others" if training else ""
        verb = "" if training else "centred " if who else "Centred "
        said.append(f"{who} {verb}at the .632 estimate".strip())
    separator = "; " if others - set(resampled) else ", "
    return [f"{separator.join(said)}."] if said else []


def _methods(rows: Sequence[IntervalEstimate], center: Center) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows if row.center == center))
