"""The role of each column of a CSV file: target, feature, category, or not used."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cudbound.inputs.csv_file import Table
from cudbound.inputs.data_file import CsvError, DataFile, first_few, quoted

#: What stands for columns in the list of the categorical ones: those of text, and integer ones of few values.
_AUTO = re.compile(r"auto(?::(\d+))?")


@dataclass(frozen=True)
class Roles:
    """The columns of the file by their role.

    Attributes
    ----------
    target : str
    features : tuple of str
        In the order of the file.
    categorical : tuple of str
        Features that were named as categorical.
    automatic : bool
        Whether text columns are also categorical.
    most_integers : int
        Largest number of different integers in a column that is also categorical; 0 for none.
    group, weight : str or None
    """

    target: str
    features: tuple[str, ...]
    categorical: tuple[str, ...]
    automatic: bool
    most_integers: int
    group: str | None
    weight: str | None = None

    @property
    def used(self) -> list[str]:
        """Every column in which missing values must be filled or dropped."""
        others = [name for name in (self.group, self.weight) if name is not None]
        return list(dict.fromkeys([self.target, *self.features, *others]))

    @property
    def numeric(self) -> list[str]:
        """The numeric columns that are not categories."""
        weight = [] if self.weight is None else [self.weight]
        return [name for name in (*self.features, *weight) if name not in self.categorical]


def find_roles(table: Table, data: DataFile) -> Roles:
    """Return the roles of the columns.

    Raises
    ------
    CsvError
        If a named column does not exist, a column has two roles, no feature is left, or a used column has no name.
    """
    categories = columns_named(table, data.categorical)
    automatic = [one for one in categories if one not in table.names and _AUTO.fullmatch(one)]
    named = {
        "--features": columns_named(table, data.features),
        "--categorical": [one for one in categories if one not in automatic],
        "--exclude": columns_named(table, data.exclude),
        "--target": [data.target],
        "--group": [] if data.group is None else [data.group],
        "--weight": [] if data.weight is None else [data.weight],
    }
    _check_names(table, named)
    _check_parts(named)
    left_out = {*named["--exclude"], *named["--target"], *named["--group"], *named["--weight"]}
    features = tuple(
        name for name in table.names if name in (named["--features"] or table.names) and name not in left_out
    )
    if not features:
        raise CsvError(f"there is no feature column besides the target {quoted(data.target)}")
    found = Roles(
        data.target,
        features,
        tuple(named["--categorical"]),
        bool(automatic),
        max((int(match[1] or 0) for match in map(_AUTO.fullmatch, automatic) if match), default=0),
        data.group,
        data.weight,
    )
    _check_unnamed(table, found.used)
    return found


def columns_named(table: Table, texts: Iterable[str]) -> list[str]:
    """Return the columns named by texts, each one column or several separated by commas.

    A name that contains a comma must be the whole text, or in quotes.
    """
    found: list[str] = []
    for text in texts:
        names = [text] if text in table.names else next(csv.reader([text], skipinitialspace=True), [])
        found += [name if name in table.names else name.strip() for name in names]
    return list(dict.fromkeys(found))


def _check_names(table: Table, named: Mapping[str, Sequence[str]]) -> None:
    for option, names in named.items():
        for name in names:
            if name not in table.names:
                said = "; ".join([_hint(table, name), *table.warnings])  # such as other sheets
                raise CsvError(f"{option}: no column {quoted(name)} in {quoted(table.source)}; {said}")


def _hint(table: Table, name: str) -> str:
    folded = [other for other in table.names if other.casefold() == name.strip().casefold()]
    close = folded or difflib.get_close_matches(name, table.names, n=3)
    if close:
        return f"did you mean {' or '.join(map(quoted, close))}?"
    return f"the columns are {first_few([quoted(other) for other in table.names])}"


def _check_parts(named: Mapping[str, Sequence[str]]) -> None:
    """Raise an error if a column has two roles."""
    (target,) = named["--target"]
    for option in ("--features", "--categorical", "--exclude", "--group", "--weight"):
        if target in named[option]:
            raise CsvError(f"{option} {quoted(target)}: this column is the target; choose another one")
    parts = ("--exclude", "--group", "--weight")
    pairs = [(first, option) for first in ("--categorical", "--features") for option in parts]
    for first, option in [*pairs, ("--group", "--weight")]:
        both = [name for name in named[first] if name in named[option]]
        if both:
            raise CsvError(f"column {quoted(both[0])} is named in both {first} and {option}; choose one")
    if named["--features"]:
        others = [name for name in named["--categorical"] if name not in named["--features"]]
        if others:
            raise CsvError(
                f"column {quoted(others[0])} is named in --categorical but not in --features; add it there"
            )


def _check_unnamed(table: Table, used: Iterable[str]) -> None:
    for name in used:
        if name in table.unnamed:
            raise CsvError(
                f"{name} of {quoted(table.source)} has no name in the header (row numbers?); "
                f'give it a name, or drop it with --exclude "{name}"'
            )
