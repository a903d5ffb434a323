"""The AUC of scores: ties, weights, rows outside bootstrap draws, variances and corrected estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.groups import Groups
from cudbound.basis.validation import Array
from cudbound.point_estimates.bootstrap_632 import error_632_plus
from cudbound.records import SCORES, Records
from cudbound.resampling.bootstrap import BOOTSTRAP

Bools = NDArray[np.bool_]
Codes = NDArray[np.int64]

#: Scores that differ by less than this share of the largest are ties: a matrix product depends on the position of a
#: row.
TIE_SHARE = 1e-12
#: Pairs compared at once, one byte each.
CHUNK_PAIRS = 8_000_000


def order_codes(scores: ArrayLike) -> Codes:
    """Return the rank of each score among the distinct scores of its row, from 0, shape of `scores` (..., n_samples).

    Examples
    --------
    >>> order_codes([0.3, -1.0, 0.3 + 1e-15, 7.0]).tolist()
    [1, 0, 1, 2]
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    steps = np.diff(ordered, axis=-1) > TIE_SHARE * np.abs(values).max(axis=-1, keepdims=True)
    codes = np.zeros(values.shape, dtype=np.int64)
    np.put_along_axis(codes, order[..., 1:], np.cumsum(steps, axis=-1), axis=-1)
    return codes


def weighted_auc(codes: Codes, event: Bools, weights: NDArray[Any]) -> Array:
    """Return the share of pairs of an event and a non-event in which the event has the higher score.

    Ties count one half.

    Parameters
    ----------
    codes : ndarray of int, shape (n_fits, n_samples)
        From `order_codes`.
    event : ndarray of bool, shape (n_samples,)
    weights : ndarray, shape (n_fits, n_samples) or (n_samples,)
        How often each row counts; both classes must occur.

    Returns
    -------
    ndarray of float, shape (n_fits,)

    Examples
    --------
    >>> event = np.array([True, False, False])
    >>> weighted_auc(order_codes([[0.5, 0.1, 0.5]]), event, np.array([1, 2, 1])).round(3)
    array([0.833])
    """
    n_fits, n = codes.shape
    of_others = np.broadcast_to(weights * ~event, codes.shape)
    at = codes + n * np.arange(n_fits)[:, None]
    of_code = np.bincount(at.ravel(), of_others.ravel(), n_fits * n).reshape(n_fits, n)
    below = np.take_along_axis(np.cumsum(of_code, axis=1) - 0.5 * of_code, codes, axis=1)
    of_events = np.broadcast_to(weights * event, codes.shape)
    return np.asarray((of_events * below).sum(axis=1) / (of_events.sum(axis=1) * of_others.sum(axis=1)))


def shares_won(codes: Codes, event: Bools) -> Array:
    """Return 1 for each pair whose event has the higher score, 1/2 for a tie, shape (n_events, n_others)."""
    events, others = codes[event][:, None], codes[~event][None, :]
    return np.asarray((events > others) + 0.5 * (events == others))


def out_of_bag_shares(codes: Codes, event: Bools, counts: NDArray[np.integer[Any]]) -> Array:
    """Return, for each pair of an event and a non-event, the share won among the draws that contain neither.

    Parameters
    ----------
    codes : ndarray of int, shape (n_resamples, n_samples)
        Of the scores of each draw's classifier, from `order_codes`.
    event : ndarray of bool, shape (n_samples,)
    counts : ndarray of int, shape (n_resamples, n_samples)

    Returns
    -------
    ndarray of float, shape (n_events, n_others)
        nan for pairs never out of bag together.
    """
    from sklearn.utils import gen_batches

    out, n = counts == 0, codes.shape[1]
    n_pairs = int(event.sum()) * int((~event).sum())
    kind = np.int16 if n < np.iinfo(np.int16).max else np.int32
    # rows of the draw win no pair, and no pair is won against them
    events = np.where(out, codes, -1)[:, event].astype(kind)
    others = np.where(out, codes, n)[:, ~event].astype(kind)
    halves = np.zeros((events.shape[1], others.shape[1]), dtype=np.int64)
    for part in gen_batches(len(codes), max(1, CHUNK_PAIRS // n_pairs)):
        of_events, of_others = events[part][:, :, None], others[part][:, None, :]
        halves += np.count_nonzero(of_events > of_others, axis=0)
        halves += np.count_nonzero(of_events >= of_others, axis=0)
    together = out[:, event].T.astype(np.float64) @ out[:, ~event].astype(np.float64)
    never = np.full(together.shape, np.nan)
    return np.asarray(np.divide(halves, 2.0 * together, out=never, where=together > 0.0))


def placements(scores: ArrayLike, event: Bools) -> tuple[Array, Array]:
    """Return, for each event, the share of non-events below it, and for each non-event, the share of events above it.

    Ties count one half. Either mean is the AUC.

    Examples
    --------
    >>> [part.tolist() for part in placements([0.5, 0.1, 0.5], np.array([True, False, False]))]
    [[0.75], [1.0, 0.5]]
    """
    won = shares_won(order_codes(scores), event)
    return won.mean(axis=1), won.mean(axis=0)


def delong_variance(of_events: Array, of_others: Array) -> float:
    """Return DeLong's variance of an AUC from `placements`; nan if a class has one row.

    References
    ----------
    DeLong, E. R., DeLong, D. M. and Clarke-Pearson, D. L. (1988). Comparing the areas under two or more correlated
    receiver operating characteristic curves. Biometrics 44, 837-845.

    Examples
    --------
    >>> delong_variance(np.array([1.0, 0.5]), np.array([1.0, 1.0, 0.25]))
    0.125
    """
    if min(of_events.size, of_others.size) < 2:
        return float("nan")
    return float(of_events.var(ddof=1) / of_events.size + of_others.var(ddof=1) / of_others.size)


def clustered_variance(of_events: Array, of_others: Array, event: Bools, groups: Groups) -> float:
    """Return the variance of an AUC for rows in groups, which may contain rows of both classes.

    References
    ----------
    Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. Biometrics 53, 567-578, equation (4).
    """
    parts = []
    for values, rows in ((of_events, event), (of_others, ~event)):
        deviations = np.zeros(event.size)
        deviations[rows] = values - values.mean()
        sums = groups.sum(deviations)
        n_with = np.unique(groups.codes[rows]).size
        if n_with < 2:
            return float("nan")
        parts.append((sums * np.sqrt(n_with / (n_with - 1.0)) / rows.sum(), sums / rows.sum()))
    (adjusted_events, plain_events), (adjusted_others, plain_others) = parts
    n = groups.n_groups
    return float(
        (adjusted_events**2).sum()
        + (adjusted_others**2).sum()
        + 2.0 * n / (n - 1.0) * (plain_events * plain_others).sum()
    )


def hanley_mcneil_size(auc: float, n_events: float, n_others: float) -> float:
    """Return the number of cases for which a proportion has the variance of an AUC with exponential scores.

    AUC (1 - AUC) over this number is the variance of Hanley and McNeil, with (n - 1)/2 for both class sizes minus one.

    References
    ----------
    Hanley, J. A. and McNeil, B. J. (1982). The meaning and use of the area under a receiver operating characteristic
    (ROC) curve. Radiology 143, 29-36; Newcombe, R. G. (2006). Confidence intervals for an effect size measure based on
    the Mann-Whitney statistic, part 2. Statistics in Medicine 25, 559-573, method 5.

    Examples
    --------
    >>> round(hanley_mcneil_size(0.5, 10, 10), 6)
    14.285714
    """
    half = (n_events + n_others) / 2.0 - 1.0
    return n_events * n_others / (1.0 + half * ((1.0 - auc) / (2.0 - auc) + auc / (1.0 + auc)))


ONE_ROW = "undefined: a class has a single row"
NO_DRAW_OF_BOTH = "undefined: no bootstrap draw has both classes; use more bootstrap draws"
NO_PAIR = "undefined: no event and non-event were ever out of bag together; use more bootstrap draws"
#: The AUC of uninformative scores.
NO_INFORMATION = 0.5


@dataclass(frozen=True)
class AucEstimates:
    """Estimates of the AUC of one classifier, each in [0, 1].

    Attributes
    ----------
    training : float
        T.
    out_of_bag : float
        By pairs; nan if no pair was ever out of bag together.
    plus : float
        The .632+ estimate, with losses 1 - AUC and the no-information rate 1/2; nan where `out_of_bag` is.
    n_never : int
        Pairs never out of bag together.
    """

    training: float
    out_of_bag: float
    plus: float
    n_never: int


def aucs_on_draws(records: Records) -> Array:
    """Return A_b, the AUC of each draw's classifier on the draw, shape (n_resamples,)."""
    bootstrap = records.require(BOOTSTRAP)
    return weighted_auc(order_codes(bootstrap.scores), records.event, bootstrap.counts)


def aucs_on_training_rows(records: Records) -> Array:
    """Return D_b, the AUC of each draw's classifier on all training rows, shape (n_resamples,)."""
    codes = order_codes(records.require(BOOTSTRAP).scores)
    return weighted_auc(codes, records.event, np.ones(records.n_samples))


def training_auc(records: Records) -> float:
    """Return T, the AUC of the classifier on its training rows."""
    return float(placements(records.require(SCORES), records.event)[0].mean())


def auc_estimates(records: Records) -> AucEstimates:
    """Return the estimates of the AUC.

    Parameters
    ----------
    records : Records
        With `scores` and `bootstrap`.
    """
    bootstrap, training = records.require(BOOTSTRAP), training_auc(records)
    shares = out_of_bag_shares(order_codes(bootstrap.scores), records.event, bootstrap.counts)
    compared = shares[~np.isnan(shares)]
    left_out = float(compared.mean()) if compared.size else float("nan")
    plus = 1.0 - error_632_plus(1.0 - training, 1.0 - left_out, NO_INFORMATION).estimate
    return AucEstimates(training, left_out, plus, shares.size - compared.size)


@dataclass(frozen=True)
class AucSize:
    """The effective number of cases of an AUC.

    Attributes
    ----------
    n_events, n_others : int
        Rows of each class.
    n_fewer : int
        Rows of the rarer class, or groups with such a row.
    variance : float
        DeLong's variance of the AUC on the training scores, or its version for groups; nan or 0 if it is not
        informative.
    shrinkage : float, default=1.0
        The variance of independent rows divided by that of groups, at most 1.
    """

    n_events: int
    n_others: int
    n_fewer: int
    variance: float
    shrinkage: float = 1.0

    @classmethod
    def of(cls, records: Records) -> AucSize:
        """Return the sizes of a training set, from the scores on it."""
        event, groups = records.event, records.groups
        parts = placements(records.require(SCORES), event)
        sizes = (records.n_events, records.n_samples - records.n_events, records.n_fewer)
        plain = delong_variance(*parts)
        if groups is None:
            return cls(*sizes, plain)
        clustered = clustered_variance(*parts, event, groups)
        shrinkage = min(1.0, plain / clustered) if clustered > 0.0 else 1.0
        return cls(*sizes, clustered, shrinkage)

    def at(self, center: float) -> float:
        """Return the number of cases at a center: by Hanley and McNeil, or by DeLong if scores vary less.

        If every case is ranked correctly, a wrongly ranked subgroup with share e is absent from the s rows of the rarer
        class with probability (1 - e)^s; near 1 the number therefore decreases to s.
        """
        fewer = float(self.n_fewer)
        size = max(self.shrinkage * hanley_mcneil_size(center, self.n_events, self.n_others), fewer)
        size = fewer + (size - fewer) * min(1.0, fewer * (1.0 - center))
        if self.variance > 0.0:
            size = min(size, center * (1.0 - center) / self.variance)
        return max(size, fewer)
