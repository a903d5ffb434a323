"""Refits on resampled training sets: one batch of linear algebra, or one clone a draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from cudbound.adapters import ADAPTERS

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Maps counts of the training rows, shape (n_fits, n_samples), to whether each training row is misclassified
#: by the classifier fitted to the resampled rows, same shape.
Refit = Callable[[NDArray[np.int32]], Bools]

#: Clones fitted by one job, so that a progress bar moves and a worker is not called for every fit.
FITS_PER_JOB = 50


def choose_refit(
    estimator: Any,
    X: Any,
    y: Any,
    rng: np.random.Generator,
    *,
    n_jobs: int = 1,
    advance: Callable[[int], object] = lambda _: None,
) -> tuple[Refit, bool]:
    """Return how to refit the estimator, and whether that is one batch of linear algebra.

    Where the estimator's adapter offers a batched refit it is taken; otherwise a clone is fitted for every
    draw, the whole of it: the steps of a `Pipeline` are refitted inside the resampling.

    Parameters
    ----------
    estimator : object
        Fitted scikit-learn classifier of two classes.
    X, y : array-like
        Its training rows and labels.
    rng : numpy.random.Generator
        Seeds the ``random_state`` parameters that are None; not used by a batched refit.
    n_jobs : int
        Workers for clones.
    advance : callable
        Told the number of fits after each piece of work.
    """
    for adapter in ADAPTERS:
        if adapter.batched_refit is not None and adapter.accepts(estimator):
            batched = adapter.batched_refit(estimator, X, y)
            if batched is not None:
                return _reporting(batched, advance), True
    rows = X if hasattr(X, "iloc") or hasattr(X, "tocsr") else np.asarray(X)
    return _CloneRefit(estimator, rows, np.asarray(y), rng, n_jobs, advance), False


def _reporting(batched: Callable[[Array], Bools], advance: Callable[[int], object]) -> Refit:
    def refit(counts: NDArray[np.int32]) -> Bools:
        losses = batched(counts.astype(np.float64))
        advance(len(counts))
        return losses

    return refit


@dataclass(frozen=True)
class _CloneRefit:
    estimator: Any
    X: Any
    y: NDArray[Any]
    rng: np.random.Generator
    n_jobs: int
    advance: Callable[[int], object]

    def __call__(self, counts: NDArray[np.int32]) -> Bools:
        seeds = self.rng.integers(2**31 - 1, size=len(counts))
        size = max(1, min(FITS_PER_JOB, -(-len(counts) // (4 * self.n_jobs))))
        parts = [slice(start, start + size) for start in range(0, len(counts), size)]
        jobs = (delayed(_fit_clones)(self.estimator, self.X, self.y, counts[p], seeds[p]) for p in parts)
        losses = []
        for part in Parallel(n_jobs=self.n_jobs, return_as="generator")(jobs):
            losses.append(part)
            self.advance(len(part))
        return np.concatenate(losses) if losses else np.zeros(counts.shape, dtype=bool)


def _fit_clones(
    estimator: Any, X: Any, y: NDArray[Any], counts: NDArray[np.int32], seeds: NDArray[np.int64]
) -> Bools:
    losses = np.empty(counts.shape, dtype=bool)
    unseeded = [
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    for fit, (row, seed) in enumerate(zip(counts, seeds, strict=True)):
        drawn = np.repeat(np.arange(row.size), row)
        copy = clone(estimator).set_params(**dict.fromkeys(unseeded, int(seed)))
        copy.fit(X.iloc[drawn] if hasattr(X, "iloc") else X[drawn], y[drawn])
        losses[fit] = copy.predict(X) != y
    return losses
