"""The tables of a study report: their columns, headings and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cudbound.basis.outcomes import Estimand
from cudbound.basis.rounding import Kind, format_level
from cudbound.report.estimands import DIFFERENCES, ERRORS, explain_estimands
from cudbound.report.tables import Column, Report
from cudbound.study.measure.cell_table import RULE
from cudbound.study.measure.summary import Summary

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
            Column("seconds", "seconds alone", "statistic"),
        ),
        "Seconds alone: median time of the method alone, without refits shared with other methods, in the first few "
        "replicates; other workers may have been busy at the same time.",
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
