"""Effective sample sizes: of resampling steps, of rows in groups, and of squared errors as zeros and ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.proportions import inverted_binomial_interval
from cudbound.point_estimates.bootstrap_632 import leave_one_out_bootstrap_error, out_of_bag_error
from cudbound.records import Groups, Records

Array = NDArray[np.float64]

#: Weight in the variance of one unseen case with the largest loss: without it, a hidden subgroup is missed.
UNSEEN = 0.25


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
    bootstrap = records.require("bootstrap")
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


def cost_factor(ratio: float, lower_center: float) -> float:
    """Return the divisor D of the number of rows n if misclassified rows have different costs.

    A loss s W, with W whether the row is wrong and s its severity in [0, 1], has the mean mu = E[s W] and, since
    W^2 = W, the variance E[s^2 W] - mu^2. With r = E[s^2 W] / E[s W] that is mu (r - mu), and mu (1 - mu) where losses
    are 0 and 1; the mean of n losses so varies as that of n / D zeros and ones, with D = (r - mu) / (1 - mu). As
    s^2 <= s, r <= 1 and D <= 1. The derivative of D by mu is (r - 1) / (1 - mu)^2 <= 0, so that D at the lower center
    is the largest between both centers, and n / D the smallest number.

    Parameters
    ----------
    ratio : float
        r, from out-of-bag losses; nan if unknown.
    lower_center : float
        The smaller estimate of mu, in [0, 1].

    Returns
    -------
    float
        In (0, 1]; 1 if r is unknown or the center is not below r (the variance would be negative: they come from
        different losses).

    Examples
    --------
    >>> cost_factor(1.0, 0.3), cost_factor(0.6, 0.2), cost_factor(0.2, 0.2), cost_factor(np.nan, 0.2)
    (1.0, 0.49999999999999994, 1.0, 1.0)
    """
    if not lower_center < ratio:
        return 1.0
    return (ratio - lower_center) / (1.0 - lower_center)


def brier_size(center: float, variance: float, n: float) -> float:
    """Return the number of 0/1 losses whose mean has the same variance as that of n losses with this variance.

    Examples
    --------
    >>> brier_size(0.2, 0.16, 10.0), brier_size(0.0, 0.0, 10.0)
    (10.0, 10.0)
    """
    if center in (0.0, 1.0):
        return n
    largest = center * (1.0 - center)
    return n * largest / min(variance + UNSEEN * (1.0 - center) ** 2 / n, largest)


def brier_variance(records: Records) -> float:
    """Return the variance of the squared errors out of bag, or that on the training rows if it is larger."""
    losses, bootstrap = np.asarray(records.require("losses")), records.require("bootstrap")
    squares = float(leave_one_out_bootstrap_error(np.square(bootstrap.losses), bootstrap.counts))
    return max(squares - out_of_bag_error(records) ** 2, float(losses.var(ddof=1)))


def _cluster_factor(deviations: Array, groups: Groups) -> float:
    """Return the sum of squared group sums divided by the sum of squares of the rows; infinite if that is 0."""
    of_rows = float((deviations**2).sum())
    return float((groups.sum(deviations) ** 2).sum()) / of_rows if of_rows > 0.0 else np.inf


def _between(n_rows: float, effect: float, groups: Groups) -> float:
    return max(n_rows / max(effect, 1.0), min(groups.n_effective, n_rows))
