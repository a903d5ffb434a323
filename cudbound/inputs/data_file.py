"""A file of patients: how it is read, the roles of its columns, numbers as people write them, and what columns hold."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.words import grouped

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


# --- the content of a column of text

#: The kinds of content.
NUMBERS, TEXT, SLIPS, EMPTY = "numbers", "text", "numbers with slips", "nothing"
SEPARATORS, DATES, UNITS, IDS = "numbers with separators", "dates", "numbers with units", "IDs or free text"
#: What to do about a column that is a feature and holds no numbers, by its kind.
REMEDIES = {
    DATES: "convert dates to numbers, such as days since a common date, or drop the column with --exclude COL",
    UNITS: "write the numbers without their units",
    IDS: "drop such a column with --exclude COL, or use --group COL if it identifies the rows of one patient",
    SLIPS: (
        "correct these cells, add --missing-values TEXT if one means a missing value, or drop the column with "
        "--exclude COL"
    ),
    TEXT: (
        "add --categorical COL to code a column's levels as indicators (auto for all text columns), or drop it with "
        "--exclude COL"
    ),
}
#: A column that numbers the rows has at least this many, and a step of 1 between nearly all.
MIN_COUNTED, MOSTLY = 10, 0.9
#: A column of text with more levels than this, and than a fifth of the rows, is not taken for a category.
FEW_LEVELS = 5

#: A value is far from the others if the gap is larger than this many times their range; one that is often a code for
#: a missing value, if it is larger than this share of it.
FAR, FAR_CODE = 2.0, 0.25
#: Levels that may say "no value": words, signs without letters, and the errors of spreadsheets, such as #DIV/0!.
_UNKNOWN = re.compile(
    r"-+|\*+|#[\w/]+[!?]?|unk(nown)?|missing|n[./][akd]\.?|not (known|recorded|done|available)|pending|unbekannt|"
    r"k\.? ?a\.?|keine angabe|inconnu|desconocido",
    re.IGNORECASE,
)
#: Codes of missing values, and the numbers that stand beside them in some files, for other reasons of missing.
CODE, _BESIDE = re.compile(r"-?9+|-1"), re.compile(r"-?(7+|8+|9*[6-9])")

_PERSON = r"(?:patient|patienten|pat|subject|participant|person|case|record|study|sample)s?"
#: Names of identifiers; site_id and patient_sex are none.
_ID_NAME = re.compile(
    rf"(?:medical_record_?)?(?:{_PERSON}_?)*(?:ids?|identifier|mrn|pid|uuid|ssn)|patients?|subject|participant"
    rf"|{_PERSON}_?(?:no|nr|number|code|name)|(?:(?:first|last|sur|full)_?)?name|mrn_?(?:no|nr|number)"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})"
    rf"|\d{{1,2}}[-. ]*{_MONTH}[-., ]*\d{{2,4}}|{_MONTH}[. ]+\d{{1,2}},? +\d{{4}})(?:[T ]+[\d:.]+ ?(?:z|am|pm)?)?",
    re.IGNORECASE,
)
#: A number with other signs before and after it, such as (2.1), <5 or 12.0-.
_SIGNED = re.compile(r"\W*\d+(?:[.,]\d+)?\W*")
_UNIT = re.compile(r"([-+]?\d+(?:[.,]\d+)?)\s*([^\W\d_][^\d]*|%.*|°.*)")


def kind_of(name: str, values: pd.Series[str]) -> str:
    """Return the kind of content of a column.

    Parameters
    ----------
    name : str
        That of the column.
    values : Series of str
        Its cells that are not missing.

    Returns
    -------
    str
        `NUMBERS` if all are; `SEPARATORS`, `DATES` or `UNITS` if most of the other cells are such; `SLIPS` if most of
        all are numbers; `IDS` if the column is named like one, or has more levels than a category; otherwise `TEXT`.
    """
    numbers = to_numbers(values)
    others = values[numbers.isna()]
    if values.empty or others.empty:
        return NUMBERS if len(values) else EMPTY
    for kind, test in ((SEPARATORS, is_formatted), (DATES, _DATE.fullmatch)):
        if 2 * sum(map(bool, map(test, others))) > len(others):
            return kind
    parts = [match.groups() for match in map(_UNIT.fullmatch, others) if match]
    # few units of many numbers, unlike the stages 1a, 1b, 2a
    units, quantities = {unit for _, unit in parts}, {quantity for quantity, _ in parts}
    if 2 * len(parts) > len(others) and 2 * len(units) < len(quantities):
        return UNITS
    if 2 * len(others) < len(values):
        return SLIPS
    n_levels = values.str.casefold().nunique()
    many = n_levels > FEW_LEVELS and 5 * n_levels > len(values)
    if not is_id_name(name) and many and 2 * others.map(_SIGNED.fullmatch).notna().sum() > len(others):
        return SLIPS
    return IDS if is_id_name(name) or many or n_levels == len(values) else TEXT


def is_id_name(name: str) -> bool:
    """Whether the name of a column looks like a patient identifier.

    Examples
    --------
    >>> [name for name in ("ID", "Patient-ID", "MRN", "site_id", "patient_sex", "bid") if is_id_name(name)]
    ['ID', 'Patient-ID', 'MRN']
    """
    return _ID_NAME.fullmatch(re.sub(r"[\W_]+", "_", name.casefold()).strip("_")) is not None


def numbers_the_rows(values: pd.Series[str]) -> bool:
    """Whether a column counts its rows: its numbers increase by 1 from row to row, with few exceptions."""
    steps = to_numbers(values).diff().iloc[1:]
    mostly = len(steps) >= MIN_COUNTED and float((steps == 1.0).mean()) >= MOSTLY
    return mostly and values.nunique() > MOSTLY * len(values)


def has_long_numbers(keys: pd.Series[str]) -> bool:
    """Whether numbers differ only in digits that a floating-point number does not hold, as identifiers may."""
    return keys.nunique() > to_numbers(keys).nunique() > 0 == to_numbers(keys.dropna()).isna().sum()


def automatic_categories(frame: pd.DataFrame) -> list[str]:
    """Return the text columns, which "auto" treats as categorical.

    Parameters
    ----------
    frame : DataFrame of str, shape (n_samples, n_features)
        The features that were not named as categorical; a missing value is nan.

    Raises
    ------
    CsvError
        If columns of text hold something else than the levels of a category, see `kind_of`.
    """
    kinds = {name: kind_of(name, frame[name].dropna()) for name in frame.columns}
    refused = {
        name: kind
        for name, kind in kinds.items()
        if kind not in (TEXT, EMPTY, NUMBERS) and 2 * to_numbers(frame[name]).count() <= frame[name].count()
    }
    if refused:
        raise CsvError(
            f"--categorical auto does not include columns of {'; nor of '.join(of_kinds(frame, refused))}. "
            "If the texts in a column are levels, name it: --categorical COL,auto"
        )
    return [name for name, kind in kinds.items() if kind == TEXT]


def of_kinds(frame: pd.DataFrame, kinds: dict[str, str]) -> list[str]:
    """Report the columns of each kind, and what to do about them."""
    sentences = []
    for kind in dict.fromkeys(kinds.values()):
        columns = [_example(frame[name], kind) for name in kinds if kinds[name] == kind]
        remedy = remedy_of_separators(frame) if kind == SEPARATORS else REMEDIES[kind]
        sentences.append(f"{kind}: {first_few(columns)}; {remedy}")
    return sentences


def remedy_of_separators(frame: pd.DataFrame) -> str:
    """Report by which options all numbers of a table are read: both, if a comma may be before decimals or thousands."""
    kinds = {name: kind_of(name, frame[name].dropna()) for name in frame.columns}
    numbers = [frame[name] for name in kinds if kinds[name] in (NUMBERS, SEPARATORS, SLIPS)]
    fitting = conventions(text for column in numbers for text in column)
    write = "write these numbers with a decimal point and no other separators"
    if {DECIMAL_COMMA, THOUSANDS_COMMA}.issubset(fitting):
        both = "add --thousands ',' if the comma separates thousands (2,915 is 2915), or --decimal ',' if it does not"
        return f"{both} (2,915 is 2.915), or {write}"
    return write if not fitting or PLAIN in fitting else f"add {fitting[0].options}, or {write}"


def _example(column: pd.Series[str], kind: str) -> str:
    values = column.dropna()
    texts = values[to_numbers(values).isna()]
    n_levels = values.nunique()
    levels = f", {n_levels} different texts on {len(values)} rows" if kind == IDS and n_levels > 1 else ""
    name, text = quoted(str(column.name)), quoted(texts.iloc[0])
    return f"column {name} ({text} on line {texts.index[0]}{levels})"


def spelling(text: str) -> str:
    """Return one text for all that differ only in case or blanks."""
    return " ".join(text.casefold().split())


def one_spelling(keys: pd.Series[str]) -> tuple[pd.Series[str], str | None]:
    """Return a category after merging levels that differ only in case or blanks, and a sentence on the merged levels.

    The most frequent way to write a level is taken, of several the first in the order of the text.
    """
    counts = keys.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    written = grouped((spelling(text), text) for text in map(str, counts.index))
    several = [texts for texts in written.values() if len(texts) > 1]
    if not several:
        return keys, None
    words = "; ".join(", ".join(f"{quoted(text)} ({counts[text]})" for text in texts) for texts in several)
    return keys.replace({text: texts[0] for texts in several for text in texts[1:]}), (
        f"column {quoted(str(keys.name))}: {words} differ only in case or blanks and are treated as one "
        "level; if they are different, change their spelling in the file"
    )


# --- codes of missing values


def says_unknown(text: str) -> bool:
    """Whether a text may say that a value is not known."""
    return _UNKNOWN.fullmatch(text) is not None


class FarValue(NamedTuple):
    """An isolated number: its lines, the range of the other numbers, and whether it is a common code."""

    text: str
    lines: pd.Index[int]
    others: str
    is_code: bool


def far_values(values: pd.Series[float], least: int = 2) -> Iterator[FarValue]:
    """Return the isolated numbers of a column.

    Common codes, such as 9, or 8 and 9, are looked for beside `least` different values, other numbers beside five.
    """
    levels = np.unique(values)
    codes = [code for ends in (levels[::-1], levels) if levels.size for code in _codes_at_end(ends, least)]
    others = np.setdiff1d(levels, codes)
    ends = (others[0], others[-1]) if others.size > 5 else ()
    far_ones = [number for number in ends if _is_far(number, others[others != number])]
    others = np.setdiff1d(others, far_ones)
    for number in (*sorted({*codes}), *far_ones):
        yield FarValue(
            _in_short(number),
            values.index[values == number],
            f"{others[0]:g} to {others[-1]:g}",
            number in codes,
        )


def _codes_at_end(levels: NDArray[np.float64], least: int) -> NDArray[np.float64]:
    """Return the levels at the start of an ordered list that are codes of missing values far from the others.

    A 9, itself a number of few digits, must be above other whole numbers by their range, and other codes farther than a
    share of it; a negative one only needs to be beside no other negative number.
    """
    n_alike = len([*takewhile(lambda level: _BESIDE.fullmatch(_in_short(level)), levels)])
    for n in range(max(n_alike, 1), 0, -1):
        code, others = levels[0], levels[n:]
        if others.size < least + (code == -1.0) or not CODE.fullmatch(_in_short(code)):
            continue
        gap, spread = abs(levels[n - 1] - others[0]), float(np.ptp(others))
        if code == 9.0:
            is_alone = others[0] < 9.0 and gap >= spread and not (others % 1.0).any()
        else:
            is_alone = gap > FAR_CODE * spread or code < 0.0 <= others.min()
        if gap > 1.0 and is_alone:
            return levels[:n]
    return levels[:0]


def _is_far(number: float, others: NDArray[np.float64]) -> bool:
    """Whether a number is far from the others, without negative numbers also on a logarithmic scale."""
    gap = np.abs(number - others).min()
    if min(number, others[0]) < 0.0:
        return bool(gap > FAR * np.ptp(others))
    on_logarithms = np.abs(np.log1p(number) - np.log1p(others)).min() > np.ptp(np.log1p(others))
    return bool(gap > FAR * np.ptp(others) and on_logarithms)


def _in_short(number: float) -> str:
    return repr(float(number)).removesuffix(".0")


def missing_codes(counts: Counter[str]) -> list[str]:
    """Return the values of a target that may code a missing value: words such as unknown, and numbers such as 9."""
    import pandas as pd

    numbers = to_numbers(pd.Series([*counts.elements()], dtype=object)).dropna()
    codes = {far.text for far in far_values(numbers, least=1) if far.is_code}
    return [key for key in counts if key in codes or key == "-1" or says_unknown(key)]


#: An agreement is questioned if it has a smaller chance than this, among all columns that were looked at.
IMPROBABLE = 1e-3
#: Levels are looked at one by one if there are at most so many per row.
LEVELS_PER_ROW = 0.25

Codes = NDArray[np.intp]


def is_improbable(counts: NDArray[np.intp], log_ways: float, n_tries: int) -> bool:
    """Whether an agreement with a column is improbable if the rows were shuffled.

    Parameters
    ----------
    counts : ndarray of int
        Rows of each value of the column.
    log_ways : float
        Logarithm of the number of orders of its values that agree, or of a bound.
    n_tries : int
        Number of agreements that were looked for.

    Examples
    --------
    >>> [is_improbable(np.array([n, n]), math.log(2), 1) for n in (3, 10)]  # a threshold separates 3 and 3, 10 and 10
    [False, True]
    """
    log_orders = math.lgamma(counts.sum() + 1) - sum(map(math.lgamma, counts + 1.0))
    return log_ways - log_orders < math.log(IMPROBABLE / max(n_tries, 1))


def separation(values: NDArray[Any], y: Codes, groups: Codes, n_columns: int) -> str:
    """Return how a column alone separates the classes: "threshold", "levels", or "" if it does not, or may by chance.

    By a threshold, the values of each class are on one side of those of another one; by levels, each value has one
    class. With k classes, k! orders of the classes are separated by thresholds, and of m levels at most k^m. The chance
    is that of shuffled classes, with one row of each class per group.

    Parameters
    ----------
    values : ndarray, shape (n_rows,)
        Numbers, or the numbers of levels.
    y, groups : ndarray of int, shape (n_rows,)
    n_columns : int
        Number of columns that are looked at.
    """
    pairs = np.unique(np.column_stack([y, groups]), axis=0)
    counts = np.unique(pairs[:, 0], return_counts=True)[1]
    levels, level = np.unique(values, return_inverse=True)
    if counts.size < 2 or levels.size < 2:
        return ""
    k, m = counts.size, levels.size
    class_of_level = np.zeros(m, dtype=np.intp)
    class_of_level[level] = y
    if (class_of_level[level] != y).any():
        return ""
    if np.count_nonzero(np.diff(class_of_level)) == k - 1 and is_improbable(
        counts, math.lgamma(k + 1), n_columns
    ):
        return "threshold"
    by_levels = m <= LEVELS_PER_ROW * values.size and is_improbable(counts, m * math.log(k), n_columns)
    return "levels" if by_levels else ""
