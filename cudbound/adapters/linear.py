"""What adapters of scikit-learn's linear classifiers share: rows and class weights."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.validation import validate_data

from cudbound.losses.surrogates import get_loss
from cudbound.problem.additive_model import AdditiveModel
from cudbound.validation import check_labels, check_lengths

Array = NDArray[np.float64]


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
    coef = _dense(estimator.coef_).ravel()
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
    return np.asarray(_dense(rows), dtype=np.float64)


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


def _dense(values: Any) -> Any:
    is_sparse: bool = sparse.issparse(values)
    return values.toarray() if is_sparse else values
