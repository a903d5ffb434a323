"""Cochran's Q: whether several classifiers have the same error, from their losses on one test set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from cudbound.rounding import InLines, format_pvalue, format_statistic
from cudbound.validation import checked


@dataclass(frozen=True, repr=False)
class CochranQ(InLines):
    """Cochran's test that several classifiers have the same error on the cases of one test set.

    Attributes
    ----------
    statistic : float
        Q; nan where `degenerate` says why.
    df : int
        Degrees of freedom of its chi-square distribution: classifiers minus 1.
    pvalue : float
        Of equal errors, in [0, 1]; 1 where the losses cannot speak against it.
    errors : tuple of float
        The error of each classifier on the test set.
    n_tested, n_discordant : int
        Test cases, and those on which not all classifiers agree.
    degenerate : str or None
    """

    statistic: float
    df: int
    pvalue: float
    errors: tuple[float, ...]
    n_tested: int
    n_discordant: int
    degenerate: str | None = None

    def lines(self) -> list[str]:
        """Return what the test says, in lines."""
        lines = [
            f"Cochran's Q = {format_statistic(self.statistic)} on {self.df} degrees of freedom, p-value "
            f"{format_pvalue(self.pvalue)} of equal errors",
            f"{self.n_tested} test cases, {self.n_discordant} of them classified differently; errors "
            + ", ".join(f"{error:.3f}" for error in self.errors),
            f"degenerate: {self.degenerate}" if self.degenerate else "",
        ]
        return [line for line in lines if line]


def cochran_q(losses: ArrayLike) -> CochranQ:
    """Test whether several classifiers have the same error, from their losses on one test set.

    Q = (K - 1) (K sum of C_j^2 - N^2) / (K N - sum of R_i^2), with the errors C_j of the K classifiers, R_i of them
    wrong on case i, and N errors in all. It is referred to the chi-square distribution, which is rough where few cases
    are classified differently. With two classifiers it is McNemar's test without correction for continuity. A small
    p-value says that some errors differ, not which: compare pairs with Holm's adjustment for that.

    Parameters
    ----------
    losses : array-like, shape (n_tested, n_classifiers)
        1 or True where a classifier is wrong on a case, else 0. All classifiers on the same cases, which none of them
        was trained on.

    Raises
    ------
    ValueError
        If there are fewer than two classifiers, or a loss is neither 0 nor 1.

    References
    ----------
    Cochran, W. G. (1950). The comparison of percentages in matched samples. Biometrika 37, 256-266.

    Examples
    --------
    >>> found = cochran_q([[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1], [1, 0, 0]])
    >>> round(found.statistic, 3), found.df, round(found.pvalue, 4)
    (6.5, 2, 0.0388)
    """
    values = checked("losses", losses, 2)
    if values.shape[1] < 2 or not np.isin(values, (0, 1)).all():
        raise ValueError(
            "The 'losses' parameter must have one row for each test case, one column for each of at least two "
            f"classifiers, and the values 0 and 1. Got shape {values.shape} with values from {values.min():g} to "
            f"{values.max():g}."
        )
    wrong = values.astype(np.int64)
    n_tested, k = wrong.shape
    of_classifiers, of_cases = wrong.sum(axis=0), wrong.sum(axis=1)
    total = int(wrong.sum())
    spread = k * total - int((of_cases**2).sum())
    errors = tuple((of_classifiers / n_tested).tolist())
    discordant = int(((of_cases > 0) & (of_cases < k)).sum())
    if not discordant:
        reason = "all classifiers are right and wrong on the same cases"
        return CochranQ(float("nan"), k - 1, 1.0, errors, n_tested, 0, reason)
    statistic = (k - 1) * (k * int((of_classifiers**2).sum()) - total**2) / spread
    return CochranQ(statistic, k - 1, float(chi2.sf(statistic, k - 1)), errors, n_tested, discordant)
