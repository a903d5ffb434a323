"""Possible mistakes in a file: copied rows, patients with several rows, isolated values."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cudbound.basis.feature_table import count_improbable_copies
from cudbound.inputs.column_kinds import (
    CODE,
    FREE_TEXT,
    IDS,
    FarValue,
    far_values,
    is_id_name,
    kind_of,
    numbers_the_rows,
    one_spelling,
    says_unknown,
)
from cudbound.inputs.data_file import count_rows, first_few, quoted
from cudbound.inputs.number_texts import key_of, to_numbers
from cudbound.inputs.parsed_file import Roles
from cudbound.inputs.separation import Codes, relabelings, separation

if TYPE_CHECKING:
    import pandas as pd

#: In more cells than this, agreements of columns are not looked for.
MOST_CELLS = 1_000_000


def suspicions(cells: pd.DataFrame, roles: Roles, numbers: pd.DataFrame) -> Iterator[str]:
    """Return one sentence per possible mistake in a file.

    Parameters
    ----------
    cells : DataFrame of str, shape (n_records, n_columns)
        The whole file, nan where a cell is missing; its index has the lines.
    roles : Roles
    numbers : DataFrame of float
        The numeric features.
    """
    n_copies = count_improbable_copies(cells)
    if n_copies:
        words = "is an exact copy" if n_copies == 1 else "are exact copies"
        way = "" if roles.group is not None else ", or use --group COL if they belong to one patient"
        yield (
            f"{n_copies} of {len(cells)} rows {words} of an earlier row, the first on line "
            f"{cells.duplicated().idxmax()}, which chance does not explain; delete what was pasted twice{way}"
        )
    for name in cells.columns:
        if name not in (roles.target, roles.group, roles.weight, *roles.categorical):
            yield from _of_ids(name, cells[name].dropna(), name in roles.features, roles.group is not None)
    for name in roles.features:
        if name not in numbers.columns:
            yield from _of_levels(name, cells[name].dropna())
    for name in numbers.columns:
        if not is_id_name(name) and numbers_the_rows(cells[name].dropna()):
            yield f"column {quoted(name)} is a feature and numbers the rows; leave it out with --exclude {quoted(name)}"
        for far in far_values(numbers[name].dropna()):
            yield far_in_words(name, far, numbers.drop(columns=name))
    if roles.target:
        for far in far_values(to_numbers(cells[roles.target].dropna()), least=1):
            yield far_in_words(roles.target, far, numbers)
        yield from _of_agreements(cells, roles) if cells.size <= MOST_CELLS else ()


def _of_agreements(cells: pd.DataFrame, roles: Roles) -> Iterator[str]:
    """Yield features that alone separate the classes, and those that relabel another one."""
    rows = cells[cells[roles.target].notna() & ~cells.duplicated()]
    y = _codes(rows[roles.target])
    groups = None if roles.group is None else _codes(rows[roles.group])
    codes = {name: _codes(rows[name]) for name in roles.features}
    for name, levels in codes.items():
        if how := _separates(rows[name], levels, y, groups, len(codes)):
            column, target = quoted(name), quoted(roles.target)
            yield (
                f"column {column} alone separates the classes of {target}, {how}; if it records the outcome, or was "
                f"known only after it, drop it with --exclude {column}"
            )
    levels_of = {
        name: levels
        for name, levels in codes.items()
        if not is_id_name(name) and not numbers_the_rows(cells[name].dropna())
    }
    for name, other in relabelings(levels_of, groups).items():
        yield (
            f"column {quoted(name)} relabels column {quoted(other)}: each value of one belongs to one value of the "
            f"other; drop one of them with --exclude {quoted(name)}"
        )


def _codes(cells: pd.Series[str]) -> Codes:
    """Return the numbers of the values of a column in their order, and -1 where one is missing."""
    numbers = to_numbers(cells)
    is_text = (numbers.isna() & cells.notna()).any()
    values = one_spelling(cells.map(key_of))[0] if is_text else numbers
    return values.factorize(sort=True)[0]


def _separates(cells: pd.Series[str], levels: Codes, y: Codes, groups: Codes | None, n_columns: int) -> str:
    """Return how a column alone separates the classes, or an empty text."""
    how = separation(np.where(levels < 0, np.nan, levels), y, groups, n_columns)
    if how == "threshold" and not to_numbers(cells.dropna()).isna().any():
        return "at a threshold"
    if how:
        return "level by level"
    return "by being missing" if separation((levels < 0).astype(float), y, groups, n_columns) else ""


def _of_ids(name: str, values: pd.Series[str], is_feature: bool, grouped: bool) -> Iterator[str]:
    named, n_different = is_id_name(name), values.nunique()
    is_id = named or (not is_feature and 2 * n_different > len(values) and kind_of(name, values) == IDS)
    column, repeated = quoted(name), n_different < len(values) and not grouped
    if is_id and repeated:
        yield (
            f"column {column} repeats: {n_different} different values on {len(values)} rows; use --group {column} if "
            "it identifies patients, because rows of one patient are not independent"
        )
    elif named and is_feature:
        yield f"column {column} is a feature named like an ID; if it is one, drop it with --exclude {column}"


def _of_levels(name: str, values: pd.Series[str]) -> Iterator[str]:
    codes = to_numbers(values).notna() & values.map(CODE.fullmatch).notna()
    unknown = values.map(says_unknown) | (codes & (codes.sum() == to_numbers(values).count()))
    if 0 < unknown.sum() < len(values):
        words = sorted(values[unknown].unique())
        yield (
            f"column {quoted(name)}: {', '.join(map(quoted, words))} on {count_rows(unknown.sum())} is a level; add "
            f"{missing_option(words)} if it means a missing value"
        )
    kind = kind_of(name, values)
    if kind in (IDS, FREE_TEXT) and not is_id_name(name):
        what = "free text" if kind == FREE_TEXT else "an ID or free text"
        yield (
            f"column {quoted(name)} is a category of {values.nunique()} levels on {len(values)} rows; if it is {what}, "
            f"drop it with --exclude {quoted(name)}"
        )


def missing_option(words: Sequence[str]) -> str:
    """Return the option for texts that mean a missing value, ready to paste."""
    return f"--missing-values={shlex.quote(','.join(words))}"


def far_in_words(name: str, far: FarValue, columns: pd.DataFrame | None = None) -> str:
    """Return the sentence on an isolated number, which may also be a value of other columns of numbers."""
    lines, text = far.lines, far.text
    rows = f"on line {lines[0]}" if len(lines) == 1 else f"on {len(lines)} rows, the first on line {lines[0]}"
    way = f"add --missing-values={text}"
    sharing = [] if columns is None else [*columns.columns[(columns == float(text)).any()]]
    if sharing:
        listed = first_few([*map(quoted, sharing)])
        way = f"leave it empty in the file, because {text} is also a value of column {listed},"
    return (
        f"column {quoted(name)}: {text} {rows} is far from the others, {far.others}; {way} if it codes a missing "
        "value, or correct it if it is an error"
    )
