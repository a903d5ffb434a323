"""Principal components and least squares, each fitted to a stack of weighted rows at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.estimators.batched.columns import CLEAR_SHARE, Columns, Draws, averages
from cudbound.problem.additive_model import TIE_TOLERANCE
from cudbound.problem.coordinates import RANK_TOLERANCE

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Singular values of columns of length 1 above this may be rounding errors or not, up to `CLEAR_SHARE`.
RANK_DOUBT = 0.01 * RANK_TOLERANCE


def principal_components(
    columns: Columns, draws: Draws, *, n_components: int, by_covariance: bool = False
) -> tuple[Columns, Bools]:
    """Project on the first principal axes, in either of their directions.

    Parameters
    ----------
    columns : Columns
    draws : Draws
    n_components : int
        From 1 on. Fits whose rows span fewer dimensions are not clear.
    by_covariance : bool, default=False
        Whether fits count as clear only if the eigenvectors of a covariance matrix of uncentered rows would be clear,
        whose computation loses half of the digits.

    Returns
    -------
    components : Columns
        With fewer columns if there are fewer rows or columns.
    clear : ndarray of bool, shape (n_fits,)

    Examples
    --------
    >>> corners = np.array([[[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]]])
    >>> draws = Draws(np.ones((1, 4)), np.array([-1.0, -1.0, 1.0, 1.0]))
    >>> components, clear = principal_components(Columns(corners), draws, n_components=1)
    >>> np.abs(components.rows[0, :, 0]).round(9).tolist(), clear.tolist()
    ([2.0, 2.0, 2.0, 2.0], [True])
    """
    rows, shares = columns.stacked(draws.n_fits), draws.shares
    means = averages(shares, rows)
    centered = rows - means[:, None, :]
    _, singular, axes = np.linalg.svd(np.sqrt(shares)[:, :, None] * centered, full_matrices=False)
    # the requested ones and the next one, 0 where there are fewer
    leading = np.zeros((len(rows), n_components + 1))
    leading[:, : singular.shape[1]] = singular[:, : n_components + 1]
    power = 2 if by_covariance else 1
    size = np.sqrt((means**2).sum(axis=1) + leading[:, 0] ** 2)
    clear = (-np.diff(leading**power, axis=1) > CLEAR_SHARE * size[:, None] ** power).all(axis=1)
    return Columns(centered @ axes[:, :n_components].swapaxes(1, 2)), clear


@dataclass(frozen=True)
class LeastSquaresFit:
    """The classifier of `cudbound.LeastSquaresClassifier` in a stack of fits."""

    fit_intercept: bool

    @property
    def ignores_constants(self) -> bool:
        """Whether an intercept takes up columns that are constant up to rounding errors."""
        return self.fit_intercept

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Bools, Bools]:
        """Return whether each row is given the second class in each fit, and which fits are clear."""
        scores, clear = least_squares_scores(
            columns.stacked(draws.n_fits), draws.shares, draws.labels, fit_intercept=self.fit_intercept
        )
        return scores >= -TIE_TOLERANCE, clear


def least_squares_scores(
    rows: Array, shares: Array, targets: Array, *, fit_intercept: bool
) -> tuple[Array, Bools]:
    """Return the scores of all rows by least squares.

    Where coefficients are not unique, the fit is clear only if all columns have the same length and an intercept is
    fitted: then it has those of least norm.

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
    # for columns of equal length the pseudo-inverse gives coefficients of least norm; and what rounding left of means
    # is an intercept, unless they are subtracted again
    shortest = np.where(constant, np.inf, lengths).min(axis=1, initial=np.inf)
    alike = lengths.max(axis=1, initial=0.0) <= (1.0 + CLEAR_SHARE**2) * shortest
    clear &= unique | (alike & fit_intercept)
    inverse = np.divide(1.0, singular, out=np.zeros_like(singular), where=kept)
    moments = np.einsum("fnr,fn->fr", left, roots * (targets - intercepts[:, None]))
    coef = np.einsum("frc,fr->fc", right, inverse * moments)
    return (rows @ coef[:, :, None])[:, :, 0] + intercepts[:, None], clear
