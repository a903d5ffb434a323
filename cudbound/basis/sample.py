"""A training set, checked when it is created, tables of its rows, and what its classifier returns."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis import exceptions, validation
from cudbound.basis.groups import Groups, check_groups


def count_rows(X: Any) -> int:
    """Return the number of rows of an array, a data frame, a sparse matrix or a list; TypeError for others."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):  # such as a LazyFrame of polars
        raise TypeError(
            "Rows and labels must be in memory, as an array, a data frame, a sparse matrix or a list. "
            f"Got {type(X).__name__} instead; call its collect() first, if it has one."
        )
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def as_table(X: Any) -> Any:
    """Return rows as a table whose rows `sklearn.utils._safe_indexing` can take; data frames stay what they are."""
    if hasattr(X, "tocsr"):  # not every sparse format gives single rows; this one does
        return X.tocsr()
    return X if hasattr(X, "columns") else np.asarray(X)


def copied(X: Any) -> Any:
    """Return a copy, because steps with copy=False change the rows that they receive."""
    return X.copy() if hasattr(X, "copy") else X  # other tables cannot be changed


def column_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a table, or None if they have none."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # columns of pyarrow are values
    return None if names is None else list(names)


#: Ratio of standard deviations from which a penalty that treats all features alike is worth a warning.
UNEQUAL_SPREADS = 100.0


def unequal_spreads(columns: NDArray[np.float64]) -> str:
    """Return the range of the standard deviations of columns in words if they differ greatly, else an empty text.

    Constant columns and missing values (nan) are left out.

    Examples
    --------
    >>> unequal_spreads(np.array([[0.0, 140_000.0, 1.0], [1.0, 320_000.0, 1.0]]))
    '0.5 to 90,000'
    """
    spreads = np.nanstd(columns, axis=0)
    spreads = spreads[spreads > 0.0]
    if not spreads.size or spreads.max() <= UNEQUAL_SPREADS * spreads.min():
        return ""
    return " to ".join(f"{float(f'{spread:.2g}'):,g}" for spread in (spreads.min(), spreads.max()))


#: Tables of more values are not compared: a sparse matrix of words, written out, would fill the memory.
MOST_VALUES = 20_000_000
#: Where no column has more values, any rows may be equal by chance.
FEW_VALUES = 10
#: How many times the expected number of equal pairs chance explains, by independent columns and by nearly equal rows.
TIMES_EXPECTED, TIMES_NEARLY_EQUAL = 20, 3


def dense(values: Any) -> Any:
    """Return a sparse array or matrix as a dense one, and anything else as it is."""
    is_sparse = hasattr(values, "toarray")  # scipy.sparse would be loaded by every command
    return values.toarray() if is_sparse else values


def count_improbable_copies(X: Any, labels: NDArray[Any] | None = None) -> int:
    """Return how many rows equal an earlier one, also in the label; 0 if chance explains them.

    Rows are equal by chance where columns have few values, or one that many rows share, such as 0. The expected number
    of equal pairs is counted in two ways: that of independent columns, without those that another one determines; and,
    as columns may depend on each other, from the pairs that differ in a single column. Chance explains up to
    `TIMES_EXPECTED` times the first, and `TIMES_NEARLY_EQUAL` times the second, and any number if no column has more
    than `FEW_VALUES` values.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame, shape (n_rows, n_columns) or (n_rows,)
        Missing values are equal to each other.
    labels : ndarray of float, shape (n_rows,), default=None

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> weight, sex = rng.normal(size=40), rng.integers(0, 2, size=40)
    >>> X = np.column_stack([weight, sex])
    >>> count_improbable_copies(np.vstack([X, X[:3]])), count_improbable_copies(sex)
    (3, 0)
    """
    if np.prod(np.shape(X)) > MOST_VALUES or len(np.shape(X)) > 2:
        return 0
    table = X if hasattr(X, "iloc") else np.asarray(dense(X))
    is_numeric = isinstance(table, np.ndarray) and table.dtype.kind in "biuf"
    columns = table.reshape(len(table), -1).T if is_numeric else ()
    if any(np.unique(column).size == len(column) for column in columns):
        return 0  # no two rows are equal where a column has no value twice
    codes = _codes_of_columns(table, labels)
    # equal rows have equal sums; a sum less the part of a column tells which rows are equal elsewhere
    parts = codes * np.random.default_rng(0).integers(1, 2**63, codes.shape[1], dtype=np.uint64)
    sums = parts.sum(axis=1, dtype=np.uint64)
    n_equal = len(codes) - np.unique(sums).size
    if not n_equal:
        return 0
    if codes.max() < FEW_VALUES:
        return 0
    equal, pairs = _count_pairs(sums), len(codes) * (len(codes) - 1) / 2
    equal_here = np.array([_count_pairs(column) for column in codes.T])
    equal_elsewhere = np.array([_count_pairs(sums - part) for part in parts.T])
    # of the pairs that differ elsewhere, which no copies are; if there are none, any share explains them
    differ_elsewhere = pairs - equal_elsewhere
    share = np.divide(
        equal_here - equal, differ_elsewhere, out=np.ones(len(differ_elsewhere)), where=differ_elsewhere > 0
    )
    from_nearly_equal = float(np.sum((equal_elsewhere - equal) * share / np.maximum(1.0 - share, 1e-9)))
    if equal <= TIMES_NEARLY_EQUAL * from_nearly_equal:
        return 0
    expected = pairs * float(np.prod(share[_not_determined(codes)]))
    return n_equal if equal > TIMES_EXPECTED * expected else 0


def _codes_of_columns(table: Any, labels: NDArray[Any] | None) -> NDArray[np.uint64]:
    """Return the number of each value among those of its column, shape (n_rows, n_columns)."""
    if isinstance(table, np.ndarray) and table.dtype.kind in "biuf":
        columns = [*table.reshape(len(table), -1).T, *([] if labels is None else [labels])]
        codes = [np.unique(column, return_inverse=True)[1] for column in columns]
        return np.column_stack(codes).astype(np.uint64)
    import pandas as pd

    frame = pd.DataFrame(table)
    columns = [frame.iloc[:, place] for place in range(frame.shape[1])]
    if labels is not None:
        columns.append(pd.Series(np.asarray(labels, dtype=np.float64)))
    codes = [pd.factorize(column, use_na_sentinel=False)[0] for column in columns]
    return np.column_stack(codes).astype(np.uint64)


def _count_pairs(keys: NDArray[np.uint64]) -> float:
    sizes = np.unique(keys, return_counts=True)[1]
    return float((sizes * (sizes - 1) / 2).sum())


def _not_determined(codes: NDArray[np.uint64]) -> list[int]:
    """Return the columns but those that another determines, as age does its year of birth or decade."""
    sizes = codes.max(axis=0) + np.uint64(1)
    kept: list[int] = []
    for place in np.argsort(-sizes.astype(np.int64), kind="stable"):
        both = (codes[:, other] * sizes[place] + codes[:, place] for other in kept)
        if not any(np.unique(pair).size == sizes[other] for pair, other in zip(both, kept, strict=True)):
            kept.append(int(place))
    return kept


def count_equal_rows(X_test: Any, y_test: ArrayLike, X: Any, y: ArrayLike) -> int:
    """Count the test cases that equal a training row in every feature and in the label.

    Parameters
    ----------
    X_test, X : array-like, sparse matrix or DataFrame, shape (n_rows, n_features)
        Missing values are equal to each other, and whole numbers to the same numbers with a decimal point.
    y_test, y : array-like, shape (n_rows,)

    Examples
    --------
    >>> count_equal_rows([[1.0, 2.0], [3.0, 4.0]], [0, 1], [[1, 2], [3, 4]], [0, 0])
    1
    """
    tested, training = (
        list(zip(_row_keys(rows), np.asarray(labels).tolist(), strict=True))
        for rows, labels in ((X_test, y_test), (X, y))
    )
    among_training = set(training)
    return sum(row in among_training for row in tested)


def _row_keys(table: Any) -> list[Hashable]:
    """Return one value per row; equal rows get equal values, and missing values are equal to each other."""
    import pandas as pd

    cells = pd.DataFrame(np.asarray(dense(table))).astype(object)
    return list(cells.where(cells.notna(), None).itertuples(index=False, name=None))


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

    validation.check_not_censored(y)
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
      `cudbound.basis.sample.count_improbable_copies`.

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
    total = 0.0 if sample_weight is None else float(sample_weight.sum())
    if sample_weight is not None and total > len(labels) and not (sample_weight % 1.0).any():
        message = (
            f"All weights are whole numbers and sum to {total:.0f} for {len(labels)} rows. If they are numbers of "
            "patients with the same values, repeat the rows, one row per patient, and omit the weights; with weights, "
            "intervals are much too long."
        )
        warnings.append(exceptions.RepeatedRowsWarning(message, n_patients=int(total)))
    if groups is not None:
        n, size = groups.n_groups, groups.n_effective
        if size < FEWEST_GROUPS or size < LEAST_SHARE * n:
            sizes = "" if size == n else f", as informative as {size:.1f} groups of equal size"
            message = (
                f"The rows come from {n} groups{sizes}: with so few, the variation between groups is poorly known, and "
                "intervals may be too short."
            )
            warnings.append(exceptions.SmallSampleWarning(message, n_groups=n, n_effective=size))
        return tuple(warnings)
    if n_equal := count_improbable_copies(X, labels):
        verb = "equals" if n_equal == 1 else "equal"
        message = (
            f"{n_equal} of {len(labels)} rows {verb} an earlier row in every feature and in the label, which chance "
            f"does not explain. A refit that leaves out one of two equal rows was fitted to the other. {REMEDY} Leave "
            "out rows entered twice."
        )
        warnings.append(exceptions.RepeatedRowsWarning(message, n_equal=n_equal))
    return tuple(warnings)


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
    ...     print(str(error).partition("; ")[0])
    Texts.predict must return one of the labels that it was fitted to, [0, 1], for each row. It returned '0', '1'
    """
    predicted, n = np.asarray(estimator.predict(X)), count_rows(X)
    labels = np.asarray(classes).tolist()
    is_label = np.zeros(n, dtype=bool)
    if predicted.shape == (n,):
        for label in labels:
            is_label |= np.asarray(predicted == label, dtype=bool)
        if is_label.all():
            return predicted
    got = f"{_shape(predicted)} for {n} rows"
    if predicted.shape == (n,):
        got = ", ".join(sorted({repr(value) for value in predicted[~is_label].tolist()})[:3])
    raise ValueError(
        f"{type(estimator).__name__}.predict must return one of the labels that it was fitted to, {labels}, for each "
        f"row. It returned {got}; let it return a one-dimensional array of labels as they are in y, of the same type."
    )


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
    numbers = _finite(rule, values, (n, n_classes), f" and {n_classes} classes.")
    sums = numbers.sum(axis=1)
    if numbers.min() < -ROUNDING or (abs(sums - 1.0) > ROUNDING).any():
        raise ValueError(
            f"{rule} It returned values from {numbers.min():.3g} to {numbers.max():.3g}, and sums of rows from "
            f"{sums.min():.3g} to {sums.max():.3g}; make probabilities of scores, such as by CalibratedClassifierCV."
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
