"""Normal interval for the mean error of the models in a cross-validation: Bayle et al. (2020)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from cudbound.basis.method_card import Choice
from cudbound.basis.outcomes import Estimand
from cudbound.intervals.k_fold import ON_ALL_ROWS
from cudbound.intervals.method import Method, size_in_study
from cudbound.intervals.pivot import EQUAL, Pivot
from cudbound.records import FoldLosses, Records


def bayle_pivot(folds: FoldLosses, *, variance: str = "all-pairs") -> Pivot:
    """Return the mean cross-validated loss R with standard error sqrt(v / n) and a normal reference distribution.

    Parameters
    ----------
    folds : FoldLosses
        Losses, or differences of losses.
    variance : {"all-pairs", "within-fold"}, default="all-pairs"
        "all-pairs": v is the mean of (e_i - R)^2, with divisor n. "within-fold": v is the mean over the folds of
        their sample variances, with divisor m - 1; it ignores the spread of the fold means and needs folds of at least
        two rows.

    Returns
    -------
    Pivot
        With a ``degenerate`` reason if v is 0 or undefined; the standard error is then 0 or nan.

    References
    ----------
    Bayle, P., Bayle, A., Janson, L. and Mackey, L. (2020). Cross-validation confidence intervals for test error.
    NeurIPS 33, sections 3 and 4.

    Examples
    --------
    >>> folds = FoldLosses.from_blocks([[1, 0, 0, 0], [0, 0, 1, 0]])
    >>> interval = bayle_pivot(folds).interval(0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (-0.05, 0.55)
    """
    losses = np.asarray(folds.losses, dtype=np.float64)
    if variance == "all-pairs":
        spread = math.sqrt(losses.var())
        reason = "all cross-validated losses are equal"
    elif folds.sizes.min() < 2:
        spread = math.nan
        reason = "the within-fold variance is undefined: a fold has only one row"
    else:
        blocks = (losses[folds.fold == number] for number in range(folds.n_folds))
        spread = math.sqrt(sum(float(block.var(ddof=1)) for block in blocks) / folds.n_folds)
        reason = "the losses are equal within every fold"
    if spread <= EQUAL:
        spread = 0.0
    return Pivot(
        float(losses.mean()),
        spread / math.sqrt(losses.size),
        degenerate=None if spread > 0.0 else reason,
    )


def _bayle(records: Records, *, variance: str) -> Pivot:
    return bayle_pivot(records.require("folds"), variance=variance)


_OF_ERRORS = Method(
    name="bayle-cv",
    title="Normal interval on all cross-validated losses, for the mean error of the models of the folds",
    formula="u +/- z(1 - d/2) sqrt(v / n); u and v are mean and variance of all n cross-validated losses, or v "
    "is the mean of the sample variances within folds",
    estimand=Estimand("cv-average"),
    needs=frozenset({"folds"}),
    assumptions="the learning algorithm is stable: replacing a training row changes the loss by less than order 1 / "
    "sqrt(n); large n",
    tendency="liberal for the error of the fitted classifier and for small n, since it estimates only the error of the "
    "models of the folds; zero width if all losses are equal; " + size_in_study(".191", 0),
    reference="Bayle et al. (2020), sections 3 and 4; divisors as in the authors' software",
    cost="K",
    with_groups="refits",
    pivot=_bayle,
    options={"variance": Choice(("all-pairs", "within-fold"))},
    fallback=ON_ALL_ROWS,
)

BAYLE_BRIER = replace(
    _OF_ERRORS,
    reads="probabilities",
    title="Normal interval on all cross-validated squared errors, for the mean Brier score of the models of the folds",
    tendency="liberal for the Brier score of the fitted classifier: at level .95, coverage was .43 in "
    "the worst and .87 in the median of 87 settings; it estimates only the score of the models of the folds",
)

BAYLE = replace(_OF_ERRORS, others={"probabilities": BAYLE_BRIER})
