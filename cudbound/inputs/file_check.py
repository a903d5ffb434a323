"""The content of a file, all its problems, and how to read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cudbound.basis.sample import count_improbable_copies, unequal_spreads
from cudbound.basis.words import counted
from cudbound.inputs import data_file
from cudbound.inputs.csv_columns import read_training_data
from cudbound.inputs.data_file import (
    EMPTY,
    IDS,
    NUMBERS,
    SEPARATORS,
    TEXT,
    CsvError,
    DataFile,
    first_few,
    quoted,
)
from cudbound.inputs.parsed_file import (
    AUTO,
    Table,
    check_names,
    missing_cells,
    read_data_file,
    settle_missing,
)
from cudbound.inputs.suspicions import copies, suspicions

if TYPE_CHECKING:
    import pandas as pd

TARGET, ID, LEFT_OUT = "target", "ID", "left out"
USABLE = NUMERIC, CATEGORICAL = "numeric feature", "categorical feature"
CONSTANT, COPY, MOSTLY_MISSING = "constant", "copy of the target", "mostly missing"
UNUSABLE, UNNAMED = "unusable as it is", "without a name"
#: What to do about the columns of a role, after their names.
WAYS = {
    CONSTANT: "has the same value in every row",
    COPY: "has a single value per class of the target, like a copy of it",
    MOSTLY_MISSING: "has no value on most rows",
    UNNAMED: "has no name in the header; give it one, if it is not a number of the rows",
    EMPTY: "is empty",
}
#: Words in names of outcomes, and texts of events.
_OUTCOMES = re.compile(
    "y|died|dead|death|deceased|mortality|survived|survival|alive|vital|outcome|target|event|relapse|recurrence|"
    "response|readmitted|readmission|exitus|tod|verstorben|gestorben|décès|deces|décédé|fallecido|muerte|decesso|"
    "label|class|status|diagnosis|disease"
)
_EVENTS = re.compile("1|yes|y|true|died|dead|death|deceased|positive|pos|event|case|malignant")
#: Levels that are shown of a column, and characters of each.
SHOWN, LONGEST = 3, 20
#: Values that an outcome may have.
MOST_CLASSES = 6
#: Numbers of different integers in a column that may be codes of categories; two are the same feature in either case.
CODES = range(3, 7)


@dataclass(frozen=True)
class FileCheck:
    """The content and the problems of a file.

    Attributes
    ----------
    title : str
    columns : DataFrame of str
        One row per column of the file.
    problems : tuple of str
        All problems, each with its remedy.
    data : DataFile
        How the file can be read.
    standardize : bool
        Whether the features are to be standardized.
    error : CsvError or None
        Why it still cannot be read.
    """

    title: str
    columns: pd.DataFrame
    problems: tuple[str, ...]
    data: DataFile
    standardize: bool
    error: CsvError | None


def check_file(data: DataFile) -> FileCheck:
    """Return the content of a file, all its problems, and how to read it.

    Parameters
    ----------
    data : DataFile
        The known options, which name no weights; an empty `target` or `positive` is guessed, and so is the role of
        every other column.

    Raises
    ------
    CsvError
        If the file is not a table, or if a named column does not exist.
    """
    import pandas as pd

    table = read_data_file(data)
    names = list(table.cells.columns)
    check_names(table, data, with_target=bool(data.target))
    others = {*data.exclude, *table.unnamed, data.group}
    named = {*data.features, data.target} if data.features and data.target else {*names}
    used = [name for name in names if name in named - others]
    problems = [*table.warnings]
    data, cells = _in_its_convention(table, data, used, problems)
    values = cells.mask(missing_cells(cells, data.missing_values))
    kinds = {name: data_file.kind_of(name, values[name].dropna()) for name in names}
    spelled = {name: data_file.one_spelling(values[name]) for name in used if kinds[name] == TEXT}
    values = values.assign(**{name: column for name, (column, _) in spelled.items()})
    problems += [note for _, note in spelled.values() if note]
    keys = values.map(data_file.key_of)
    roles = {name: _role(keys[name], kinds[name], data) if name in used else LEFT_OUT for name in names}
    roles |= dict.fromkeys(table.unnamed.difference(data.exclude), UNNAMED)
    if data.group is not None:
        roles[data.group] = "group"
    data = _with_target(data, values[used], keys[used], roles, problems)
    if data.features:
        roles |= {name: LEFT_OUT for name in used if name not in (*data.features, data.target)}
    if data.target and keys[data.target].nunique() == 2:
        rows = keys[keys[data.target].notna()]
        y = rows[data.target].factorize()[0]
        roles.update(dict.fromkeys(copies(rows[_of(roles, *USABLE)], y), COPY))
    problems += _questions(values, kinds, roles, data)
    ids = [
        name for name in _of(roles, ID) if 5 < values[name].nunique() < values[name].count() == len(values)
    ]
    if ids and data.group is None:
        data = replace(data, group=ids[0])
        roles[ids[0]] = "ID, group"
    data = _readable(table, data, values, roles, problems)
    error, spreads = None, ""
    try:
        if not data.target:
            raise CsvError("no column has exactly two values; choose the target with --target COL")
        spreads = unequal_spreads(read_training_data(data).X)
    except CsvError as stopped:
        error = stopped
    if spreads:
        problems.append(
            f"the standard deviations of the features range from {spreads}, and the penalty of the default classifier, "
            "logistic regression, depends on the units; add --standardize"
        )
    columns = pd.DataFrame([_described(values[name], roles[name], kinds[name]) for name in names])
    title = f"{quoted(table.source)}: {counted(len(values), 'row')}, {len(columns)} columns"
    return FileCheck(title, columns, tuple(dict.fromkeys(problems)), data, bool(spreads), error)


def _in_its_convention(
    table: Table, data: DataFile, used: Sequence[str], problems: list[str]
) -> tuple[DataFile, pd.DataFrame]:
    """Find decimal commas and separators of thousands, and return all cells with numbers in plain form."""
    present = table.cells[used].mask(missing_cells(table.cells[used], data.missing_values))
    kinds = {name: data_file.kind_of(name, present[name].dropna()) for name in used}
    numbers = present[[name for name in used if kinds[name] in (SEPARATORS, NUMBERS, data_file.SLIPS)]]
    if (data.decimal, data.thousands) == data_file.PLAIN:
        separated = {name: SEPARATORS for name in numbers.columns if kinds[name] == SEPARATORS}
        problems += data_file.of_kinds(numbers, separated)
        fitting = [*data_file.conventions(numbers.to_numpy().ravel()), data_file.PLAIN]
        # where commas separate the cells, a comma in a number separates thousands
        in_quotes = table.delimiter == "," and fitting[0] == data_file.DECIMAL_COMMA
        likely = data_file.THOUSANDS_COMMA
        convention = likely if in_quotes and likely in fitting else fitting[0]
        data = replace(data, **convention._asdict())
    try:
        plain = table.cells[numbers.columns]
        if (data.decimal, data.thousands) != data_file.PLAIN:
            plain = data_file.in_plain_form(plain, data.decimal, data.thousands)
    except CsvError as error:
        problems.append(str(error))
        return data, table.cells
    problems += data_file.doubts(numbers, data)
    return data, table.cells.assign(**plain)


def _role(keys: pd.Series[str], kind: str, data: DataFile) -> str:
    name, n_values, n_present = str(keys.name), keys.nunique(), keys.count()
    if name in data.categorical and n_values > 1:
        return CATEGORICAL
    if n_values < 2 and not data_file.is_id_name(name):
        return CONSTANT if n_values else EMPTY
    of_kind = {NUMBERS: NUMERIC, TEXT: CATEGORICAL}.get(kind, UNUSABLE)
    if name in data.features and of_kind != UNUSABLE:
        return of_kind
    is_unique = kind == IDS and n_values == n_present
    if is_unique or data_file.is_id_name(name) or data_file.numbers_the_rows(keys.dropna()):
        return ID
    return MOSTLY_MISSING if of_kind != UNUSABLE and 2 * n_present < len(keys) else of_kind


def _of(roles: dict[str, str], *wanted: str) -> list[str]:
    return [name for name, role in roles.items() if role in wanted]


def _with_target(
    data: DataFile, values: pd.DataFrame, keys: pd.DataFrame, roles: dict[str, str], problems: list[str]
) -> DataFile:
    """Guess the target and its event if they are not given."""
    counts = {
        name: keys[name].value_counts().sort_index() for name in keys.columns if name not in data.features
    }
    usable = [name for name in _of(roles, *USABLE) if name in counts]
    pairs = [name for name in usable if len(counts[name]) == 2 and counts[name].min() > 1]
    # a column named like an outcome comes before others of two values, even if it has more
    outcomes = [name for name in counts if _is_outcome(name) and 1 < len(counts[name]) <= MOST_CLASSES]
    guesses = [name for name in reversed(counts) if name in (*pairs, *outcomes)]
    target = data.target or max(guesses, key=lambda name: (name in outcomes, name in pairs), default="")
    if not target:
        return data
    roles[target] = TARGET
    positive, words = data.positive or "", f"target {quoted(target)}"
    if len(counts[target]) == 2:
        texts = values[target].groupby(keys[target]).first().to_dict()
        likely = [key for key in texts if _EVENTS.fullmatch(str(key).casefold())]
        positive = positive or str(texts[likely[0] if len(likely) == 1 else counts[target].idxmin()])
        words += f" with the event {quoted(positive)}"
    if not (data.target and (data.positive or len(counts[target]) != 2)):
        others = first_few([quoted(name) for name in pairs if name != target and not data.target])
        others = others and f"; other columns with two values: {others}"
        problems.append(f"{words}: a guess; set it with --target COL --positive VALUE{others}")
    return replace(data, target=target, positive=positive)


def _is_outcome(name: str) -> bool:
    """Whether a name, or a word of it, is that of an outcome."""
    return any(map(_OUTCOMES.fullmatch, re.split(r"[\W_\d]+", name.casefold())))


def _questions(
    values: pd.DataFrame, kinds: dict[str, str], roles: dict[str, str], data: DataFile
) -> Iterator[str]:
    """Yield the problems of columns and rows."""
    for role, what in WAYS.items():
        if names := [quoted(name) for name in _of(roles, role)]:
            yield data_file.to_drop(names, what)
    unusable = {name: kinds[name] for name in _of(roles, UNUSABLE, ID)}
    yield from data_file.of_kinds(
        values, {name: kind for name, kind in unusable.items() if kind not in (NUMBERS, SEPARATORS)}
    )
    numbers = values[_of(roles, NUMERIC)].apply(data_file.to_numbers)
    integers = numbers.columns[(numbers.fillna(0.0) % 1 == 0).all() & numbers.nunique().isin(CODES)]
    if names := [quoted(name) for name in integers]:
        yield (
            f"columns with few different integers are taken as numbers: {first_few(names)}; if some are codes of "
            "categories, such as 1, 2, 3 for three wards, name these in --categorical COL,COL"
        )
    features = [*_of(roles, *USABLE), *(name for name in _of(roles, ID) if kinds[name] == NUMBERS)]
    data = replace(data, features=features, categorical=())
    yield from suspicions(values, data, numbers, count_improbable_copies(values))


def _readable(
    table: Table, data: DataFile, values: pd.DataFrame, roles: dict[str, str], problems: list[str]
) -> DataFile:
    """Return the options for reading the file without unusable columns."""
    features = _of(roles, *USABLE)
    labels = [name for name in (data.target, data.group) if name]
    absent = values[[*features, *labels]].isna()
    if data.missing == "error" and absent.any(axis=None):
        try:
            settle_missing(table.source, values[absent.columns], replace(data, features=features))
        except CsvError as error:
            problems.append(str(error))
        data = replace(data, missing="drop" if absent[labels].any(axis=None) else "median")
    categories = [name for name in data.categorical if name in features or name == AUTO]
    if AUTO not in categories and not {*_of(roles, CATEGORICAL)}.issubset(categories):
        categories.append(AUTO)
    return replace(
        data,
        features=[name for name in data.features if name in features],
        exclude=[name for name in roles if name not in (*features, *labels)],
        categorical=categories,
    )


def _described(values: pd.Series[str], role: str, kind: str) -> dict[str, str]:
    numbers, levels = data_file.to_numbers(values).dropna(), sorted(values.dropna().unique())
    whole = kind == NUMBERS and (numbers % 1 == 0).all()
    shown = ", ".join(level[:LONGEST] for level in levels[:SHOWN]) + (", ..." if len(levels) > SHOWN else "")
    if kind == NUMBERS and numbers.nunique() > SHOWN:
        shown = f"{numbers.min():g} to {numbers.max():g}"
    return {
        "column": str(values.name),
        "role": role,
        "type": "integers" if whole else "text" if kind == IDS else kind,
        "missing": str(values.isna().sum()),
        "levels": f"{len(levels)}: {shown}" if levels else "0",
    }
