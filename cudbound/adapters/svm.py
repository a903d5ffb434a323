"""`LinearSVC` and `SVC(kernel="linear")`: hinge or squared hinge loss with a quadratic penalty.

`LinearSVC` minimizes C sum_i c_i loss_i + |w|^2 / 2 + (b / s)^2 / 2, where s is its `intercept_scaling`: the intercept
b is the coefficient of a column of s. `SVC` minimizes C sum_i c_i loss_i + |w|^2 / 2 with a free intercept.
"""

from __future__ import annotations

from functools import partial

from sklearn.svm import SVC, LinearSVC

from cudbound.adapters.family import Adapter
from cudbound.adapters.linear import Objective, linear_fit, linear_model
from cudbound.estimators.batched import LinearFit
from cudbound.exceptions import UnsupportedEstimatorError


def _objective_of_linear_svc(estimator: LinearSVC, n_rows: int) -> Objective:
    strength = 1.0 / (float(estimator.C) * n_rows)
    scale = float(estimator.intercept_scaling)
    ridge, lasso = (0.0, strength) if estimator.penalty == "l1" else (strength / 2.0, 0.0)
    return Objective(estimator.loss, ridge, lasso, ridge / scale**2, lasso / scale)


def _batched_linear_svc(estimator: LinearSVC, n_jobs: int) -> LinearFit | None:
    if estimator.multi_class != "ovr":
        return None
    return linear_fit(estimator, n_jobs, family=LinearSVC, objective=_objective_of_linear_svc)


def _objective_of_svc(estimator: SVC, n_rows: int) -> Objective:
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
    express=partial(linear_model, objective=_objective_of_linear_svc),
    loss="squared hinge or hinge (`loss`)",
    penalty='1 / (2 `C` n); l1 needs `solver="cvxpy"`',
    weights="`class_weight`",
    intercept="penalized: 1 / (2 `C` n `intercept_scaling`²)",
    objective=_objective_of_linear_svc,
    batched_fit=_batched_linear_svc,
)

SVC_LINEAR = Adapter(
    supports="sklearn SVC(kernel='linear')",
    families=(SVC,),
    express=partial(linear_model, objective=_objective_of_svc),
    loss="hinge",
    penalty="1 / (2 `C` n)",
    weights="`class_weight`",
    intercept="free",
    objective=_objective_of_svc,
)
