"""What a reader of an interval table sees: columns, unrounded rows, title and notes. No rounding here."""

from __future__ import annotations

from dataclasses import dataclass

from cudbound.report.style import Kind, format_level
from cudbound.results import IntervalEstimate, IntervalTable

CUD = "cud"
#: Methods whose interval is built around the .632 bootstrap estimate of the error.
AROUND_632 = frozenset(
    {
        "bootstrap-percentile",
        "bootstrap-bias-corrected",
        "kohavi-normal",
        "yang-cv-normal",
        "martin-beta",
        "langford-binomial",
    }
)


@dataclass(frozen=True)
class RunDescription:
    """Where a table comes from. Every text in it may be a stranger's and is escaped when it is rendered.

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
        Localisation rate of the CUD bound as it was asked for.
    seed : int
        Seed of the resampling; with the same data and version it repeats the table.
    classifier : str or None, default None
        The classifier, its options or its file, in words; None says nothing of it.
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


@dataclass(frozen=True)
class Column:
    """One column: key into a row of `reader_rows`, heading, and the kind that decides how it is written."""

    key: str
    heading: str
    kind: Kind


_LEVEL = Column("confidence_level", "level", "level")
_COLUMNS = (
    Column("method", "method", "text"),
    Column("estimate", "estimate", "proportion"),
    Column("low", "low", "proportion"),
    Column("high", "high", "proportion"),
    Column("width", "width", "proportion"),
    Column("estimand", "estimand", "text"),
    Column("n_fits", "fits", "count"),
    Column("remarks", "remarks", "text"),
)


def reader_columns(table: IntervalTable) -> tuple[Column, ...]:
    """Return the columns; the level has one only where the rows differ in it, else the title names it."""
    if len(_levels(table)) > 1:
        return (*_COLUMNS[:1], _LEVEL, *_COLUMNS[1:])
    return _COLUMNS


def reader_rows(table: IntervalTable) -> list[dict[str, str | float]]:
    """Return one unrounded row a method, limits clipped to [0, 1], with every key of `reader_columns`."""
    return [
        {
            "method": row.method,
            "confidence_level": row.confidence_level,
            "estimate": row.estimate,
            "low": row.confidence_interval.low,
            "high": row.confidence_interval.high,
            "width": row.confidence_interval.width,
            "estimand": row.estimand,
            "n_fits": row.n_fits,
            "remarks": _remarks(row),
        }
        for row in table.rows
    ]


def title(table: IntervalTable) -> str:
    """Return what the table shows, with the nominal level where all rows share it."""
    levels = _levels(table)
    level = f"{format_level(levels[0])} confidence" if len(levels) == 1 else "Confidence"
    of = "the error of this fitted classifier" if _all_conditional(table) else "the error of a classifier"
    return f"{level} intervals for {of}"


def notes(table: IntervalTable, run: RunDescription | None) -> list[str]:
    """Return what must stand under every such table: data, scale, what is covered, what is not promised."""
    methods = {row.method for row in table.rows}
    said = [] if run is None else _run_notes(run)
    said.append("Scale: proportions in [0, 1], limits clipped to it; width = high - low.")
    if _all_conditional(table):
        said.append(
            'Estimand "conditional": the error that the classifier fitted to these data makes on new cases '
            "from the same population."
        )
    said.append("Internal intervals, from the training data alone; no external validation.")
    centres = []
    if CUD in methods:
        centres.append("CUD is centred at the training error")
    if AROUND_632 & methods:
        centres.append("the others at the .632 estimate" if centres else "Centred at the .632 estimate")
    if centres:
        said.append(f"{', '.join(centres)}.")
    levels = ", ".join(format_level(level) for level in _levels(table))
    said.append(f"Nominal level{f' {levels}' if levels else ''}; no finite-sample guarantee.")
    return said


def _run_notes(run: RunDescription) -> list[str]:
    plural = "" if len(run.features) == 1 else "s"
    classifier = [] if run.classifier is None else [f"Classifier: {run.classifier}."]
    return [
        f"Data: {run.source}, n = {run.n_samples}: {run.n_events} events ({run.event}) and "
        f"{run.n_non_events} non-events; {len(run.features)} feature{plural}.",
        *classifier,
        f"Run: {run.n_resamples} resamples, alpha = {run.alpha}, seed {run.seed}.",
    ]


def _remarks(row: IntervalEstimate) -> str:
    degenerate = (f"degenerate: {row.degenerate}",) if row.degenerate else ()
    return "; ".join(row.remarks + degenerate)


def _levels(table: IntervalTable) -> list[float]:
    return sorted({row.confidence_level for row in table.rows})


def _all_conditional(table: IntervalTable) -> bool:
    return all(row.estimand == "conditional" for row in table.rows)
