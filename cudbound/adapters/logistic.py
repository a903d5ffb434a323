"""`LogisticRegression` and `LogisticRegressionCV`: logistic loss with an l2, l1 or elastic-net penalty, or none.

The objective is C sum_i c_i loss_i + (1 - l1_ratio) / 2 |w|^2 + l1_ratio |w|_1. The intercept is free, except for
``solver="liblinear"``, where it is the coefficient of a column of `intercept_scaling` and penalized like the others.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from cudbound.adapters.family import Adapter
from cudbound.adapters.linear import Objective, linear_fit, linear_model


def _objective(estimator: Any, n_rows: int) -> Objective:
    if estimator.penalty is None:
        return Objective("logistic", 0.0)
    if isinstance(estimator, LogisticRegressionCV):
        c, ratio = float(np.ravel(estimator.C_)[0]), np.ravel(estimator.l1_ratio_)[0]
    else:
        c, ratio = float(estimator.C), estimator.l1_ratio
    # before scikit-learn 1.8 the ratio matters only for the elastic net
    l1_ratio = {"l1": 1.0, "l2": 0.0}.get(estimator.penalty, float(ratio or 0.0))
    strength = 1.0 / c / n_rows
    ridge, lasso = strength * (1.0 - l1_ratio) / 2.0, strength * l1_ratio
    # the value of the column that liblinear adds for the intercept; infinity means no penalty
    scale = float(estimator.intercept_scaling) if estimator.solver == "liblinear" else np.inf
    return Objective("logistic", ridge, lasso, ridge / scale**2, lasso / scale)


ADAPTER = Adapter(
    supports="sklearn LogisticRegression, LogisticRegressionCV",
    families=(LogisticRegression, LogisticRegressionCV),
    express=partial(linear_model, objective=_objective),
    loss="logistic",
    penalty='1 / (2 `C` n); l1 and elastic net need `solver="cvxpy"`',
    weights="`class_weight`",
    intercept='free; penalized if `solver="liblinear"`',
    objective=_objective,
    batched_fit=partial(linear_fit, family=LogisticRegression, objective=_objective),
)
