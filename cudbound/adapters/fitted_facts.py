"""Facts on a fitted classifier apart from its additive model: its size, and earlier steps that used the labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator

from cudbound.adapters.inside import Inside, parameters_of, take_apart
from cudbound.adapters.linear import has_intercept
from cudbound.adapters.seeded import seeded_clone
from cudbound.basis.equal_rows import dense
from cudbound.basis.feature_table import copied
from cudbound.estimators.stumps import StumpBasis
from cudbound.problem.coordinates import design_rank

#: Beyond so many values the rank is not computed: a sparse matrix of words, written out, would fill the memory.
MOST_VALUES = 20_000_000
#: Outputs of two fits to the same rows differ by less than this share of their values where only the order of a
#: parallel sum differed.
ROUNDING = 1e-9
#: Seeds both fits of a random step.
SEED = 0


@dataclass(frozen=True, eq=False)
class FittedFacts:
    """Facts on a fitted classifier and its training rows.

    Attributes
    ----------
    rank : float
        Rank of the design that reaches the classifier, including a fitted intercept; nan if the classifier has no
        linear form, or if the matrix has more than `MOST_VALUES` values.
    frozen : tuple of str
        The parts that a refit does not fit again, such as ("SelectFromModel(prefit=True)",).
    inside : Inside
        The steps before the classifier, and the classifier.
    tables : tuple
        The rows that reach each of these steps, and, last, those that reach the classifier.
    y : array-like, shape (n_samples,)
    """

    rank: float
    frozen: tuple[str, ...]
    inside: Inside
    tables: tuple[Any, ...]
    y: Any

    @cached_property
    def _n_label_free(self) -> int:
        """Steps before the first one that uses the labels; both fits of each are made only when this is read."""
        steps = zip(self.inside.steps, self.tables[:-1], strict=True)
        is_free = (is_label_free(step, X, self.y) for step, X in steps)
        return len(list(takewhile(bool, is_free)))

    @property
    def reads_labels(self) -> str:
        """The class of the first step before the classifier that uses the labels; empty if none does."""
        readers = self.inside.steps[self._n_label_free :]
        return type(readers[0]).__name__ if readers else ""

    @property
    def chosen_inside(self) -> tuple[str, ...]:
        """The searches that chose parameters on these rows, outermost first, such as ("GridSearchCV",)."""
        return self.inside.chosen_by

    @property
    def n_columns(self) -> int:
        """Columns of the matrix that reaches the classifier, or the first step that uses the labels."""
        return _n_columns(self.tables[self._n_label_free])

    def has_columns(self, n: int) -> bool:
        """Whether `n_columns` is at least n, and the classifier uses columns; rarely needs to fit a step."""
        uses_them = not isinstance(self.inside.classifier, DummyClassifier)
        return uses_them and max(map(_n_columns, self.tables)) >= n and self.n_columns >= n


def facts_of(estimator: Any, X: Any, y: Any) -> FittedFacts:
    """Return facts on a fitted classifier and its training rows.

    Parameters
    ----------
    estimator : object
        Fitted classifier, alone or inside pipelines, searches, thresholds and frozen estimators.
    X, y : array-like
        The rows and labels that it was fitted to; neither is changed.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [2.0, 1.0]], [0, 0, 1, 1]
    >>> facts = facts_of(make_pipeline(SelectKBest(k=1), LogisticRegression()).fit(X, y), X, y)
    >>> facts.rank, facts.n_columns, facts.reads_labels
    (2.0, 2, 'SelectKBest')
    """
    inside = take_apart(estimator)
    tables = [X]
    for step in inside.steps:
        if hasattr(step, "transform"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                X = step.transform(copied(X))
        tables.append(X)
    return FittedFacts(
        rank=_rank(inside.classifier, X),
        frozen=tuple(dict.fromkeys(_frozen(inside))),
        inside=inside,
        tables=tuple(tables),
        y=y,
    )


def _rank(classifier: Any, rows: Any) -> float:
    """Return the rank of the design of a linear classifier; nan if it is not linear in these columns."""
    shape = np.shape(rows)
    coef: Any = getattr(classifier, "coef_", ())
    # one vector of coefficients, one row of them, or one for each class
    if len(shape) != 2 or np.shape(coef)[-1:] != shape[1:] or np.size(rows) > MOST_VALUES:
        return np.nan
    design = np.asarray(dense(rows), dtype=np.float64)
    if has_intercept(classifier):
        design = np.column_stack([np.ones(shape[0]), design])
    return float(design_rank(design))


def _frozen(inside: Inside) -> Iterator[str]:
    """Yield the parts of the estimator that a refit does not change."""
    for root in inside.roots:
        for part in parameters_of(root):
            name = type(part).__name__
            if isinstance(part, FrozenEstimator):
                yield f"{name}({type(part.estimator).__name__})"
            elif getattr(part, "prefit", None) is True:
                yield f"{name}(prefit=True)"
            elif isinstance(cv := getattr(part, "cv", None), str) and cv == "prefit":
                yield f"{name}(cv='prefit')"
            elif isinstance(part, StumpBasis) or is_own_clone(part):
                yield name


# ---- steps that read the labels: tags of scikit-learn do not tell ----


def _n_columns(X: Any) -> int:
    shape = np.shape(X)
    return int(shape[1]) if len(shape) == 2 else 0


def is_label_free(step: Any, X: Any, y: Any) -> bool:
    """Whether a step gives the same output when fitted without labels; False if in doubt."""
    try:
        if is_own_clone(step):  # no refit changes it, whatever it is given
            return True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            without = seeded_clone(step, SEED).fit(copied(X)).transform(copied(X))
            given = seeded_clone(step, SEED).fit(copied(X), y).transform(copied(X))
            return _equal(without, given)
    except Exception:  # any code of a user may run here, and what fails has not been shown to be label-free
        return False


def is_own_clone(part: Any) -> bool:
    """Whether cloning a part, as every refit does, returns the fitted one."""
    own = getattr(type(part), "__sklearn_clone__", BaseEstimator.__sklearn_clone__)
    return own is not BaseEstimator.__sklearn_clone__ and clone(part) is part


def _equal(first: Any, second: Any) -> bool:
    both_sparse: bool = sparse.issparse(first) and sparse.issparse(second)
    if both_sparse:
        return first.shape == second.shape and _equal(*map(_entries, (first, second)))
    if list(getattr(first, "columns", ())) != list(getattr(second, "columns", ())):
        return False
    first, second = np.asarray(first), np.asarray(second)
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if np.issubdtype(first.dtype, np.number):
        largest = float(np.nanmax(np.abs(first), initial=0.0))
        return bool(np.allclose(first, second, rtol=ROUNDING, atol=ROUNDING * largest, equal_nan=True))
    # of the two, missing values are those that do not equal themselves
    return all(a is b or a == b or (a != a and b != b) for a, b in zip(first.flat, second.flat, strict=True))


def _entries(matrix: Any) -> Any:
    """Return row, column and value of the nonzero entries."""
    found = sparse.coo_array(matrix.tocsr())
    found.sum_duplicates()
    found.eliminate_zeros()
    return np.column_stack([*found.coords, found.data])
