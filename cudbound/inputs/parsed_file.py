"""A file as text: the roles of its columns, its missing cells, and the classes of its target; without scikit-learn."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from cudbound.inputs.classifier_recipe import STRATEGIES
from cudbound.inputs.data_file import (
    CsvError,
    DataFile,
    count_rows,
    first_few,
    key_of,
    missing_codes,
    one_spelling,
    quoted,
    spelling,
    to_drop,
    to_numbers,
)
from cudbound.inputs.text_table import Table, read_data_file

if TYPE_CHECKING:
    import pandas as pd

#: What stands for all columns of text in the list of the categorical ones.
AUTO = "auto"
#: Pairs of options that may name the same column.
TOGETHER = {("--features", "--categorical"), ("--exclude", "--group"), ("--exclude", "--weight")}
#: Cells, in lower case, that say "no value".
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "<na>", "null", ".", "?"})
#: What may be done about them on the command line.
CHOICES = ("error", "drop", *STRATEGIES)
#: They are left to a model that was fitted to data with missing values.
KEEP = "keep"
_FILLED_WITH = {
    "median": "median of the column (a category with its most frequent level)",
    "most-frequent": "most frequent value of the column",
}


def parse_file(data: DataFile) -> tuple[Table, DataFile]:
    """Read a file as text, and return it with its description, in which all features are named.

    Its header, the roles of its columns and the values of its target are checked.

    Raises
    ------
    CsvError
        If the file cannot be read, the columns do not have the requested roles, or the target does not have the
        requested classes.
    """
    table = read_data_file(data)
    data = find_features(table, data)
    if data.positive or data.all_classes:
        # before missing values: with a wrong target, they would be reported for unrelated columns
        cells = table.cells[[data.target]]
        values = cells[~missing_cells(cells, data.missing_values)][data.target].dropna()
        positive = None if data.all_classes else data.positive
        classes_of(Counter(one_spelling(values.map(key_of))[0]), positive, data.target, least=1)
    return table, data


def classes_of(counts: Counter[str], positive: str | None, target: str, least: int = 2) -> tuple[str, ...]:
    """Return the keys of the negative and of the positive class, or of all for None, each of them on `least` rows.

    Parameters
    ----------
    counts : Counter of str
        Rows of each key, see `key_of`.
    positive : str or None
        Value of the target that is the event; None for more than two classes.
    target : str
        Name of the column.
    least : int, default=2
        Rows that each class must have.

    Raises
    ------
    CsvError
        If there are other numbers of classes or rows, or no value is the event.
    """
    listed = first_few([f"{quoted(key)} ({count_rows(count)})" for key, count in counts.items()])
    if positive is None and len(counts) == 2:
        raise CsvError(
            f"--all-classes: the target {quoted(target)} has two values, {listed}; choose one with --positive"
        )
    if (len(counts) != 2 and positive is not None) or len(counts) < 2:
        raise CsvError(_not_two(counts, target, listed))
    event = None if positive is None else spelling(key_of(positive.strip()))
    if event is not None and event not in map(spelling, counts):
        raise CsvError(
            f"--positive {quoted(positive or '')} is not a value of {quoted(target)}; found {listed}; choose one of "
            "these with --positive"
        )
    if min(counts.values()) < least:
        raise CsvError(f"each class of {quoted(target)} needs at least two rows; found {listed}")
    return tuple(sorted(counts) if event is None else sorted(counts, key=lambda key: spelling(key) == event))


def _not_two(counts: Counter[str], target: str, listed: str) -> str:
    number = {0: "no value", 1: "one value"}.get(len(counts), f"{len(counts)} values")
    way = "choose another column with --target"
    if len(counts) > 2:
        way = (
            "keep all classes with --all-classes of cudbound interval, use one class against the rest as the target, "
            f"for each class in turn, or {way}"
        )
        if codes := missing_codes(counts):
            way = (
                f"add --missing-values={','.join(codes)} if that means a missing value in every column, {way}"
            )
    values = f"{number}: {listed}" if listed else number
    return f"the target {quoted(target)} must have two classes; it has {values}; {way}"


# --- roles


def find_features(table: Table, data: DataFile) -> DataFile:
    """Return the description of a file with the names of all features.

    Raises
    ------
    CsvError
        If a named column does not exist, a column has two roles, no feature is left, or a used column has no name.
    """
    named = check_names(table, data)
    left_out = {name for option in ("--target", "--exclude", "--group", "--weight") for name in named[option]}
    others = [name for name in table.names if name not in left_out]
    data = replace(data, features=tuple(dict.fromkeys(data.features or others)))
    if not data.features:
        raise CsvError(f"there is no feature column besides the target {quoted(data.target)}")
    if unnamed := [name for name in data.used if name in table.unnamed]:
        raise CsvError(
            f"{unnamed[0]} of {quoted(table.source)} has no name in the header (row numbers?); give it a name, or drop "
            f'it with --exclude "{unnamed[0]}"'
        )
    return data


def check_names(table: Table, data: DataFile, *, with_target: bool = True) -> Mapping[str, Sequence[str]]:
    """Return the columns that each option names.

    Raises
    ------
    CsvError
        If a named column does not exist, or has two roles that exclude each other.
    """
    automatic = is_automatic(table, data)
    named = {
        "--target": [data.target] if with_target else [],
        "--features": data.features,
        "--categorical": [name for name in data.categorical if not automatic or name != AUTO],
        "--exclude": data.exclude,
        "--group": [] if data.group is None else [data.group],
        "--weight": [] if data.weight is None else [data.weight],
    }
    for option, names in named.items():
        for name in names:
            if name not in table.names:
                hints = "; ".join([_hint(table, name), *table.warnings])  # such as other sheets
                raise CsvError(f"{option}: no column {quoted(name)} in {quoted(table.source)}; {hints}")
    for pair in combinations(named, 2):
        both = [name for name in named[pair[0]] if name in named[pair[1]]]
        if both and pair not in TOGETHER:
            raise CsvError(f"column {quoted(both[0])} is named in both {' and '.join(pair)}; choose one")
    outside = [name for name in named["--categorical"] if name not in (named["--features"] or [name])]
    if outside:
        raise CsvError(
            f"column {quoted(outside[0])} is named in --categorical but not in --features; add it there"
        )
    return named


def is_automatic(table: Table, data: DataFile) -> bool:
    """Whether all columns of text are categorical, since no column has the name that stands for them."""
    return AUTO in data.categorical and AUTO not in table.names


def _hint(table: Table, name: str) -> str:
    folded = [other for other in table.names if other.casefold() == name.strip().casefold()]
    close = folded or difflib.get_close_matches(name, table.names, n=3)
    if close:
        return f"did you mean {' or '.join(map(quoted, close))}?"
    return f"the columns are {first_few([quoted(other) for other in table.names])}"


# --- missing cells


def missing_cells(frame: pd.DataFrame, further: Sequence[str] = ()) -> pd.DataFrame:
    """Return where a cell is missing, or equals one of the `further` texts; numbers are compared as numbers."""
    import pandas as pd

    texts = MISSING | {text.strip().lower() for text in further}
    numbers = to_numbers(pd.Series(sorted(texts), dtype=object)).dropna()
    absent: pd.DataFrame = frame.apply(
        lambda column: column.str.lower().isin(texts) | to_numbers(column).isin(numbers)
    )
    return absent


def settle_missing(
    source: str, frame: pd.DataFrame, absent: pd.DataFrame, data: DataFile
) -> tuple[pd.DataFrame, str | None]:
    """Return the used cells with nan where one is missing, and a sentence on what was done, or None.

    Parameters
    ----------
    source : str
        Name of the file.
    frame : DataFrame of str
        The used columns.
    absent : DataFrame of bool
        Where they are missing, see `missing_cells`.
    data : DataFile
        With the names of all features.

    Raises
    ------
    CsvError
        If a cell is missing and ``data.missing`` is "error", if the target, the group or the weight has a missing value
        without "drop", if no complete row is left, or if a feature is empty.
    """
    counts = absent.sum()
    columns = first_few([f"{quoted(str(name))} {count}" for name, count in counts.items() if count])
    frame = frame.mask(absent)
    if not columns:
        return frame, None
    number = f"{int(counts.sum())} missing value(s) in {quoted(source)}"
    needed = [name for name in data.used if name not in data.features and counts[name]]
    if data.missing == "error":
        fill = "" if needed else ", --missing median or most-frequent fills them in every fit"
        raise CsvError(
            f"{number}: {columns}; --missing drop removes these rows{fill}; or drop a column with --exclude COL"
        )
    n = len(frame)
    if data.missing == "drop":
        frame = frame[~absent.any(axis=1)]
        if frame.empty:
            raise CsvError(f"{number}: {columns}; no row is complete: drop a column with --exclude COL")
        return frame, f"{n - len(frame)} of {n} rows left out ({columns})"
    if needed:
        raise CsvError(
            f"column {quoted(needed[0])} lacks {counts[needed[0]]} value(s), which cannot be filled; remove these "
            "rows with --missing drop"
        )
    empty = [quoted(str(name)) for name in data.features if counts[name] == n]
    if empty:
        raise CsvError(to_drop(empty, "is empty"))
    if data.missing == KEEP:
        return frame, f"{columns} of {n} rows, passed to the model"
    return frame, f"{columns} of {n} rows, filled with the {_FILLED_WITH[data.missing]}, in every fit"
