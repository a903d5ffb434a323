"""Write an interval table as text, Markdown, LaTeX, CSV or JSON. No numerics: rows come from `tables`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from cudbound.report.style import format_cell, printable
from cudbound.report.tables import RunDescription, notes, reader_columns, reader_rows, title
from cudbound.results import IntervalTable

#: Columns of text that a cell of remarks may fill before it is wrapped, so that a line stays near 120.
REMARKS_WIDTH = 40
#: Value of "format" in a JSON file; raised when a field changes its meaning or goes.
JSON_FORMAT = 1

_MARKDOWN_ESCAPES = {ch: f"\\{ch}" for ch in "\\`*_[]|~$"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# '[' and '*' at the start of a row would be read as an argument of the line break before it
_LATEX_BRACKETS = {"[": "{[}", "*": "{*}"}


def render_table(table: IntervalTable, format: str = "table", *, run: RunDescription | None = None) -> str:
    r"""Write an interval table in one of five formats.

    ``table``, ``markdown`` and ``latex`` are for reading: proportions rounded to 3 decimals, with a title
    and notes on scale, nominal level and what the intervals do not promise; text that may be a stranger's
    (file and column names, class labels, remarks) is escaped. ``csv`` and ``json`` are for programs: every
    column of `IntervalTable.to_frame`, unrounded, each float with the digits that restore it exactly.

    Parameters
    ----------
    table : IntervalTable
        The intervals, one row a method.
    format : {"table", "markdown", "latex", "csv", "json"}, default "table"
        ``latex`` is a floating ``table`` with rules of the package ``booktabs``. ``csv`` has a header line,
        LF line ends, and no notes. ``json`` is one object with the fields

        - ``format``: 1, the number of this layout;
        - ``title`` and ``notes``: the text around the table, a string and a list of strings;
        - ``run``: the fields of `run` as an object, or null;
        - ``intervals``: a list of objects, one a method, whose fields are the columns of `to_frame`.

        It is strict JSON: an undefined or infinite number is null, an infinite ``alpha`` the string "inf".
    run : RunDescription, optional
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
    >>> from cudbound.results import ConfidenceInterval, IntervalEstimate, IntervalTable
    >>> row = IntervalEstimate("cud", 0.2, ConfidenceInterval(-0.0125, 0.4125), 0.95, "conditional", 1)
    >>> print(render_table(IntervalTable((row,)), "csv"))
    method,estimate,low,high,width,raw_low,raw_high,confidence_level,estimand,n_fits,degenerate,remarks
    cud,0.2,0.0,0.4125,0.4125,-0.0125,0.4125,0.95,conditional,1,False,
    """
    if format not in FORMATS:
        raise ValueError(f"The 'format' parameter must be one of {list(FORMATS)}. Got {format!r} instead.")
    return FORMATS[format](table, run)


def _text(table: IntervalTable, run: RunDescription | None) -> str:
    body = _tabulated(table, "simple", lambda text: text, REMARKS_WIDTH)
    said = "\n".join(printable(note) for note in notes(table, run))
    return f"{title(table)}\n\n{body}\n\n{said}"


def _markdown(table: IntervalTable, run: RunDescription | None) -> str:
    body = _tabulated(table, "pipe", _escape_markdown, None)
    said = "\n".join(f"- {_escape_markdown(printable(note))}" for note in notes(table, run))
    return f"{_escape_markdown(title(table))}\n\n{body}\n\n{said}"


def _tabulated(
    table: IntervalTable, tablefmt: str, escape: Callable[[str], str], remarks_width: int | None
) -> str:
    from tabulate import tabulate

    columns = reader_columns(table)
    rows = [[escape(cell) for cell in row] for row in _cells(table)]
    aligned: str = tabulate(
        rows,
        headers=[column.heading for column in columns],
        tablefmt=tablefmt,
        # the cells are text; proportions have as many decimals each, so the right edge aligns their points
        disable_numparse=True,
        colalign=["left" if column.kind == "text" else "right" for column in columns] if rows else None,
        maxcolwidths=[remarks_width if column.key == "remarks" else None for column in columns],
    )
    return "\n".join(line.rstrip() for line in aligned.splitlines())


def _latex(table: IntervalTable, run: RunDescription | None) -> str:
    columns = reader_columns(table)
    alignment = ["l" if column.kind == "text" else "r" for column in columns]
    alignment[-1] = r"p{0.25\linewidth}"
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escape_latex(title(table))}}}",
            rf"\begin{{tabular}}{{{''.join(alignment)}}}",
            r"\toprule",
            " & ".join(column.heading for column in columns) + r" \\",
            r"\midrule",
            *(" & ".join(map(_escape_latex, row)) + r" \\" for row in _cells(table)),
            r"\bottomrule",
            r"\end{tabular}",
            r"\par\smallskip\footnotesize",
            *(_escape_latex(printable(note)) for note in notes(table, run)),
            r"\end{table}",
        ]
    )


def _csv(table: IntervalTable, run: RunDescription | None) -> str:
    return table.to_frame().to_csv(index=False, lineterminator="\n").removesuffix("\n")


def _json(table: IntervalTable, run: RunDescription | None) -> str:
    document = {
        "format": JSON_FORMAT,
        "title": title(table),
        "notes": notes(table, run),
        "run": None if run is None else _strict({**vars(run), "alpha": _alpha(run.alpha)}),
        "intervals": [_strict(row) for row in table.to_frame().to_dict("records")],
    }
    return json.dumps(document, indent=2, allow_nan=False)


FORMATS: dict[str, Callable[[IntervalTable, RunDescription | None], str]] = {
    "table": _text,
    "markdown": _markdown,
    "latex": _latex,
    "csv": _csv,
    "json": _json,
}


def _cells(table: IntervalTable) -> list[list[str]]:
    columns = reader_columns(table)
    return [[format_cell(row[column.key], column.kind) for column in columns] for row in reader_rows(table)]


def _escape_markdown(text: str) -> str:
    return "".join(_MARKDOWN_ESCAPES.get(ch, ch) for ch in text)


def _escape_latex(text: str) -> str:
    from tabulate import LATEX_ESCAPE_RULES

    rules = {**LATEX_ESCAPE_RULES, **_LATEX_BRACKETS}
    return "".join(rules.get(ch, ch) for ch in text)


def _strict(record: dict[Any, Any]) -> dict[str, Any]:
    """Replace numbers that JSON does not have by null."""
    return {
        str(key): None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in record.items()
    }


def _alpha(alpha: str | float) -> str | float:
    return "inf" if isinstance(alpha, float) and math.isinf(alpha) else alpha
