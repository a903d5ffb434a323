"""What a written table is: columns, unrounded rows, title and notes. No rounding here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cudbound.results import ComparisonResult, IntervalEstimate
from cudbound.rounding import Kind, format_level

if TYPE_CHECKING:
    import pandas as pd

#: Columns of text that a cell of remarks may fill before it is wrapped, so that a line stays near 120.
REMARKS_WIDTH = 40


@dataclass(frozen=True)
class RunDescription:
    """Where a table of intervals comes from. Every text in it may be untrusted and is escaped when it is rendered.

    Attributes
    ----------
    source : str
        Name of the file or data set.
    n_samples, n_events, n_non_events : int
        Rows, rows of the class called the event, and the others.
    event : str
        The event in the user's words, such as ``died = yes``.
    features : tuple of str
        Names of the columns of the design, without the intercept.
    n_resamples : int
        Bootstrap draws.
    alpha : str or float
        Localization rate of the CUD bound as it was asked for.
    seed : int
        Seed of the resampling; with the same data and version it repeats the table.
    classifier : str or None, default None
        The classifier, its options or its file, in words; None says nothing of it.
    choices : str or None, default None
        Further settings that differ from their defaults, in words; None says nothing of them.
    """

    source: str
    n_samples: int
    n_events: int
    n_non_events: int
    event: str
    features: tuple[str, ...]
    n_resamples: int
    alpha: str | float
    seed: int
    classifier: str | None = None
    choices: str | None = None

    def notes(self) -> list[str]:
        """Return what the notes under a table say of the run."""
        return [
            _data_note(self),
            *([] if self.classifier is None else [f"Classifier: {self.classifier}."]),
            f"Run: {self.n_resamples} resamples, alpha = {self.alpha}, seed {self.seed}.",
            *_choices_note(self),
        ]


@dataclass(frozen=True)
class ComparisonRun:
    """Where a table of comparisons comes from. Every text in it may be untrusted and is escaped when it is rendered.

    Attributes
    ----------
    source, n_samples, n_events, n_non_events, event, features
        As in `RunDescription`.
    learner_a, learner_b : str
        The two classifiers or learning algorithms in words.
    seed : int
        Seed of the splits; with the same data and version it repeats the table.
    choices : str or None, default None
        As in `RunDescription`.
    """

    source: str
    n_samples: int
    n_events: int
    n_non_events: int
    event: str
    features: tuple[str, ...]
    learner_a: str
    learner_b: str
    seed: int
    choices: str | None = None

    def notes(self) -> list[str]:
        """Return what the notes under a table say of the run."""
        return [
            _data_note(self),
            f"a: {self.learner_a}.",
            f"b: {self.learner_b}.",
            f"Run: seed {self.seed}.",
            *_choices_note(self),
        ]


Run = RunDescription | ComparisonRun


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
    """

    key: str
    heading: str
    kind: Kind
    width: int | None = None


REMARKS = Column("remarks", "remarks", "text", REMARKS_WIDTH)
LEVEL = Column("confidence_level", "level", "level")


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
    run : RunDescription, ComparisonRun or None
    details : tuple of mapping
        Further numbers of each row, for JSON; empty if no row has any.
    """

    name: str
    title: str
    notes: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, str | float], ...]
    to_frame: Callable[[], pd.DataFrame]
    run: Run | None = None
    details: tuple[Mapping[str, Any], ...] = ()


Row = IntervalEstimate | ComparisonResult


def reader_records(rows: Iterable[Row]) -> tuple[dict[str, Any], ...]:
    """Return the unrounded values of rows for readers, who want to know more of what happened than programs."""
    return tuple(row.to_record() | {"remarks": row.all_remarks} for row in rows)


def levels_of(rows: Iterable[Row]) -> list[float]:
    """Return the confidence levels that occur, ascending."""
    return sorted({row.confidence_level for row in rows})


def level_note(rows: Iterable[Row]) -> str:
    """Return the note on the nominal level."""
    levels = ", ".join(format_level(level) for level in levels_of(rows))
    return f"Nominal level{f' {levels}' if levels else ''}; no finite-sample guarantee."


def _choices_note(run: Run) -> list[str]:
    return [] if run.choices is None else [f"Choices: {run.choices}"]


def _data_note(run: Run) -> str:
    plural = "" if len(run.features) == 1 else "s"
    return (
        f"Data: {run.source}, n = {run.n_samples}: {run.n_events} events ({run.event}) and "
        f"{run.n_non_events} non-events; {len(run.features)} feature{plural}."
    )
