"""The report of a study: one self-contained page, or its tables in CSV."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.basis.outcomes import Estimand
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.rounding import Kind, format_level
from cudbound.plotting.coverage import CoverageByScenarioDisplay, CoverageWidthDisplay, KurtosisDisplay
from cudbound.plotting.nested_loop import NestedLoopDisplay
from cudbound.report.csv_text import csv_text
from cudbound.report.estimands import DIFFERENCES, ERRORS, explain_estimands
from cudbound.report.files import write_texts
from cudbound.report.pages import page
from cudbound.report.tables import Column, Report, guarantee_of
from cudbound.study.design.identity import cells_of
from cudbound.study.measure import CELL, RULE, Summary, summarize_store
from cudbound.study.run.store import Store

if TYPE_CHECKING:
    import pandas as pd


_CELL = (Column("scenario", "scenario", "text"), Column("n", "n", "count"))
_METHOD = Column("method", "method", "text")
_ROW = (*_CELL, _METHOD)


def _with_error(key: str, heading: str, kind: Kind) -> tuple[Column, Column]:
    """Return the columns of a measure and of its Monte Carlo standard error."""
    error = Column(f"{key}_mcse", "MCSE", "statistic" if kind == "statistic" else "proportion")
    return Column(key, heading, kind), error


def cell_reports(summary: Summary) -> list[Report]:
    """Return the primary tables, every method in every cell: coverage, widths, and centers; none without rows."""
    makers = (_coverage, _expected, _rejections, _widths, _centers)
    return [table for make in makers if (table := make(summary)).rows]


def samples_report(summary: Summary) -> Report:
    """Return the table of the samples in every cell."""
    frame = summary.samples
    timed = bool(frame["mean_seconds"].notna().any())
    return _report(
        "samples",
        "Samples",
        frame,
        (
            *_CELL,
            Column("n_replicates", "replicates", "count"),
            Column("n_failed", "failed", "count"),
            Column("n_redrawn", "redrawn", "count"),
            Column("mean_truth", "mean true error", "proportion"),
            Column("sd_truth", "its SD", "proportion"),
            Column("mean_truth_se", "mean SE of a true error", "proportion"),
            Column("mean_training_error", "mean training error", "proportion"),
            Column("training_error_kurtosis", "its excess kurtosis", "statistic"),
            *([Column("mean_seconds", "seconds per replicate", "statistic")] if timed else []),
        ),
        "Failed: the whole replicate stopped with an error; it counts as a miss for every method.",
        "Redrawn: samples in which a class had fewer than two cases.",
        "SE of a true error: 0 if exact. It must be small compared with the widths.",
    )


def differences_report(summary: Summary) -> Report:
    """Return the table of differences from the reference, on the same replicates."""
    reference = summary.reference
    return _report(
        "differences",
        f"Paired differences: method minus {reference}, on the same replicates",
        summary.differences,
        (
            *_ROW,
            *_with_error("coverage_difference", "coverage", "difference"),
            Column("n_only_method", "only it covers", "count"),
            Column("n_only_reference", f"only {reference} covers", "count"),
            *_with_error("width_difference", "width", "difference"),
            Column("n_both", "both have intervals", "count"),
        ),
        *summary.judged_note,
        f"Width above 0: wider than {reference}, over replicates in which both have an interval.",
    )


def shortest_report(summary: Summary) -> Report:
    """Return the table of the shortest method that keeps its level in each cell."""
    reference = summary.reference
    named = summary.shortest.assign(shortest=summary.shortest["shortest"].replace("", "none"))
    return _report(
        "shortest",
        "The shortest interval that keeps its level",
        named,
        (
            *_CELL,
            Column("n_keeping", "methods that keep their level", "count"),
            Column("shortest", "shortest of these", "text"),
            Column("coverage", "coverage", "proportion"),
            *_with_error("width", "mean width", "proportion"),
            Column("reference_coverage", f"coverage of {reference}", "proportion"),
            Column("reference_keeps_level", f"{reference} keeps its level", "text"),
            Column("reference_width", f"width of {reference}", "proportion"),
            *_with_error("width_difference", f"width minus {reference}", "difference"),
        ),
        RULE,
        *summary.judged_note,
        "If mean widths are equal: the first in the order of the methods.",
    )


def aggregates_report(summary: Summary) -> Report:
    """Return the table of aggregates, one row per method."""
    return _report(
        "aggregates",
        "Over all cells",
        summary.aggregates,
        (
            _METHOD,
            Column("n_cells", "cells", "count"),
            Column("n_keeping", "keeps its level", "count"),
            Column("share_keeping", "share", "proportion"),
            Column("n_shortest", "shortest of those", "count"),
            Column("worst_coverage", "worst coverage", "proportion"),
            Column("worst_scenario", "in scenario", "text"),
            Column("worst_n", "at n", "count"),
            Column("relative_width", f"width / {summary.reference}", "statistic"),
            Column("n_failed", "failed", "count"),
            Column("n_degenerate", "degenerate", "count"),
        ),
        *summary.judged_note,
        "Aggregates depend on the cells of the study, shown in the next table.",
        f"width / {summary.reference}: mean over cells of the ratio of mean widths.",
    )


def estimands_in_words(summary: Summary) -> list[str]:
    """Return the targets of the methods."""
    joined = summary.cells["estimand"].unique()
    estimands = (Estimand.read(one) for text in joined for one in text.split("; ") if one)
    return explain_estimands(estimands, DIFFERENCES if summary.compares else ERRORS)


def _coverage(summary: Summary) -> Report:
    return _report(
        "cells",
        "Coverage of the true error of the fitted classifier, every method in every cell",
        summary.cells,
        (
            *_ROW,
            *_with_error("coverage", "coverage", "proportion"),
            Column("coverage_low", "95% low", "proportion"),
            Column("coverage_high", "95% high", "proportion"),
            Column("keeps_level", "keeps level", "text"),
            Column("truth_above", "truth above", "proportion"),
            Column("truth_below", "truth below", "proportion"),
            Column("n_failed", "failed", "count"),
            Column("coverage_of_successes", "coverage among successes", "proportion"),
            Column("estimand", "estimand", "text"),
        ),
        RULE,
        "Truth above: above the upper limit, so the interval was too optimistic; below: below the lower limit.",
    )


def _expected(summary: Summary) -> Report:
    """Return the table of coverage of the expected error, for methods that aim at it."""
    return _report(
        "expected",
        "Coverage of the expected error at n1 training cases, for methods that aim at it",
        summary.cells[summary.cells["coverage_of_expected"].notna()],
        (
            *_ROW,
            Column("estimand", "estimand", "text"),
            *_with_error("expected", "expected error", "difference" if summary.compares else "proportion"),
            *_with_error("coverage_of_expected", "its coverage", "proportion"),
            Column("coverage_of_expected_low", "95% low", "proportion"),
            Column("coverage_of_expected_high", "95% high", "proportion"),
            Column("keeps_level_of_expected", "keeps level", "text"),
            Column("missed_expected", "missed", "proportion"),
            *_with_error("bias_of_expected", "bias of center", "difference"),
            Column("expected_se", "mean SE of an error", "proportion"),
            Column("n_expected", "further samples", "statistic"),
        ),
        RULE,
        "Expected error: mean over replicates of the errors of the learning algorithm on further samples of n1 cases, "
        "rounded down; samples that could not be fitted are left out. The MCSE of its coverage treats it as known.",
        "Missed: computed intervals that exclude it. If test and interval correspond, this is the size of the test, at "
        "1 - level, of the true expected error; intervals of zero width miss although such a test does not reject.",
        "Mean SE of an error: 0 if errors are exact. If they come from fixed cases, this error is common to all and "
        "not part of the MCSE.",
    )


def _rejections(summary: Summary) -> Report:
    """Return the table of rejections of equal errors; no rows without comparisons."""
    return _report(
        "rejections",
        "Rejection of the hypothesis of equal errors",
        summary.cells[summary.cells["rejection"].notna()],
        (
            *_ROW,
            *_with_error("rejection", "rejected", "proportion"),
            *_with_error("expected", "expected difference", "difference"),
        ),
        f"At level {format_level(1.0 - summary.confidence_level)}. If the expected difference is 0, this is the size "
        "of the test, otherwise its power.",
    )


def _widths(summary: Summary) -> Report:
    return _report(
        "widths",
        "Width and interval score, every method in every cell",
        summary.cells,
        (
            *_ROW,
            *_with_error("width", "mean width", "proportion"),
            Column("width_median", "median", "proportion"),
            Column("width_p90", "90th percentile", "proportion"),
            Column("raw_width", "raw mean width", "statistic"),
            *_with_error("interval_score", "interval score", "statistic"),
            Column("n_degenerate", "degenerate", "count"),
            Column("n_fits", "fits", "statistic"),
        ),
        f"Widths of the limits clipped to [{-1 if summary.compares else 0}, 1]; raw: without clipping.",
    )


def _centers(summary: Summary) -> Report:
    return _report(
        "centers",
        "Centers and standard errors, every method in every cell",
        summary.cells,
        (
            *_ROW,
            *_with_error("bias", "bias of center", "difference"),
            *_with_error("mse", "mean square error", "proportion"),
            *_with_error("empirical_se", "empirical SE", "proportion"),
            *_with_error("model_se", "model SE", "proportion"),
            *_with_error("se_ratio", "model / empirical", "statistic"),
        ),
        "Bias and mean square error: of estimate - true error. Empirical SE: standard deviation of the estimates; "
        "model SE: root mean square of the method's own standard errors, if any.",
    )


def _report(
    name: str,
    title: str,
    frame: pd.DataFrame,
    columns: tuple[Column, ...],
    *notes: str,
) -> Report:
    """Return a frame as a table, with flags in words."""
    shown = frame[[column.key for column in columns]].map(_in_words)
    rows: list[Any] = shown.to_dict("records")
    return Report(name, title, notes, columns, tuple(rows), lambda: frame)


def _in_words(value: Any) -> Any:
    return ("yes" if value else "no") if isinstance(value, bool | np.bool_) else value


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
