"""Convert the text columns of a file to X and y; what could be misread is an error, what may be a mistake a warning."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.sample import count_improbable_copies
from cudbound.inputs import data_file, parsed_file
from cudbound.inputs.classifier_recipe import STRATEGIES
from cudbound.inputs.data_file import (
    CsvError,
    DataFile,
    count_rows,
    doubts,
    first_few,
    in_plain_form,
    key_of,
    quoted,
    to_drop,
    to_numbers,
)
from cudbound.inputs.text_table import Table

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
    feature_names : tuple of str, length n_features
        Names of the features, those of `X` unless `levels` says otherwise; an indicator of a categorical column is
        named ``column=level``.
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
    roles : tuple of str
        The role of every column, in short lines.
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
    roles: tuple[str, ...] = ()
    columns: Any = None

    def coded(self, rows: pd.DataFrame) -> NDArray[np.float64]:
        """Return rows like `columns`, with levels that occur in them, in the form of `X`."""
        import pandas as pd

        whole = pd.concat([self.columns, rows])
        categories = list(whole.select_dtypes(exclude="number"))
        design, *_ = _design(whole, whole, list(whole), categories, self.missing is not None)
        return design.to_numpy(dtype=np.float64)[len(self.columns) :]

    @property
    def labels(self) -> NDArray[Any]:
        """The labels for the classifier: 0 and 1, or the values of the target if there are more than two."""
        return self.y if self.event else np.asarray(self.classes)[self.y]


def read_training_data(
    data: DataFile, *, any_features: bool = False, parsed: tuple[Table, DataFile] | None = None
) -> TrainingData:
    """Read a CSV file, and select, check and convert the columns of a fit.

    Parameters
    ----------
    data : DataFile
    any_features : bool, default=False
        Whether a feature may be constant or a copy of the target, as in published data sets.
    parsed : (Table, DataFile) or None, default=None
        What `cudbound.inputs.parsed_file.parse_file` returned, where the file was read already.

    Raises
    ------
    CsvError
        If the file cannot be used, see `cudbound.inputs.parsed_file.parse_file`, a used cell is missing and not
        handled, see `cudbound.inputs.parsed_file.settle_missing`, a feature is not numeric, infinite, constant or a
        copy of the target, the target does not have two usable classes, or all rows are in one group.
    """
    table, data = parsed or parsed_file.parse_file(data)
    cells, frame, settled = settled_cells(table, data)
    target, features, automatic = data.target, list(data.features), parsed_file.is_automatic(table, data)
    labeled = [target, *([data.group] if data.group else [])]
    keys, warnings = _spelled_alike(frame.map(key_of), labeled)
    positive = None if data.all_classes else data.positive
    class_keys = parsed_file.classes_of(Counter(keys[target].dropna()), positive, target)
    y = keys[target].map(class_keys.index).to_numpy(dtype=np.int64)
    unnamed = [name for name in features if name not in data.categorical]
    texts = data_file.automatic_categories(frame[unnamed]) if automatic else []
    categorical = {*data.categorical, *texts}
    keys, of_levels = _spelled_alike(keys, [name for name in features if name in categorical])
    warnings = [*table.warnings, *warnings, *of_levels]
    if not any_features:
        check_constant(keys[features])
        check_copies(keys[features], y, target)
    numbers = numbers_in(frame[[name for name in features if name not in categorical]])
    if not any_features:
        warnings += doubts(table.cells[numbers.columns].loc[frame.index], data)
        warnings += suspicions(cells, data, numbers)
    filled = settled is not None and data.missing in STRATEGIES
    design, names, levels = _design(keys, numbers, features, categorical, filled)
    as_text = frame[target].groupby(keys[target]).first()
    classes = tuple(key if key in frame[target].to_numpy() else str(as_text[key]) for key in class_keys)
    in_levels = keys[[name for name in features if name in categorical]]
    return TrainingData(
        X=np.ascontiguousarray(design.to_numpy(dtype=np.float64)),
        y=y,
        feature_names=names,
        source=table.source,
        event="" if data.all_classes else f"{target} = {classes[1]}",
        classes=classes,
        groups=None if data.group is None else _groups(keys[data.group]),
        missing=data.missing if filled else None,
        levels=levels,
        notes=_notes(texts if automatic else None, settled),
        weights=None if data.weight is None else _weights(frame[[data.weight]]),
        n_left_out=len(table.cells) - len(frame),
        warnings=tuple(warnings),
        roles=_roles(data, cells.columns, in_levels, classes, y, settled),
        columns=keys[features].assign(**numbers),
    )


def settled_cells(table: Table, data: DataFile) -> tuple[pd.DataFrame, pd.DataFrame, str | None]:
    """Return all cells in plain form, nan where one is missing, and the used ones as `settle_missing` does."""
    cells = table.cells.assign(**in_plain_form(table.cells[data.numeric], data.decimal, data.thousands))
    absent = parsed_file.missing_cells(cells, data.missing_values)
    return cells.mask(absent), *parsed_file.settle_missing(
        table.source, cells[data.used], absent[data.used], data
    )


def _design(
    keys: pd.DataFrame,
    numbers: pd.DataFrame,
    features: Sequence[str],
    categorical: Collection[str],
    filled: bool,
) -> tuple[pd.DataFrame, tuple[str, ...], tuple[int, ...]]:
    """Return the features of a fit, their names, and the columns that have numbers of levels."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    names, places_of_levels = list[str](), list[int]()
    for name in features:
        part = numbers[[name]] if name not in categorical else _indicators(keys[name])
        names += map(str, part.columns)
        if name in categorical and filled and keys[name].isna().any():
            places_of_levels.append(sum(before.shape[1] for before in parts))
            codes = pd.Series(keys[name].factorize(sort=True)[0], keys.index, dtype=float)
            part = codes.where(codes >= 0.0).to_frame(name)
        parts.append(part)
    return pd.concat(parts, axis=1), tuple(names), tuple(places_of_levels)


def _spelled_alike(keys: pd.DataFrame, categorical: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells with one spelling per level, and notes on levels that had several."""
    spelled = {name: data_file.one_spelling(keys[name]) for name in categorical}
    alike = keys.assign(**{name: column for name, (column, _) in spelled.items()})
    return alike, [note for _, note in spelled.values() if note is not None]


def _indicators(keys: pd.Series[str]) -> pd.DataFrame:
    """Return indicators of all levels of a category except the first, nan where the value is missing."""
    import pandas as pd

    indicators = pd.get_dummies(keys, prefix=str(keys.name), prefix_sep="=", drop_first=True, dtype=float)
    indicators[keys.isna()] = np.nan
    return indicators


def _notes(texts: Sequence[str] | None, settled: str | None) -> tuple[str, ...]:
    """Report which columns were treated as categories automatically, and how missing values were handled."""
    names = None if texts is None else first_few(texts) or "none"
    notes = {"Categorical columns, found automatically": names, "Missing values": settled}
    return tuple(f"{what}: {text}." for what, text in notes.items() if text is not None)


def _roles(
    data: DataFile,
    columns: Iterable[str],
    categories: pd.DataFrame,
    classes: tuple[str, ...],
    y: NDArray[np.int64],
    settled: str | None,
) -> tuple[str, ...]:
    """Report the role of every column, in short lines."""
    sizes = [f"{quoted(name)} on {n}" for name, n in zip(classes, np.bincount(y), strict=True)]
    of_target = f"the classes {', '.join(sizes)} rows"
    if len(classes) == 2:
        of_target = f"the event {sizes[1]} rows, {sizes[0]}"
    levels = {name: [*map(quoted, sorted(categories[name].dropna().unique()))] for name in categories.columns}
    lines = {
        "target": [f"{quoted(data.target)}, {of_target}"],
        "numeric features": [quoted(name) for name in data.features if name not in levels],
        "categorical features": [f"{quoted(name)} ({first_few(texts)})" for name, texts in levels.items()],
        "groups": [] if data.group is None else [quoted(data.group)],
        "weights": [] if data.weight is None else [quoted(data.weight)],
        "columns left out": [quoted(name) for name in columns if name not in data.used],
        "missing values": [] if settled is None else [settled],
    }
    return tuple(f"{part}: {first_few(names)}" for part, names in lines.items() if names)


def check_constant(keys: pd.DataFrame) -> None:
    """Raise an error for constant features."""
    constant = [quoted(name) for name in keys.columns if keys[name].nunique() == 1]
    if constant:
        raise CsvError(to_drop(constant, "has the same value in every row and no use as a feature"))


def copies(keys: pd.DataFrame, y: NDArray[np.int64]) -> list[str]:
    """Return the columns with a single value per class, unless chance may have made one."""
    improbable = data_file.is_improbable(np.bincount(y), math.log(2.0), len(keys.columns))
    return [
        str(name)
        for name in keys.columns
        if improbable and keys[name].nunique() == 2 and keys[name].groupby(y).nunique().max() == 1
    ]


def check_copies(keys: pd.DataFrame, y: NDArray[np.int64], target: str) -> None:
    """Raise an error for features that are copies of the target."""
    if names := copies(keys, y):
        raise CsvError(
            f"column {first_few([*map(quoted, names)])} is a copy of the target {quoted(target)}, with "
            "a single value per class; a classifier must not use it: drop it with --exclude COL"
        )


def numbers_in(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert the numeric columns; raise an error that names each non-numeric column and its first invalid cell."""
    numbers: pd.DataFrame = frame.apply(to_numbers)
    wrong = numbers.isna() & frame.notna()
    if wrong.any(axis=None):
        kinds = [
            *dict.fromkeys(
                data_file.kind_of(name, frame[name].dropna()) for name in frame.columns[wrong.any()]
            )
        ]
        remedies = {
            **data_file.REMEDIES,
            data_file.SEPARATORS: data_file.remedy_of_separators(frame),
        }
        raise CsvError(
            f"not numeric: {_first_cells(frame, wrong)}; {'; '.join(remedies[kind] for kind in kinds)}"
        )
    huge = numbers.abs() > LARGEST
    if huge.any(axis=None):
        cells = _first_cells(frame, huge)
        raise CsvError(f"infinite or beyond {LARGEST:g}: {cells}; correct or remove these lines")
    long = [quoted(name) for name in frame.columns if data_file.has_long_numbers(frame[name].map(key_of))]
    if long:
        raise CsvError(
            f"column {first_few(long)} has whole numbers of more than 15 digits, as identifiers do, and cannot be a "
            "numeric feature; drop it with --exclude COL, or add it to --categorical"
        )
    return numbers


def _first_cells(frame: pd.DataFrame, at: pd.DataFrame) -> str:
    """List the columns in which `at` is true somewhere, each with the first such cell."""
    lines = at.loc[:, at.any()].idxmax()
    return first_few(
        [
            f"column {quoted(str(name))} ({quoted(frame[name][line])} on line {line})"
            for name, line in lines.items()
        ]
    )


def _weights(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return the values of a one-column frame, which must be positive."""
    weights = numbers_in(frame)
    if not (weights > 0.0).all(axis=None):
        raise CsvError(
            f"--weight: not positive: {_first_cells(frame, weights <= 0.0)}; remove rows without a weight from the file"
        )
    return weights.to_numpy()[:, 0]


def _groups(keys: pd.Series[str]) -> NDArray[np.str_]:
    groups = keys.to_numpy(dtype=np.str_)
    if len(set(groups)) < 2:
        raise CsvError(
            f"--group: column {quoted(str(keys.name))} has the same value in every row, so no group is left for "
            "testing; choose another column"
        )
    return groups


#: In more cells than this, agreements of columns are not looked for.
MOST_CELLS = 1_000_000


def suspicions(cells: pd.DataFrame, data: DataFile, numbers: pd.DataFrame) -> Iterator[str]:
    """Return one sentence per possible mistake in a file.

    Parameters
    ----------
    cells : DataFrame of str, shape (n_records, n_columns)
        The whole file, nan where a cell is missing; its index has the lines.
    data : DataFile
        With the names of all features.
    numbers : DataFrame of float
        The numeric features.
    """
    n_copies = count_improbable_copies(cells)
    if n_copies:
        words = "is an exact copy" if n_copies == 1 else "are exact copies"
        way = "" if data.group is not None else ", or use --group COL if they belong to one patient"
        yield (
            f"{n_copies} of {len(cells)} rows {words} of an earlier row, the first on line "
            f"{cells.duplicated().idxmax()}, which chance does not explain; delete what was pasted twice{way}"
        )
    for name in cells.columns:
        if name not in (data.target, data.group, data.weight, *data.categorical):
            yield from _of_ids(name, cells[name].dropna(), name in data.features, data.group is not None)
    for name in data.features:
        if name not in numbers.columns:
            yield from _of_levels(name, cells[name].dropna())
    for name in numbers.columns:
        if not data_file.is_id_name(name) and data_file.numbers_the_rows(cells[name].dropna()):
            yield f"column {quoted(name)} is a feature and numbers the rows; leave it out with --exclude {quoted(name)}"
        for far in data_file.far_values(numbers[name].dropna()):
            yield far_in_words(name, far, numbers.drop(columns=name))
    if data.target:
        for far in data_file.far_values(to_numbers(cells[data.target].dropna()), least=1):
            yield far_in_words(data.target, far, numbers)
        yield from _of_agreements(cells, data) if cells.size <= MOST_CELLS else ()


def _of_agreements(cells: pd.DataFrame, data: DataFile) -> Iterator[str]:
    """Yield features that alone separate the classes."""
    rows = cells[cells[data.target].notna() & ~cells.duplicated()]
    y = _codes(rows[data.target])
    groups = np.arange(len(rows)) if data.group is None else _codes(rows[data.group])
    for name in data.features:
        codes = _codes(rows[name])
        given, n_columns = codes >= 0, len(data.features)
        by_value = data_file.separation(codes[given], y[given], groups[given], n_columns)
        if by_value:
            at_threshold = by_value == "threshold" and to_numbers(rows[name][given]).notna().all()
            how = "at a threshold" if at_threshold else "level by level"
        elif data_file.separation(given, y, groups, n_columns):
            how = "by being missing"
        else:
            continue
        column, target = quoted(name), quoted(data.target)
        yield (
            f"column {column} alone separates the classes of {target}, {how}; if it records the outcome, or was "
            f"known only after it, drop it with --exclude {column}"
        )


def _codes(cells: pd.Series[str]) -> data_file.Codes:
    """Return the numbers of the values of a column in their order, and -1 where one is missing."""
    numbers = to_numbers(cells)
    is_text = (numbers.isna() & cells.notna()).any()
    values = data_file.one_spelling(cells.map(key_of))[0] if is_text else numbers
    return values.factorize(sort=True)[0]


def _of_ids(name: str, values: pd.Series[str], is_feature: bool, grouped: bool) -> Iterator[str]:
    named, n_different = data_file.is_id_name(name), values.nunique()
    is_id = named or (
        not is_feature and 2 * n_different > len(values) and data_file.kind_of(name, values) == data_file.IDS
    )
    column, repeated = quoted(name), n_different < len(values) and not grouped
    if is_id and repeated:
        yield (
            f"column {column} repeats: {n_different} different values on {len(values)} rows; use --group {column} if "
            "it identifies patients, because rows of one patient are not independent"
        )
    elif named and is_feature:
        yield f"column {column} is a feature named like an ID; if it is one, drop it with --exclude {column}"


def _of_levels(name: str, values: pd.Series[str]) -> Iterator[str]:
    codes = to_numbers(values).notna() & values.map(data_file.CODE.fullmatch).notna()
    unknown = values.map(data_file.says_unknown) | (codes & (codes.sum() == to_numbers(values).count()))
    if 0 < unknown.sum() < len(values):
        words = sorted(values[unknown].unique())
        yield (
            f"column {quoted(name)}: {', '.join(map(quoted, words))} on {count_rows(unknown.sum())} is a level; add "
            f"--missing-values={shlex.quote(','.join(words))} if it means a missing value"
        )
    if data_file.kind_of(name, values) == data_file.IDS and not data_file.is_id_name(name):
        yield (
            f"column {quoted(name)} is a category of {values.nunique()} levels on {len(values)} rows; if it is an ID "
            f"or free text, drop it with --exclude {quoted(name)}"
        )


def far_in_words(name: str, far: data_file.FarValue, columns: pd.DataFrame | None = None) -> str:
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
    table, data = parsed_file.parse_file(as_in_training)
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
