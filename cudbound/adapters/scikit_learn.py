"""The linear classifiers of scikit-learn: ridge, logistic regression, linear support vectors, stochastic descent."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.svm import SVC, LinearSVC

from cudbound.adapters.linear import Objective, linear_fit, linear_model
from cudbound.adapters.registry import Adapter
from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.estimators.batched import BatchedFit, LinearFit
from cudbound.estimators.batched.tuned import TunedFit, number_of_folds
from cudbound.problem.additive_model import AdditiveModel

# ---- ridge: sum_i c_i (y_i - f(x_i))^2 + alpha |w|^2, with a free intercept ----


def _ridge_objective(estimator: Any, n_rows: int) -> Objective:
    alpha = estimator.alpha_ if isinstance(estimator, RidgeClassifierCV) else estimator.alpha
    return Objective("squared", float(np.ravel(alpha)[0]) / n_rows)  # one value per target


def _batched_ridge(estimator: Any, n_jobs: int) -> LinearFit | None:
    if getattr(estimator, "positive", False):
        return None
    return linear_fit(estimator, n_jobs, family=RidgeClassifier, objective=_ridge_objective)


def _ridge_model(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    if getattr(estimator, "positive", False):
        raise UnsupportedEstimatorError(
            "RidgeClassifier(positive=True) constrains its coefficients, but the CUD bound is a supremum over all "
            "coefficients.",
            "Fit it with positive=False.",
        )
    return linear_model(estimator, X, y, objective=_ridge_objective)


RIDGE = Adapter(
    supports="sklearn RidgeClassifier, RidgeClassifierCV",
    families=(RidgeClassifier, RidgeClassifierCV),
    express=_ridge_model,
    objective=_ridge_objective,
    batched_fit=_batched_ridge,
)

# ---- logistic regression: C sum_i c_i loss_i + (1 - l1_ratio) / 2 |w|^2 + l1_ratio |w|_1 ----
# The intercept is free, except for solver="liblinear", where it is the coefficient of a column of `intercept_scaling`
# and penalized like the others.


def _logistic_objective(estimator: Any, n_rows: int) -> Objective:
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


def _batched_logistic(estimator: Any, n_jobs: int) -> BatchedFit | None:
    fitted_with = partial(linear_fit, n_jobs=n_jobs, family=LogisticRegression, objective=_logistic_objective)
    if type(estimator) is not LogisticRegressionCV:
        return fitted_with(estimator)
    folds, by_accuracy = number_of_folds(estimator.cv), estimator.scoring in (None, "accuracy", "warn")
    plain = estimator.class_weight is None and not np.any(estimator.l1_ratios_)
    if folds is None or not (by_accuracy and plain and estimator.refit):
        return None
    known = LogisticRegression().get_params()
    shared = {name: value for name, value in estimator.get_params().items() if name in known}
    fits = []
    for strength in estimator.Cs_.tolist():
        one = LogisticRegression(**{**shared, "C": strength})
        one.classes_ = estimator.classes_
        if (fit := fitted_with(one)) is None:
            return None
        fits.append(fit)
    return TunedFit(tuple(fits), folds)


LOGISTIC = Adapter(
    supports="sklearn LogisticRegression, LogisticRegressionCV",
    families=(LogisticRegression, LogisticRegressionCV),
    express=partial(linear_model, objective=_logistic_objective),
    objective=_logistic_objective,
    batched_fit=_batched_logistic,
)

# ---- linear support vectors ----
# `LinearSVC` minimizes C sum_i c_i loss_i + |w|^2 / 2 + (b / s)^2 / 2, where s is its `intercept_scaling`: the
# intercept b is the coefficient of a column of s. `SVC` minimizes C sum_i c_i loss_i + |w|^2 / 2 with a free intercept.


def _linear_svc_objective(estimator: LinearSVC, n_rows: int) -> Objective:
    strength = 1.0 / (float(estimator.C) * n_rows)
    scale = float(estimator.intercept_scaling)
    ridge, lasso = (0.0, strength) if estimator.penalty == "l1" else (strength / 2.0, 0.0)
    return Objective(estimator.loss, ridge, lasso, ridge / scale**2, lasso / scale)


def _batched_linear_svc(estimator: LinearSVC, n_jobs: int) -> LinearFit | None:
    if estimator.multi_class != "ovr":
        return None
    return linear_fit(estimator, n_jobs, family=LinearSVC, objective=_linear_svc_objective)


def _svc_objective(estimator: SVC, n_rows: int) -> Objective:
    if estimator.kernel != "linear":
        raise UnsupportedEstimatorError(
            f"SVC(kernel={estimator.kernel!r}) has no fixed basis: its classifiers are sums over the training rows.",
            "Use kernel='linear', or ConvexLossClassifier('hinge', penalty=..., basis=Nystroem(kernel=...)) with a "
            "sklearn.kernel_approximation transformer as the basis.",
        )
    return Objective("hinge", 1.0 / (2.0 * float(estimator.C) * n_rows))


LINEAR_SVC = Adapter(
    supports="sklearn LinearSVC",
    families=(LinearSVC,),
    express=partial(linear_model, objective=_linear_svc_objective),
    objective=_linear_svc_objective,
    batched_fit=_batched_linear_svc,
)

SVC_LINEAR = Adapter(
    supports="sklearn SVC(kernel='linear')",
    families=(SVC,),
    express=partial(linear_model, objective=_svc_objective),
    objective=_svc_objective,
)

# ---- stochastic descent: (1/n) sum_i c_i loss_i + alpha ((1 - l1_ratio) / 2 |w|^2 + l1_ratio |w|_1) ----
# Its squared_error is (y - f)^2 / 2, half of the squared loss here. It usually stops far from the minimum: the
# optimality residual decides, regardless of averaging, early stopping or rates.

#: Our name of each loss, and the size of our loss in units of scikit-learn's.
LOSSES = {
    "hinge": ("hinge", 1.0),
    "log_loss": ("logistic", 1.0),
    "modified_huber": ("huber", 1.0),
    "squared_hinge": ("squared_hinge", 1.0),
    "squared_error": ("squared", 0.5),
}


def _sgd_objective(estimator: SGDClassifier, n_rows: int) -> Objective:
    if estimator.loss not in LOSSES:
        raise UnsupportedEstimatorError(
            f"SGDClassifier(loss={estimator.loss!r}) is not supported: the loss is not a surrogate with a useful "
            "minimizer, or this package does not have it.",
            f"Use one of the losses {sorted(LOSSES)}.",
        )
    loss, unit = LOSSES[estimator.loss]
    l1_ratio = {"l2": 0.0, "l1": 1.0}.get(estimator.penalty, float(estimator.l1_ratio or 0.0))
    alpha = 0.0 if estimator.penalty is None else float(estimator.alpha) / unit
    # relative to the mean, whatever n
    return Objective(loss, alpha * (1.0 - l1_ratio) / 2.0, alpha * l1_ratio)


SGD = Adapter(
    supports="sklearn SGDClassifier, usually with Bound(polish=True)",
    families=(SGDClassifier,),
    express=partial(linear_model, objective=_sgd_objective),
    objective=_sgd_objective,
)

#: In the order in which they are asked.
LINEAR = (RIDGE, LOGISTIC, LINEAR_SVC, SVC_LINEAR, SGD)
