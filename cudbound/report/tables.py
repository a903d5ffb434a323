"""The content of a table: columns, unrounded rows, title and notes; and its style for readers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from cudbound.basis.exceptions import CudboundWarning, ParameterError
from cudbound.basis.results import ComparisonResult, IntervalEstimate, PointEstimate
from cudbound.basis.words import Kind, counted, format_cell, format_level, grouped, metric_words

if TYPE_CHECKING:
    import pandas as pd


Row = IntervalEstimate | ComparisonResult | PointEstimate
#: The name of the classifier in a table of one.
SINGLE = "Classifier"
#: Of rows with weights.
WEIGHTED = (
    "Rows were weighted: the fit, its refits and all mean losses use the weights; binomial limits use the effective "
    "number of rows."
)


@dataclass(frozen=True)
class Run:
    """The origin of a table. Every text in it may be untrusted and is escaped when rendered.

    Attributes
    ----------
    source : str or None
        Name of the file or data set; None for an array.
    n_samples, n_events, n_non_events : int
        Number of rows, of events, and of non-events.
    event : str
        The event in the user's words, such as ``died = yes``.
    features : tuple of str
        Names of the columns of the design, without the intercept.
    n_resamples : int or None
        Bootstrap draws; None if no method uses any.
    localization : str, float or None
        Localization rate of the CUD bound, as requested; None without a bound.
    seed : int or None
        Seed of the resampling; it reproduces the table with the same data and version. None if a generator was used.
    classifiers : mapping of str to str
        The classifiers or learning algorithms in words, by name; the name of a single one is `SINGLE`.
    procedures : mapping of str to tuple of str
        The steps of every fit, including the classifier, in the words of a methods paragraph, by the same names.
    choices : str or None
        Further settings that differ from their defaults, in words; None omits them.
    preparation : tuple of str
        Preparation of columns and missing values, in sentences.
    weighted_share : float or None
        Weighted share of events; None if all rows count equally.
    cautions : tuple of CudboundWarning
        Cautions from the training rows themselves, see `cudbound.report.sentences`.
    class_sizes : mapping of str to int
        Rows of each class if there are more than two; the event is then the most frequent class.
    """

    source: str | None
    n_samples: int
    n_events: int
    n_non_events: int
    event: str
    features: tuple[str, ...]
    n_resamples: int | None = None
    localization: str | float | None = None
    seed: int | None = None
    classifiers: Mapping[str, str] = field(default_factory=dict)
    procedures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    choices: str | None = None
    preparation: tuple[str, ...] = ()
    weighted_share: float | None = None
    cautions: tuple[CudboundWarning, ...] = field(default=(), compare=False)
    class_sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def classes_in_words(self) -> str:
        """The sizes of the classes."""
        if self.class_sizes:
            return ", ".join(f"{rows} of {name}" for name, rows in self.class_sizes.items())
        return f"{self.n_events} events ({self.event}) and {self.n_non_events} non-events"

    def notes(self) -> list[str]:
        """Return the notes about the data, the classifiers and the resampling."""
        source = "" if self.source is None else f"{self.source}, "
        draws = [] if self.n_resamples is None else [f"{self.n_resamples} resamples"]
        rate = [] if self.localization is None else [f"localization = {self.localization}"]
        return [
            f"Data: {source}n = {self.n_samples}: {self.classes_in_words}; {counted(len(self.features), 'feature')}.",
            *self.of_rows_and_columns,
            *(f"{name}: {words}." for name, words in self.classifiers.items()),
            f"Run: {', '.join([*draws, *rate, in_words(self.seed)])}.",
            *([] if self.choices is None else [f"Choices: {self.choices}"]),
        ]

    @property
    def of_rows_and_columns(self) -> tuple[str, ...]:
        """The preparation, and that rows have weights, in sentences."""
        return self.preparation if self.weighted_share is None else (*self.preparation, WEIGHTED)

    @property
    def base_rate(self) -> float:
        """Error on these data of always predicting the most frequent class, by weight if there are weights."""
        if self.weighted_share is not None:
            of_others = 1.0 - self.weighted_share
            return of_others if self.class_sizes else min(self.weighted_share, of_others)
        rarer = self.n_non_events if self.class_sizes else min(self.n_events, self.n_non_events)
        return rarer / self.n_samples


def in_words(seed: int | None) -> str:
    """Return the seed for the notes."""
    return "no seed" if seed is None else f"seed {seed}"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    key : str
        Key into a row of `Report.rows`.
    heading : str
    kind : str
        Determines the format of values.
    moves : int or None
        If not all columns fit into a line of text, those with the lowest number go below the table first; 0 always goes
        there, None never.
    """

    key: str
    heading: str
    kind: Kind
    moves: int | None = None


METHOD = Column("method", "method", "text")
LEVEL = Column("confidence_level", "level", "level")
#: The last columns of intervals and comparisons.
LAST = (
    Column("estimand", "estimand", "text", moves=1),
    Column("n_fits", "fits", "count", moves=2),
    Column("remarks", "remarks", "text", moves=0),
)


@dataclass(frozen=True)
class Style:
    """The style of a table for readers; programs (CSV, JSON) get unrounded numbers.

    Attributes
    ----------
    style : {"full", "paper"}, default "full"
        "paper": estimates and limits in one column, "0.16 (0.01 to 0.31)", with 2 decimals, or none in percent.
    percent : bool, default False
        Whether proportions are written in percent.

    Raises
    ------
    ParameterError
        If the style is unknown.
    """

    style: str = "full"
    percent: bool = False

    #: The scale of an error, by whether it is written in percent.
    SCALES: ClassVar = {True: "percent, from 0% to 100%", False: "proportions in [0, 1]"}

    def __post_init__(self) -> None:
        if self.style not in ("full", "paper"):
            raise ParameterError("style", "'full' or 'paper'", self.style)

    def cells(self, numbers: Iterable[tuple[str | float, Kind]], is_proportion: bool = True) -> list[str]:
        """Write numbers of a row, each by its kind; numbers that are not proportions are never in percent."""
        percent = self.percent and is_proportion
        decimals = None if self.style == "full" else 0 if percent else 2
        return [format_cell(value, kind, decimals, percent) for value, kind in numbers]

    def limits(self, row: Row) -> str:
        """Write an estimate with its limits or its only limit, if it has any, such as 0.16 (0.01 to 0.31)."""
        if math.isnan(row.estimate):
            return "not available"
        numbers = (row.estimate,) if isinstance(row, PointEstimate) else (row.estimate, row.low, row.high)
        estimate, *ends = self.cells([(number, "difference") for number in numbers], row.is_proportion)
        if isinstance(row, PointEstimate):
            return estimate
        low, high = ends
        if math.isnan(row.low + row.high):
            return f"{estimate} (no limits)"
        limits = {"less": f"at most {high}", "greater": f"at least {low}"}
        return f"{estimate} ({limits.get(row.alternative, f'{low} to {high}')})"


FULL = Style()


@dataclass(frozen=True)
class Report:
    """A table of any kind, with everything that a format needs to write it.

    Attributes
    ----------
    name : str
        The kind of rows, and their field in JSON: "intervals", "comparisons", ...
    title : str
    notes : tuple of str
        Notes under the table, for readers.
    columns : tuple of Column
        For readers.
    rows : tuple of mapping
        For readers, unrounded, with every key of `columns`.
    to_frame : callable
        ``to_frame()``: every column for programs, one row per entry of `rows`.
    run : Run or None
    details : tuple of mapping
        Further numbers of each row, for JSON; empty if no row has any.
    headline : tuple of str
        Sentences to quote, above the title.
    more : mapping of str to mapping
        Further objects of numbers for JSON, by name.
    style : Style
        How proportions are written; rows of costs and ratios have their own units and are never in percent.
    """

    name: str
    title: str
    notes: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, str | float], ...]
    to_frame: Callable[[], pd.DataFrame]
    run: Run | None = None
    details: tuple[Mapping[str, Any], ...] = ()
    headline: tuple[str, ...] = ()
    more: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    style: Style = FULL

    def cells(self) -> list[list[str]]:
        """Return the text of every cell, row by row."""
        write, columns = self.style.cells, self.columns
        return [
            write(
                [(row[column.key], column.kind) for column in columns], bool(row.get("is_proportion", True))
            )
            for row in self.rows
        ]


#: Exact binomial limits: with independent test cases they cover at least at their level, whatever the error is.
GUARANTEED = frozenset({"test-set-clopper-pearson", "test-set-langford"})


def guarantee_of(methods: Iterable[str]) -> str:
    """Return whether one of these methods has a finite-sample guarantee, in words."""
    if GUARANTEED.isdisjoint(methods):
        return "no finite-sample guarantee"
    return "a finite-sample guarantee only for exact limits on independent test cases"


def rows_report(
    name: str,
    title: str,
    notes: Iterable[str],
    columns: Iterable[Column],
    rows: Sequence[Row],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None,
    style: Style,
    *,
    first: Iterable[Column] = (METHOD,),
    headline: tuple[str, ...] = (),
) -> Report:
    """Return rows of methods as a table: `notes` between those on run and level, `columns` before `LAST`.

    The level has a column after the `first` ones if rows differ in it. Empty notes are left out.
    """
    levels = sorted({row.confidence_level for row in rows if not isinstance(row, PointEstimate)})
    written = f" {', '.join(map(format_level, levels))}" if levels else ""
    guarantee = guarantee_of(row.method for row in rows)
    shown = (*first, *([LEVEL] if len(levels) > 1 else []), *columns, *LAST)
    level_note = "" if name == "estimates" else f"Nominal level{written}; {guarantee}."
    return Report(
        name,
        title,
        (*([] if run is None else run.notes()), *filter(None, (*notes, level_note))),
        shown,
        # readers want to know more of what happened than programs
        tuple(
            {column.key: attrgetter(column.key)(row) for column in shown}
            | {"estimand": str(row.estimand), "remarks": row.all_remarks(style.percent)}
            | {"is_proportion": row.is_proportion}
            for row in rows
        ),
        to_frame,
        run,
        tuple(row.details for row in rows),
        headline,
        style=style,
    )


def with_confidence(rows: Iterable[IntervalEstimate | ComparisonResult]) -> str:
    """Return "95% confidence" if all rows share the level, else "confidence", for a title."""
    levels = {row.interval_level for row in rows}
    return f"{format_level(levels.pop())} confidence" if len(levels) == 1 else "confidence"


def methods_in_words(rows: Sequence[Row]) -> str:
    """Return the methods of rows with their titles; one whose metrics are computed in different ways has several."""
    return "; ".join(
        method
        if title == method
        else f"{title} ({method}{f', for {metric_words(metrics)}' * (len(ways) > 1)})"
        for method, ways in _metrics_by(rows, lambda row: row.title)
        for title, metrics in ways.items()
    )


def _metrics_by(
    rows: Iterable[Row], words_of: Callable[[Row], str]
) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield each method with the metrics of its rows, by words on the rows."""
    for method, of_method in grouped((row.method, row) for row in rows).items():
        yield method, grouped((words_of(row), getattr(row, "metric", "error")) for row in of_method)


def _remarks_in_notes(rows: Sequence[Row], percent: bool) -> list[str]:
    """Return the remarks on rows as notes, each once; a metric is named unless the note is on all of the method."""
    return [
        f"{method if len(by_remarks) == 1 else ', '.join(f'{method} / {metric}' for metric in metrics)}: {remarks}."
        for method, by_remarks in _metrics_by(rows, lambda row: row.all_remarks(percent))
        for remarks, metrics in by_remarks.items()
        if remarks
    ]


#: Columns of a table for a paper, apart from the estimates with their limits.
BEFORE, AFTER = ("a", "b", "method", "confidence_level", "metric"), ("pvalue", "adjusted_pvalue")


def for_paper(report: Report, rows: Sequence[Row]) -> Report:
    """Return a table of methods for a paper: estimates and limits are in one column.

    Parameters
    ----------
    report : Report
        The table in full.
    rows : sequence of Row
        The rows behind it.
    """
    style = report.style
    levels = {row.interval_level for row in rows if not isinstance(row, PointEstimate)}
    limits = f" ({format_level(levels.pop())} CI)" if len(levels) == 1 else " (CI)" if levels else ""
    columns = {column.key: column for column in report.columns}
    notes = _remarks_in_notes(rows, style.percent)
    return replace(
        report,
        notes=(*report.notes, *notes),
        columns=(
            *(column for key, column in columns.items() if key in BEFORE),
            Column("numbers", f"{columns['estimate'].heading}{limits}", "text"),
            *(column for key, column in columns.items() if key in AFTER),
        ),
        rows=tuple(
            {**cells, "numbers": style.limits(row)} for cells, row in zip(report.rows, rows, strict=True)
        ),
    )
