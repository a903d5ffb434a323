"""The columns and notes of a table of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cudbound.basis.metric_words import in_formula
from cudbound.basis.outcomes import alternative_in_words, null_in_words
from cudbound.basis.results import ComparisonResult
from cudbound.basis.rounding import worded
from cudbound.report.estimands import DIFFERENCES, explain_estimands
from cudbound.report.table_style import FULL, Style, methods_in_words, styled
from cudbound.report.tables import Column, Report, Run, rows_report, with_confidence

if TYPE_CHECKING:
    import pandas as pd

_ALTERNATIVE = Column("alternative", "alternative", "text")
_PVALUE = Column("pvalue", "p-value", "pvalue")
_COLUMNS = (
    Column("estimate", "estimate", "difference"),
    Column("low", "low", "difference"),
    Column("high", "high", "difference"),
    Column("statistic", "statistic", "statistic"),
    _PVALUE,
)
_NAMES = (Column("a", "a", "text"), Column("b", "b", "text"))
#: For several pairs.
_ADJUSTED = (
    Column("estimate", "estimate", "difference"),
    Column("simultaneous_low", "low", "difference"),
    Column("simultaneous_high", "high", "difference"),
    _PVALUE,
    Column("adjusted_pvalue", "Holm", "pvalue"),
)


def comparison_report(
    rows: Sequence[ComparisonResult],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None = None,
    style: Style = FULL,
) -> Report:
    """Return rows of comparisons with their title and notes."""
    pairs = list(dict.fromkeys((row.a, row.b) for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    a, b = pairs[0] if len(pairs) == 1 else ("a", "b")
    tests = dict.fromkeys((row.alternative, row.null) for row in rows)
    what = in_formula(rows[0].metric) if rows else "error"
    more = "ranks better" if what == "AUC" else "errs more"
    hypotheses = [
        [worded(words(*test, a, b, what), style.percent) for words in (null_in_words, alternative_in_words)]
        for test in tests
    ]
    tested = [
        f"p-value: against {null}. A small one is evidence for {alternative}; a large one does not show {null}."
        for null, alternative in hypotheses
    ]
    scale = "[-100%, 100%]" if style.percent else "[-1, 1]"
    new = dict.fromkeys(row.method for row in rows if row.n_fits == 0)  # new test cases take no fits
    external = f"; except {', '.join(new)}, from test cases" if new else ""
    notes = (
        f"Method: {methods_in_words(rows) if style.on_paper else methods[0]}."
        if len(pairs) > 1 and (style.on_paper or len(methods) == 1)
        else "",
        f"Estimate: {what}({a}) - {what}({b}), in {scale}, limits clipped to it; above 0 where {a} {more}.",
        *(_adjustments(len(pairs)) if len(pairs) > 1 else ()),
        *tested,
        *explain_estimands((row.estimand for row in rows), DIFFERENCES, what),
        f"Internal comparisons from one data set, without external validation{external}."
        if len(new) < len(methods)
        else "",
        *(() if run is None else (caution.args[0] for caution in run.cautions)),
    )
    simultaneous = "simultaneous " if len(pairs) > 1 else ""
    intervals = f"{simultaneous}{with_confidence(rows)} intervals"
    title = f"Differences of two {what}s, {what}({a}) - {what}({b}), with {intervals}"
    columns = [
        *([_ALTERNATIVE] if len({row.alternative for row in rows}) > 1 else []),
        *(_ADJUSTED if len(pairs) > 1 else _COLUMNS),
    ]
    report = rows_report("comparisons", title, notes, columns, rows, to_frame, run)
    if len(pairs) > 1:
        kept = report.columns[len(methods) == 1 :]
        report = replace(report, columns=(*_NAMES, *kept))
    return styled(report, by_pair(rows), style)


def _adjustments(n_pairs: int) -> tuple[str, ...]:
    return (
        f"Limits: simultaneous (Bonferroni); for each method, they hold together for all {n_pairs} pairs at "
        "the nominal level.",
        "p-value: for a single pair. Holm: adjusted for the number of pairs.",
    )


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
