"""Numbers as people write them: which text is a number, by which separators, and which text may be another number."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

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
        thousands = "--thousands " + {"space": "space"}.get(self.thousands, repr(self.thousands))
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
_NUMBERS = {each: re.compile(each.pattern, re.ASCII) for each in CONVENTIONS}
#: A number that is another one if its separator stands between thousands.
_DOUBTFUL = re.compile(rf"[-+{MINUS}]?[1-9]\d{{0,2}}[.,]\d{{3}}", re.ASCII)


def number_of(text: object) -> float:
    """Return the number that a text is, nan where it is none.

    Examples
    --------
    >>> [number_of(text) for text in ("1e2", "\u22125", "1_000", "2,915")]
    [100.0, -5.0, nan, nan]
    """
    try:
        number = float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        hyphened = text.translate(_AS_HYPHEN) if isinstance(text, str) else text
        return math.nan if hyphened == text else number_of(hyphened)
    # of what float takes further, 1_000 is no number of a table, nor are digits of other scripts
    return math.nan if not isinstance(text, str) or not text.isascii() or "_" in text else number


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
    >>> [found.options for found in conventions(["2.915,5", "850", "mg"])]
    ["--decimal ',' --thousands '.'"]
    >>> [found.options for found in conventions(["2,915", "850"])][:2]
    ["--decimal ','", "--thousands ','"]
    >>> conventions(["26.9", "13,7"])
    []
    """
    left = list(CONVENTIONS)
    for text in {text for text in texts if isinstance(text, str)}:
        if left == [PLAIN] and _NUMBERS[PLAIN].fullmatch(text):
            continue
        fitting = [each for each in CONVENTIONS if _NUMBERS[each].fullmatch(text)]
        left = [each for each in left if each in fitting] if fitting else left
    return left


def is_formatted(text: str) -> bool:
    """Whether a text is a number with a decimal comma or with separators of thousands."""
    return not _NUMBERS[PLAIN].fullmatch(text) and any(each.fullmatch(text) for each in _NUMBERS.values())


def plain_form(column: pd.Series[str], convention: Convention) -> tuple[pd.Series[str], pd.Series[bool]]:
    """Return a column with its numbers as Python writes them, and where a number follows another convention."""
    number, separators = _NUMBERS[convention], THOUSANDS[convention.thousands]

    def plain(text: object) -> object:
        if not isinstance(text, str) or not number.fullmatch(text):
            return text
        return "".join("." if sign == convention.decimal else sign for sign in text if sign not in separators)

    other = column.map(
        lambda text: (
            isinstance(text, str)
            and not number.fullmatch(text)
            and (is_formatted(text) or _NUMBERS[PLAIN].fullmatch(text) is not None)
        )
    )
    return column.map(plain), other.astype(bool)


def doubtful_columns(cells: pd.DataFrame, decimal: str) -> dict[str, bool]:
    """Return the columns in which the decimal separator may stand between thousands instead.

    These are columns whose numbers with a separator all have the form ``2.915``, if nothing else in the table shows
    that the separator is a decimal one, or if these numbers are below all those without it, such as ``850``.

    Parameters
    ----------
    cells : DataFrame of str
        Columns of numbers as they are written.
    decimal : {".", ","}
        How they are read.

    Returns
    -------
    dict of str to bool
        Whether the table shows elsewhere that the separator is a decimal one, by column.
    """
    texts = {name: cells[name].dropna().unique() for name in cells.columns}
    separated = {name: [text for text in texts[name] if decimal in text] for name in texts}
    clear = any(not _DOUBTFUL.fullmatch(text) for column in separated.values() for text in column)
    return {
        name: clear
        for name, column in separated.items()
        if column
        and all(map(_DOUBTFUL.fullmatch, column))
        and not (
            clear
            and max(map(_as_decimal, column)) >= min(map(_as_decimal, {*texts[name]} - {*column}), default=0)
        )
    }


def _as_decimal(text: str) -> float:
    return number_of(text.replace(",", "."))
