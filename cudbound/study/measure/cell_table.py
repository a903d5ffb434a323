"""The primary table of a study: every method in every cell, with Monte Carlo standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudbound.basis.proportions import inverted_binomial_limits
from cudbound.study.measure.cell_measures import (
    SHARE_LEVEL,
    expected_errors,
    keeps_level,
    means,
    shares,
    standard_errors,
)
from cudbound.study.measure.scoring import Scores

if TYPE_CHECKING:
    import pandas as pd

#: How the estimand of a method begins that aims at the expected error of a learning algorithm.
AIM = "expected"
#: Columns of `Scores.rows` whose means over a cell are shares, and of which they are other means.
SHARES = [
    "coverage",
    "truth_above",
    "truth_below",
    "coverage_of_successes",
    "coverage_of_expected",
    "missed_expected",
    "rejection",
]
MEANS = ["width", "raw_width", "interval_score", "bias", "mse"]


def tabulate_cells(scores: Scores, confidence_level: float) -> pd.DataFrame:
    """Measure every method in every cell.

    Parameters
    ----------
    scores : Scores
    confidence_level : float

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
    grouped = scores.by_cell()
    size = np.asarray(grouped.size(), dtype=np.float64)
    given = grouped["given"].sum()
    table = scores.lines.assign(
        estimand=grouped["estimand"].agg(_joined).tolist(),
        n_replicates=grouped.size(),
        n_failed=grouped.size() - given,
    ).join(shares(grouped, SHARES))
    for aim in ("", "_of_expected"):
        share = table[f"coverage{aim}"].to_numpy(dtype=np.float64)
        low, high = inverted_binomial_limits(np.rint(share * size), size, SHARE_LEVEL)
        table[f"coverage{aim}_low"], table[f"coverage{aim}_high"] = low, high
        mcse = table[f"coverage{aim}_mcse"].to_numpy()
        table[f"keeps_level{aim}"] = keeps_level(share, mcse, high, confidence_level)
    widths = grouped[["width", "raw_width"]]
    table = table.join(
        [
            means(grouped, MEANS),
            widths.median().add_suffix("_median"),
            widths.quantile(0.9).add_suffix("_p90"),
            standard_errors(grouped),
            expected_errors(grouped),
            grouped["n_fits"].mean(),
            grouped["seconds"].median(),
            grouped["degenerate"].sum().rename("n_degenerate"),
        ]
    )
    # where every interval failed there is no n1 to look for, and all the same the method missed
    aims = table["estimand"].str.startswith(AIM) & (table["expected"].notna() | (given == 0))
    columns = table.filter(like="expected").columns
    table[columns] = table[columns].where(aims)
    return table


def _joined(estimands: pd.Series[str]) -> str:
    """Return the estimand of a method; several are joined, and a method without a row has none."""
    return "; ".join(sorted(estimands.dropna().unique()))
