"""Checks of what classifiers return: labels, probabilities and scores; what is wrong would count as an error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.validation import Array, count_rows

#: How far rounding can take a probability beyond [0, 1], and the sum of those of a row from 1.
ROUNDING = 1e-3


def predicted_labels(estimator: Any, X: Any, classes: Iterable[Any]) -> NDArray[Any]:
    """Return the labels that a fitted classifier predicts, shape (n_samples,).

    Raises
    ------
    ValueError
        If it does not return one of `classes` for each row; the message says what it returned.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> class Texts(DecisionTreeClassifier):
    ...     def predict(self, X):
    ...         return super().predict(X).astype(str)
    >>> X, y = [[1.0], [2.0]], [0, 1]
    >>> try:
    ...     predicted_labels(Texts().fit(X, y), X, np.array([0, 1]))
    ... except ValueError as error:
    ...     print(str(error)[:113])
    Texts.predict must return one of the labels that it was fitted to, 0 or 1, for each row. It returned '0' and '1',
    """
    what, known = f"{type(estimator).__name__}.predict", np.asarray(classes).tolist()
    rule = f"{what} must return one of the labels that it was fitted to, {_listed(known)}, for each row."
    predicted, n = np.asarray(estimator.predict(X)), count_rows(X)
    if predicted.shape != (n,):
        hints = {
            (n, len(known)): " Return the label of the largest column.",
            (n, 1): " Return it through np.ravel.",
        }
        hint = hints.get(predicted.shape, "")
        raise ValueError(f"{rule} It returned {_shape(predicted)} for {n} rows.{hint}")
    is_known = np.zeros(n, dtype=bool)
    for label in known:
        is_known |= np.asarray(predicted == label, dtype=bool)
    if is_known.all():
        return predicted
    by_text = {repr(other): other for other in predicted[~is_known].tolist()}
    others = [by_text[text] for text in sorted(by_text)]
    raise ValueError(f"{rule} It returned {_listed(others[:3], 'and')}, {_remedy(others, known)}")


def _remedy(others: list[Any], known: list[Any]) -> str:
    if any(other != other or other is None for other in others):
        return "but every row needs a label."
    if {str(other) for other in others} <= {str(label) for label in known}:
        return "which are of another type: fit it to labels of that type, or let predict return those of y."
    if all(isinstance(other, float) and 0.0 <= other <= 1.0 for other in others):
        return "which may be probabilities: let predict return np.where(p > 0.5, classes_[1], classes_[0])."
    return "which are not in y: let predict return labels as they are in y."


def predicted_probabilities(estimator: Any, X: Any, n_classes: int) -> Array:
    """Return the probabilities of a fitted classifier, shape (n_samples, n_classes).

    Raises
    ------
    ValueError
        If they are not numbers in [0, 1] that sum to 1 in each row, one for each class.
    """
    rule = (
        f"{type(estimator).__name__}.predict_proba must return a probability for each row and class, with "
        "the classes as columns, in the order of classes_."
    )
    values, n = np.asarray(estimator.predict_proba(X)), count_rows(X)
    if values.shape != (n, n_classes):
        single = values.shape in ((n,), (n, 1)) and n_classes == 2
        hint = " Return np.column_stack([1 - p, p]), with p that of classes_[1]." if single else ""
        raise ValueError(f"{rule} It returned {_shape(values)} for {n} rows and {n_classes} classes.{hint}")
    numbers = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        rows = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
        raise ValueError(
            f"{rule} It returned nan or infinite values for {rows.size} rows, the first in row {rows[0]}."
        )
    if numbers.min() < -ROUNDING or numbers.max() > 1.0 + ROUNDING:
        raise ValueError(
            f"{rule} It returned values from {numbers.min():.3g} to {numbers.max():.3g}: scores are not probabilities; "
            "calibrate them, such as by CalibratedClassifierCV."
        )
    sums = numbers.sum(axis=1)
    if (abs(sums - 1.0) > ROUNDING).any():
        raise ValueError(
            f"{rule} It returned rows with sums from {sums.min():.3g} to {sums.max():.3g}; divide each row by its sum."
        )
    return numbers


def predicted_scores(estimator: Any, X: Any) -> Array:
    """Return the scores of a fitted classifier of two classes, shape (n_samples,).

    Raises
    ------
    ValueError
        If they are not one finite number for each row.
    """
    rule = f"{type(estimator).__name__}.decision_function must return a finite number for each row."
    values, n = np.asarray(estimator.decision_function(X), dtype=np.float64), count_rows(X)
    if values.shape != (n,):
        raise ValueError(f"{rule} It returned {_shape(values)} for {n} rows.")
    if not np.isfinite(values).all():
        raise ValueError(
            f"{rule} It returned nan or infinite values for {(~np.isfinite(values)).sum()} rows."
        )
    return values


def _shape(values: NDArray[Any]) -> str:
    if values.ndim == 0:
        return f"one {type(values.item()).__name__}"
    return f"{values.size} values" if values.ndim == 1 else f"an array of shape {values.shape}"


def _listed(values: list[Any], last: str = "or") -> str:
    *first, final = [f"{value:.3g}" if isinstance(value, float) else repr(value) for value in values]
    return f"{', '.join(first)} {last} {final}" if first else final
