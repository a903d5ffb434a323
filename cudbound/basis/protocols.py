"""Protocols of classifiers, rows and splitters, for type checkers; nothing is checked at run time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

from numpy.typing import ArrayLike


class Learner(Protocol):
    """A classifier of scikit-learn, fitted or not: clones of it are fitted and predict."""

    def fit(self, X: Any, y: Any, /) -> Any:
        """Fit to rows and labels, and return self."""

    def predict(self, X: Any, /) -> Any:
        """Return one label per row."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """Return the parameters, which a clone is made with."""


class Shaped(Protocol):
    """Rows that are not an array: a data frame or a sparse matrix."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""


class Splitter(Protocol):
    """A splitter of scikit-learn, such as ``StratifiedKFold(5)``."""

    def split(self, X: Any, y: Any = ..., groups: Any = ...) -> Iterable[tuple[Any, Any]]:
        """Yield the numbers of the training rows and of the test rows of each split."""


#: The features of cases, one row for each.
Features: TypeAlias = ArrayLike | Shaped
#: The splits that a caller may give: a number of folds, a splitter, or pairs of row numbers.
Splits: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]]
