"""Bootstrap estimates: .632 and .632+, the corrected optimism, LV1O*, and the number of rows behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.method_card import RULE
from cudbound.basis.proportions import inverted_binomial_interval
from cudbound.basis.results import PointOutcome
from cudbound.basis.words import format_proportion
from cudbound.point_estimates.estimator import PointEstimator
from cudbound.records import LOSSES, Groups, Records
from cudbound.records.losses import leave_one_out_bootstrap_error, ratio_or_nan
from cudbound.resampling.bootstrap import BOOTSTRAP
from cudbound.resampling.folds import LEAVE_ONE_OUT
from cudbound.resampling.splits import HALVINGS

Array = NDArray[np.float64]

NOTHING_OUT_OF_BAG = "undefined: no point was ever out of bag; use more bootstrap draws"


def pooled_bootstrap_error(losses: ArrayLike, counts: ArrayLike) -> Array:
    """Pooled out-of-bag error e0: mean loss over all pairs of a draw and a point that it left out.

    It weights a point by the number of draws that left it out; `leave_one_out_bootstrap_error` weights all points
    equally. They agree if every point was left out equally often.

    Parameters
    ----------
    losses, counts : array-like, shape (..., n_resamples, n_samples)
        As in `leave_one_out_bootstrap_error`.

    Returns
    -------
    ndarray of float, shape (...)
        Mean losses; nan if no draw left a point out.

    References
    ----------
    Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on cross-validation. JASA
    78, 316-331.

    Examples
    --------
    >>> pooled_bootstrap_error([[1, 0, 0], [1, 0, 0]], [[0, 2, 1], [0, 3, 0]]).round(3)
    np.float64(0.667)
    """
    out_of_bag = np.asarray(counts) == 0
    return ratio_or_nan((np.asarray(losses) * out_of_bag).sum(axis=(-2, -1)), out_of_bag.sum(axis=(-2, -1)))


def error_632(resubstitution: ArrayLike, leave_one_out_bootstrap: ArrayLike) -> Array:
    """Return the .632 estimate .368 resubstitution + .632 Err(1), elementwise.

    Parameters
    ----------
    resubstitution : array-like of float
        Training error, in [0, 1].
    leave_one_out_bootstrap : array-like of float
        Err(1) of the same training set, in [0, 1].

    References
    ----------
    Efron, B. (1983). Estimating the error rate of a prediction rule: improvement on cross-validation. JASA
    78, 316-331; with Err(1) in place of the pooled out-of-bag error, as in Efron and Tibshirani (1997).

    Examples
    --------
    >>> float(error_632(0.1, 0.3))
    0.2264
    """
    return np.asarray(
        0.368 * np.asarray(resubstitution, dtype=float)
        + 0.632 * np.asarray(leave_one_out_bootstrap, dtype=float)
    )


@dataclass(frozen=True)
class Error632Plus:
    """The .632+ estimate with its components.

    Attributes
    ----------
    estimate : float
        (1 - w) err + w Err(1)'.
    resubstitution : float
        err.
    out_of_bag : float
        Err(1).
    leave_one_out_bootstrap : float
        Err(1)' = min(Err(1), gamma).
    no_information : float
        gamma.
    overfitting : float
        Relative overfitting rate R, in [0, 1].
    weight : float
        w = .632 / (1 - .368 R), in [.632, 1].
    """

    estimate: float
    resubstitution: float
    out_of_bag: float
    leave_one_out_bootstrap: float
    no_information: float
    overfitting: float
    weight: float


def error_632_plus(
    resubstitution: float, leave_one_out_bootstrap: float, no_information: float
) -> Error632Plus:
    """Return the .632+ estimate: the weight of Err(1) increases from .632 to 1 with the overfitting rate.

    The rate is R = (Err(1)' - err) / (gamma - err) with Err(1)' = min(Err(1), gamma), if Err(1)' and gamma are both
    above err, and 0 otherwise. R is therefore in [0, 1]; implementations without clipping can return weights above 1 or
    below .632, and divide by 0 at gamma = err.

    Parameters
    ----------
    resubstitution : float
        Training error err, in [0, 1].
    leave_one_out_bootstrap : float
        Err(1), in [0, 1]; nan gives a result of nan.
    no_information : float
        gamma, from `no_information_error`, in [0, 1].

    Returns
    -------
    Error632Plus
        With Err(1)' for Err(1) throughout. The last equation of section 3, as it is printed, keeps Err(1) in its first
        term, the .632 estimate; with R as here it is larger by .632 (Err(1) - gamma) if Err(1) exceeds gamma.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA
    92, 548-560, section 3.

    Examples
    --------
    >>> result = error_632_plus(0.0, 0.4, 0.5)
    >>> result.overfitting, round(result.weight, 4), round(result.estimate, 4)
    (0.8, 0.8957, 0.3583)
    """
    means = resubstitution, leave_one_out_bootstrap
    if math.isnan(leave_one_out_bootstrap):
        return Error632Plus(math.nan, *means, math.nan, no_information, math.nan, math.nan)
    clipped = min(leave_one_out_bootstrap, no_information)
    overfitting = 0.0
    if clipped > resubstitution:  # and so gamma > err
        overfitting = (clipped - resubstitution) / (no_information - resubstitution)
    weight = 0.632 / (1.0 - 0.368 * overfitting)
    estimate = (1.0 - weight) * resubstitution + weight * clipped
    return Error632Plus(estimate, *means, clipped, no_information, overfitting, weight)


def estimate_632(records: Records) -> float:
    """Return the .632 estimate of the whole training set; nan if no point was ever out of bag."""
    return float(error_632(np.mean(records.require(LOSSES)), out_of_bag_error(records)))


def estimate_632_plus(records: Records) -> Error632Plus:
    """Return the .632+ estimate of the whole training set; nan if no point was ever out of bag.

    Raises
    ------
    ValueError
        If the records lack losses, draws or the no-information error.
    """
    if math.isnan(records.no_information):
        raise ValueError(
            "The .632+ estimate needs the no-information error, and the records have none. Pass "
            "Records(..., no_information=no_information_error(...)), both of cudbound.records; for a difference "
            "between two errors the .632+ estimate is not defined."
        )
    training = float(np.mean(records.require(LOSSES)))
    return error_632_plus(training, out_of_bag_error(records), records.no_information)


def out_of_bag_error(records: Records) -> float:
    """Return Err(1), the mean over rows of the error of draws without them; nan if no row was ever left out."""
    bootstrap = records.require(BOOTSTRAP)
    return float(leave_one_out_bootstrap_error(bootstrap.losses, bootstrap.counts))


def _outcome(estimate: float) -> PointOutcome:
    return PointOutcome(estimate, degenerate=NOTHING_OUT_OF_BAG if math.isnan(estimate) else None)


def _leave_one_out_bootstrap(records: Records) -> PointOutcome:
    """Leave-one-out bootstrap error Err(1).

    Formula: Err(1) = mean over the rows of the mean loss on the row over the draws without it.
    Assumptions: a classifier fitted to a draw, with about .632 n distinct rows, is like one fitted to n rows.
    Reference: Efron and Tibshirani (1997).
    """
    return _outcome(out_of_bag_error(records))


def _pooled(records: Records) -> PointOutcome:
    """Pooled out-of-bag error e0.

    Formula: mean loss over all pairs of a draw and a row outside it.
    Assumptions: as leave-one-out-bootstrap.
    Reference: Efron (1983).
    """
    bootstrap = records.require(BOOTSTRAP)
    return _outcome(float(pooled_bootstrap_error(bootstrap.losses, bootstrap.counts)))


def _bootstrap_632(records: Records) -> PointOutcome:
    """.632 estimate.

    Formula: .368 T + .632 Err(1).
    Assumptions: the training error is too low by a fixed share of its distance from Err(1).
    Tendency: for one nearest neighbor and labels drawn at random it is .316 on average, where the error is .5.
    Reference: Efron (1983), with Err(1) of Efron and Tibshirani (1997).
    """
    return _outcome(estimate_632(records))


def _bootstrap_632_plus(records: Records) -> PointOutcome:
    """.632+ estimate.

    Formula: (1 - w) T + w min(Err(1), g); w = .632 / (1 - .368 R), R = (min(Err(1), g) - T) / (g - T), or 0 unless
    Err(1) and g exceed T, g = 1 - sum over the classes of p_c q_c, p_c the share of class c and q_c the share of rows
    predicted as c.
    Assumptions: the overfitting rate measures how much too low the training error is.
    Reference: Efron and Tibshirani (1997), with R kept within [0, 1].
    """
    result = estimate_632_plus(records)
    left_out = result.out_of_bag
    details = {
        "resubstitution": result.resubstitution,
        "leave_one_out_bootstrap": left_out,
        "no_information": result.no_information,
        "overfitting": result.overfitting,
        "weight": result.weight,
    }
    cut = (
        f"leave-one-out bootstrap error {format_proportion(left_out)} cut to the no-information error "
        f"{format_proportion(result.no_information)}"
    )
    remarks = (cut,) if left_out > result.no_information else ()
    return replace(_outcome(result.estimate), remarks=remarks, details=details)


def optimism_corrected(records: Records) -> PointOutcome:
    """Optimism-corrected training error.

    Formula: T + mean over the draws of (D_b - A_b).
    Assumptions: the training error is too low by the mean of D_b - A_b.
    Reference: Efron and Gong (1983); Harrell (2015).
    """
    bootstrap = records.require(BOOTSTRAP)
    optimism = float(np.mean(np.asarray(bootstrap.losses).mean(axis=1) - bootstrap.resubstitution))
    estimate = float(np.mean(records.require(LOSSES))) + optimism
    remarks = () if 0.0 <= estimate <= 1.0 else (f"estimate {format_proportion(estimate)} outside [0, 1]",)
    return PointOutcome(estimate, remarks=remarks, details={"optimism": optimism})


def error_lv1o(leave_one_out: float, bootstrap_632: float, two_fold: float) -> float:
    """Return the leave-one-out error clipped to the band between two less variable estimates.

    Parameters
    ----------
    leave_one_out : float
        Leave-one-out error, in [0, 1].
    bootstrap_632 : float
        .632 estimate, the lower limit of the band.
    two_fold : float
        Error of repeated two-fold cross-validation, the upper limit. Limits in the wrong order are swapped.

    Returns
    -------
    float
        nan if the .632 estimate is nan.

    References
    ----------
    Weiss, S. M. (1991). Small sample error rate estimation for k-NN classifiers. IEEE Transactions on Pattern Analysis
    and Machine Intelligence 13, 285-289, describes the estimator. The formula here could not be checked against the
    article, and its treatment of crossed limits is our choice.

    Examples
    --------
    >>> error_lv1o(0.15, 0.22, 0.3)
    0.22
    """
    if math.isnan(bootstrap_632):
        return math.nan
    low, high = sorted((bootstrap_632, two_fold))
    return min(max(leave_one_out, low), high)


def _lv1o(records: Records) -> PointOutcome:
    """Leave-one-out clipped to the band from .632 to repeated two-fold cross-validation (experimental).

    Formula: min(max(L, x), C); L is the leave-one-out error, C the error of repeated two-fold cross-validation; x and C
    change places if x is larger.
    Assumptions: the error lies between x and C.
    Reference: Weiss (1991); the formula could not be checked against the article.
    """
    leave_one_out = float(np.mean(records.require(LEAVE_ONE_OUT).losses))
    bootstrap_632 = estimate_632(records)
    two_fold = float(np.mean(records.require(HALVINGS).means))
    remarks = ["experimental: the formula could not be checked against its source"]
    if bootstrap_632 > two_fold:
        remarks.append(
            f"the .632 estimate {format_proportion(bootstrap_632)} is above that of two-fold cross-validation "
            f"{format_proportion(two_fold)}: limits swapped"
        )
    return replace(
        _outcome(error_lv1o(leave_one_out, bootstrap_632, two_fold)),
        remarks=tuple(remarks),
        details={"leave_one_out": leave_one_out, "bootstrap_632": bootstrap_632, "two_fold": two_fold},
    )


_of_draws = partial(PointEstimator, estimand=RULE, cost="B")
#: Estimators that read bootstrap draws, in the order of the table.
OF_DRAWS = (
    _of_draws("leave-one-out-bootstrap", {BOOTSTRAP}, compute=_leave_one_out_bootstrap),
    _of_draws("bootstrap-pooled", {BOOTSTRAP}, compute=_pooled),
    _of_draws("bootstrap-632", {LOSSES, BOOTSTRAP}, compute=_bootstrap_632),
    _of_draws("bootstrap-632-plus", {LOSSES, BOOTSTRAP}, compute=_bootstrap_632_plus),
    PointEstimator("bootstrap-optimism", {LOSSES, BOOTSTRAP}, cost="B", compute=optimism_corrected),
    PointEstimator(
        "lv1o",
        {LOSSES, LEAVE_ONE_OUT, BOOTSTRAP, HALVINGS},
        estimand=RULE,
        cost="n + B + 10",
        compute=_lv1o,
    ),
)


def effective_size_bootstrap(n_samples: float) -> float:
    """Return n* = n (1 - (1 - 1/n)^n), the expected number of distinct points in a bootstrap draw.

    References
    ----------
    Laber and Murphy (2008), section 2, footnote 1.

    Examples
    --------
    >>> round(effective_size_bootstrap(30), 3)
    19.15
    """
    return float(n_samples * (1.0 - (1.0 - 1.0 / n_samples) ** n_samples))


def effective_size_folds(n_samples: int, n_folds: int) -> float:
    """Return n* = n - n/k, the number of training points per fold.

    The footnote of the paper defines n* for any resampling; for cross-validation we assume that it counts the training
    points, not the test points.

    References
    ----------
    Laber and Murphy (2008), section 2, footnote 1.

    Examples
    --------
    >>> effective_size_folds(30, 10)
    27.0
    """
    return n_samples - n_samples / n_folds


def design_effect(records: Records) -> float:
    """Return the factor by which groups of rows increase the variance of a mean loss.

    It is that of the out-of-bag losses: with e_ib the loss on row i of the refit on a draw b that left its group out,
    and m their mean, sum_b sum_groups (sum_i (e_ib - m))^2 / sum_b sum_i (e_ib - m)^2, the ratio of the variance of a
    mean of whole groups to that of as many independent rows. 1 without groups; infinite if the losses do not vary,
    since they then do not show how they vary together.

    Parameters
    ----------
    records : Records
        With `bootstrap`, drawn by groups if `groups` are given.

    References
    ----------
    Kish, L. (1965). Survey sampling, section 8.2; linearized, so that groups may have different sizes.

    Examples
    --------
    >>> from cudbound.basis.groups import Groups
    >>> from cudbound.records import BootstrapLosses
    >>> counts = np.array([[0, 0, 0, 0, 2, 2]])
    >>> losses = BootstrapLosses(counts, np.array([[1, 1, 0, 0, 0, 0]]), uneven=True)
    >>> design_effect(Records(bootstrap=losses, groups=Groups.of([1, 1, 2, 2, 3, 3])))
    2.0
    """
    if records.groups is None:
        return 1.0
    bootstrap = records.require(BOOTSTRAP)
    outside = np.asarray(bootstrap.counts) == 0
    losses = np.asarray(bootstrap.losses, dtype=float)
    return _cluster_factor(
        np.where(outside, losses - losses.mean(where=outside) if outside.any() else 0.0, 0.0), records.groups
    )


def effective_rows(records: Records) -> float:
    """Return n / `design_effect`, at most the number of rows n and at least Kish's number of groups; n counts weights.

    Kish's number is (sum m)^2 / sum m^2 with m the group sizes: if a few groups contain most of the rows, the others do
    not compensate.

    Examples
    --------
    >>> from cudbound.basis.groups import Groups
    >>> from cudbound.records import BootstrapLosses
    >>> counts = np.array([[0, 0, 0, 0, 2, 2]])
    >>> losses = BootstrapLosses(counts, np.array([[1, 1, 0, 0, 0, 0]]), uneven=True)
    >>> effective_rows(Records(bootstrap=losses, groups=Groups.of([1, 1, 2, 2, 3, 3])))
    3.0
    """
    if records.groups is None:
        return records.n_effective
    return _between(records.n_effective, design_effect(records), records.groups)


def share_limits(
    event: NDArray[np.bool_], sample_weight: Array | None, groups: Groups | None, confidence_level: float
) -> tuple[float, float, float, float]:
    """Return the share of events in a sample, both Clopper-Pearson limits, and the effective number of rows.

    Rows with weights count by Kish's number, and rows in groups as in `effective_rows`, with labels instead of losses:
    n / D with D = sum_groups (sum_i w_i (y_i - p))^2 / sum_i (w_i (y_i - p))^2.

    Examples
    --------
    >>> event = np.array([True, False, False, False, True, False, False, False])
    >>> [round(value, 4) for value in share_limits(event, None, None, 0.95)]
    [0.25, 0.0319, 0.6509, 8.0]
    >>> share_limits(event, None, Groups.of([1, 2, 3, 4, 1, 2, 3, 4]), 0.95)[-1]
    4.0
    """
    weights = np.ones(event.size) if sample_weight is None else sample_weight
    share = float(weights @ event / weights.sum())
    n_rows = float(weights.sum() ** 2 / np.square(weights).sum())
    if groups is not None:
        n_rows = _between(n_rows, _cluster_factor(weights * (event - share), groups), groups)
    low, high = inverted_binomial_interval(share * n_rows, n_rows, confidence_level)
    return share, low, high, n_rows


def brier_variance(records: Records) -> float:
    """Return the variance of the squared errors out of bag, or that on the training rows if it is larger."""
    losses, bootstrap = np.asarray(records.require(LOSSES)), records.require(BOOTSTRAP)
    squares = float(leave_one_out_bootstrap_error(np.square(bootstrap.losses), bootstrap.counts))
    return max(squares - out_of_bag_error(records) ** 2, float(losses.var(ddof=1)))


def _cluster_factor(deviations: Array, groups: Groups) -> float:
    """Return the sum of squared group sums divided by the sum of squares of the rows; infinite if that is 0."""
    of_rows = float((deviations**2).sum())
    return float((groups.sum(deviations) ** 2).sum()) / of_rows if of_rows > 0.0 else np.inf


def _between(n_rows: float, effect: float, groups: Groups) -> float:
    return max(n_rows / max(effect, 1.0), min(groups.n_effective, n_rows))
