"""Read a CSV file as named text columns, with the line number of each record.

Nothing is converted or guessed: a file that is not a clean table raises an error with the line number.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

DELIMITERS = ",;\t|"
#: How workbooks begin, those of today and those of before 2007.
WORKBOOK, OLD_WORKBOOK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
#: What may stand before decimals.
DECIMALS = (".", ",")
#: Rows at the top that may be titles, and how a row begins that sums up the others.
LEADING = 10
TOTALS = {"total", "totals", "grand total", "sum", "mean", "average", "summe", "gesamt"}
#: Items that a message lists before it only counts.
LISTED = 10
#: The largest file, unpacked: at this size `check` takes ten seconds and half a gigabyte.
MOST_BYTES = 50 * 2**20


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


@dataclass(frozen=True)
class DataFile:
    """A CSV file and the roles of its columns.

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
    delimiter : str, default ","
        One character between cells.
    group : str or None, default None
        Column of groups of rows; it must have at least two values.
    features : sequence of str, default ()
        Feature columns; by default every column except the target, `exclude` and `group`.
    weight : str or None, default None
        Column of row weights, positive numbers; it is not a feature.
    missing : str, default "error"
        How to handle missing values: "error", "drop" these rows, or fill them in every fit with the "median" or the
        "most-frequent" value; "keep" passes them to a model.
    decimal : {".", ","}, default "."
        Decimal separator of features and weights.
    missing_values : sequence of str, default ()
        Further texts and numbers that code missing values, in all columns.
    sheet : str or None, default None
        Sheet of an Excel workbook; None means the first one.
    skip_rows : int, default 0
        Number of lines above the header, or of rows of a sheet.
    all_classes : bool, default False
        Whether every value of the target is a class, with more than two classes; `positive` is then "".

    Each text of `features`, `categorical` and `exclude` is a column name, or several separated by commas.
    """

    file: Path
    target: str
    positive: str
    categorical: Sequence[str] = ()
    exclude: Sequence[str] = ()
    delimiter: str = ","
    group: str | None = field(default=None, metadata={"key": None})
    features: Sequence[str] = ()
    missing: str = "error"
    weight: str | None = field(default=None, metadata={"key": None})
    decimal: str = "."
    missing_values: Sequence[str] = ()
    sheet: str | None = field(default=None, metadata={"key": None})
    skip_rows: int = 0
    all_classes: bool = field(default=False, metadata={"key": None})


@dataclass(frozen=True)
class CsvTable:
    """The records of a CSV file as text, without leading and trailing blanks.

    Attributes
    ----------
    source : str
        Name of the file, without its folder.
    names : tuple of str, length n_columns
        Column names; a column without a name is called ``column 3`` by its position, and omitted if it is empty.
    records : tuple of tuple of str, shape (n_records, n_columns)
        Cells; empty records are omitted.
    lines : tuple of int, length n_records
        Line of the file on which each record begins, counted from 1.
    unnamed : frozenset of str
        Members of `names` that replace a missing name.
    warnings : tuple of str, default ()
        What a reader of the file may have overlooked.
    """

    source: str
    names: tuple[str, ...]
    records: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    unnamed: frozenset[str]
    warnings: tuple[str, ...] = ()


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


def read_csv_file(
    path: str | Path, *, delimiter: str = ",", content: bytes | None = None, skip_rows: int = 0
) -> CsvTable:
    """Read a CSV file as text.

    The file is UTF-8, with or without a byte order mark, and compressed if its name ends in ``.gz``; lines end in LF,
    CRLF or CR; quoted cells may contain delimiters, line ends and doubled quotes.

    Parameters
    ----------
    path : str or Path
        The file.
    delimiter : str, default ","
        One character between cells.
    content : bytes or None, default None
        The content of the file, if it was already read.
    skip_rows : int, default 0
        Lines above the header.

    Returns
    -------
    CsvTable

    Raises
    ------
    CsvError
        If the file cannot be read, is not text, is empty or has no records, has another delimiter, has a record with
        more or fewer cells than the header, or has two columns with the same name.
    """
    path = Path(path)
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n"':
        raise CsvError(f"--delimiter must be one character between cells, such as , or ;. Got {delimiter!r}.")
    rows = _rows(_decoded(content_of(path) if content is None else content, path), path, delimiter, skip_rows)
    if rows:
        _check_delimiter(path, rows, delimiter)
    return as_table(path, rows)


def as_table(path: Path, rows: Sequence[tuple[int, tuple[str, ...]]]) -> CsvTable:
    """Return rows with their line numbers as a table, see `read_csv_file`."""
    if not rows:
        raise CsvError(f"{quoted(path.name)} is empty; it needs a header line and one line per case")
    _check_title(path, rows)
    (header_line, header), records = rows[0], rows[1:]
    if not records:
        raise CsvError(f"{quoted(path.name)} has a header line but no data")
    _check_lengths(path, header, records)
    _check_total(path, records)
    names = tuple(name or f"column {place}" for place, name in enumerate(header, start=1))
    _check_unique(path, names, header_line)
    unnamed = frozenset(name for name, given in zip(names, header, strict=True) if not given)
    lines, cells = zip(*records, strict=True)
    filled = [*map(any, zip(header, *cells, strict=True))]  # spreadsheets add columns without any content
    names, *kept = (tuple(compress(one, filled)) for one in (names, *cells))
    return CsvTable(path.name, names, tuple(kept), lines, unnamed & set(names))


def content_of(path: Path) -> bytes:
    """Return the content of a file, decompressed if its name ends in ``.gz``; more than `MOST_BYTES` is an error."""
    packed = path.suffix == ".gz"
    try:
        with gzip.open(path) if packed else path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise CsvError(f"no such file: {quoted(str(path), 200)}") from None
    except (OSError, ValueError, EOFError, zlib.error) as error:  # ValueError: a name with a null character
        reason = getattr(error, "strerror", None) or str(error)
        raise CsvError(f"cannot read {quoted(str(path), 200)}: {reason}") from None
    if len(content) > MOST_BYTES:
        size = f"more than {megabytes(MOST_BYTES)} unpacked" if packed else megabytes(path.stat().st_size)
        raise too_large(path.name, size)
    return content


def too_large(name: str, size: str) -> CsvError:
    """Return the error for a file of more than `MOST_BYTES`."""
    return CsvError(
        f"{quoted(name)} has {size}; at most {megabytes(MOST_BYTES)} are read, which is enough for 200 patients with "
        "20,000 columns. Make a file of the rows and columns that are used"
    )


def megabytes(size: int) -> str:
    """Return a size in words."""
    return f"{size / 2**20:,.0f} MB"


def _decoded(content: bytes, path: Path) -> str:
    if content.startswith((WORKBOOK, OLD_WORKBOOK)) and path.suffix.lower().startswith(".xls"):
        raise CsvError(
            f"{quoted(path.name)} is an Excel workbook: save it as CSV ('CSV UTF-8' in the dialog) and use that file"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CsvError(
            f"{quoted(path.name)} is not UTF-8 text (line {line}); save it as 'CSV UTF-8' and try again"
        ) from None
    if "\0" in text:
        raise CsvError(f"{quoted(path.name)} is not a CSV file: it contains null characters")
    return text


def _rows(text: str, path: Path, delimiter: str, skip_rows: int) -> list[tuple[int, tuple[str, ...]]]:
    """Return (first line, stripped cells) of every record that is not empty."""
    stream = io.StringIO(text, newline="")
    for _ in range(skip_rows):
        stream.readline()
    reader = csv.reader(stream, delimiter=delimiter, strict=True, skipinitialspace=True)
    rows = []
    begin = skip_rows + 1
    try:
        for cells in reader:
            stripped = tuple(cell.strip() for cell in cells)
            if any(stripped):
                rows.append((begin, stripped))
            begin = skip_rows + reader.line_num + 1
    except csv.Error as error:
        raise CsvError(
            f"{quoted(path.name)} is not a CSV file: the record that begins on line {begin}: {error}"
        ) from None
    return rows


def _check_delimiter(path: Path, rows: Sequence[tuple[int, tuple[str, ...]]], delimiter: str) -> None:
    """Raise an error if another delimiter splits the header, and a record in the middle, into more cells."""
    middle = rows[len(rows) // 2][1]
    for place, (_, cells) in enumerate(rows[:LEADING]):  # titles may stand above the header
        own, line = len(cells) - 1, delimiter.join(cells)
        found = max((other for other in DELIMITERS if other != delimiter), key=line.count)
        alike = delimiter.join(middle).count(found) == line.count(found)
        if line.count(found) > own and (alike or (not own and not place)):
            option = "tab" if found == "\t" else found
            columns = f"{own + 1} columns" if own else "one column"
            raise CsvError(
                f"{quoted(path.name)} has {columns} when read with delimiter {delimiter!r}; it seems to be "
                f"separated by {found!r}: add --delimiter '{option}'",
                delimiter=found,
            )
        if own and len(cells) == len(middle):
            return


def _check_title(path: Path, rows: Sequence[tuple[int, tuple[str, ...]]]) -> None:
    """Raise an error if the first row has far fewer cells than the table."""
    width = len(rows[len(rows) // 2][1])
    above = 0
    for _, cells in rows[:LEADING]:
        filled = sum(map(bool, cells))
        if not (filled <= max(1, width // 3) and (len(cells) < width or width > 2)):
            break
        above += 1
    if 0 < above < min(LEADING, len(rows) - 1):
        (first, cells), (line, header) = rows[0], rows[above]
        raise CsvError(
            f"{quoted(path.name)}: line {first} has {_cells(sum(map(bool, cells)))}, line {line} has {len(header)}: is "
            f"the text above line {line} a title? Add --skip-rows {line - 1}",
            skip_rows=line - 1,
        )


def _check_lengths(
    path: Path, header: tuple[str, ...], records: Sequence[tuple[int, tuple[str, ...]]]
) -> None:
    for line, cells in records:
        if len(cells) != len(header):
            few = "if it is a footer or a note, delete it"
            many = "put text that contains the delimiter in quotes"
            raise CsvError(
                f"{quoted(path.name)}: line {line} has {_cells(len(cells))}, the header has {len(header)}; "
                f"{few if len(cells) < len(header) else many}"
            )


def _check_total(path: Path, records: Sequence[tuple[int, tuple[str, ...]]]) -> None:
    """Raise an error if the last row contains totals, which would count as a case."""
    line, cells = records[-1]
    place = next(place for place, cell in enumerate(cells) if cell)
    word = cells[place]
    if word.casefold().rstrip(":") in TOTALS and all(other[place] != word for _, other in records[:-1]):
        raise CsvError(
            f"{quoted(path.name)}: line {line}, the last one, begins with {quoted(word)}; delete it if it contains "
            "totals, or change that word"
        )


def _cells(number: int) -> str:
    return "one cell" if number == 1 else f"{number} cells"


def _check_unique(path: Path, names: tuple[str, ...], line: int) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise CsvError(
            f"{quoted(path.name)}: more than one column is called {', '.join(map(quoted, repeated[:10]))} "
            f"(line {line}); give each column a unique name"
        )
