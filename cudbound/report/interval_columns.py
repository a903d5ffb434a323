"""The columns and notes of a table of intervals, or of point estimates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cudbound.basis.metric_words import metric_words
from cudbound.basis.outcomes import Center
from cudbound.basis.results import IntervalEstimate, PointEstimate
from cudbound.report.cautions import cautions
from cudbound.report.estimands import explain_estimands
from cudbound.report.headline import headline, majority_notes
from cudbound.report.table_style import FULL, Style, styled
from cudbound.report.tables import Column, Report, Run, rows_report, with_confidence

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = [Column(name, name, "difference") for name in ("estimate", "low", "high", "width")]

#: The subject of the title, by the alternative that all rows share.
_LIMITS = {"two-sided": "intervals", "less": "upper limits", "greater": "lower limits"}

#: The subject of the title if all rows have the same kind of estimand.
_SUBJECTS = {
    "conditional": "the error of this fitted classifier",
    "expected": "the mean error of this learning algorithm",
}

#: Names of centers in the notes.
_CENTERS: dict[Center, str] = {
    "training error": "the training error",
    ".632 estimate": "the .632 estimate",
    "mean of cross-validated and .632+": "the mean of the cross-validated and the .632+ estimate",
}
#: Limits and estimates within this distance are equal up to the order of summation.
ROUNDING = 1e-9
#: Why an estimate may lie outside its limits.
OUTSIDE = (
    "the limits do not include the estimate. They are not centered at it: they are quantiles over resampled data sets, "
    "on which classifiers have a higher or lower error than on the data themselves, and the method does not correct "
    "this."
)


def interval_report(
    rows: Sequence[IntervalEstimate],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None = None,
    style: Style = FULL,
) -> Report:
    """Return rows of intervals with their title and notes.

    The notes give the sentence to quote, the scale, the target, reasons for caution, and what is not guaranteed.
    """
    kinds = {row.estimand.kind for row in rows} or {"conditional"}
    kind = kinds.pop() if len(kinds) == 1 else "several"
    subject = _SUBJECTS.get(kind, "the error of a classifier")
    metrics = list(dict.fromkeys(row.metric for row in rows)) or ["error"]
    other, what = metrics != ["error"], metric_words(metrics)
    subject = subject.replace("error", what, 1)
    units = (
        ""
        if all(row.is_proportion for row in rows)
        else ", costs, net benefits and ratios in their own units"
    )
    notes = (
        f"Scale: {style.scale}{units}, limits clipped to it{'' if style.on_paper else '; width = high - low'}.",
        *_estimand_notes(rows),
        _validation_note(rows, style),
        "" if style.on_paper else _center_note(rows),  # it speaks of methods by their short names
        "" if style.on_paper else _outside_note(rows),
        *(() if run is None else _notes_of_run(rows, run, name=not style.on_paper)),
    )
    ways = {row.alternative for row in rows}
    limits = _LIMITS[ways.pop()] if len(ways) == 1 else "intervals"
    title = f"{with_confidence(rows).capitalize()} {limits} for {subject}"
    columns = [Column("metric", "metric", "text"), *_COLUMNS] if other else _COLUMNS
    report = rows_report("intervals", title, notes, columns, rows, to_frame, run)
    if not style.on_paper:  # where the sentence stands in the text
        report = replace(report, headline=headline(rows, run, style.percent))
    return styled(report, rows, style)


def _estimand_notes(rows: Sequence[IntervalEstimate]) -> list[str]:
    """Return what the intervals cover; metrics at a stated prevalence are for another population."""
    rows_at: dict[float | None, list[IntervalEstimate]] = {}
    for row in rows:
        rows_at.setdefault(row.estimand.prevalence, []).append(row)
    return [
        note
        for part in rows_at.values()
        for note in explain_estimands(
            (row.estimand for row in part), what=metric_words([row.metric for row in part])
        )
    ]


def _notes_of_run(rows: Sequence[IntervalEstimate], run: Run, name: bool) -> tuple[str, ...]:
    """Return what the training rows themselves say about the intervals, and reasons for caution."""
    of_run = cautions(rows, run.n_samples, run.cautions)
    return (*majority_notes(rows, run, name=name), *(caution.args[0] for caution in of_run))


def _validation_note(rows: Sequence[IntervalEstimate], style: Style) -> str:
    new = [row for row in rows if row.new_cases]
    external = dict.fromkeys(row.title if style.on_paper else row.method for row in new)
    internal = "Internal intervals from the training data alone, without external validation"
    if not external:
        return f"{internal}."
    cases = f"{new[0].tested}, to which the classifier was not fitted."
    if len(new) == len(rows):
        return f"Intervals from {cases}"
    return f"{internal}; except {', '.join(external)}, from {cases}"


def _center_note(rows: Sequence[IntervalEstimate]) -> str:
    centered = {what: _methods(rows, center) for center, what in _CENTERS.items()}
    said = [f"{', '.join(names)} at {what}" for what, names in centered.items() if names]
    return f"Centered: {'; '.join(said)}." if said else ""


def _outside_note(rows: Sequence[IntervalEstimate]) -> str:
    out = [row for row in rows if not row.low - ROUNDING <= row.estimate <= row.high + ROUNDING]
    outside = dict.fromkeys(row.method for row in out if not math.isnan(row.estimate + row.low + row.high))
    return f"{', '.join(outside)}: {OUTSIDE}" if outside else ""


def _methods(rows: Sequence[IntervalEstimate], center: Center) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows if row.center == center))


def point_report(
    rows: Sequence[PointEstimate],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None = None,
    style: Style = FULL,
) -> Report:
    """Return rows of point estimates with their title and notes."""
    notes = (
        f"Scale: {style.scale}.",
        *explain_estimands(row.estimand for row in rows),
        "Estimates without uncertainty; compare_intervals gives intervals.",
        *(() if run is None else (caution.args[0] for caution in run.cautions)),
    )
    columns = (Column("estimate", "estimate", "difference"),)
    title = "Point estimates of the error of a classifier"
    report = rows_report("estimates", title, notes, columns, rows, to_frame, run)
    return styled(report, rows, style)
