"""`RidgeClassifier` and `RidgeClassifierCV`: squared loss on labels -1 and +1 with a quadratic penalty.

The objective is sum_i c_i (y_i - f(x_i))^2 + alpha |w|^2, with a free intercept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV

from cudbound.adapters.family import Adapter
from cudbound.adapters.linear import Objective, linear_fit, linear_model
from cudbound.estimators.batched import LinearFit
from cudbound.exceptions import UnsupportedEstimatorError
from cudbound.problem.additive_model import AdditiveModel


def _objective(estimator: Any, n_rows: int) -> Objective:
    alpha = estimator.alpha_ if isinstance(estimator, RidgeClassifierCV) else estimator.alpha
    return Objective("squared", float(np.ravel(alpha)[0]) / n_rows)  # one value per target


def _batched_fit(estimator: Any, n_jobs: int) -> LinearFit | None:
    if getattr(estimator, "positive", False):
        return None
    return linear_fit(estimator, n_jobs, family=RidgeClassifier, objective=_objective)


def _express(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    if getattr(estimator, "positive", False):
        raise UnsupportedEstimatorError(
            "RidgeClassifier(positive=True) constrains its coefficients, and the CUD bound is a supremum over all of "
            "them.",
            "Fit it with positive=False.",
        )
    return linear_model(estimator, X, y, objective=_objective)


ADAPTER = Adapter(
    supports="sklearn RidgeClassifier, RidgeClassifierCV",
    families=(RidgeClassifier, RidgeClassifierCV),
    express=_express,
    loss="squared",
    penalty="`alpha` / n",
    weights="`class_weight`",
    intercept="free",
    objective=_objective,
    batched_fit=_batched_fit,
)
