"""The content of a file, all its problems, and how to read it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from cudbound.inputs.csv_columns import (
    check_constant,
    check_copies,
    copies,
    far_in_words,
    missing_option,
    read_training_data,
    suspicions,
)
from cudbound.inputs.data_file import (
    PLAIN,
    THOUSANDS_COMMA,
    CsvError,
    DataFile,
    conventions,
    count_rows,
    doubts,
    first_few,
    in_plain_form,
    key_of,
    quoted,
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
from cudbound.inputs.text_table import Table, read_data_file

if TYPE_CHECKING:
    import pandas as pd

TARGET, ID, LEFT_OUT = "target", "ID", "left out"
USABLE = NUMERIC, CATEGORICAL = "numeric feature", "categorical feature"
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

    check = _Check(data)
    check.guess_target()
    check.question_columns()
    check.make_readable()
    columns = pd.DataFrame(
        [_described(check.values[name], check.roles[name], check.kinds[name]) for name in check.table.names]
    )
    error = None
    try:
        if not check.data.target:
            raise CsvError("no column has exactly two values; choose the target with --target COL")
        roles = find_roles(check.table, check.data)
        read_training_data(check.data, parsed=ParsedFile(check.data, check.table, roles))
    except CsvError as stopped:
        error = stopped
    title = f"{quoted(check.table.source)}: {len(check.values)} rows, {len(columns)} columns"
    return FileCheck(title, columns, tuple(dict.fromkeys(check.problems)), check.data, error)


class _Check:
    """A file that is being checked: its content, its problems, and how it can be read.

    Attributes
    ----------
    data : DataFile
    problems : list of str
    table : Table
    used : list of str
        The columns that can be features or the target.
    values : DataFrame of str
        The cells, with numbers in plain form, one spelling per level, and nan where one is missing.
    keys : DataFrame of str
        The same with one text for all spellings of a number.
    kinds, roles : dict of str to str
        The content and the role of every column.
    """

    def __init__(self, data: DataFile):
        self.data, self.problems = data, list[str]()
        self.table = self._read()
        self.problems += self.table.warnings
        if data.target:
            exclude = [*self._named(data.exclude), *self.table.unnamed]
            find_roles(self.table, replace(self.data, exclude=exclude))
        out = {*self._named(data.exclude), *self.table.unnamed, data.group, data.weight}
        features = {*(self._named(data.features) or self.table.names), data.target}
        self.used = [name for name in self.table.names if name in features and name not in out]
        self._find_convention()
        self._find_missing_values()
        values = self._present(self._cells)
        self.kinds = {name: kind_of(name, values[name].dropna()) for name in self.table.names}
        spelled = {name: one_spelling(values[name]) for name in self.used if self.kinds[name] == TEXT}
        self.problems += [note for _, note in spelled.values() if note is not None]
        self.values = values.assign(**{name: column for name, (column, _) in spelled.items()})
        self.keys = self.values.map(key_of)
        self.roles = {name: self._role(name) for name in self.table.names}

    def _read(self) -> Table:
        """Read the file, following the suggestions in its error messages."""
        while True:
            try:
                table = read_data_file(self.data)
                self.data = replace(self.data, encoding=self.data.encoding or table.encoding)
                return table
            except CsvError as error:
                self.problems.append(str(error))
                if not error.instead or len(self.problems) > TRIES:
                    raise CsvError(". Then: ".join(self.problems)) from error
                self.data = replace(self.data, **error.instead)

    def _named(self, texts: Sequence[str]) -> list[str]:
        return columns_named(self.table, texts)

    def _present(self, cells: pd.DataFrame) -> pd.DataFrame:
        return cells.mask(missing_cells(cells, self.data.missing_values))

    @contextmanager
    def _noting_error(self) -> Iterator[None]:
        try:
            yield
        except CsvError as error:
            self.problems.append(str(error))

    def _find_convention(self) -> None:
        """Find decimal commas and separators of thousands, and write all numbers in plain form."""
        present = self._present(self.table.cells[self.used])
        kinds = {name: kind_of(name, present[name].dropna()) for name in self.used}
        numbers = present[[name for name in self.used if kinds[name] in (SEPARATORS, NUMBERS, SLIPS)]]
        if (self.data.decimal, self.data.thousands) == PLAIN:
            separated = {name: SEPARATORS for name in numbers.columns if kinds[name] == SEPARATORS}
            self.problems += of_kinds(numbers, separated)
            fitting = [*conventions(numbers.to_numpy().ravel()), PLAIN]
            # where commas separate the cells, a comma in a number separates thousands
            in_quotes = self.data.delimiter == "," and fitting[0] != PLAIN and THOUSANDS_COMMA in fitting
            convention = THOUSANDS_COMMA if in_quotes else fitting[0]
            self.data = replace(self.data, **convention._asdict())
        self._cells = self.table.cells
        with self._noting_error():
            plain = in_plain_form(self._cells[numbers.columns], self.data.decimal, self.data.thousands)
            self._cells = self._cells.assign(**plain)
            self.problems += doubts(numbers, self.data)

    def _find_missing_values(self) -> None:
        """Find words and codes that mean a missing value in columns of numbers."""
        present = self._present(self._cells[self.used])
        numbers = present.apply(to_numbers)
        further, codes = [], []
        for name in self.used:
            words = present[name][present[name].notna() & numbers[name].isna()]
            if 2 * len(words) >= present[name].count():
                continue
            if len(words) and all(says_unknown(word) or word.casefold() in ("nd", "none") for word in words):
                different = sorted({*words})
                self.problems.append(
                    f"column {quoted(name)}: {first_few([*map(quoted, different)])} on {count_rows(len(words))} among "
                    f"numbers; add {missing_option(different)} if it codes a missing value"
                )
                further += different
            codes += [(name, far) for far in far_values(numbers[name].dropna()) if far.is_code]
        n_columns = Counter(far.text for _, far in codes)
        # what is a value of another column is left to a question, with the other codes of its column
        shared = {
            name for name, far in codes if (numbers == float(far.text)).any().sum() > n_columns[far.text]
        }
        for name, far in codes:
            if name not in shared:
                self.problems.append(far_in_words(name, far))
                further.append(far.text)
        missing_values = (*self.data.missing_values, *dict.fromkeys(further))
        self.data = replace(self.data, missing_values=missing_values)

    def _role(self, name: str) -> str:
        keys, kind = self.keys[name], self.kinds[name]
        if name in self.table.unnamed:
            return "without a name"
        if name not in self.used:
            return {self.data.group: "group", self.data.weight: "weight"}.get(name, LEFT_OUT)
        if name in self._named(self.data.categorical) and keys.nunique() > 1:
            return CATEGORICAL
        if is_id_name(name):
            return ID
        if keys.nunique() == 1:
            return CONSTANT
        is_unique = kind == IDS and keys.nunique() == keys.count()
        if is_unique or has_long_numbers(keys) or numbers_the_rows(keys.dropna()):
            return ID
        return {NUMBERS: NUMERIC, TEXT: CATEGORICAL}.get(kind, UNUSABLE)

    def guess_target(self) -> None:
        """Guess the target and its event if they are not given."""
        counts = {name: self.keys[name].value_counts().sort_index() for name in self.used}
        pairs = [
            name
            for name in counts
            if self.roles[name] in USABLE and len(counts[name]) == 2 and counts[name].min() > 1
        ]
        # a column named like an outcome comes before others of two values, even if it has more
        named = [name for name in counts if _rank(name) == 2 and 1 < len(counts[name]) <= MOST_CLASSES]
        guesses = [name for name in reversed(counts) if name in pairs or name in named]
        data, positive = self.data, self.data.positive or ""
        target = data.target or max(guesses, key=lambda name: (_rank(name), name in pairs), default="")
        if not target:
            return
        self.roles[target] = TARGET
        others = first_few([quoted(name) for name in pairs if name != target])
        others = f"; other columns with two values: {others}" if others and not data.target else ""
        number = counts[target]
        if len(number) == 2:
            texts = self.values[target].groupby(self.keys[target]).first()
            likely = [key for key in number.index if _EVENTS.fullmatch(str(key).casefold())]
            positive = positive or str(texts.loc[str(likely[0] if len(likely) == 1 else number.idxmin())])
            if not (data.target and data.positive):
                self.problems.append(
                    f"target {quoted(target)} with the event {quoted(positive)}: "
                    f"{'the event is ' * bool(data.target)}a guess; set them with --target COL --positive VALUE{others}"
                )
        elif not data.target:
            self.problems.append(f"target {quoted(target)}: a guess; set it with --target COL{others}")
        self.data = replace(data, target=target, positive=positive)

    def question_columns(self) -> None:
        """Add the problems of columns and rows, and the roles of copies of the target."""
        keys, target = self.keys, self.data.target
        usable = self._with_role(*USABLE)
        rows = keys[keys[target].notna()] if target else keys
        if target and rows[target].nunique() == 2:
            y = (rows[target] == rows[target].iloc[0]).to_numpy(dtype=np.int64)
            with self._noting_error():
                check_copies(rows[usable], y, target)
            self.roles.update(dict.fromkeys(copies(rows[usable], y), COPY))
            self.problems += _few(rows[target])
        with self._noting_error():
            check_constant(keys[self._with_role(CONSTANT)])
        unusable = {name: self.kinds[name] for name in self._with_role(UNUSABLE, ID)}
        named = {name: kind for name, kind in unusable.items() if kind not in (EMPTY, NUMBERS, SEPARATORS)}
        self.problems += of_kinds(self.values, named)
        if empty := [quoted(name) for name, kind in unusable.items() if kind == EMPTY]:
            self.problems.append(f"column {first_few(empty)} is empty; drop it with --exclude COL")
        if unnamed := sorted(self.table.unnamed.difference(self._named(self.data.exclude))):
            self.problems.append(
                f"{first_few(unnamed)} without a name in the header: give it a name, or drop it with --exclude COL"
            )
        ids = [name for name in self._with_role(ID) if self.kinds[name] == NUMBERS]
        numbers = self.values[self._with_role(NUMERIC)].apply(to_numbers)
        features = [*self._with_role(*USABLE), *ids]
        self.problems += suspicions(self.values, _roles(self.data, features), numbers)

    def _with_role(self, *roles: str) -> list[str]:
        return [name for name in self.table.names if self.roles[name] in roles]

    def make_readable(self) -> None:
        """Set options for reading the file: without unusable columns, and with a repeated ID as the group."""
        values, n = self.values, len(self.values)
        for name in self._with_role(*USABLE):
            if 2 * values[name].count() < n:
                self.problems.append(
                    f"column {quoted(name)} has no value on {values[name].isna().sum()} of {n} rows; drop it with "
                    f"--exclude {quoted(name)}"
                )
                self.roles[name] = "mostly missing"
        ids = self._with_role(ID)
        repeated = [name for name in ids if 5 < values[name].nunique() < values[name].count() == n]
        if repeated and self.data.group is None:
            self.data = replace(self.data, group=repeated[0])
            self.roles[repeated[0]] = "ID, group"
        data, features = self.data, self._with_role(*USABLE)
        labels = [name for name in (data.target, data.group, data.weight) if name]
        missing, absent = data.missing, values[[*features, *labels]].isna()
        if missing == "error" and absent.any(axis=None):
            with self._noting_error():
                settle_missing(
                    self.table.source, values[absent.columns], absent, _roles(data, features), missing
                )
            missing = "drop" if absent[labels].any(axis=None) else "median"
        named = [name for name in self._named(data.categorical) if name in features or name not in self.roles]
        if AUTO not in named and {*self._with_role(CATEGORICAL)}.difference(named):
            named.append(AUTO)
        self.data = replace(
            data,
            missing=missing,
            features=[name for name in self._named(data.features) if name in features],
            exclude=[name for name in self.table.names if name not in (*features, *labels)],
            categorical=named,
        )


def _rank(name: str) -> int:
    """Return how much a name is like that of an outcome: 2, 1 if only a part of it could be, or 0."""
    words = [name.casefold(), *re.split(r"[\W_\d]+", name.casefold())]
    if any(map(_OUTCOMES.fullmatch, words)) or _ALONE.fullmatch(words[0]):
        return 2
    return int(any(map(_ALONE.fullmatch, words)))


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
