"""The content of a file, all its problems, and how to read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cudbound.basis.sample import unequal_spreads
from cudbound.inputs.csv_columns import copies, read_training_data, suspicions
from cudbound.inputs.data_file import (
    EMPTY,
    IDS,
    NUMBERS,
    PLAIN,
    SEPARATORS,
    SLIPS,
    TEXT,
    THOUSANDS_COMMA,
    CsvError,
    DataFile,
    conventions,
    count_rows,
    doubts,
    first_few,
    has_long_numbers,
    in_plain_form,
    is_id_name,
    key_of,
    kind_of,
    numbers_the_rows,
    of_kinds,
    one_spelling,
    quoted,
    to_drop,
    to_numbers,
)
from cudbound.inputs.parsed_file import (
    AUTO,
    check_names,
    find_features,
    missing_cells,
    settle_missing,
)
from cudbound.inputs.text_table import Table, read_data_file

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
#: Words in names of outcomes, and words that are names of outcomes if they stand alone; texts of events.
_OUTCOMES = re.compile(
    "y|died|dead|death|deceased|mortality|survived|survival|alive|vital|outcome|target|event|relapse|recurrence|"
    "response|readmitted|readmission|exitus|tod|verstorben|gestorben|décès|deces|décédé|fallecido|muerte|decesso"
)
_ALONE = re.compile("label|class|status|diagnosis|disease")
_EVENTS = re.compile("1|yes|y|true|died|dead|death|deceased|positive|pos|event|case|malignant")
#: Levels that are shown of a column, and characters of each.
SHOWN, LONGEST = 3, 20
#: Values that an outcome may have, rows and cases of a class below which there is a caution.
MOST_CLASSES, FEWEST_ROWS, FEWEST_EVENTS = 6, 20, 10


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
        The known options; an empty `target` or `positive` is guessed, and so is the role of every other column.

    Raises
    ------
    CsvError
        If the file is not a table, or if a named column does not exist.
    """
    import pandas as pd

    table = read_data_file(data)
    problems = [*table.warnings]
    check_names(table, data, with_target=bool(data.target))
    if data.target:
        find_features(table, replace(data, exclude=[*data.exclude, *table.unnamed]))
    used = [
        name
        for name in table.names
        if _may_be_used(name, data) and name not in (*data.exclude, *table.unnamed, data.group, data.weight)
    ]
    data, cells = _in_its_convention(table, data, used, problems)
    values = cells.mask(missing_cells(cells, data.missing_values))
    kinds = {name: kind_of(name, values[name].dropna()) for name in table.names}
    spelled = {name: one_spelling(values[name]) for name in used if kinds[name] == TEXT}
    problems += [note for _, note in spelled.values() if note is not None]
    values = values.assign(**{name: column for name, (column, _) in spelled.items()})
    keys = values.map(key_of)
    roles = {name: _role(name, keys[name], kinds[name], data, table) for name in table.names}
    data = _with_target(data, values[used], keys[used], roles, problems)
    if data.features:
        if data.target:
            find_features(table, data)
        roles |= {name: LEFT_OUT for name in used if name not in (*data.features, data.target)}
    problems += _questions(values, keys, kinds, roles, data)
    repeated = [
        name for name in _of(roles, ID) if 5 < values[name].nunique() < values[name].count() == len(values)
    ]
    if repeated and data.group is None:
        data = replace(data, group=repeated[0])
        roles[repeated[0]] = "ID, group"
    data = _readable(table, data, values, roles, problems)
    columns = pd.DataFrame([_described(values[name], roles[name], kinds[name]) for name in table.names])
    error, spreads = None, ""
    try:
        if not data.target:
            raise CsvError("no column has exactly two values; choose the target with --target COL")
        parsed = table, find_features(table, data)
        spreads = unequal_spreads(read_training_data(data, parsed=parsed).X)
    except CsvError as stopped:
        error = stopped
    if spreads:
        problems.append(
            f"the standard deviations of the features range from {spreads}, and the penalty of the default classifier, "
            "logistic regression, depends on the units; add --standardize"
        )
    title = f"{quoted(table.source)}: {count_rows(len(values))}, {len(columns)} columns"
    return FileCheck(title, columns, tuple(dict.fromkeys(problems)), data, bool(spreads), error)


def _in_its_convention(
    table: Table, data: DataFile, used: Sequence[str], problems: list[str]
) -> tuple[DataFile, pd.DataFrame]:
    """Find decimal commas and separators of thousands, and return all cells with numbers in plain form."""
    present = table.cells[used].mask(missing_cells(table.cells[used], data.missing_values))
    kinds = {name: kind_of(name, present[name].dropna()) for name in used}
    numbers = present[[name for name in used if kinds[name] in (SEPARATORS, NUMBERS, SLIPS)]]
    if (data.decimal, data.thousands) == PLAIN:
        separated = {name: SEPARATORS for name in numbers.columns if kinds[name] == SEPARATORS}
        problems += of_kinds(numbers, separated)
        fitting = [*conventions(numbers.to_numpy().ravel()), PLAIN]
        # where commas separate the cells, a comma in a number separates thousands
        in_quotes = table.delimiter == "," and fitting[0] != PLAIN and THOUSANDS_COMMA in fitting
        convention = THOUSANDS_COMMA if in_quotes else fitting[0]
        data = replace(data, **convention._asdict())
    try:
        plain = in_plain_form(table.cells[numbers.columns], data.decimal, data.thousands)
    except CsvError as error:
        problems.append(str(error))
        return data, table.cells
    problems += doubts(numbers, data)
    return data, table.cells.assign(**plain)


def _may_be_used(name: str, data: DataFile) -> bool:
    """Whether a column may be a feature or the target, which is not among the features that are named."""
    return not (data.features and data.target) or name in (*data.features, data.target)


def _role(name: str, keys: pd.Series[str], kind: str, data: DataFile, table: Table) -> str:
    if name in table.unnamed:
        return LEFT_OUT if name in data.exclude else UNNAMED
    if name in (data.group, data.weight):
        return "group" if name == data.group else "weight"
    if name in data.exclude or not _may_be_used(name, data):
        return LEFT_OUT
    if name in data.categorical and keys.nunique() > 1:
        return CATEGORICAL
    if keys.nunique() < 2 and not is_id_name(name):
        return CONSTANT if keys.nunique() else EMPTY
    of_kind = {NUMBERS: NUMERIC, TEXT: CATEGORICAL}.get(kind, UNUSABLE)
    if name in data.features and of_kind != UNUSABLE:
        return of_kind
    is_unique = kind == IDS and keys.nunique() == keys.count()
    if is_id_name(name) or is_unique or has_long_numbers(keys) or numbers_the_rows(keys.dropna()):
        return ID
    if kind in (NUMBERS, TEXT) and 2 * keys.count() < len(keys):
        return MOSTLY_MISSING
    return of_kind


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
    named = [name for name in counts if _rank(name) == 2 and 1 < len(counts[name]) <= MOST_CLASSES]
    guesses = [name for name in reversed(counts) if name in pairs or name in named]
    target = data.target or max(guesses, key=lambda name: (_rank(name), name in pairs), default="")
    if not target:
        return data
    roles[target] = TARGET
    others = first_few([quoted(name) for name in pairs if name != target])
    others = f"; other columns with two values: {others}" if others and not data.target else ""
    positive, words = data.positive or "", f"target {quoted(target)}"
    if len(counts[target]) == 2:
        texts = values[target].groupby(keys[target]).first().to_dict()
        likely = [key for key in texts if _EVENTS.fullmatch(str(key).casefold())]
        positive = positive or str(texts[likely[0] if len(likely) == 1 else counts[target].idxmin()])
        words += f" with the event {quoted(positive)}"
    if not (data.target and (data.positive or len(counts[target]) != 2)):
        problems.append(f"{words}: a guess; set it with --target COL --positive VALUE{others}")
    return replace(data, target=target, positive=positive)


def _questions(
    values: pd.DataFrame, keys: pd.DataFrame, kinds: dict[str, str], roles: dict[str, str], data: DataFile
) -> Iterator[str]:
    """Yield the problems of columns and rows, and set the roles of copies of the target."""
    rows = keys[keys[data.target].notna()] if data.target else keys
    if data.target and rows[data.target].nunique() == 2:
        y = rows[data.target].factorize()[0]
        roles.update(dict.fromkeys(copies(rows[_of(roles, *USABLE)], y), COPY))
        yield from _few(rows[data.target])
    for role, what in WAYS.items():
        if names := [quoted(name) for name in _of(roles, role)]:
            yield to_drop(names, what)
    unusable = {name: kinds[name] for name in _of(roles, UNUSABLE, ID)}
    yield from of_kinds(
        values, {name: kind for name, kind in unusable.items() if kind not in (NUMBERS, SEPARATORS)}
    )
    numbers = values[_of(roles, NUMERIC)].apply(to_numbers)
    features = [*_of(roles, *USABLE), *(name for name in _of(roles, ID) if kinds[name] == NUMBERS)]
    yield from suspicions(values, replace(data, features=features, categorical=()), numbers)


def _readable(
    table: Table, data: DataFile, values: pd.DataFrame, roles: dict[str, str], problems: list[str]
) -> DataFile:
    """Return the options for reading the file without unusable columns."""
    features = _of(roles, *USABLE)
    labels = [name for name in (data.target, data.group, data.weight) if name]
    absent = values[[*features, *labels]].isna()
    if data.missing == "error" and absent.any(axis=None):
        try:
            settle_missing(table.source, values[absent.columns], absent, replace(data, features=features))
        except CsvError as error:
            problems.append(str(error))
        data = replace(data, missing="drop" if absent[labels].any(axis=None) else "median")
    categories = [name for name in data.categorical if name in features or name == AUTO]
    if AUTO not in categories and not {*_of(roles, CATEGORICAL)}.issubset(categories):
        categories.append(AUTO)
    return replace(
        data,
        features=[name for name in data.features if name in features],
        exclude=[name for name in table.names if name not in (*features, *labels)],
        categorical=categories,
    )


def _rank(name: str) -> int:
    """Return how much a name is like that of an outcome: 2, 1 if only a part of it could be, or 0."""
    words = [name.casefold(), *re.split(r"[\W_\d]+", name.casefold())]
    if any(map(_OUTCOMES.fullmatch, words)) or _ALONE.fullmatch(words[0]):
        return 2
    return int(any(map(_ALONE.fullmatch, words)))


def _few(labels: pd.Series[str]) -> Iterator[str]:
    if len(labels) < FEWEST_ROWS:
        yield f"only {len(labels)} rows have a target; with fewer than {FEWEST_ROWS}, no interval is informative"
    counts = labels.value_counts()
    if counts.min() < FEWEST_EVENTS:
        yield (
            f"only {count_rows(counts.min())} with the value {quoted(str(counts.idxmin()))} of "
            f"{quoted(str(labels.name))}; with fewer than {FEWEST_EVENTS} cases of a class, what is estimated for it "
            "is very uncertain"
        )


def _described(values: pd.Series[str], role: str, kind: str) -> dict[str, str]:
    present = values.dropna()
    numbers = to_numbers(present).dropna()
    whole = kind == NUMBERS and (numbers % 1 == 0).all()
    levels = sorted(present.unique())
    shown = ", ".join(level[:LONGEST] for level in levels[:SHOWN]) + (", ..." if len(levels) > SHOWN else "")
    if kind == NUMBERS and numbers.nunique() > SHOWN:
        shown = f"{numbers.min():g} to {numbers.max():g}"
    return {
        "column": str(values.name),
        "role": role,
        "type": "integers" if whole else "text" if kind == IDS else kind,
        "missing": str(values.isna().sum()),
        "levels": f"{present.nunique()}: {shown}" if levels else "0",
    }
