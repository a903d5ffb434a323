"""The report of a study: one self-contained page, or its table of cells in CSV."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.outcomes import Estimand
from cudbound.basis.rounding import Kind, format_level
from cudbound.plotting.studies import (
    CoverageByScenarioDisplay,
    CoverageWidthDisplay,
    KurtosisDisplay,
)
from cudbound.report.files import page, write_texts
from cudbound.report.render import csv_text
from cudbound.report.sentences import DIFFERENCES, ERRORS, explain_estimands
from cudbound.report.tables import Column, Report, guarantee_of
from cudbound.study.design.scenario import cells_of
from cudbound.study.measure.summary import CELL, RULE, Summary, summarize_store
from cudbound.study.run.store import Store

if TYPE_CHECKING:
    import pandas as pd


FORMATS = ("html", "csv")
#: Cells whose first failure is reported.
MAX_FAILURES = 5
#: Cells per plot by scenario, to fit on a page.
CELLS_PER_PLOT = 12
#: With more cells than this, plots by scenario would only repeat the tables on many pages.
MAX_PLOTTED_CELLS = 120
#: Names of columns by kind; those that are not here are proportions.
KINDS: dict[Kind, str] = {
    "text": "scenario method estimand keeps_level keeps_level_of_expected worst_scenario",
    "count": "n n_replicates n_failed n_redrawn n_degenerate n_cells n_keeping n_shortest n_only_method "
    "n_only_reference n_both worst_n",
    "difference": "expected bias bias_of_expected coverage_difference width_difference",
    "statistic": "raw_width interval_score interval_score_mcse n_fits n_expected se_ratio se_ratio_mcse "
    "training_error_kurtosis mean_seconds relative_width",
}


def _table(summary: Summary, name: str, title: str, frame: pd.DataFrame, keys: str, *notes: str) -> Report:
    """Return columns of a frame as a table; a key with + stands for a measure and its Monte Carlo standard error."""
    names = re.sub(r"(\w+)\+", r"\1 \1_mcse", keys).split()
    columns = [_column(name, summary.reference) for name in names]
    shown = frame[[column.key for column in columns]].map(_in_words)
    rows: list[Any] = shown.to_dict("records")
    return Report(name, title, notes, tuple(columns), tuple(rows), lambda: frame)


def _column(key: str, reference: str) -> Column:
    """Return a column with its name as heading."""
    words = key.removeprefix("n_").replace("_", " ").replace("reference", reference)
    kinds = [kind for kind, keys in KINDS.items() if key in keys.split()]
    return Column(key, "MCSE" if key.endswith("_mcse") else words, kinds[0] if kinds else "proportion")


def _in_words(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool | np.bool_) else value


def cell_reports(summary: Summary) -> list[Report]:
    """Return the primary tables, every method in every cell: coverage, widths and centers; none without rows."""
    cells = summary.cells
    tables = (
        _table(
            summary,
            "cells",
            "Coverage of the true error of the fitted classifier, every method in every cell",
            cells,
            "scenario n method coverage+ coverage_low coverage_high keeps_level truth_above truth_below n_failed "
            "coverage_of_successes estimand",
            RULE,
            "Truth above: above the upper limit, so the interval was too optimistic; below: below the lower limit.",
        ),
        _table(
            summary,
            "expected",
            "Coverage of the expected error at n1 training cases, for methods that aim at it",
            cells[cells["coverage_of_expected"].notna()],
            "scenario n method estimand expected+ coverage_of_expected+ coverage_of_expected_low "
            "coverage_of_expected_high keeps_level_of_expected missed_expected bias_of_expected+ expected_se "
            "n_expected",
            RULE,
            "Expected error: mean over replicates of the errors of the learning algorithm on further samples of n1 "
            "cases, rounded down; samples that could not be fitted are left out. The MCSE of its coverage treats it as "
            "known.",
            "Missed expected: computed intervals that exclude it. If test and interval correspond, this is the size of "
            "the test, at 1 - level, of the true expected error; intervals of zero width miss although such a test "
            "does not reject.",
            "Expected SE: mean standard error of one of these errors, 0 if they are exact. If they come from fixed "
            "cases, this error is common to all and not part of the MCSE.",
        ),
        _table(
            summary,
            "rejections",
            "Rejection of the hypothesis of equal errors",
            cells[cells["rejection"].notna()],
            "scenario n method rejection+ expected+",
            f"At level {format_level(1.0 - summary.confidence_level)}. If the expected difference is 0, this is the "
            "size of the test, otherwise its power.",
        ),
        _table(
            summary,
            "widths",
            "Width and interval score, every method in every cell",
            cells,
            "scenario n method width+ width_median width_p90 raw_width interval_score+ n_degenerate n_fits",
            f"Widths of the limits clipped to [{-1 if summary.compares else 0}, 1]; raw: without clipping.",
        ),
        _table(
            summary,
            "centers",
            "Centers and standard errors, every method in every cell",
            cells,
            "scenario n method bias+ mse+ empirical_se+ model_se+ se_ratio+",
            "Bias and mean square error: of estimate - true error. Empirical SE: standard deviation of the estimates; "
            "model SE: root mean square of the method's own standard errors, if any; SE ratio: model / empirical.",
        ),
    )
    return [table for table in tables if table.rows]


def samples_report(summary: Summary) -> Report:
    """Return the table of the samples in every cell."""
    timed = " mean_seconds" if summary.samples["mean_seconds"].notna().any() else ""
    return _table(
        summary,
        "samples",
        "Samples",
        summary.samples,
        "scenario n n_replicates n_failed n_redrawn mean_truth sd_truth mean_truth_se mean_training_error "
        f"training_error_kurtosis{timed}",
        "Failed: the whole replicate stopped with an error; it counts as a miss for every method.",
        "Redrawn: samples in which a class had fewer than two cases.",
        "Truth: the true error; its standard error is 0 if it is exact, and must be small compared with the widths.",
    )


def differences_report(summary: Summary) -> Report:
    """Return the table of differences from the reference, on the same replicates."""
    return _table(
        summary,
        "differences",
        f"Paired differences: method minus {summary.reference}, on the same replicates",
        summary.differences,
        "scenario n method coverage_difference+ n_only_method n_only_reference width_difference+ n_both",
        *summary.judged_note,
        f"Width above 0: wider than {summary.reference}, over replicates in which both have an interval.",
    )


def aggregates_report(summary: Summary) -> Report:
    """Return the table of aggregates, one row per method."""
    return _table(
        summary,
        "aggregates",
        "Over all cells",
        summary.aggregates,
        "method n_cells n_keeping share_keeping n_shortest worst_coverage worst_scenario worst_n relative_width "
        "n_failed n_degenerate",
        *summary.judged_note,
        "Aggregates depend on the cells of the study, shown in the next table.",
        f"Relative width: mean over cells of the ratio of the mean width to that of {summary.reference}.",
    )


def estimands_in_words(summary: Summary) -> list[str]:
    """Return the targets of the methods."""
    joined = summary.cells["estimand"].unique()
    estimands = (Estimand.read(name) for text in joined for name in text.split("; ") if name)
    return explain_estimands(estimands, DIFFERENCES if summary.compares else ERRORS)


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
) -> Path:
    """Write the report of a study.

    The page has, in this order: which methods kept their level, where and at what width; what was run; every method in
    every cell; paired differences from the CUD bound or else the first method; plots; rules and conventions. Click on a
    heading to sort by its column. Texts of the study, which may be untrusted, are escaped. In CSV, texts are quoted,
    and those that a spreadsheet would run as a formula (such as those that begin with ``= + - @``) are prefixed with an
    apostrophe.

    Parameters
    ----------
    store_path : path
        Store of a study; a run may be writing to it.
    output : path
        File to write; an existing file is replaced.
    format : {"html", "csv"}, default="html"
        ``html`` is one self-contained page. ``csv`` is the table of cells, unrounded and with every column; the other
        tables are frames of `cudbound.study.summarize`.

    Returns
    -------
    Path
        The written file.

    Raises
    ------
    StudyError
        If the store is missing or is not a store.
    ValueError
        If the format is unknown, `output` is the store, or the store has no replicates yet.
    ImportError
        If the format is "html" and jinja2 or matplotlib is not installed; the message shows the install command.
    OSError
        If the file cannot be written; an existing one is then unchanged.
    """
    place = Path(output)
    text = report_text(store_path, format)
    if place.exists() and place.samefile(store_path):
        raise ValueError(
            f"The 'output' parameter must not be the store itself. Got {str(place)!r}; choose another name."
        )
    write_texts({place: text})
    return place


def report_text(store_path: str | os.PathLike[str], format: str = "html") -> str:
    """Return what `write_report` writes.

    Raises
    ------
    StudyError, ValueError, ImportError
        As `write_report` does.
    """
    if format not in FORMATS:
        raise ParameterError("format", f"one of {list(FORMATS)}", format)
    with Store.open(os.fspath(store_path)) as store:
        summary = summarize_store(store)
        title, sentences = f"Coverage study {store.description['name']}", run_notes(store)
    if summary.replicates.empty:
        raise ValueError(f"store {os.fspath(store_path)!r}: it has no replicates yet; run the study first")
    if format == "csv":
        return csv_text(summary.cells)
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
        *(f"Versions: {text}." for text in store.versions()),
        *(f"Machine: {text}." for text in dict.fromkeys(run["machine"] for run in store.runs())),
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
    return "; ".join(" ".join(str(word).split()) for word in words if word)


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
        Section("Plots", plots=tuple(_plots(summary))),
    ]
    return [section for section in sections if section.plots or any(table.rows for table in section.tables)]


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
    yield (
        "Coverage against the absolute excess kurtosis of the training error, one point per cell and method, as in "
        f"figure 1 of Laber and Murphy (2008). {band}",
        KurtosisDisplay(cells, summary.samples, level).svg("kurtosis"),
    )
