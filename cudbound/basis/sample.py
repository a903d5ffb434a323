"""A training set with the classes of its classifier, checked when it is created, and what the classifier returns."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis import exceptions, validation
from cudbound.basis.feature_table import column_names, count_improbable_copies, count_rows
from cudbound.basis.groups import Groups, check_groups

#: What is hashed first: another order of what follows gets another name.
LAYOUT = b"cudbound training set 1"


@dataclass(frozen=True, eq=False)
class Sample:
    """A training set.

    Attributes
    ----------
    X : array-like, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
        Labels from `classes`.
    classes : ndarray, shape (n_classes,)
    labels : ndarray of float, shape (n_samples,)
        -1.0 for ``classes[0]``, +1.0 for ``classes[1]``; class numbers for more than two classes.
    groups : Groups or None
        Groups of rows that are drawn and left out together.
    sample_weight : ndarray of float, shape (n_samples,), or None
        Weights of the rows; None for equal weights.
    names_of_groups : array-like, shape (n_samples,), or None
        The groups as they were given, for splitters.
    estimator : object, default=None
        The fitted classifier of the sample.
    predicted : ndarray, shape (n_samples,)
        The labels that it predicts for the rows.
    event_class : int, default=1
        Which of two classes is the event, 0 or 1.
    """

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    labels: validation.Array
    groups: Groups | None = None
    sample_weight: validation.Array | None = None
    names_of_groups: Any = None
    estimator: Any = field(default=None, repr=False)
    predicted: NDArray[Any] = field(default_factory=lambda: np.empty(0), repr=False)
    event_class: int = 1

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        groups: Any = None,
        sample_weight: Any = None,
        *,
        several: bool = False,
    ) -> Sample:
        """Return the training set of a fitted classifier of two classes, or of `several`.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the classifier has not been fitted.
        ValueError
            If the parts do not fit each other or the classifier.
        """
        classes = (validation.check_classifier if several else validation.check_binary_classifier)(estimator)
        n = count_rows(X)
        weights = (
            None if sample_weight is None else validation.check_row_weights(sample_weight, count_rows(y))
        )
        labels = validation.check_labels(y, classes, several=several)
        validation.check_lengths(n, labels.size)
        check_index(X, y)
        # rows without an index of their own have that of their labels
        indexed, name = (X, "X") if hasattr(X, "iloc") else (y, "y")
        for other, values in (("groups", groups), ("sample_weight", sample_weight)):
            check_index(indexed, values, names=(name, other))
        predicted = predicted_labels(estimator, X, classes)
        y = classes[(labels if len(classes) > 2 else labels > 0.0).astype(int)]
        of_groups = None if groups is None else check_groups(groups, labels)
        return cls(X, y, classes, labels, of_groups, weights, groups, estimator, predicted)

    @property
    def n_samples(self) -> int:
        """Rows of the training set."""
        return int(self.labels.size)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the columns; without any they are x0, x1, ..."""
        names = column_names(self.X)
        if names is None:
            shape = np.shape(self.X)
            names = [f"x{number}" for number in range(shape[1] if len(shape) > 1 else 1)]
        return tuple(map(str, names))

    @property
    def cautions(self) -> tuple[exceptions.CudboundWarning, ...]:
        """Warnings about rows that may not be independent patients."""
        return related_rows(self.X, self.events, self.groups, self.sample_weight)

    @property
    def facts(self) -> dict[str, Any]:
        """Return facts on the data for the notes under a table, by the names of the fields of `Run`."""
        sizes = {}
        if len(self.classes) > 2:
            numbers, rows = np.unique(self.labels, return_counts=True)
            sizes = dict(zip(map(str, self.classes.tolist()), rows.tolist(), strict=True))
            event = self.labels == numbers[rows.argmax()]
        else:
            event = self.events
        n_events, weights = int(np.count_nonzero(event)), self.sample_weight
        return {
            "source": None,
            "n_samples": self.n_samples,
            "n_events": n_events,
            "n_non_events": self.n_samples - n_events,
            "event": f"class {self.y[event][0] if sizes else self.classes[self.event_class]}",
            "class_sizes": sizes,
            "features": self.features,
            "weighted_share": None if weights is None else float(weights @ event / weights.sum()),
        }

    @property
    def events(self) -> NDArray[Any]:
        """Return which rows belong to the event class; with more than two classes, the class numbers."""
        if len(self.classes) > 2:
            return self.labels
        return np.asarray(self.labels > 0.0 if self.event_class else self.labels < 0.0)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the training set."""
        return fingerprint(self.X, self.events, self.groups, self.sample_weight)


def check_before_fit(X: Any, y: Any) -> None:
    """Raise ValueError for rows and labels with which no classifier can be fitted."""
    import pandas as pd

    labels = np.asarray(y, dtype=object)
    validation.check_lengths(count_rows(X), count_rows(y))
    missing = np.flatnonzero(pd.isna(labels).reshape(len(labels), -1).any(axis=1))
    if missing.size:
        raise ValueError(
            f"y must have a label for every row. Got none for {missing.size} of {len(labels)} rows, the first in row "
            f"{missing[0]}, counted from 0; omit such rows."
        )
    if labels.ndim == 1 and len(labels) and (labels == labels[0]).all():
        raise ValueError(f"y must contain labels of two classes. Got only {[labels[0]]}.")


def check_index(X: Any, y: Any, *, names: tuple[str, str] = ("X", "y")) -> None:
    """Raise ValueError if both have a pandas index and the two differ; rows are matched by position.

    Parameters
    ----------
    X, y : array-like
    names : tuple of str, default=("X", "y")
        Their names in the error message.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [40, 50]}, index=["ann", "bob"])
    >>> try:
    ...     check_index(X, pd.Series([0, 1], index=["bob", "ann"]))
    ... except ValueError as error:
    ...     print(str(error)[:85])
    The 'y' parameter must be in the order of the index of X, which is 'ann' in row 0, co
    """
    if not (hasattr(X, "iloc") and hasattr(y, "iloc")):
        return
    X_name, y_name = names
    validation.check_lengths(count_rows(X), count_rows(y), names)
    if X.index.equals(y.index):
        return
    labels = zip(X.index.tolist(), y.index.tolist(), strict=True)
    differing = ((row, *pair) for row, pair in enumerate(labels) if pair[0] != pair[1])
    row, of_rows, of_labels = next(differing, (0, X.index.dtype, y.index.dtype))
    raise exceptions.ParameterError(
        y_name,
        f"in the order of the index of {X_name}, which is {of_rows!r} in row {row}, counted from 0",
        of_labels,
        f" Align them, such as {y_name}.loc[{X_name}.index], or pass {y_name}.to_numpy() if their rows are "
        "in the same "
        "order already.",
    )


def fingerprint(
    X: Any,
    event: NDArray[Any],
    groups: Groups | None = None,
    sample_weight: NDArray[np.float64] | None = None,
) -> str:
    """Return the SHA-256 of a training set, 64 hexadecimal digits.

    One digest is taken of all parts together: that of a few labels alone could be undone by trying all of them.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features) or (n_samples,)
        Numbers, texts or other values; an array, a data frame, a sparse matrix or a list. Names of columns and types
        of numbers do not enter: 1, 1.0 and True are one value, and so are 0.0 and -0.0.
    event : ndarray of bool, shape (n_samples,)
        Which rows are events, or the numbers of their classes.
    groups : Groups, default=None
        Which rows belong together; names of groups do not enter.
    sample_weight : ndarray of float, shape (n_samples,), default=None

    Examples
    --------
    >>> event = np.array([True, False])
    >>> fingerprint([[1, 2], [3, 4]], event) == fingerprint(np.array([[1.0, 2.0], [3.0, 4.0]]), event)
    True
    >>> fingerprint([[1, 2], [3, 4]], event) == fingerprint([[1, 2], [3, 5]], event)
    False
    """
    digest = hashlib.sha256(LAYOUT)
    parts: tuple[Any, ...] = (X, event, None if groups is None else groups.codes, sample_weight)
    for part in parts:
        values = np.asarray(part.toarray() if hasattr(part, "toarray") else part)  # sparse matrices have it
        digest.update(repr(values.shape).encode())
        digest.update(_canonical(values))
    return digest.hexdigest()


def _canonical(values: NDArray[Any]) -> bytes:
    """Return numbers as little-endian doubles, row by row, and values that are not all numbers as a list of JSON."""
    try:
        numbers = values.astype("<f8", order="C") + 0.0  # takes the sign off a negative zero
    except (TypeError, ValueError):
        cells = values.ravel().tolist()
        plain = [float(cell) + 0.0 if isinstance(cell, Real) else str(cell) for cell in cells]
        return json.dumps(plain).encode()
    return np.where(np.isnan(numbers), math.nan, numbers).tobytes()


#: Kish's number of groups, by itself and as a share of their number, below which there is a caution.
FEWEST_GROUPS, LEAST_SHARE = 10.0, 0.6
REMEDY = "If rows belong together, such as several rows of one patient, pass groups=, or --group COL to the command."


def related_rows(
    X: Any, labels: NDArray[Any], groups: Groups | None, sample_weight: validation.Array | None
) -> tuple[exceptions.CudboundWarning, ...]:
    """Return warnings about rows that may not be independent patients.

    - Groups that are few, or of very unequal size, by Kish's number (sum m)^2 / sum m^2, with m their sizes.
    - Weights that are whole numbers with a sum above the number of rows, as those of aggregated data are.
    - Without groups: rows that equal others in features and label, unless chance explains them, see
      `cudbound.basis.feature_table.count_improbable_copies`.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
    labels : ndarray, shape (n_samples,)
        Booleans or numbers that are equal for rows of one class.
    groups : Groups or None
    sample_weight : ndarray of float, shape (n_samples,), or None

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 3)).repeat(2, axis=0)
    >>> [type(one).__name__ for one in related_rows(X, X[:, 0] > 0, None, None)]
    ['RepeatedRowsWarning']
    >>> related_rows(X, X[:, 0] > 0, Groups.of(np.arange(120) // 2), None)
    ()
    """
    warnings: list[exceptions.CudboundWarning] = []
    if sample_weight is not None:
        warnings += _frequencies(sample_weight)
    if groups is not None:
        return (*warnings, *_few_groups(groups))
    if n_equal := count_improbable_copies(X, labels):
        verb = "equals" if n_equal == 1 else "equal"
        message = (
            f"{n_equal} of {len(labels)} rows {verb} an earlier row in every feature and in the label, which chance "
            f"does not explain. A refit that leaves out one of two equal rows was fitted to the other. {REMEDY} Leave "
            "out rows entered twice."
        )
        warnings.append(exceptions.RepeatedRowsWarning(message, n_equal=n_equal))
    return tuple(warnings)


def _few_groups(groups: Groups) -> list[exceptions.CudboundWarning]:
    n, size = groups.n_groups, groups.n_effective
    if size >= FEWEST_GROUPS and size >= LEAST_SHARE * n:
        return []
    sizes = "" if size == n else f", as informative as {size:.1f} groups of equal size"
    message = (
        f"The rows come from {n} groups{sizes}: with so few, the variation between groups is poorly known, and "
        "intervals may be too short."
    )
    return [exceptions.SmallSampleWarning(message, n_groups=n, n_effective=size)]


def _frequencies(weight: validation.Array) -> list[exceptions.CudboundWarning]:
    total = float(weight.sum())
    if (weight % 1.0).any() or not total > weight.size:
        return []
    message = (
        f"All weights are whole numbers and sum to {total:.0f} for {weight.size} rows. If they are numbers of "
        "patients with the same values, repeat the rows, one row per patient, and omit the weights; with weights, "
        "intervals are much too long."
    )
    return [exceptions.RepeatedRowsWarning(message, n_patients=int(total))]


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
    predicted, n = np.asarray(estimator.predict(X)), count_rows(X)
    labels = np.asarray(classes).tolist()
    is_label = np.zeros(n, dtype=bool)
    if predicted.shape == (n,):
        for label in labels:
            is_label |= np.asarray(predicted == label, dtype=bool)
        if is_label.all():
            return predicted
    name = type(estimator).__name__
    rule = f"{name}.predict must return one of the labels that it was fitted to, {_listed(labels)}, for each row."
    if predicted.shape != (n,):
        hints = {
            (n, len(labels)): " Return the label of the largest column.",
            (n, 1): " Return it through np.ravel.",
        }
        hint = hints.get(predicted.shape, "")
        raise ValueError(f"{rule} It returned {_shape(predicted)} for {n} rows.{hint}")
    by_text = {repr(other): other for other in predicted[~is_label].tolist()}
    unknown = [by_text[text] for text in sorted(by_text)]
    raise ValueError(f"{rule} It returned {_listed(unknown[:3], 'and')}, {_remedy(unknown, labels)}")


def _remedy(unknown: list[Any], labels: list[Any]) -> str:
    if any(other != other or other is None for other in unknown):
        return "but every row needs a label."
    if {str(other) for other in unknown} <= {str(label) for label in labels}:
        return "which are of another type: fit it to labels of that type, or let predict return those of y."
    if all(isinstance(other, float) and 0.0 <= other <= 1.0 for other in unknown):
        return "which may be probabilities: let predict return np.where(p > 0.5, classes_[1], classes_[0])."
    return "which are not in y: let predict return labels as they are in y."


def predicted_probabilities(estimator: Any, X: Any, n_classes: int) -> validation.Array:
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
    single = values.shape in ((n,), (n, 1)) and n_classes == 2
    hint = " Return np.column_stack([1 - p, p]), with p that of classes_[1]." if single else ""
    numbers = _finite(rule, values, (n, n_classes), f" and {n_classes} classes.{hint}")
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


def predicted_scores(estimator: Any, X: Any) -> validation.Array:
    """Return the scores of a fitted classifier of two classes, shape (n_samples,).

    Raises
    ------
    ValueError
        If they are not one finite number for each row.
    """
    rule = f"{type(estimator).__name__}.decision_function must return a finite number for each row."
    return _finite(rule, np.asarray(estimator.decision_function(X)), (count_rows(X),), ".")


def _finite(rule: str, values: NDArray[Any], shape: tuple[int, ...], after: str) -> validation.Array:
    """Return what a classifier returned for rows, if it has this shape and is finite."""
    if values.shape != shape:
        raise ValueError(f"{rule} It returned {_shape(values)} for {shape[0]} rows{after}")
    numbers = values.astype(np.float64)
    rows = np.flatnonzero(~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1))
    if rows.size:
        raise ValueError(
            f"{rule} It returned nan or infinite values for {rows.size} rows, the first in row {rows[0]}."
        )
    return numbers


def _shape(values: NDArray[Any]) -> str:
    if values.ndim == 0:
        return f"one {type(values.item()).__name__}"
    return f"{values.size} values" if values.ndim == 1 else f"an array of shape {values.shape}"


def _listed(values: list[Any], last: str = "or") -> str:
    *leading, final = [f"{value:.3g}" if isinstance(value, float) else repr(value) for value in values]
    return f"{', '.join(leading)} {last} {final}" if leading else final
