"""Numbers as people write them: which text is a number, by which separators, and which may be another number."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from cudbound.inputs.data_file import CsvError, Reading, quoted

if TYPE_CHECKING:
    import pandas as pd

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


def doubts(numbers: pd.DataFrame, data: Reading) -> Iterator[str]:
    """Return a question for each column of numbers whose decimal separator may stand between thousands.

    These are columns whose numbers with a separator all have the form ``2.915``, if nothing else in the table shows
    that it is a decimal separator, or if these numbers are below all those without it, such as ``850``.

    Parameters
    ----------
    numbers : DataFrame of str
        The columns of numbers as they are written.
    data : Reading
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
