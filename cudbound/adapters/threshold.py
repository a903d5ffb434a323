"""Decision thresholds other than 0: `FixedThresholdClassifier` and `TunedThresholdClassifierCV`.

The rule "score >= t" is the sign of a score whose intercept is smaller by t, and the loss uses the score with t added
back (`AdditiveModel.offset`). That requires an unpenalized intercept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from cudbound.adapters.family import Adapter
from cudbound.adapters.registry import find_adapter
from cudbound.exceptions import UnsupportedEstimatorError
from cudbound.problem.additive_model import AdditiveModel


def _express(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    inner = estimator.estimator_
    model = find_adapter(inner).express(inner, X, y)
    if isinstance(estimator, TunedThresholdClassifierCV):
        if not isinstance(estimator.scoring, str):
            raise UnsupportedEstimatorError(
                "TunedThresholdClassifierCV with a custom scorer does not say which class its threshold "
                "belongs to.",
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
    """Return the threshold on the scale of the score."""
    method = estimator.response_method
    if method == "auto":
        method = "predict_proba" if hasattr(estimator.estimator_, "predict_proba") else "decision_function"
    name = type(estimator).__name__
    if method == "predict_proba" and not model.loss.score_is_logit:
        raise UnsupportedEstimatorError(
            f"{name} puts its threshold on a probability, and only that of logistic regression is a fixed function of "
            f"the score; the loss here is {model.loss.name}.",
            "Fit it with response_method='decision_function'.",
        )
    if isinstance(threshold, str):  # "auto": 0.5 for a probability, 0 for a score
        return 0.0
    cut = float(logit(threshold)) if method == "predict_proba" else float(threshold)
    if not np.isfinite(cut):
        raise UnsupportedEstimatorError(
            f"{name} with the threshold {threshold!r} gives every case the same class.",
            "Use a threshold between 0 and 1.",
        )
    return cut


def _shifted(model: AdditiveModel, cut: float) -> AdditiveModel:
    penalized = sum(strengths[0] for strengths in (model.penalty, model.l1_penalty) if strengths is not None)
    if cut != 0.0 and (penalized > 0.0 or not (model.design[:, 0] == 1.0).all()):
        raise UnsupportedEstimatorError(
            "A threshold other than 0 (or other than the probability 0.5) needs a classifier whose intercept is fitted "
            "and not penalized: then it is an offset of the loss.",
            "Use LogisticRegression with a solver other than 'liblinear', SVC(kernel='linear') in place of LinearSVC, "
            "and fit_intercept=True.",
        )
    coef = model.coef.copy()
    coef[0] -= cut
    return replace(model, coef=coef, offset=model.offset + cut)


ADAPTER = Adapter(
    supports="sklearn FixedThresholdClassifier, TunedThresholdClassifierCV around one of these",
    families=(FixedThresholdClassifier, TunedThresholdClassifierCV),
    express=_express,
    intercept="must be free",
)
