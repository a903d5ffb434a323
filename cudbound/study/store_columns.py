"""The tables of a store, read as frames in the order of their keys."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

REPLICATE_COLUMNS = (
    "scenario",
    "n",
    "replicate",
    "truth",
    "truth_se",
    "training_error",
    "n_redrawn",
    "failure",
    "seed",
)
INTERVAL_COLUMNS = (
    "scenario",
    "n",
    "replicate",
    "method",
    "estimand",
    "estimate",
    "low",
    "high",
    "raw_low",
    "raw_high",
    "n_fits",
    "degenerate",
    "remarks",
    "standard_error",
    "pvalue",
)
EXPECTED_COLUMNS = ("scenario", "n", "replicate", "n_train", "truth", "truth_se")
METHOD_TIMING_COLUMNS = ("scenario", "n", "replicate", "method", "seconds")
TIMING_COLUMNS = ("scenario", "n", "replicate", "seconds", "finished")
#: Columns that hold text; the others hold numbers.
TEXTS = frozenset({"scenario", "failure", "seed", "method", "estimand", "degenerate", "remarks"})
#: Columns of whole numbers, none of which is missing.
WHOLE = frozenset({"n", "replicate", "n_redrawn", "n_fits", "n_train"})
#: Rows that are read at a time, so that a frame is never held twice.
ROWS_PER_FETCH = 50_000


def read_frame(
    connection: sqlite3.Connection, table: str, columns: tuple[str, ...], n_keys: int
) -> pd.DataFrame:
    """Return a table as a frame; texts are objects, None where they are missing, and missing numbers are nan."""
    import pandas as pd

    seen: dict[str, str] = {}  # one object for texts that are equal: the frame is then a tenth of the size
    parts: list[pd.DataFrame] = []
    cursor = connection.execute(select(table, columns, n_keys))
    while (rows := cursor.fetchmany(ROWS_PER_FETCH)) or not parts:
        values = list(zip(*rows, strict=True)) or [()] * len(columns)
        part = {name: _column(name, one, seen) for name, one in zip(columns, values, strict=True)}
        parts.append(pd.DataFrame(part))
    return pd.concat(parts, ignore_index=True)


def select(table: str, columns: tuple[str, ...], n_keys: int) -> str:
    """Return the query of a table's columns in the order of the first `n_keys` of them."""
    return f"SELECT {', '.join(columns)} FROM {table} ORDER BY {', '.join(columns[:n_keys])}"


def _column(name: str, values: Iterable[Any], seen: dict[str, str]) -> Any:
    import pandas as pd

    if name in TEXTS:
        texts = [None if value is None else seen.setdefault(value, value) for value in values]
        return pd.Series(texts, dtype=object)  # also where all are missing, so that parts fit together
    return np.array(values, dtype=np.int64 if name in WHOLE else np.float64)
