"""The content of a text column: numbers, levels of a category, or something the user must decide about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cudbound.inputs.data_file import CsvError, first_few, quoted
from cudbound.inputs.number_texts import (
    DECIMAL_COMMA,
    PLAIN,
    THOUSANDS_COMMA,
    conventions,
    is_formatted,
    to_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

NUMBERS, TEXT, SLIPS, EMPTY = "numbers", "text", "numbers with slips", "nothing"
SEPARATORS, DATES, UNITS, IDS = "numbers with separators", "dates", "numbers with units", "IDs"
FREE_TEXT = "free text"
#: What to do about a column that is a feature and holds no numbers, by its kind.
REMEDIES = {
    DATES: "convert dates to numbers, such as days since a common date, or drop the column with --exclude COL",
    UNITS: "write the numbers without their units",
    IDS: "drop such a column with --exclude COL, or use --group COL if it identifies the rows of one patient",
    FREE_TEXT: "drop it with --exclude COL, or write what matters in it as columns with few levels",
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
#: Texts with this median number of words are sentences.
SENTENCE = 3
#: A column of text with more levels than this, and than a fifth of the rows, is not taken for a category.
FEW_LEVELS = 5

#: The words of spreadsheets in German, French, Spanish, Italian, Portuguese, Dutch, Polish for true and false.
TRUTH = {
    **dict.fromkeys(("wahr", "vrai", "verdadero", "vero", "verdadeiro", "waar", "prawda"), "true"),
    **dict.fromkeys(("falsch", "faux", "falso", "onwaar", "fałsz"), "false"),
}

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
        all are numbers; `IDS` if the column is named like one, or has more levels than a category, or `FREE_TEXT` if
        these are sentences; otherwise `TEXT`.
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
    if not is_id_name(name) and many:
        if 2 * others.map(_SIGNED.fullmatch).notna().sum() > len(others):
            return SLIPS
        if values.str.count(r"\w+").median() >= SENTENCE:
            return FREE_TEXT
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


def automatic_categories(
    frame: pd.DataFrame, named: tuple[str, ...], with_text: bool, most_integers: int
) -> tuple[list[str], list[str]]:
    """Return the text columns, and the integer columns with few values, that "auto" treats as categorical.

    Parameters
    ----------
    frame : DataFrame of str, shape (n_samples, n_features)
        The features; a missing value is nan.
    named : tuple of str
        Columns that were named as categorical.
    with_text : bool
        Whether text columns are requested.
    most_integers : int

    Returns
    -------
    texts, integers : list of str
        Integers are few if there are more than two different ones, and at most `most_integers`, one of them twice.

    Raises
    ------
    CsvError
        If columns of text hold something else than the levels of a category, see `kind_of`.
    """
    texts, integers, refused = [], [], {}
    for name in [name for name in frame.columns if name not in named]:
        values = frame[name].dropna()
        numbers, kind = to_numbers(values), kind_of(name, values)
        if kind == TEXT:
            texts.append(name)
        elif kind != EMPTY and 2 * numbers.notna().sum() <= len(values):
            refused[name] = kind
        elif kind == NUMBERS and (numbers % 1 == 0).all() and 2 < numbers.nunique() < len(values):
            integers += [name] if numbers.nunique() <= most_integers else []
    if with_text and refused:
        raise CsvError(
            f"--categorical auto does not include columns of {'; nor of '.join(of_kinds(frame, refused))}. "
            "If the texts in a column are levels, name it: --categorical COL,auto"
        )
    return (texts if with_text else []), integers


def of_kinds(frame: pd.DataFrame, kinds: dict[str, str]) -> list[str]:
    """Report the columns of each kind, and what to do about them."""
    sentences = []
    for kind in dict.fromkeys(kinds.values()):
        columns = [_example(frame[name], kind) for name in kinds if kinds[name] == kind]
        remedy = remedy_of_separators(frame)[0] if kind == SEPARATORS else REMEDIES[kind]
        sentences.append(f"{kind}: {first_few(columns)}; {remedy}")
    return sentences


def remedy_of_separators(frame: pd.DataFrame) -> tuple[str, dict[str, str]]:
    """Report by which options all numbers of a table are read, and return them as fields of a `DataFile`.

    If a comma may stand before decimals or between thousands, both options are reported, and none is returned.
    """
    kinds = {name: kind_of(name, frame[name].dropna()) for name in frame.columns}
    numbers = [frame[name] for name in kinds if kinds[name] in (NUMBERS, SEPARATORS, SLIPS)]
    fitting = conventions(text for column in numbers for text in column)
    write = "write these numbers with a decimal point and no other separators"
    if {DECIMAL_COMMA, THOUSANDS_COMMA}.issubset(fitting):
        both = "add --thousands ',' if the comma separates thousands (2,915 is 2915), or --decimal ',' if it does not"
        return f"{both} (2,915 is 2.915), or {write}", {}
    if not fitting or PLAIN in fitting:
        return write, {}
    return f"add {fitting[0].options}, or {write}", fitting[0]._asdict()


def _example(column: pd.Series[str], kind: str) -> str:
    values = column.dropna()
    first = values[to_numbers(values).isna()]
    levels = f", {values.nunique()} different texts on {len(values)} rows" if kind in (IDS, FREE_TEXT) else ""
    return f"column {quoted(str(column.name))} ({quoted(first.iloc[0])} on line {first.index[0]}{levels})"


def spelling(text: str) -> str:
    """Return one text for all that differ only in case or blanks, and for true, or false, as spreadsheets write it."""
    folded = " ".join(text.casefold().split())
    return TRUTH.get(folded, folded)


def one_spelling(keys: pd.Series[str]) -> tuple[pd.Series[str], str | None]:
    """Return a category after merging levels that differ only in case or blanks, and a sentence on the merged levels.

    The most frequent way to write a level is taken, of several the first in the order of the text.
    """
    counts = keys.value_counts().sort_index().sort_values(ascending=False, kind="stable")
    written: dict[str, list[str]] = {}
    for text in map(str, counts.index):
        written.setdefault(spelling(text), []).append(text)
    several = [texts for texts in written.values() if len(texts) > 1]
    if not several:
        return keys, None
    words = "; ".join(", ".join(f"{quoted(text)} ({counts[text]})" for text in texts) for texts in several)
    return keys.replace({text: texts[0] for texts in several for text in texts[1:]}), (
        f"column {quoted(str(keys.name))}: {words} differ only in case or blanks and are treated as one level; if "
        "they are different, change their spelling in the file"
    )
