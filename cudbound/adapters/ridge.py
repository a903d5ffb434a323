"""`RidgeClassifier` and `RidgeClassifierCV`: squared loss on labels -1 and +1 with a quadratic penalty.

The objective is sum_i c_i (y_i - f(x_i))^2 + alpha |w|^2, with a free intercept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV

from cudbound.adapters.family import Adapter
from cudbound.adapters.linear import class_pair, count_rows, linear_model
from cudbound.estimators.batched import LinearFit
from cudbound.exceptions import UnsupportedEstimatorError
from cudbound.problem.additive_model import AdditiveModel


def _express(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    if getattr(estimator, "positive", False):
        raise UnsupportedEstimatorError(
            "RidgeClassifier(positive=True) constrains its coefficients, and the CUD bound is a supremum over all of "
            "them.",
            "Fit it with positive=False.",
        )
    tuned = isinstance(estimator, RidgeClassifierCV)
    alpha = np.ravel(estimator.alpha_ if tuned else estimator.alpha)[0]  # one value per target
    model = linear_model(
        estimator,
        X,
        y,
        loss="squared",
        penalty=float(alpha) / count_rows(estimator, y),
        fit_intercept=estimator.fit_intercept,
    )
    return replace(model, tuned_by=(type(estimator).__name__,)) if tuned else model


def _batched_fit(estimator: Any, n_jobs: int) -> LinearFit | None:
    # a subclass may fit differently
    if type(estimator) is not RidgeClassifier or estimator.positive or np.size(estimator.alpha) != 1:
        return None
    return LinearFit(
        "squared",
        float(np.ravel(estimator.alpha)[0]),
        fit_intercept=estimator.fit_intercept,
        class_weight=class_pair(estimator),
        n_jobs=n_jobs,
    )


ADAPTER = Adapter(
    supports="sklearn RidgeClassifier, RidgeClassifierCV",
    families=(RidgeClassifier, RidgeClassifierCV),
    express=_express,
    loss="squared",
    penalty="`alpha` / n",
    weights="`class_weight`",
    intercept="free",
    batched_fit=_batched_fit,
)
