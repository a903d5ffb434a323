"""`LogisticRegression` and `LogisticRegressionCV`: logistic loss with an l2, l1 or elastic-net penalty, or none.

The objective is C sum_i c_i loss_i + (1 - l1_ratio) / 2 |w|^2 + l1_ratio |w|_1. The intercept is free, except for
``solver="liblinear"``, where it is the coefficient of a column of `intercept_scaling` and penalized like the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from cudbound.adapters.family import Adapter
from cudbound.adapters.linear import class_pair, count_rows, linear_model
from cudbound.estimators.batched import LinearFit
from cudbound.problem.additive_model import AdditiveModel


def _express(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    tuned = isinstance(estimator, LogisticRegressionCV)
    strength, l1_ratio = _strength(estimator)
    strength /= count_rows(estimator, y)
    ridge, lasso = strength * (1.0 - l1_ratio) / 2.0, strength * l1_ratio
    scale = _intercept_scale(estimator)
    model = linear_model(
        estimator,
        X,
        y,
        loss="logistic",
        penalty=ridge,
        l1_penalty=lasso,
        intercept_penalty=ridge / scale**2,
        intercept_l1_penalty=lasso / scale,
        fit_intercept=estimator.fit_intercept,
    )
    return replace(model, tuned_by=(type(estimator).__name__,)) if tuned else model


def _strength(estimator: Any) -> tuple[float, float]:
    """Return 1 / C and the share of the l1 penalty, for scikit-learn before and since version 1.8."""
    if estimator.penalty is None:
        return 0.0, 0.0
    if isinstance(estimator, LogisticRegressionCV):
        c, ratio = float(np.ravel(estimator.C_)[0]), np.ravel(estimator.l1_ratio_)[0]
    else:
        c, ratio = float(estimator.C), estimator.l1_ratio
    # before 1.8 the ratio matters only for the elastic net
    l1_ratio = {"l1": 1.0, "l2": 0.0}.get(estimator.penalty, float(ratio or 0.0))
    return 1.0 / c, l1_ratio


def _intercept_scale(estimator: Any) -> float:
    """Return the value of the column that liblinear adds for the intercept; infinity means no penalty."""
    return float(estimator.intercept_scaling) if estimator.solver == "liblinear" else np.inf


def _batched_fit(estimator: Any, n_jobs: int) -> LinearFit | None:
    if type(estimator) is not LogisticRegression:  # a subclass may fit differently
        return None
    strength, l1_ratio = _strength(estimator)
    if l1_ratio > 0.0:
        return None
    return LinearFit(
        "logistic",
        strength / 2.0,
        fit_intercept=estimator.fit_intercept,
        intercept_penalty=strength / 2.0 / _intercept_scale(estimator) ** 2,
        class_weight=class_pair(estimator),
        n_jobs=n_jobs,
    )


ADAPTER = Adapter(
    supports="sklearn LogisticRegression, LogisticRegressionCV",
    families=(LogisticRegression, LogisticRegressionCV),
    express=_express,
    loss="logistic",
    penalty='1 / (2 `C` n); l1 and elastic net need `solver="cvxpy"`',
    weights="`class_weight`",
    intercept='free; penalized if `solver="liblinear"`',
    batched_fit=_batched_fit,
)
