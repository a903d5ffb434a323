"""Measures of all cells and methods of a study at once, with Monte Carlo standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cudbound.study.measure.scoring import Array

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.study.measure.scoring import Grouped

#: Level of the Clopper-Pearson intervals of shares.
SHARE_LEVEL = 0.95
#: Monte Carlo standard errors that a coverage may lie below the nominal level: the one-sided 5 % point of a normal.
TOLERANCE = 1.645

RULE = (
    "Keeps its level: coverage + 1.645 MCSE >= nominal level; where the coverage is 0 or 1, the upper limit of its 95% "
    "Clopper-Pearson interval >= nominal level. With few replicates almost any coverage passes."
)


def keeps_level(coverage: Array, mcse: Array, high: Array, confidence_level: float) -> NDArray[np.bool_]:
    """Decide by `RULE` whether coverages keep the nominal level.

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
    """Return the mean of each column and, beside it, its Monte Carlo standard error."""
    errors = grouped[names].std() / grouped[names].count() ** 0.5
    table = grouped[names].mean().join(errors.add_suffix("_mcse"))
    return table[[name + suffix for name in names for suffix in ("", "_mcse")]]


def shares(grouped: Grouped, names: list[str]) -> pd.DataFrame:
    """Return the share of rows in which each thing happened, over those where it is not nan, with its MCSE.

    That is sqrt(c (1 - c) / R), in a column of the same name that ends in "_mcse".
    """
    share = grouped[names].mean()
    errors = (share * (1.0 - share) / grouped[names].count()) ** 0.5
    return share.join(errors.add_suffix("_mcse"))


def standard_errors(grouped: Grouped) -> pd.DataFrame:
    """Return what estimates vary by, what methods say that they vary by, and the ratio, with their MCSE.

    Columns empirical_se (s, the standard deviation of the estimates), model_se (m, the root of the mean square of the
    standard errors) and se_ratio (m / s), over the intervals that were given; nan for methods without standard errors.

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
    """Return the expected errors and how far estimates are from them: two means of independent samples."""
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
