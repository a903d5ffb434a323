"""What the package has to know about an estimator family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cudbound.adapters.linear import Objective
from cudbound.estimators.batched import BatchedFit, BatchedRefit
from cudbound.problem.additive_model import AdditiveModel


@dataclass(frozen=True)
class Adapter:
    """One family of estimators that can be written as additive classifiers with a convex surrogate loss.

    Attributes
    ----------
    supports : str
        The family, as error messages and the documentation name it.
    families : tuple of type
        Its classes; subclasses count.
    express : callable
        ``express(estimator, X, y)``: the fitted estimator on its training rows as plain arrays. Validates `X`
        and `y` against the estimator; need not check that the coefficients minimize the loss. Raises
        `UnsupportedEstimatorError` for parameters under which the family has no convex loss.
    loss, penalty, weights, intercept : str
        For the documentation: the loss; the strengths r_j of sum_j r_j beta_j^2 on the mean loss; which weights of
        rows enter it; how the intercept is penalized.
    objective : callable, optional
        ``objective(estimator, n_rows)``: what it minimizes, a `cudbound.adapters.linear.Objective`. Not given for
        families that hold another estimator.
    batched_fit : callable, optional
        ``batched_fit(estimator, n_jobs)``: a `BatchedFit`, which fits a stack of such classifiers after any steps that
        are fitted in batches, on `n_jobs` threads; None where the estimator has to be cloned and refitted. None for
        the whole family if not given.
    batched_refit : callable, optional
        ``batched_refit(estimator, X, y)``: a `BatchedRefit` that is faster where no step before this estimator is
        fitted to the rows, or None.
    marked_by : str, optional
        Fitted attribute by which classes of other packages are recognized as well.
    """

    supports: str
    families: tuple[type, ...]
    express: Callable[[Any, Any, Any], AdditiveModel]
    loss: str = "that of the estimator inside"
    penalty: str = "the same"
    weights: str = "the same"
    intercept: str = "the same"
    objective: Callable[[Any, int], Objective] | None = None
    batched_fit: Callable[[Any, int], BatchedFit | None] | None = None
    batched_refit: Callable[[Any, Any, Any], BatchedRefit | None] | None = None
    marked_by: str | None = None

    def accepts(self, estimator: Any) -> bool:
        """Whether the estimator belongs to the family."""
        return isinstance(estimator, self.families) or (
            self.marked_by is not None and hasattr(estimator, self.marked_by)
        )


@dataclass(frozen=True)
class Refusal:
    """A family of estimators that cannot be supported, with the reason and a remedy.

    Attributes
    ----------
    family : tuple of str
        Names of its classes in scikit-learn, not every version of which has all of them, or in this package.
    reason : str
        Why, as the end of a sentence that begins with the name of the class.
    remedy : str
        What to do instead, as a sentence.
    """

    family: tuple[str, ...]
    reason: str
    remedy: str

    def applies(self, estimator: Any) -> bool:
        """Whether the estimator belongs to the family."""
        return any(
            known.__name__ in self.family and known.__module__.startswith(("sklearn.", "cudbound."))
            for known in type(estimator).__mro__
        )
