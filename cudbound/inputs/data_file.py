"""Describe a file of patients: how it is read, and the roles of its columns; with the error that a file can raise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Items that a message lists before it only counts.
LISTED = 10


class CsvError(ValueError):
    """A file, or an option for it, cannot be used; the message gives the problem, its place and a fix.

    Attributes
    ----------
    instead : dict
        Fields of a `DataFile` by which the file may be read all the same.
    """

    def __init__(self, message: str, **instead: Any):
        super().__init__(message)
        self.instead = instead


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a file is read, apart from the roles of its columns.

    Attributes
    ----------
    delimiter : str, default ","
        One character between cells.
    decimal : {".", ","}, default "."
        Decimal separator of features and weights.
    thousands : {"", ",", ".", "'", "space"}, default ""
        What stands between groups of three digits in features and weights; "" means that nothing does.
    encoding : str, default ""
        Encoding of the text, as Python names it; "" finds UTF-8 and UTF-16, and takes any other text for cp1252.
    missing_values : sequence of str, default ()
        Further texts and numbers that code missing values, in all columns.
    sheet : str or None, default None
        Sheet of an Excel workbook; None means the first one.
    skip_rows : int, default 0
        Number of lines above the header, or of rows of a sheet.
    """

    delimiter: str = ","
    decimal: str = "."
    thousands: str = ""
    encoding: str = ""
    missing_values: Sequence[str] = ()
    sheet: str | None = field(default=None, metadata={"key": None})
    skip_rows: int = 0


@dataclass(frozen=True)
class DataFile(Reading):
    """A CSV file, how it is read (see `Reading`), and the roles of its columns.

    Attributes
    ----------
    file : Path
    target : str
        Column of the class label; it must have exactly two values, each on at least two rows.
    positive : str
        Value of the target that is the event. Values are compared as text, except that two texts that are numbers are
        compared as numbers: ``1`` and ``1.0`` are equal.
    categorical : sequence of str, default ()
        Feature columns with k levels that become k - 1 indicators; the first level in the order of the text
        is the reference. With an intercept the choice of reference changes no interval. "auto" means all text columns,
        "auto:5" also integer columns with 3 to 5 different values.
    exclude : sequence of str, default ()
        Columns that are not features.
    group : str or None, default None
        Column of groups of rows; it must have at least two values.
    features : sequence of str, default ()
        Feature columns; by default every column except the target, `exclude` and `group`.
    missing : str, default "error"
        How to handle missing values: "error", "drop" these rows, or fill them in every fit with the "median" or the
        "most-frequent" value; "keep" passes them to a model.
    weight : str or None, default None
        Column of row weights, positive numbers; it is not a feature.
    all_classes : bool, default False
        Whether every value of the target is a class, with more than two classes; `positive` is then "".

    Each text of `features`, `categorical` and `exclude` is a column name, or several separated by commas.
    """

    file: Path
    target: str
    positive: str
    categorical: Sequence[str] = ()
    exclude: Sequence[str] = ()
    group: str | None = field(default=None, metadata={"key": None})
    features: Sequence[str] = ()
    missing: str = "error"
    weight: str | None = field(default=None, metadata={"key": None})
    all_classes: bool = field(default=False, metadata={"key": None})


def quoted(text: str, longest: int = 60) -> str:
    r"""Quote untrusted text for a message: escape characters that do not print, and shorten long text.

    Examples
    --------
    >>> print(quoted("a\x1b[31m"), quoted("abcdef", 3))
    'a\x1b[31m' 'abc...'
    """
    return repr(text if len(text) <= longest else f"{text[:longest]}...")


def first_few(items: Sequence[str]) -> str:
    """List items for a message, or only the first few if there are many."""
    return ", ".join(items[:LISTED]) + (f" and {len(items) - LISTED} more" if len(items) > LISTED else "")


def count_rows(number: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if number == 1 else f"{number} rows"
