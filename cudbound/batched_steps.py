"""Standard scaling, principal components and least squares, each fitted to a stack of weighted rows at once.

Rows have shape (n_fits, n_samples, n_columns), and `shares` holds their weights in each fit, shape (n_fits,
n_samples), non-negative with the sum 1. Every step also returns which fits are clear: those in which it hangs on no
rounding error what comes out, but for the directions of principal axes. What comes out of the others means nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.least_squares import RANK_TOLERANCE

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Share of the largest value in question that a standard deviation, a difference of two or a singular value needs to
#: be clear. Rounding errors are then about 1e-16 over this share.
CLEAR_SHARE = 1e-6

#: Singular values of columns of length 1 above this may be rounding errors or not, up to `CLEAR_SHARE`.
RANK_DOUBT = 0.01 * RANK_TOLERANCE


def standardise(
    rows: Array, shares: Array, *, with_mean: bool = True, with_std: bool = True, centred_again: bool = False
) -> tuple[Array, Bools]:
    """Subtract the mean of each column, and divide it by its standard deviation.

    A column that is constant in a fit, among the rows that have a share, is not divided.

    Parameters
    ----------
    rows : ndarray of float, shape (n_fits, n_samples, n_columns)
    shares : ndarray of float, shape (n_fits, n_samples)
    with_mean, with_std : bool, default=True
        Whether to subtract means, and whether to divide.
    centred_again : bool, default=False
        Whether the next step subtracts means too. Otherwise fits with a constant column are not clear: a mean that
        was rounded leaves rounding errors in it.

    Returns
    -------
    rows : ndarray of float, shape (n_fits, n_samples, n_columns)
    clear : ndarray of bool, shape (n_fits,)

    Examples
    --------
    >>> rows, clear = standardise(np.array([[[1.0], [3.0], [9.0]]]), np.array([[0.5, 0.5, 0.0]]))
    >>> rows[0, :, 0].tolist(), clear.tolist()
    ([-1.0, 1.0, 7.0], [True])
    """
    # seen from a row of the fit a constant column is exactly 0
    centred = rows - np.take_along_axis(rows, shares.argmax(axis=1)[:, None, None], axis=1)
    constant = averages(shares, np.abs(centred)) == 0.0
    centred -= averages(shares, centred)[:, None, :]
    deviations = np.sqrt(averages(shares, centred**2))
    varies = deviations > CLEAR_SHARE * np.abs(rows).max(axis=1, initial=0.0)
    clear = (constant | varies).all(axis=1)
    if with_mean and not centred_again:
        clear &= ~constant.any(axis=1)
    divisors = np.where(varies, deviations, 1.0) if with_std else np.ones_like(deviations)
    return (centred if with_mean else rows) / divisors[:, None, :], clear


def principal_components(
    rows: Array, shares: Array, *, n_components: int, by_covariance: bool = False
) -> tuple[Array, Bools]:
    """Project on the first principal axes, in either of their directions.

    Parameters
    ----------
    rows : ndarray of float, shape (n_fits, n_samples, n_columns)
    shares : ndarray of float, shape (n_fits, n_samples)
    n_components : int
        From 1 on. Fits whose rows span fewer dimensions are not clear.
    by_covariance : bool, default=False
        Whether fits count as clear only if the eigenvectors of a covariance matrix would be so, computed from rows
        that were not centred, which loses half of the digits.

    Returns
    -------
    components : ndarray of float, shape (n_fits, n_samples, n_components)
        With fewer columns if there are not so many rows or columns.
    clear : ndarray of bool, shape (n_fits,)

    Examples
    --------
    >>> corners = np.array([[[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]]])
    >>> components, clear = principal_components(corners, np.full((1, 4), 0.25), n_components=1)
    >>> np.abs(components[0, :, 0]).round(9).tolist(), clear.tolist()
    ([2.0, 2.0, 2.0, 2.0], [True])
    """
    means = averages(shares, rows)
    centred = rows - means[:, None, :]
    _, singular, axes = np.linalg.svd(np.sqrt(shares)[:, :, None] * centred, full_matrices=False)
    # those asked for and the next one, 0 where there are not so many
    leading = np.zeros((len(rows), n_components + 1))
    leading[:, : singular.shape[1]] = singular[:, : n_components + 1]
    power = 2 if by_covariance else 1
    size = np.sqrt((means**2).sum(axis=1) + leading[:, 0] ** 2)
    clear = (-np.diff(leading**power, axis=1) > CLEAR_SHARE * size[:, None] ** power).all(axis=1)
    return centred @ axes[:, :n_components].swapaxes(1, 2), clear


def least_squares_scores(
    rows: Array, shares: Array, targets: Array, *, fit_intercept: bool
) -> tuple[Array, Bools]:
    """Return the scores of all rows by least squares.

    Where coefficients are not unique, the fit is clear only if all columns have one length, and an intercept is fitted:
    then it has those of least norm.

    Parameters
    ----------
    rows : ndarray of float, shape (n_fits, n_samples, n_columns)
    shares : ndarray of float, shape (n_fits, n_samples)
    targets : ndarray of float, shape (n_samples,)
    fit_intercept : bool

    Returns
    -------
    scores : ndarray of float, shape (n_fits, n_samples)
    clear : ndarray of bool, shape (n_fits,)

    Examples
    --------
    >>> rows, shares = np.array([[[0.0], [1.0], [2.0]]]), np.array([[0.5, 0.5, 0.0]])
    >>> scores, clear = least_squares_scores(rows, shares, np.array([-1.0, 1.0, 1.0]), fit_intercept=True)
    >>> scores.round(9).tolist(), clear.tolist()
    ([[-1.0, 1.0, 3.0]], [True])
    """
    roots = np.sqrt(shares)
    size = np.sqrt(averages(shares, rows**2))
    intercepts = np.zeros(len(rows))
    if fit_intercept:
        intercepts = shares @ targets
        rows = rows - averages(shares, rows)[:, None, :]
    lengths = np.sqrt(averages(shares, rows**2))
    constant = lengths <= RANK_TOLERANCE * size
    rows = np.where(constant[:, None, :], 0.0, rows / np.where(constant, 1.0, lengths)[:, None, :])
    left, singular, right = np.linalg.svd(roots[:, :, None] * rows, full_matrices=False)
    kept = singular > CLEAR_SHARE
    clear = ~((singular > RANK_DOUBT) & ~kept).any(axis=1)
    clear &= (constant | (lengths > CLEAR_SHARE * size)).all(axis=1)
    unique = kept.sum(axis=1) == (~constant).sum(axis=1)
    # of columns of one length the pseudo-inverse gives coefficients of least norm; and what rounding left of means is
    # an intercept, unless they are subtracted again
    shortest = np.where(constant, np.inf, lengths).min(axis=1, initial=np.inf)
    alike = lengths.max(axis=1, initial=0.0) <= (1.0 + CLEAR_SHARE**2) * shortest
    clear &= unique | (alike & fit_intercept)
    inverse = np.divide(1.0, singular, out=np.zeros_like(singular), where=kept)
    moments = np.einsum("fnr,fn->fr", left, roots * (targets - intercepts[:, None]))
    coef = np.einsum("frc,fr->fc", right, inverse * moments)
    return (rows @ coef[:, :, None])[:, :, 0] + intercepts[:, None], clear


def averages(shares: Array, rows: Array) -> Array:
    """Return the weighted means of the columns in each fit, shape (n_fits, n_columns)."""
    return np.asarray((shares[:, None, :] @ rows)[:, 0])
