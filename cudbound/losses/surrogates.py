"""Convex surrogate losses, as functions of the label y in {-1, +1} and the score f = b(gamma-hat, x)'beta.

Each loss is one small object with a counterpart in the compiled solver (``solvers/src/problem/loss.hpp``). All losses
depend only on the margin m = y f, including the squared loss, which is (1 - m)^2 since y^2 = 1.

References
----------
F. Bach, "Self-concordant analysis for logistic regression", Electronic Journal of Statistics 4 (2010), section 2.
T. Zhang, "Statistical behavior and consistency of classification methods based on convex risk minimization", Annals of
Statistics 32 (2004), pages 56-85.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cudbound.basis.exceptions import ParameterError

Array = NDArray[np.float64]


class Loss(Protocol):
    """Protocol of surrogate losses."""

    @property
    def name(self) -> str:
        """Its name in ``loss=``."""

    @property
    def vanishes(self) -> bool:
        """Whether it decreases to 0 without reaching it: separable data then have no minimizer."""

    @property
    def quadratic(self) -> bool:
        """Whether it is quadratic in the score everywhere: linear equations then give its minimizer."""

    @property
    def score_is_logit(self) -> bool:
        """Whether classifiers with this loss use the inverse logit of the score as the probability of class +1."""

    def value(self, labels: Array, scores: Array) -> Array:
        """Loss of each point, shape of `scores`."""


class NativeLoss(Loss, Protocol):
    """A loss of the compiled solver, with its derivatives; at a kink, those on the side of large margins."""

    @property
    def smooth(self) -> bool:
        """Whether it has a gradient everywhere: its curvature then determines how coefficients vary."""

    def gradient(self, labels: Array, scores: Array) -> Array:
        """First derivative in the score, shape of `scores`."""

    def curvature(self, labels: Array, scores: Array) -> Array:
        """Second derivative in the score, shape of `scores`."""


@dataclass(frozen=True)
class LossTraits:
    """Defaults of the losses of the compiled solver, see `NativeLoss`; each class sets what differs."""

    name: str
    vanishes: bool = False
    quadratic: bool = False
    score_is_logit: bool = False
    smooth: bool = True


@dataclass(frozen=True)
class SquaredLoss(LossTraits):
    """Squared error (y - f)^2, the surrogate of Laber & Murphy (2008), section 5. Curvature 2 everywhere."""

    name: str = "squared"
    quadratic: bool = True

    def value(self, labels: Array, scores: Array) -> Array:
        """Return (y - f)^2."""
        return (labels - scores) ** 2

    def gradient(self, labels: Array, scores: Array) -> Array:
        """Return -2 (y - f)."""
        return -2.0 * (labels - scores)

    def curvature(self, labels: Array, scores: Array) -> Array:
        """Return 2 everywhere."""
        return np.full(np.broadcast_shapes(np.shape(labels), np.shape(scores)), 2.0)


@dataclass(frozen=True)
class LogisticLoss(LossTraits):
    """Logistic loss log(1 + exp(-m)), the negative log-likelihood of logistic regression.

    Self-concordant in the generalized sense of Bach (2010), section 2: the third derivative is, in absolute value, at
    most the second, so that the curvature at scores h apart differs by a factor of exp(abs(h)) at most.
    """

    name: str = "logistic"
    vanishes: bool = True
    score_is_logit: bool = True

    def value(self, labels: Array, scores: Array) -> Array:
        """Return log(1 + exp(-m))."""
        return np.logaddexp(0.0, -labels * scores)

    def gradient(self, labels: Array, scores: Array) -> Array:
        """Return -y / (1 + exp(m))."""
        return np.asarray(-labels * expit(-labels * scores))

    def curvature(self, labels: Array, scores: Array) -> Array:
        """Return 1 / ((1 + exp(m)) (1 + exp(-m)))."""
        margins = labels * scores
        return np.asarray(expit(margins) * expit(-margins))


@dataclass(frozen=True)
class ExponentialLoss(LossTraits):
    """Exponential loss exp(-m), the surrogate of boosting. Self-concordant like the logistic loss."""

    name: str = "exponential"
    vanishes: bool = True

    def value(self, labels: Array, scores: Array) -> Array:
        """Return exp(-m)."""
        return _exponential(-labels * scores)

    def gradient(self, labels: Array, scores: Array) -> Array:
        """Return -y exp(-m)."""
        return -labels * _exponential(-labels * scores)

    def curvature(self, labels: Array, scores: Array) -> Array:
        """Return exp(-m)."""
        return _exponential(-labels * scores)


@dataclass(frozen=True)
class SquaredHingeLoss(LossTraits):
    """Squared hinge loss max(0, 1 - m)^2. Piecewise quadratic: curvature 2 below margin 1, 0 from 1 on."""

    name: str = "squared_hinge"

    def value(self, labels: Array, scores: Array) -> Array:
        """Return max(0, 1 - m)^2."""
        return np.maximum(0.0, 1.0 - labels * scores) ** 2

    def gradient(self, labels: Array, scores: Array) -> Array:
        """Return -2 y max(0, 1 - m)."""
        return -2.0 * labels * np.maximum(0.0, 1.0 - labels * scores)

    def curvature(self, labels: Array, scores: Array) -> Array:
        """Return 2 where m < 1, else 0."""
        return np.where(labels * scores < 1.0, 2.0, 0.0)


@dataclass(frozen=True)
class HingeLoss(LossTraits):
    """Hinge loss max(0, 1 - m), the surrogate of the support vector machine. Piecewise linear."""

    name: str = "hinge"
    smooth: bool = False

    def value(self, labels: Array, scores: Array) -> Array:
        """Return max(0, 1 - m)."""
        return np.maximum(0.0, 1.0 - labels * scores)

    def gradient(self, labels: Array, scores: Array) -> Array:
        """Return -y where m < 1, else 0."""
        return np.where(labels * scores < 1.0, -labels, 0.0)

    def curvature(self, labels: Array, scores: Array) -> Array:
        """Return 0 everywhere."""
        return np.zeros(np.broadcast_shapes(np.shape(labels), np.shape(scores)))


@dataclass(frozen=True)
class HuberLoss(LossTraits):
    """Modified Huber loss of Zhang (2004): max(0, 1 - m)^2 down to margin -1, and -4 m below.

    Piecewise quadratic: curvature 2 between the margins -1 and 1, 0 elsewhere.
    """

    name: str = "huber"

    def value(self, labels: Array, scores: Array) -> Array:
        """Return max(0, 1 - m)^2 for m >= -1, else -4 m."""
        margins = labels * scores
        return np.where(margins < -1.0, -4.0 * margins, np.maximum(0.0, 1.0 - margins) ** 2)

    def gradient(self, labels: Array, scores: Array) -> Array:
        """Return -2 y max(0, 1 - m) for m >= -1, else -4 y."""
        return -2.0 * labels * np.clip(1.0 - labels * scores, 0.0, 2.0)

    def curvature(self, labels: Array, scores: Array) -> Array:
        """Return 2 where -1 <= m < 1, else 0."""
        margins = labels * scores
        return np.where((margins < 1.0) & (margins >= -1.0), 2.0, 0.0)


def _exponential(values: Array) -> Array:
    """Return exp; infinite if it is too large for a floating-point number."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(values))


LOSSES: dict[str, NativeLoss] = {
    kind.name: kind()
    for kind in (SquaredLoss, LogisticLoss, ExponentialLoss, SquaredHingeLoss, HingeLoss, HuberLoss)
}


def get_loss(name: str) -> NativeLoss:
    """Return the loss with the given name.

    Parameters
    ----------
    name : {"squared", "logistic", "exponential", "squared_hinge", "hinge", "huber"}
        Name of a loss.

    Returns
    -------
    NativeLoss
        Its value and derivatives.

    Raises
    ------
    ValueError
        If no loss has that name; the message lists those that exist.

    Examples
    --------
    >>> import numpy as np
    >>> get_loss("hinge").value(np.array([1.0, -1.0]), np.array([0.25, 0.25])).tolist()
    [0.75, 1.25]
    """
    if not isinstance(name, str) or name not in LOSSES:
        raise ParameterError("loss", f"one of {sorted(LOSSES)}", name)
    return LOSSES[name]
