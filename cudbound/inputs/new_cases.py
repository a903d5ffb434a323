"""A file of new cases, read with the roles, classes and levels of the file of training rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.inputs.column_kinds import spelling
from cudbound.inputs.csv_columns import TrainingData, numbers_in, settled_cells
from cudbound.inputs.data_file import CsvError, DataFile, count_rows, first_few, key_of, quoted
from cudbound.inputs.parsed_file import parse_file

if TYPE_CHECKING:
    import pandas as pd


def read_new_cases(
    data: DataFile, sample: TrainingData, file: Path
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the features of new cases, coded like those of the training rows, and the places of their classes.

    Parameters
    ----------
    data : DataFile
        How the file of the training rows was read.
    sample : TrainingData
        The training rows.
    file : Path
        The file of new cases; weights in it are not read.

    Raises
    ------
    CsvError
        If the file cannot be read like that of the training rows, has a class or a level that no training row has, a
        missing value that the classifier cannot fill, or several cases of a group, or one of a group of training rows.
    """
    categories = tuple(sample.columns.select_dtypes(exclude="number"))
    as_in_training = replace(
        data,
        file=file,
        features=tuple(sample.columns),
        categorical=categories,
        exclude=(),
        weight=None,
        positive="",
        all_classes=False,
    )
    table, data = parse_file(as_in_training)
    _, frame, _ = settled_cells(table, data)
    gaps = [quoted(name) for name in data.features if frame[name].isna().any()]
    if gaps and not np.isnan(sample.X).any():
        raise CsvError(
            f"{quoted(table.source)}: missing values in column {first_few(gaps)}, and none of the training rows has "
            "one, so that the classifier does not fill them; drop these rows with --missing drop"
        )
    keys = frame.map(key_of)
    if sample.groups is not None:
        _check_groups(keys[str(data.group)], set(sample.groups.tolist()), table.source)
    places = {name: number for number, name in enumerate(map(key_of, sample.classes))}
    y = _known(keys[data.target], places, table.source).map(places).to_numpy(dtype=np.int64)
    levels = {
        name: _known(keys[name], sample.columns[name].dropna().unique(), table.source) for name in categories
    }
    numbers = numbers_in(frame[[name for name in data.features if name not in categories]])
    return sample.coded(keys[list(data.features)].assign(**numbers, **levels)), y


def _known(keys: pd.Series[str], values: Iterable[str], source: str) -> pd.Series[str]:
    """Return a column in the spelling of the training rows; raise CsvError for a value that none of them has."""
    spelled = {spelling(value): value for value in values}
    texts = keys.dropna().map(spelling)
    other = ~texts.isin(list(spelled))
    if other.any():
        line: Any = other.idxmax()
        raise CsvError(
            f"column {quoted(str(keys.name))} of {quoted(source)} has {quoted(keys[line])} on line {line}, which no "
            f"training row has: the values there are {first_few([*map(quoted, spelled.values())])}; correct its "
            "spelling, or remove this case"
        )
    return texts.map(spelled).reindex(keys.index)


def _check_groups(keys: pd.Series[str], in_training: set[str], source: str) -> None:
    """Raise CsvError if a group has several new cases, which would not be independent, or training rows."""
    name, old = quoted(str(keys.name)), keys[keys.isin(in_training)]
    if len(old):
        raise CsvError(
            f"--group: {name} {quoted(old.iloc[0])} on line {old.index[0]} of {quoted(source)} also has training rows, "
            f"as {count_rows(len(old))} there in all; remove them, since they are not new"
        )
    again = keys[keys.duplicated()]
    if len(again):
        raise CsvError(
            f"--group: {name} {quoted(again.iloc[0])} has several cases in {quoted(source)}, which are not "
            "independent; keep one of each group"
        )
