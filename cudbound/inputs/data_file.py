"""A file of patients: how it is read, the roles of its columns, its bytes and its text; the error that it can raise."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Items that a message lists before it only counts.
LISTED = 10
WORKBOOK, OLD_WORKBOOK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
#: How other kinds of files begin, and what they are.
OTHERS = {
    WORKBOOK: "a zip file or a document of Office",
    OLD_WORKBOOK: "a document of Office",
    rb"\$FL2": "an SPSS file (.sav)",
    rb"\$FL3": "an SPSS file (.zsav)",
    rb"ASCII SPSS PORT FILE": "an SPSS file (.por)",
    rb"PAR1[\0-\x1f]": "a Parquet file",
    rb"ARROW1\0": "a Feather file",
    rb"HEADER RECORD\*{7}": "a SAS transport file (.xpt)",
    rb"\0{12}\xc2\xea\x81\x60": "a SAS file (.sas7bdat)",
    rb"RDX\d\n": "an R file (.RData)",
    rb"\x1f\x8b": "a compressed file, such as .rds of R or a CSV without .gz in its name",
    rb"%PDF": "a PDF document",
    rb"SQLite format 3\0": "an SQLite database",
    rb"\x89HDF": "an HDF5 file",
    rb"(\xef\xbb\xbf)?\s*(?i:<(!doctype html|html|table)\b)": "a web page",
    rb"(\xef\xbb\xbf)?\s*<\?xml\b": "an XML file",
    rb"(\xef\xbb\xbf)?\s*\[?\s*\{\s*\"": "a JSON file",
}
#: Invisible characters that are dropped, like blanks, at the ends of a cell.
INVISIBLE = "\u00ad\u200b\u200e\u200f\u2060\ufeff"
#: The largest file, unpacked, and the most cells, which take a gigabyte as text.
MOST_BYTES, MOST_CELLS = 50 * 2**20, 4_000_000


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
        is the reference. With an intercept the choice of reference changes no interval. "auto" means all text columns.
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


# --- content


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
        f"{quoted(name)} has {size}; at most {megabytes(MOST_BYTES)} and {MOST_CELLS:,} cells are read, such as 200 "
        "patients with 20,000 columns. Make a file of the rows and columns that are used"
    )


def megabytes(size: int) -> str:
    """Return a size in words."""
    return f"{size / 2**20:,.0f} MB"


def decoded(content: bytes, path: Path, encoding: str) -> tuple[str, str]:
    """Return the text of a file, and its encoding if it is neither given nor UTF-8."""
    name = quoted(path.name)
    if kind := next((kind for begin, kind in OTHERS.items() if re.match(begin, content[:200])), ""):
        if content.startswith((WORKBOOK, OLD_WORKBOOK)) and path.suffix.lower().startswith(".xls"):
            kind = "an Excel workbook"
        raise CsvError(f"{name} is {kind}: save it as CSV ('CSV UTF-8' in Excel) and use that file")
    zeros = [content[side:2000:2].count(0) for side in (0, 1)]
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    trials = [encoding] if encoding else ["utf-8-sig", "cp1252"]
    if not encoding and (marked or 5 * max(zeros) > len(content[:2000])):
        trials = ["utf-16" if marked else "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"]
    for trial in trials:
        try:
            text = content.decode(trial)
        except LookupError:
            raise CsvError(
                f"--encoding: there is no encoding {quoted(trial)}; try cp1252 or utf-16"
            ) from None
        except UnicodeError:
            continue
        if "\0" in text:
            raise CsvError(f"{name} is not a CSV file: it contains null characters")
        if trial != "cp1252" or encoding or not re.search(r"[\x01-\x08\x0e-\x1f]", text):
            return text.removeprefix("\ufeff"), "" if trial in (encoding, "utf-8-sig") else trial
    raise CsvError(
        f"{name} is not {' or '.join(trial.removesuffix('-sig') for trial in trials)} text; name its encoding with "
        "--encoding, or save it as 'CSV UTF-8' and try again"
    )


def stripped(cell: str) -> str:
    """Return a cell without blanks and invisible characters at its ends."""
    return cell.strip().strip(INVISIBLE).strip()
