"""Write a table as CSV that nothing in it can break out of: neither its cell, nor its row, nor into a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudbound.basis.rounding import printable

if TYPE_CHECKING:
    import pandas as pd

#: What a cell begins with that spreadsheets take for a formula, wide forms among them.
FORMULA_STARTS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def csv_text(frame: pd.DataFrame) -> str:
    r"""Return a table as CSV: a header line, LF line ends, numbers unrounded, a missing value as an empty cell.

    Every text stands between quotes, since some spreadsheets cut cells at a semicolon or a lone carriage return as
    well. Characters that do not print are escaped, and a text that a spreadsheet would run as a formula gets an
    apostrophe before it.

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
    shown = printable(value)
    inert = f"'{shown}" if shown.lstrip()[:1] in FORMULA_STARTS else shown
    return '"' + inert.replace('"', '""') + '"'
