"""The columns and notes of a table of intervals, point estimates, comparisons or methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cudbound.basis.results import (
    Center,
    ComparisonResult,
    IntervalEstimate,
    PointEstimate,
    hypotheses_in_words,
)
from cudbound.basis.words import grouped, in_formula, metric_words
from cudbound.report.sentences import DIFFERENCES, SAME_POPULATION, cautions, explain_estimands, headline
from cudbound.report.tables import METHOD, Column, Report, Run, Style, for_paper, rows_report, with_confidence

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
    run: Run | None,
    style: Style,
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
    in_units = any(not row.is_proportion for row in rows)
    units = ", costs, net benefits and ratios in their own units" if in_units else ""
    # metrics at a stated prevalence are for another population
    populations = grouped((row.estimand.prevalence, row) for row in rows).values()
    centered = {
        center: dict.fromkeys(row.method for row in rows if row.center == center) for center in _CENTERS
    }
    centers = [f"{', '.join(names)} at {_CENTERS[center]}" for center, names in centered.items() if names]
    outside = dict.fromkeys(
        row.method for row in rows if row.estimate < row.low - ROUNDING or row.estimate > row.high + ROUNDING
    )
    notes = (
        f"Scale: {style.SCALES[style.percent]}{units}, limits clipped to it.",
        *(
            note
            for part in populations
            for note in explain_estimands(
                (row.estimand for row in part), what=metric_words([row.metric for row in part])
            )
        ),
        _validation_note(rows),
        f"Centered: {'; '.join(centers)}." if centers else "",
        f"{', '.join(outside)}: {OUTSIDE}" if outside else "",
        *(() if run is None else map(str, cautions(rows, run.n_samples, run.cautions, style.percent))),
    )
    ways = {row.alternative for row in rows}
    limits = _LIMITS[ways.pop()] if len(ways) == 1 else "intervals"
    title = f"{with_confidence(rows).capitalize()} {limits} for {subject}"
    columns = [Column("metric", "metric", "text"), *_COLUMNS] if other else _COLUMNS
    quoted = headline(rows, run, style.percent)
    report = rows_report("intervals", title, notes, columns, rows, to_frame, run, style, headline=quoted)
    return report if style.style == "full" else for_paper(report, rows)


def _validation_note(rows: Sequence[IntervalEstimate]) -> str:
    def names_of(part: Sequence[IntervalEstimate]) -> str:
        return ", ".join(dict.fromkeys(row.method for row in part))

    new = [row for row in rows if row.new_cases]
    pooled = [row for row in rows if row.tested is not None and row.tested.pooled]
    internal = "Internal intervals from the training data alone, without external validation"
    if new:
        cases = f"{new[0].tested}, to which the classifier was not fitted."
        only_new = len(new) + len(pooled) == len(rows)
        note = f"Intervals from {cases}" if only_new else f"{internal}; except {names_of(new)}, from {cases}"
    else:
        note = "" if len(pooled) == len(rows) else f"{internal}."
    both = f"{names_of(pooled)}: from the training data and new cases, {SAME_POPULATION}." if pooled else ""
    return " ".join(filter(None, (note, both)))


def point_report(
    rows: Sequence[PointEstimate],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None,
    style: Style,
) -> Report:
    """Return rows of point estimates with their title and notes."""
    notes = (
        f"Scale: {style.SCALES[style.percent]}.",
        *explain_estimands(row.estimand for row in rows),
        "Estimates without uncertainty; compare_intervals gives intervals.",
        *(() if run is None else map(str, run.cautions)),
    )
    columns = (Column("estimate", "estimate", "difference"),)
    title = "Point estimates of the error of a classifier"
    report = rows_report("estimates", title, notes, columns, rows, to_frame, run, style)
    return report if style.style == "full" else for_paper(report, rows)


_ALTERNATIVE = Column("alternative", "alternative", "text")
_PVALUE = Column("pvalue", "p-value", "pvalue")
_DIFFERENCE_COLUMNS = (*_COLUMNS[:3], Column("statistic", "statistic", "statistic"), _PVALUE)
_NAMES = (Column("a", "a", "text"), Column("b", "b", "text"))
#: For several pairs.
_ADJUSTED = (
    _COLUMNS[0],
    Column("simultaneous_interval.low", "low", "difference"),
    Column("simultaneous_interval.high", "high", "difference"),
    _PVALUE,
    Column("adjusted_pvalue", "Holm", "pvalue"),
)


def comparison_report(
    rows: Sequence[ComparisonResult],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None,
    style: Style,
) -> Report:
    """Return rows of comparisons with their title and notes."""
    pairs = list(dict.fromkeys((row.a, row.b) for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    a, b = pairs[0] if len(pairs) == 1 else ("a", "b")
    tests = dict.fromkeys((row.alternative, row.null) for row in rows)
    what = in_formula(rows[0].metric) if rows else "error"
    more = "ranks better" if what == "AUC" else "errs more"
    hypotheses = [hypotheses_in_words(*test, a, b, what, style.percent) for test in tests]
    tested = [
        f"p-value: against {null}. A small one is evidence for {alternative}; a large one does not show {null}."
        for null, alternative in hypotheses
    ]
    scale = "[-100%, 100%]" if style.percent else "[-1, 1]"
    new = dict.fromkeys(row.method for row in rows if row.n_fits == 0)  # new test cases take no fits
    external = f"; except {', '.join(new)}, from test cases" if new else ""
    notes = (
        f"Method: {methods[0]}." if len(pairs) > 1 and len(methods) == 1 else "",
        f"Estimate: {what}({a}) - {what}({b}), in {scale}, limits clipped to it; above 0 where {a} {more}.",
        f"Limits: simultaneous (Bonferroni); for each method, they hold together for all {len(pairs)} pairs at the "
        "nominal level."
        if len(pairs) > 1
        else "",
        "p-value: for a single pair. Holm: adjusted for the number of pairs." if len(pairs) > 1 else "",
        *tested,
        *explain_estimands((row.estimand for row in rows), DIFFERENCES, what),
        f"Internal comparisons from one data set, without external validation{external}."
        if len(new) < len(methods)
        else "",
        *(() if run is None else map(str, run.cautions)),
    )
    simultaneous = "simultaneous " if len(pairs) > 1 else ""
    intervals = f"{simultaneous}{with_confidence(rows)} intervals"
    title = f"Differences of two {what}s, {what}({a}) - {what}({b}), with {intervals}"
    columns = [
        *([_ALTERNATIVE] if len({row.alternative for row in rows}) > 1 else []),
        *(_ADJUSTED if len(pairs) > 1 else _DIFFERENCE_COLUMNS),
    ]
    first = [*(_NAMES if len(pairs) > 1 else []), *([] if len(methods) == 1 < len(pairs) else [METHOD])]
    report = rows_report("comparisons", title, notes, columns, rows, to_frame, run, style, first=first)
    return report if style.style == "full" else for_paper(report, by_pair(rows))


def by_pair(rows: Sequence[ComparisonResult]) -> tuple[ComparisonResult, ...]:
    """Return rows of several pairs, named by their pair, with simultaneous limits; others unchanged."""
    several = len({row.method for row in rows}) > 1
    return tuple(
        row
        if row.simultaneous_interval is None
        else replace(
            row,
            method=f"{row.a} - {row.b}{f', {row.method}' if several else ''}",
            words=None,
            raw_interval=row.simultaneous_interval,
        )
        for row in rows
    )


def methods_report(frame: pd.DataFrame, notes: Sequence[str] = (), title: str = "Known methods") -> Report:
    """Return a frame of text columns, one row per method, as a table; its name in JSON is "methods".

    Parameters
    ----------
    frame : pandas.DataFrame
        Its columns are the columns of the table; "_" in their names becomes a space in the headings. Fewer
        columns are easier to read.
    notes : sequence of str, default=()
        Notes under the table.
    title : str, default="Known methods"

    Examples
    --------
    >>> import pandas as pd
    >>> from cudbound.report.render import render_report
    >>> print(render_report(methods_report(pd.DataFrame({"name": ["cud"], "fits": ["0"]}))))
    Known methods
    <BLANKLINE>
    name  fits
    ----  ----
    cud   0
    """
    names = [str(name) for name in frame.columns]
    rows = tuple(dict(zip(names, map(str, values), strict=True)) for values in frame.itertuples(index=False))
    columns = tuple(Column(name, name.replace("_", " "), "text") for name in names)
    return Report("methods", title, tuple(notes), columns, rows, lambda: frame)
