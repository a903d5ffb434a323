"""Result classes used throughout the package: frozen dataclasses with a readable representation."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

from cudbound.basis import outcomes, rounding
from cudbound.basis.metric_words import NO_LEARNERS, details_in_words, in_formula, metric_words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Row(rounding.InLines):
    """One row of a table: the result of one method, and what is needed to interpret it.

    A row is the outcome of a method, completed by what the table knows.
    """

    #: Attributes that programs read, in the order of the columns of a frame.
    COLUMNS: ClassVar[tuple[str, ...]]

    method: str
    estimand: outcomes.Estimand | None
    n_fits: int
    remarks: tuple[str, ...]
    degenerate: str | None
    details: Mapping[str, float]
    tested: outcomes.TestedRows | None
    words: outcomes.Words | None

    @property
    def title(self) -> str:
        """One line on how it was computed, for a paper; the name of the method if nothing else is known."""
        return self.method if self.words is None else self.words.title

    @property
    def n_test(self) -> int | None:
        """Number of test cases or held-out rows behind it; None if it is from all training rows."""
        return None if self.tested is None else self.tested.n

    @property
    def new_cases(self) -> outcomes.TestedRows | None:
        """The test cases of the caller, if it is from these alone."""
        tested = self.tested
        return tested if tested is not None and tested.new and not tested.pooled else None

    def lines(self) -> list[str]:
        """Return the row as lines of text; the first has the main numbers."""
        fits = f"{self.n_fits} fit{'' if self.n_fits == 1 else 's'}"
        return [self.in_words(), *filter(None, (f"estimand {self.estimand}; {fits}", self.all_remarks()))]

    @abc.abstractmethod
    def in_words(self, percent: bool = False) -> str:
        """Return the numbers in words, proportions in percent if asked."""

    @classmethod
    def of(cls, outcome: outcomes.PointOutcome, **fields: Any) -> Self:
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

    @property
    def _learners(self) -> Mapping[str, str]:
        """The names of "a" and "b" in `details`."""
        return NO_LEARNERS

    def all_remarks(self, percent: bool = False) -> str:
        """Return remarks for readers: events, a few numbers of the method's own, and why the row is degenerate."""
        details = details_in_words(self.details, self._learners, percent and self.is_proportion)
        return "; ".join(filter(None, (*self.remarks, details, self.why_degenerate)))


class WithInterval(abc.ABC):
    """A result with an interval, whose limits have names."""

    @property
    @abc.abstractmethod
    def confidence_interval(self) -> outcomes.ConfidenceInterval:
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
    raw_interval: outcomes.ConfidenceInterval
    confidence_level: float
    alternative: str

    @property
    def interval_level(self) -> float:
        """Nominal level of the interval; for "equivalent" that at which it agrees with both one-sided tests."""
        twice = round(2.0 * self.confidence_level - 1.0, 12)
        return twice if self.alternative == "equivalent" else self.confidence_level

    def _limits(
        self, write: Callable[[float], str], interval: outcomes.ConfidenceInterval | None = None
    ) -> str:
        """Return the level and the limits in words; `interval` replaces the interval of the row."""
        low, high = map(write, interval or self.confidence_interval)
        limits = {"less": f"limit: at most {high}", "greater": f"limit: at least {low}"}
        level = rounding.format_level(self.interval_level)
        if any(map(math.isnan, interval or self.confidence_interval)):
            return f"no {level} confidence {'limit' if self.alternative in limits else 'interval'}"
        return f"{level} confidence {limits.get(self.alternative, f'interval {low} to {high}')}"

    @property
    def confidence_interval(self) -> outcomes.ConfidenceInterval:
        """The limits clipped to the values that are possible: [0, 1], or [-1, 1] for a difference."""
        return self.raw_interval.clipped(self.lowest, self.highest)

    @property
    def width(self) -> float:
        """``high - low``."""
        return self.confidence_interval.width

    @property
    def raw_low(self) -> float:
        """Lower limit as the formula gives it."""
        return self.raw_interval.low

    @property
    def raw_high(self) -> float:
        """Upper limit as the formula gives it."""
        return self.raw_interval.high


@dataclass(frozen=True, kw_only=True, repr=False)
class IntervalEstimate(_RowWithInterval, outcomes.Outcome):
    """One row of the table: an interval by one method, and what is needed to interpret it.

    Attributes
    ----------
    method : str
        Name of the method.
    estimate, raw_interval, remarks, degenerate, details, words, center, standard_error
        As in `cudbound.basis.outcomes.Outcome`.
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

    method: str
    estimand: outcomes.Estimand
    confidence_level: float
    n_fits: int
    alternative: str = "two-sided"
    metric: str = "error"
    lowest: float = 0.0
    highest: float = 1.0
    tested: outcomes.TestedRows | None = None

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
        write = partial(rounding.format_difference, percent=percent and self.is_proportion)
        estimate, limits = write(self.estimate), self._limits(write)
        return f"{self.method}: the {metric_words([self.metric])} is estimated at {estimate} ({limits})"


@dataclass(frozen=True, kw_only=True, repr=False)
class ComparisonResult(_RowWithInterval, outcomes.TestOutcome):
    """The difference error(a) - error(b) of two errors, or AUC(a) - AUC(b), by one method: test and interval.

    Attributes
    ----------
    a, b, method : str
        Names of the two, by default "a" and "b", and of the method.
    estimate, statistic, pvalue, raw_interval, remarks, degenerate, details, words, standard_error
        As in `cudbound.basis.outcomes.TestOutcome`.
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

    method: str
    estimand: outcomes.Estimand
    confidence_level: float
    alternative: str
    n_fits: int
    null: float = 0.0
    metric: str = "error"
    a: str = "a"
    b: str = "b"
    adjusted_pvalue: float | None = None
    simultaneous_interval: outcomes.ConfidenceInterval | None = None
    tested: outcomes.TestedRows | None = None

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
    def _learners(self) -> Mapping[str, str]:
        return {"a": self.a, "b": self.b}

    @property
    def difference(self) -> str:
        """The estimated difference, with the names of the two."""
        what = in_formula(self.metric)
        return f"{what}({self.a}) - {what}({self.b})"

    def in_words(self, percent: bool = False) -> str:
        """Return the numbers in words, with simultaneous limits for several pairs."""
        write = partial(rounding.format_difference, percent=percent)
        limits = self._limits(write, self.simultaneous_interval)
        what, pvalue = in_formula(self.metric), rounding.format_pvalue(self.pvalue)
        against, _ = outcomes.hypotheses_in_words(self.alternative, self.null, self.a, self.b, what, percent)
        if self.adjusted_pvalue is not None:
            limits = f"simultaneous {limits}"
            pvalue = f"{pvalue}, adjusted {rounding.format_pvalue(self.adjusted_pvalue)},"
        return (
            f"{self.method}: {self.difference} = {write(self.estimate)} ({limits}; "
            f"statistic {rounding.format_statistic(self.statistic)}, p-value {pvalue} against {against})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class PointEstimate(Row, outcomes.PointOutcome):
    """One row of the table of point estimates, and what is needed to interpret it.

    Attributes
    ----------
    method : str
        Name of the estimator.
    estimate, remarks, degenerate, details, words
        As in `cudbound.basis.outcomes.PointOutcome`; the estimate is a proportion in [0, 1], or a difference of two
        errors in [-1, 1].
    estimand : Estimand
        The quantity that it estimates.
    n_fits : int
        Number of classifier fits, including the one on the whole training set; a fit shared with another estimator
        counts for both.
    tested : TestedRows or None, default=None
        As in `IntervalEstimate`.
    """

    method: str
    estimand: outcomes.Estimand
    n_fits: int
    tested: outcomes.TestedRows | None = None

    COLUMNS: ClassVar = ("method", "estimate", "estimand", "n_fits", "n_test", "degenerate", "remarks")

    def in_words(self, percent: bool = False) -> str:
        """Return the number in words, in percent if asked."""
        return f"{self.method} estimates {rounding.format_difference(self.estimate, percent=percent)}"


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
