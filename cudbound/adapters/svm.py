"""`LinearSVC` and `SVC(kernel="linear")`: hinge or squared hinge loss with a quadratic penalty.

`LinearSVC` minimizes C sum_i c_i loss_i + |w|^2 / 2 + (b / s)^2 / 2, where s is its `intercept_scaling`: the intercept
b is the coefficient of a column of s. `SVC` minimizes C sum_i c_i loss_i + |w|^2 / 2 with a free intercept.
"""

from __future__ import annotations

from typing import Any

from sklearn.svm import SVC, LinearSVC

from cudbound.adapters.family import Adapter
from cudbound.adapters.linear import class_pair, count_rows, linear_model
from cudbound.estimators.batched import LinearFit
from cudbound.exceptions import UnsupportedEstimatorError
from cudbound.problem.additive_model import AdditiveModel


def _express_linear_svc(estimator: LinearSVC, X: Any, y: Any) -> AdditiveModel:
    strength = 1.0 / (float(estimator.C) * count_rows(estimator, y))
    scale = float(estimator.intercept_scaling)
    l1 = estimator.penalty == "l1"
    ridge, lasso = (0.0, strength) if l1 else (strength / 2.0, 0.0)
    return linear_model(
        estimator,
        X,
        y,
        loss=estimator.loss,
        penalty=ridge,
        intercept_penalty=ridge / scale**2,
        l1_penalty=lasso,
        intercept_l1_penalty=lasso / scale,
        fit_intercept=estimator.fit_intercept,
    )


def _batched_linear_svc(estimator: LinearSVC, n_jobs: int) -> LinearFit | None:
    # a subclass may fit differently
    if type(estimator) is not LinearSVC or (estimator.penalty, estimator.multi_class) != ("l2", "ovr"):
        return None
    strength = 1.0 / (2.0 * float(estimator.C))
    return LinearFit(
        estimator.loss,
        strength,
        fit_intercept=estimator.fit_intercept,
        intercept_penalty=strength / float(estimator.intercept_scaling) ** 2,
        class_weight=class_pair(estimator),
        n_jobs=n_jobs,
    )


def _express_svc(estimator: SVC, X: Any, y: Any) -> AdditiveModel:
    if estimator.kernel != "linear":
        raise UnsupportedEstimatorError(
            f"SVC(kernel={estimator.kernel!r}) has no fixed basis: its classifiers are sums over the training rows.",
            "Use kernel='linear', or ConvexLossClassifier('hinge', penalty=..., basis=Nystroem(kernel=...)) with a "
            "sklearn.kernel_approximation transformer as the basis.",
        )
    return linear_model(
        estimator, X, y, loss="hinge", penalty=1.0 / (2.0 * float(estimator.C) * count_rows(estimator, y))
    )


LINEAR_SVC = Adapter(
    supports="sklearn LinearSVC",
    families=(LinearSVC,),
    express=_express_linear_svc,
    loss="squared hinge or hinge (`loss`)",
    penalty='1 / (2 `C` n); l1 needs `solver="cvxpy"`',
    weights="`class_weight`",
    intercept="penalized: 1 / (2 `C` n `intercept_scaling`²)",
    batched_fit=_batched_linear_svc,
)

SVC_LINEAR = Adapter(
    supports="sklearn SVC(kernel='linear')",
    families=(SVC,),
    express=_express_svc,
    loss="hinge",
    penalty="1 / (2 `C` n)",
    weights="`class_weight`",
    intercept="free",
)
