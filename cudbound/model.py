"""The additive model: design rows, labels, fitted coefficients and the convex loss they minimise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.exceptions import NotMinimiserError
from cudbound.losses import Loss

Array = NDArray[np.float64]

#: Largest accepted optimality residual. A least-squares fit in double precision stays near 1e-12 even on badly
#: conditioned designs; coefficients fitted to other data, or with other weights, miss it by many orders.
RESIDUAL_TOLERANCE = 1e-6

#: Scores this close to 0 count as 0. They are on the scale of the labels, -1 to +1, and carry a rounding error
#: of 1e-14 or so: without it the class of a point on the boundary would differ from machine to machine.
TIE_TOLERANCE = 1e-10


@dataclass(frozen=True)
class AdditiveModel:
    """A fitted classifier sign(b(gamma-hat, x)'beta) on its training set, as plain arrays.

    Attributes
    ----------
    design : ndarray of float, shape (n_samples, n_coefficients)
        Rows b(gamma-hat, x_i); the column of ones of an intercept, where there is one, is the first.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    coef : ndarray of float, shape (n_coefficients,)
        Fitted coefficients beta-hat.
    loss : Loss
        The surrogate that `coef` minimises.
    classes : ndarray, shape (2,)
        The user's names of the classes -1 and +1.
    penalty : ndarray of float, shape (n_coefficients,), or None
        Strengths r_j of the quadratic penalty sum_j r_j beta_j^2 on the mean loss; None means 0.
    l1_penalty : ndarray of float, shape (n_coefficients,), or None
        Strengths s_j of the l1 penalty sum_j s_j abs(beta_j) on the mean loss; None means 0.
    sample_weight : ndarray of float, shape (n_samples,), or None
        Weights of the rows in the mean loss; None means 1.
    offset : float
        Added to the scores in the loss, not in the classification: a decision threshold other than 0.
    """

    design: Array
    labels: Array
    coef: Array
    loss: Loss
    classes: NDArray[np.generic]
    penalty: Array | None = None
    l1_penalty: Array | None = None
    sample_weight: Array | None = None
    offset: float = 0.0

    @property
    def training_errors(self) -> NDArray[np.bool_]:
        """Whether each row is misclassified, with sign(0) = +1; shape (n_samples,)."""
        return np.asarray(np.where(self.design @ self.coef >= -TIE_TOLERANCE, 1.0, -1.0) != self.labels)

    @property
    def training_error(self) -> float:
        """Share of the training rows that the fitted classifier gets wrong, in [0, 1]."""
        return float(self.training_errors.mean())


def optimality_residual(model: AdditiveModel) -> float:
    """Largest relative correlation of the loss gradient with a design column; 0 at the exact minimiser.

    For column j it is |sum_i x_ij l'_i| / (|x_j| |l'|), a cosine, so it depends neither on the scale of the
    columns nor on the number of rows. A gradient at rounding level (every point fitted exactly) counts as 0.
    """
    scores = model.design @ model.coef
    gradient = model.loss.gradient(model.labels, scores)
    gradient_norm = float(np.linalg.norm(gradient))
    rounding = 1e-10 * np.sqrt(model.labels.size)
    if gradient_norm <= rounding:
        return 0.0
    column_norms = np.linalg.norm(model.design, axis=0)
    cosines = np.abs(model.design.T @ gradient)[column_norms > 0] / column_norms[column_norms > 0]
    return float(cosines.max(initial=0.0) / gradient_norm)


def check_minimiser(model: AdditiveModel) -> None:
    """Raise `NotMinimiserError` unless the fitted coefficients minimise the loss on these rows."""
    residual = optimality_residual(model)
    if not residual <= RESIDUAL_TOLERANCE:
        raise NotMinimiserError(
            f"The fitted coefficients do not minimise the mean {model.loss.name} loss on the X and y that were "
            f"passed: optimality residual {residual:.2e}, allowed {RESIDUAL_TOLERANCE:.0e}. Pass the X and y that "
            "the classifier was fitted to, without sample weights, or fit it again on them."
        )
