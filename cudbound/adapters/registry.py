"""Families of estimators that can be written as additive classifiers, families that cannot, and wrappers of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import Pipeline

from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.estimators.batched import BatchedFit, BatchedRefit
from cudbound.problem.problem import AdditiveModel


@dataclass(frozen=True)
class Objective:
    """The objective of a linear classifier: a mean loss plus penalties on |w|^2, on |w|_1 and on the intercept.

    Attributes
    ----------
    loss : str
        Name of one of the package's losses.
    penalty, l1_penalty : float
        Penalty strengths for the coefficients w.
    intercept_penalty, intercept_l1_penalty : float
        Penalty strengths for the intercept.
    """

    loss: str
    penalty: float
    l1_penalty: float = 0.0
    intercept_penalty: float = 0.0
    intercept_l1_penalty: float = 0.0


#: ``objective(estimator, n_rows)``: strengths relative to the mean over so many rows; 1 gives those relative to a sum.
ObjectiveOf = Callable[[Any, int], Objective]


@dataclass(frozen=True)
class Adapter:
    """One family of estimators that can be written as additive classifiers with a convex surrogate loss.

    Attributes
    ----------
    supports : str
        The name of the family in error messages.
    families : tuple of type
        Its classes; subclasses count.
    to_additive_model : callable
        ``to_additive_model(estimator, X, y)``: the fitted estimator on its training rows as plain arrays. Validates `X`
        and `y` against the estimator; need not check that the coefficients minimize the loss. Raises
        `UnsupportedEstimatorError` for parameters under which the family has no convex loss.
    objective : callable, optional
        ``objective(estimator, n_rows)``: its objective, a `cudbound.adapters.registry.Objective`. Not given for
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
    to_additive_model: Callable[[Any, Any, Any], AdditiveModel]
    objective: Callable[[Any, int], Objective] | None = None
    batched_fit: Callable[[Any, int], BatchedFit | None] | None = None
    batched_refit: Callable[[Any, Any, Any], BatchedRefit | None] | None = None
    marked_by: str | None = None


class Refusal(NamedTuple):
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
    ancestors = {
        ancestor.__name__
        for ancestor in type(estimator).__mro__
        if ancestor.__module__.startswith(("sklearn.", "cudbound."))
    }
    for refusal in REFUSALS:
        if ancestors.intersection(refusal.family):
            raise UnsupportedEstimatorError(f"{name} {refusal.reason}", f"{refusal.remedy} {_OTHER_METHODS}")
    for adapter in ADAPTERS:
        marked = adapter.marked_by is not None and hasattr(estimator, adapter.marked_by)
        if marked or isinstance(estimator, adapter.families):
            return adapter
    supported = "; ".join(adapter.supports for adapter in ADAPTERS)
    raise UnsupportedEstimatorError(
        f"{name} is not a known additive classifier with a convex surrogate loss.",
        f"Supported: {supported}. Fit one of these for the CUD interval. {_OTHER_METHODS}",
    )


# ---- pipelines: the fitted transformers are a fixed basis for the last step ----
# This is the gamma-hat of Laber & Murphy (2008), section 3.1: parameters of the basis, such as principal axes or the
# means and scales of a standardization, are kept at their values from the training set in every bootstrap draw. Refits,
# in contrast, fit the transformers again.


def _pipeline_model(estimator: Pipeline, X: Any, y: Any) -> AdditiveModel:
    *before, final = (step for _, step in estimator.steps)
    adapter = find_adapter(final)
    for step in before:
        if not (step is None or isinstance(step, str) or hasattr(step, "transform")):
            raise UnsupportedEstimatorError(
                f"{type(step).__name__} changes which rows the classifier is fitted to, so that it does not minimize a "
                "loss of the training rows.",
                "For the CUD interval, fit a classifier with weights instead, such as "
                "LogisticRegression(class_weight='balanced'); intervals based on refits, such as 'two-center', support "
                "this one.",
            )
    basis = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
    return adapter.to_additive_model(final, basis, y)


PIPELINE = Adapter(
    supports="a sklearn Pipeline of transformers that ends in one of these",
    families=(Pipeline,),
    to_additive_model=_pipeline_model,
)

# ---- searches: their best estimator, with the tuned parameters taken as given ----


def _best_model(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    name = type(estimator).__name__
    if not hasattr(estimator, "best_estimator_"):
        raise UnsupportedEstimatorError(
            f"{name}(refit={estimator.refit!r}) has no fitted classifier.", "Fit it with refit=True."
        )
    best = estimator.best_estimator_
    model = find_adapter(best).to_additive_model(best, X, y)
    return replace(model, tuned_by=(name, *model.tuned_by))


SEARCH = Adapter(
    supports="sklearn GridSearchCV, RandomizedSearchCV over one of these",
    families=(GridSearchCV, RandomizedSearchCV),
    marked_by="best_estimator_",
    to_additive_model=_best_model,
)

# ---- thresholds ----
# The rule "score >= t" is the sign of a score whose intercept is smaller by t, and the loss uses the score with t added
# back (`AdditiveModel.offset`). That requires an unpenalized intercept.


def _threshold_model(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    inner = estimator.estimator_
    model = find_adapter(inner).to_additive_model(inner, X, y)
    if isinstance(estimator, TunedThresholdClassifierCV):
        if not isinstance(estimator.scoring, str):
            raise UnsupportedEstimatorError(
                "The class to which the threshold belongs is unknown for TunedThresholdClassifierCV with a custom "
                "scorer.",
                "Fit FixedThresholdClassifier(estimator, threshold=best_threshold_, pos_label=...).",
            )
        # scikit-learn's named scorers take the second class as the positive one
        threshold, positive = estimator.best_threshold_, None
        model = replace(model, tuned_by=(type(estimator).__name__, *model.tuned_by))
    else:
        threshold, positive = estimator.threshold, estimator.pos_label
    if positive is not None and positive == model.classes[0]:
        model = model.reversed()
    return _shifted(model, _cut(estimator, model, threshold))


def _cut(estimator: Any, model: AdditiveModel, threshold: str | float) -> float:
    """Return the threshold on the scale of the scores."""
    method = estimator.response_method
    if method == "auto":
        method = "predict_proba" if hasattr(estimator.estimator_, "predict_proba") else "decision_function"
    name = type(estimator).__name__
    if method == "predict_proba" and not model.loss.score_is_logit:
        raise UnsupportedEstimatorError(
            f"{name} has a threshold on a probability, and only in logistic regression is the probability a fixed "
            f"function of the score; the loss here is {model.loss.name}.",
            "Fit it with response_method='decision_function'.",
        )
    if isinstance(threshold, str):  # "auto": 0.5 for a probability, 0 for a score
        return 0.0
    cut = float(logit(threshold)) if method == "predict_proba" else float(threshold)
    if not np.isfinite(cut):
        raise UnsupportedEstimatorError(
            f"{name} with the threshold {threshold!r} assigns every case to the same class.",
            "Use a threshold between 0 and 1.",
        )
    return cut


def _shifted(model: AdditiveModel, cut: float) -> AdditiveModel:
    penalized = sum(strengths[0] for strengths in (model.penalty, model.l1_penalty) if strengths is not None)
    if cut != 0.0 and (penalized > 0.0 or not (model.design[:, 0] == 1.0).all()):
        raise UnsupportedEstimatorError(
            "A threshold other than 0 (or other than the probability 0.5) needs a classifier with a fitted, "
            "unpenalized intercept: then it is an offset of the loss.",
            "Use LogisticRegression with a solver other than 'liblinear', SVC(kernel='linear') instead of LinearSVC, "
            "and fit_intercept=True.",
        )
    coef = model.coef.copy()
    coef[0] -= cut
    return replace(model, coef=coef, offset=model.offset + cut)


THRESHOLD = Adapter(
    supports="sklearn FixedThresholdClassifier, TunedThresholdClassifierCV around one of these",
    families=(FixedThresholdClassifier, TunedThresholdClassifierCV),
    to_additive_model=_threshold_model,
)
