"""Intervals from random splits: Nadeau and Bengio (2003), and five times two-fold cross-validation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc, fdtri

from cudbound.basis.method_card import COST_OF_TEST_SET, EXPECTED, HOLDOUT_MODEL, Choice, RecordKind
from cudbound.basis.results import ConfidenceInterval, Estimand, Outcome, TestOutcome
from cudbound.basis.validation import Array
from cudbound.intervals.method import EQUAL, Method, Pivot, of_record
from cudbound.records import HalvingLosses, Records, SplitLosses, TestSetLosses
from cudbound.records.losses import N_HALVINGS
from cudbound.records.rules import Means, PairsOfMeans, Recorded, Remarks, Size
from cudbound.resampling.settings import RefitContext
from cudbound.resampling.splits import HALVINGS, SMALLEST_HALF, SPLITS, TEST_SET, means_of_splits


@dataclass(frozen=True, eq=False)
class MeansOfSplits(Recorded):
    """Each of the means is over `n_splits` random splits of some rows."""

    means: Array
    n_train: Size
    n_test: Size
    n_splits: Size
    remarks: Remarks = ()

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return int(np.size(self.means)) * self.n_splits


@dataclass(frozen=True, eq=False)
class ReplicateLosses(MeansOfSplits):
    """The random-split estimate recomputed on bootstrap replicates of the data.

    Attributes
    ----------
    means : ndarray of float, shape (n_replicates,)
        Mean over the splits of each replicate.
    n_train, n_test : int
        Rows of a training and of a test set within a replicate.
    n_splits : int
        Splits of a replicate, J.
    remarks : tuple of str
    """

    means: Means


def record_replicates(context: RefitContext) -> ReplicateLosses:
    """Record the mean loss over ``sizes.n_splits`` random splits of each of ``sizes.n_replicates`` replicates.

    A replicate is a bootstrap draw of n rows, split as if all its rows were different: copies of a row may be in both
    the training and the test set. Each replicate is redrawn by itself, and then each split.
    """
    n, sizes = context.labels.size, context.sizes
    n_test = sizes.n_test(n)
    draws = [lambda: context.rng.integers(n, size=(1, n))] * sizes.n_replicates
    means, remarks = means_of_splits(context, draws, n_test, "replicates", "splits of replicates")
    return ReplicateLosses(means.mean(axis=1), n - n_test, n_test, sizes.n_splits, remarks)


REPLICATES = RecordKind(
    "replicates",
    ReplicateLosses,
    "splits of replicates of the rows",
    refit=record_replicates,
    n_fits=lambda inputs: inputs.resampling.n_replicates * inputs.resampling.n_splits,
)


#: On fewer test rows than this, mean losses have so few values that a t distribution describes them badly.
FEW_TEST_ROWS = 5


def single_split_t_pivot(test_set: TestSetLosses, *, reference: str = "t") -> Pivot:
    """t interval from the losses on one test set.

    Formula: r +/- t(1 - d/2; m - 1) sqrt(s^2 / m); r and s^2 are mean and sample variance of the losses on m test
    points.
    Assumptions: test rows are independent; their mean loss is nearly normal.
    Tendency: 5 % test of learning algorithms: false rejections up to .127 in 17 settings.
    Reference: Nadeau and Bengio (1999).
    With reference=normal: Normal interval from the losses on one test set.
    Reference with reference=normal: Nadeau and Bengio (2003).

    Examples
    --------
    >>> pivot = single_split_t_pivot(TestSetLosses([1, 0, 0, 1, 0, 0, 0, 0], 20))
    >>> pivot.estimate, round(pivot.standard_error, 4), pivot.df
    (0.25, 0.1637, 7.0)
    """
    pivot = _t_pivot(test_set.losses, 1.0 / np.size(test_set.losses), "losses of the test set")
    df = pivot.df if reference == "t" else math.inf
    return replace(pivot, df=df, estimand=Estimand(test_set.estimand))


def resampled_t_pivot(means: ArrayLike, n_train: float = 1.0, n_test: float = 0.0) -> Pivot:
    """Mean over random splits with variance (1/J + n_test/n_train) S^2, and t with J - 1.

    The correction n_test / n_train is exact if the correlation between the means of two splits is n_test / (n_train +
    n_test), as it is when the loss does not depend on the training rows. Without it, with n_test = 0, the splits count
    as independent.

    Parameters
    ----------
    means : array-like of float, shape (n_splits,)
        Mean loss, or mean difference of losses, on the test set of each split. The same formula is commonly used for
        the folds of K-fold cross-validation, with n_test / n_train = 1 / (K - 1).
    n_train, n_test : float
        Rows of a training and of a test set.

    Returns
    -------
    Pivot
        ``degenerate`` gives the reason if all means are equal or there is only one.

    Examples
    --------
    >>> means = [0.2, 0.3, 0.25, 0.15, 0.35]
    >>> [round(resampled_t_pivot(means, 90, n_test).interval(0.95).low, 4) for n_test in (0, 10)]
    [0.1518, 0.1276]
    """
    factor = 1.0 / np.size(means) + n_test / n_train
    return _t_pivot(means, factor, "mean losses of the test sets")


def pseudo_bootstrap_pivot(
    estimate: float, replicates: ArrayLike, n_splits: int = 1, n_train: float = 1.0, n_test: float = 0.0
) -> Pivot:
    """Mean over random splits with variance (1 + J n_test/n_train) s^2 of bootstrap replicates, and t with R - 1.

    Parameters
    ----------
    estimate : float
        Mean over the splits of the data themselves.
    replicates : array-like of float, shape (n_replicates,)
        Mean over as many splits of each bootstrap replicate of the data.
    n_splits : int
        Splits J of the data and of each replicate.
    n_train, n_test : float
        Rows of a training and of a test set; n_test = 0 for no correction.

    Returns
    -------
    Pivot
        ``degenerate`` gives the reason if all replicates are equal or there is only one.

    Examples
    --------
    >>> round(pseudo_bootstrap_pivot(0.25, [0.2, 0.25, 0.3]).standard_error, 4)
    0.05
    >>> round(pseudo_bootstrap_pivot(0.25, [0.2, 0.25, 0.3], 15, 90, 10).standard_error, 4)
    0.0816
    """
    factor = 1.0 + n_splits * n_test / n_train
    return _t_pivot(replicates, factor, "estimates of the replicates", estimate)


def judged_by(pivot: Pivot, splits: SplitLosses, other: MeansOfSplits) -> Pivot:
    """Set the estimand, and remove the standard error if the other means do not match these splits.

    They must be over the same number of splits, with test sets that are not larger; smaller ones only increase the
    variance.
    """
    pivot = replace(pivot, estimand=Estimand("expected", splits.n_train))
    n_splits = int(np.size(splits.means))
    if other.n_splits == n_splits and other.n_test < splits.n_test + 1:
        return pivot
    mismatch = (
        f"undefined: {type(other).__name__} are means over {other.n_splits} splits that test {other.n_test:g} rows, "
        f"but the estimate is a mean over {n_splits} that test {splits.n_test:g}; record both with the same n_splits "
        "and test_fraction"
    )
    return replace(pivot, standard_error=math.nan, degenerate=mismatch)


def _t_pivot(numbers: ArrayLike, factor: float, what: str, estimate: float | None = None) -> Pivot:
    """Return the pivot of an estimate, by default the mean of `values`, with `factor` times their variance."""
    values = np.asarray(numbers)
    estimate = float(values.mean() if estimate is None else estimate)
    if values.size == 1:
        reason = f"undefined: a variance needs at least two {what}, but there is only one"
        return Pivot(estimate, math.nan, df=1.0, degenerate=reason)
    df = values.size - 1.0
    if float(np.ptp(values.astype(float))) <= EQUAL:
        return Pivot(estimate, 0.0, df=df, degenerate=f"all {values.size} {what} are equal")
    return Pivot(estimate, math.sqrt(factor * float(values.var(ddof=1))), df=df)


def _on_splits(records: Records, n_test: float | None = None) -> Pivot:
    """Return the pivot of the splits; `n_test` of the correction is by default the rows of a test set."""
    splits: SplitLosses = records.require(SPLITS)
    remarks: tuple[str, ...] = ()
    if splits.n_test < FEW_TEST_ROWS:
        few = f"means over test sets of {splits.n_test:g} rows have few distinct values"
        remarks = (f"{few}: a t distribution describes them badly",)
    pivot = resampled_t_pivot(splits.means, splits.n_train, splits.n_test if n_test is None else n_test)
    return replace(pivot, estimand=Estimand("expected", splits.n_train), remarks=remarks)


def _on_replicates(records: Records, n_test: float | None = None) -> Pivot:
    splits, replicates = records.require(SPLITS), records.require(REPLICATES)
    n_test = splits.n_test if n_test is None else n_test
    estimate = float(np.mean(splits.means))
    pivot = pseudo_bootstrap_pivot(estimate, replicates.means, replicates.n_splits, splits.n_train, n_test)
    return judged_by(pivot, splits, replicates)


def _resampled_t(records: Records) -> Pivot:
    """Resampled t interval on random splits.

    Formula: u +/- t(1 - d/2; J - 1) sqrt(s^2 / J); u and s^2 are mean and sample variance of the mean losses of J
    splits.
    Assumptions: the mean losses of the splits are independent and normal, although splits can share rows.
    Tendency: 5 % test: false rejections up to .308 in 17 settings.
    Reference: Nadeau and Bengio (2003); Dietterich (1998).
    """
    return _on_splits(records, n_test=0.0)


def _corrected_resampled_t(records: Records) -> Pivot:
    """Resampled t interval with the correction for overlapping splits.

    Formula: u +/- t(1 - d/2; J - 1) sqrt((1/J + n2/n1) s^2); u and s^2 as in resampled-t, n1 training and n2 test rows
    of a split.
    Assumptions: mean losses of the splits are jointly normal with correlation n2 / (n1 + n2).
    Tendency: 5 % test with 15 splits: false rejections up to .107 in 17 settings.
    Reference: Nadeau and Bengio (2003).
    """
    return _on_splits(records)


def _pseudo_bootstrap(records: Records) -> Pivot:
    """Random-split estimate with its variance over bootstrap replicates.

    Formula: u +/- t(1 - d/2; R - 1) s; u is the mean loss over J splits, s^2 the sample variance of the same mean on
    R bootstrap replicates of the rows.
    Assumptions: estimates on bootstrap replicates of the data vary like those on new data.
    Tendency: 5 % test: false rejections up to .320 in 17 settings, with 100 sets each.
    Reference: Nadeau and Bengio (2003).
    """
    return _on_replicates(records, n_test=0.0)


def _corrected_pseudo_bootstrap(records: Records) -> Pivot:
    """Pseudo-bootstrap interval with the correction for overlapping splits.

    Formula: u +/- t(1 - d/2; R - 1) s sqrt(1 + J n2/n1); u and s as in pseudo-bootstrap, n1 training and n2 test rows
    of a split.
    Assumptions: mean losses of two splits have correlation n2 / (n1 + n2).
    Tendency: 5 % test: false rejections up to .130 in 17 settings, with 100 sets each.
    Reference: Nadeau and Bengio (2003).
    """
    return _on_replicates(records)


SINGLE_SPLIT_T = Method(
    "single-split-t",
    {TEST_SET},
    estimand=HOLDOUT_MODEL,
    cost=COST_OF_TEST_SET,
    options={"reference": Choice(("t", "normal"))},
    pivot=partial(of_record, TEST_SET, single_split_t_pivot),
)
RESAMPLED_T = Method("resampled-t", {SPLITS}, estimand=EXPECTED, cost="J", pivot=_resampled_t)
CORRECTED_RESAMPLED_T = Method(
    "corrected-resampled-t", {SPLITS}, estimand=EXPECTED, cost="J", pivot=_corrected_resampled_t
)
PSEUDO_BOOTSTRAP = Method(
    "pseudo-bootstrap", {SPLITS, REPLICATES}, estimand=EXPECTED, cost="J + R J", pivot=_pseudo_bootstrap
)
CORRECTED_PSEUDO_BOOTSTRAP = Method(
    "corrected-pseudo-bootstrap",
    {SPLITS, REPLICATES},
    estimand=EXPECTED,
    cost="J + R J",
    pivot=_corrected_pseudo_bootstrap,
)


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
        If there are fewer than 4 rows.
    """
    n, sizes = context.labels.size, context.sizes
    half, n_test, notes = n // 2, sizes.n_test(n), []
    if half < SMALLEST_HALF:
        raise ValueError(f"Splits within halves need at least {2 * SMALLEST_HALF} rows. Got {n} instead.")
    if n % 2:
        notes.append("1 row left out of each halving")
    if n_test >= half:
        fitting = sizes.n_test(half)
        notes.append(f"{fitting} rows tested within a half of {half}, which is too small for {n_test}")
        n_test = fitting

    draws = [lambda: context.rng.permutation(n)[: 2 * half].reshape(2, half)] * sizes.n_halvings
    means, remarks = means_of_splits(context, draws, n_test, "halves", "splits inside halves")
    pairs = means.mean(axis=1).reshape(sizes.n_halvings, 2)
    return HalfSplitLosses(pairs, half - n_test, n_test, sizes.n_splits, (*notes, *remarks))


HALF_SPLITS = RecordKind(
    "half_splits",
    HalfSplitLosses,
    "splits of both halves of the rows",
    refit=record_half_splits,
    n_fits=lambda inputs: 2 * inputs.resampling.n_halvings * inputs.resampling.n_splits,
)


def conservative_z_pivot(estimate: float, pairs: ArrayLike) -> Pivot:
    """Mean over random splits with a normal distribution of variance sum (a_m - b_m)^2 / (2M).

    The two halves of the data share no rows. Half their mean squared difference is therefore an unbiased estimate of
    the variance on half the data, which is as a rule larger than the variance on all of it.

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
    Assumptions: the variance of the estimate does not increase with the number of training rows; M is large.
    Tendency: 5 % test: false rejections up to .063 in 17 settings.
    Reference: Nadeau and Bengio (2003).
    """
    splits: SplitLosses = records.require(SPLITS)
    halves: HalfSplitLosses = records.require(HALF_SPLITS)
    pivot = conservative_z_pivot(float(np.mean(splits.means)), halves.means)
    return judged_by(pivot, splits, halves)


CONSERVATIVE_Z = Method(
    "conservative-z", {SPLITS, HALF_SPLITS}, estimand=EXPECTED, cost="J + 2 M J", pivot=_conservative_z
)


REPAIRS = ("none", "drop-first-split", "average-numerator")

NO_VARIANCE = "both halves have the same mean loss in each of the five halvings used for the variance"


def five_by_two_t_pivot(pairs: ArrayLike, *, repair: str = "none") -> Pivot:
    """Mean loss on one half with the variance from five halvings and a t distribution.

    Parameters
    ----------
    pairs : array-like of float, shape (5, 2)
        Mean loss, or mean difference of losses, on the second half after training on the first, and the other way
        round, for five random halvings.
    repair : {"none", "drop-first-split", "average-numerator"}, default="none"
        "none" is the test of 1998. Its center is ``pairs[0, 0]``, the variance sum (a_m - b_m)^2 / 10 over all five
        halvings, and t with 5 degrees of freedom. The numerator is not independent of that sum; the test is therefore
        conservative under independent normal means. "drop-first-split" leaves the first halving out of the sum and
        divides by 8, with 4 degrees of freedom. "average-numerator" centers at the mean of the first pair, whose
        variance is half of that. Both are exact under independent normal means.

    Returns
    -------
    Pivot
        ``degenerate`` gives the reason if the variance is 0.

    Raises
    ------
    ValueError
        If there are not five pairs.

    References
    ----------
    Dietterich, T. G. (1998). Approximate statistical tests for comparing supervised classification learning
    algorithms. Neural Computation 10, 1895-1923; the repairs: Nadeau and Bengio (2003), section 4.

    Examples
    --------
    >>> pairs = [[0.21, 0.25], [0.19, 0.24], [0.22, 0.2], [0.27, 0.18], [0.23, 0.26]]
    >>> interval = five_by_two_t_pivot(pairs, repair="drop-first-split").interval(0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.1029, 0.3171)
    """
    values = _five_pairs(pairs)
    gaps = values[:, 0] - values[:, 1]
    if repair == "drop-first-split":
        estimate, variance, df = values[0, 0], (gaps[1:] ** 2).sum() / 8, 4.0
    elif repair == "average-numerator":
        estimate, variance, df = values[0].mean(), (gaps**2).sum() / 20, 5.0
    else:
        estimate, variance, df = values[0, 0], (gaps**2).sum() / 10, 5.0
    if variance <= EQUAL**2:
        reason = NO_VARIANCE.replace("five", "four") if repair == "drop-first-split" else NO_VARIANCE
        return Pivot(float(estimate), 0.0, df=df, degenerate=reason)
    return Pivot(float(estimate), math.sqrt(float(variance)), df=df)


def five_by_two_f(pairs: ArrayLike, null: float = 0.0) -> tuple[float, float]:
    """Return statistic and p-value of the combined 5x2cv F test that all ten means have expectation `null`.

    F = sum (p - null)^2 / sum (a_m - b_m)^2 over the ten means p and the five pairs (a_m, b_m), on 10 and 5 degrees
    of freedom.

    Parameters
    ----------
    pairs : array-like of float, shape (5, 2)
        As in `five_by_two_t_pivot`.
    null : float, default=0.0

    Returns
    -------
    statistic : float
        If both members of every pair are equal, it is infinite, or 0 if all of them equal `null`.
    pvalue : float
        1 in that case, since no variance was observed.

    Raises
    ------
    ValueError
        If there are not five pairs.

    References
    ----------
    Alpaydin, E. (1999). Combined 5x2cv F test for comparing supervised classification learning algorithms. Neural
    Computation 11, 1885-1892.

    Examples
    --------
    >>> statistic, pvalue = five_by_two_f([[0.05, 0.02], [0.03, 0.06], [0.04, 0.01], [0.02, 0.05], [0.06, 0.03]])
    >>> round(statistic, 4), round(pvalue, 4)
    (3.6667, 0.0822)
    """
    values = _five_pairs(pairs)
    squares = float(((values - null) ** 2).sum())
    variance = _sum_of_squared_gaps(values)
    if variance == 0.0:
        return (0.0 if float(np.abs(values - null).max()) <= EQUAL else math.inf), 1.0
    return squares / variance, float(fdtrc(10, 5, squares / variance))


def five_by_two_f_set(pairs: ArrayLike, confidence_level: float) -> ConfidenceInterval:
    """Return the expectations that the combined 5x2cv F test does not reject.

    It is an interval around the mean of the ten means. It is empty if they differ far more between halvings than
    within: no common expectation is then compatible with them, and both limits are nan.

    Parameters
    ----------
    pairs : array-like of float, shape (5, 2)
        As in `five_by_two_t_pivot`.
    confidence_level : float
        In (0, 1).

    Returns
    -------
    ConfidenceInterval
        Raw limits. Zero width if both members of every pair are equal.

    Raises
    ------
    ValueError
        If there are not five pairs.

    References
    ----------
    Alpaydin (1999) gives the test; the set is its inversion.

    Examples
    --------
    >>> pairs = [[0.21, 0.25], [0.19, 0.24], [0.22, 0.2], [0.27, 0.18], [0.23, 0.26]]
    >>> interval = five_by_two_f_set(pairs, 0.95)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.1504, 0.2996)
    """
    values = _five_pairs(pairs)
    center = float(values.mean())
    variance = _sum_of_squared_gaps(values)
    if variance == 0.0:
        return ConfidenceInterval(center, center)
    critical = float(fdtri(10, 5, confidence_level))
    room = critical * variance - float(((values - center) ** 2).sum())
    half = math.sqrt(room / values.size) if room >= 0.0 else math.nan
    return ConfidenceInterval(center - half, center + half)


def _sum_of_squared_gaps(values: Array) -> float:
    gaps = values[:, 0] - values[:, 1]
    return 0.0 if float(np.abs(gaps).max()) <= EQUAL else float((gaps**2).sum())


def _five_pairs(pairs: ArrayLike) -> Array:
    values = np.asarray(pairs, dtype=float)
    if len(values) != N_HALVINGS:
        raise ValueError(
            f"5x2 cross-validation is defined for exactly {N_HALVINGS} halvings. Got {len(values)} instead; record "
            "five, or use corrected-resampled-t, which allows any number of splits."
        )
    return values


def _five_by_two_t(records: Records, *, repair: str) -> Pivot:
    """t interval of five times two-fold cross-validation.

    Formula: p_11 +/- t(1 - d/2; 5) sqrt(sum over j of (p_1j - p_2j)^2 / 10); p_1j and p_2j are the mean losses on
    either half of halving j after a fit to the other.
    Assumptions: the ten mean losses are normal and independent.
    Tendency: 5 % test: false rejections up to .113 in 17 settings; with repair, up to .177.
    Reference: Dietterich (1998).
    With repair: t interval of five times two-fold cross-validation, repaired.
    Reference with repair: Dietterich (1998); Nadeau and Bengio (2003).
    """
    halvings: HalvingLosses = records.require(HALVINGS)
    pivot = five_by_two_t_pivot(halvings.means, repair=repair)
    return replace(pivot, estimand=Estimand("expected", halvings.n_train))


def _five_by_two_f(records: Records, confidence_level: float) -> Outcome:
    """Confidence set by inversion of the combined 5x2cv F test.

    Formula: all u with sum of (p_ij - u)^2 / sum over j of (p_1j - p_2j)^2 at most the 1 - d quantile of F on 10 and 5
    degrees of freedom; p_1j and p_2j as in 5x2cv-t.
    Assumptions: as 5x2cv-t.
    Tendency: 5 % test: false rejections up to .128 in 17 settings.
    Reference: Alpaydin (1999); the inversion to a confidence set is ours.
    """
    halvings: HalvingLosses = records.require(HALVINGS)
    interval = five_by_two_f_set(halvings.means, confidence_level)
    return Outcome(
        float(np.mean(halvings.means)),
        interval,
        degenerate=_why_degenerate(interval, confidence_level),
        estimand=Estimand("expected", halvings.n_train),
    )


def _five_by_two_f_test(records: Records, confidence_level: float, _: str) -> TestOutcome:
    halvings: HalvingLosses = records.require(HALVINGS)
    statistic, pvalue = five_by_two_f(halvings.means)
    outcome = _five_by_two_f(records, confidence_level)
    return TestOutcome(
        statistic=statistic, pvalue=pvalue, raw_interval=outcome.raw_interval, **outcome.common_fields()
    )


def _why_degenerate(interval: ConfidenceInterval, confidence_level: float) -> str | None:
    if math.isnan(interval.width):
        return (
            f"empty: at level {confidence_level:g} no common expectation of the ten means is possible; they differ "
            "far more between halvings than within"
        )
    return NO_VARIANCE if interval.width == 0.0 else None


FIVE_BY_TWO_T = Method(
    "5x2cv-t",
    {HALVINGS},
    estimand=EXPECTED,
    cost="10",
    options={"repair": Choice(REPAIRS)},
    pivot=_five_by_two_t,
)
FIVE_BY_TWO_F = Method(
    "5x2cv-f",
    {HALVINGS},
    estimand=EXPECTED,
    cost="10",
    compute=_five_by_two_f,
    # the set is that of a test without a direction: an end at the whole level leaves out no more
    one_sided=lambda records, confidence_level, _: _five_by_two_f(records, confidence_level),
    test=_five_by_two_f_test,
    two_sided_only=True,
)

#: In the order of the table.
OF_SPLITS = (
    *(SINGLE_SPLIT_T, RESAMPLED_T, CORRECTED_RESAMPLED_T, PSEUDO_BOOTSTRAP, CORRECTED_PSEUDO_BOOTSTRAP),
    *(CONSERVATIVE_Z, FIVE_BY_TWO_T, FIVE_BY_TWO_F),
)
