"""Steps that scikit-learn fits to one training set at a time, before a classifier that is fitted to all at once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import _safe_indexing, gen_batches
from sklearn.utils.parallel import delayed

from cudbound.basis.equal_rows import dense
from cudbound.basis.feature_table import as_table, copied
from cudbound.basis.workers import parallel
from cudbound.estimators.batched.columns import Array, BatchedFit, Bools, Columns, Draws, Source
from cudbound.estimators.batched.sources import branches, fit_together
from cudbound.estimators.batched.steps import FITTED_APART, is_repeatable
from cudbound.problem.scale import check_scale

#: Fits of one job.
FITS_PER_JOB = 50


@dataclass(frozen=True, eq=False)
class FittedApart:
    """A pipeline of steps fitted to each training set; a fit is not clear if it fails or makes other columns.

    Attributes
    ----------
    steps : Pipeline
    X : array or DataFrame, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
    n_columns : int
        How many columns the steps make of all rows.
    n_jobs : int
        Processes.
    """

    steps: Pipeline
    X: Any
    y: NDArray[Any]
    n_columns: int
    n_jobs: int

    def __call__(self, draws: Draws) -> tuple[Columns, Bools]:
        """Return the columns of all rows in each fit, and which fits are clear."""
        parts = gen_batches(draws.n_fits, FITS_PER_JOB)
        made = parallel(self.n_jobs)(delayed(self._fit)(draws.counts[part]) for part in parts)
        rows, clear = zip(*made, strict=True)
        return Columns(np.concatenate(rows)), np.concatenate(clear)

    def _fit(self, counts: Array) -> tuple[Array, Bools]:
        rows = np.zeros((*counts.shape, self.n_columns))
        clear = np.zeros(len(counts), dtype=bool)
        for fit, row in enumerate(counts):
            drawn = np.repeat(np.arange(row.size), row.astype(np.intp))
            try:
                with warnings.catch_warnings(action="ignore"):
                    steps = clone(self.steps).fit(_safe_indexing(self.X, drawn), self.y[drawn])
                    # steps with copy=False write into the rows that they are given
                    made = dense(steps.transform(copied(self.X)))
            except ValueError:  # the fit that is made alone says why
                continue
            clear[fit] = made.shape == rows[fit].shape and np.isfinite(made).all()
            if clear[fit]:
                rows[fit] = made
        return rows, clear


def fit_apart(steps: Sequence[Any], X: Any, y: Any, follower: BatchedFit, n_jobs: int) -> Source | None:
    """Return fitted steps for refits to one training set at a time, or None if these cannot be repeated.

    Parameters
    ----------
    steps : sequence of object
        Fitted transformers, from `flatten`.
    X, y : array-like
        The rows and labels that they were fitted to.
    follower : BatchedFit
        The classifier.
    n_jobs : int
        Processes.
    """
    rows = as_table(X)
    parts = [part for step in steps for part in branches(step)]
    # without one of these there is another reason why the steps are not fitted in batches
    if not any(type(part) in FITTED_APART for part in parts) or not fit_together([*steps, follower]):
        return None
    if not all(is_repeatable(part, len(rows)) for part in parts):
        return None
    made = copied(rows)
    for step in steps:
        made = step.transform(made)
    made = np.asarray(dense(made))
    try:
        check_scale("X", made)
    except ValueError:  # numbers whose squares overflow
        return None
    if made.dtype != np.float64:  # scikit-learn computes in another precision
        return None
    return FittedApart(make_pipeline(*steps), rows, np.asarray(y), made.shape[1], n_jobs)
