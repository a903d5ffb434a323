"""Possible mistakes in a file: copied rows, patients with several rows, isolated values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cudbound.basis.equal_rows import count_improbable_copies
from cudbound.inputs.column_kinds import IDS, is_id_name, kind_of, numbers_the_rows
from cudbound.inputs.column_roles import Roles
from cudbound.inputs.data_file import quoted

if TYPE_CHECKING:
    import pandas as pd

#: A value is far from the others if the gap is larger than this many times their range; one that is often a code for
#: a missing value, if it is larger than a quarter of it.
FAR, FAR_CODE = 2.0, 0.25
#: Levels, in lower case, that may say "no value".
UNKNOWN = frozenset(
    {"-", "--", "unknown", "unk", "missing", "n.a.", "n.k.", "n/k", "n/d", "not known", "not recorded"}
)
_CODE = re.compile(r"-?9{2,}|-1|-9")


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
        for text, at, others, _ in far_values(numbers[name].dropna()):
            yield far_in_words(name, text, at, others)


def _of_ids(name: str, values: pd.Series[str], is_feature: bool, grouped: bool) -> Iterator[str]:
    named, n_different = is_id_name(name), values.nunique()
    found = named or (not is_feature and 2 * n_different > len(values) and kind_of(name, values) == IDS)
    column, repeated = quoted(name), n_different < len(values) and not grouped
    if found and repeated:
        yield (
            f"column {column} repeats: {n_different} different values on {len(values)} rows; use --group {column} if "
            "it identifies patients, because rows of one patient are not independent"
        )
    elif named and is_feature:
        yield f"column {column} is a feature named like an ID; if it is one, drop it with --exclude {column}"


def _of_levels(name: str, values: pd.Series[str]) -> Iterator[str]:
    unknown = values[values.str.casefold().isin(UNKNOWN)]
    if 0 < len(unknown) < len(values):
        words = sorted(unknown.unique())
        yield (
            f"column {quoted(name)}: {', '.join(map(quoted, words))} on {len(unknown)} rows is a level; add "
            f"--missing-values={','.join(words)} if it means a missing value"
        )


def far_values(values: pd.Series[float]) -> Iterator[tuple[str, pd.Index[int], str, bool]]:
    """Return each isolated number, its lines, the range of the others, and whether it is a common code."""
    levels = np.unique(values)
    if len(levels) < 6:  # no range to be far from
        return
    for far, others in ((levels[0], levels[1:]), (levels[-1], levels[:-1])):
        low, high = others[0], others[-1]
        text = repr(float(far)).removesuffix(".0")
        gap, code = min(abs(far - low), abs(far - high)), _CODE.fullmatch(text) is not None
        if gap > (high - low) * (FAR_CODE if code else FAR):
            yield text, values.index[values == far], f"{low:g} to {high:g}", code


def far_in_words(name: str, text: str, at: pd.Index[int], others: str) -> str:
    """Return the sentence on an isolated number."""
    rows = f"on line {at[0]}" if len(at) == 1 else f"on {len(at)} rows, the first on line {at[0]}"
    return (
        f"column {quoted(name)}: {text} {rows} is far from the others, {others}; add --missing-values={text} if it "
        "codes a missing value, or correct it if it is an error"
    )
