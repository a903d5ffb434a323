"""Bolstered losses of a fitted classifier: in closed form if it is linear, else by random draws from the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from cudbound.adapters import find_adapter
from cudbound.adapters.linear import contradicts, own_coefficients
from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.basis.feature_table import column_names, dense
from cudbound.basis.validation import MIN_ROWS_PER_CLASS, check_binary_classifier, check_lengths
from cudbound.point_estimates.bolstered import kernel_widths, linear_bolstered_losses
from cudbound.records import BolsteredLosses

Array = NDArray[np.float64]

#: Draws from the kernel of a point without a closed form. The misclassified share of the kernel then has a standard
#: error of at most .05 per point, and .05 / sqrt(n) in the mean over n points.
N_DRAWS = 100
#: Largest number of values in the rows that are predicted at once, 16 MB.
CHUNK_VALUES = 2_000_000


def record_bolstered(estimator: Any, X: Any, y: Any, *, rng: np.random.Generator) -> BolsteredLosses:
    """Record the misclassified share of a normal kernel around each training point.

    The kernels are spherical, with one width per class, see `cudbound.point_estimates.bolstered.kernel_widths`. If the
    classifier is the sign of a linear score of its rows, the share has a closed form; any other classifier predicts 100
    random points from each kernel. For a `Pipeline`, the kernels are placed around the rows that its last step
    receives; a `StandardScaler` before the classifier therefore makes the estimate independent of the units. For a
    search, its best estimator is used.

    Parameters
    ----------
    estimator : object
        Fitted scikit-learn classifier of two classes.
    X : array-like, shape (n_samples, n_features)
        The rows that it was fitted to; the transformers of a `Pipeline` must turn them into numbers.
    y : array-like, shape (n_samples,)
        Their labels, as passed to the estimator's `fit`.
    rng : numpy.random.Generator
        Source of the draws; not used with a closed form.

    Returns
    -------
    BolsteredLosses
        Its remarks report how the shares were computed, and which class borrows its kernel width.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator has not been fitted.
    ValueError
        If it does not have two classes, `X` and `y` differ in length, or the rows are not numbers.

    References
    ----------
    Braga-Neto, U. and Dougherty, E. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> clf = LeastSquaresClassifier().fit(X, y)
    >>> record_bolstered(clf, X, y, rng=np.random.default_rng(0)).losses.round(3).tolist()
    [0.089, 0.25, 0.25, 0.089]
    """
    classes = check_binary_classifier(estimator)
    answers = np.asarray(y)
    labels = np.where(answers == classes[1], 1.0, -1.0)
    predicted = np.asarray(estimator.predict(X))
    check_lengths(len(predicted), labels.size)
    wrong = np.asarray(predicted != answers)
    rule, seen = _last_step(estimator, X)
    rows = _numbers(seen)
    widths = kernel_widths(rows, labels)
    remarks = [
        "one kernel width in all directions makes the estimate depend on the units of the features",
        *widths.remarks,
    ]
    linear = _linear_rule(rule, seen, rows, answers, labels)
    if linear is None:
        losses = _drawn_losses(rule, seen, rows, widths.of_rows, answers, rng)
        remarks.append(f"{N_DRAWS} random points from the kernel of each row")
    else:
        coef, intercept = linear
        # without a kernel the point counts as it is classified, ties included
        has_kernel = widths.of_rows * np.linalg.norm(coef) > 0.0
        losses = np.where(
            has_kernel, linear_bolstered_losses(rows, labels, widths.of_rows, coef, intercept), wrong
        )
        if not coef.any():
            remarks.append("the classifier is constant: every row counts as it is classified")
    return BolsteredLosses(losses, wrong, tuple(remarks))


def _last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the classifier inside pipelines and searches, and the rows that it receives."""
    while True:
        if isinstance(estimator, Pipeline):
            X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return estimator, X


def _numbers(rows: Any) -> Array:
    try:
        numbers = np.asarray(dense(rows), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "Bolstering puts normal kernels around the rows of 'X', which must be numbers. Encode other values in a "
            "Pipeline, or leave the bolstered estimates out."
        ) from error
    if numbers.ndim != 2 or not np.isfinite(numbers).all():
        raise ValueError(
            "Bolstering puts normal kernels around the rows of 'X', which must be finite numbers in two dimensions. "
            f"Got shape {numbers.shape}{', nan or infinite values in it' if numbers.ndim == 2 else ''}; impute "
            "missing values in a Pipeline, or leave the bolstered estimates out."
        )
    return numbers


def _linear_rule(
    rule: Any, seen: Any, rows: Array, answers: Any, labels: Array
) -> tuple[Array, float] | None:
    """Return coefficients and intercept of the rule, or None if it is not the sign of a linear score."""
    found = own_coefficients(rule, rows.shape[1]) or _adapted_coefficients(rule, seen, rows, answers, labels)
    if found is None:
        return None
    coef, intercept = found
    scores = rows @ coef + intercept
    terms = np.abs(rows) @ np.abs(coef) + abs(intercept)
    positive = np.asarray(rule.predict(seen) == rule.classes_[1])
    return None if contradicts(positive, scores, terms) else found


def _adapted_coefficients(
    rule: Any, seen: Any, rows: Array, answers: Any, labels: Array
) -> tuple[Array, float] | None:
    positive = int((labels > 0.0).sum())
    if min(positive, labels.size - positive) < MIN_ROWS_PER_CLASS:  # adapters refuse it
        return None
    try:
        model = find_adapter(rule).to_additive_model(rule, seen, answers)
    except UnsupportedEstimatorError:
        return None
    sign = 1.0 if model.classes[1] == rule.classes_[1] else -1.0
    if np.array_equal(model.design, np.column_stack([np.ones(len(rows)), rows])):
        return sign * model.coef[1:], sign * float(model.coef[0])
    return (sign * model.coef, 0.0) if np.array_equal(model.design, rows) else None


def _drawn_losses(
    rule: Any, seen: Any, rows: Array, widths: Array, answers: Any, rng: np.random.Generator
) -> Array:
    n, p = rows.shape
    step = max(1, CHUNK_VALUES // max(1, n * p))
    n_wrong = np.zeros(n)
    for start in range(0, N_DRAWS, step):
        size = min(step, N_DRAWS - start)
        points = rows + widths[:, None] * rng.standard_normal((size, n, p))
        predicted = rule.predict(_like(seen, points.reshape(-1, p))).reshape(size, n)
        n_wrong += (predicted != answers).sum(axis=0)
    return n_wrong / N_DRAWS


def _like(seen: Any, points: Array) -> Any:
    """Return the points with the column names of the rows, if there are any."""
    names = column_names(seen)
    if names is None:
        return points
    import pandas as pd

    return pd.DataFrame(points, columns=names)
