"""The tables of a store: their columns are the fields of the rows, which are declared only there."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.study.run.replicate_rows import ExpectedError, IntervalRow, Key, ReplicateRow

if TYPE_CHECKING:
    import pandas as pd

#: SQLite types by Python types. Values are converted, since SQLite would store NumPy numbers as bytes.
_SQL_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "REAL"}
_CONVERSIONS = {"str": str, "int": int, "float": float}
#: Types of the columns of a frame.
_DTYPES = {"str": object, "int": np.int64, "float": np.float64}
#: Rows read at a time, so that a frame is never in memory twice.
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
        Number of leading columns in the primary key.
    """

    name: str
    types: Mapping[str, str]
    n_keys: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.types)

    @property
    def order(self) -> str:
        """The columns of the key, for queries."""
        return ", ".join(self.columns[: self.n_keys])

    @property
    def definition(self) -> str:
        """The statement that creates it; the key is stored in the table itself, so reading needs no sorting."""
        columns = [
            f"{name} {_SQL_TYPES[_base(kind)]}{'' if _base(kind) != kind else ' NOT NULL'}"
            for name, kind in self.types.items()
        ]
        return f"CREATE TABLE {self.name} ({', '.join(columns)}, PRIMARY KEY ({self.order})) WITHOUT ROWID"

    @property
    def compared(self) -> str:
        """The columns for queries that compare results; of a failure, only the final error counts."""
        return ", ".join("last_line(failure)" if name == "failure" else name for name in self.columns)

    def select(self, where: str = "") -> str:
        """Return the query for all columns of all rows, or of rows selected by `where`, in the order of the key."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} {where} ORDER BY {self.order}"

    def values(self, *parts: object, **more: object) -> tuple[object, ...]:
        """Return one row for SQLite, from attributes of `parts` and from values given by name."""
        given = {
            name: getattr(part, name) for part in parts for name in self.types if hasattr(part, name)
        } | more
        return tuple(_plain(given[name], kind) for name, kind in self.types.items())


def columns_of(row_class: type) -> dict[str, str]:
    """Return the types of the fields of a dataclass that are single values and part of row equality."""
    types = {one.name: str(one.type) for one in fields(row_class) if one.compare}
    return {name: kind for name, kind in types.items() if _base(kind) in _SQL_TYPES}


def _base(kind: str) -> str:
    return kind.removesuffix(" | None")


def _plain(value: Any, kind: str) -> object:
    return None if value is None else _CONVERSIONS[_base(kind)](value)


_KEY = columns_of(Key)
#: One row per replicate. The failure is a traceback, or missing; the seed is a line of Python.
REPLICATES = StoredTable("replicates", _KEY | columns_of(ReplicateRow) | {"seed": "str"}, 3)
#: One row per interval.
INTERVALS = StoredTable("intervals", _KEY | columns_of(IntervalRow), 4)
#: One row per further sample.
EXPECTED = StoredTable("expected_errors", _KEY | columns_of(ExpectedError), 4)
#: The seconds of methods alone: one row per timed replicate and method.
METHOD_TIMINGS = StoredTable("method_timings", _KEY | {"method": "str", "seconds": "float"}, 4)
#: The seconds of each replicate, and its finishing time, in Unix seconds.
TIMINGS = StoredTable("timings", _KEY | {"seconds": "float", "finished": "float"}, 3)
#: The tables that depend only on the study.
RESULTS = (REPLICATES, INTERVALS, EXPECTED)


def read_frame(connection: sqlite3.Connection, table: StoredTable) -> pd.DataFrame:
    """Return a table as a frame; texts are objects, missing texts are None and missing numbers nan."""
    import pandas as pd

    dtypes = {name: _DTYPES[_base(kind)] for name, kind in table.types.items()}
    parts: list[pd.DataFrame] = []  # copies, so that no part keeps all its cells as objects
    cursor = connection.execute(table.select())
    while (rows := cursor.fetchmany(ROWS_PER_FETCH)) or not parts:
        parts.append(pd.DataFrame(rows, columns=table.columns, dtype=object).astype(dtypes).copy())
    return pd.concat(parts, ignore_index=True)
