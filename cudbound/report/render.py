"""Write a table as text, Markdown, LaTeX, CSV or JSON. No numerics: columns, rows and notes come with the `Report`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from cudbound.report.method_columns import methods_report
from cudbound.report.tables import REMARKS_WIDTH, Column, Report, Run
from cudbound.rounding import format_cell, printable

if TYPE_CHECKING:
    import pandas as pd

#: Value of "format" in a JSON file; raised when a field changes its meaning or goes.
JSON_FORMAT = 1

_MARKDOWN_ESCAPES = {ch: f"\\{ch}" for ch in "\\`*_[]|~$"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# '[' and '*' at the start of a row would be read as an argument of the line break before it
_LATEX_BRACKETS = {"[": "{[}", "*": "{*}"}


class Reportable(Protocol):
    """A table that says how it is written."""

    def report(self, run: Run | None = None) -> Report:
        """Return the table with what must stand around it."""


def render_table(table: Reportable, format: str = "table", *, run: Run | None = None) -> str:
    r"""Write a table of intervals or of comparisons in one of five formats.

    ``table``, ``markdown`` and ``latex`` are for reading: proportions rounded to 3 decimals, with a title
    and notes on scale, estimands, nominal level and what the intervals do not promise; text that may be untrusted
    (file and column names, class labels, remarks) is escaped. ``csv`` and ``json`` are for programs: every
    column of `IntervalTable.to_frame` or `ComparisonTable.to_frame`, unrounded, each float with the digits that
    restore it exactly.

    Parameters
    ----------
    table : IntervalTable or ComparisonTable
        One row per method.
    format : {"table", "markdown", "latex", "csv", "json"}, default "table"
        ``latex`` is a floating ``table`` with rules of the package ``booktabs``. ``csv`` has a header line,
        LF line ends, and no notes. ``json`` is one object with the fields

        - ``format``: 1, the number of this layout;
        - ``title`` and ``notes``: the text around the table, a string and a list of strings;
        - ``run``: the fields of `run` as an object, or null;
        - ``intervals`` or ``comparisons``: a list of objects, one per method, whose fields are the columns of
          `to_frame`, and ``details``, an object, where a method has further numbers of its own.

        It is strict JSON: an undefined or infinite number is null, an infinite ``alpha`` the string "inf".
    run : RunDescription or ComparisonRun, optional
        Data and settings behind the table, for its notes. None says nothing about them.

    Returns
    -------
    str
        The text, without a line end after the last line.

    Raises
    ------
    ValueError
        If no format has that name.

    Examples
    --------
    >>> from cudbound.outcomes import ConfidenceInterval, Estimand, Outcome
    >>> from cudbound.results import IntervalEstimate
    >>> from cudbound.tables.table import IntervalTable
    >>> found = Outcome(0.2, ConfidenceInterval(-0.0125, 0.4125), estimand=Estimand("conditional"))
    >>> row = IntervalEstimate.of(found, method="cud", confidence_level=0.95, n_fits=1)
    >>> print(render_table(IntervalTable((row,)), "csv"))
    method,estimate,low,high,width,raw_low,raw_high,confidence_level,alternative,estimand,n_fits,degenerate,remarks
    cud,0.2,0.0,0.4125,0.4125,-0.0125,0.4125,0.95,two-sided,conditional,1,False,
    """
    return render_report(table.report(run), format)


def render_methods(frame: pd.DataFrame, format: str = "table", *, notes: Sequence[str] = ()) -> str:
    """Write an overview of methods, a frame of text columns, in one of the formats of `render_table`.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per method. In text, long columns share the width of the line; fewer columns read better.
    format : {"table", "markdown", "latex", "csv", "json"}, default "table"
        The rows of ``json`` are the list ``methods``.
    notes : sequence of str, default=()
        What stands under the table.

    Raises
    ------
    ValueError
        If no format has that name.

    Examples
    --------
    >>> import pandas as pd
    >>> print(render_methods(pd.DataFrame({"name": ["cud"], "fits": ["0"]})))
    Known methods
    <BLANKLINE>
    name    fits
    ------  ------
    cud     0
    """
    return render_report(methods_report(frame, notes), format)


def render_report(report: Report, format: str) -> str:
    """Write any table in one of the formats of `render_table`; raise ValueError if no format has that name."""
    if format not in FORMATS:
        raise ValueError(f"The 'format' parameter must be one of {list(FORMATS)}. Got {format!r} instead.")
    return FORMATS[format](report)


def escape_text(text: str, format: str) -> str:
    r"""Write a sentence, which may be untrusted, so that it shows as it is in one of two formats of documents.

    Parameters
    ----------
    text : str
    format : {"markdown", "latex"}

    Examples
    --------
    >>> print(escape_text("a_b", "markdown"), escape_text("5%", "latex"))
    a\_b 5\%
    """
    return {"markdown": _escape_markdown, "latex": _escape_latex}[format](printable(text))


def _text(report: Report) -> str:
    body = _tabulated(report, "simple", lambda text: text, wrap=True)
    notes = "\n".join(printable(note) for note in report.notes)
    return "\n\n".join(part for part in (printable(report.title), body, notes) if part)


def _markdown(report: Report) -> str:
    body = _tabulated(report, "pipe", _escape_markdown, wrap=False)
    notes = "\n".join(f"- {_escape_markdown(printable(note))}" for note in report.notes)
    return "\n\n".join(part for part in (_escape_markdown(printable(report.title)), body, notes) if part)


def _tabulated(report: Report, tablefmt: str, escape: Callable[[str], str], *, wrap: bool) -> str:
    from tabulate import tabulate

    rows = [[escape(cell) for cell in row] for row in _cells(report)]
    aligned: str = tabulate(
        rows,
        headers=[escape(printable(column.heading)) for column in report.columns],
        tablefmt=tablefmt,
        # the cells are text; proportions have as many decimals each, so the right edge aligns their points
        disable_numparse=True,
        colalign=["left" if column.kind == "text" else "right" for column in report.columns]
        if rows
        else None,
        maxcolwidths=[column.width if wrap else None for column in report.columns],
    )
    return "\n".join(line.rstrip() for line in aligned.splitlines())


def _latex(report: Report) -> str:
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escape_latex(printable(report.title))}}}",
            rf"\begin{{tabular}}{{{''.join(map(_latex_alignment, report.columns))}}}",
            r"\toprule",
            " & ".join(_escape_latex(printable(column.heading)) for column in report.columns) + r" \\",
            r"\midrule",
            *(" & ".join(map(_escape_latex, row)) + r" \\" for row in _cells(report)),
            r"\bottomrule",
            r"\end{tabular}",
            *([r"\par\smallskip\footnotesize"] if report.notes else []),
            *(_escape_latex(printable(note)) for note in report.notes),
            r"\end{table}",
        ]
    )


def _latex_alignment(column: Column) -> str:
    if column.width is not None:  # the width of remarks is a quarter of the line
        return rf"p{{{column.width / (4 * REMARKS_WIDTH):.2g}\linewidth}}"
    return "l" if column.kind == "text" else "r"


def _csv(report: Report) -> str:
    return report.to_frame().to_csv(index=False, lineterminator="\n").removesuffix("\n")


def _json(report: Report) -> str:
    rows = [_strict(row) for row in report.to_frame().to_dict("records")]
    for row, details in zip(rows, report.details, strict=False):
        if details:
            row["details"] = _strict(details)
    document = {
        "format": JSON_FORMAT,
        "title": report.title,
        "notes": report.notes,
        "run": None if report.run is None else _run_fields(report.run),
        report.name: rows,
    }
    return json.dumps(document, indent=2, allow_nan=False)


FORMATS: dict[str, Callable[[Report], str]] = {
    "table": _text,
    "markdown": _markdown,
    "latex": _latex,
    "csv": _csv,
    "json": _json,
}


def _cells(report: Report) -> list[list[str]]:
    return [[format_cell(row[column.key], column.kind) for column in report.columns] for row in report.rows]


def _escape_markdown(text: str) -> str:
    return "".join(_MARKDOWN_ESCAPES.get(ch, ch) for ch in text)


def _escape_latex(text: str) -> str:
    from tabulate import LATEX_ESCAPE_RULES

    rules = {**LATEX_ESCAPE_RULES, **_LATEX_BRACKETS}
    return "".join(rules.get(ch, ch) for ch in text)


def _strict(record: Mapping[Any, Any]) -> dict[str, Any]:
    """Replace numbers that JSON does not have by null."""
    return {
        str(key): None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in record.items()
    }


def _run_fields(run: Run) -> dict[str, Any]:
    fields = vars(run)
    return _strict({**fields, "alpha": "inf"} if fields.get("alpha") == math.inf else fields)
