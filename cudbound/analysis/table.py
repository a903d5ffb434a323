"""Tables of rows of one kind: with look-up by method, as a frame, and as text."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

from cudbound.analysis.instability_and_calibration import (
    Calibration,
    Instability,
    calibration_in,
    instability_of,
    predictions_in,
)
from cudbound.analysis.rows import UNKNOWN_ORIGIN, Analysis
from cudbound.analysis.saved_file import SavedResult, SavedRow
from cudbound.basis import results
from cudbound.basis.exceptions import CudboundWarning, ParameterError, SavedResultError, suggestion
from cudbound.basis.results import ConfidenceInterval
from cudbound.basis.sample import count_rows
from cudbound.basis.words import DETAILS, InLines, printable
from cudbound.intervals import METHODS
from cudbound.intervals.two_center import cases_needed
from cudbound.report import sentences
from cudbound.report.files import write_texts
from cudbound.report.render import Tabular
from cudbound.report.sentences import Description, describe_rows
from cudbound.report.table_columns import by_pair, comparison_report, interval_report, point_report
from cudbound.report.tables import FULL, Report, Run, Style

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.basis.validation import Features
    from cudbound.plotting.forest import ComparisonDisplay, IntervalDisplay


INTERNAL = "Computed from the training data alone, without external validation and without a finite-sample guarantee."
WITH_NEW_CASES = (
    f"Computed from the training data and new cases, {sentences.SAME_POPULATION}, without a finite-sample "
    "guarantee."
)


@dataclass(frozen=True, repr=False)
class Table(Tabular, Generic[results.OneRow]):
    """Results of several methods on the same data, in the requested order.

    Attributes
    ----------
    rows : tuple
        One per method; the table iterates over them, and ``table[name]`` is the row of a method.
    about : Run or None
        The data, the classifier and the resampling, as far as known, for the notes; `run` reads it.
    """

    rows: tuple[results.OneRow, ...]
    about: Run | None = field(default=None, compare=False)

    #: The word for a row in messages.
    KIND: ClassVar[str]
    COLUMNS: ClassVar[tuple[str, ...]]
    #: Makes the report, from rows, `to_frame`, a `Run` and a style.
    REPORT: ClassVar[Callable[..., Report]]

    @property
    def run(self) -> Run | None:
        """The data, the classifier and the resampling, as far as known."""
        return self.about

    def __iter__(self) -> Iterator[results.OneRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def names_of(self, row: results.OneRow) -> tuple[Any, ...]:
        """Return the names that look up a row, the longest last: its method, and the method with the metric."""
        return row.method, (row.method, getattr(row, "metric", None))

    def __contains__(self, names: object) -> bool:
        return any(names in self.names_of(row) for row in self.rows)

    def __getitem__(self, names: str | tuple[str, ...]) -> results.OneRow:
        """Return the row with one of its names, see `names_of`.

        Raises
        ------
        KeyError
            If there is no such row, or more than one.
        """
        rows = [row for row in self.rows if names in self.names_of(row)]
        if len(rows) == 1:
            return rows[0]
        if rows:
            longest = ", ".join(map(repr, self.names_of(rows[0])[-1]))
            raise KeyError(f"{names!r} has {len(rows)} rows: name one, such as table[{longest}]")
        methods = [row.method for row in self.rows]
        differ = len(set(methods)) == len(methods)
        listed = methods if differ else [self.names_of(row)[-1] for row in self.rows]
        hint = suggestion(names, methods)
        raise KeyError(f"no {self.KIND} by {names!r} in this table, which has {listed}.{hint}")

    def describe(self, percent: bool = False) -> Description:
        """Return text for a paper: methods, results, versions and seed, and references in BibTeX.

        Parameters
        ----------
        percent : bool, default=False
            Whether proportions are written in percent.

        Examples
        --------
        >>> from cudbound import from_records
        >>> from cudbound.records import SplitLosses
        >>> row = from_records(SplitLosses([0.2, 0.3, 0.25, 0.15, 0.35], 90, 10), "corrected-resampled-t")
        >>> IntervalTable((row,)).describe().results
        'corrected-resampled-t: the error is estimated at 0.250 (95% confidence interval 0.128 to 0.372).'
        """
        return describe_rows(self.rows, self.run, percent)

    def to_frame(self) -> pd.DataFrame:
        """Return one unrounded row per method, with clipped and raw limits.

        Returns
        -------
        pandas.DataFrame
            Its columns are attributes of the rows; ``degenerate`` is a bool, with the reason at the end of ``remarks``.
        """
        return results.frame_of(self.rows, self.COLUMNS)

    def report(self, run: Run | None = None, style: Style = FULL) -> Report:
        """Return the table with its title and notes."""
        return self.REPORT(self.rows, self.to_frame, run or self.run, style)


@dataclass(frozen=True, repr=False)
class IntervalTable(Table[results.IntervalEstimate], results.Pictured["IntervalDisplay"]):
    """Intervals by several methods on the same data, in the requested order.

    Attributes
    ----------
    rows, about
        As in `Table`.
    analysis : Analysis or None
        The question, the draws and the records; None if the table was made by hand.
    """

    analysis: Analysis | None = field(default=None, compare=False, repr=False)

    KIND = "interval"
    COLUMNS = results.IntervalEstimate.COLUMNS
    REPORT = staticmethod(interval_report)

    @property
    def run(self) -> Run | None:
        """The data, the classifier and the resampling, as far as known."""
        return self.analysis.run if self.about is None and self.analysis is not None else self.about

    @property
    def estimator(self) -> Any:
        """The fitted classifier: the given one, or the clone that was fitted to the rows; None if unknown."""
        sample = None if self.analysis is None else self.analysis.sample
        return None if sample is None else sample.estimator

    def at(self, confidence_level: float) -> Self:
        """Return the table at another level, from the same draws and refits.

        No classifier is refitted. Only a CUD bound may be searched further, if what was proved does not suffice.

        Parameters
        ----------
        confidence_level : float
            In (0, 1).

        Raises
        ------
        ValueError
            If the level is out of range, or the table was made by hand.

        Examples
        --------
        >>> import numpy as np
        >>> from cudbound import LeastSquaresClassifier, compare_intervals
        >>> X = np.random.default_rng(0).normal(size=(30, 1))
        >>> y = X[:, 0] + np.random.default_rng(1).normal(size=30) > 0
        >>> table = compare_intervals(LeastSquaresClassifier(), X, y, methods="two-center", n_resamples=50, rng=0)
        >>> table.at(0.8)["two-center"].width < table["two-center"].width
        True
        """
        analysis = self._with_data().at(confidence_level)
        return replace(self, rows=analysis.rows(), analysis=analysis)

    @property
    def instability(self) -> Instability | None:
        """How much refits on the bootstrap draws differ in class and risk of a row; None if no method made such refits.

        Risks that no metric needed are those of the same refits, which are then made again when they are first read.
        """
        return None if self.analysis is None else self.analysis.instability

    def instability_for(self, X_new: Features) -> Instability:
        """Return how much refits on the bootstrap draws differ in class and risk of rows that were not in training.

        The classifier is refitted to the same draws; one that draws random numbers gets others.

        Parameters
        ----------
        X_new : array-like, shape (n_new, n_features)
            Rows as the classifier was fitted to; their outcomes need not be known.

        Raises
        ------
        ValueError
            If the result is from a file or a pickle, there are more than two classes, or no refits on bootstrap draws.
        """
        analysis = self._with_data()
        if not count_rows(X_new):
            raise ParameterError("X_new", "at least one row", "0 rows")
        of_rows = instability_of(
            analysis.records, analysis.sample, analysis.run, analysis.question.n_jobs, X_new
        )
        if of_rows is None:
            raise ValueError(
                "Instability needs two classes and a method that refits on bootstrap draws, such as two-center."
            )
        return of_rows

    def _with_data(self) -> Analysis:
        """Return the analysis; raise ValueError if it has no rows of the data."""
        if self.analysis is None or self.analysis.sample is None:
            raise ValueError(
                "This result was made by hand or comes from a pickle, without rows of the data: compute it again."
            )
        return self.analysis

    @property
    def calibration(self) -> Calibration | None:
        """Calibration intercept and slope; None unless a requested metric, such as "brier", needs probabilities."""
        records = None if self.analysis is None else self.analysis.records
        return None if records is None or records.probabilities is None else calibration_in(records)

    @property
    def predictions(self) -> pd.DataFrame | None:
        """The data for plots of the AUC and of risks; None unless a requested metric needs scores.

        One line per training row: ``event``; ``score`` and ``probability`` by the classifier; and, over the draws that
        left the row out, its mean rank among the rows left out, as a share (``rank_out_of_bag``), and its mean
        probability (``probability_out_of_bag``); nan where not recorded.
        """
        records = None if self.analysis is None else self.analysis.records
        return None if records is None or records.event is None else predictions_in(records)

    @property
    def pictured(self) -> pd.DataFrame:
        """The data for the plot: `to_frame`, with the title of each method and whether it is recommended."""
        best = [
            sentences.recommended_row([row for row in self.rows if row.metric == metric])
            for metric in dict.fromkeys(row.metric for row in self.rows)
        ]
        return self.to_frame().assign(
            title=[row.title for row in self.rows],
            recommended=[any(row is quoted for quoted in best) for row in self.rows],
            is_proportion=[row.is_proportion for row in self.rows],
        )

    @property
    def headline(self) -> str:
        """The recommended interval in words for a paper, and the error of always predicting the majority class."""
        return " ".join(sentences.headline(self.rows, self.run))

    @property
    def cautions(self) -> tuple[CudboundWarning, ...]:
        """Reasons for caution; `compare_intervals` also issues them as warnings."""
        run = self.run
        return () if run is None else sentences.cautions(self.rows, run.n_samples, run.cautions)

    def save(self, path: str | Path) -> None:
        """Write a file for checking the table with `cudbound.verify_result` or ``cudbound verify``.

        It contains the numbers, the settings, the versions, the draws as counts, the bounds and witnesses of the CUD
        bound, and a fingerprint of the data, but no row of the data.

        Raises
        ------
        SavedResultError
            If the origin of the table is unknown, or it contains something that a file cannot, such as labels that are
            dates.
        OSError
            If the file cannot be written; an existing file is left unchanged.
        """
        write_texts({Path(path): self.saved.to_text()})

    @property
    def saved(self) -> SavedResult:
        """The content that `save` writes."""
        if self.analysis is None:
            raise SavedResultError(UNKNOWN_ORIGIN)
        return replace(self.analysis.saved, rows=tuple(map(SavedRow.of, self.rows)))

    def display(self) -> IntervalDisplay:
        """Return the plot of the intervals with the share of the rarer class; its `plot` draws it."""
        from cudbound.plotting.forest import IntervalDisplay

        return IntervalDisplay.from_table(self)


class SingleRow(results.WithInterval):
    """The numbers of the only row of a table."""

    @property
    @abc.abstractmethod
    def row(self) -> results.IntervalEstimate | results.ComparisonResult:
        """The row with all its details."""

    @property
    def estimate(self) -> float:
        """The point estimate: a proportion, or error(a) - error(b) of a comparison."""
        return self.row.estimate

    @property
    def confidence_interval(self) -> ConfidenceInterval:
        """The limits, clipped to what is possible; one of them is the end of the range for a one-sided interval."""
        return self.row.confidence_interval


class PerformanceInterval(InLines, SingleRow, IntervalTable):
    """One confidence interval for the error, or another metric, of a classifier: a table of one row, in words.

    Attributes
    ----------
    rows, about, analysis
        As in `IntervalTable`, with a single row.
    """

    @property
    def row(self) -> results.IntervalEstimate:
        """The interval with all its details."""
        return self.rows[0]

    @property
    def n_samples(self) -> int:
        """Rows of the training set."""
        assert self.run is not None
        return self.run.n_samples

    @property
    def details(self) -> Mapping[str, float]:
        """Numbers behind the interval: for "two-center", the estimates that its limits are around."""
        return self.row.details

    def new_cases_for(self, half_width: float) -> int:
        """Return how many new cases "pooled" needs to have this half-width.

        They are expected to have the estimate of this interval, and the same share of events.

        Parameters
        ----------
        half_width : float
            In [0.0001, 0.5).

        Raises
        ------
        ValueError
            If the interval is not a two-sided one by "two-center" or "pooled", or for a metric made from others.
        """
        return cases_needed(self.row, self.n_samples, half_width)

    @property
    def sentence(self) -> str:
        """What can be written into a paper; `describe` has it in percent as well."""
        return sentences.interval_sentence(self.row, self.n_samples)

    @property
    def basis(self) -> tuple[str, ...]:
        """Benchmarks, the basis of the interval, remarks from its computation, and what is not guaranteed."""
        row = self.row
        numbers = ", ".join(
            f"{DETAILS[name]} {value:.3f}" for name, value in row.details.items() if name in DETAILS
        )
        source = WITH_NEW_CASES if row.tested is not None and row.tested.pooled else INTERNAL
        terms = "" if row.metric in ("error", "auc", "brier") else ", in terms of the mean loss behind it"
        return (
            *sentences.majority_sentence(row, self.run),
            *map(str, self.cautions),
            *((f"Based on{terms}: {numbers}.",) if numbers else ()),
            *(f"{remark[0].upper()}{remark[1:]}." for remark in row.remarks),
            *((f"{row.why_degenerate[0].upper()}{row.why_degenerate[1:]}.",) if row.degenerate else ()),
            *(() if row.method in METHODS and METHODS[row.method].on_test_set else (source,)),
        )

    def describe(self, percent: bool = False) -> Description:
        """Return text for a paper, as `IntervalTable.describe` does, with the sentence of the interval."""
        sentence = sentences.interval_sentence(self.row, self.n_samples, percent)
        return replace(super().describe(percent), results=printable(sentence))

    def lines(self) -> list[str]:
        """Return the sentence and its basis, as which it prints."""
        return [self.sentence, *self.basis]


class ComparisonTable(SingleRow, Table[results.ComparisonResult], results.Pictured["ComparisonDisplay"]):
    """Comparisons of classifiers or learning algorithms, one row per pair and method.

    ``table["mcnemar"]``, ``table["svm", "tree"]`` and ``table["svm", "tree", "mcnemar"]`` are rows, if the names
    identify one.
    """

    KIND = "comparison"
    COLUMNS = results.ComparisonResult.COLUMNS
    REPORT = staticmethod(comparison_report)

    def names_of(self, row: results.ComparisonResult) -> tuple[Any, ...]:
        """Return the names that look up a row: its method, its pair, and both."""
        return row.method, (row.method,), (row.a, row.b), (row.a, row.b, row.method)

    @property
    def row(self) -> results.ComparisonResult:
        """The only comparison, if one pair was compared by one method.

        Raises
        ------
        AttributeError
            If there are more.
        """
        if len(self.rows) != 1:
            raise AttributeError(
                f"This table has {len(self.rows)} comparisons: name one, such as table['mcnemar'] or table['svm', "
                "'tree'], or go through its rows."
            )
        return self.rows[0]

    @property
    def statistic(self) -> float:
        """The test statistic, if there is only one comparison."""
        return self.row.statistic

    @property
    def pvalue(self) -> float:
        """The p-value, if there is only one comparison."""
        return self.row.pvalue

    @property
    def pictured(self) -> pd.DataFrame:
        """The data for the plot: `to_frame`, with the title of each method, or its pair."""
        return self.to_frame().assign(title=[row.title for row in self.rows])

    def display(self) -> ComparisonDisplay:
        """Return the plot of the intervals, with a line at no difference; its `plot` draws it."""
        from cudbound.plotting.forest import ComparisonDisplay

        return ComparisonDisplay.from_table(ComparisonTable(by_pair(self.rows)))


class PointEstimateTable(Table[results.PointEstimate]):
    """Point estimates by several estimators on the same data, in the requested order."""

    KIND = "point estimate"
    COLUMNS = results.PointEstimate.COLUMNS
    REPORT = staticmethod(point_report)
