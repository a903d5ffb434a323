"""Classifiers whose parameters are chosen by cross-validation within each training set, as scikit-learn does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from cudbound.estimators.batched.columns import Array, BatchedFit, Bools, Columns, Draws

#: What ``cv=None`` stands for in scikit-learn.
N_FOLDS = 5
#: One of the values to choose from, fitted to counts of the rows that are parts of training sets of these numbers.
Candidate = Callable[[Array, NDArray[np.intp]], tuple[Bools, Bools, Array]]


@dataclass(frozen=True)
class TunedFit:
    """A classifier fitted with each of several values; the first with the largest accuracy on folds is kept.

    Attributes
    ----------
    fits : tuple of BatchedFit
        One per value.
    n_folds : int
        Of stratified cross-validation without shuffling.
    """

    fits: tuple[BatchedFit, ...]
    n_folds: int

    @property
    def ignores_constants(self) -> bool:
        """Whether all of them do."""
        return all(fit.ignores_constants for fit in self.fits)

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Bools, Bools, Array]:
        """Return whether each row is assigned the second class in each fit, which fits are clear, and the scores."""

        def candidate(fit: BatchedFit) -> Candidate:
            return lambda counts, draw: fit(columns[draw], Draws(counts, draws.labels))

        # `LogisticRegressionCV` adds the scores of the folds up, fold by fold
        return choose_on_folds(
            list(map(candidate, self.fits)),
            draws,
            self.n_folds,
            lambda scores: sum(np.moveaxis(scores, 2, 0)),
        )


def number_of_folds(cv: Any) -> int | None:
    """Return the number of folds of a parameter ``cv``, None if it is a splitter."""
    known = isinstance(cv, Integral) and not isinstance(cv, bool)
    return N_FOLDS if cv is None else int(cv) if known else None


def choose_on_folds(
    candidates: Sequence[Candidate], draws: Draws, n_folds: int, summed: Callable[[Array], Any]
) -> tuple[Bools, Bools, Array]:
    """Return the output of the best candidate of each training set, as a `BatchedFit` does.

    Training sets with fewer rows of a class than folds are not clear: scikit-learn warns of them.

    Parameters
    ----------
    candidates : sequence of callable
    draws : Draws
    n_folds : int
    summed : callable
        Sums or means over the folds, the last axis, rounded as scikit-learn rounds them: they decide between ties.
    """
    second = draws.labels > 0.0
    predicted, clear = np.zeros(draws.counts.shape, dtype=bool), np.zeros(draws.n_fits, dtype=bool)
    found = np.full(draws.counts.shape, np.nan)
    seconds = draws.counts @ second
    known = np.flatnonzero(np.minimum(seconds, draws.totals - seconds) >= n_folds)
    if not known.size:
        return predicted, clear, found
    tested = np.stack([_tested(row, second, n_folds) for row in draws.counts[known]])
    training = (draws.counts[known][:, None] - tested).reshape(-1, second.size)
    accuracy = np.empty((known.size, len(candidates), n_folds))
    sure = np.ones(known.size, dtype=bool)
    for number, candidate in enumerate(candidates):
        of_folds, found_clear, _ = candidate(training, np.repeat(known, n_folds))
        right = (of_folds == second).reshape(tested.shape)
        accuracy[:, number] = (tested * right).sum(axis=2) / tested.sum(axis=2)
        sure &= found_clear.reshape(-1, n_folds).all(axis=1)
    best = np.argmax(summed(accuracy), axis=1)
    for number, candidate in enumerate(candidates):
        part = known[best == number]
        if part.size:
            predicted[part], of_all, found[part] = candidate(draws.counts[part], part)
            sure[best == number] &= of_all
    clear[known] = sure
    return predicted, clear, found


def _tested(counts: Array, second: Bools, n_folds: int) -> Array:
    """Return how often each row is tested in each fold, shape (n_folds, n_samples)."""
    drawn = np.repeat(np.arange(counts.size), counts.astype(np.intp))
    folds = StratifiedKFold(n_folds).split(drawn, second[drawn])
    return np.stack([np.bincount(drawn[test], minlength=counts.size) for _, test in folds]).astype(np.float64)
