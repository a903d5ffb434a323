"""The results of replicates: keys, shards, rows, the text that a store keeps of a row, and the frames of many."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from sys import intern
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

#: A traceback up to the error at its end: the last call in it, and the indented lines that show its code.
CALLS = re.compile(r'.*^  File "[^\n]*", line \d+[^\n]*\n(?: [^\n]*\n)*', re.DOTALL | re.MULTILINE)
#: Types of the columns of a frame: texts are objects, with None if missing; missing numbers are nan.
_DTYPES: dict[str, Any] = {"str": object, "int": np.int64, "float": np.float64}
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


def reason(failure: str) -> str:
    r"""Return the error at the end of a traceback, with its complete message, in one line.

    Examples
    --------
    >>> reason('Traceback:\n  File "f", line 3\n    fit()\nValueError: all fits failed:\n  no convergence\n')
    'ValueError: all fits failed: no convergence'
    """
    return " ".join(CALLS.sub("", failure, count=1).split()).removeprefix("cudbound.basis.exceptions.")


def results_of(row: ReplicateRow, seed: str) -> str:
    """Return everything but key, failure and time of a replicate as a text, the same for any order of the methods."""
    intervals, expected = (
        sorted(tuple(vars(part).values()) for part in parts) for parts in (row.intervals, row.expected)
    )
    numbers = (row.truth, row.truth_se, row.training_error, row.n_redrawn)
    return json.dumps([*numbers, seed, intervals, expected], default=lambda number: number.item())


def row_of(key: Key, failure: str | None, results: str, seconds: float, methods: list[str]) -> ReplicateRow:
    """Return a replicate from the text of its results, with its intervals in the order of the methods."""
    truth, truth_se, training_error, n_redrawn, _, intervals, expected = json.loads(results)
    rows = sorted((IntervalRow(*values) for values in intervals), key=lambda row: methods.index(row.method))
    further = tuple(ExpectedError(*values) for values in expected)
    return ReplicateRow(
        key, truth, truth_se, training_error, n_redrawn, failure, tuple(rows), seconds, further
    )


def frames_of(
    stored: Iterable[tuple[str, int, int, str | None, str, float]],
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the replicates, the intervals and the expected errors of keys, failures, results and seconds.

    Columns are the fields of `Key` and of `ReplicateRow`, `IntervalRow` and `ExpectedError`; a replicate also has its
    seed, as a line of Python.
    """
    replicates, intervals, expected = [], [], []
    for scenario, n, replicate, failure, results, seconds in stored:
        *numbers, seed, of_methods, of_sizes = json.loads(results)
        key = intern(scenario), n, replicate
        replicates.append((*key, *numbers, failure, seconds, seed))
        # one object for texts that are equal: a frame is then a tenth of the size
        intervals += [(*key, intern(method), intern(aim), *values) for method, aim, *values in of_methods]
        expected += [(*key, *values) for values in of_sizes]
    return (
        _frame(replicates, ReplicateRow, "seed"),
        _frame(intervals, IntervalRow),
        _frame(expected, ExpectedError),
    )


def _frame(rows: list[Any], row_class: type, *further: str) -> pd.DataFrame:
    import pandas as pd

    named = {
        entry.name: str(entry.type).removesuffix(" | None")
        for part in (Key, row_class)
        for entry in fields(part)
    }
    types = {name: _DTYPES[kind] for name, kind in named.items() if kind in _DTYPES} | dict.fromkeys(
        further, object
    )
    return pd.DataFrame(rows, columns=list(types), dtype=object).astype(types)


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
