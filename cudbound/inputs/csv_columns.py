"""From the text columns of a CSV file to the X and y of a fit, refusing what would be silently misread."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cudbound.inputs.csv_file import CsvError, CsvTable, DataFile, first_few, quoted, read_csv_file

if TYPE_CHECKING:
    import pandas as pd

#: Cells, in lower case, that say "no value".
MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "<na>", "null", ".", "?"})
#: Largest size of a feature: beyond it a sum of squares would leave the range of floating point.
LARGEST = 1e100


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


def read_training_data(data: DataFile) -> TrainingData:
    """Read a CSV file, and select, check and convert the columns of a fit.

    Raises
    ------
    CsvError
        If the file cannot be used, see `cudbound.inputs.csv_file.read_csv_file`, a named column does not exist or is
        named twice over, a used cell is missing, a feature is not numeric, infinite, constant or a copy of the target,
        the target does not have two usable classes, or all rows are in one group.
    """
    table = read_csv_file(data.file, delimiter=data.delimiter)
    target, group = data.target, data.group
    roles = {
        "--target": [target],
        "--categorical": data.categorical,
        "--exclude": data.exclude,
        "--group": [] if group is None else [group],
    }
    _check_roles(table, roles)
    features = [name for name in table.names if name not in (target, group) and name not in data.exclude]
    if not features:
        raise CsvError(f"no feature column is left beside the target {quoted(target)}")
    used = [target, *features, *roles["--group"]]
    _check_named(table, used)

    import pandas as pd

    frame = pd.DataFrame(list(table.records), table.lines, table.names, dtype=object)[used]
    _check_missing(table.source, frame)
    keys = frame.apply(_keys)
    negative_key, positive_key = _classes(keys[target], data.positive, target)
    y = np.where(keys[target] == positive_key, 1, 0).astype(np.int64)
    _check_constant(keys[features])
    _check_copies(keys[features], y, target)
    numbers = _numbers(frame[[name for name in features if name not in data.categorical]])
    parts = [
        pd.get_dummies(keys[name], prefix=name, prefix_sep="=", drop_first=True, dtype=float)
        if name in data.categorical
        else numbers[name]
        for name in features
    ]
    design = pd.concat(parts, axis=1)
    written = frame[target].groupby(keys[target]).first()
    negative, event = str(written[negative_key]), str(written[positive_key])
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


def _check_roles(table: CsvTable, roles: Mapping[str, Sequence[str]]) -> None:
    """Refuse a name that no column has, and a column with two roles; `roles` has the names by their option."""
    for option, names in roles.items():
        for name in names:
            if name not in table.names:
                raise CsvError(
                    f"{option}: no column {quoted(name)} in {quoted(table.source)}; {_hint(table, name)}"
                )
    (target,) = roles["--target"]
    for option in ("--categorical", "--exclude", "--group"):
        if target in roles[option]:
            raise CsvError(f"{option} {quoted(target)}: this column is the target; name another one")
    for option in ("--exclude", "--group"):
        both = [name for name in roles["--categorical"] if name in roles[option]]
        if both:
            raise CsvError(f"column {quoted(both[0])} is named by --categorical and by {option}; choose one")


def _hint(table: CsvTable, name: str) -> str:
    folded = [other for other in table.names if other.casefold() == name.strip().casefold()]
    close = folded or difflib.get_close_matches(name, table.names, n=3)
    if close:
        return f"did you mean {' or '.join(map(quoted, close))}?"
    return f"the columns are {first_few([quoted(other) for other in table.names])}"


def _check_named(table: CsvTable, used: Iterable[str]) -> None:
    for name in used:
        if name in table.unnamed:
            raise CsvError(
                f"{name} of {quoted(table.source)} has no name in the header (row numbers?); "
                f'give it one, or leave it out with --exclude "{name}"'
            )


def _check_missing(source: str, frame: pd.DataFrame) -> None:
    absent = frame.apply(lambda column: column.str.lower().isin(MISSING)).to_numpy()
    cells = [f"column {quoted(frame.columns[j])} line {frame.index[i]}" for i, j in np.argwhere(absent)]
    if cells:
        raise CsvError(
            f"{len(cells)} missing value(s) in {quoted(source)}: {first_few(cells)}; "
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
    found = [f"{quoted(str(key))} ({count} row{'' if count == 1 else 's'})" for key, count in counts.items()]
    if len(counts) != 2:
        only = "one value" if len(counts) == 1 else f"{len(counts)} values"
        raise CsvError(
            f"the target {quoted(target)} must have two classes; it has {only}: {first_few(found)}"
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
    constant = [quoted(name) for name in keys.columns if keys[name].nunique() == 1]
    if constant:
        raise CsvError(
            f"column {first_few(constant)} has the same value on every row and cannot be a feature; leave it out with "
            "--exclude COL"
        )


def _check_copies(keys: pd.DataFrame, y: NDArray[np.int64], target: str) -> None:
    for name in keys.columns:
        if keys[name].nunique() == 2 and keys[name].groupby(y).nunique().max() == 1:
            raise CsvError(
                f"column {quoted(str(name))} is a copy of the target {quoted(target)}: one value for each "
                "class; a classifier must not see it, leave it out with --exclude COL"
            )


def _numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert the numeric columns, or name each column that is not numeric with its first offending cell."""
    import pandas as pd

    numbers: pd.DataFrame = frame.apply(pd.to_numeric, errors="coerce").astype(float)
    wrong = numbers.isna()
    if wrong.any(axis=None):
        remedy = _remedy(frame.loc[:, wrong.any()], numbers.loc[:, wrong.any()])
        raise CsvError(f"not numeric: {_first_cells(frame, wrong)}; {remedy}")
    huge = numbers.abs() > LARGEST
    if huge.any(axis=None):
        cells = _first_cells(frame, huge)
        raise CsvError(f"infinite or beyond {LARGEST:g}: {cells}; correct or remove these lines")
    return numbers


def _remedy(frame: pd.DataFrame, numbers: pd.DataFrame) -> str:
    """Say what to do about columns that are not numeric; indicators are no cure for a slip of the pen."""
    if all(frame[name].str.fullmatch(r"[-+]?\d*(,\d*)?").all() for name in frame.columns):
        return "write these numbers with a decimal point and without commas"
    if (numbers.notna().mean() > 0.5).all():
        return "correct these cells, or leave the column out with --exclude COL"
    if (frame.nunique() < len(frame)).any():
        return (
            "add --categorical COL to use a column's levels as indicators, or leave it out with --exclude COL"
        )
    return "leave such a column out with --exclude COL"


def _first_cells(frame: pd.DataFrame, at: pd.DataFrame) -> str:
    """List the columns in which `at` is true somewhere, each with the first such cell."""
    lines = at.loc[:, at.any()].idxmax()
    return first_few(
        [
            f"column {quoted(str(name))} ({quoted(frame[name][line])} on line {line})"
            for name, line in lines.items()
        ]
    )


def _groups(keys: pd.Series[str]) -> NDArray[np.str_]:
    groups = keys.to_numpy(dtype=np.str_)
    if len(set(groups)) < 2:
        raise CsvError(
            f"--group: column {quoted(str(keys.name))} has the same value on every row, so that no group is "
            "left to test on; name another column"
        )
    return groups
