"""A user-defined convex surrogate loss as a cvxpy expression, for the reference solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import install_command
from cudbound.losses.surrogates import LOSSES

Array = NDArray[np.float64]


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
        If `name` is empty or the name of a loss of `cudbound.losses.surrogates`, or, when the loss is used, if the
        expression has another shape, is not convex in the scores, or has no value or a negative one at some scores.
    TypeError
        If `expression` is not callable, or returns something that is not a cvxpy expression.

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
            raise ValueError(
                "The 'name' of a CvxpyLoss must be a non-empty string, and not one of the losses of the package, "
                f"{sorted(LOSSES)}. Got {self.name!r} instead."
            )
        if not callable(self.expression):
            raise TypeError(
                "The 'expression' of a CvxpyLoss must be a function of labels and scores that returns a cvxpy "
                f"expression. Got {self.expression!r} instead."
            )

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
