"""Write a table as CSV in which no text can break out of its cell or row, or become a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudbound.basis.rounding import printable

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
    shown = printable(value)
    inert = f"'{shown}" if shown.lstrip()[:1] in FORMULA_STARTS else shown
    return '"' + inert.replace('"', '""') + '"'
