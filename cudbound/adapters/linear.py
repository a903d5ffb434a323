"""Linear classifiers in general: coefficients, rows, class weights and rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.validation import validate_data

from cudbound.basis.equal_rows import dense
from cudbound.basis.validation import check_labels, check_lengths
from cudbound.estimators.batched import LinearFit
from cudbound.losses.surrogates import get_loss
from cudbound.problem.additive_model import TIE_TOLERANCE, AdditiveModel

Array = NDArray[np.float64]

#: Scores below this share of the sum of their terms are rounding errors, whose sign is that of no class.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Objective:
    """The objective of a linear classifier: a mean loss plus penalties on |w|^2, on |w|_1 and on the intercept.

    Attributes
    ----------
    loss : str
        Name of one of the package's losses.
    penalty, l1_penalty : float
        Penalty strengths for the coefficients w.
    intercept_penalty, intercept_l1_penalty : float
        Penalty strengths for the intercept.
    """

    loss: str
    penalty: float
    l1_penalty: float = 0.0
    intercept_penalty: float = 0.0
    intercept_l1_penalty: float = 0.0


#: ``objective(estimator, n_rows)``: strengths relative to the mean over so many rows; 1 gives those relative to a sum.
ObjectiveOf = Callable[[Any, int], Objective]


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
    if minimized.l1_penalty > 0.0:
        return None
    return LinearFit(
        minimized.loss,
        minimized.penalty,
        fit_intercept=has_intercept(estimator),
        intercept_penalty=minimized.intercept_penalty,
        class_weight=class_pair(estimator),
        n_jobs=n_jobs,
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
