"""A file of patients: how it is read, the roles of its columns, numbers as people write them, and what columns hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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


def to_drop(names: Sequence[str], what: str) -> str:
    """Return that columns are to be dropped, and why: `what` begins with "has" or "is", as of one column."""
    if len(names) == 1:
        return f"column {names[0]} {what}; drop it with --exclude COL"
    verb, _, rest = what.partition(" ")
    verbs = {"has": "have", "is": "are"}
    return f"columns {first_few(names)} {verbs[verb]} {rest}; drop them with --exclude COL"


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
    # an identifier of many digits stays as it is, because a floating-point number would lose some of them
    if math.isnan(number) or 2.0**53 < abs(number) < math.inf:
        return text
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
    numbers = [text for text in {*texts} if isinstance(text, str) and is_number(text)]
    return [convention for convention in CONVENTIONS if all(map(convention.fits, numbers))]


def is_number(text: str) -> bool:
    """Whether a text is a number in any convention."""
    return any(convention.fits(text) for convention in CONVENTIONS)


def is_formatted(text: str) -> bool:
    """Whether a text is a number with a decimal comma or with separators of thousands."""
    return not PLAIN.fits(text) and is_number(text)


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
    other = frame.map(lambda text: is_number(text) and not convention.fits(text))
    if other.any(axis=None):
        raise CsvError(
            f"{convention.options}: numbers of another form: {first_cells(frame, other)}; give the options by which "
            "all numbers of the file are read, or write them with the same separators"
        )
    plain = str.maketrans({decimal: "."} | dict.fromkeys(THOUSANDS[thousands]))
    return frame.map(lambda text: text.translate(plain) if convention.fits(text) else text)


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
        has_separator = texts.str.contains(data.decimal, regex=False)
        separated, values = texts[has_separator], to_numbers(texts.str.replace(",", "."))
        if not all(map(_DOUBTFUL.fullmatch, separated)):
            continue
        if values[has_separator].max() < values[~has_separator].min():
            text = separated.iloc[0]
            yield (
                f"column {quoted(str(name))}: {quoted(text)} is read as {text.replace(data.decimal, '.')}, and so are "
                f"all its numbers of this form; if they are thousands ({re.sub('[.,]', '', text)}), write them without "
                "separators in the file"
            )


# --- the content of a column of text

#: The kinds of content.
NUMBERS, TEXT, SLIPS, EMPTY = "numbers", "text", "numbers with slips", "nothing"
SEPARATORS, DATES, IDS = "numbers with separators", "dates", "IDs or free text"
#: What to do about a column that is a feature and holds no numbers, by its kind.
REMEDIES = {
    DATES: "convert dates to numbers, such as days since a common date, or drop the column with --exclude COL",
    IDS: (
        "drop such a column with --exclude COL, use --group COL if it identifies the rows of one patient, or "
        "--categorical COL if its texts are levels"
    ),
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
_PERSON = r"(?:patient|patienten|pat|subject|participant|person|case|record|study|sample)s?"
#: Names of identifiers; site_id and patient_sex are none.
_ID_NAME = re.compile(
    rf"(?:{_PERSON}_?)*(?:ids?|identifier|mrn|pid|ssn)|patients?|subject|participant|(?:{_PERSON}_?|mrn_?)"
    r"(?:no|nr|number|code|name)|(?:(?:first|last|sur|full)_?)?name"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})"
    rf"|\d{{1,2}}[-. ]*{_MONTH}[-., ]*\d{{2,4}}|{_MONTH}[. ]+\d{{1,2}},? +\d{{4}})(?:[T ]+[\d:.]+ ?(?:z|am|pm)?)?",
    re.IGNORECASE,
)


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
        `NUMBERS` if all are; `SEPARATORS` or `DATES` if most of the other cells are such; `SLIPS` if most of all are
        numbers; `IDS` if the column is named like one, or has more levels than a category; otherwise `TEXT`.
    """
    others = values[to_numbers(values).isna()]
    if others.empty:
        return NUMBERS if len(values) else EMPTY
    for kind, test in ((SEPARATORS, is_formatted), (DATES, _DATE.fullmatch)):
        if 2 * sum(map(bool, map(test, others))) > len(others):
            return kind
    if 2 * len(others) < len(values):
        return SLIPS
    n_levels = values.str.casefold().nunique()
    many = n_levels == len(values) or (n_levels > FEW_LEVELS and 5 * n_levels > len(values))
    return IDS if many or is_id_name(name) else TEXT


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


def of_kinds(frame: pd.DataFrame, kinds: dict[str, str]) -> list[str]:
    """Report the columns of each kind, and what to do about them."""
    sentences = []
    for kind in dict.fromkeys(kinds.values()):
        columns = []
        for name in (name for name in kinds if kinds[name] == kind):
            values = frame[name].dropna()
            texts = values[to_numbers(values).isna()]
            n_levels = values.nunique()
            levels = (
                f", {n_levels} different texts on {len(values)} rows" if kind == IDS and n_levels > 1 else ""
            )
            columns.append(
                f"column {quoted(name)} ({quoted(texts.iloc[0])} on line {texts.index[0]}{levels})"
            )
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


def first_cells(frame: pd.DataFrame, at: pd.DataFrame) -> str:
    """List the columns in which `at` is true somewhere, each with the first such cell."""
    lines = at.loc[:, at.any()].idxmax()
    cells = [
        f"{quoted(str(name))} ({quoted(frame[name][line])} on line {line})" for name, line in lines.items()
    ]
    return first_few([f"column {cell}" for cell in cells])


def spelling(text: str) -> str:
    """Return one text for all that differ only in case or blanks."""
    return " ".join(text.casefold().split())


def one_spelling(keys: pd.Series[str]) -> tuple[pd.Series[str], str]:
    """Return a category after merging levels that differ only in case or blanks, and a sentence on the merged levels.

    The most frequent way to write a level is taken, of several the first in the order of the text.
    """
    counts = keys.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    written = grouped((spelling(text), text) for text in map(str, counts.index))
    several = [texts for texts in written.values() if len(texts) > 1]
    if not several:
        return keys, ""
    words = "; ".join(", ".join(f"{quoted(text)} ({counts[text]})" for text in texts) for texts in several)
    return keys.replace({text: texts[0] for texts in several for text in texts[1:]}), (
        f"column {quoted(str(keys.name))}: {words} differ only in case or blanks and are treated as one "
        "level; if they are different, change their spelling in the file"
    )
