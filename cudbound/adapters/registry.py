"""Families of estimators that can be written as additive classifiers, and families that cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cudbound.adapters.linear import Objective
from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.estimators.batched import BatchedFit, BatchedRefit
from cudbound.problem.additive_model import AdditiveModel


@dataclass(frozen=True)
class Adapter:
    """One family of estimators that can be written as additive classifiers with a convex surrogate loss.

    Attributes
    ----------
    supports : str
        The name of the family in error messages.
    families : tuple of type
        Its classes; subclasses count.
    express : callable
        ``express(estimator, X, y)``: the fitted estimator on its training rows as plain arrays. Validates `X`
        and `y` against the estimator; need not check that the coefficients minimize the loss. Raises
        `UnsupportedEstimatorError` for parameters under which the family has no convex loss.
    objective : callable, optional
        ``objective(estimator, n_rows)``: its objective, a `cudbound.adapters.linear.Objective`. Not given for
        families that contain another estimator.
    batched_fit : callable, optional
        ``batched_fit(estimator, n_jobs)``: a `BatchedFit`, which fits a stack of such classifiers after any steps that
        are fitted in batches, on `n_jobs` threads; None if the estimator must be cloned and refitted. If not given,
        None for the whole family.
    batched_refit : callable, optional
        ``batched_refit(estimator, X, y)``: a `BatchedRefit` that is faster if no step before this estimator is fitted
        to the rows, or None.
    marked_by : str, optional
        Fitted attribute that identifies classes of other packages.
    """

    supports: str
    families: tuple[type, ...]
    express: Callable[[Any, Any, Any], AdditiveModel]
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
        Names of its classes in this package or in scikit-learn (not all versions have all of them).
    reason : str
        The reason, as the end of a sentence that begins with the name of the class.
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


_STAGEWISE = (
    "adds one tree after another and does not revise earlier ones, so its coefficients do not jointly minimize "
    "its loss."
)

REFUSALS = (
    Refusal(
        family=("Perceptron", "PassiveAggressiveClassifier"),
        reason="has no convex loss with a useful minimizer: it stops at the first rule that its updates accept, and "
        "the perceptron loss has its minimum at beta = 0, which is not a classifier.",
        remedy="Fit LinearSVC, or ConvexLossClassifier('hinge', penalty=0.01).",
    ),
    Refusal(
        family=("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
        reason="derives its rule from estimated means, covariances and priors.",
        remedy="The linear rule has the direction of a least-squares fit, but a different intercept unless the classes "
        "have equal size, so it does not minimize a convex surrogate loss. Fit LeastSquaresClassifier, which has the "
        "same direction.",
    ),
    Refusal(
        family=("AdaBoostClassifier", "GradientBoostingClassifier"),
        reason=_STAGEWISE,
        remedy="Refit on its stumps, for which its trees must have max_depth=1: "
        "ConvexLossClassifier('exponential', penalty=0.01, basis=stump_basis(model)).fit(X, y).",
    ),
    Refusal(
        family=("HistGradientBoostingClassifier",),
        reason=_STAGEWISE,
        remedy="Fit GradientBoostingClassifier(max_depth=1) and refit on its stumps: "
        "ConvexLossClassifier('exponential', penalty=0.01, basis=stump_basis(model)).fit(X, y).",
    ),
    Refusal(
        family=("ChosenThresholdClassifier",),
        reason="chose its threshold on these rows with a function, and the CUD bound would treat it as fixed.",
        remedy="For a threshold chosen in advance, fit sklearn.model_selection.FixedThresholdClassifier; intervals "
        "based on refits account for the choice.",
    ),
    Refusal(
        family=("CalibratedClassifierCV",),
        reason="averages several classifiers and transforms their scores, which is not an additive classifier "
        "with one loss.",
        remedy="Pass the inner classifier, fitted to all rows; LogisticRegression itself returns probabilities.",
    ),
)

#: In the order in which they are asked. `cudbound.adapters` fills it: adapters of what holds another estimator, such
#: as a pipeline, look up the adapter of that one here.
ADAPTERS: list[Adapter] = []

_OTHER_METHODS = (
    "Or drop 'cud' and 'aci' from the methods of compare_intervals: the others support any classifier."
)


def find_adapter(estimator: Any) -> Adapter:
    """Return the adapter that accepts the estimator.

    Raises
    ------
    UnsupportedEstimatorError
        If there is none; the message gives the reason, the supported families and a remedy.
    """
    name = type(estimator).__name__
    for refusal in REFUSALS:
        if refusal.applies(estimator):
            raise UnsupportedEstimatorError(f"{name} {refusal.reason}", f"{refusal.remedy} {_OTHER_METHODS}")
    for adapter in ADAPTERS:
        if adapter.accepts(estimator):
            return adapter
    supported = "; ".join(adapter.supports for adapter in ADAPTERS)
    raise UnsupportedEstimatorError(
        f"{name} is not a known additive classifier with a convex surrogate loss.",
        f"Supported: {supported}. Fit one of these for the CUD interval. {_OTHER_METHODS}",
    )
