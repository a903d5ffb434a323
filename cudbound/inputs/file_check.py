"""The content of a file, all its problems, and how to read it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cudbound.inputs.column_kinds import (
    EMPTY,
    IDS,
    NUMBERS,
    SEPARATORS,
    SLIPS,
    TEXT,
    far_values,
    has_long_numbers,
    is_id_name,
    kind_of,
    numbers_the_rows,
    of_kinds,
    one_spelling,
    says_unknown,
)
from cudbound.inputs.csv_columns import check_constant, check_copies, copies, read_training_data
from cudbound.inputs.csv_file import Table
from cudbound.inputs.data_file import CsvError, DataFile, count_rows, first_few, quoted
from cudbound.inputs.number_texts import (
    PLAIN,
    THOUSANDS_COMMA,
    Convention,
    conventions,
    doubts,
    in_plain_form,
    key_of,
    to_numbers,
)
from cudbound.inputs.parsed_file import (
    AUTO,
    ParsedFile,
    Roles,
    columns_named,
    find_roles,
    missing_cells,
    settle_missing,
)
from cudbound.inputs.suspicions import far_in_words, missing_option, suspicions
from cudbound.inputs.workbook import read_data_file

if TYPE_CHECKING:
    import pandas as pd

TARGET, ID, LEFT_OUT = "target", "ID", "left out"
NUMERIC, CATEGORICAL = "numeric feature", "categorical feature"
CONSTANT, COPY, UNUSABLE = "constant", "copy of the target", "unusable as it is"
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
#: How often a file is read in another way before its error stands.
TRIES = 3


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
    error : CsvError or None
        Why it still cannot be read.
    """

    title: str
    columns: pd.DataFrame
    problems: tuple[str, ...]
    data: DataFile
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

    table, data, problems = _table(data)
    problems += table.warnings
    cells = table.cells
    if data.target:
        find_roles(table, replace(data, exclude=[*columns_named(table, data.exclude), *table.unnamed]))
    used = _candidates(table, data)
    cells, data = _with_values_as_meant(cells, used, data, problems)
    known = cells.mask(missing_cells(cells, data.missing_values))
    kinds = {name: kind_of(name, known[name].dropna()) for name in table.names}
    spelled = {name: one_spelling(known[name]) for name in used if kinds[name] == TEXT}
    problems += [note for _, note in spelled.values() if note is not None]
    known = known.assign(**{name: column for name, (column, _) in spelled.items()})
    keys = known.map(key_of)
    roles = {name: _role(name, keys[name], kinds[name], name in used) for name in table.names}
    roles.update(dict.fromkeys(table.unnamed, "without a name"))
    named = columns_named(table, data.categorical)
    roles.update({name: CATEGORICAL for name in named if name in used and keys[name].nunique() > 1})
    data = _with_target(known, keys, roles, data, problems)
    labels = {data.target: TARGET, data.group: "group", data.weight: "weight"}
    roles.update({name: role for name, role in labels.items() if name})
    _tell(table, known, keys, roles, kinds, data, problems)
    data = _readable(table, known, roles, data, problems)
    columns = pd.DataFrame([_described(known[name], roles[name], kinds[name]) for name in table.names])
    error = None
    try:
        if not data.target:
            raise CsvError("no column has exactly two values; choose the target with --target COL")
        read_training_data(data, parsed=ParsedFile(data, table, find_roles(table, data)))
    except CsvError as stopped:
        error = stopped
    title = f"{quoted(table.source)}: {len(cells)} rows, {len(columns)} columns"
    return FileCheck(title, columns, tuple(dict.fromkeys(problems)), data, error)


def _table(data: DataFile) -> tuple[Table, DataFile, list[str]]:
    """Read a file, following the suggestions in its error messages."""
    problems: list[str] = []
    while True:
        try:
            table = read_data_file(data)
            return table, replace(data, encoding=data.encoding or table.encoding), problems
        except CsvError as error:
            problems.append(str(error))
            if not error.instead or len(problems) > TRIES:
                raise CsvError(". Then: ".join(problems)) from error
            data = replace(data, **error.instead)


def _candidates(table: Table, data: DataFile) -> list[str]:
    """Return the columns that can be features or the target."""
    out = {*columns_named(table, data.exclude), *table.unnamed, data.group, data.weight}
    features = columns_named(table, data.features) or table.names
    return [name for name in table.names if name not in out and (name in features or name == data.target)]


def _message(check: Callable[[], object]) -> list[str]:
    """Return the error message of a call."""
    try:
        check()
    except CsvError as error:
        return [str(error)]
    return []


def _with_values_as_meant(
    cells: pd.DataFrame, used: list[str], data: DataFile, problems: list[str]
) -> tuple[pd.DataFrame, DataFile]:
    """Find decimal commas, and words and codes that mean a missing value."""
    known = cells.mask(missing_cells(cells, data.missing_values))
    kinds = {name: kind_of(name, known[name].dropna()) for name in used}
    numeric = [name for name in used if kinds[name] in (SEPARATORS, NUMBERS, SLIPS)]
    if (data.decimal, data.thousands) == PLAIN:
        separated = {name: SEPARATORS for name in numeric if kinds[name] == SEPARATORS}
        problems += of_kinds(known[numeric], separated)
        data = replace(data, **_convention(known[numeric], data)._asdict())
    try:
        cells = cells.assign(**in_plain_form(cells[numeric], data.decimal, data.thousands))
        problems += doubts(known[numeric], data)
    except CsvError as error:
        problems.append(str(error))
    known = cells.mask(missing_cells(cells, data.missing_values))
    numbers = known[used].apply(to_numbers)
    further, codes = [], []
    for name in used:
        words = known[name][known[name].notna() & numbers[name].isna()]
        if 2 * len(words) >= known[name].count():
            continue
        if len(words) and all(says_unknown(word) or word.casefold() in ("nd", "none") for word in words):
            problems.append(
                f"column {quoted(name)}: {first_few([quoted(word) for word in sorted({*words})])} on "
                f"{count_rows(len(words))} among numbers; add {missing_option(sorted({*words}))} if it codes a missing "
                "value"
            )
            further += sorted({*words})
        codes += [(name, far) for far in far_values(numbers[name].dropna()) if far.is_code]
    n_columns = Counter(far.text for _, far in codes)
    # what is a value of another column is left to a question, with the other codes of its column
    shared = {name for name, far in codes if (numbers == float(far.text)).any().sum() > n_columns[far.text]}
    for name, far in codes:
        if name not in shared:
            problems.append(far_in_words(name, far))
            further.append(far.text)
    return cells, replace(data, missing_values=(*data.missing_values, *dict.fromkeys(further)))


def _convention(numbers: pd.DataFrame, data: DataFile) -> Convention:
    """Return how numbers are written; where commas separate the cells, a comma in a number separates thousands."""
    fitting = conventions(text for name in numbers.columns for text in numbers[name])
    if data.delimiter == "," and PLAIN not in fitting and THOUSANDS_COMMA in fitting:
        return THOUSANDS_COMMA
    return fitting[0] if fitting else PLAIN


def _role(name: str, keys: pd.Series[str], kind: str, used: bool) -> str:
    if not used:
        return LEFT_OUT
    if is_id_name(name):
        return ID
    if keys.nunique() == 1:
        return CONSTANT
    is_unique = kind == IDS and keys.nunique() == keys.count()
    if is_unique or has_long_numbers(keys) or numbers_the_rows(keys.dropna()):
        return ID
    return {NUMBERS: NUMERIC, TEXT: CATEGORICAL}.get(kind, UNUSABLE)


def _with_target(
    known: pd.DataFrame, keys: pd.DataFrame, roles: dict[str, str], data: DataFile, problems: list[str]
) -> DataFile:
    """Guess the target and its event if they are not given."""
    counts = {name: keys[name].value_counts().sort_index() for name in roles if roles[name] != LEFT_OUT}
    pairs = [
        name
        for name in counts
        if roles[name] in (NUMERIC, CATEGORICAL) and len(counts[name]) == 2 and counts[name].min() > 1
    ]
    # a column named like an outcome comes before others of two values, even if it has more
    named = [name for name in counts if _rank(name) == 2 and 1 < len(counts[name]) <= MOST_CLASSES]
    guesses = [name for name in reversed(counts) if name in pairs or name in named]
    target = data.target or max(guesses, key=lambda name: (_rank(name), name in pairs), default="")
    if not target:
        return data
    others = first_few([quoted(name) for name in pairs if name != target])
    others = f"; other columns with two values: {others}" if others and not data.target else ""
    values = keys[target].value_counts().sort_index()
    if len(values) != 2:
        if not data.target:
            problems.append(f"target {quoted(target)}: a guess; set it with --target COL{others}")
        return replace(data, target=target, positive=data.positive or "")
    texts = known[target].groupby(keys[target]).first()
    likely = [key for key in values.index if _EVENTS.fullmatch(str(key).casefold())]
    event = data.positive or str(texts.loc[str(likely[0] if len(likely) == 1 else values.idxmin())])
    if not (data.target and data.positive):
        problems.append(
            f"target {quoted(target)} with the event {quoted(event)}: "
            f"{'a guess' if not data.target else 'the event is a guess'}; set them with --target COL --positive VALUE"
            f"{others}"
        )
    return replace(data, target=target, positive=event)


def _rank(name: str) -> int:
    """Return how much a name is like that of an outcome: 2, 1 if only a part of it could be, or 0."""
    words = [name.casefold(), *re.split(r"[\W_\d]+", name.casefold())]
    if any(map(_OUTCOMES.fullmatch, words)) or _ALONE.fullmatch(words[0]):
        return 2
    return int(any(map(_ALONE.fullmatch, words)))


def _tell(
    table: Table,
    known: pd.DataFrame,
    keys: pd.DataFrame,
    roles: dict[str, str],
    kinds: dict[str, str],
    data: DataFile,
    problems: list[str],
) -> None:
    """Add the problems of columns and rows, and the roles of copies of the target."""
    usable = [name for name, role in roles.items() if role in (NUMERIC, CATEGORICAL)]
    rows = keys[keys[data.target].notna()] if data.target else keys
    if data.target and rows[data.target].nunique() == 2:
        y = (rows[data.target] == rows[data.target].iloc[0]).to_numpy(dtype=np.int64)
        problems += _message(lambda: check_copies(rows[usable], y, data.target))
        roles.update(dict.fromkeys(copies(rows[usable], y), COPY))
        problems += _few(rows[data.target])
    problems += _message(lambda: check_constant(keys[[name for name in roles if roles[name] == CONSTANT]]))
    unusable = {name: kinds[name] for name, role in roles.items() if role in (UNUSABLE, ID)}
    told = {name: kind for name, kind in unusable.items() if kind not in (EMPTY, NUMBERS, SEPARATORS)}
    problems += of_kinds(known, told)
    if empty := [quoted(name) for name, kind in unusable.items() if kind == EMPTY]:
        problems.append(f"column {first_few(empty)} is empty; drop it with --exclude COL")
    if unnamed := sorted(table.unnamed.difference(columns_named(table, data.exclude))):
        problems.append(
            f"{first_few(unnamed)} without a name in the header: give it a name, or drop it with --exclude COL"
        )
    features = [name for name in usable if roles[name] != COPY]
    ids = [name for name, role in roles.items() if role == ID and kinds[name] == NUMBERS]
    numbers = known[[name for name in features if roles[name] == NUMERIC]].apply(to_numbers)
    problems += suspicions(known, _roles(data, [*features, *ids]), numbers)


def _roles(data: DataFile, features: Sequence[str]) -> Roles:
    return Roles(data.target, tuple(features), (), False, data.group, data.weight)


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


def _readable(
    table: Table, known: pd.DataFrame, roles: dict[str, str], data: DataFile, problems: list[str]
) -> DataFile:
    """Return options for reading the file: without unusable columns, and with a repeated ID as the group."""
    for name in [name for name, role in roles.items() if role in (NUMERIC, CATEGORICAL)]:
        if 2 * known[name].count() < len(known):
            problems.append(
                f"column {quoted(name)} has no value on {known[name].isna().sum()} of {len(known)} rows; drop it with "
                f"--exclude {quoted(name)}"
            )
            roles[name] = "mostly missing"
    repeated = [
        name
        for name, role in roles.items()
        if role == ID and 5 < known[name].nunique() < known[name].count() == len(known)
    ]
    if repeated and data.group is None:
        data = replace(data, group=repeated[0])
        roles[repeated[0]] = "ID, group"
    features = [name for name, role in roles.items() if role in (NUMERIC, CATEGORICAL)]
    labels = [name for name in (data.target, data.group, data.weight) if name]
    if data.missing == "error":
        used, absent = known[[*features, *labels]], known[[*features, *labels]].isna()
        check = partial(settle_missing, table.source, used, absent, _roles(data, features), data.missing)
        if lacking := _message(check):
            problems += lacking
            data = replace(data, missing="drop" if absent[labels].any(axis=None) else "median")
    named = [name for name in columns_named(table, data.categorical) if name in features or name not in roles]
    texts = [name for name in features if roles[name] == CATEGORICAL and name not in named]
    return replace(
        data,
        features=[name for name in columns_named(table, data.features) if name in features],
        exclude=[name for name in table.names if name not in (*features, *labels)],
        categorical=[*named, *([AUTO] if texts and AUTO not in named else [])],
    )


def _described(values: pd.Series[str], role: str, kind: str) -> dict[str, str]:
    known = values.dropna()
    numbers = to_numbers(known).dropna()
    whole = kind == NUMBERS and (numbers % 1 == 0).all()
    levels = sorted(known.unique())
    shown = ", ".join(level[:LONGEST] for level in levels[:SHOWN]) + (", ..." if len(levels) > SHOWN else "")
    if kind == NUMBERS and numbers.nunique() > SHOWN:
        shown = f"{numbers.min():g} to {numbers.max():g}"
    return {
        "column": str(values.name),
        "role": role,
        "type": "integers" if whole else "text" if kind == IDS else kind,
        "missing": str(values.isna().sum()),
        "levels": f"{known.nunique()}: {shown}" if levels else "0",
    }
