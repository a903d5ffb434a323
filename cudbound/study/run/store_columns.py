"""The tables of a store: their columns are the fields of the rows, which are declared there and nowhere else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.study.run.rows import ExpectedError, IntervalRow, Key, ReplicateRow

if TYPE_CHECKING:
    import pandas as pd

#: Types of SQLite by those of Python. Values are converted, since SQLite would keep a number of NumPy as bytes.
_SQL_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "REAL"}
_CONVERSIONS = {"str": str, "int": int, "float": float}
#: Rows that are read at a time, so that a frame is never held twice.
ROWS_PER_FETCH = 50_000


@dataclass(frozen=True)
class StoredTable:
    """One table of a store.

    Attributes
    ----------
    name : str
    types : mapping of str to str
        Columns in order, each with its type: "str", "int" or "float", followed by " | None" if it may be missing.
    n_keys : int
        How many of the columns, from the first on, are the primary key.
    """

    name: str
    types: Mapping[str, str]
    n_keys: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.types)

    @property
    def definition(self) -> str:
        """The statement that creates it; the key is written into the table itself, so reading sorts nothing."""
        columns = [
            f"{name} {_SQL_TYPES[_base(kind)]}{'' if _base(kind) != kind else ' NOT NULL'}"
            for name, kind in self.types.items()
        ]
        key = ", ".join(self.columns[: self.n_keys])
        return f"CREATE TABLE {self.name} ({', '.join(columns)}, PRIMARY KEY ({key})) WITHOUT ROWID;"

    @property
    def query(self) -> str:
        """The query of all columns in the order of the key."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} ORDER BY {', '.join(self.columns[: self.n_keys])}"

    def values(self, *parts: object, **more: object) -> tuple[object, ...]:
        """Return one row for SQLite: columns that are attributes of `parts`, and those given by name."""
        given = {
            name: getattr(part, name) for part in parts for name in self.types if hasattr(part, name)
        } | more
        return tuple(_plain(given[name], kind) for name, kind in self.types.items())


def scalars_of(row_class: type) -> dict[str, str]:
    """Return the types of the fields of a dataclass that are single values and decide whether two rows are equal."""
    types = {one.name: str(one.type) for one in fields(row_class) if one.compare}
    return {name: kind for name, kind in types.items() if _base(kind) in _SQL_TYPES}


def _base(kind: str) -> str:
    return kind.removesuffix(" | None")


def _plain(value: Any, kind: str) -> object:
    return None if value is None else _CONVERSIONS[_base(kind)](value)


_KEY = scalars_of(Key)
REPLICATES = StoredTable("replicates", _KEY | scalars_of(ReplicateRow) | {"seed": "str"}, 3)
INTERVALS = StoredTable("intervals", _KEY | scalars_of(IntervalRow), 4)
EXPECTED = StoredTable("expected_errors", _KEY | scalars_of(ExpectedError), 4)
METHOD_TIMINGS = StoredTable("method_timings", _KEY | {"method": "str", "seconds": "float"}, 4)
TIMINGS = StoredTable("timings", _KEY | {"seconds": "float", "finished": "float"}, 3)


def read_frame(connection: sqlite3.Connection, table: StoredTable) -> pd.DataFrame:
    """Return a table as a frame; texts are objects, None where they are missing, and missing numbers are nan."""
    import pandas as pd

    seen: dict[str, str] = {}  # one object for texts that are equal: the frame is then a tenth of the size
    parts: list[pd.DataFrame] = []
    cursor = connection.execute(table.query)
    while (rows := cursor.fetchmany(ROWS_PER_FETCH)) or not parts:
        values = list(zip(*rows, strict=True)) or [()] * len(table.types)
        columns = zip(table.types.items(), values, strict=True)
        parts.append(pd.DataFrame({name: _column(kind, one, seen) for (name, kind), one in columns}))
    return pd.concat(parts, ignore_index=True)


def _column(kind: str, values: Iterable[Any], seen: dict[str, str]) -> Any:
    import pandas as pd

    if _base(kind) == "str":
        texts = [None if value is None else seen.setdefault(value, value) for value in values]
        return pd.Series(texts, dtype=object)  # also where all are missing, so that parts fit together
    return np.array(values, dtype=np.int64 if kind == "int" else np.float64)
