"""Estimators that contain another classifier: pipelines, searches, and thresholds other than 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import Pipeline

from cudbound.adapters.registry import Adapter, find_adapter
from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.problem.additive_model import AdditiveModel

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
    return adapter.express(final, basis, y)


PIPELINE = Adapter(
    supports="a sklearn Pipeline of transformers that ends in one of these",
    families=(Pipeline,),
    express=_pipeline_model,
)

# ---- searches: their best estimator, with the tuned parameters taken as given ----


def _best_model(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    name = type(estimator).__name__
    if not hasattr(estimator, "best_estimator_"):
        raise UnsupportedEstimatorError(
            f"{name}(refit={estimator.refit!r}) has no fitted classifier.", "Fit it with refit=True."
        )
    best = estimator.best_estimator_
    model = find_adapter(best).express(best, X, y)
    return replace(model, tuned_by=(name, *model.tuned_by))


SEARCH = Adapter(
    supports="sklearn GridSearchCV, RandomizedSearchCV over one of these",
    families=(GridSearchCV, RandomizedSearchCV),
    marked_by="best_estimator_",
    express=_best_model,
)

# ---- thresholds ----
# The rule "score >= t" is the sign of a score whose intercept is smaller by t, and the loss uses the score with t added
# back (`AdditiveModel.offset`). That requires an unpenalized intercept.


def _threshold_model(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    inner = estimator.estimator_
    model = find_adapter(inner).express(inner, X, y)
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
    express=_threshold_model,
)
