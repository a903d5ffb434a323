"""Write a table as text, Markdown, LaTeX, HTML, CSV or JSON. No computations: all content is in the `Report`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from cudbound.basis.environment import versions
from cudbound.basis.rounding import escape_html, printable
from cudbound.report.csv_text import csv_text
from cudbound.report.page import html_page
from cudbound.report.plain_text import alignments, plain_text
from cudbound.report.tables import REMARKS_WIDTH, Column, Report, Run

#: Value of "format" in a JSON file; increased when a field changes its meaning or is removed.
JSON_FORMAT = 1

_MARKDOWN_ESCAPES = str.maketrans(
    {ch: f"\\{ch}" for ch in "\\`*_[]|~$"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
# '[' and '*' at the start of a row would be read as an argument of the line break before it
_LATEX_BRACKETS = {"[": "{[}", "*": "{*}"}


def render_report(report: Report, format: str = "table") -> str:
    r"""Write a table in one of six formats.

    ``table``, ``markdown``, ``latex`` and ``html`` are for readers: proportions rounded to 3 decimals, with a title and
    notes on scale, estimands, nominal level and missing guarantees; untrusted text (file and column names, class
    labels, remarks) is escaped. ``table`` has lines of at most 80 characters, with remarks and columns that do not fit
    below the table. ``csv`` and ``json`` are for programs: every column of `Report.to_frame`, unrounded, each float
    with all digits needed to restore it.

    Parameters
    ----------
    report : Report
        Such as ``table.report(run)`` of an `IntervalTable` or a `ComparisonTable`, or `methods_report`.
    format : {"table", "markdown", "latex", "html", "csv", "json"}, default "table"
        ``latex`` is a floating ``table`` with rules of the package ``booktabs``. ``html`` is a self-contained page.
        ``csv`` is the output of `cudbound.report.csv_text.csv_text`, without notes. ``json`` is one object with the
        fields

        - ``format``: 1, the number of this layout;
        - ``headline``: the sentences to quote, a list of strings, if there are any;
        - ``title`` and ``notes``: the text around the table, a string and a list of strings;
        - ``versions``: of Python and of the packages that affect numbers, as an object;
        - ``run``: the fields of the run as an object, with the share of the rarer class as ``base_rate``, or null;
        - the name of the report, such as ``intervals`` or ``comparisons``: a list of objects, one per row, whose fields
          are the columns of `Report.to_frame`, and ``details``, an object, if a method has further numbers;
        - ``instability``: as in `cudbound.Instability.summary`, and ``over_seeds``: the ranges of the limits over
          several seeds, as objects, if requested;
        - for a plan, the objects ``required`` (n, low and high; null for more than was simulated), ``closed_forms`` and
          ``expected`` by measure, and ``plan``, its settings.

        It is strict JSON: an undefined or infinite number is null, an infinite ``localization`` the string "inf".

    Returns
    -------
    str
        The text, without a final newline.

    Raises
    ------
    ValueError
        If the format is unknown.

    Examples
    --------
    >>> from cudbound.basis.outcomes import ConfidenceInterval, Estimand, Outcome
    >>> from cudbound.basis.results import IntervalEstimate
    >>> from cudbound.analysis.table import IntervalTable
    >>> found = Outcome(0.2, ConfidenceInterval(-0.0125, 0.4125), estimand=Estimand("conditional"))
    >>> row = IntervalEstimate.of(found, method="cud", confidence_level=0.95, n_fits=1)
    >>> print(render_report(IntervalTable((row,)).report(), "csv"))  # doctest: +ELLIPSIS
    "method","metric","estimate","low","high",...
    "cud","error",0.2,0.0,0.4125,...
    """
    if format not in FORMATS:
        raise ValueError(f"The 'format' parameter must be one of {list(FORMATS)}. Got {format!r} instead.")
    return FORMATS[format](report)


def render_headline(report: Report, format: str = "table") -> str:
    """Write only the sentences to quote, in formats for readers; formats for programs get the whole report."""
    escapes = {
        "table": printable,
        "markdown": escape_markdown,
        "latex": escape_latex,
        "html": escape_html,
    }
    if format not in escapes or not report.headline:
        return render_report(report, format)
    return " ".join(map(escapes[format], report.headline))


def escape_markdown(text: str) -> str:
    r"""Escape a sentence, possibly untrusted, for Markdown.

    Examples
    --------
    >>> print(escape_markdown("a_b"))
    a\_b
    """
    return printable(text).translate(_MARKDOWN_ESCAPES)


def escape_latex(text: str) -> str:
    r"""Escape a sentence, possibly untrusted, for LaTeX.

    Examples
    --------
    >>> print(escape_latex("5%"))
    5\%
    """
    from tabulate import LATEX_ESCAPE_RULES

    return printable(text).translate(str.maketrans(LATEX_ESCAPE_RULES | _LATEX_BRACKETS))


def _markdown(report: Report) -> str:
    from tabulate import tabulate

    rows = [[escape_markdown(cell) for cell in row] for row in report.cells()]
    aligned: str = tabulate(
        rows,
        headers=[escape_markdown(column.heading) for column in report.columns],
        tablefmt="pipe",
        # the cells are text; proportions have as many decimals each, so the right edge aligns their points
        disable_numparse=True,
        colalign=alignments(report.columns) if rows else None,
    )
    notes = "\n".join(f"- {escape_markdown(note)}" for note in report.notes)
    headline = "\n".join(map(escape_markdown, report.headline))
    return "\n\n".join(part for part in (headline, escape_markdown(report.title), aligned, notes) if part)


def _latex(report: Report) -> str:
    return "\n".join(
        [
            *(f"% {printable(sentence)}" for sentence in report.headline),
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(report.title)}}}",
            *([] if report.label is None else [rf"\label{{{report.label}}}"]),
            rf"\begin{{tabular}}{{{''.join(map(_latex_alignment, report.columns))}}}",
            r"\toprule",
            " & ".join(escape_latex(column.heading) for column in report.columns) + r" \\",
            r"\midrule",
            *(" & ".join(map(escape_latex, row)) + r" \\" for row in report.cells()),
            r"\bottomrule",
            r"\end{tabular}",
            *([r"\par\smallskip\footnotesize"] if report.notes else []),
            *map(escape_latex, report.notes),
            r"\end{table}",
        ]
    )


def _latex_alignment(column: Column) -> str:
    if column.width is not None:  # the width of remarks is a quarter of the line
        return rf"p{{{column.width / (4 * REMARKS_WIDTH):.2g}\linewidth}}"
    return "l" if column.kind == "text" else "r"


def _csv(report: Report) -> str:
    return csv_text(report.to_frame()).removesuffix("\n")


def _json(report: Report) -> str:
    rows = [_strict(row) for row in report.to_frame().to_dict("records")]
    for row, details in zip(rows, report.details, strict=False):
        if details:
            row["details"] = _strict(details)
    document = {
        "format": JSON_FORMAT,
        **({"headline": report.headline} if report.headline else {}),
        "title": report.title,
        "notes": report.notes,
        "versions": versions(),
        "run": None if report.run is None else _run_fields(report.run),
        report.name: rows,
        **{name: _strict(numbers) for name, numbers in report.more.items()},
    }
    return json.dumps(document, indent=2, allow_nan=False)


FORMATS: dict[str, Callable[[Report], str]] = {
    "table": plain_text,
    "markdown": _markdown,
    "latex": _latex,
    "html": html_page,
    "csv": _csv,
    "json": _json,
}


def _strict(record: Mapping[Any, Any]) -> dict[str, Any]:
    """Replace numbers that JSON cannot represent by null."""
    return {
        str(key): None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in record.items()
    }


def _run_fields(run: Run) -> dict[str, Any]:
    fields = {**vars(run), "cautions": tuple(map(str, run.cautions)), "base_rate": run.base_rate}
    return _strict({**fields, "localization": "inf"} if fields.get("localization") == math.inf else fields)
