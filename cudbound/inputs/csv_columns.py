"""Convert the text columns of a file to X and y; what could be misread is an error, what may be a mistake a warning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.sample import count_improbable_copies
from cudbound.inputs import data_file, parsed_file
from cudbound.inputs.classifier_recipe import STRATEGIES
from cudbound.inputs.data_file import CsvError, DataFile, first_few, key_of, quoted, to_drop
from cudbound.inputs.parsed_file import AUTO
from cudbound.inputs.suspicions import copies, suspicions

if TYPE_CHECKING:
    import pandas as pd


#: Largest size of a feature: beyond it a sum of squares would leave the range of floating point.
LARGEST = 1e100


@dataclass(frozen=True)
class TrainingData:
    """A training set and what is known about it.

    Attributes
    ----------
    X : ndarray of float, shape (n_samples, n_columns)
        Features for the fit; finite, except for nan if a missing value is filled in the fit or by a model.
    y : ndarray of int, shape (n_samples,)
        1 for the event, 0 otherwise; for more than two classes, the index in `classes`.
    feature_names : tuple of str, length n_columns
        Names of the columns of `X`; an indicator of a categorical column is named ``column=level``.
    source, event : str
        Name of the data, and the event in words; "" for more than two classes.
    classes : tuple of str
        The values of the target in the data; of two, the event is the second.
    groups : ndarray of str, shape (n_samples,), or None
        Groups of rows, with a single spelling of equal values; None without groups.
    weights : ndarray of float, shape (n_samples,), or None
        Weights of the rows, positive; None without weights.
    missing : str or None
        How nan in `X` is filled in every fit, "median" or "most-frequent"; None if it is not.
    levels : tuple of int
        Columns of `X` with level numbers instead of indicators, because some values are missing.
    n_left_out : int
        Number of rows that were dropped because of missing values.
    notes : tuple of str
        Sentences on how columns were read and missing values handled.
    warnings : tuple of str
        Possible mistakes to check before using the results.
    n_copies : int
        Rows of which a warning says that they are copies of earlier ones.
    columns : DataFrame
        The features as read: one column for each, categories as text, nan for a missing value.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    source: str
    event: str
    classes: tuple[str, ...] = ("0", "1")
    groups: NDArray[np.str_] | None = None
    missing: str | None = None
    levels: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    weights: NDArray[np.float64] | None = None
    n_left_out: int = 0
    warnings: tuple[str, ...] = ()
    n_copies: int = 0
    columns: Any = None

    def coded(self, rows: pd.DataFrame) -> NDArray[np.float64]:
        """Return rows like `columns`, with levels that occur in them, in the form of `X`."""
        import pandas as pd

        whole = pd.concat([self.columns, rows])
        categories = list(whole.select_dtypes(exclude="number"))
        design, _ = _design(whole, whole, list(whole), categories, self.missing is not None)
        return design.to_numpy(dtype=np.float64)[len(self.columns) :]


def read_training_data(data: DataFile, *, any_features: bool = False) -> TrainingData:
    """Read a CSV file, and select, check and convert the columns of a fit.

    Parameters
    ----------
    data : DataFile
    any_features : bool, default=False
        Whether a feature may be constant, and is not looked at for mistakes, as in published data sets.

    Raises
    ------
    CsvError
        If the file cannot be used, see `cudbound.inputs.parsed_file.parse_file`, a feature is not numeric, infinite or
        constant, a weight is not positive, or the target does not have two usable classes.
    """
    table, data, cells, frame, settled = parsed_file.parse_file(data)
    target, features = data.target, list(data.features)
    texts = [
        name
        for name in features
        if AUTO in data.categorical and name not in data.categorical
        if data_file.kind_of(name, frame[name].dropna()) == data_file.TEXT
    ]
    categorical = [name for name in features if name in {*data.categorical, *texts}]
    labels = [target] if data.group is None else [target, data.group]
    keys = frame.map(key_of)
    spelled = {name: data_file.one_spelling(keys[name]) for name in (*labels, *categorical)}
    keys = keys.assign(**{name: column for name, (column, _) in spelled.items()})
    class_keys = parsed_file.classes_of(keys[target], data)
    y = keys[target].map(class_keys.index).to_numpy(dtype=np.int64)
    numbers = numbers_in(frame[[name for name in features if name not in categorical]])
    warnings = [*table.warnings, *(note for _, note in spelled.values() if note)]
    n_copies = 0 if any_features else count_improbable_copies(cells)
    if not any_features:
        if constant := [quoted(name) for name in features if keys[name].nunique() == 1]:
            raise CsvError(to_drop(constant, "has the same value in every row and no use as a feature"))
        if of_target := [quoted(name) for name in copies(keys[features], y)]:
            raise CsvError(
                to_drop(of_target, "has a single value per class of the target, like a copy of it")
            )
        warnings += data_file.doubts(table.cells[numbers.columns].loc[frame.index], data)
        warnings += suspicions(cells, data, numbers, n_copies)
    filled = bool(settled) and data.missing in STRATEGIES
    design, levels = _design(keys, numbers, features, categorical, filled)
    as_text = frame[target].groupby(keys[target]).first()
    classes = tuple(key if key in frame[target].to_numpy() else str(as_text[key]) for key in class_keys)
    facts = {"Missing values": settled}
    if AUTO in data.categorical:
        facts = {"Categorical columns, found automatically": first_few(texts) or "none"} | facts
    return TrainingData(
        X=np.ascontiguousarray(design.to_numpy(dtype=np.float64)),
        y=y,
        feature_names=tuple(map(str, design.columns)),
        source=table.source,
        event="" if data.all_classes else f"{target} = {classes[1]}",
        classes=classes,
        groups=None if data.group is None else keys[data.group].to_numpy(dtype=np.str_),
        missing=data.missing if filled else None,
        levels=levels,
        notes=tuple(f"{what}: {text}." for what, text in facts.items() if text),
        weights=None if data.weight is None else _weights(frame[[data.weight]]),
        n_left_out=len(table.cells) - len(frame),
        warnings=tuple(warnings),
        n_copies=n_copies,
        columns=keys[features].assign(**numbers),
    )


def _design(
    keys: pd.DataFrame, numbers: pd.DataFrame, features: list[str], categorical: list[str], filled: bool
) -> tuple[pd.DataFrame, tuple[int, ...]]:
    """Return the features of a fit, and the columns that have numbers of levels.

    A category becomes indicators of all levels except the first, nan where the value is missing; or, if that is
    filled in the fit, the number of its level.
    """
    import pandas as pd

    parts: list[pd.DataFrame] = []
    places_of_levels = list[int]()
    for name in features:
        if name not in categorical:
            part = numbers[[name]]
        elif filled and keys[name].isna().any():
            places_of_levels.append(sum(before.shape[1] for before in parts))
            codes = pd.Series(keys[name].factorize(sort=True)[0], keys.index, dtype=float)
            part = codes.where(codes >= 0.0).to_frame(name)
        else:
            part = pd.get_dummies(keys[name], prefix=name, prefix_sep="=", drop_first=True, dtype=float)
            part[keys[name].isna()] = np.nan
        parts.append(part)
    return pd.concat(parts, axis=1), tuple(places_of_levels)


def numbers_in(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert the numeric columns; raise an error that names each non-numeric column and its first invalid cell."""
    numbers: pd.DataFrame = frame.apply(data_file.to_numbers)
    wrong = numbers.isna() & frame.notna()
    if wrong.any(axis=None):
        kinds = {name: data_file.kind_of(name, frame[name].dropna()) for name in frame.columns[wrong.any()]}
        raise CsvError(f"not plain numbers, but {'; '.join(data_file.of_kinds(frame, kinds))}")
    huge = numbers.abs() > LARGEST
    if huge.any(axis=None):
        cells = data_file.first_cells(frame, huge)
        raise CsvError(f"infinite or beyond {LARGEST:g}: {cells}; correct or remove these lines")
    keys = {name: frame[name].map(key_of) for name in frame.columns}
    # the keys keep the digits of long numbers, which floating point loses
    if long := [quoted(name) for name in keys if keys[name].nunique() > numbers[name].nunique()]:
        raise CsvError(to_drop(long, "has whole numbers of more than 15 digits, as identifiers do"))
    return numbers


def _weights(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return the values of a one-column frame, which must be positive, since the classifier is fitted with them."""
    weights = numbers_in(frame)
    if not (weights > 0.0).all(axis=None):
        cells = data_file.first_cells(frame, weights <= 0.0)
        raise CsvError(f"--weight: not positive: {cells}; remove rows without a weight from the file")
    return weights.to_numpy()[:, 0]


# --- new cases


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
    table, data, _, frame, _ = parsed_file.parse_file(as_in_training)
    gaps = [quoted(name) for name in data.features if frame[name].isna().any()]
    if gaps and not np.isnan(sample.X).any():
        raise CsvError(
            f"{quoted(table.source)}: missing values in column {first_few(gaps)}, and none of the training rows has "
            "one, so that the classifier does not fill them; drop these rows with --missing drop"
        )
    keys = frame.map(key_of)
    if sample.groups is not None:
        groups = keys[str(data.group)]
        known = groups.duplicated() | groups.isin(sample.groups.tolist())
        if known.any():
            line: Any = known.idxmax()
            raise CsvError(
                f"--group: {quoted(str(data.group))} {quoted(groups[line])} on line {line} of {quoted(table.source)} "
                "also has training rows, or a case above it; new cases must be independent: keep one of each new group"
            )
    places = {name: number for number, name in enumerate(map(key_of, sample.classes))}
    y = _known(keys[data.target], places, table.source).map(places).to_numpy(dtype=np.int64)
    levels = {
        name: _known(keys[name], sample.columns[name].dropna().unique(), table.source) for name in categories
    }
    numbers = numbers_in(frame[[name for name in data.features if name not in categories]])
    return sample.coded(keys[list(data.features)].assign(**numbers, **levels)), y


def _known(keys: pd.Series[str], values: Iterable[str], source: str) -> pd.Series[str]:
    """Return a column in the spelling of the training rows; raise CsvError for a value that none of them has."""
    spelled = {data_file.spelling(value): value for value in values}
    texts = keys.dropna().map(data_file.spelling)
    other = ~texts.isin(list(spelled))
    if other.any():
        line: Any = other.idxmax()
        raise CsvError(
            f"column {quoted(str(keys.name))} of {quoted(source)} has {quoted(keys[line])} on line {line}, which no "
            f"training row has: the values there are {first_few([*map(quoted, spelled.values())])}; correct its "
            "spelling, or remove this case"
        )
    return texts.map(spelled).reindex(keys.index)
