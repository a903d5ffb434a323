"""The conservative Z interval of Nadeau and Bengio (2003), with a deliberately large variance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.outcomes import Estimand
from cudbound.basis.record_kind import RecordKind
from cudbound.intervals.method import EQUAL, Method, Pivot
from cudbound.intervals.resampled_t import MeansOfSplits, judged_by
from cudbound.records import Records, SplitLosses
from cudbound.records.rules import PairsOfMeans
from cudbound.resampling.context import RefitContext
from cudbound.resampling.settings import SMALLER_SIZES
from cudbound.resampling.splits import SMALLEST_HALF, SPLITS, count_rows, means_of_splits


@dataclass(frozen=True, eq=False)
class HalfSplitLosses(MeansOfSplits):
    """Mean losses of `n_splits` random splits inside each half of the data, for several halvings.

    Attributes
    ----------
    means : ndarray of float, shape (n_halvings, 2)
        Mean over the splits inside the first and inside the second half.
    n_train, n_test : int
        Rows of a training and of a test set within a half.
    n_splits : int
        Splits inside a half, J.
    remarks : tuple of str
    """

    means: PairsOfMeans


def record_half_splits(context: RefitContext) -> HalfSplitLosses:
    """Record mean losses over ``sizes.n_splits`` random splits inside each half, for ``sizes.n_halvings`` halvings.

    The test sets are as large as in `record_splits`, and a training set has n // 2 minus that many rows; if n is odd,
    one row is left out of each halving. If a half is too small for such a test set, the share ``sizes.test_fraction``
    of the half is tested instead, with a remark; smaller test sets increase the variance, so the method that uses it
    stays conservative. The splits of the two halves are independent. Each halving is redrawn by itself, and then each
    split.

    Raises
    ------
    ValueError
        If there are fewer than 4 rows, or a training set has one class and the policy is "error".
    """
    n, sizes = context.n_samples, context.sizes
    half, n_test, notes = n // 2, sizes.n_test(n), []
    if half < SMALLEST_HALF:
        raise ValueError(f"Splits within halves need at least {2 * SMALLEST_HALF} rows. Got {n} instead.")
    if n % 2:
        notes.append("1 row left out of each halving")
    if n_test >= half:
        fitting = sizes.n_test(half)
        notes.append(f"{fitting} rows tested within a half of {half}, which is too small for {n_test}")
        n_test = fitting

    halvings, n_again, _ = context.draw_parts(
        [lambda: context.rng.permutation(n)[: 2 * half].reshape(2, half)] * sizes.n_halvings,
        lambda rows: count_rows(rows, n),
    )
    means, remarks = means_of_splits(
        context, np.concatenate(halvings), n_test, "training sets of splits inside halves", n_again
    )
    pairs = means.mean(axis=1).reshape(sizes.n_halvings, 2)
    return HalfSplitLosses(pairs, half - n_test, n_test, sizes.n_splits, (*notes, *remarks))


HALF_SPLITS = RecordKind(
    "half_splits",
    holds=HalfSplitLosses,
    words="splits of both halves of the rows",
    refit=record_half_splits,
    n_fits=lambda inputs: 2 * inputs.sizes.n_halvings * inputs.sizes.n_splits,
    fewer=SMALLER_SIZES,
)


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
    """Random-split estimate with the variance of the same estimate on half the data.

    Formula: u +/- z(1 - d/2) sqrt(sum over m of (u_m - u'_m)^2 / (2 M)); u is the mean loss over J splits, u_m and
    u'_m the same within each half of M random halvings.
    Assumptions: the variance of the estimate does not increase with the number of training rows; M large enough for a
    normal distribution.
    Tendency: conservative, since its variance is that on half the data; less so with few halvings M, whose noise the
    normal distribution ignores; as a 5 % test of two learning algorithms with equal errors it rejected at most .063
    in 17 settings and kept its level in 17.
    Reference: Nadeau and Bengio (2003), section 4.
    """
    splits: SplitLosses = records.require(SPLITS)
    halves: HalfSplitLosses = records.require(HALF_SPLITS)
    pivot = conservative_z_pivot(float(np.mean(splits.means)), halves.means)
    return judged_by(pivot, splits, halves)


CONSERVATIVE_Z = Method(
    name="conservative-z",
    estimand=Estimand("expected"),
    needs=frozenset({SPLITS, HALF_SPLITS}),
    cost="J + 2 M J",
    pivot=_conservative_z,
)
