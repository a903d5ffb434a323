"""The style of a table of methods for readers: layout, digits, percentages, caption and label."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.metric_words import in_formula, metric_words
from cudbound.basis.results import ComparisonResult, IntervalEstimate
from cudbound.basis.rounding import Kind, Worded, format_cell, format_level, worded
from cudbound.report.tables import Column, Report, Row

LAYOUTS = ("full", "paper")
#: With any number of patients, more digits than this are noise.
MAX_DIGITS = 10
#: Names that LaTeX accepts in every context.
_LABEL = re.compile(r"[A-Za-z0-9:._-]+")


class StyleOptions(TypedDict, total=False):
    """The fields of a `Style` as keywords."""

    style: str
    digits: int | None
    percent: bool
    caption: str | None
    label: str | None


@dataclass(frozen=True)
class Style:
    """The style of a table for readers; programs (CSV, JSON) get unrounded numbers.

    Attributes
    ----------
    style : {"full", "paper"}, default "full"
        "paper": one row ``title, 0.16 (0.01 to 0.31)`` per method, with titles instead of the short names.
    digits : int or None, default None
        Decimals of proportions, 0 to 10. None: 3, or 2 for "paper"; in percent 1, or 0 for "paper".
    percent : bool, default False
        Whether proportions are written in percent.
    caption : str or None, default None
        Replaces the title.
    label : str or None, default None
        For references to the table in LaTeX, and as ``id`` in HTML: letters, digits and ``: . _ -``.

    Raises
    ------
    ParameterError
        If a value is not allowed.
    """

    style: str = "full"
    digits: int | None = None
    percent: bool = False
    caption: str | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        if self.style not in LAYOUTS:
            raise ParameterError("style", f"one of {list(LAYOUTS)}", self.style)
        if self.digits is not None and not (
            isinstance(self.digits, int)
            and not isinstance(self.digits, bool)
            and 0 <= self.digits <= MAX_DIGITS
        ):
            raise ParameterError("digits", f"an int from 0 to {MAX_DIGITS}, or None", self.digits)
        if self.label is not None and not _LABEL.fullmatch(self.label):
            raise ParameterError("label", "of letters, digits and : . _ -, such as tab:errors", self.label)

    @property
    def on_paper(self) -> bool:
        """Whether the layout is for a paper."""
        return self.style == "paper"

    @property
    def decimals(self) -> int | None:
        """Decimals of proportions; None uses the rounding rules."""
        if self.digits is None and self.on_paper:
            return 0 if self.percent else 2
        return self.digits

    @property
    def scale(self) -> str:
        """The scale of an error, in words."""
        return "percent, from 0% to 100%" if self.percent else "proportions in [0, 1]"

    @property
    def range(self) -> str:
        """The values that an error can have."""
        return "[0%, 100%]" if self.percent else "[0, 1]"

    def write(self, value: float, kind: Kind = "proportion") -> str:
        """Write a number of the table."""
        return format_cell(value, kind, self.decimals, self.percent)

    def limits(self, row: IntervalEstimate | ComparisonResult) -> str:
        """Write an estimate with its limits or its only limit, such as 0.16 (0.01 to 0.31)."""
        kind: Kind = "difference" if isinstance(row, ComparisonResult) else "proportion"
        own = self if row.is_proportion else replace(self, percent=False)
        estimate, low, high = (own.write(value, kind) for value in (row.estimate, row.low, row.high))
        if math.isnan(row.estimate):
            return "not available"
        if math.isnan(row.low + row.high):
            return f"{estimate} (no limits)"
        limits = {"less": f"at most {high}", "greater": f"at least {low}"}
        return f"{estimate} ({limits.get(row.alternative, f'{low} to {high}')})"


FULL = Style()
#: Columns of the full table that are kept for a paper, if present.
KEPT = ("confidence_level", "metric")


def methods_in_words(rows: Sequence[Row]) -> str:
    """Return the methods of rows with their titles; one whose metrics are computed in different ways has several."""
    metrics_of: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        metric = getattr(row, "metric", "error")
        metrics_of.setdefault(row.method, {}).setdefault(row.title, []).append(metric)
    named = []
    for method, ways in metrics_of.items():
        full = ""
        for title, metrics in ways.items():
            about = f"{method}, for {metric_words(metrics)}" if len(ways) > 1 else method
            if full and title.startswith(f"{full}, "):
                named.append(f"the same{title.removeprefix(full)} ({about})")
            else:
                full = title
                named.append(method if title == method else f"{title} ({about})")
    return "; ".join(named)


def styled(report: Report, rows: Sequence[Row], style: Style) -> Report:
    """Return a table of methods in another style.

    Parameters
    ----------
    report : Report
        The table in full.
    rows : sequence of Row
        The rows behind it.
    style : Style
    """
    if style.on_paper:
        report = _on_paper(report, rows, style)
    return replace(
        report,
        title=report.title if style.caption is None else style.caption,
        headline=tuple(worded(one, style.percent) for one in report.headline),
        notes=tuple(worded(one, style.percent) for one in report.notes),
        columns=tuple(
            replace(
                one,
                heading=worded(one.heading, style.percent),
                decimals=style.decimals,
                percent=style.percent,
            )
            for one in report.columns
        ),
        label=style.label,
    )


def _on_paper(report: Report, rows: Sequence[Row], style: Style) -> Report:
    """Return the estimate and its limits in one column; remarks go below the table."""
    by_metric = any(one.key == "metric" for one in report.columns)
    one_method = by_metric and len({row.method for row in rows}) == 1
    metrics = [metric_words([getattr(row, "metric", "error")]) for row in rows]
    titled = [row.title for row in rows]
    if one_method:
        named = metrics
    elif by_metric:
        named = [f"{title}, for {metric}" for title, metric in zip(titled, metrics, strict=True)]
    else:
        named = titled
    heading, written = "Error", [style.write(row.estimate, "difference") for row in rows]
    limited = [row for row in rows if isinstance(row, IntervalEstimate | ComparisonResult)]
    if limited:
        levels = {row.interval_level for row in limited}
        interval = f"{format_level(levels.pop())} CI" if len(levels) == 1 else "CI"
        what = "Estimate" if by_metric else "Error"
        if isinstance(limited[0], ComparisonResult):
            what = f"Difference of {in_formula(limited[0].metric)}s"
        heading, written = f"{what} ({interval})", [style.limits(row) for row in limited]
    kept = [replace(one, heading=one.heading.capitalize()) for one in report.columns if one.key in KEPT]
    pvalues = [one for one in report.columns if one.key in ("pvalue", "adjusted_pvalue")]
    remarks = [
        Worded.joined(f"{name}: ", row.all_remarks, ".")
        for name, row in zip(named, rows, strict=True)
        if row.all_remarks
    ]
    return replace(
        report,
        notes=(
            *([f"Method: {methods_in_words(rows)}."] if one_method else []),
            *report.notes,
            *remarks,
        ),
        columns=(
            *([] if one_method else [Column("title", "Method", "text")]),
            *kept,
            Column("written", heading, "text"),
            *pvalues,
        ),
        rows=tuple(
            {**shown, "metric": metric, "title": name, "written": text}
            for shown, metric, name, text in zip(report.rows, metrics, titled, written, strict=True)
        ),
    )
