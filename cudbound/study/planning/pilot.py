"""A pilot data set as a population: its rows, drawn with replacement, represent future patients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from cudbound.basis.feature_table import as_table
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.sample import check_index
from cudbound.basis.validation import MIN_ROWS_PER_CLASS, check_lengths, count_rows
from cudbound.study.populations.population import Cases, Truth


@dataclass(frozen=True, eq=False)
class Pilot:
    """Rows of a pilot; unlike `cudbound.study.populations.real_data.RealData`, of any type that a fit accepts.

    Attributes
    ----------
    X : array, sparse matrix or data frame, shape (N, n_features)
    y : ndarray of int, shape (N,)
        1 for the event, 0 otherwise.
    """

    name: ClassVar[str] = "pilot"

    X: Any = field(repr=False)
    y: NDArray[np.int64] = field(repr=False)

    @property
    def title(self) -> str:
        """One line on how cases arise."""
        events = int(self.y.sum())
        return f"{self.y.size} rows of a pilot with {events} events, drawn with replacement"

    @property
    def all_cases(self) -> tuple[Any, NDArray[np.int64]]:
        """The whole population, as features and labels."""
        return self.X, self.y

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw n rows with replacement; they may have only one class."""
        rows = rng.integers(0, self.y.size, n)
        return Cases(_safe_indexing(self.X, rows), self.y[rows], self.true_error)

    def true_error(self, classifier: Any) -> Truth:
        """Return the error of a fitted classifier on all rows."""
        return Truth(float(np.mean(np.asarray(classifier.predict(self.X)) != self.y)))


def two_classes(y: Any) -> list[Any]:
    """Return the two labels in ascending order.

    Raises
    ------
    ParameterError
        If there are not two, or one of them has fewer than two rows.
    """
    classes, counts = np.unique(np.asarray(y), return_counts=True)
    if classes.size != 2 or counts.min() < MIN_ROWS_PER_CLASS:
        found = dict(zip(classes.tolist()[:5], counts.tolist()[:5], strict=True))
        raise ParameterError("y", f"of two classes with at least {MIN_ROWS_PER_CLASS} rows each", found)
    known: list[Any] = classes.tolist()
    return known


def make_pilot(X: Any, y: Any, event: Any) -> Pilot:
    """Return the rows of a pilot as a population; `event` is the label of class 1.

    Raises
    ------
    ValueError
        If the numbers of labels and rows differ.
    """
    rows = as_table(X)
    labels = np.asarray(y)
    check_lengths(count_rows(rows), labels.size)
    check_index(X, y)
    return Pilot(rows, (labels == event).astype(np.int64))
