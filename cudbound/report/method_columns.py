"""An overview of methods: a frame of text columns as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudbound.report.plain_text import GAP, LINE, MIN_WIDTH
from cudbound.report.tables import Column, Report

if TYPE_CHECKING:
    import pandas as pd

#: Columns with cells longer than this share the rest of a line.
NARROW = 26


def methods_report(
    frame: pd.DataFrame,
    notes: Sequence[str] = (),
    title: str = "Known methods",
    below: Sequence[str] = (),
) -> Report:
    """Return a frame of text columns, one row per method, as a table; its name in JSON is "methods".

    Parameters
    ----------
    frame : pandas.DataFrame
        Its columns are the columns of the table; "_" in their names becomes a space in the headings. In text, long
        columns share the width of the line; fewer columns are easier to read.
    notes : sequence of str, default=()
        Notes under the table.
    title : str, default="Known methods"
    below : sequence of str, default=()
        Columns below the table in text: each value once, after the methods that have it.

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
    longest = {
        name: max([len(name), *(len(row[name]) for row in rows)]) for name in names if name not in below
    }
    wide = [name for name in longest if longest[name] > NARROW]
    left = LINE - sum(longest[name] for name in longest if name not in wide) - GAP * (len(longest) - 1)
    width = max(MIN_WIDTH, left // max(1, len(wide)))
    columns = tuple(
        Column(
            name,
            name.replace("_", " "),
            "text",
            width if name in wide else None,
            moves=0 if name in below else None,
        )
        for name in names
    )
    return Report("methods", title, tuple(notes), columns, rows, lambda: frame)
