"""The primary table of a study: every method in every cell, with Monte Carlo standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.proportions import inverted_binomial_limits
from cudbound.study.measure.scoring import Array, Scores

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.study.measure.scoring import Grouped

#: Prefix of the estimand of methods for the expected error of a learning algorithm.
AIM = "expected"
#: Columns of `Scores.rows` whose cell means are shares, and columns with other means.
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
        One row per cell and method. Columns that end in "_mcse" are Monte Carlo standard errors; undefined values are
        nan.

        As shares of all replicates, with failures counted as misses: coverage (with coverage_low and coverage_high, the
        95% Clopper-Pearson interval, and keeps_level, the verdict by `cudbound.study.measure.cell_table.RULE`),
        truth_above and truth_below (truth above the upper limit, below the lower one).

        For the computed intervals: coverage_of_successes, width (of the clipped limits), raw_width, interval_score,
        bias (estimate - truth), mse (its mean square), empirical_se (standard deviation of the estimates), model_se
        (root mean square of the method's own standard errors, if any), se_ratio (model_se / empirical_se), n_fits
        (mean), n_degenerate. Widths have a median and a 90th percentile, linear between order statistics. seconds: of
        the method alone, median of the timed replicates.

        For methods with the estimand "expected(n1=...)", and nan for others: expected (mean over replicates of the
        errors of the learning algorithm on further samples of n1 cases), expected_se (mean standard error of one of
        these errors), n_expected (further samples that could be fitted), coverage_of_expected with
        keeps_level_of_expected, by the same rules as coverage, missed_expected (share of replicates with an interval
        that excludes it; failures do not count) and bias_of_expected (mean estimate - expected). The MCSEs of the two
        shares do not include that of `expected`.

        For comparisons: rejection, the share of replicates that reject the hypothesis of equal errors at level 1 -
        confidence_level; a failure does not reject.

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
    """Return the estimand of a method; several are joined, and a method without rows has none."""
    return "; ".join(sorted(estimands.dropna().unique()))


#: Level of the Clopper-Pearson intervals of shares.
SHARE_LEVEL = 0.95
#: Monte Carlo standard errors by which a coverage may be below nominal: the one-sided 5 % point of a normal.
TOLERANCE = 1.645

RULE = (
    "Keeps its level: coverage + 1.645 MCSE >= nominal level; for a coverage of 0 or 1, the upper limit of its 95% "
    "Clopper-Pearson interval >= nominal level. With few replicates, almost any coverage passes."
)


def keeps_level(coverage: Array, mcse: Array, high: Array, confidence_level: float) -> NDArray[np.bool_]:
    """Apply `RULE` to coverages.

    Parameters
    ----------
    coverage, mcse, high : ndarray of float, shape (...)
        Shares, their Monte Carlo standard errors, and upper limits of their Clopper-Pearson intervals.
    confidence_level : float

    Examples
    --------
    >>> keeps_level(np.array([0.94, 0.93, 0.0]), np.array([0.0075, 0.008, 0.0]), np.array([0.95, 0.95, 0.3]), 0.95)
    array([ True, False, False])
    """
    constant = (coverage == 0.0) | (coverage == 1.0)
    return np.asarray(np.where(constant, high, coverage + TOLERANCE * mcse) >= confidence_level)


def means(grouped: Grouped, names: list[str]) -> pd.DataFrame:
    """Return the mean of each column with its Monte Carlo standard error."""
    errors = grouped[names].std() / grouped[names].count() ** 0.5
    table = grouped[names].mean().join(errors.add_suffix("_mcse"))
    return table[[name + suffix for name in names for suffix in ("", "_mcse")]]


def shares(grouped: Grouped, names: list[str]) -> pd.DataFrame:
    """Return the share of rows with each event, over the rows where it is not nan, with its MCSE.

    That is sqrt(c (1 - c) / R), in a column of the same name that ends in "_mcse".
    """
    share = grouped[names].mean()
    errors = (share * (1.0 - share) / grouped[names].count()) ** 0.5
    return share.join(errors.add_suffix("_mcse"))


def standard_errors(grouped: Grouped) -> pd.DataFrame:
    """Return empirical and model standard errors and their ratio, with their MCSEs.

    Columns empirical_se (s, the standard deviation of the estimates), model_se (m, the root of the mean square of the
    standard errors) and se_ratio (m / s), over the computed intervals; nan for methods without standard errors.

    References
    ----------
    Morris, White and Crowther (2019), table 6.
    """
    import pandas as pd

    size, spread = grouped["estimate"].count(), grouped["estimate"].std()
    variance = grouped["variance"].mean()
    model = variance**0.5
    # relative, as the delta method gives them from the variance of the variances
    of_spread = (2.0 * (size - 1.0)) ** -0.5
    of_model = grouped["variance"].sem() / (2.0 * variance)
    ratio = model / spread.where(spread > 0.0)
    return pd.DataFrame(
        {
            "empirical_se": spread,
            "empirical_se_mcse": spread * of_spread,
            "model_se": model,
            "model_se_mcse": model * of_model,
            "se_ratio": ratio,
            "se_ratio_mcse": ratio * (of_model**2 + of_spread**2) ** 0.5,
        }
    )


def expected_errors(grouped: Grouped) -> pd.DataFrame:
    """Return the expected errors and the bias of estimates: two means of independent samples."""
    found = grouped[["expected", "expected_mcse", "expected_se", "n_expected"]].mean()
    return found.assign(
        bias_of_expected=grouped["estimate"].mean() - found["expected"],
        bias_of_expected_mcse=np.hypot(grouped["estimate"].sem(), found["expected_mcse"]),
    )


def excess_kurtosis(rows: pd.DataFrame) -> Array:
    """Return the excess kurtosis m4/m2^2 - 3 of the training errors of each cell."""
    # scipy.stats.kurtosis differs by rounding errors, which would show in the unrounded tables of a report
    errors = rows.groupby("cell", sort=True)["training_error"]
    centered = (rows["training_error"] - errors.transform("mean")).groupby(rows["cell"], sort=True)
    second, fourth = centered.agg(lambda x: (x**2).mean()), centered.agg(lambda x: (x**4).mean())
    spread = (errors.max() > errors.min()).to_numpy()
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(spread, fourth / second**2 - 3.0, np.nan)
