"""A table in HTML: as part of a page, for notebooks, and as a complete page."""

from __future__ import annotations

from cudbound.basis.rounding import escape_html
from cudbound.report.tables import Column, Report

#: Numbers are aligned and notes small; font and color are left to the surrounding page.
_CSS = (
    "table.cudbound{border-collapse:collapse}table.cudbound caption{text-align:left;font-weight:bold}"
    "table.cudbound th,table.cudbound td{padding:.2em .7em;text-align:left;vertical-align:top}"
    "table.cudbound .number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "table.cudbound thead th{border-bottom:1px solid}ul.cudbound{font-size:smaller}"
)


def html_part(report: Report) -> str:
    """Return the table and its notes as elements of a page; every text is escaped."""
    name = f' id="{escape_html(report.label)}"' if report.label else ""
    head = "".join(f"<th{_class(column)}>{escape_html(column.heading)}</th>" for column in report.columns)
    body = (
        "".join(
            f"<td{_class(column)}>{escape_html(cell)}</td>"
            for column, cell in zip(report.columns, row, strict=True)
        )
        for row in report.cells()
    )
    headline = (f'<p class="cudbound"><b>{escape_html(sentence)}</b></p>' for sentence in report.headline)
    notes = "".join(f"<li>{escape_html(note)}</li>" for note in report.notes)
    return "\n".join(
        [
            f"<style>{_CSS}</style>",
            *headline,
            f'<table class="cudbound"{name}>',
            f"<caption>{escape_html(report.title)}</caption>",
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *(f"<tr>{row}</tr>" for row in body),
            "</tbody>",
            "</table>",
            *([f'<ul class="cudbound">{notes}</ul>'] if notes else []),
        ]
    )


def html_page(report: Report) -> str:
    """Return a self-contained page, without other files or network."""
    title = escape_html(report.title)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n{html_part(report)}\n</body>\n</html>"
    )


def _class(column: Column) -> str:
    return "" if column.kind == "text" else ' class="number"'
