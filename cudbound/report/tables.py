"""What a written table is: columns, unrounded rows, title and notes. No rounding here."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cudbound.results import ComparisonResult, IntervalEstimate
from cudbound.rounding import Kind, format_level

if TYPE_CHECKING:
    import pandas as pd

#: Columns of text that a cell of remarks may fill before it is wrapped, so that a line stays near 120.
REMARKS_WIDTH = 40


@dataclass(frozen=True)
class Run(abc.ABC):
    """Where a table comes from. Every text in it may be untrusted and is escaped when it is rendered.

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
    """

    source: str
    n_samples: int
    n_events: int
    n_non_events: int
    event: str
    features: tuple[str, ...]

    def notes(self) -> list[str]:
        """Return what the notes under a table say of the run."""
        plural = "" if len(self.features) == 1 else "s"
        data = (
            f"Data: {self.source}, n = {self.n_samples}: {self.n_events} events ({self.event}) and "
            f"{self.n_non_events} non-events; {len(self.features)} feature{plural}."
        )
        return [data, *self._settings()]

    @abc.abstractmethod
    def _settings(self) -> list[str]:
        """Return what was fitted and how it was resampled, in sentences."""


@dataclass(frozen=True)
class RunDescription(Run):
    """Where a table of intervals comes from.

    Attributes
    ----------
    source, n_samples, n_events, n_non_events, event, features
        As in `Run`.
    n_resamples : int
        Bootstrap draws.
    localization : str or float
        Localization rate of the CUD bound as it was asked for.
    seed : int
        Seed of the resampling; with the same data and version it repeats the table.
    classifier : str or None, default None
        The classifier, its options or its file, in words; None says nothing of it.
    choices : str or None, default None
        Further settings that differ from their defaults, in words; None says nothing of them.
    """

    n_resamples: int
    localization: str | float
    seed: int
    classifier: str | None = None
    choices: str | None = None

    def _settings(self) -> list[str]:
        return [
            *([] if self.classifier is None else [f"Classifier: {self.classifier}."]),
            f"Run: {self.n_resamples} resamples, localization = {self.localization}, seed {self.seed}.",
            *([] if self.choices is None else [f"Choices: {self.choices}"]),
        ]


@dataclass(frozen=True)
class ComparisonRun(Run):
    """Where a table of comparisons comes from.

    Attributes
    ----------
    source, n_samples, n_events, n_non_events, event, features
        As in `Run`.
    learner_a, learner_b : str
        The two classifiers or learning algorithms in words.
    seed : int
        Seed of the splits; with the same data and version it repeats the table.
    choices : str or None, default None
        As in `RunDescription`.
    """

    learner_a: str
    learner_b: str
    seed: int
    choices: str | None = None

    def _settings(self) -> list[str]:
        return [
            f"a: {self.learner_a}.",
            f"b: {self.learner_b}.",
            f"Run: seed {self.seed}.",
            *([] if self.choices is None else [f"Choices: {self.choices}"]),
        ]


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


_METHOD = Column("method", "method", "text")
_LEVEL = Column("confidence_level", "level", "level")
#: The columns of intervals and comparisons after their numbers.
LAST = (
    Column("estimand", "estimand", "text"),
    Column("n_fits", "fits", "count"),
    Column("remarks", "remarks", "text", REMARKS_WIDTH),
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


def rows_report(
    name: str,
    title: str,
    notes: Iterable[str],
    columns: Iterable[Column],
    rows: Sequence[Row],
    to_frame: Callable[[], pd.DataFrame],
    run: Run | None,
) -> Report:
    """Return intervals or comparisons as a table: the notes between those on run and level, the columns before `LAST`.

    The level has a column only where the rows differ in it. Notes that are empty are left out.
    """
    levels = sorted({row.confidence_level for row in rows})
    named = f" {', '.join(map(format_level, levels))}" if levels else ""
    level_note = f"Nominal level{named}; no finite-sample guarantee."
    return Report(
        name,
        title,
        (*([] if run is None else run.notes()), *filter(None, notes), level_note),
        (_METHOD, *([_LEVEL] if len(levels) > 1 else []), *columns, *LAST),
        # readers want to know more of what happened than programs
        tuple(row.to_record() | {"remarks": row.all_remarks} for row in rows),
        to_frame,
        run,
        tuple(row.details for row in rows),
    )


def with_confidence(rows: Iterable[IntervalEstimate | ComparisonResult]) -> str:
    """Return "95% confidence" where all rows share the level, else "confidence", for a title."""
    levels = {row.interval_level for row in rows}
    return f"{format_level(levels.pop())} confidence" if len(levels) == 1 else "confidence"
