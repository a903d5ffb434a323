"""The additive model: design rows, labels, fitted coefficients and the convex loss they minimize."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cudbound.losses.surrogates import Loss

Array = NDArray[np.float64]

#: Scores this close to 0 count as 0. They are on the scale of the labels, -1 to +1, and carry a rounding error of
#: 1e-14 or so: without this rule the class of a point on the boundary would differ from machine to machine.
TIE_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Polish:
    """The change of the coefficients to the exact minimizer of the loss.

    Attributes
    ----------
    residual : float
        Optimality residual before the change, see `cudbound.solve.minimum.optimality_residual`.
    coef_change : float
        Length of the difference of the coefficients, relative to the length of the fitted ones.
    score_change : float
        Largest absolute change of the score of a training row.
    n_changed_predictions : int
        Number of training rows whose predicted class changed.
    """

    residual: float
    coef_change: float
    score_change: float
    n_changed_predictions: int

    def __str__(self) -> str:
        return (
            f"polished: residual before {self.residual:.1e}, largest change of a training score "
            f"{self.score_change:.2g}, {self.n_changed_predictions} training predictions changed"
        )


@dataclass(frozen=True)
class AdditiveModel:
    """A fitted classifier sign(b(gamma-hat, x)'beta) on its training set, as plain arrays.

    Attributes
    ----------
    design : ndarray of float, shape (n_samples, n_coefficients)
        Rows b(gamma-hat, x_i); the column of ones of an intercept, if any, is the first.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    coef : ndarray of float, shape (n_coefficients,)
        Fitted coefficients beta-hat.
    loss : Loss
        The surrogate that `coef` minimizes.
    classes : ndarray, shape (2,)
        The labels of the classes -1 and +1.
    penalty : ndarray of float, shape (n_coefficients,), or None
        Strengths r_j of the quadratic penalty sum_j r_j beta_j^2 on the mean loss; None means 0.
    l1_penalty : ndarray of float, shape (n_coefficients,), or None
        Strengths s_j of the l1 penalty sum_j s_j abs(beta_j) on the mean loss; None means 0.
    sample_weight : ndarray of float, shape (n_samples,), or None
        Weights of the rows in the mean loss; None means 1.
    offset : float
        Added to the scores in the loss, not in the classification: a decision threshold other than 0.
    tuned_by : tuple of str
        The searches that tuned a penalty strength or a threshold on the same data, such as ("GridSearchCV",).
    polish : Polish or None
        Difference between `coef` and the fitted coefficients; None if they are the same.
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
    tuned_by: tuple[str, ...] = ()
    polish: Polish | None = None

    @property
    def training_errors(self) -> NDArray[np.bool_]:
        """Whether each row is misclassified, with sign(0) = +1; shape (n_samples,)."""
        return np.asarray(np.where(self.design @ self.coef >= -TIE_TOLERANCE, 1.0, -1.0) != self.labels)

    @property
    def training_error(self) -> float:
        """Share of the training rows that the fitted classifier misclassifies, in [0, 1]."""
        return float(self.training_errors.mean())

    def reversed(self) -> AdditiveModel:
        """Return the same classifier with the other class as +1, the class of a score of exactly 0."""
        return replace(
            self, labels=-self.labels, coef=-self.coef, offset=-self.offset, classes=self.classes[::-1]
        )
