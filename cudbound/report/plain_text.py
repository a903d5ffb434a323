"""A table as plain text: lines of at most 80 characters, with remarks and columns that do not fit below it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cudbound.basis.rounding import printable
from cudbound.report.tables import Column, Report

#: Characters of a line.
LINE = 80
#: Spaces between two columns.
GAP = 2
#: A column of text is wrapped to at least this many characters.
MIN_WIDTH = 16


def plain_text(report: Report) -> str:
    """Write a table for a terminal or a file: headline, title, table, columns that do not fit, notes.

    No line is longer than 80 characters, except for single long words (such as a file name) or columns with fixed
    widths. Remarks are below the table. If it is still too wide, the estimands also go there, then the fits; remaining
    text columns are wrapped.
    """
    table, moved = _fitted(report)
    return "\n\n".join(
        part
        for part in (
            wrapped(report.headline),
            wrapped([report.title]),
            _aligned(table),
            *(_listed(report, column) for column in moved),
            wrapped(report.notes),
        )
        if part
    )


def wrapped(sentences: Iterable[str], indent: str = "") -> str:
    """Return sentences, possibly untrusted, in lines of at most 80 characters, with a hanging indent.

    Words are not broken, so names of methods and files can be found and copied.

    Examples
    --------
    >>> print(wrapped(["a note that is said in " + "many " * 12 + "words"]))
    a note that is said in many many many many many many many many many many many
      many words
    """
    return "\n".join(
        textwrap.fill(
            printable(sentence),
            LINE,
            initial_indent=indent,
            subsequent_indent=indent + "  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for sentence in sentences
    )


def paragraph(text: str) -> str:
    """Return a text in lines of at most 80 characters."""
    return textwrap.fill(text, LINE)


def alignments(columns: Iterable[Column]) -> list[str]:
    """Return the alignment of each column: text left, numbers right."""
    return ["left" if column.kind == "text" else "right" for column in columns]


def _fitted(report: Report) -> tuple[Report, list[Column]]:
    """Return the table with the columns that fit, and the columns to print below it."""
    movable = sorted(
        (column for column in report.columns if column.moves is not None),
        key=lambda column: column.moves or 0,
    )
    moved: list[Column] = []
    for column in movable:
        if column.moves == 0 or _width(report) > LINE:
            moved.append(column)
            report = replace(report, columns=tuple(one for one in report.columns if one is not column))
    if all(column.width is None for column in report.columns):
        report = _narrowed(report)
    return report, moved


def _narrowed(report: Report) -> Report:
    """Limit the widths of text columns, the widest first, until the table fits."""
    widths = dict(zip(report.columns, _widths(report), strict=True))
    for column in sorted(widths, key=lambda one: -widths[one]):
        excess = _width(report) - LINE
        if excess > 0 and column.kind == "text":
            narrow = replace(column, width=max(MIN_WIDTH, widths[column] - excess))
            columns = tuple(narrow if one is column else one for one in report.columns)
            report = replace(report, columns=columns)
    return report


def _aligned(report: Report) -> str:
    from tabulate import tabulate

    rules = ["-" * width for width in _widths(report)]
    aligned: str = tabulate(
        # headings as a row: tabulate would make columns wider than their headings
        [*_lines(report)[:1], rules, *_lines(report)[1:]],
        tablefmt="plain",
        # the cells are text; proportions have as many decimals each, so the right edge aligns their points
        disable_numparse=True,
        colalign=alignments(report.columns),
    )
    return "\n".join(line.rstrip() for line in aligned.splitlines())


def _lines(report: Report) -> list[list[str]]:
    """Return headings and cells, row by row, with line breaks in columns of limited width."""
    rows = [[column.heading for column in report.columns], *report.cells()]
    return [
        [
            text if column.width is None else textwrap.fill(_breakable(text, column.width), column.width)
            for column, text in zip(report.columns, map(printable, row), strict=True)
        ]
        for row in rows
    ]


def _breakable(text: str, width: int) -> str:
    """Return a text with long words split before capitals: Least Squares Classifier."""
    words = (
        re.sub(r"(?<=[a-z])(?=[A-Z])", " ", word) if len(word) > width else word for word in text.split(" ")
    )
    return " ".join(words)


def _widths(report: Report) -> list[int]:
    columns = zip(*_lines(report), strict=True)
    return [max(len(line) for cell in column for line in cell.split("\n")) for column in columns]


def _width(report: Report) -> int:
    return sum(_widths(report)) + GAP * (len(report.columns) - 1)


def _listed(report: Report, column: Column) -> str:
    """Return a column as a list: each value once, after the rows that have it; empty if no row has a value."""
    index = report.columns.index(column)
    rows_of: dict[str, list[str]] = {}
    for name, row in zip(_names(report), report.cells(), strict=True):
        if row[index]:
            rows_of.setdefault(row[index], []).append(name)
    if not rows_of:
        return ""
    everywhere = len(report.rows) > 1
    items = (
        f"{'all' if everywhere and len(names) == len(report.rows) else ', '.join(dict.fromkeys(names))}: {value}"
        for value, names in rows_of.items()
    )
    return f"{column.heading.capitalize()}:\n{wrapped(items, '  ')}"


def _names(report: Report) -> Sequence[str]:
    """Return a name per row: its first cell, or all cells before the numbers if the first is not unique."""
    cells = report.cells()
    first = [row[0] for row in cells]
    if len(set(first)) == len(first):
        return first
    numbers = (index for index, one in enumerate(report.columns) if one.kind not in ("text", "level"))
    before = next(numbers, len(report.columns))
    return [" / ".join(row[:before]) for row in cells]
