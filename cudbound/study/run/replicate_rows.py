"""The results of replicates: keys, shards, rows, and the tables of a store with the fields of the rows as columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import check_integer

#: A traceback up to the error at its end: the last call in it, and the indented lines that show its code.
CALLS = re.compile(r'.*^  File "[^\n]*", line \d+[^\n]*\n(?: [^\n]*\n)*', re.DOTALL | re.MULTILINE)
#: SQLite types by Python types. Values are converted, since SQLite would store NumPy numbers as bytes.
_SQL_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "REAL"}
_CONVERSIONS = {"str": str, "int": int, "float": float}
#: Types of the columns of a frame.
_DTYPES = {"str": object, "int": np.int64, "float": np.float64}
#: The number of a shard, from 1, and the number of shards.
Shard = tuple[int, int]


@dataclass(frozen=True, order=True)
class Key:
    """The key of a replicate."""

    scenario: str
    n: int
    replicate: int


@dataclass(frozen=True)
class IntervalRow:
    """The result of one method on one replicate.

    Attributes
    ----------
    method, estimand : str
    estimate, low, high, raw_low, raw_high : float or None
        Limits clipped to [0, 1], and raw; None without limits.
    n_fits : int
    degenerate : str or None
        Why the interval is not informative, or None.
    remarks : str
    standard_error : float or None
        The method's own standard error of the estimate, if any.
    pvalue : float or None
        For the hypothesis that two learning algorithms have equal errors; None for a single one.
    details : str or None
        Further numbers of the method by name, as a JSON object with null for values that are not finite; or None.
    """

    method: str
    estimand: str
    estimate: float | None
    low: float | None
    high: float | None
    raw_low: float | None
    raw_high: float | None
    n_fits: int
    degenerate: str | None
    remarks: str
    standard_error: float | None = None
    pvalue: float | None = None
    details: str | None = None


@dataclass(frozen=True)
class ExpectedError:
    """The true error of a classifier fitted to `n_train` further cases, for methods that aim at its mean.

    Attributes
    ----------
    n_train : int
    truth, truth_se : float
        Error on the population, and its standard error.
    """

    n_train: int
    truth: float
    truth_se: float


@dataclass(frozen=True)
class ReplicateRow:
    """One replicate with its intervals.

    Attributes
    ----------
    key : Key
    truth, truth_se : float or None
        Error of the fitted classifier on the population, or the error of the first minus that of the second, and its
        standard error; None after a failure.
    training_error : float or None
        For the classifier, or the difference of two.
    n_redrawn : int
        Samples redrawn because a class had fewer than two cases.
    failure : str or None
        Traceback of the error that stopped the replicate; its intervals are then missing.
    intervals : tuple of IntervalRow
    seconds : float
        Wall-clock time; kept separate from the results, which are exactly reproducible.
    expected : tuple of ExpectedError
        One per size in the estimands "expected(n1=...)" of the intervals, ascending; failed fits are left out.
    """

    key: Key
    truth: float | None
    truth_se: float | None
    training_error: float | None
    n_redrawn: int
    failure: str | None
    intervals: tuple[IntervalRow, ...]
    seconds: float = field(compare=False)
    expected: tuple[ExpectedError, ...] = ()


def last_line(failure: str | None) -> str | None:
    r"""Return the error at the end of a traceback, without the paths, which differ between computers.

    Examples
    --------
    >>> last_line("Traceback:\n  File f\nValueError: why\n")
    'ValueError: why'
    """
    return failure if failure is None else failure.rstrip().rpartition("\n")[2]


def reason(failure: str) -> str:
    r"""Return the error at the end of a traceback, with its complete message, in one line.

    Examples
    --------
    >>> reason('Traceback:\n  File "f", line 3\n    fit()\nValueError: all fits failed:\n  no convergence\n')
    'ValueError: all fits failed: no convergence'
    """
    return " ".join(CALLS.sub("", failure, count=1).split()).removeprefix("cudbound.basis.exceptions.")


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

    @property
    def dtypes(self) -> dict[str, Any]:
        """Types of the columns of a frame: texts are objects, with None if missing; missing numbers are nan."""
        return {name: _DTYPES[_base(kind)] for name, kind in self.types.items()}

    def values(self, *parts: object, **more: object) -> tuple[object, ...]:
        """Return one row for SQLite, from attributes of `parts` and from values given by name."""
        columns = {
            name: getattr(part, name) for part in parts for name in self.types if hasattr(part, name)
        } | more
        return tuple(_plain(columns[name], kind) for name, kind in self.types.items())


def columns_of(row_class: type) -> dict[str, str]:
    """Return the types of the fields of a dataclass that are single values and part of row equality."""
    types = {entry.name: str(entry.type) for entry in fields(row_class) if entry.compare}
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
#: The seconds of each replicate, and its finishing time, in Unix seconds.
TIMINGS = StoredTable("timings", _KEY | {"seconds": "float", "finished": "float"}, 3)
#: The tables that depend only on the study.
RESULTS = (REPLICATES, INTERVALS, EXPECTED)


def read_shard(text: str) -> Shard:
    """Parse a shard such as "3/8".

    Raises
    ------
    ValueError
        If the text is not a shard.

    Examples
    --------
    >>> read_shard("3/8")
    (3, 8)
    """
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"{text!r} is not a shard such as 3/8, the third of eight.")
    return int(match[1]), int(match[2])


def check_shard(shard: Any) -> Shard | None:
    """Return a shard of a study; None means the whole study.

    Raises
    ------
    ValueError
        If it is not a pair of integers, or out of range.
    """
    if shard is None:
        return None
    try:
        number, n_shards = shard
        check_integer("shard", number, 1, check_integer("shard", n_shards, 1))
    except (TypeError, ValueError) as error:
        raise ParameterError("shard", "a pair (i, n) of integers with 1 <= i <= n, or None", shard) from error
    return number, n_shards


def replicates_of(shard: Shard | None, n_replicates: int) -> range:
    """Return the replicate numbers of a shard in every cell; None has all.

    Examples
    --------
    >>> list(replicates_of((3, 8), 20))
    [2, 10, 18]
    """
    number, n_shards = (1, 1) if shard is None else shard
    return range(number - 1, n_replicates, n_shards)
