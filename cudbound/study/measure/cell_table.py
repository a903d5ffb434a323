"""The primary table of a study: every method in every cell, with Monte Carlo standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cudbound.intervals.proportions import inverted_binomial_limits
from cudbound.study.measure.cell_measures import (
    SHARE_LEVEL,
    by_cell,
    keeps_level,
    means_by_cell,
    shares_by_cell,
    standard_errors_by_cell,
)
from cudbound.study.measure.scoring import KEY, Array, Scores

if TYPE_CHECKING:
    import pandas as pd

CELL = KEY[:2]
#: How the estimand of a method begins that aims at the expected error of a learning algorithm.
AIM = "expected"
#: The columns that are about that error; the first three shares have a Monte Carlo standard error beside them.
AIM_COLUMNS = (
    "coverage_of_expected",
    "coverage_of_expected_mcse",
    "coverage_of_expected_low",
    "coverage_of_expected_high",
    "keeps_level_of_expected",
    "missed_expected",
    "missed_expected_mcse",
    "expected",
    "expected_mcse",
    "expected_se",
    "n_expected",
    "bias_of_expected",
    "bias_of_expected_mcse",
)


def tabulate_cells(
    scores: Scores,
    estimands: Sequence[str],
    confidence_level: float,
    *,
    method_seconds: pd.DataFrame | None = None,
    compares: bool = False,
) -> pd.DataFrame:
    """Measure every method in every cell.

    Parameters
    ----------
    scores : Scores
    estimands : sequence of str
        Of each row of the table, in the order of `cell_index`.
    confidence_level : float
    method_seconds : pandas.DataFrame or None, default=None
        Columns scenario, n, method and seconds.
    compares : bool, default=False
        Whether the methods are comparisons.

    Returns
    -------
    pandas.DataFrame
        One row per cell and method. Columns that end in "_mcse" are Monte Carlo standard errors; nan stands for what is
        undefined.

        Shares of all replicates, failures counted as misses: coverage (with coverage_low and coverage_high, the 95%
        Clopper-Pearson interval, and keeps_level, the verdict by `cudbound.study.measure.cell_measures.RULE`),
        truth_above and truth_below (truth above the upper limit, below the lower one).

        Of the intervals that were given: coverage_of_successes, width (of the clipped limits), raw_width,
        interval_score, bias (estimate - truth), mse (its mean square), empirical_se (standard deviation of the
        estimates), model_se (root of the mean square of the method's own standard errors, where it has them), se_ratio
        (model_se / empirical_se), n_fits (mean), n_degenerate. Widths have a median and a 90th percentile, linear
        between order statistics. seconds: of the method by itself, median of the replicates that were timed.

        Of methods with the estimand "expected(n1=...)", by that estimand, nan for others: expected (mean over
        replicates of the errors of the learning algorithm on further samples of n1 cases), expected_se (mean standard
        error of one of these errors), n_expected (further samples that could be fitted), coverage_of_expected with
        keeps_level_of_expected, by the same rules as coverage, missed_expected (share of replicates with an interval
        that leaves it out; a failure does not count) and bias_of_expected (mean estimate - expected). The MCSE of the
        two shares leave out that of `expected`.

        Of comparisons: rejection, the share of replicates in which the hypothesis of equal errors is rejected at the
        level 1 - confidence_level; a failure does not reject.

    References
    ----------
    Morris, White and Crowther (2019), table 6.
    """
    counts = by_cell(scores, given=scores.given, degenerate=scores.degenerate).sum().astype(int)
    size: Array = np.repeat(
        scores.replicates.groupby("cell", sort=True).size().to_numpy(dtype=float), len(scores.methods)
    )
    table = cell_index(scores).assign(
        estimand=list(estimands),
        n_replicates=size.astype(int),
        n_failed=size.astype(int) - counts["given"],
    )
    table = table.join(
        shares_by_cell(
            scores,
            coverage=scores.covered,
            truth_above=scores.truth_above,
            truth_below=scores.truth_below,
            coverage_of_successes=np.where(scores.given, scores.covered, np.nan),
            coverage_of_expected=scores.covered_expected,
            missed_expected=scores.given & ~scores.covered_expected,
            rejection=scores.pvalue <= 1.0 - confidence_level,
        )
    )
    for name, verdict in (("coverage", "keeps_level"), ("coverage_of_expected", "keeps_level_of_expected")):
        share = table[name].to_numpy(dtype=np.float64)
        low, high = inverted_binomial_limits(np.rint(share * size), size, SHARE_LEVEL)
        table[f"{name}_low"], table[f"{name}_high"] = low, high
        table[verdict] = keeps_level(share, table[f"{name}_mcse"].to_numpy(), high, confidence_level)
    table = table.join(
        [
            means_by_cell(
                scores,
                width=scores.width,
                raw_width=scores.raw_width,
                interval_score=scores.score,
                bias=scores.bias,
                mse=scores.bias**2,
            ),
            _quantiles(scores),
            standard_errors_by_cell(scores),
            _expected(scores),
        ]
    ).assign(
        n_fits=by_cell(scores, n_fits=scores.n_fits).mean()["n_fits"],
        seconds=_seconds_alone(scores, method_seconds),
        n_degenerate=counts["degenerate"],
    )
    # where every interval failed there is no n1 to look for, and all the same the method missed
    known = table["expected"].notna() | (counts["given"] == 0)
    columns = list(AIM_COLUMNS)
    table[columns] = table[columns].where(table["estimand"].str.startswith(AIM) & known)
    return table if compares else table.assign(rejection=np.nan, rejection_mcse=np.nan)


def cell_index(scores: Scores) -> pd.DataFrame:
    """Return scenario, n and method of every row of the table, numbered as the groups of `by_cell`."""
    cells = scores.cells
    table = cells.loc[cells.index.repeat(len(scores.methods))].reset_index(drop=True)
    return table.assign(method=list(scores.methods) * len(cells))


def _expected(scores: Scores) -> pd.DataFrame:
    """Return the expected errors and how far estimates are from them: two means of independent samples."""
    grouped = by_cell(
        scores,
        expected=scores.expected,
        expected_mcse=scores.expected_mcse,
        expected_se=scores.expected_se,
        n_expected=scores.n_expected,
        estimate=scores.estimate,
    )
    means = grouped.mean()
    spread = grouped["estimate"].sem()
    return means[["expected", "expected_mcse", "expected_se", "n_expected"]].assign(
        bias_of_expected=means["estimate"] - means["expected"],
        bias_of_expected_mcse=np.hypot(spread, means["expected_mcse"]),
    )


def _quantiles(scores: Scores) -> pd.DataFrame:
    widths = by_cell(scores, width=scores.width, raw_width=scores.raw_width)
    return widths.median().add_suffix("_median").join(widths.quantile(0.9).add_suffix("_p90"))


def _seconds_alone(scores: Scores, method_seconds: pd.DataFrame | None) -> Array:
    index = cell_index(scores)
    if method_seconds is None or method_seconds.empty:
        return np.full(len(index), np.nan)
    by = [*CELL, "method"]
    seconds = method_seconds.groupby(by)["seconds"].median().reset_index()
    return index.merge(seconds, on=by, how="left")["seconds"].to_numpy(dtype=float)
