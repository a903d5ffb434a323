"""What is known of linear classifiers in general: coefficients, rows, class weights, and what rounding hides."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.validation import validate_data

from cudbound.losses.surrogates import get_loss
from cudbound.problem.additive_model import TIE_TOLERANCE, AdditiveModel
from cudbound.validation import check_labels, check_lengths

Array = NDArray[np.float64]

#: Scores below this share of the sum of their terms are rounding errors, whose sign is that of no class.
ROUNDING = 1e-9


def linear_model(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    loss: str,
    penalty: float,
    intercept_penalty: float = 0.0,
    l1_penalty: float = 0.0,
    intercept_l1_penalty: float = 0.0,
    fit_intercept: bool = True,
) -> AdditiveModel:
    """Write a linear classifier of scikit-learn, fitted with these strengths on the mean loss, as plain arrays."""
    labels = check_labels(y, estimator.classes_)
    features = dense_rows(estimator, X)
    check_lengths(features.shape[0], labels.size)
    coef = dense(estimator.coef_).ravel()
    ridge, lasso = np.full(coef.size, penalty), np.full(coef.size, l1_penalty)
    if fit_intercept:
        features = np.column_stack([np.ones(labels.size), features])
        coef = np.concatenate([np.ravel(estimator.intercept_)[:1], coef])
        ridge = np.concatenate([[intercept_penalty], ridge])
        lasso = np.concatenate([[intercept_l1_penalty], lasso])
    return AdditiveModel(
        design=np.ascontiguousarray(features),
        labels=labels,
        coef=np.asarray(coef, dtype=np.float64),
        loss=get_loss(loss),
        classes=estimator.classes_,
        penalty=ridge if ridge.any() else None,
        l1_penalty=lasso if lasso.any() else None,
        sample_weight=class_weights(estimator, labels),
    )


def count_rows(estimator: Any, y: Any) -> int:
    """Return the number n of training rows, which divides strengths relative to a sum; checks the labels."""
    return check_labels(y, estimator.classes_).size


def dense_rows(estimator: Any, X: Any) -> Array:
    """Return the rows as the fitted estimator receives them, as a dense array of floats."""
    rows = validate_data(estimator, X, dtype=np.float64, accept_sparse=True, reset=False)
    return np.asarray(dense(rows), dtype=np.float64)


def class_weights(estimator: Any, labels: Array) -> Array | None:
    """Return the weight of each row's class, computed on the training labels, or None if there are none."""
    if not estimator.class_weight:
        return None
    y = estimator.classes_[(labels > 0.0).astype(int)]
    return np.asarray(compute_sample_weight(estimator.class_weight, y), dtype=np.float64)


def class_pair(estimator: Any) -> tuple[float, float] | Literal["balanced"]:
    """Return the weights of the two classes, or "balanced" where they depend on the training set."""
    weight = estimator.class_weight
    if isinstance(weight, str) and weight == "balanced":
        return "balanced"
    if not weight:
        return 1.0, 1.0
    first, second = compute_class_weight(weight, classes=estimator.classes_, y=estimator.classes_).tolist()
    return first, second


def own_coefficients(classifier: Any, n_features: int) -> tuple[Array, float] | None:
    """Return what a fitted classifier keeps as coefficients of its features and as intercept, or None.

    What it predicts from them is not checked.
    """
    coef = getattr(classifier, "coef_", None)
    intercept = np.ravel(getattr(classifier, "intercept_", 0.0))
    if coef is None or np.shape(coef) != (1, n_features) or intercept.size != 1:
        return None
    return np.ravel(dense(coef)).astype(np.float64), float(intercept[0])


def contradicts(second: NDArray[np.bool_], scores: Array, terms: Array) -> bool:
    """Whether predictions of the second class differ from the signs of scores.

    Scores below `ROUNDING` times the sums of the absolute values of their terms decide nothing.
    """
    clear = np.abs(scores) > TIE_TOLERANCE + ROUNDING * terms
    return bool(((scores > 0.0) != second)[clear].any())


def dense(values: Any) -> Any:
    """Return a sparse array or matrix as a dense one, and anything else as it is."""
    is_sparse: bool = sparse.issparse(values)
    return values.toarray() if is_sparse else values
