"""Linear classifiers of a stack of fits: the exact minimizers of their penalized losses, and least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cudbound.estimators.batched.columns import CLEAR_SHARE, Array, Bools, Columns, Draws, averages
from cudbound.losses.surrogates import get_loss
from cudbound.problem.additive_model import TIE_TOLERANCE
from cudbound.problem.coordinates import RANK_TOLERANCE
from cudbound.problem.problem import Problem
from cudbound.solve.native import fit_stack, minimize

#: Error of a score by the kernel's minimizer, relative to the sum of its terms. Its accuracy is in the loss.
KERNEL_DOUBT = 1e-6
#: Singular values of columns of length 1 above this may be rounding errors or not, up to `CLEAR_SHARE`.
RANK_DOUBT = 0.01 * RANK_TOLERANCE


@dataclass(frozen=True)
class LinearFit:
    """A linear classifier that minimizes sum_i c_i loss_i + sum_j r_j beta_j^2, with class weights c_i.

    Attributes
    ----------
    loss : str
        Name of one of the package's losses.
    penalty : float or ndarray of float, shape (n_columns,)
        Strengths r_j of the columns.
    fit_intercept : bool, default=True
    intercept_penalty : float, default=0.0
        Strength of the intercept.
    class_weight : (float, float) or "balanced", default=(1.0, 1.0)
        Weights of the first and of the second class; "balanced" gives each class n / 2 in every training set.
    per_row : bool, default=False
        Whether the strengths are relative to the weighted mean of the losses instead of their sum.
    ties : {"alone", "second"}, default="alone"
        Meaning of a score of 0, up to rounding: "alone" makes such a fit by itself, since in scikit-learn a rounding
        error decides; "second" gives the second class, as in this package.
    n_jobs : int, default=1
        Threads.
    """

    loss: str
    penalty: float | Array
    fit_intercept: bool = True
    intercept_penalty: float = 0.0
    class_weight: tuple[float, float] | Literal["balanced"] = (1.0, 1.0)
    per_row: bool = False
    ties: Literal["alone", "second"] = "alone"
    n_jobs: int = 1

    @property
    def ignores_constants(self) -> bool:
        """Whether an intercept or a penalty makes columns that are constant up to rounding errors harmless."""
        return self.fit_intercept or bool(np.all(np.asarray(self.penalty) > 0.0))

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Bools, Bools, Array]:
        """Return whether each row is assigned the second class in each fit, which fits are clear, and the scores."""
        loss = get_loss(self.loss)
        weights = self._weights(draws)
        strengths = self._strengths(columns.n_columns, weights)
        flat = columns.scale is None and columns.n_columns >= draws.labels.size and not np.any(self.penalty)
        if not loss.smooth or flat:  # the latter never has a single minimizer
            scores, doubt = np.zeros(weights.shape), np.zeros(weights.shape)
            found = np.zeros(draws.n_fits, dtype=bool)
        else:
            scores, doubt, found = fit_stack(
                columns.rows,
                draws.labels,
                weights,
                strengths,
                loss=self.loss,
                shift=columns.shift,
                scale=columns.scale,
                fit_intercept=self.fit_intercept,
                threads=self.n_jobs,
            )
        if not loss.smooth or (self.ties == "second" and loss.vanishes):
            # clones of this package's classifiers refuse separable training sets under a loss without a minimizer
            rest = np.flatnonzero(~found)
            scores[rest], found[rest] = self._by_kernel(columns, draws, weights, strengths, rest)
        if self.ties == "second":
            return scores >= -TIE_TOLERANCE, found, scores
        # without an intercept, scikit-learn always gives a row of zeros the first class
        zeros = np.zeros(scores.shape, dtype=bool) if self.fit_intercept else (scores == 0.0) & (doubt == 0.0)
        undecided = (np.abs(scores) <= np.maximum(doubt, TIE_TOLERANCE)) & ~zeros
        return scores > 0.0, found & ~undecided.any(axis=1), scores

    def _weights(self, draws: Draws) -> Array:
        """Return the weights of the losses of all rows in each fit, shape (n_fits, n_samples)."""
        if self.class_weight == (1.0, 1.0):
            return draws.counts
        if self.class_weight == "balanced":
            seconds = draws.counts @ (draws.labels > 0.0)
            of_classes = 0.5 * draws.totals / np.stack([draws.totals - seconds, seconds])
        else:
            of_classes = np.array(self.class_weight)[:, None]
        first, second = of_classes[:, :, None]
        return np.asarray(draws.counts * np.where(draws.labels > 0.0, second, first))

    def _strengths(self, n_columns: int, weights: Array) -> Array:
        """Return the strengths in each fit, that of the intercept first, shape (n_fits, n_coefficients)."""
        strengths = np.broadcast_to(np.asarray(self.penalty, dtype=np.float64), (n_columns,))
        if self.fit_intercept:
            strengths = np.concatenate([[self.intercept_penalty], strengths])
        factors = weights.sum(axis=1) if self.per_row else np.ones(len(weights))
        return np.asarray(factors[:, None] * strengths)

    def _by_kernel(
        self, columns: Columns, draws: Draws, weights: Array, strengths: Array, fits: NDArray[np.intp]
    ) -> tuple[Array, Bools]:
        """Return the scores of fits that Newton's method does not find, and whether they are reliable."""
        scores, sure = np.zeros((fits.size, draws.labels.size)), np.zeros(fits.size, dtype=bool)
        shared = columns.rows.ndim == 2 and columns.shift is columns.scale is None
        if shared and self.class_weight != "balanced":
            # one problem for all fits with the same strengths
            of_class = np.where(draws.labels > 0.0, self.class_weight[1], self.class_weight[0])
            _, groups = np.unique(strengths[fits], axis=0, return_inverse=True)
            for group in range(groups.max(initial=-1) + 1):
                part = np.flatnonzero(groups == group)
                counts = draws.counts[fits[part]].astype(np.int32)
                scores[part], sure[part] = self._minimum(
                    columns.rows, draws.labels, counts, of_class, strengths[fits[part[0]]]
                )
            return scores, sure
        for place, fit in enumerate(fits):
            rows = columns[np.arange(draws.n_fits) == fit].stacked(1)[0]
            ones = (weights[fit] > 0.0).astype(np.int32)[None]
            found = self._minimum(rows, draws.labels, ones, weights[fit], strengths[fit])
            scores[place], sure[place] = found[0][0], found[1][0]
        return scores, sure

    def _minimum(
        self, rows: Array, labels: Array, counts: NDArray[np.int32], weights: Array, strengths: Array
    ) -> tuple[Array, Bools]:
        design = np.column_stack([np.ones(labels.size), rows]) if self.fit_intercept else rows
        problem = Problem.of(
            design,
            labels,
            np.zeros(design.shape[1]),
            counts,
            loss=get_loss(self.loss),
            penalty=strengths / labels.size if strengths.any() else None,
            sample_weight=weights,
        )
        found = minimize(problem)
        scores = found.coef @ design.T
        near = np.abs(scores) <= KERNEL_DOUBT * (np.abs(found.coef) @ np.abs(design).T)
        sure = np.asarray((self.ties == "second") | ~near.any(axis=1))
        return scores, sure


@dataclass(frozen=True)
class LeastSquaresFit:
    """The classifier of `cudbound.LeastSquaresClassifier` in a stack of fits."""

    fit_intercept: bool

    @property
    def ignores_constants(self) -> bool:
        """Whether an intercept takes up columns that are constant up to rounding errors."""
        return self.fit_intercept

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Bools, Bools, Array]:
        """Return whether each row is assigned the second class in each fit, which fits are clear, and the scores."""
        scores, clear = least_squares_scores(
            columns.stacked(draws.n_fits), draws.shares, draws.labels, fit_intercept=self.fit_intercept
        )
        return scores >= -TIE_TOLERANCE, clear, scores


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
