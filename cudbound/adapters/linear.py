"""Linear classifiers, of this package and of scikit-learn, as additive models: one adapter per family."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.validation import validate_data

from cudbound.adapters.registry import Adapter, Objective, ObjectiveOf
from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.basis.feature_table import dense
from cudbound.basis.validation import check_labels, check_lengths
from cudbound.estimators.batched import BatchedFit, BatchedRefit, LinearFit
from cudbound.estimators.batched.classifiers import LeastSquaresFit, TunedFit, number_of_folds
from cudbound.estimators.convex_loss import ConvexLossClassifier
from cudbound.estimators.least_squares import LeastSquaresClassifier, LeastSquaresRefit
from cudbound.losses.surrogates import get_loss
from cudbound.problem.problem import TIE_TOLERANCE, AdditiveModel

Array = NDArray[np.float64]

#: Scores below this share of the sum of their terms are rounding errors, whose sign is that of no class.
ROUNDING = 1e-9


def linear_model(estimator: Any, X: Any, y: Any, *, objective: ObjectiveOf) -> AdditiveModel:
    """Write a fitted linear classifier of scikit-learn as plain arrays."""
    labels = check_labels(y, estimator.classes_)
    rows = validate_data(estimator, X, dtype=np.float64, accept_sparse=True, reset=False)
    minimized = objective(estimator, labels.size)
    model = additive_model(
        estimator,
        labels,
        np.asarray(dense(rows), dtype=np.float64),
        loss=minimized.loss,
        penalty=_strengths(estimator, minimized.penalty, minimized.intercept_penalty),
        l1_penalty=_strengths(estimator, minimized.l1_penalty, minimized.intercept_l1_penalty),
        sample_weight=_class_weights(estimator, labels),
    )
    # classifiers with this parameter have chosen their strengths by cross-validation
    return replace(model, tuned_by=(type(estimator).__name__,)) if hasattr(estimator, "cv") else model


def additive_model(
    estimator: Any,
    labels: Array,
    rows: Array,
    *,
    loss: str,
    penalty: Array | None = None,
    l1_penalty: Array | None = None,
    sample_weight: Array | None = None,
) -> AdditiveModel:
    """Return the model of a fitted linear classifier on its rows; the column of ones for its intercept comes first."""
    check_lengths(rows.shape[0], labels.size)
    coef = dense(estimator.coef_).ravel()
    if has_intercept(estimator):
        rows = np.column_stack([np.ones(labels.size), rows])
        coef = np.concatenate([np.ravel(estimator.intercept_)[:1], coef])
    return AdditiveModel(
        design=np.ascontiguousarray(rows),
        labels=labels,
        coef=np.asarray(coef, dtype=np.float64),
        loss=get_loss(loss),
        classes=estimator.classes_,
        penalty=penalty if np.any(penalty) else None,
        l1_penalty=l1_penalty if np.any(l1_penalty) else None,
        sample_weight=sample_weight,
    )


def linear_fit(estimator: Any, n_jobs: int, *, family: type, objective: ObjectiveOf) -> LinearFit | None:
    """Return a batched refit of a fitted linear classifier, or None with an l1 penalty."""
    if type(estimator) is not family:  # a subclass may fit differently
        return None
    minimized = objective(estimator, 1)
    return _fit_of(estimator, minimized, n_jobs) if minimized.l1_penalty == 0.0 else None


def _fit_of(estimator: Any, minimized: Objective, n_jobs: int) -> LinearFit:
    return LinearFit(
        minimized.loss,
        minimized.penalty,
        fit_intercept=has_intercept(estimator),
        intercept_penalty=minimized.intercept_penalty,
        class_weight=class_pair(estimator),
        n_jobs=n_jobs,
    )


def _adapter(supports: str, objective: ObjectiveOf, *families: type, batched: type | None = None) -> Adapter:
    """Return the adapter of linear classifiers that an objective describes; `batched` is refitted in batches."""
    return Adapter(
        supports,
        families,
        partial(linear_model, objective=objective),
        objective,
        None if batched is None else partial(linear_fit, family=batched, objective=objective),
    )


def has_intercept(estimator: Any) -> bool:
    """Whether a linear classifier fits an intercept; those without the parameter do."""
    return bool(getattr(estimator, "fit_intercept", True))


def _strengths(estimator: Any, strength: float, of_intercept: float) -> Array:
    strengths = np.full(estimator.coef_.size, strength)
    return np.concatenate([[of_intercept], strengths]) if has_intercept(estimator) else strengths


def _class_weights(estimator: Any, labels: Array) -> Array | None:
    """Return the weight of each row's class, computed on the training labels, or None if there are none."""
    if not estimator.class_weight:
        return None
    y = estimator.classes_[(labels > 0.0).astype(int)]
    return np.asarray(compute_sample_weight(estimator.class_weight, y), dtype=np.float64)


def class_pair(estimator: Any) -> tuple[float, float] | Literal["balanced"]:
    """Return the weights of the two classes, or "balanced" if they depend on the training set."""
    if estimator.class_weight == "balanced":
        return "balanced"
    first, second = compute_class_weight(
        estimator.class_weight, classes=estimator.classes_, y=estimator.classes_
    ).tolist()
    return first, second


def own_coefficients(classifier: Any, n_features: int) -> tuple[Array, float] | None:
    """Return the coefficients and the intercept of a fitted classifier, or None.

    Its predictions are not checked.
    """
    coef = getattr(classifier, "coef_", None)
    intercept = np.ravel(getattr(classifier, "intercept_", 0.0))
    if coef is None or np.shape(coef) != (1, n_features) or intercept.size != 1:
        return None
    return np.ravel(dense(coef)).astype(np.float64), float(intercept[0])


def contradicts(second: NDArray[np.bool_], scores: Array, terms: Array) -> bool:
    """Whether predictions of the second class differ from the signs of scores.

    Scores below `ROUNDING` times the sums of the absolute values of their terms are ignored.
    """
    clear = np.abs(scores) > TIE_TOLERANCE + ROUNDING * terms
    return bool(((scores > 0.0) != second)[clear].any())


def _express_least_squares(estimator: LeastSquaresClassifier, X: Any, y: Any) -> AdditiveModel:
    labels = check_labels(y, estimator.classes_)
    return additive_model(estimator, labels, estimator.basis_rows(X), loss="squared")


def _batched_refit_least_squares(estimator: LeastSquaresClassifier, X: Any, y: Any) -> BatchedRefit | None:
    if type(estimator) is not LeastSquaresClassifier:  # a subclass may fit differently
        return None
    rows, labels = estimator.basis_rows(X), check_labels(y, estimator.classes_)
    refit = LeastSquaresRefit(rows, labels, fit_intercept=estimator.fit_intercept)

    def refit_all(
        counts: NDArray[np.float64],
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64]]:
        losses, scores = refit(counts)
        return losses, np.ones(len(counts), dtype=bool), scores

    return refit_all


def _batched_fit_least_squares(estimator: LeastSquaresClassifier, n_jobs: int) -> LeastSquaresFit | None:
    return LeastSquaresFit(estimator.fit_intercept) if type(estimator) is LeastSquaresClassifier else None


LEAST_SQUARES = Adapter(
    supports="cudbound.LeastSquaresClassifier",
    families=(LeastSquaresClassifier,),
    to_additive_model=_express_least_squares,
    objective=lambda estimator, n_rows: Objective("squared", 0.0),
    batched_fit=_batched_fit_least_squares,
    batched_refit=_batched_refit_least_squares,
)


def _express_convex_loss(estimator: ConvexLossClassifier, X: Any, y: Any) -> AdditiveModel:
    labels = check_labels(y, estimator.classes_)
    return additive_model(
        estimator,
        labels,
        estimator.basis_rows(X),
        loss=estimator.loss,
        penalty=estimator.strengths(estimator.coef_.size),
        sample_weight=estimator.row_weights(estimator.classes_, labels, np.ones(labels.size)),
    )


def _batched_fit_convex_loss(estimator: ConvexLossClassifier, n_jobs: int) -> LinearFit | None:
    # a subclass may fit differently, and a basis is fitted again in every refit
    if type(estimator) is not ConvexLossClassifier or estimator.basis is not None:
        return None
    penalty = np.asarray(estimator.penalty, dtype=np.float64)
    return LinearFit(
        estimator.loss,
        penalty if penalty.ndim else float(penalty),
        fit_intercept=estimator.fit_intercept,
        intercept_penalty=float(estimator.intercept_penalty),
        class_weight=class_pair(estimator),
        per_row=True,
        ties="second",
        n_jobs=n_jobs,
    )


CONVEX_LOSS = Adapter(
    supports="cudbound.ConvexLossClassifier",
    families=(ConvexLossClassifier,),
    to_additive_model=_express_convex_loss,
    objective=lambda estimator, n_rows: Objective(estimator.loss, float(np.max(estimator.penalty))),
    batched_fit=_batched_fit_convex_loss,
)


# ---- ridge: sum_i c_i (y_i - f(x_i))^2 + alpha |w|^2, with a free intercept ----


def _ridge_objective(estimator: Any, n_rows: int) -> Objective:
    if getattr(estimator, "positive", False):
        raise UnsupportedEstimatorError(
            "RidgeClassifier(positive=True) constrains its coefficients, but the CUD bound is a supremum over all "
            "coefficients.",
            "Fit it with positive=False.",
        )
    alpha = estimator.alpha_ if isinstance(estimator, RidgeClassifierCV) else estimator.alpha
    return Objective("squared", float(np.ravel(alpha)[0]) / n_rows)  # one value per target


RIDGE = _adapter(
    "sklearn RidgeClassifier, RidgeClassifierCV",
    _ridge_objective,
    RidgeClassifier,
    RidgeClassifierCV,
    batched=RidgeClassifier,
)

# ---- logistic regression: C sum_i c_i loss_i + (1 - l1_ratio) / 2 |w|^2 + l1_ratio |w|_1 ----
# The intercept is free, except for solver="liblinear", where it is the coefficient of a column of `intercept_scaling`
# and penalized like the others.


def _logistic_objective(estimator: Any, n_rows: int) -> Objective:
    if isinstance(estimator, LogisticRegressionCV):
        return _logistic_at(estimator, np.ravel(estimator.C_)[0], np.ravel(estimator.l1_ratio_)[0], n_rows)
    return _logistic_at(estimator, estimator.C, estimator.l1_ratio, n_rows)


def _logistic_at(estimator: Any, c: float, ratio: float | None, n_rows: int) -> Objective:
    if estimator.penalty is None:
        return Objective("logistic", 0.0)
    # before scikit-learn 1.8 the ratio matters only for the elastic net
    l1_ratio = {"l1": 1.0, "l2": 0.0}.get(estimator.penalty, float(ratio or 0.0))
    strength = 1.0 / float(c) / n_rows
    ridge, lasso = strength * (1.0 - l1_ratio) / 2.0, strength * l1_ratio
    # the value of the column that liblinear adds for the intercept; infinity means no penalty
    scale = float(estimator.intercept_scaling) if estimator.solver == "liblinear" else np.inf
    return Objective("logistic", ridge, lasso, ridge / scale**2, lasso / scale)


def _batched_logistic(estimator: Any, n_jobs: int) -> BatchedFit | None:
    if type(estimator) is not LogisticRegressionCV:
        return linear_fit(estimator, n_jobs, family=LogisticRegression, objective=_logistic_objective)
    folds, by_accuracy = number_of_folds(estimator.cv), estimator.scoring in (None, "accuracy", "warn")
    plain = estimator.class_weight is None and not np.any(estimator.l1_ratios_)
    if folds is None or not (by_accuracy and plain and estimator.refit):
        return None
    each = [_logistic_at(estimator, c, None, 1) for c in estimator.Cs_.tolist()]
    if any(minimized.l1_penalty > 0.0 for minimized in each):
        return None
    return TunedFit(tuple(_fit_of(estimator, minimized, n_jobs) for minimized in each), folds)


LOGISTIC = replace(
    _adapter(
        "sklearn LogisticRegression, LogisticRegressionCV",
        _logistic_objective,
        LogisticRegression,
        LogisticRegressionCV,
    ),
    batched_fit=_batched_logistic,
)

# ---- linear support vectors ----
# `LinearSVC` minimizes C sum_i c_i loss_i + |w|^2 / 2 + (b / s)^2 / 2, where s is its `intercept_scaling`: the
# intercept b is the coefficient of a column of s. `SVC` minimizes C sum_i c_i loss_i + |w|^2 / 2 with a free intercept.


def _linear_svc_objective(estimator: LinearSVC, n_rows: int) -> Objective:
    if estimator.multi_class != "ovr":
        raise UnsupportedEstimatorError(
            f"LinearSVC(multi_class={estimator.multi_class!r}) minimizes a loss of both classes' scores.",
            "Fit it with multi_class='ovr'.",
        )
    strength = 1.0 / (float(estimator.C) * n_rows)
    scale = float(estimator.intercept_scaling)
    ridge, lasso = (0.0, strength) if estimator.penalty == "l1" else (strength / 2.0, 0.0)
    return Objective(estimator.loss, ridge, lasso, ridge / scale**2, lasso / scale)


def _svc_objective(estimator: SVC, n_rows: int) -> Objective:
    if estimator.kernel != "linear":
        raise UnsupportedEstimatorError(
            f"SVC(kernel={estimator.kernel!r}) has no fixed basis: its classifiers are sums over the training rows.",
            "Use kernel='linear', or ConvexLossClassifier('hinge', penalty=..., basis=Nystroem(kernel=...)) with a "
            "sklearn.kernel_approximation transformer as the basis.",
        )
    return Objective("hinge", 1.0 / (2.0 * float(estimator.C) * n_rows))


LINEAR_SVC = _adapter("sklearn LinearSVC", _linear_svc_objective, LinearSVC, batched=LinearSVC)
SVC_LINEAR = _adapter("sklearn SVC(kernel='linear')", _svc_objective, SVC)

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


SGD = _adapter("sklearn SGDClassifier, usually with Bound(polish=True)", _sgd_objective, SGDClassifier)

#: In the order in which they are asked.
LINEAR = (RIDGE, LOGISTIC, LINEAR_SVC, SVC_LINEAR, SGD)
