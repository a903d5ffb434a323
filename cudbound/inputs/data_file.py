"""A file of patients: how it is read, the roles of its columns, its text, and numbers as people write them."""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


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


@dataclass(frozen=True)
class DataFile:
    """A CSV file, how it is read, and the roles of its columns.

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
    delimiter: str = ","
    decimal: str = "."
    thousands: str = ""
    encoding: str = ""
    missing_values: Sequence[str] = ()
    sheet: str | None = field(default=None, metadata={"key": None})
    skip_rows: int = 0


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


#: What may stand before decimals.
DECIMALS = (".", ",")
#: What may stand between groups of three digits, and its ways to be written.
THOUSANDS = {"": "", ",": ",", ".": ".", "'": "'\u2019", "space": " \u00a0\u2009\u202f"}
#: What stands for a minus sign: the sign itself, and dashes and hyphens that are not in ASCII.
MINUS = "\u2212\u2010\u2011\u2013\ufe63\uff0d"
_AS_HYPHEN = str.maketrans(dict.fromkeys(MINUS, "-"))


class Convention(NamedTuple):
    """How numbers are written: the decimal separator, and the one between groups of three digits."""

    decimal: str
    thousands: str

    @property
    def options(self) -> str:
        """The options of the command for this convention."""
        thousands = f"--thousands {self.thousands if self.thousands == 'space' else repr(self.thousands)}"
        return " ".join(["--decimal ','"] * (self.decimal == ",") + [thousands] * bool(self.thousands))

    @property
    def pattern(self) -> str:
        """A regular expression for a number."""
        sign = f"[{THOUSANDS[self.thousands]}]"
        groups = rf"|[1-9]\d{{0,2}}(?:{sign}\d{{3}})+" if self.thousands else ""
        if self.thousands == ",":  # 1,20,479 is how India writes 120479
            groups += r"|[1-9]\d?(?:,\d\d)+,\d{3}"
        decimals = re.escape(self.decimal)
        return rf"[-+{MINUS}]?(?:(?:\d+{groups})(?:{decimals}\d*)?|{decimals}\d+)(?:[eE][-+{MINUS}]?\d+)?"


PLAIN, DECIMAL_COMMA, THOUSANDS_COMMA = Convention(".", ""), Convention(",", ""), Convention(".", ",")
#: The conventions that are known, the simple ones first.
CONVENTIONS = (
    *(PLAIN, DECIMAL_COMMA, THOUSANDS_COMMA, Convention(",", ".")),
    *(Convention(decimal, thousands) for thousands in ("space", "'") for decimal in DECIMALS),
)
_NUMBERS = {convention: re.compile(convention.pattern, re.ASCII) for convention in CONVENTIONS}
#: A number that is another one if its separator stands between thousands.
_DOUBTFUL = re.compile(rf"[-+{MINUS}]?[1-9]\d{{0,2}}[.,]\d{{3}}", re.ASCII)


def number_of(text: object) -> float:
    """Return the number that a text is, nan where it is none.

    Examples
    --------
    >>> [number_of(text) for text in ("1e2", "\u22125", "1_000", "2,915")]
    [100.0, -5.0, nan, nan]
    """
    plain = text.translate(_AS_HYPHEN) if isinstance(text, str) else ""
    try:
        # float also takes 1_000 and digits of other scripts, which are not numbers of a table
        return float(plain) if plain.isascii() and "_" not in plain else math.nan
    except ValueError:
        return math.nan


def to_numbers(column: pd.Series[str]) -> pd.Series[float]:
    """Convert texts to numbers; nan where a text is not a number.

    ``float`` is right to the last digit; pandas was not in versions that people have.
    """
    return column.map(number_of).astype(float)


def key_of(text: Any) -> Any:
    """Return one text for all spellings of the same value: ``1``, ``1.0`` and ``1e0`` become ``1``."""
    number = number_of(text)
    if math.isnan(number):
        return text
    if 2.0**53 < abs(number) < math.inf:  # an identifier, of which a floating-point number loses digits
        return f"{Decimal(text.translate(_AS_HYPHEN)):f}".partition(".")[0]
    return repr(number + 0.0).removesuffix(".0")  # takes the sign off -0.00, to which -0.001 was rounded


def conventions(texts: Iterable[object]) -> list[Convention]:
    """Return the conventions by which all texts that are numbers in any of them are numbers, the simple ones first.

    Examples
    --------
    >>> [convention.options for convention in conventions(["2.915,5", "850", "mg"])]
    ["--decimal ',' --thousands '.'"]
    >>> [convention.options for convention in conventions(["2,915", "850"])][:2]
    ["--decimal ','", "--thousands ','"]
    >>> conventions(["26.9", "13,7"])
    []
    """
    left = list(CONVENTIONS)
    for text in {text for text in texts if isinstance(text, str)}:
        if left == [PLAIN] and _NUMBERS[PLAIN].fullmatch(text):
            continue
        fitting = [convention for convention in CONVENTIONS if _NUMBERS[convention].fullmatch(text)]
        left = [convention for convention in left if convention in fitting] if fitting else left
    return left


def is_formatted(text: str) -> bool:
    """Whether a text is a number with a decimal comma or with separators of thousands."""
    return not _NUMBERS[PLAIN].fullmatch(text) and any(number.fullmatch(text) for number in _NUMBERS.values())


def in_plain_form(frame: pd.DataFrame, decimal: str, thousands: str) -> pd.DataFrame:
    """Return columns with their numbers written with a decimal point and without separators of thousands.

    Raises
    ------
    CsvError
        If the separators are not among those that are known, or a number has others.
    """
    convention = Convention(decimal, thousands)
    if convention not in _NUMBERS:
        raise CsvError(
            "--decimal must be one of . and ,, and --thousands one of . , ' and space, but not the same one. Got "
            f"{decimal!r} and {thousands!r}."
        )
    if convention == PLAIN:
        return frame
    number, separators = _NUMBERS[convention], THOUSANDS[thousands]
    for name in frame.columns:
        texts = frame[name].dropna()
        texts = texts[~texts.map(number.fullmatch).astype(bool)]
        other = texts[texts.map(lambda text: is_formatted(text) or bool(_NUMBERS[PLAIN].fullmatch(text)))]
        if len(other):
            way = "write all numbers of the file with the same separators"
            if fitting := conventions(text for column in frame.columns for text in frame[column]):
                way = f"use {fitting[0].options}: by it all numbers are read"
            if PLAIN in fitting:
                way = f"drop {convention.options}: all numbers are read without it"
            raise CsvError(
                f"{convention.options}: column {quoted(str(name))} has a number of another form "
                f"({quoted(other.iloc[0])} on line {other.index[0]}); {way}"
            )

    def plain(text: str) -> str:
        if not number.fullmatch(text):
            return text
        return "".join("." if sign == decimal else sign for sign in text if sign not in separators)

    return frame.map(plain, "ignore")


def doubts(numbers: pd.DataFrame, data: DataFile) -> Iterator[str]:
    """Return a question for each column of numbers whose decimal separator may stand between thousands.

    These are columns whose numbers with a separator all have the form ``2.915``, if nothing else in the table shows
    that it is a decimal separator, or if these numbers are below all those without it, such as ``850``.

    Parameters
    ----------
    numbers : DataFrame of str
        The columns of numbers as they are written.
    data : DataFile
    """
    if data.thousands:
        return
    other = Convention(*{".": (",", "."), ",": (".", ",")}[data.decimal])
    texts = {name: numbers[name].dropna() for name in numbers.columns}
    separated = {
        name: column[column.str.contains(data.decimal, regex=False)] for name, column in texts.items()
    }
    doubtful = {name: column.map(_DOUBTFUL.fullmatch).astype(bool) for name, column in separated.items()}
    is_decimal = any(not column.all() for column in doubtful.values())
    for name, column in separated.items():
        if column.empty or not doubtful[name].all():
            continue
        values = to_numbers(texts[name].str.replace(",", "."))
        if is_decimal and not values[column.index].max() < values.drop(column.index).min():
            continue
        text = column.iloc[0]
        way = "write them without separators in the file" if is_decimal else f"use {other.options}"
        yield (
            f"column {quoted(str(name))}: {quoted(text)} is read as {text.replace(data.decimal, '.')}, and so are all "
            f"its numbers of this form; if they are thousands ({re.sub('[.,]', '', text)}), {way}"
        )
