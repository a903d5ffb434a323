"""Weighted least squares with an intercept, one fit or a stack of fits that differ in their weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.problem.additive_model import TIE_TOLERANCE

# Here for singular values, of a matrix whose columns, before they were centered, had length 1, or at most 1 if they
# were rotated. Were the solver to keep a direction that a fit leaves out, the fit would not be its minimizer.
from cudbound.problem.coordinates import RANK_TOLERANCE

Array = NDArray[np.float64]

#: Condition number (1-norm) of a draw's Gram matrix up to which the normal equations are solved. In the
#: orthonormalized design it is near 1, and the error of a score stays below about this number times 1e-16;
#: worse draws go through a singular value decomposition.
MAX_CONDITION = 1e5

#: Largest number of float64 values in one intermediate array, 16 MB.
CHUNK_VALUES = 2_000_000


def minimum_norm_fits(
    features: Array, targets: Array, weights: Array, *, fit_intercept: bool
) -> tuple[Array, Array]:
    """Fit a stack of weighted least-squares problems on the same rows.

    If the minimizer is not unique, the one with the smallest Euclidean norm of the coefficients is used. The intercept
    is not part of that norm, as in `sklearn.linear_model.LinearRegression`: equal targets then always give the
    constant function.

    Parameters
    ----------
    features : ndarray of float, shape (n_samples, n_features)
    targets : ndarray of float, shape (n_samples,)
    weights : ndarray of float, shape (n_fits, n_samples)
        Non-negative, with a positive sum in every row.
    fit_intercept : bool

    Returns
    -------
    coef : ndarray of float, shape (n_fits, n_features)
    intercept : ndarray of float, shape (n_fits,)
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    if features.shape[1] > features.shape[0]:
        rotated, axes = _rotate(features)
        lengths = np.sqrt(shares @ rotated**2)
        # rotated columns share one unit, and one of mere rounding errors must stay small beside the others
        lengths[:] = lengths.max(axis=1, keepdims=True, initial=0.0)
        coef, intercept = _fit(rotated, targets, shares, lengths, fit_intercept=fit_intercept)
        return coef @ axes, intercept
    return _fit(features, targets, shares, np.sqrt(shares @ features**2), fit_intercept=fit_intercept)


def _chunks(n_fits: int, n_values: int) -> list[slice]:
    """Split fits with so many values each into parts of at most `CHUNK_VALUES`."""
    step = max(1, CHUNK_VALUES // max(1, n_values))
    return [slice(start, start + step) for start in range(0, n_fits, step)]


def minimum_norm_scores(features: Array, labels: Array, weights: Array, *, fit_intercept: bool) -> Array:
    """Return the scores of all rows by `minimum_norm_fits`, shape of `weights`, with few fits in memory at a time."""
    scores = np.empty(weights.shape)
    for part in _chunks(len(weights), features.size):
        coef, intercept = minimum_norm_fits(features, labels, weights[part], fit_intercept=fit_intercept)
        scores[part] = coef @ features.T + intercept[:, None]
    return scores


def _fit(
    features: Array, targets: Array, shares: Array, lengths: Array, *, fit_intercept: bool
) -> tuple[Array, Array]:
    """Fit to columns divided by `lengths`, shape (n_fits, n_features); a length of 0 leaves a column as it is."""
    roots = np.sqrt(shares)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    means, target_means = np.zeros(lengths.shape), np.zeros(len(shares))
    if fit_intercept:
        means, target_means = shares @ features, shares @ targets
    centered = features - means[:, None, :]
    columns = roots[:, :, None] * centered / lengths[:, None, :]
    coef = _solve(columns, roots * (targets - target_means[:, None]), lengths)
    return coef, target_means - np.einsum("bp,bp->b", means, coef)


def _solve(matrices: Array, targets: Array, lengths: Array) -> Array:
    """Solve a stack of problems whose columns were divided by `lengths`; minimum norm in original units."""
    # a column that centering makes vanish does not enter, and the length of one of mere rounding errors, such as a
    # constant column that was standardized, would drown the others in the null space
    vanishing = (matrices**2).sum(axis=1) <= RANK_TOLERANCE**2
    matrices = np.where(vanishing[:, None, :], 0.0, matrices)
    lengths = np.where(vanishing, lengths.max(axis=1, keepdims=True, initial=0.0), lengths)
    left, singular, right = np.linalg.svd(matrices, full_matrices=False)
    kept = singular > RANK_TOLERANCE
    inverse = np.divide(1.0, singular, out=np.zeros_like(singular), where=kept)
    coef = np.einsum("brp,br->bp", right, inverse * np.einsum("bnr,bn->br", left, targets)) / lengths
    deficient = np.flatnonzero(~kept.all(axis=1))
    if deficient.size:
        # a move along the null space does not change the fit; remove the part that only adds to the
        # norm
        null = (right * ~kept[:, :, None])[deficient].swapaxes(1, 2) / lengths[deficient][:, :, None]
        excess = null @ (np.linalg.pinv(null) @ coef[deficient][:, :, None])
        coef[deficient] -= excess[:, :, 0]
    return np.asarray(coef)


def _rotate(features: Array) -> tuple[Array, Array]:
    """Return coordinates of the rows in the space that they span, and orthonormal axes of that space.

    A rotation keeps the norm of coefficients, and minimum-norm coefficients lie in the space of the rows.
    """
    left, singular, axes = np.linalg.svd(features, full_matrices=False)
    kept = singular > RANK_TOLERANCE * singular.max()
    return left[:, kept] * singular[kept], axes[kept]


def _orthonormal_columns(features: Array, *, fit_intercept: bool) -> Array:
    """Return an orthonormal basis of the space of scores, shape (n_samples, rank); an intercept's column first."""
    n = len(features)
    lengths = np.sqrt((features**2).mean(axis=0))
    scaled = features / np.where(lengths > 0.0, lengths, 1.0)
    if fit_intercept:
        scaled = scaled - scaled.mean(axis=0)
    left, singular, _ = np.linalg.svd(scaled, full_matrices=False)
    axes = left[:, singular > RANK_TOLERANCE * n**0.5]
    return np.column_stack([np.full(n, n**-0.5), axes]) if fit_intercept else axes


class LeastSquaresRefit:
    """Refits of one least-squares classifier on the same rows with different weights, as batched linear algebra.

    Agrees with `cudbound.LeastSquaresClassifier` fitted to the resampled rows, and also fits a single class: that
    gives the constant classifier if there is an intercept.

    Parameters
    ----------
    features : ndarray of float, shape (n_samples, n_features)
        Without a column for the intercept.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    fit_intercept : bool
    """

    def __init__(self, features: Array, labels: Array, *, fit_intercept: bool):
        self._features = features
        self._basis = _orthonormal_columns(self._features, fit_intercept=fit_intercept)
        self._pairs = np.triu_indices(self._basis.shape[1])
        self._products = self._basis[:, self._pairs[0]] * self._basis[:, self._pairs[1]]
        self._moments = self._basis * labels[:, None]
        self._labels = labels
        self._fit_intercept = fit_intercept

    def __call__(self, weights: NDArray[np.float64]) -> tuple[NDArray[np.bool_], Array]:
        """Return whether each training row is misclassified, and its score, shape of `weights` (n_fits, n_samples)."""
        size = self._basis.shape[1]
        scores = np.empty(weights.shape)
        for part in _chunks(len(weights), max(self._labels.size, size * size)):
            scores[part] = self._scores(weights[part])
        return (scores >= -TIE_TOLERANCE) != (self._labels > 0.0), scores

    def _scores(self, weights: Array) -> Array:
        scores = np.zeros(weights.shape)
        solved = self._solve_normal_equations(weights, scores)
        rest = np.setdiff1d(np.arange(len(weights)), solved, assume_unique=True)
        scores[rest] = minimum_norm_scores(
            self._features, self._labels, weights[rest], fit_intercept=self._fit_intercept
        )
        return scores

    def _solve_normal_equations(self, weights: Array, scores: Array) -> NDArray[np.intp]:
        """Fill in the scores of the well-posed fits; return which these are."""
        size = self._basis.shape[1]
        enough_rows = np.flatnonzero((weights > 0.0).sum(axis=1) >= size)
        if size == 0 or enough_rows.size == 0:
            return enough_rows
        products = weights[enough_rows] @ self._products
        gram = np.empty((enough_rows.size, size, size))
        gram[:, self._pairs[0], self._pairs[1]] = products
        gram[:, self._pairs[1], self._pairs[0]] = products
        well_posed = np.linalg.cond(gram, 1) <= MAX_CONDITION
        solved = enough_rows[well_posed]
        right = (weights[solved] @ self._moments)[:, :, None]
        scores[solved] = np.linalg.solve(gram[well_posed], right)[:, :, 0] @ self._basis.T
        return np.asarray(solved)
