"""Write the report of a study: one self-contained page, or its tables in CSV."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.rounding import format_level
from cudbound.plotting.coverage import CoverageByScenarioDisplay, CoverageWidthDisplay, KurtosisDisplay
from cudbound.plotting.nested_loop import NestedLoopDisplay
from cudbound.report.csv_text import csv_text
from cudbound.report.files import write_texts
from cudbound.report.pages import page
from cudbound.report.tables import Report, guarantee_of
from cudbound.study.design.identity import cells_of
from cudbound.study.measure.cell_table import RULE
from cudbound.study.measure.scoring import CELL
from cudbound.study.measure.summary import Summary, summarize_store
from cudbound.study.report.report_tables import (
    aggregates_report,
    cell_reports,
    differences_report,
    estimands_in_words,
    samples_report,
    shortest_report,
)
from cudbound.study.run.store import Store

FORMATS = ("html", "csv")
#: Cells whose first failure is reported.
MAX_FAILURES = 5
#: Cells per plot by scenario, to fit on a page.
CELLS_PER_PLOT = 12
#: With more cells than this, plots by scenario would only repeat the tables on many pages.
MAX_PLOTTED_CELLS = 120


@dataclass(frozen=True)
class Section:
    """A section of a report: a heading with sentences, tables and plots.

    Attributes
    ----------
    title : str
    sentences : tuple of str
    tables : tuple of Report
    plots : tuple of (str, str)
        Caption, and an SVG element.
    """

    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Report, ...] = ()
    plots: tuple[tuple[str, str], ...] = ()


def write_report(
    store_path: str | os.PathLike[str], output: str | os.PathLike[str], format: str = "html"
) -> tuple[Path, ...]:
    """Write the report of a study.

    The page has, in this order: which methods kept their level, where and at what width; what was run; every method in
    every cell; paired differences from the CUD bound or else the first method; the shortest
    interval that keeps its level in each cell; plots; rules and conventions. Click on a heading to sort by its column.
    Texts of the study, which may be untrusted, are escaped. In CSV, texts are quoted, and those that a spreadsheet
    would run as a formula (such as those that begin with ``= + - @``) are prefixed with an apostrophe.

    Parameters
    ----------
    store_path : path
        Store of a study; a run may be writing to it.
    output : path
        File to write; an existing file is replaced.
    format : {"html", "csv"}, default="html"
        ``html`` is one self-contained file. ``csv`` writes the table of cells to `output`, unrounded and with every
        column, and the other tables next to it: to ``NAME-samples.csv``, ``NAME-differences.csv``,
        ``NAME-shortest.csv`` and ``NAME-aggregates.csv``.

    Returns
    -------
    tuple of Path
        The written files.

    Raises
    ------
    StudyError
        If the store is missing or is not a store.
    ValueError
        If the format is unknown, one of the files is the store, the store has no replicates yet, or one of the files
        next to `output` exists and is not a table of a report.
    ImportError
        If the format is "html" and jinja2 or matplotlib is not installed; the message shows the install command.
    OSError
        If a file cannot be written; all files are then unchanged.
    """
    texts = report_texts(store_path, output, format)
    write_texts(texts)
    return tuple(texts)


def report_texts(
    store_path: str | os.PathLike[str], output: str | os.PathLike[str], format: str = "html"
) -> dict[Path, str]:
    """Return the contents that `write_report` would write, by file, without writing.

    Raises
    ------
    StudyError, ValueError, ImportError
        As `write_report` does.
    """
    if format not in FORMATS:
        raise ParameterError("format", f"one of {list(FORMATS)}", format)
    place = Path(output)
    with Store.open(os.fspath(store_path)) as store:
        summary = summarize_store(store)
        title, sentences = f"Coverage study {store.description['name']}", run_notes(store)
    if summary.replicates.empty:
        raise ValueError(f"store {os.fspath(store_path)!r}: it has no replicates yet; run the study first")
    texts = _csv(summary, place) if format == "csv" else {place: _html(title, summary, sentences)}
    for path, text in texts.items():
        if path.exists() and path.samefile(store_path):
            raise ValueError(
                f"The 'output' parameter must not be the store itself. Got {str(path)!r}; choose another name."
            )
        if path != place and path.is_file() and not _has_header(path, text):
            raise ValueError(
                f"The 'output' parameter: the report also needs {str(path)!r}, which exists and is not a table of a "
                "report; choose another name."
            )
    return texts


def _has_header(path: Path, text: str) -> bool:
    """Whether the first line of a file equals that of a text."""
    header = text.partition("\n")[0].encode()
    with path.open("rb") as file:
        return file.read(len(header)) == header


def run_notes(store: Store) -> list[str]:
    """Return the run in sentences: replicates, failures, settings, versions."""
    description, status = store.description, store.status()
    scenarios, cells = description["scenarios"], cells_of(description)
    sizes, planned = sorted({n for _, n in cells}), cells.values()
    settings = f"seed {description['seed']}"
    if not any("rival" in scenario for scenario in scenarios.values()):
        resamples, inner, localization = (
            description[name] for name in ("n_resamples", "inner", "localization")
        )
        settings = f"{resamples} resamples, inner {inner}, localization = {localization}, {settings}"
    options = "; ".join(f"{method}: {_pairs(chosen)}" for method, chosen in description["options"].items())
    notes = [
        f"{status.n_done} of {status.n_total} replicates done, {status.n_failed} of them failed.",
        *(f"{failure}." for failure in status.failures[:MAX_FAILURES]),
        "The study is not finished: cells have fewer replicates than planned, or are missing."
        if status.n_done < status.n_total
        else "",
        f"Scenarios: {len(scenarios)}, at n = {', '.join(map(str, sizes))}; "
        f"{' to '.join(map(str, sorted({min(planned), max(planned)})))} replicates of each planned.",
        f"Methods: {', '.join(description['methods'])}; nominal level {format_level(description['confidence_level'])}.",
        f"Settings: {settings}.",
        f"Sizes of the resampling, for the methods that use them: {_pairs(description['sizes'])}.",
        f"Options: {options}." if options else "",
        *(f"Versions: {one}." for one in store.versions()),
        *(f"Machine: {one}." for one in dict.fromkeys(run["machine"] for run in store.runs())),
        *(f"Scenario {name}: {_scenario(entries)}." for name, entries in scenarios.items()),
    ]
    return [note for note in notes if note]


def _pairs(chosen: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in chosen.items())


def _scenario(entries: Mapping[str, Any]) -> str:
    """Return the population and the fitted classifier."""
    words = [entries.get("title") or entries.get("parameters"), f"classifier {entries['classifier']}"]
    if "rival" in entries:
        words.append(f"against {entries['rival']}")
    return "; ".join(" ".join(str(one).split()) for one in words if one)


def _sections(summary: Summary, sentences: Sequence[str]) -> list[Section]:
    """Return the nonempty sections of a report, except the rules at its end."""
    sections = [
        Section(
            "Which methods kept their level, where and at what width",
            tables=(aggregates_report(summary), summary.report()),
        ),
        Section("What was run", tuple(sentences), (samples_report(summary),)),
        Section("Every method in every cell", tables=tuple(cell_reports(summary))),
        Section(f"Compared with {summary.reference}", tables=(differences_report(summary),)),
        Section("Shortest interval that keeps its level", tables=(shortest_report(summary),)),
        Section("Plots", plots=tuple(_plots(summary))),
    ]
    return [one for one in sections if one.plots or any(table.rows for table in one.tables)]


def _plots(summary: Summary) -> Iterator[tuple[str, str]]:
    cells, level = summary.judged_cells, summary.confidence_level
    band = "Dashed: nominal level. Gray: range of the coverage of an exact interval in 95% of such studies."
    yield (
        f"Coverage against mean width, one point per cell and method, with one MCSE. {band}",
        CoverageWidthDisplay(cells, level).svg("width"),
    )
    keys = cells[CELL].drop_duplicates()
    if len(keys) <= MAX_PLOTTED_CELLS:
        for start in range(0, len(keys), CELLS_PER_PLOT):
            part = CoverageByScenarioDisplay(
                cells.merge(keys.iloc[start : start + CELLS_PER_PLOT], on=CELL), level
            )
            yield (
                f"Coverage by scenario, with 95% Clopper-Pearson intervals. {band}",
                part.svg(f"cells{start}"),
            )
    for measure in ("coverage", "width"):
        nested = NestedLoopDisplay(cells, measure, level)
        yield (
            f"Nested-loop plot of {measure}: all cells, ordered by n, then scenario.",
            nested.svg(f"nested-{measure}"),
        )
    yield (
        "Coverage against the absolute excess kurtosis of the training error, one point per cell and method, as in "
        f"figure 1 of Laber and Murphy (2008). {band}",
        KurtosisDisplay(cells, summary.samples, level).svg("kurtosis"),
    )


def _html(title: str, summary: Summary, sentences: Sequence[str]) -> str:
    return page(
        "study.html.j2",
        title=title,
        sections=_sections(summary, sentences),
        level=format_level(summary.confidence_level),
        guarantee=guarantee_of(summary.cells["method"]),
        compares=summary.compares,
        estimands=estimands_in_words(summary),
        rule=RULE,
    )


def _csv(summary: Summary, place: Path) -> dict[Path, str]:
    others = ["samples", "differences", "shortest", "aggregates"]
    beside = {place.with_name(f"{place.stem}-{name}{place.suffix or '.csv'}"): name for name in others}
    return {path: csv_text(getattr(summary, name)) for path, name in {place: "cells", **beside}.items()}
