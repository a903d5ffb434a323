"""From the text columns of a CSV file to the X and y of a fit, refusing what would be silently misread."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cudbound.inputs.csv_file import CsvError, CsvTable, quoted

if TYPE_CHECKING:
    import pandas as pd

#: Cells, in lower case, that say "no value".
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "<na>", "null", ".", "?"})
#: Largest size of a feature: beyond it a sum of squares would leave the range of floating point.
LARGEST = 1e100
#: Items that a message lists before it only counts.
LISTED = 10


@dataclass(frozen=True)
class TrainingData:
    """A training set and what a reader must know of it.

    Attributes
    ----------
    X : ndarray of float, shape (n_samples, n_features)
        Finite features.
    y : ndarray of int, shape (n_samples,)
        1 for the event, 0 otherwise.
    feature_names : tuple of str, length n_features
        Column names; an indicator of a categorical column is called ``column=level``.
    source, event : str
        Name of the data, and the event in words.
    classes : (str, str)
        The values of the target as the data have them, that of the event second.
    groups : ndarray of str, shape (n_samples,), or None
        Which rows belong together, one text for all ways to write the same value; None if nothing is said of it.
    group : str or None
        Name of the column that says so.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    source: str
    event: str
    classes: tuple[str, str] = ("0", "1")
    groups: NDArray[np.str_] | None = None
    group: str | None = None


def training_data(
    table: CsvTable,
    *,
    target: str,
    positive: str,
    categorical: Sequence[str] = (),
    exclude: Sequence[str] = (),
    group: str | None = None,
) -> TrainingData:
    """Select, check and convert the columns of a fit.

    Parameters
    ----------
    table : CsvTable
        The file's columns as text.
    target : str
        Column of the class label; it must have exactly two values, each on at least two rows.
    positive : str
        Value of the target that is the event. Values are compared as text, except that two texts that are
        numbers are compared as numbers: ``1`` and ``1.0`` are one value.
    categorical : sequence of str, default ()
        Feature columns with k levels that become k - 1 indicators; the first level in the order of the text
        is the reference. With an intercept the choice of reference changes no interval.
    exclude : sequence of str, default ()
        Columns that are not features. Every other column except the target and `group` is one.
    group : str or None, default None
        Column that says which rows belong together; it must have at least two values.

    Returns
    -------
    TrainingData

    Raises
    ------
    CsvError
        If a named column does not exist or is named twice over, a used cell is missing, a feature is not
        numeric, infinite, constant or a copy of the target, the target does not have two usable classes, or all
        rows are in one group.
    """
    for name, option in [
        (target, "--target"),
        *((n, "--categorical") for n in categorical),
        *((n, "--exclude") for n in exclude),
        *([] if group is None else [(group, "--group")]),
    ]:
        _check_column(table, name, option)
    _check_roles(target, categorical, exclude, group)
    features = [name for name in table.names if name not in (target, group) and name not in exclude]
    if not features:
        raise CsvError(f"no feature column is left beside the target {quoted(target)}")
    used = [target, *features, *([] if group is None else [group])]
    _check_named(table, used)

    import pandas as pd

    frame = pd.DataFrame(list(table.records), columns=list(table.names), dtype=object)[used]
    _check_missing(table, frame)
    keys = frame.apply(_keys)
    negative_key, positive_key = _classes(keys[target], positive, target)
    y = np.where(keys[target] == positive_key, 1, 0).astype(np.int64)
    _check_constant(keys[features])
    _check_copies(keys[features], y, target)
    numbers = _numbers(table, frame[[name for name in features if name not in categorical]])
    parts = [_indicators(keys[name]) if name in categorical else numbers[[name]] for name in features]
    design = pd.concat(parts, axis=1)
    negative, event = (
        str(frame[target][keys[target] == key].iloc[0]) for key in (negative_key, positive_key)
    )
    return TrainingData(
        np.ascontiguousarray(design.to_numpy(dtype=np.float64)),
        y,
        tuple(str(name) for name in design.columns),
        table.source,
        f"{target} = {event}",
        (negative, event),
        None if group is None else _groups(keys[group]),
        group,
    )


def _check_column(table: CsvTable, name: str, option: str) -> None:
    if name in table.names:
        return
    folded = [other for other in table.names if other.casefold() == name.strip().casefold()]
    close = folded or difflib.get_close_matches(name, table.names, n=3)
    if close:
        hint = f"did you mean {' or '.join(map(quoted, close))}?"
    else:
        hint = f"the columns are {_listed(map(quoted, table.names), len(table.names))}"
    raise CsvError(f"{option}: no column {quoted(name)} in {quoted(table.source)}; {hint}")


def _check_roles(target: str, categorical: Sequence[str], exclude: Sequence[str], group: str | None) -> None:
    for names, option in ((categorical, "--categorical"), (exclude, "--exclude"), ([group], "--group")):
        if target in names:
            raise CsvError(f"{option} {quoted(target)}: this column is the target; name another one")
    both = [name for name in categorical if name in exclude]
    if both:
        raise CsvError(f"column {quoted(both[0])} is named by --categorical and by --exclude; choose one")
    if group is not None and group in categorical:
        raise CsvError(f"column {quoted(group)} is named by --categorical and by --group; choose one")


def _check_named(table: CsvTable, used: Iterable[str]) -> None:
    for name in used:
        if name in table.unnamed:
            raise CsvError(
                f"{name} of {quoted(table.source)} has no name in the header (row numbers?); "
                f'give it one, or leave it out with --exclude "{name}"'
            )


def _check_missing(table: CsvTable, frame: pd.DataFrame) -> None:
    absent = frame.apply(lambda column: column.str.lower().isin(MISSING)).to_numpy()
    rows, columns = np.nonzero(absent)
    if rows.size:
        names = [quoted(str(name)) for name in frame.columns]
        cells = [f"column {names[j]} line {table.lines[i]}" for i, j in zip(rows, columns, strict=True)]
        raise CsvError(
            f"{rows.size} missing value(s) in {quoted(table.source)}: {_listed(cells, len(cells))}; "
            "complete or remove these lines, or leave a column out with --exclude COL"
        )


def _keys(column: pd.Series[str]) -> pd.Series[str]:
    """Return one text for all ways to write the same value: ``1``, ``1.0`` and ``1e0`` become ``1``."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    return column.where(numbers.isna(), numbers.map(lambda number: repr(number).removesuffix(".0")))


def _classes(keys: pd.Series[str], positive: str, target: str) -> tuple[str, str]:
    """Return the keys of the negative and of the positive class."""
    import pandas as pd

    counts = keys.value_counts(sort=False)
    found = [f"{quoted(str(key))} ({_rows(count)})" for key, count in counts.items()]
    if len(counts) != 2:
        only = "one value" if len(counts) == 1 else f"{len(counts)} values"
        raise CsvError(
            f"the target {quoted(target)} must have two classes; it has {only}: {_listed(found, len(found))}"
        )
    wanted = str(_keys(pd.Series([positive.strip()], dtype=object)).iloc[0])
    if wanted not in counts.index:
        raise CsvError(
            f"--positive {quoted(positive)} is not a value of {quoted(target)}; found {', '.join(found)}"
        )
    if counts.min() < 2:
        raise CsvError(f"each class of {quoted(target)} needs at least two rows; found {', '.join(found)}")
    other = next(str(key) for key in counts.index if key != wanted)
    return other, wanted


def _check_constant(keys: pd.DataFrame) -> None:
    constant = [str(name) for name in keys.columns if keys[name].nunique() == 1]
    if constant:
        raise CsvError(
            f"column {_listed(map(quoted, constant), len(constant))} has the same value on every row and "
            "cannot be a feature; leave it out with --exclude COL"
        )


def _check_copies(keys: pd.DataFrame, y: NDArray[np.int64], target: str) -> None:
    for name in keys.columns:
        if keys[name].nunique() == 2 and keys[name].groupby(y).nunique().max() == 1:
            raise CsvError(
                f"column {quoted(str(name))} is a copy of the target {quoted(target)}: one value for each "
                "class; a classifier must not see it, leave it out with --exclude COL"
            )


def _numbers(table: CsvTable, frame: pd.DataFrame) -> pd.DataFrame:
    """Convert the numeric columns, or name each column that is not numeric with its first offending cell."""
    import pandas as pd

    numbers = pd.DataFrame(
        {name: pd.to_numeric(frame[name], errors="coerce").astype(float) for name in frame.columns},
        index=frame.index,
    )
    wrong = [str(name) for name in frame.columns if numbers[name].isna().any()]
    if wrong:
        cells = [_first(table, frame[name], numbers[name].isna().to_numpy()) for name in wrong]
        raise CsvError(f"not numeric: {_listed(cells, len(cells))}; {_remedy(frame[wrong], numbers[wrong])}")
    huge = numbers.abs() > LARGEST
    if huge.any(axis=None):
        names = [str(name) for name in frame.columns if huge[name].any()]
        cells = [_first(table, frame[name], huge[name].to_numpy()) for name in names]
        raise CsvError(
            f"infinite or beyond {LARGEST:g}: {_listed(cells, len(cells))}; correct or remove these lines"
        )
    return numbers


def _remedy(frame: pd.DataFrame, numbers: pd.DataFrame) -> str:
    """Say what to do about columns that are not numeric; indicators are no cure for a slip of the pen."""
    if all(frame[name].str.fullmatch(r"[-+]?\d*(,\d*)?").all() for name in frame.columns):
        return "write these numbers with a decimal point and without commas"
    if (numbers.notna().mean() > 0.5).all():
        return "correct these cells, or leave the column out with --exclude COL"
    repeats = [name for name in frame.columns if frame[name].nunique() < len(frame)]
    if repeats:
        return (
            "add --categorical COL to use a column's levels as indicators, or leave it out with --exclude COL"
        )
    return "leave such a column out with --exclude COL"


def _first(table: CsvTable, column: pd.Series[str], at: NDArray[np.bool_]) -> str:
    row = int(np.argmax(at))
    return f"column {quoted(str(column.name))} ({quoted(column.iloc[row])} on line {table.lines[row]})"


def _indicators(keys: pd.Series[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.get_dummies(keys, prefix=str(keys.name), prefix_sep="=", drop_first=True, dtype=float)


def _groups(keys: pd.Series[str]) -> NDArray[np.str_]:
    groups = keys.to_numpy(dtype=np.str_)
    if len(set(groups)) < 2:
        raise CsvError(
            f"--group: column {quoted(str(keys.name))} has the same value on every row, so that no group is "
            "left to test on; name another column"
        )
    return groups


def _rows(count: int) -> str:
    return f"{count} row" if count == 1 else f"{count} rows"


def _listed(items: Iterable[str], total: int) -> str:
    shown = [item for _, item in zip(range(LISTED), items, strict=False)]
    return ", ".join(shown) + (f" and {total - LISTED} more" if total > LISTED else "")
