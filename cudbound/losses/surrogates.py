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
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cudbound.basis.exceptions import ParameterError, install_command

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


# ---- losses of a user, as cvxpy expressions for the reference solver ----


def import_cvxpy() -> Any:
    """Return the module cvxpy, or raise an ImportError with the command to install it."""
    try:
        import cvxpy
    except ImportError as error:
        raise ImportError(
            "The reference solver (solver='cvxpy') needs cvxpy, which is not installed; "
            f"get it and its solvers with: {install_command('reference')}"
        ) from error
    return cvxpy


@dataclass(frozen=True)
class CvxpyLoss:
    r"""A surrogate loss as a cvxpy expression; for ``SearchLimits(solver="cvxpy")``.

    Parameters
    ----------
    name : str
        Its name in messages and results. It must not be the name of a loss in `cudbound.losses.surrogates`, and must be
        different for each formula, because it identifies the results of earlier searches.
    expression : callable
        ``expression(labels, scores)`` returns the loss of each point as a cvxpy expression of shape (n_points,) that
        is convex in `scores` by the rules of disciplined convex programming. `labels` is an ndarray of -1 and +1 and
        `scores` a cvxpy expression, both of shape (n_points,). The loss of a point may depend only on its own label
        and score, and must not be negative.
    vanishes : bool, default=False
        Whether the loss decreases to 0 as the margin :math:`m` (label times score) grows, at least as fast as
        :math:`e^{-m}`, without reaching 0. Separable data then have no minimizer, and the infimum is found in another
        way.

    Raises
    ------
    ValueError
        If `name` is empty or the name of a loss of `cudbound.losses.surrogates`, if `expression` is not callable, or,
        when the loss is used, if the expression has another shape, is not convex in the scores, or has no value or a
        negative one at some scores.
    TypeError
        If `expression` returns something that is not a cvxpy expression.

    References
    ----------
    M. Grant, S. Boyd and Y. Ye, "Disciplined convex programming", in Global Optimization: From Theory to
    Implementation, Springer 2006, section 4.

    Examples
    --------
    The logistic loss, by another name:

    >>> import cvxpy as cp
    >>> import numpy as np
    >>> from cudbound.solve import CvxpyLoss, Problem, SearchLimits, solve_draws
    >>> deviance = CvxpyLoss("deviance", lambda y, f: cp.logistic(-cp.multiply(y, f)), vanishes=True)
    >>> deviance.value(np.array([1.0, -1.0]), np.array([0.0, 2.0])).round(6).tolist()
    [0.693147, 2.126928]
    >>> design = np.array([[1.0, -1.0], [1.0, -0.2], [1.0, 0.4], [1.0, 2.0]])
    >>> labels, coef, counts = [-1, 1, -1, 1], [-0.2, 0.9], [[2, 0, 1, 1]]
    >>> problem = Problem.of(design, labels, coef, counts, loss=deviance, penalty=0.1)
    >>> draws = solve_draws(problem, limits=SearchLimits(solver="cvxpy"))
    >>> draws.certified.all()
    np.True_
    """

    name: str
    expression: Callable[[Array, Any], Any]
    vanishes: bool = False
    #: What nothing is known about counts as not so.
    quadratic: ClassVar[bool] = False
    score_is_logit: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or self.name in LOSSES:
            rule = f"a nonempty string, and none of the losses of the package, {sorted(LOSSES)}"
            raise ParameterError("name", rule, self.name)
        if not callable(self.expression):
            rule = "a function of labels and scores that returns a cvxpy expression"
            raise ParameterError("expression", rule, self.expression)

    def build(self, labels: Array, scores: Any) -> Any:
        """Return the checked expression at a cvxpy expression of the scores, shape of `labels`."""
        cp = import_cvxpy()
        built = self.expression(labels, scores)
        if not isinstance(built, cp.Expression):
            raise TypeError(
                f"The expression of the loss {self.name!r} must return a cvxpy expression. "
                f"Got {type(built).__name__} instead; build it from functions of cvxpy."
            )
        if built.shape != labels.shape:
            raise ValueError(
                f"The expression of the loss {self.name!r} must have one value per point, shape {labels.shape}. "
                f"Got shape {built.shape} instead; do not sum over the points."
            )
        if not built.is_convex():
            raise ValueError(
                f"The expression of the loss {self.name!r} must be convex in the scores by the rules of disciplined "
                f"convex programming. Got {built} instead; see https://www.cvxpy.org/tutorial/dcp."
            )
        return built

    def value(self, labels: Array, scores: Array) -> Array:
        """Loss of each point, shape of `scores`."""
        labels, scores = np.broadcast_arrays(np.asarray(labels, float), np.asarray(scores, float))
        if scores.size == 0:
            return np.zeros(scores.shape)
        variable = import_cvxpy().Variable(scores.size)
        variable.value = scores.ravel()
        values = self.build(labels.ravel(), variable).value
        if values is None or np.isnan(values).any():  # an infinite value where numbers overflow is allowed
            raise ValueError(
                f"The loss {self.name!r} must be defined at every score. Got {values} at the scores {scores} "
                "instead; use a loss that is defined everywhere."
            )
        if values.min() < -1e-9:  # rounding aside
            raise ValueError(
                f"The loss {self.name!r} must not be negative. Got {values.min():.3g} instead; add a constant to it."
            )
        return np.asarray(values, dtype=float).reshape(scores.shape)
