"""The output of a method: an estimate, an interval or a test, with remarks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.rounding import format_limit

#: What the estimate of an interval is, where the notes under a table say so.
Center = Literal[
    "training error",
    ".632 estimate",
    "error on new cases",
    "mean of cross-validated and .632+",
    "mean of training and new cases",
]


class ConfidenceInterval(NamedTuple):
    """Two confidence limits, on the scale of the estimate; ``low, high = interval`` unpacks them, as in SciPy.

    Examples
    --------
    >>> low, high = ConfidenceInterval(0.125, 0.5)
    >>> low, high, ConfidenceInterval(0.125, 0.5).width
    (0.125, 0.5, 0.375)
    """

    low: float
    high: float

    @property
    def width(self) -> float:
        """``high - low``."""
        return self.high - self.low

    def clipped(self, low: float, high: float) -> ConfidenceInterval:
        """Return the limits moved into [low, high]."""
        return ConfidenceInterval(min(max(self.low, low), high), max(min(self.high, high), low))


UNDEFINED_LIMITS = ConfidenceInterval(math.nan, math.nan)


@dataclass(frozen=True)
class Estimand:
    """The quantity that a method estimates, as defined in docs/reference/words_and_sources.md.

    Attributes
    ----------
    kind : str
        "conditional", the error of the classifier fitted to this training set; "expected", that of the learning
        algorithm over training sets; "holdout-model", "cv-average" or "rule".
    n_train : float or None
        For "expected": the training rows n1 of the fits; not a whole number if folds have unequal sizes. None if it
        depends on the records, or if there is no such number.
    prevalence : float or None
        The stated share of events among new cases; None for that of the population of the training set.

    Examples
    --------
    >>> str(Estimand("expected", n_train=45)), str(Estimand("conditional"))
    ('expected(n1=45)', 'conditional')
    """

    kind: str
    n_train: float | None = None
    prevalence: float | None = None

    def __repr__(self) -> str:
        return f"Estimand({self.kind!r}{'' if self.n_train is None else f', n_train={self.n_train:g}'})"

    def __str__(self) -> str:
        if self.n_train is None:
            return self.kind
        number = f"{self.n_train:g}" if self.n_train % 1 else f"{self.n_train:.0f}"
        return f"{self.kind}(n1={number})"

    @property
    def n_train_rows(self) -> int | None:
        """The number of training rows, rounded down; None if there is none."""
        return None if self.n_train is None else int(self.n_train)

    @classmethod
    def read(cls, text: str) -> Estimand:
        """Return the estimand that is stored as this text, in a study or a frame.

        Examples
        --------
        >>> Estimand.read("expected(n1=29.7)")
        Estimand('expected', n_train=29.7)
        """
        match = re.fullmatch(r"(.*)\(n1=([\d.e+]+)\)", text)
        return cls(text) if match is None else cls(match[1], float(match[2]))


@dataclass(frozen=True)
class Words:
    """Words for a paper: one line on how a number was computed, and its sources."""

    title: str
    reference: str


@dataclass(frozen=True)
class TestedRows:
    r"""The rows on which one fitted classifier was tested.

    Attributes
    ----------
    n : int
    n_events : int or None
        None if this is unknown, or there are more than two classes.
    majority_error : float or None
        Share of the rows that do not belong to their most frequent class; None if the classes are unknown.
    new : bool
        Whether they are test cases of the caller; otherwise they were held out of the training set.
    pooled : bool
        Whether the interval is from the training rows as well.

    Examples
    --------
    >>> tested = TestedRows(25, n_events=3, majority_error=0.12)
    >>> print(tested, tested.averaged((0.0, 1.0)), sep="\n")
    25 test cases with 3 events and 22 non-events
    3 events of 25 test cases
    """

    __test__ = False  # the name is not a test for pytest

    n: int
    _: KW_ONLY
    n_events: int | None = None
    majority_error: float | None = None
    new: bool = True
    pooled: bool = False

    @classmethod
    def of(cls, n: int, event: NDArray[np.bool_] | None, estimand: str) -> TestedRows:
        """Return tested rows of two classes, or of unknown ones, with an estimand as in `TestSetLosses`."""
        n_events = None if event is None else int(event.sum())
        rarer = None if n_events is None else min(n_events, n - n_events) / n
        return cls(n, n_events=n_events, majority_error=rarer, new=estimand == "conditional")

    @property
    def sizes(self) -> tuple[int, int] | None:
        """The numbers of non-events and of events, if known."""
        return None if self.n_events is None else (self.n - self.n_events, self.n_events)

    @property
    def center(self) -> Center | None:
        """What an estimate from them is, as in `Outcome`."""
        return "error on new cases" if self.new and not self.pooled else None

    @property
    def remark(self) -> str:
        """A remark on a result from them."""
        return f"{'pooled with' if self.pooled else 'based on'} {self}"

    @property
    def of_rows(self) -> str:
        """The denominator of a share of them, in words."""
        return "of the test cases" if self.new else "of the held-out rows"

    def averaged(self, shares: tuple[float, float] | None) -> str:
        """Return the rows that a metric with these shares of non-events and events averages, in words."""
        rows = _counted(self.n, "test case" if self.new else "held-out row")
        if self.sizes is None:
            return rows
        non_events, events = map(_counted, self.sizes, ("non-event", "event"))
        if shares is None or min(shares) > 0.0:
            return f"{rows} with {events} and {non_events}"
        return f"{events if shares[1] > 0.0 else non_events} of {rows}"

    def __str__(self) -> str:
        return self.averaged(None)


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class PointOutcome:
    """The output of a point estimator, and part of the output of every other method.

    Attributes
    ----------
    estimate : float
        Mean loss, or mean difference of losses; nan if undefined.
    remarks : tuple of str
        Events during the computation: draws not certified, single-class draws, ...
    degenerate : str or None
        Why the estimate is undefined or an interval does not show uncertainty, or None.
    estimand : Estimand or None
        The estimand, if it depends on the records; None means that of the method.
    details : mapping of str to float
        Further numbers that belong to the method, such as "rho_threshold".
    words : Words or None
        Title and sources, if they depend on the records; None means those of the method.
    """

    estimate: float
    _: KW_ONLY
    remarks: tuple[str, ...] = ()
    degenerate: str | None = None
    estimand: Estimand | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    words: Words | None = None

    def common_fields(self) -> dict[str, Any]:
        """Return what an outcome of any kind has, by the names of the fields."""
        return {entry.name: getattr(self, entry.name) for entry in fields(PointOutcome)}

    @staticmethod
    def undefined(reason: str) -> PointOutcome:
        """Return an outcome without numbers."""
        return PointOutcome(math.nan, degenerate=reason)


@dataclass(frozen=True)
class Outcome(PointOutcome):
    """The output of an interval method.

    Attributes
    ----------
    estimate : float
        The point the interval is built around, a proportion in [0, 1].
    raw_interval : ConfidenceInterval
        The limits from the formula; they may extend beyond [0, 1].
    remarks, degenerate, estimand, details, words
        As in `PointOutcome`; a zero-width interval without a specific reason gets a general one.
    center : str or None
        Name of `estimate` for the notes under a table: one of `Center`; None if the notes do not mention it.
    standard_error : float or None
        Standard error of the estimate, if the interval of the method is based on one.
    """

    raw_interval: ConfidenceInterval
    _: KW_ONLY
    center: Center | None = None
    standard_error: float | None = None

    @staticmethod
    def undefined(reason: str) -> Outcome:
        """Return an outcome without numbers."""
        return Outcome(math.nan, UNDEFINED_LIMITS, degenerate=reason)


@dataclass(frozen=True)
class TestOutcome(PointOutcome):
    """The output of a test of the difference between two errors.

    Attributes
    ----------
    estimate : float
        Estimated difference, in [-1, 1].
    statistic : float
        Value of the test statistic; it has the sign of `estimate` unless the test has no direction. If it is infinite,
        for losses without variance, or nan, `degenerate` has the reason.
    pvalue : float
        p-value of the hypothesis that the difference is 0, in [0, 1]; 1 if the records cannot contradict it.
    raw_interval : ConfidenceInterval
        Limits for the difference from the formula; infinite on the open side of a one-sided alternative. Test and
        interval may disagree if a method uses different formulas for them.
    remarks, degenerate, estimand, details, words
        As in `PointOutcome`; a zero-width interval without a specific reason gets a general one.
    standard_error : float or None
        Of the estimate, where the method builds its test from one.
    """

    __test__ = False  # the name is not a test for pytest

    statistic: float
    pvalue: float
    raw_interval: ConfidenceInterval
    _: KW_ONLY
    standard_error: float | None = None

    @staticmethod
    def undefined(reason: str) -> TestOutcome:
        """Return an outcome without numbers."""
        return TestOutcome(math.nan, math.nan, math.nan, UNDEFINED_LIMITS, degenerate=reason)


# ---- what is tested, in words ----

#: The null and the alternative hypothesis, by the alternative, where the margin is 0.
NO_MARGIN = {
    "two-sided": ("equal {what}s", "unequal {what}s"),
    "less": ("{what}({a}) >= {what}({b})", "{what}({a}) < {what}({b})"),
    "greater": ("{what}({a}) <= {what}({b})", "{what}({a}) > {what}({b})"),
}
A_MARGIN = {
    "two-sided": ("{what}({a}) - {what}({b}) = {null}", "{what}({a}) - {what}({b}) other than {null}"),
    "less": ("{what}({a}) - {what}({b}) >= {null}", "{what}({a}) - {what}({b}) < {null}"),
    "greater": ("{what}({a}) - {what}({b}) <= {null}", "{what}({a}) - {what}({b}) > {null}"),
    "equivalent": ("|{what}({a}) - {what}({b})| >= {null}", "|{what}({a}) - {what}({b})| < {null}"),
}


def hypotheses_in_words(
    alternative: str, null: float, a: str, b: str, what: str = "error", percent: bool = False
) -> tuple[str, str]:
    """Return the null and the alternative hypothesis, with the names of the two that are compared.

    Examples
    --------
    >>> hypotheses_in_words("less", 0.1, "svm", "tree")
    ('error(svm) - error(tree) >= 0.1', 'error(svm) - error(tree) < 0.1')
    """
    margin = format_limit(null, percent)
    both = (NO_MARGIN if null == 0.0 else A_MARGIN)[alternative]
    null_words, alternative_words = (words.format(null=margin, a=a, b=b, what=what) for words in both)
    return null_words, alternative_words
