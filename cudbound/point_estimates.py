"""Point estimates of the error from recorded 0/1 losses; they do not care which software recorded them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def leave_one_out_bootstrap_error(losses: ArrayLike, counts: ArrayLike) -> Array:
    """Leave-one-out bootstrap error: mean over points of their mean loss over draws that left them out.

    Parameters
    ----------
    losses : array-like of bool, shape (..., n_resamples, n_samples)
        Whether the classifier fitted to the draw misclassifies the point.
    counts : array-like of int, shape (..., n_resamples, n_samples)
        How often the point stands in the draw; the point is out of bag where this is 0.

    Returns
    -------
    ndarray of float, shape (...)
        Proportions in [0, 1]. Points that every draw holds are left out of the mean; nan if there is no
        other.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA
    92, 548-560.

    Examples
    --------
    >>> leave_one_out_bootstrap_error([[1, 0, 0], [1, 0, 1]], [[0, 2, 1], [0, 3, 0]])
    array(1.)
    """
    out_of_bag = np.asarray(counts) == 0
    times_out = out_of_bag.sum(axis=-2)
    errors = (np.asarray(losses, dtype=bool) & out_of_bag).sum(axis=-2)
    per_point = np.divide(errors, times_out, out=np.zeros(errors.shape), where=times_out > 0)
    n_points = (times_out > 0).sum(axis=-1)
    total = per_point.sum(axis=-1)
    mean = np.divide(total, n_points, out=np.full(np.shape(total), np.nan), where=n_points > 0)
    return np.asarray(mean)


def never_out_of_bag(counts: ArrayLike) -> int:
    """Return the number of points that stand in every draw; `counts` has shape (n_resamples, n_samples)."""
    return int((np.asarray(counts) > 0).all(axis=0).sum())


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
