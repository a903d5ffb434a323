"""t interval and paired t test on the fold means of one cross-validation.

Fold means are treated as independent. They are not, because any two training sets share most of their rows; the
interval is therefore liberal.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.outcomes import Estimand
from cudbound.intervals.method import Method, binomial_fallback, size_in_study
from cudbound.intervals.pivot import EQUAL, Pivot
from cudbound.records import FoldLosses, Records

ON_ALL_ROWS = binomial_fallback("all cross-validated rows", lambda records: records.n_effective)


def k_fold_t_pivot(means: ArrayLike, n_train: float) -> Pivot:
    """Return the mean of the fold means with standard error s / sqrt(k) and k - 1 degrees of freedom.

    Parameters
    ----------
    means : array-like of float, shape (n_folds,)
        Mean loss, or mean difference of losses, of each fold; at least two.
    n_train : float
        Rows of a training set, for the name of the estimand.

    Returns
    -------
    Pivot
        With a ``degenerate`` reason if all means are equal.

    References
    ----------
    Mitchell, T. M. (1997). Machine learning. McGraw-Hill, section 5.6, table 5.5 and equations 5.17 and 5.18. The
    factor 1 / sqrt(k) of the standard error belongs to it; some lecture notes leave it out.

    Examples
    --------
    >>> interval = k_fold_t_pivot([0.1, 0.2, 0.3, 0.2, 0.2], n_train=40).interval(0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.112, 0.288)
    """
    values = np.asarray(means, dtype=float)
    constant = float(np.ptp(values)) <= EQUAL
    return Pivot(
        float(values.mean()),
        0.0 if constant else float(values.std(ddof=1)) / math.sqrt(values.size),
        df=values.size - 1,
        degenerate="all fold means are equal" if constant else None,
        estimand=Estimand("expected", n_train),
    )


def unequal_folds(folds: FoldLosses) -> tuple[str, ...]:
    """Return a remark if the folds differ in size, else nothing."""
    if folds.sizes.min() == folds.sizes.max():
        return ()
    return ("folds of unequal size are not covered by the theory: all fold means get equal weight",)


def _k_fold_t(records: Records) -> Pivot:
    folds: FoldLosses = records.require("folds")
    pivot = k_fold_t_pivot(folds.means, folds.n_train)
    return replace(pivot, remarks=unequal_folds(folds))


K_FOLD_T = Method(
    name="k-fold-t",
    title="t interval on the fold means of cross-validation",
    formula="u +/- t(1 - d/2; k - 1) sqrt(s^2 / k); u and s^2 are mean and sample variance of the k fold means",
    estimand=Estimand("expected"),
    needs=frozenset({"folds"}),
    assumptions="fold means are independent and normal",
    tendency="liberal: the training sets of two folds share most of their rows, which makes the fold means correlated; "
    + size_in_study(".168", 0),
    reference="Mitchell (1997), section 5.6, equations 5.17 and 5.18; with the factor 1 / sqrt(k), which some "
    "lecture notes leave out",
    cost="K",
    pivot=_k_fold_t,
    fallback=ON_ALL_ROWS,
)
