"""What a written table is: columns, unrounded rows, title and notes. No rounding here."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cudbound.basis.exceptions import CudboundWarning
from cudbound.basis.results import ComparisonResult, IntervalEstimate, PointEstimate
from cudbound.basis.rounding import Kind, format_cell, format_level

if TYPE_CHECKING:
    import pandas as pd

#: Characters of a column of remarks where a format has columns of a fixed width.
REMARKS_WIDTH = 40


@dataclass(frozen=True)
class Run(abc.ABC):
    """Where a table comes from. Every text in it may be untrusted and is escaped when it is rendered.

    Attributes
    ----------
    source : str or None
        Name of the file or data set; None where there is only an array.
    n_samples, n_events, n_non_events : int
        Rows, rows of the class called the event, and the others.
    event : str
        The event in the user's words, such as ``died = yes``.
    features : tuple of str
        Names of the columns of the design, without the intercept.
    preparation : tuple of str, default ()
        What was done to the columns and about missing values, in sentences.
    weighted_share : float or None, default None
        Share of the events by the weights of the rows; None where rows count alike.
    cautions : tuple of CudboundWarning, default ()
        What the training rows themselves speak against, see `cudbound.report.cautions`.
    class_sizes : mapping of str to int, default {}
        Rows of each class where there are more than two; the event is then the most frequent of them.
    """

    source: str | None
    n_samples: int
    n_events: int
    n_non_events: int
    event: str
    features: tuple[str, ...]
    preparation: tuple[str, ...] = field(default=(), kw_only=True)
    weighted_share: float | None = field(default=None, kw_only=True)
    cautions: tuple[CudboundWarning, ...] = field(default=(), kw_only=True, compare=False)
    class_sizes: Mapping[str, int] = field(default_factory=dict, kw_only=True)

    @property
    def classes_in_words(self) -> str:
        """The sizes of the classes."""
        if self.class_sizes:
            return ", ".join(f"{rows} of {name}" for name, rows in self.class_sizes.items())
        return f"{self.n_events} events ({self.event}) and {self.n_non_events} non-events"

    def notes(self) -> list[str]:
        """Return what the notes under a table say of the run."""
        plural = "" if len(self.features) == 1 else "s"
        source = "" if self.source is None else f"{self.source}, "
        data = f"Data: {source}n = {self.n_samples}: {self.classes_in_words}; {len(self.features)} feature{plural}."
        return [data, *self.preparation, *self._settings()]

    @property
    def base_rate(self) -> float:
        """Error on these data of always naming the most frequent class, by weight if there are any."""
        if self.weighted_share is not None:
            of_others = 1.0 - self.weighted_share
            return of_others if self.class_sizes else min(self.weighted_share, of_others)
        rarer = self.n_non_events if self.class_sizes else min(self.n_events, self.n_non_events)
        return rarer / self.n_samples

    @property
    def of_rows(self) -> str:
        """What an error on these data is a share of, in words."""
        by_weight = "" if self.weighted_share is None else ", by their weights"
        return f"of the training rows{by_weight}"

    @abc.abstractmethod
    def _settings(self) -> list[str]:
        """Return what was fitted and how it was resampled, in sentences."""


@dataclass(frozen=True)
class RunDescription(Run):
    """Where a table of intervals comes from.

    Attributes
    ----------
    source, n_samples, n_events, n_non_events, event, features, preparation
        As in `Run`.
    n_resamples : int
        Bootstrap draws.
    localization : str, float or None
        Localization rate of the CUD bound as it was asked for; None where there is none.
    seed : int or None
        Seed of the resampling; with the same data and version it repeats the table. None where a generator was used.
    classifier : str or None, default None
        The classifier, its options or its file, in words; None says nothing of it.
    choices : str or None, default None
        Further settings that differ from their defaults, in words; None says nothing of them.
    procedure : tuple of str, default ()
        What every fit does, in the words of a methods paragraph, the classifier among them.
    """

    n_resamples: int
    localization: str | float | None
    seed: int | None
    classifier: str | None = None
    choices: str | None = None
    procedure: tuple[str, ...] = ()

    def _settings(self) -> list[str]:
        rate = "" if self.localization is None else f"localization = {self.localization}, "
        return [
            *([] if self.classifier is None else [f"Classifier: {self.classifier}."]),
            f"Run: {self.n_resamples} resamples, {rate}{in_words(self.seed)}.",
            *([] if self.choices is None else [f"Choices: {self.choices}"]),
        ]


@dataclass(frozen=True)
class ComparisonRun(Run):
    """Where a table of comparisons comes from.

    Attributes
    ----------
    source, n_samples, n_events, n_non_events, event, features, preparation
        As in `Run`.
    learners : mapping of str to str
        The classifiers or learning algorithms in words, by their names.
    seed : int or None
        Seed of the splits; with the same data and version it repeats the table.
    choices : str or None, default None
        As in `RunDescription`.
    procedures : mapping of str to tuple of str, default={}
        What every fit of each does, as in `RunDescription`, by their names.
    """

    learners: Mapping[str, str]
    seed: int | None
    choices: str | None = None
    procedures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def _settings(self) -> list[str]:
        return [
            *(f"{name}: {learner}." for name, learner in self.learners.items()),
            f"Run: {in_words(self.seed)}.",
            *([] if self.choices is None else [f"Choices: {self.choices}"]),
        ]


def in_words(seed: int | None) -> str:
    """Return the seed for the notes."""
    return "no seed" if seed is None else f"seed {seed}"


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    key : str
        Key into a row of `Report.rows`.
    heading : str
    kind : str
        Decides how a value is written.
    width : int or None
        Characters after which a cell is wrapped where the format has lines of a fixed width.
    decimals : int or None
        Of proportions; None leaves them to the rounding rules.
    percent : bool
        Whether proportions are written in percent.
    moves : int or None
        Where a line of text is too short for all columns, those with the lowest number go below the table first; 0
        always goes there, None never.
    """

    key: str
    heading: str
    kind: Kind
    width: int | None = None
    decimals: int | None = None
    percent: bool = False
    moves: int | None = None


_METHOD = Column("method", "method", "text")
LEVEL = Column("confidence_level", "level", "level")
#: The columns of intervals and comparisons after their numbers.
LAST = (
    Column("estimand", "estimand", "text", moves=1),
    Column("n_fits", "fits", "count", moves=2),
    Column("remarks", "remarks", "text", REMARKS_WIDTH, moves=0),
)


@dataclass(frozen=True)
class Report:
    """One table, whatever it is of: all that a format needs to write it.

    Attributes
    ----------
    name : str
        What the rows are, and the field of the rows in JSON: "intervals", "comparisons", ...
    title : str
    notes : tuple of str
        What must stand under the table for readers.
    columns : tuple of Column
        For readers.
    rows : tuple of mapping
        For readers, unrounded, with every key of `columns`.
    to_frame : callable
        ``to_frame()``: every column for programs, one row for each of `rows`.
    run : Run or None
    details : tuple of mapping
        Further numbers of each row, for JSON; empty if no row has any.
    label : str or None
        Name of the table for references to it.
    headline : tuple of str
        Sentences above the title, to be quoted.
    more : mapping of str to mapping
        Further objects of numbers for JSON, by their names.
    """

    name: str
    title: str
    notes: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, str | float], ...]
    to_frame: Callable[[], pd.DataFrame]
    run: Run | None = None
    details: tuple[Mapping[str, Any], ...] = ()
    label: str | None = None
    headline: tuple[str, ...] = ()
    more: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def cells(self) -> list[list[str]]:
        """Return the text of every cell, row by row."""
        return [
            [
                format_cell(
                    row[column.key], column.kind, column.decimals, column.percent and _in_percent(row)
                )
                for column in self.columns
            ]
            for row in self.rows
        ]


def _in_percent(row: Mapping[str, Any]) -> bool:
    """Whether the numbers of a row may be written in percent: costs and ratios have units of their own."""
    return bool(row.get("is_proportion", True))


Row = IntervalEstimate | ComparisonResult | PointEstimate


def rows_report(
    name: str,
    title: str,
    notes: Iterable[str],
    columns: Iterable[Column],
    rows: Sequence[Row],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None,
) -> Report:
    """Return rows of methods as a table: the notes between those on run and level, the columns before `LAST`.

    The level has a column only where the rows differ in it. Notes that are empty are left out.
    """
    levels = sorted({row.confidence_level for row in rows if not isinstance(row, PointEstimate)})
    named = f" {', '.join(map(format_level, levels))}" if levels else ""
    level_note = "" if name == "estimates" else f"Nominal level{named}; no finite-sample guarantee."
    return Report(
        name,
        title,
        (*([] if run is None else run.notes()), *filter(None, (*notes, level_note))),
        (_METHOD, *([LEVEL] if len(levels) > 1 else []), *columns, *LAST),
        # readers want to know more of what happened than programs
        tuple(
            row.to_record() | {"remarks": row.all_remarks, "is_proportion": row.is_proportion} for row in rows
        ),
        to_frame,
        run,
        tuple(row.details for row in rows),
    )


def with_confidence(rows: Iterable[IntervalEstimate | ComparisonResult]) -> str:
    """Return "95% confidence" where all rows share the level, else "confidence", for a title."""
    levels = {row.interval_level for row in rows}
    return f"{format_level(levels.pop())} confidence" if len(levels) == 1 else "confidence"
