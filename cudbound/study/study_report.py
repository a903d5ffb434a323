"""The report of a study: one self-contained page, or its table of cells in CSV."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.results import Estimand
from cudbound.basis.validation import check_choice
from cudbound.basis.words import Kind, format_level
from cudbound.plotting.studies import CoverageByScenarioDisplay
from cudbound.report.files import page, write_texts
from cudbound.report.render import csv_text
from cudbound.report.sentences import DIFFERENCES, ERRORS, explain_estimands
from cudbound.report.tables import Column, guarantee_of
from cudbound.study.store import Store
from cudbound.study.summary import CELL, RULE, Summary, summarize_store

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("html", "csv")
#: Cells per plot by scenario, to fit on a page.
CELLS_PER_PLOT = 12
#: With more cells than this, plots by scenario would only repeat the tables on many pages.
MAX_PLOTTED_CELLS = 120
#: Columns of each table on the page; + stands for a further one with the Monte Carlo standard error.
TABLES = {
    "aggregates": "method n_cells n_keeping share_keeping n_shortest worst_coverage worst_scenario worst_n "
    "relative_width n_failed n_degenerate",
    "samples": "scenario n n_replicates n_failed n_redrawn mean_truth sd_truth mean_truth_se mean_training_error "
    "training_error_kurtosis mean_seconds",
    "cells": "scenario n method coverage+ coverage_low coverage_high keeps_level truth_above truth_below n_failed "
    "coverage_of_successes estimand",
    "expected": "scenario n method estimand expected+ coverage_of_expected+ coverage_of_expected_low "
    "coverage_of_expected_high keeps_level_of_expected missed_expected bias_of_expected+ expected_se n_expected",
    "rejections": "scenario n method rejection+ expected+",
    "widths": "scenario n method width+ width_median width_p90 raw_width interval_score+ n_degenerate n_fits",
    "centers": "scenario n method bias+ mse+ empirical_se+ model_se+ se_ratio+",
    "differences": "scenario n method coverage_difference+ n_only_method n_only_reference width_difference+ n_both",
}
#: Columns of numbers that are not proportions.
STATISTICS = {
    *("raw_width", "interval_score", "interval_score_mcse", "n_fits", "n_expected", "se_ratio"),
    *("se_ratio_mcse", "training_error_kurtosis", "mean_seconds", "relative_width"),
}


def tables_of(summary: Summary) -> dict[str, dict[str, Any]]:
    """Return the columns and rows of each table on the page; a table without rows is left out."""
    cells = summary.cells
    frames = {
        "aggregates": summary.aggregates,
        "samples": summary.samples,
        "expected": cells[cells["coverage_of_expected"].notna()],
        "rejections": cells[cells["rejection"].notna()],
        "differences": summary.differences,
    }
    tables = {}
    for name, keys in TABLES.items():
        names = re.sub(r"(\w+)\+", r"\1 \1_mcse", keys).split()
        frame = frames.get(name, cells)[names]
        columns = [_column(key, frame[key], summary.reference) for key in names]
        if len(frame):
            tables[name] = {"columns": columns, "rows": frame.map(_in_words).to_dict("records")}
    return tables


def _column(key: str, values: pd.Series[Any], reference: str) -> Column:
    """Return a column with its name as heading; a difference is written as a proportion, with its sign."""
    words = key.removeprefix("n_").replace("_", " ").replace("reference", reference)
    kinds: dict[str, Kind] = {"f": "statistic" if key in STATISTICS else "difference", "i": "count"}
    return Column(key, "MCSE" if key.endswith("_mcse") else words, kinds.get(values.dtype.kind, "text"))


def _in_words(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool | np.bool_) else value


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
    if place.exists() and place.samefile(store_path):
        raise ParameterError("output", "another file than the store", str(place))
    write_texts({place: report_text(store_path, format)})
    return place


def report_text(store_path: str | os.PathLike[str], format: str = "html") -> str:
    """Return what `write_report` writes.

    Raises
    ------
    StudyError, ValueError, ImportError
        As `write_report` does.
    """
    check_choice("format", format, FORMATS)
    with Store.open(os.fspath(store_path)) as store:
        summary, status = summarize_store(store), store.status()
        description, versions = store.description, store.versions()
        machines = list(dict.fromkeys(run["machine"] for run in store.runs()))
    if summary.replicates.empty:
        raise ValueError(f"store {os.fspath(store_path)!r}: it has no replicates yet; run the study first")
    if format == "csv":
        return csv_text(summary.cells)
    names = "; ".join(summary.cells["estimand"].unique()).split("; ")
    estimands = (Estimand.read(name) for name in names if name)
    return page(
        "study.html.j2",
        summary=summary,
        overview=summary.report(),
        tables=tables_of(summary),
        plots=_plots(summary),
        study=description,
        status=status,
        versions=versions,
        machines=machines,
        level=format_level(summary.confidence_level),
        test_level=format_level(1.0 - summary.confidence_level),
        guarantee=guarantee_of(summary.cells["method"]),
        estimands=explain_estimands(estimands, DIFFERENCES if summary.compares else ERRORS),
        rule=RULE,
    )


def _plots(summary: Summary) -> list[str]:
    """Return the plots by scenario as SVG elements; none if there are many cells."""
    cells, level = summary.judged_cells, summary.confidence_level
    keys = cells[CELL].drop_duplicates()
    starts = range(0, len(keys), CELLS_PER_PLOT) if len(keys) <= MAX_PLOTTED_CELLS else ()
    parts = {start: cells.merge(keys.iloc[start : start + CELLS_PER_PLOT], on=CELL) for start in starts}
    return [CoverageByScenarioDisplay(part, level).svg(f"cells{start}") for start, part in parts.items()]
