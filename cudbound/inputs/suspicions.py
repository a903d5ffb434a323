"""What may be a mistake in a file: copied rows, identifiers, codes of missing values, the outcome as a feature."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.words import counted
from cudbound.inputs.data_file import (
    IDS,
    DataFile,
    first_few,
    is_id_name,
    key_of,
    kind_of,
    numbers_the_rows,
    one_spelling,
    quoted,
    to_numbers,
)
from cudbound.inputs.parsed_file import CODE, UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

#: A value is far from the others if the gap is larger than this many times their range; one that is often a code for
#: a missing value, if it is larger than this share of it.
FAR, FAR_CODE = 2.0, 0.25
#: A number that is no code is far only from at least this many others.
FEW_NUMBERS = 5
#: An agreement is questioned if it has a smaller chance than this, among all columns that were looked at.
IMPROBABLE = 1e-3
#: Levels are looked at one by one if there are at most so many per row.
LEVELS_PER_ROW = 0.25
#: In more cells than this, agreements of columns are not looked for.
MOST_CELLS = 1_000_000

Codes = NDArray[np.intp]


def suspicions(cells: pd.DataFrame, data: DataFile, numbers: pd.DataFrame, n_copies: int) -> Iterator[str]:
    """Return one sentence per possible mistake in a file.

    Parameters
    ----------
    cells : DataFrame of str, shape (n_records, n_columns)
        The whole file, nan where a cell is missing; its index has the lines.
    data : DataFile
        With the names of all features.
    numbers : DataFrame of float
        The numeric features.
    n_copies : int
        Rows that are copies of earlier ones, see `cudbound.basis.sample.count_improbable_copies`.
    """
    if n_copies:
        words = "is an exact copy" if n_copies == 1 else "are exact copies"
        place = f"{'it' if n_copies == 1 else 'the first'} is on line {cells.duplicated().idxmax()}"
        way = "" if data.group is not None else ", or use --group COL if they belong to one patient"
        yield (
            f"{n_copies} of {len(cells)} rows {words} of an earlier row, which is more than chance explains; {place}; "
            f"delete what was pasted twice{way}"
        )
    for name in cells.columns:
        if name not in (data.target, data.group, data.weight, *data.categorical):
            yield from _of_ids(name, cells[name].dropna(), data)
    for name in (name for name in data.features if name not in numbers.columns):
        values = cells[name].dropna()
        unknown = values[values.map(UNKNOWN.fullmatch).notna()]
        if 0 < len(unknown) < len(values):
            texts = sorted(unknown.unique())
            yield (
                f"column {quoted(name)}: {', '.join(map(quoted, texts))} on {counted(len(unknown), 'row')} is a level; "
                f"add --missing-values={shlex.quote(','.join(texts))} if it means a missing value"
            )
    for name in numbers.columns:
        yield from _of_far_values(numbers[name].dropna(), numbers)
    if data.target:
        yield from _of_far_values(to_numbers(cells[data.target].dropna()), numbers, least=1)
        yield from _of_agreements(cells, data) if cells.size <= MOST_CELLS else ()


def _of_ids(name: str, values: pd.Series[str], data: DataFile) -> Iterator[str]:
    named, n_different, is_feature = is_id_name(name), values.nunique(), name in data.features
    is_id = named or (not is_feature and 2 * n_different > len(values) and kind_of(name, values) == IDS)
    if is_id and n_different < len(values) and data.group is None:
        yield (
            f"column {quoted(name)} repeats: {n_different} different values on {len(values)} rows; use --group "
            f"{quoted(name)} if it identifies patients, because rows of one patient are not independent"
        )
    elif is_feature and (named or numbers_the_rows(values)):
        what = "is named like an ID" if named else "numbers the rows"
        yield (
            f"column {quoted(name)} {what}; if it is no property of a patient, drop it with --exclude {quoted(name)}"
        )


# --- isolated numbers


def _of_far_values(values: pd.Series[float], numbers: pd.DataFrame, least: int = 2) -> Iterator[str]:
    """Yield a sentence for each isolated number of a column, which may also be a value of other columns of numbers."""
    levels = np.unique(values)
    for end in (0, -1) if levels.size > 1 else ():
        number = levels[end]
        if not is_far(number, np.delete(levels, end), least):
            continue
        lines, text = values.index[values == number], repr(float(number)).removesuffix(".0")
        rest = values[values != number]
        rows = (
            f"on line {lines[0]}"
            if len(lines) == 1
            else f"on {len(lines)} rows, the first on line {lines[0]}"
        )
        way = f"add --missing-values={text}"
        if sharing := [
            quoted(name) for name in numbers.columns[(numbers == number).any()] if name != values.name
        ]:
            way = (
                f"leave it empty in the file, because {text} is also a value of column {first_few(sharing)},"
            )
        yield (
            f"column {quoted(str(values.name))}: {text} {rows} is far from the others, {rest.min():g} to "
            f"{rest.max():g}; {way} if it codes a missing value, or correct it if it is an error"
        )


def is_far(number: float, others: NDArray[np.float64], least: int) -> bool:
    """Whether a number is far from the others, ordered, which are all larger, or all smaller.

    Codes of missing values are looked for beside `least` different values, other numbers beside `FEW_NUMBERS`. A 9,
    itself a number of few digits, must be above other whole numbers by their range, and other codes farther than a
    share of it; a negative one only needs to be beside no other negative number. A number that is no code must be far
    also on a logarithmic scale, unless there are negative ones.
    """
    gap, spread = float(np.abs(number - others).min()), float(np.ptp(others))
    if (
        CODE.fullmatch(repr(float(number)).removesuffix(".0"))
        and gap > 1.0
        and others.size >= least + (number == -1.0)
    ):
        if number == 9.0:
            return bool(others[0] < 9.0 and gap >= spread and not (others % 1.0).any())
        if gap > FAR_CODE * spread or number < 0.0 <= others[0]:
            return True
    if others.size < FEW_NUMBERS or gap <= FAR * spread:
        return False
    if min(number, others[0]) < 0.0:
        return True
    return bool(np.abs(np.log1p(number) - np.log1p(others)).min() > np.ptp(np.log1p(others)))


# --- the outcome in a feature


def _of_agreements(cells: pd.DataFrame, data: DataFile) -> Iterator[str]:
    """Yield features that alone separate the classes, by their values or by where they are missing."""
    rows = cells[cells[data.target].notna() & ~cells.duplicated()]
    y = _codes(rows[data.target])
    groups = np.arange(len(rows)) if data.group is None else _codes(rows[data.group])
    for name in data.features:
        codes, n_columns = _codes(rows[name]), len(data.features)
        given = codes >= 0
        if separates(codes[given], y[given], groups[given], n_columns):
            how = "by its values"
        elif separates(given, y, groups, n_columns):
            how = "by being missing"
        else:
            continue
        yield (
            f"column {quoted(name)} alone separates the classes of {quoted(data.target)}, {how}; if it records the "
            f"outcome, or was known only after it, drop it with --exclude {quoted(name)}"
        )


def copies(keys: pd.DataFrame, y: Codes) -> list[str]:
    """Return the columns with a single value per class, like copies of the target, unless chance may have made one."""
    alike = [
        str(name)
        for name in keys.columns
        if keys[name].nunique() == 2 and keys[name].groupby(y).nunique().max() == 1
    ]
    return alike if alike and is_improbable(np.bincount(y), math.log(2.0), len(keys.columns)) else []


def _codes(cells: pd.Series[str]) -> Codes:
    """Return the numbers of the values of a column in their order, and -1 where one is missing."""
    numbers = to_numbers(cells)
    is_text = (numbers.isna() & cells.notna()).any()
    values = one_spelling(cells.map(key_of))[0] if is_text else numbers
    return values.factorize(sort=True)[0]


def separates(values: NDArray[Any], y: Codes, groups: Codes, n_columns: int) -> bool:
    """Whether a column alone separates the classes, as chance would not.

    By thresholds, the values of each class are on one side of those of another one; by levels, each value has one
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
    k, m = counts.size, levels.size
    class_of_level = np.zeros(m, dtype=np.intp)
    class_of_level[level] = y
    if k < 2 or m < 2 or (class_of_level[level] != y).any():
        return False
    log_ways = m * math.log(k) if m <= LEVELS_PER_ROW * values.size else math.inf
    if np.count_nonzero(np.diff(class_of_level)) == k - 1:
        log_ways = min(log_ways, math.lgamma(k + 1))
    return is_improbable(counts, log_ways, n_columns)


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
