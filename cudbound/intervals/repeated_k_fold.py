"""t interval and paired t test on the fold means of several cross-validations of the same rows.

On one partition into folds it is the corrected t of Nadeau and Bengio (2003). The mean over partitions varies less than
that of one, but its variance cannot be estimated from one sample; that of one partition is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.outcomes import Estimand
from cudbound.intervals.k_fold import ON_ALL_ROWS, unequal_folds
from cudbound.intervals.method import Method, size_in_study
from cudbound.intervals.pivot import EQUAL, Pivot
from cudbound.records import Records, RepeatedFoldLosses


def repeated_k_fold_t_pivot(means: Sequence[ArrayLike]) -> Pivot:
    """Mean over R partitions into K folds, with the variance of one: (1/K + 1/(K - 1)) s^2, and t with R (K - 1).

    s^2 is the mean over the partitions of the sample variance of the fold means. The degrees of freedom are those of
    independent partitions, which they are not; the unreduced variance outweighs this for the learners studied.

    Parameters
    ----------
    means : sequence of array-like of float, each of shape (n_folds,)
        Mean loss, or mean difference of losses, of each fold, partition by partition. Partitions may differ in their
        number of folds; each then has its own K.

    Returns
    -------
    Pivot
        ``degenerate`` gives the reason if all fold means of each partition are equal.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281, section 4,
    for one partition.

    Examples
    --------
    >>> pivot = repeated_k_fold_t_pivot([[0.2, 0.3, 0.25, 0.25], [0.15, 0.35, 0.3, 0.2]])
    >>> round(pivot.estimate, 4), round(pivot.standard_error, 4), pivot.df
    (0.25, 0.054, 6.0)
    """
    partitions = [np.asarray(part, dtype=float) for part in means]
    variances = [
        0.0 if np.ptp(part) <= EQUAL else float(part.var(ddof=1)) * (1.0 / part.size + 1.0 / (part.size - 1))
        for part in partitions
    ]
    variance = float(np.mean(variances))
    return Pivot(
        float(np.mean([part.mean() for part in partitions])),
        math.sqrt(variance),
        df=float(sum(part.size - 1 for part in partitions)),
        degenerate=None if variance > 0.0 else "all fold means of each partition are equal",
    )


def _repeated_k_fold_t(records: Records) -> Pivot:
    repeated: RepeatedFoldLosses = records.require("repeated_folds")
    partitions = repeated.partitions
    pivot = repeated_k_fold_t_pivot([folds.means for folds in partitions])
    n_train = float(np.mean([folds.n_train for folds in partitions]))
    remarks = dict.fromkeys(remark for folds in partitions for remark in unequal_folds(folds))
    return replace(pivot, estimand=Estimand("expected", n_train), remarks=tuple(remarks))


REPEATED_K_FOLD_T = Method(
    name="repeated-k-fold-t",
    title="t interval on the fold means of repeated cross-validation with the correction for overlapping training sets",
    formula="u +/- t(1 - d/2; R (k - 1)) sqrt((1/k + 1/(k - 1)) s^2); u is the mean loss over R partitions into k "
    "folds, s^2 the mean over the partitions of the sample variance of the k fold means",
    estimand=Estimand("expected"),
    needs=frozenset({"repeated_folds"}),
    assumptions="fold means of one partition are jointly normal with correlation 1/k; the mean over partitions varies "
    "at most as that of one partition",
    tendency="conservative if the learning algorithm is stable, since averaging over partitions does not reduce its "
    "variance; zero width if all losses are equal; " + size_in_study(".042", 17),
    reference="Nadeau and Bengio (2003), section 4, for one partition; ours for several, with the variance of one",
    cost="R K",
    pivot=_repeated_k_fold_t,
    fallback=ON_ALL_ROWS,
)
