"""The results of one replicate: a record of the replicate and one row per method."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

#: A traceback up to the error at its end: the last call in it, and the indented lines that show its code.
CALLS = re.compile(r'.*^  File "[^\n]*", line \d+[^\n]*\n(?: [^\n]*\n)*', re.DOTALL | re.MULTILINE)


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
    method_seconds : mapping of str to float
        Wall-clock time of methods that were recomputed alone; empty in most replicates.
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
    method_seconds: Mapping[str, float] = field(default_factory=dict, compare=False)


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
