"""What methods return, an estimate, an interval or a test with remarks, and the rows of tables made from it."""

from __future__ import annotations

import abc
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.words import (
    InLines,
    counted,
    details_in_words,
    format_difference,
    format_level,
    format_limit,
    format_pvalue,
    format_statistic,
    in_formula,
    metric_words,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


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
        rows = counted(self.n, "test case" if self.new else "held-out row")
        if self.sizes is None:
            return rows
        non_events, events = map(counted, self.sizes, ("non-event", "event"))
        if shares is None or min(shares) > 0.0:
            return f"{rows} with {events} and {non_events}"
        return f"{events if shares[1] > 0.0 else non_events} of {rows}"

    def __str__(self) -> str:
        return self.averaged(None)


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

#: The sign of the null hypothesis and that of the alternative.
_SIGNS = {
    "two-sided": ("=", "other than"),
    "less": (">=", "<"),
    "greater": ("<=", ">"),
    "equivalent": (">=", "<"),
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
    if alternative == "two-sided" and null == 0.0:
        return f"equal {what}s", f"unequal {what}s"
    left, right = f"{what}({a})", f"{what}({b})"
    if null != 0.0:
        left, right = f"{left} - {right}", format_limit(null, percent)
    if alternative == "equivalent":
        left = f"|{left}|"
    of_null, of_alternative = _SIGNS[alternative]
    return f"{left} {of_null} {right}", f"{left} {of_alternative} {right}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Row(InLines, PointOutcome):
    """One row of a table: the result of one method, and what is needed to interpret it.

    A row is the outcome of a method, completed by what the table knows.
    """

    #: Attributes that programs read, in the order of the columns of a frame.
    COLUMNS: ClassVar[tuple[str, ...]]

    method: str
    estimand: Estimand
    n_fits: int
    tested: TestedRows | None = None

    @property
    def title(self) -> str:
        """One line on how it was computed, for a paper; the name of the method if nothing else is known."""
        return self.method if self.words is None else self.words.title

    @property
    def n_test(self) -> int | None:
        """Number of test cases or held-out rows behind it; None if it is from all training rows."""
        return None if self.tested is None else self.tested.n

    @property
    def new_cases(self) -> TestedRows | None:
        """The test cases of the caller, if it is from these alone."""
        tested = self.tested
        return tested if tested is not None and tested.new and not tested.pooled else None

    def lines(self) -> list[str]:
        """Return the row as lines of text; the first has the main numbers."""
        basis = f"estimand {self.estimand}; {counted(self.n_fits, 'fit')}"
        return [self.in_words(), *filter(None, (basis, self.all_remarks()))]

    @abc.abstractmethod
    def in_words(self, percent: bool = False) -> str:
        """Return the numbers in words, proportions in percent if asked."""

    @classmethod
    def of(cls, outcome: PointOutcome, **fields: Any) -> Self:
        """Return the outcome as a row; `fields` supplies missing fields and replaces existing ones."""
        return cls(**{**vars(outcome), **fields})

    def to_record(self) -> dict[str, Any]:
        """Return one unrounded value for each of `COLUMNS`; the reason of a degenerate row ends its remarks."""
        record = {name: getattr(self, name) for name in self.COLUMNS}
        reason = (self.degenerate,) if self.degenerate else ()
        return record | {
            "estimand": str(self.estimand),
            "degenerate": self.degenerate is not None,
            "remarks": "; ".join((*self.remarks, *reason)),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return this row with the columns that a table of such rows has."""
        return frame_of([self], self.COLUMNS)

    @property
    def is_proportion(self) -> bool:
        """Whether the estimand is in [0, 1], or is a difference of two such numbers."""
        return True

    @property
    def why_degenerate(self) -> str:
        """Why it is degenerate or undefined, in words; empty if it is neither."""
        reason = self.degenerate or ""
        if not reason or reason.startswith("undefined"):
            return reason
        return f"degenerate: {reason}"

    def all_remarks(self, percent: bool = False) -> str:
        """Return remarks for readers: events, a few numbers of the method's own, and why the row is degenerate."""
        learners = {name: getattr(self, name, name) for name in ("a", "b")}
        details = details_in_words(self.details, learners, percent and self.is_proportion)
        return "; ".join(filter(None, (*self.remarks, details, self.degenerate and self.why_degenerate)))


class WithInterval(abc.ABC):
    """A result with an interval, whose limits have names."""

    @property
    @abc.abstractmethod
    def confidence_interval(self) -> ConfidenceInterval:
        """The limits, within the values that are possible."""

    @property
    def low(self) -> float:
        """Lower limit."""
        return self.confidence_interval.low

    @property
    def high(self) -> float:
        """Upper limit."""
        return self.confidence_interval.high


class _RowWithInterval(Row, WithInterval):
    """A row with an interval, whose clipped and raw limits are columns."""

    lowest: float = -1.0
    highest: float = 1.0
    raw_interval: ConfidenceInterval
    confidence_level: float
    alternative: str

    @property
    def interval_level(self) -> float:
        """Nominal level of the interval; for "equivalent" that at which it agrees with both one-sided tests."""
        twice = round(2.0 * self.confidence_level - 1.0, 12)
        return twice if self.alternative == "equivalent" else self.confidence_level

    def _limits(self, write: Callable[[float], str], interval: ConfidenceInterval | None = None) -> str:
        """Return the level and the limits in words; `interval` replaces the interval of the row."""
        low, high = map(write, interval or self.confidence_interval)
        limits = {"less": f"limit: at most {high}", "greater": f"limit: at least {low}"}
        level = format_level(self.interval_level)
        if any(map(math.isnan, interval or self.confidence_interval)):
            return f"no {level} confidence {'limit' if self.alternative in limits else 'interval'}"
        return f"{level} confidence {limits.get(self.alternative, f'interval {low} to {high}')}"

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """The limits clipped to the values that are possible: [0, 1], or [-1, 1] for a difference."""
        return self.raw_interval.clipped(self.lowest, self.highest)

    @property
    def width(self) -> float:
        """``high - low``."""
        return self.high - self.low

    @property
    def raw_low(self) -> float:
        """Lower limit as the formula gives it."""
        return self.raw_interval.low

    @property
    def raw_high(self) -> float:
        """Upper limit as the formula gives it."""
        return self.raw_interval.high


@dataclass(frozen=True, kw_only=True, repr=False)
class IntervalEstimate(_RowWithInterval, Outcome):
    """One row of the table: an interval by one method, and what is needed to interpret it.

    Attributes
    ----------
    method : str
        Name of the method.
    estimate, raw_interval, remarks, degenerate, details, words, center, standard_error
        As in `cudbound.basis.results.Outcome`.
    estimand : Estimand
        The quantity that the interval is for; prints as in the glossary ("conditional", ...).
    confidence_level : float
        Nominal level.
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        "less": an upper limit only; "greater": a lower one.
    metric : str, default="error"
        The metric.
    lowest, highest : float, default=0.0 and 1.0
        The smallest and the largest possible value: from 0 to 1, or to the largest cost.
    n_fits : int
        Classifier fits that the method used; a fit shared with another method counts for both.
    tested : TestedRows or None, default=None
        The test cases or held-out rows of a method that tests one classifier; ``n_test`` is their number.
    """

    confidence_level: float
    alternative: str = "two-sided"
    metric: str = "error"
    lowest: float = 0.0
    highest: float = 1.0

    COLUMNS: ClassVar = (
        *("method", "metric", "estimate", "low", "high", "width", "raw_low", "raw_high", "confidence_level"),
        *("alternative", "estimand", "n_fits", "n_test", "degenerate", "remarks"),
    )

    @property
    def is_proportion(self) -> bool:
        """Whether the metric lies in [0, 1]; costs, net benefits and ratios have other units."""
        return (self.lowest, self.highest) == (0.0, 1.0)

    def in_words(self, percent: bool = False) -> str:
        """Return the numbers in words, proportions in percent if asked; costs and ratios keep their units."""
        write = partial(format_difference, percent=percent and self.is_proportion)
        estimate, limits = write(self.estimate), self._limits(write)
        return f"{self.method}: the {metric_words([self.metric])} is estimated at {estimate} ({limits})"


@dataclass(frozen=True, kw_only=True, repr=False)
class ComparisonResult(_RowWithInterval, TestOutcome):
    """The difference error(a) - error(b) of two errors, or AUC(a) - AUC(b), by one method: test and interval.

    Attributes
    ----------
    a, b, method : str
        Names of the two, by default "a" and "b", and of the method.
    estimate, statistic, pvalue, raw_interval, remarks, degenerate, details, words, standard_error
        As in `cudbound.basis.results.TestOutcome`.
    estimand : Estimand
        The errors that are compared; prints as in the glossary ("expected(n1=45)", "holdout-model", ...).
    confidence_level : float
        Nominal level of the interval.
    alternative : {"two-sided", "less", "greater", "equivalent"}
        "less": error(a) - error(b) < null, with an upper limit only; "greater": error(a) - error(b) > null, with a
        lower one; "equivalent": between -null and null.
    null : float, default=0.0
        The margin.
    metric : {"error", "auc"}, default="error"
        The metric.
    n_fits : int
        Number of classifier fits behind the recorded losses, for both; 0 if all losses are those of given classifiers
        on new test cases.
    adjusted_pvalue, simultaneous_interval : float, ConfidenceInterval or None
        The p-value adjusted for the number of pairs (Holm), and clipped limits for all pairs together (Bonferroni).
    tested : TestedRows or None, default=None
        As in `IntervalEstimate`.
    """

    confidence_level: float
    alternative: str
    null: float = 0.0
    metric: str = "error"
    a: str = "a"
    b: str = "b"
    adjusted_pvalue: float | None = None
    simultaneous_interval: ConfidenceInterval | None = None

    COLUMNS: ClassVar = (
        *("a", "b", "method", "metric", "estimate", "low", "high", "raw_low", "raw_high", "confidence_level"),
        *("statistic", "pvalue", "alternative", "null", "estimand"),
        *("n_fits", "n_test", "degenerate", "remarks"),
    )

    def to_record(self) -> dict[str, Any]:
        """Return the columns of a frame, unrounded, with adjusted ones for several pairs."""
        if self.simultaneous_interval is None:
            return super().to_record()
        limits = {f"simultaneous_{end}": at for end, at in self.simultaneous_interval._asdict().items()}
        pair = {"a": self.a, "b": self.b, "adjusted_pvalue": self.adjusted_pvalue}
        return pair | limits | super().to_record()

    @property
    def difference(self) -> str:
        """The estimated difference, with the names of the two."""
        what = in_formula(self.metric)
        return f"{what}({self.a}) - {what}({self.b})"

    def in_words(self, percent: bool = False) -> str:
        """Return the numbers in words, with simultaneous limits for several pairs."""
        write = partial(format_difference, percent=percent)
        limits = self._limits(write, self.simultaneous_interval)
        what, pvalue = in_formula(self.metric), format_pvalue(self.pvalue)
        against, _ = hypotheses_in_words(self.alternative, self.null, self.a, self.b, what, percent)
        if self.adjusted_pvalue is not None:
            limits = f"simultaneous {limits}"
            pvalue = f"{pvalue}, adjusted {format_pvalue(self.adjusted_pvalue)},"
        return (
            f"{self.method}: {self.difference} = {write(self.estimate)} ({limits}; "
            f"statistic {format_statistic(self.statistic)}, p-value {pvalue} against {against})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class PointEstimate(Row):
    """One row of the table of point estimates, and what is needed to interpret it.

    Attributes
    ----------
    method : str
        Name of the estimator.
    estimate, remarks, degenerate, details, words
        As in `cudbound.basis.results.PointOutcome`; the estimate is a proportion in [0, 1], or a difference of two
        errors in [-1, 1].
    estimand : Estimand
        The quantity that it estimates.
    n_fits : int
        Number of classifier fits, including the one on the whole training set; a fit shared with another estimator
        counts for both.
    tested : TestedRows or None, default=None
        As in `IntervalEstimate`.
    """

    COLUMNS: ClassVar = ("method", "estimate", "estimand", "n_fits", "n_test", "degenerate", "remarks")

    def in_words(self, percent: bool = False) -> str:
        """Return the number in words, in percent if asked."""
        return f"{self.method} estimates {format_difference(self.estimate, percent=percent)}"


#: The class of the rows of one table.
OneRow = TypeVar("OneRow", IntervalEstimate, ComparisonResult, PointEstimate)


class Drawable(Protocol):
    """The protocol of displays, for results that cannot import them."""

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on a new figure for None."""
        ...


OneDisplay = TypeVar("OneDisplay", bound=Drawable)


class Pictured(abc.ABC, Generic[OneDisplay]):
    """A result with a plot."""

    @abc.abstractmethod
    def display(self) -> OneDisplay:
        """Return the picture before it is drawn, for ``save(path)`` alone."""

    def plot(self, ax: Axes | None = None) -> OneDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default=None
            None makes a new figure.

        Returns
        -------
        Display
            Drawn, with ``ax_``, ``figure_`` and ``save(path)``.

        Raises
        ------
        ImportError
            If matplotlib is not installed, with the way to get it.
        """
        return self.display().plot(ax)


def frame_of(rows: Iterable[Any], columns: tuple[str, ...]) -> pd.DataFrame:
    """Return one unrounded row for each of `rows` of results; `columns` are those of a frame without rows."""
    import pandas as pd

    records = [row.to_record() for row in rows]
    frame = pd.DataFrame(records, columns=list(records[0] if records else columns))
    if "n_test" in frame:
        # a row from all training rows has none, which must not make floats of the others
        frame["n_test"] = pd.Series([record["n_test"] for record in records], dtype=object)
    return frame
