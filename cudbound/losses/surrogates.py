"""Convex surrogate losses, as functions of the label y in {-1, +1} and the score f = b(gamma-hat, x)'beta.

Each loss is an entry of a table, with a counterpart in the compiled solver (``solvers/src/problem/loss.hpp``). All
losses depend only on the margin m = y f, including the squared loss, which is (1 - m)^2 since y^2 = 1.

References
----------
F. Bach, "Self-concordant analysis for logistic regression", Electronic Journal of Statistics 4 (2010), section 2.
T. Zhang, "Solving large scale linear prediction problems using stochastic gradient descent algorithms", Proceedings of
the 21st International Conference on Machine Learning (2004), article 116.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cudbound.basis.exceptions import ParameterError

Array = NDArray[np.float64]


@runtime_checkable
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


@dataclass(frozen=True)
class NativeLoss:
    """A loss of the compiled solver, as functions of the margin m; at a kink they are those of larger margins.

    Attributes
    ----------
    name : str
    of_margin, slope, bend : callable
        The loss, its first and its second derivative.
    vanishes, quadratic, score_is_logit : bool
        As in `Loss`.
    smooth : bool
        Whether it has a gradient everywhere: its curvature then determines how coefficients vary.
    """

    name: str
    of_margin: Callable[[Array], Any]
    slope: Callable[[Array], Any]
    bend: Callable[[Array], Any]
    _: KW_ONLY
    vanishes: bool = False
    quadratic: bool = False
    score_is_logit: bool = False
    smooth: bool = True

    def value(self, labels: Array, scores: Array) -> Array:
        """Loss of each point, shape of `scores`."""
        return np.asarray(self.of_margin(labels * scores))

    def gradient(self, labels: Array, scores: Array) -> Array:
        """First derivative in the score, shape of `scores`."""
        return np.asarray(labels * self.slope(labels * scores))

    def curvature(self, labels: Array, scores: Array) -> Array:
        """Second derivative in the score, shape of `scores`."""
        return np.asarray(self.bend(labels * scores))

    def __reduce__(self) -> Any:
        """Return its name, since functions without a name cannot be pickled."""
        return get_loss, (self.name,)


def _exponential(values: Array) -> Array:
    """Return exp; infinite if it is too large for a floating-point number."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(values))


_LOSSES = (
    # the surrogate of Laber & Murphy (2008), section 5: the squared error (y - f)^2
    NativeLoss(
        "squared",
        lambda m: (1.0 - m) ** 2,
        lambda m: -2.0 * (1.0 - m),
        lambda m: np.full_like(m, 2.0),
        quadratic=True,
    ),
    # The negative log-likelihood of logistic regression. Self-concordant in the generalized sense of Bach (2010),
    # section 2: the third derivative is, in absolute value, at most the second, so that the curvature at scores h apart
    # differs by a factor of exp(abs(h)) at most.
    NativeLoss(
        "logistic",
        lambda m: np.logaddexp(0.0, -m),
        lambda m: -expit(-m),
        lambda m: expit(m) * expit(-m),
        vanishes=True,
        score_is_logit=True,
    ),
    # the surrogate of boosting, self-concordant like the logistic loss
    NativeLoss(
        "exponential",
        lambda m: _exponential(-m),
        lambda m: -_exponential(-m),
        lambda m: _exponential(-m),
        vanishes=True,
    ),
    # piecewise quadratic
    NativeLoss(
        "squared_hinge",
        lambda m: np.maximum(0.0, 1.0 - m) ** 2,
        lambda m: -2.0 * np.maximum(0.0, 1.0 - m),
        lambda m: np.where(m < 1.0, 2.0, 0.0),
    ),
    # the surrogate of the support vector machine, piecewise linear
    NativeLoss(
        "hinge",
        lambda m: np.maximum(0.0, 1.0 - m),
        lambda m: np.where(m < 1.0, -1.0, 0.0),
        np.zeros_like,
        smooth=False,
    ),
    # the modified Huber loss of Zhang (2004): squared hinge loss down to margin -1, and a line below
    NativeLoss(
        "huber",
        lambda m: np.where(m < -1.0, -4.0 * m, np.maximum(0.0, 1.0 - m) ** 2),
        lambda m: -2.0 * np.clip(1.0 - m, 0.0, 2.0),
        lambda m: np.where((m < 1.0) & (m >= -1.0), 2.0, 0.0),
    ),
)
LOSSES: dict[str, NativeLoss] = {loss.name: loss for loss in _LOSSES}


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
