"""A file of patients: how it is read, the roles of its columns, its text, and numbers as people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


#: Items that a message lists before it only counts.
LISTED = 10


class CsvError(ValueError):
    """A file, or an option for it, cannot be used; the message gives the problem, its place and a fix."""


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
        Feature columns; by default every column except the target, `exclude`, `group` and `weight`.
    missing : str, default "error"
        How to handle missing values: "error", "drop" these rows, or fill them in every fit with the "median" or the
        "most-frequent" value; "keep" passes them to a model.
    weight : str or None, default None
        Column of row weights, positive numbers; it is not a feature.
    all_classes : bool, default False
        Whether every value of the target is a class, with more than two classes; `positive` is then "".
    delimiter : str, default ""
        One character between cells; "" is that of comma, semicolon, tab and | which most lines have.
    decimal : {".", ","}, default "."
        Decimal separator of features and weights.
    thousands : {"", ",", ".", "'", "space"}, default ""
        What stands between groups of three digits in features and weights; "" means that nothing does.
    encoding : str, default ""
        Encoding of the text, as Python names it; "" finds UTF-8, and UTF-16 by its mark, and takes any other text for
        cp1252.
    missing_values : sequence of str, default ()
        Further texts and numbers that code missing values, in all columns.
    sheet : str or None, default None
        Sheet of an Excel workbook; None means the first one.
    skip_rows : int, default 0
        Number of lines above the header, or of rows of a sheet.
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
    delimiter: str = ""
    decimal: str = "."
    thousands: str = ""
    encoding: str = ""
    missing_values: Sequence[str] = ()
    sheet: str | None = field(default=None, metadata={"key": None})
    skip_rows: int = 0

    @property
    def used(self) -> list[str]:
        """Every column in which missing values must be filled or dropped, once the features are known."""
        others = [name for name in (self.group, self.weight) if name is not None]
        return list(dict.fromkeys([self.target, *self.features, *others]))

    @property
    def numeric(self) -> list[str]:
        """The numeric columns that are not named as categories, once the features are known."""
        weight = [] if self.weight is None else [self.weight]
        return [name for name in (*self.features, *weight) if name not in self.categorical]


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


def to_drop(names: Sequence[str], what: str) -> str:
    """Return that columns are to be dropped, and why: `what` begins with "has" or "is", as of one column."""
    if len(names) == 1:
        return f"column {names[0]} {what}; drop it with --exclude COL"
    verb, _, rest = what.partition(" ")
    verbs = {"has": "have", "is": "are"}
    return f"columns {first_few(names)} {verbs[verb]} {rest}; drop them with --exclude COL"


def count_rows(number: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if number == 1 else f"{number} rows"


# --- numbers as people write them


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

    def fits(self, text: str) -> bool:
        """Whether a text is a number in this convention."""
        return _pattern(self).fullmatch(text) is not None


@lru_cache
def _pattern(convention: Convention) -> re.Pattern[str]:
    signs, decimal = THOUSANDS[convention.thousands], re.escape(convention.decimal)
    groups = rf"|[1-9]\d{{0,2}}(?:[{signs}]\d{{3}})+" if signs else ""
    pattern = rf"[-+{MINUS}]?(?:(?:\d+{groups})(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][-+{MINUS}]?\d+)?"
    return re.compile(pattern, re.ASCII)


PLAIN, DECIMAL_COMMA, THOUSANDS_COMMA = Convention(".", ""), Convention(",", ""), Convention(".", ",")
#: The conventions that are known, the simple ones first.
CONVENTIONS = (
    *(PLAIN, DECIMAL_COMMA, THOUSANDS_COMMA, Convention(",", ".")),
    *(Convention(decimal, thousands) for thousands in ("space", "'") for decimal in DECIMALS),
)
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
        fitting = [convention for convention in left if convention.fits(text)]
        if fitting or is_formatted(text) or PLAIN.fits(text):
            left = fitting
    return left


def is_formatted(text: str) -> bool:
    """Whether a text is a number with a decimal comma or with separators of thousands."""
    return not PLAIN.fits(text) and any(convention.fits(text) for convention in CONVENTIONS)


def in_plain_form(frame: pd.DataFrame, decimal: str, thousands: str) -> pd.DataFrame:
    """Return columns with their numbers written with a decimal point and without separators of thousands.

    Unlike the option ``thousands`` of pandas, which reads 29,15 as 2915, it takes no separator off where it cannot be.

    Raises
    ------
    CsvError
        If the separators are not among those that are known, or a number has others.
    """
    convention = Convention(decimal, thousands)
    if convention not in CONVENTIONS:
        raise CsvError(
            "--decimal must be one of . and ,, and --thousands one of . , ' and space, but not the same one. Got "
            f"{decimal!r} and {thousands!r}."
        )
    if convention == PLAIN:
        return frame
    for name in frame.columns:
        texts = frame[name].dropna()
        other = texts[
            [not convention.fits(text) and (is_formatted(text) or PLAIN.fits(text)) for text in texts]
        ]
        if len(other):
            raise CsvError(
                f"{convention.options}: column {quoted(str(name))} has a number of another form "
                f"({quoted(other.iloc[0])} on line {other.index[0]}); give the options by which all numbers of the "
                "file are read, or write them with the same separators"
            )
    plain = str.maketrans({decimal: "."} | dict.fromkeys(THOUSANDS[thousands]))
    return frame.map(lambda text: text.translate(plain) if convention.fits(text) else text, "ignore")


def doubts(numbers: pd.DataFrame, data: DataFile) -> Iterator[str]:
    """Return a question for each column whose decimal separator may stand between thousands.

    In such a column all numbers with a separator have the form ``2.915``, and are below those without it, such as
    ``850``.

    Parameters
    ----------
    numbers : DataFrame of str
        The columns of numbers as they are written.
    data : DataFile
    """
    for name in numbers.columns if not data.thousands else ():
        texts = numbers[name].dropna()
        separated = texts.str.contains(data.decimal, regex=False)
        values = to_numbers(texts.str.replace(",", "."))
        doubtful = bool(separated.any() and not separated.all()) and all(
            map(_DOUBTFUL.fullmatch, texts[separated])
        )
        if doubtful and values[separated].max() < values[~separated].min():
            text = texts[separated].iloc[0]
            yield (
                f"column {quoted(str(name))}: {quoted(text)} is read as {text.replace(data.decimal, '.')}, and so are "
                f"all its numbers of this form; if they are thousands ({re.sub('[.,]', '', text)}), write them without "
                "separators in the file"
            )
