"""The conservative Z interval of Nadeau and Bengio (2003), with a deliberately large variance."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.outcomes import Estimand
from cudbound.intervals.method import Method, size_in_study
from cudbound.intervals.pivot import EQUAL, Pivot
from cudbound.intervals.resampled_t import ONE_SPLIT, judged_by
from cudbound.records import HalfSplitLosses, Records, SplitLosses


def conservative_z_pivot(estimate: float, pairs: ArrayLike) -> Pivot:
    """Mean over random splits with a normal distribution of variance sum (a_m - b_m)^2 / (2M).

    The two halves of the data share no rows. Half their mean squared difference is therefore an unbiased estimate of
    the variance on half the data, which is larger than the variance on all of it.

    Parameters
    ----------
    estimate : float
        Mean loss, or mean difference of losses, over the splits of all data.
    pairs : array-like of float, shape (n_halvings, 2)
        The same mean over splits within the first and within the second half of the data, for several halvings.

    Returns
    -------
    Pivot
        ``degenerate`` gives the reason if both halves agree in every halving.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281,
    section 4.

    Examples
    --------
    >>> interval = conservative_z_pivot(0.24, [[0.2, 0.28], [0.25, 0.22], [0.18, 0.27]]).interval(0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.1407, 0.3393)
    """
    gaps = np.subtract(*np.transpose(pairs))
    if float(np.abs(gaps).max()) <= EQUAL:
        reason = f"both halves of the data have the same mean loss in each of {gaps.size} halvings"
        return Pivot(float(estimate), 0.0, degenerate=reason)
    return Pivot(float(estimate), math.sqrt(float((gaps**2).sum()) / (2 * gaps.size)))


def _conservative_z(records: Records) -> Pivot:
    splits: SplitLosses = records.require("splits")
    halves: HalfSplitLosses = records.require("half_splits")
    pivot = conservative_z_pivot(float(np.mean(splits.means)), halves.means)
    return judged_by(pivot, splits, halves, "half_splits")


CONSERVATIVE_Z = Method(
    name="conservative-z",
    title="Random-split estimate with the variance of the same estimate on half the data",
    formula="u +/- z(1 - d/2) sqrt(sum over m of (u_m - u'_m)^2 / (2 M)); u is the mean loss over J splits, u_m and "
    "u'_m the same within each half of M random halvings",
    estimand=Estimand("expected"),
    needs=frozenset({"splits", "half_splits"}),
    assumptions="the variance of the estimate does not increase with the number of training rows; M large enough for a "
    "normal distribution",
    tendency="conservative, since its variance is that on half the data; less so with few halvings M, whose noise the "
    "normal distribution ignores; " + size_in_study(".063", 17),
    reference="Nadeau and Bengio (2003), section 4",
    cost="J + 2 M J",
    pivot=_conservative_z,
    fallback=ONE_SPLIT,
)
