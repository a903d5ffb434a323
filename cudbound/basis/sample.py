"""A training set with the classes of its classifier, checked when it is created."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.equal_rows import count_equal_rows
from cudbound.basis.exceptions import CudboundWarning
from cudbound.basis.feature_table import column_names
from cudbound.basis.groups import Groups, check_groups
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.predictions import predicted_labels
from cudbound.basis.related_rows import related_rows
from cudbound.basis.validation import (
    Array,
    check_binary_classifier,
    check_classifier,
    check_labels,
    check_lengths,
    check_row_weights,
    count_rows,
)

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
    """

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    labels: Array
    groups: Groups | None = None
    sample_weight: Array | None = None
    names_of_groups: Any = None

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
        classes = (check_classifier if several else check_binary_classifier)(estimator)
        n = count_rows(X)
        weights = None if sample_weight is None else check_row_weights(sample_weight, count_rows(y))
        labels = check_labels(y, classes, several=several)
        check_lengths(n, labels.size)
        check_index(X, y)
        # rows without an index of their own have that of their labels
        indexed, name = (X, "X") if hasattr(X, "iloc") else (y, "y")
        for other, values in (("groups", groups), ("sample_weight", sample_weight)):
            check_index(indexed, values, names=(name, other))
        predicted_labels(estimator, X, classes)
        known = classes[(labels if len(classes) > 2 else labels > 0.0).astype(int)]
        return cls(X, known, classes, labels, check_groups(groups, labels), weights, groups)

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
    def cautions(self) -> tuple[CudboundWarning, ...]:
        """Warnings about rows that may not be independent patients."""
        return related_rows(self.X, self.events(), self.groups, self.sample_weight)

    def facts(self, event_class: int = 1) -> dict[str, Any]:
        """Return facts on the data for the notes under a table, by the names of the fields of `Run`."""
        sizes = {}
        if len(self.classes) > 2:
            numbers, rows = np.unique(self.labels, return_counts=True)
            sizes = dict(zip(map(str, self.classes.tolist()), rows.tolist(), strict=True))
            event = self.labels == numbers[rows.argmax()]
        else:
            event = self.events(event_class)
        n_events, weights = int(np.count_nonzero(event)), self.sample_weight
        return {
            "source": None,
            "n_samples": self.n_samples,
            "n_events": n_events,
            "n_non_events": self.n_samples - n_events,
            "event": f"class {self.y[event][0] if sizes else self.classes[event_class]}",
            "class_sizes": sizes,
            "features": self.features,
            "weighted_share": None if weights is None else float(weights @ event / weights.sum()),
        }

    def count_equal(self, X: Any, y: NDArray[Any]) -> int:
        """Return how many cases equal training rows in every feature and in the label."""
        return count_equal_rows(X, y, self.X, self.y)

    def events(self, event_class: int = 1) -> NDArray[Any]:
        """Return which rows belong to the event class; with more than two classes, the class numbers."""
        if len(self.classes) > 2:
            return self.labels
        return np.asarray(self.labels > 0.0 if event_class else self.labels < 0.0)

    def fingerprints(self, event_class: int = 1) -> tuple[str, str]:
        """Return the fingerprint of the training set, and two hexadecimal digits per row, which find a changed row.

        With 256 values these digits say next to nothing about a patient, and miss one change in 256.
        """
        whole = fingerprint(self.X, self.events(event_class), self.groups, self.sample_weight)
        X = np.asarray(self.X.toarray() if hasattr(self.X, "toarray") else self.X)
        event, weight = self.events(event_class), self.sample_weight
        parts = (X, event) if weight is None else (X, event, weight)
        rows = (b"".join(_canonical(np.asarray(part[row])) for part in parts) for row in range(len(X)))
        return whole, "".join(hashlib.sha256(row).hexdigest()[:2] for row in rows)


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
    check_lengths(count_rows(X), count_rows(y), names)
    if X.index.equals(y.index):
        return
    labels = zip(X.index.tolist(), y.index.tolist(), strict=True)
    differing = ((row, *pair) for row, pair in enumerate(labels) if pair[0] != pair[1])
    row, of_rows, of_labels = next(differing, (0, X.index.dtype, y.index.dtype))
    raise ParameterError(
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
