"""Write a table as text, Markdown, LaTeX, HTML, CSV or JSON; no computations: all content is in the `Report`."""

from __future__ import annotations

import abc
import bisect
import json
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cudbound.basis.calls import versions
from cudbound.basis.words import escape_html, grouped, printable
from cudbound.report.tables import FULL, Column, Report, Run, Style

if TYPE_CHECKING:
    import pandas as pd


#: Initial characters that spreadsheets interpret as a formula, including wide forms.
FORMULA_STARTS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def csv_text(frame: pd.DataFrame) -> str:
    r"""Return a table as CSV: a header line, LF line ends, numbers unrounded, a missing value as an empty cell.

    Every text is quoted, since some spreadsheets also split cells at a semicolon or a lone carriage return. Nonprinting
    characters are escaped, and a text that a spreadsheet would run as a formula is prefixed with an apostrophe.

    Examples
    --------
    >>> import pandas as pd
    >>> print(csv_text(pd.DataFrame({"name": ["a;b", "\r=1", "=1"], "error": [0.25, float("nan"), -0.5]})), end="")
    "name","error"
    "a;b",0.25
    "\r=1",
    "'=1",-0.5
    """
    rows = [list(frame.columns), *frame.itertuples(index=False)]
    return "".join(",".join(_cell(value) for value in row) + "\n" for row in rows)


def _cell(value: Any) -> str:
    if not isinstance(value, str):
        return "" if value is None or value != value else str(value)
    text = printable(value)
    inert = f"'{text}" if text.lstrip()[:1] in FORMULA_STARTS else text
    return '"' + inert.replace('"', '""') + '"'


#: Characters of a line, and the fewest to which texts in the cells of a table are wrapped.
LINE, MIN_WIDTH = 80, 16


def plain_text(report: Report) -> str:
    """Write a table for a terminal or a file: headline, title, table, columns that do not fit, notes.

    No line is longer than 80 characters, except for single long words (such as a file name) or very many columns.
    Remarks are below the table. If it is still too wide, the estimands also go there, then the fits; remaining texts
    are wrapped.
    """
    movable = [column for column in report.columns if column.moves is not None]
    shown, lines, below = report, _aligned(report), []
    for column in sorted(movable, key=lambda column: column.moves or 0):
        if column.moves == 0 or max(map(len, lines), default=0) > LINE:
            below.append(_listed(report, column))
            shown = replace(shown, columns=tuple(other for other in shown.columns if other is not column))
            lines = _aligned(shown)
    if max(map(len, lines), default=0) > LINE:  # the more characters in a text, the wider the table
        widths = range(MIN_WIDTH, LINE)
        n_fit = bisect.bisect(widths, LINE, key=lambda width: max(map(len, _aligned(shown, width))))
        lines = _aligned(shown, MIN_WIDTH + max(0, n_fit - 1))
    title, table = wrapped([report.title]), "\n".join(lines)
    parts = (wrapped(report.headline), title, table, *below, wrapped(report.notes))
    return "\n\n".join(filter(None, parts))


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


def _aligned(report: Report, width: int = LINE) -> list[str]:
    """Return lines of headings and cells in aligned columns, text left, numbers right; texts are wrapped to a width."""
    from tabulate import tabulate

    rows = [[column.heading for column in report.columns], *report.cells()]
    lines = [[textwrap.fill(printable(text), width) for text in row] for row in rows]
    columns = zip(*lines, strict=True)
    rules = ["-" * max(len(line) for cell in cells for line in cell.split("\n")) for cells in columns]
    # headings as a row: tabulate would make columns wider than their headings
    cells = [lines[0], rules, *lines[1:]]
    # the cells are text; proportions have as many decimals each, so the right edge aligns their points
    sides = ["left" if column.kind == "text" else "right" for column in report.columns]
    aligned = tabulate(cells, tablefmt="plain", disable_numparse=True, colalign=sides)
    return [line.rstrip() for line in aligned.splitlines()]


def _listed(report: Report, column: Column) -> str:
    """Return a column as a list: each value once, after the rows that have it; empty if no row has a value."""
    index = report.columns.index(column)
    # the name of a row is all cells before its numbers
    kinds = [shown.kind in ("text", "level") for shown in report.columns]
    n_named = (*kinds, False).index(False)
    rows_of = grouped((row[index], " / ".join(row[:n_named])) for row in report.cells() if row[index])
    if not rows_of:
        return ""
    everywhere = len(report.rows) > 1
    items = (
        f"{'all' if everywhere and len(names) == len(report.rows) else ', '.join(dict.fromkeys(names))}: {value}"
        for value, names in rows_of.items()
    )
    return f"{column.heading.capitalize()}:\n{wrapped(items, '  ')}"


#: Notes are small; font and color are left to the surrounding page.
_CSS = (
    ".cudbound table{border-collapse:collapse}.cudbound caption{text-align:left;font-weight:bold}"
    ".cudbound th,.cudbound td{padding:.2em .7em;text-align:left;vertical-align:top}"
    ".cudbound thead th{border-bottom:1px solid}.cudbound ul{font-size:smaller}"
)


def html_part(report: Report) -> str:
    """Return the table and its notes as elements of a page; every text is escaped."""
    caption = f"<table>\n<caption>{escape_html(report.title)}</caption>"
    notes = "".join(f"<li>{escape_html(note)}</li>" for note in report.notes)
    return "\n".join(
        [
            f'<style>{_CSS}</style>\n<div class="cudbound">',
            *(f"<p><b>{escape_html(sentence)}</b></p>" for sentence in report.headline),
            _escaped_table(report, "unsafehtml", escape_html).replace("<table>", caption, 1),
            *([f"<ul>{notes}</ul>"] if notes else []),
            "</div>",
        ]
    )


def _escaped_table(report: Report, form: str, escape: Callable[[str], str]) -> str:
    from tabulate import tabulate

    cells = [[escape(cell) for cell in row] for row in report.cells()]
    headings = [escape(column.heading) for column in report.columns]
    sides = ["left" if column.kind == "text" else "right" for column in report.columns] if cells else None
    table: str = tabulate(cells, headings, form, disable_numparse=True, colalign=sides)
    return table


def html_page(report: Report) -> str:
    """Return a self-contained page, without other files or network."""
    title = escape_html(report.title)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n{html_part(report)}\n</body>\n</html>"
    )


#: Value of "format" in a JSON file; increased when a field changes its meaning or is removed.
JSON_FORMAT = 1

_MARKDOWN_ESCAPES = str.maketrans(
    {ch: f"\\{ch}" for ch in "\\`*_[]|~$"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
#: Characters of a text that LaTeX need not wrap in its column.
ONE_LINE = 40
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
        ``csv`` is the output of `cudbound.report.render.csv_text`, without notes. ``json`` is one object with the
        fields

        - ``format``: 1, the number of this layout;
        - ``headline``: the sentences to quote, a list of strings, if there are any;
        - ``title`` and ``notes``: the text around the table, a string and a list of strings;
        - ``versions``: of Python, this package, NumPy, SciPy and scikit-learn, as an object;
        - ``run``: the fields of the run as an object, with the share of the rarer class as ``base_rate``, or null;
        - the name of the report, such as ``intervals`` or ``comparisons``: a list of objects, one per row, whose fields
          are the columns of `Report.to_frame`, and ``details``, an object, if a method has further numbers;
        - for a plan, the objects ``required`` (n, low and high; null for more than was simulated) and ``plan``, its
          settings.

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
    >>> from cudbound.basis.results import ConfidenceInterval, Estimand, Outcome
    >>> from cudbound.basis.results import IntervalEstimate
    >>> from cudbound.analysis.table import IntervalTable
    >>> outcome = Outcome(0.2, ConfidenceInterval(-0.0125, 0.4125), estimand=Estimand("conditional"))
    >>> row = IntervalEstimate.of(outcome, method="cud", confidence_level=0.95, n_fits=1)
    >>> print(render_report(IntervalTable((row,)).report(), "csv"))  # doctest: +ELLIPSIS
    "method","metric","estimate","low","high",...
    "cud","error",0.2,0.0,0.4125,...
    """
    if format not in FORMATS:
        raise ValueError(f"The 'format' parameter must be one of {list(FORMATS)}. Got {format!r} instead.")
    return FORMATS[format](report)


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
    headline = "\n".join(map(escape_markdown, report.headline))
    table = _escaped_table(report, "pipe", escape_markdown)
    notes = "\n".join(f"- {escape_markdown(note)}" for note in report.notes)
    return "\n\n".join(part for part in (headline, escape_markdown(report.title), table, notes) if part)


def _latex(report: Report) -> str:
    rows = report.cells()
    widths = [max((len(row[place]) for row in rows), default=0) for place in range(len(report.columns))]
    alignment = "".join(
        "r" if column.kind != "text" else r"p{0.3\linewidth}" if width > ONE_LINE else "l"
        for column, width in zip(report.columns, widths, strict=True)
    )
    return "\n".join(
        [
            *(f"% {printable(sentence)}" for sentence in report.headline),
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(report.title)}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            " & ".join(escape_latex(column.heading) for column in report.columns) + r" \\",
            r"\midrule",
            *(" & ".join(map(escape_latex, row)) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            *([r"\par\smallskip\footnotesize"] if report.notes else []),
            *map(escape_latex, report.notes),
            r"\end{table}",
        ]
    )


def _csv(report: Report) -> str:
    return csv_text(report.to_frame()).removesuffix("\n")


def _json(report: Report) -> str:
    run = None
    if report.run is not None:
        localization = "inf" if report.run.localization == math.inf else report.run.localization
        cautions = tuple(map(str, report.run.cautions))
        more = {"localization": localization, "cautions": cautions, "base_rate": report.run.base_rate}
        run = strict({**vars(report.run), **more})
    rows = [strict(row) for row in report.to_frame().to_dict("records")]
    for row, details in zip(rows, report.details, strict=False):
        if details:
            row["details"] = strict(details)
    document = {
        "format": JSON_FORMAT,
        **({"headline": report.headline} if report.headline else {}),
        "title": report.title,
        "notes": report.notes,
        "versions": versions(),
        "run": run,
        report.name: rows,
        **{name: strict(numbers) for name, numbers in report.more.items()},
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


def strict(value: Any) -> Any:
    """Return plain values for JSON: numbers that it cannot represent become null, those of NumPy those of Python."""
    if isinstance(value, Mapping):
        return {str(key): strict(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [strict(part) for part in value]
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


class Tabular(abc.ABC):
    """A result that can be written as a table."""

    def __str__(self) -> str:
        return render_report(self.report())

    def __repr__(self) -> str:
        """Return the numbers alone; ``print`` adds the headline, the remarks and the notes."""
        report = self.report()
        # remarks would follow below the rows
        columns = tuple(column for column in report.columns if column.moves != 0)
        numbers = render_report(replace(report, headline=(), notes=(), columns=columns))
        return f"{numbers}\n\nNotes and remarks: print(...), or .notes"

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes under the table, in sentences."""
        return self.report().notes

    def _repr_html_(self) -> str:
        return html_part(self.report())

    @abc.abstractmethod
    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the table with its title and notes.

        Parameters
        ----------
        run : Run or None, default None
            Replaces the run of the table, if more is known.
        style : Style, default FULL
        """

    def to_text(self, style: str = "full", percent: bool = False) -> str:
        """Return the table as plain text, with the parameters of `to_latex`."""
        return render_report(self.report(style=Style(style, percent)), "table")

    def to_markdown(self, style: str = "full", percent: bool = False) -> str:
        """Return the table in Markdown, with pipes and the keywords of `to_latex`."""
        return render_report(self.report(style=Style(style, percent)), "markdown")

    def to_html(self, style: str = "full", percent: bool = False) -> str:
        """Return the table as a self-contained HTML page, with the parameters of `to_latex`."""
        return render_report(self.report(style=Style(style, percent)), "html")

    def to_latex(self, style: str = "full", percent: bool = False) -> str:
        r"""Return the table as a floating LaTeX ``table``, which needs the package ``booktabs``.

        Parameters
        ----------
        style : {"full", "paper"}, default="full"
            "paper": estimates and limits in one column, "0.16 (0.01 to 0.31)", with 2 decimals, or none in percent.
        percent : bool, default=False
            Whether proportions are written in percent.

        Raises
        ------
        ParameterError
            If a value is not allowed.

        Examples
        --------
        >>> from cudbound import ConfidenceInterval, IntervalEstimate, IntervalTable
        >>> from cudbound.basis.results import Estimand
        >>> row = IntervalEstimate(method="cud", estimate=0.16, raw_interval=ConfidenceInterval(0.01, 0.31),
        ...     estimand=Estimand("conditional"), confidence_level=0.95, n_fits=1)
        >>> print(IntervalTable((row,)).to_latex(style="paper").splitlines()[9])
        cud & 0.16 (0.01 to 0.31) \\
        """
        return render_report(self.report(style=Style(style, percent)), "latex")

    def to_csv(self) -> str:
        """Return every column unrounded, with a header line and LF line ends, without notes."""
        return render_report(self.report(), "csv")

    def to_json(self) -> str:
        """Return title, notes, versions, run and rows as one strict JSON object, unrounded."""
        return render_report(self.report(), "json")
