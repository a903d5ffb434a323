"""Intervals from the fold means or the losses of cross-validation, plain and repeated, also with correlated fold means.

No unbiased estimator of the variance of a cross-validated error exists. By Grandvalet and Bengio (2006) one can assume
something about the covariances of the losses, or fix the ratio rho of the covariance between two folds to the variance
of the mean, and report the rho from which on nothing is significant. Rho falls with the number of rows in all that the
authors observed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from cudbound.basis.method_card import EXPECTED, Choice, Number
from cudbound.basis.results import Estimand, Outcome, TestOutcome
from cudbound.intervals.method import EQUAL, Method, Pivot, of_record
from cudbound.records import FoldLosses, Records, RepeatedFoldLosses
from cudbound.resampling.folds import FOLDS, REPEATED_FOLDS


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
    Mitchell, T. M. (1997). Machine learning. McGraw-Hill, section 5.6, table 5.5 and equations 5.17 and 5.18.

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
    """t interval on the fold means of cross-validation.

    Formula: u +/- t(1 - d/2; k - 1) sqrt(s^2 / k); u and s^2 are mean and sample variance of the k fold means.
    Assumptions: fold means are independent and normal.
    Tendency: 5 % test: false rejections up to .168 in 17 settings.
    Reference: Mitchell (1997).
    """
    folds: FoldLosses = records.require(FOLDS)
    pivot = k_fold_t_pivot(folds.means, folds.n_train)
    return replace(pivot, remarks=unequal_folds(folds))


K_FOLD_T = Method("k-fold-t", {FOLDS}, estimand=EXPECTED, cost="K", pivot=_k_fold_t)


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
    """t interval on the fold means of repeated cross-validation with the correction for overlapping training sets.

    Formula: u +/- t(1 - d/2; R (k - 1)) sqrt((1/k + 1/(k - 1)) s^2); u and s^2 are means over R partitions of those of
    k-fold-t.
    Assumptions: fold means of one partition are jointly normal with correlation 1/k.
    Tendency: 5 % test: false rejections up to .042 in 17 settings.
    Reference: Nadeau and Bengio (2003) for one partition; ours for several.
    """
    repeated: RepeatedFoldLosses = records.require(REPEATED_FOLDS)
    partitions = repeated.partitions
    pivot = repeated_k_fold_t_pivot([folds.means for folds in partitions])
    n_train = float(np.mean([folds.n_train for folds in partitions]))
    remarks = dict.fromkeys(remark for folds in partitions for remark in unequal_folds(folds))
    return replace(pivot, estimand=Estimand("expected", n_train), remarks=tuple(remarks))


REPEATED_K_FOLD_T = Method(
    "repeated-k-fold-t", {REPEATED_FOLDS}, estimand=EXPECTED, cost="R K", pivot=_repeated_k_fold_t
)


def bayle_pivot(folds: FoldLosses, *, variance: str = "all-pairs") -> Pivot:
    """Normal interval on all cross-validated losses, for the mean error of the models of the folds.

    Formula: u +/- z(1 - d/2) sqrt(v / n); u and v are mean and variance of all n cross-validated losses, or v is the
    mean of the sample variances within folds.
    Assumptions: the learning algorithm is stable; n is large.
    Tendency: 5 % test: false rejections up to .191 in 17 settings.
    Reference: Bayle et al. (2020).

    With variance="all-pairs" the divisor of v is n. With "within-fold" it is m - 1 in folds of m rows, at least two; it
    ignores the spread of the fold means.

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
        float(losses.mean()), spread / math.sqrt(losses.size), degenerate=None if spread > 0.0 else reason
    )


def _bayle_of_brier(folds: FoldLosses, *, variance: str) -> Pivot:
    """Normal interval on all cross-validated squared errors, for the mean Brier score of the models of the folds.

    Tendency: liberal for the Brier score of the fitted classifier: at level .95, coverage was .435 in the worst and .87
    in the median of 87 settings.
    """
    return bayle_pivot(folds, variance=variance)


BAYLE = Method(
    "bayle-cv",
    {FOLDS},
    estimand=Estimand("cv-average"),
    cost="K",
    with_groups="refits",
    pivot=of_record(FOLDS, bayle_pivot),
    options={"variance": Choice(("all-pairs", "within-fold"))},
    variants={"probabilities": {"pivot": of_record(FOLDS, _bayle_of_brier)}},
)


def grandvalet_bengio_pivot(means: ArrayLike, n_train: float, *, rho: float = 0.7) -> Pivot:
    """Return the mean of the fold means with standard error sqrt(theta_3 / (1 - rho)) and K - 1 degrees of freedom.

    theta_3 is the sample variance of the fold means divided by K: an unbiased estimate of the variance of their mean if
    losses in different folds are not correlated.

    Parameters
    ----------
    means : array-like of float, shape (n_folds,)
        Mean loss, or mean difference of losses, of each fold; at least two.
    n_train : float
        Rows of a training set, for the name of the estimand.
    rho : float, default=0.7
        Covariance of two fold means divided by the variance of the mean of all, in [0, 1). It is not their correlation:
        with 10 folds, 0.5 corresponds to a correlation of 0.091. 0 gives the ordinary t interval; 0.7 is the largest
        value that the authors observed.

    References
    ----------
    Grandvalet and Bengio (2006), proposition 2 and section 4.

    Examples
    --------
    >>> interval = grandvalet_bengio_pivot([0.1, 0.2, 0.3, 0.2, 0.2], n_train=40).interval(0.95)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.04, 0.36)
    """
    pivot = k_fold_t_pivot(means, n_train)
    return replace(pivot, standard_error=pivot.standard_error / math.sqrt(1.0 - rho))


def rho_threshold(
    block_means: ArrayLike, null: float = 0.0, significance: float = 0.05, *, alternative: str = "two-sided"
) -> float:
    """Return the rho below which the test rejects; a larger value is stronger evidence.

    It is 1 - (t_{K-1, 1-significance/2} / t_0)^2 with t_0 the statistic at rho = 0. The hypothesis is rejected for
    every rho below it and for none above it; the paper calls it the largest rho at which the hypothesis is
    accepted, but by its algebra it is the smallest.

    Parameters
    ----------
    block_means : array-like of float, shape (n_folds,)
        Mean loss, or mean difference of losses, of each fold; at least two.
    null : float, default=0.0
        Value of the mean under the hypothesis.
    significance : float, default=0.05
        Level of the test, in (0, 1).
    alternative : {"two-sided", "less", "greater"}, default="two-sided"
        With one-sided alternatives the quantile is t_{K-1, 1-significance}.

    Returns
    -------
    float
        At most 1; negative if the mean is not significant even at rho = 0, and -inf if it lies at the null or, for a
        one-sided alternative, on the other side of it. nan if no such rho exists: all means are equal, or the
        significance of a one-sided test is above 0.5.

    References
    ----------
    Grandvalet and Bengio (2006), section 4.2.

    Examples
    --------
    >>> round(rho_threshold([0.02, 0.05, 0.03, 0.01, 0.04, 0.06, 0.0, 0.03, 0.02, 0.05]), 3)
    0.805
    """
    pivot = k_fold_t_pivot(block_means, 1.0)
    tail = significance / 2 if alternative == "two-sided" else significance
    if pivot.degenerate or tail > 0.5:
        return math.nan
    statistic = pivot.statistic(null)
    toward = {"two-sided": abs(statistic), "less": -statistic, "greater": statistic}[alternative]
    if not toward > 0.0:
        return -math.inf
    ratio = float(stdtrit(pivot.df, 1.0 - tail)) / toward
    return 1.0 - ratio * ratio  # a statistic of 1e-170 gives -inf, where a power is an error


def _with_rho(records: Records, rho: float, **further: float) -> Pivot:
    folds: FoldLosses = records.require(FOLDS)
    pivot = grandvalet_bengio_pivot(folds.means, folds.n_train, rho=rho)
    numbers = {"rho": rho, **further}
    defined = {name: value for name, value in numbers.items() if not math.isnan(value)}
    return replace(pivot, remarks=unequal_folds(folds), details=defined)


def _grandvalet_bengio(records: Records, confidence_level: float, *, rho: float) -> Outcome:
    """t interval on the fold means of cross-validation that allows for their covariance.

    Formula: u +/- t(1 - d/2; k - 1) sqrt(s^2 / (k (1 - rho))); u and s^2 as in k-fold-t.
    Assumptions: fold means are jointly normal; their covariance is at most rho times the variance of their mean.
    Tendency: 5 % test with rho = .7: false rejections up to .026 in 17 settings.
    Reference: Grandvalet and Bengio (2006).
    """
    return _with_rho(records, rho).outcome(confidence_level)


def _grandvalet_bengio_test(
    records: Records, confidence_level: float, alternative: str, *, rho: float
) -> TestOutcome:
    means = records.require(FOLDS).means
    threshold = rho_threshold(means, significance=1.0 - confidence_level, alternative=alternative)
    return _with_rho(records, rho, rho_threshold=threshold).test_outcome(confidence_level, alternative)


GRANDVALET_BENGIO = Method(
    "grandvalet-bengio-t",
    {FOLDS},
    estimand=EXPECTED,
    cost="K",
    compute=_grandvalet_bengio,
    test=_grandvalet_bengio_test,
    options={"rho": Number(0.7, 0.0, 1.0)},
)

#: In the order of the table.
OF_FOLDS = (K_FOLD_T, REPEATED_K_FOLD_T, GRANDVALET_BENGIO, BAYLE)
