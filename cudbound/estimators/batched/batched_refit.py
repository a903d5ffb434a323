"""Batched refits of a classifier and of all steps before it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cudbound.estimators.batched.columns import Array, BatchedFit, Bools, Draws, Source
from cudbound.estimators.weighted_least_squares import CHUNK_VALUES

#: Maps counts of the training rows, float, shape (n_fits, n_samples), to whether each training row is misclassified by
#: the classifier fitted to the resampled rows, bool, same shape, which fits are clear, shape (n_fits,), and the scores
#: of the rows, nan where a fit has one class. What it says of fits that are not clear is meaningless; they are refitted
#: one at a time. It must be able to fit a single class.
BatchedRefit = Callable[[Array], tuple[Bools, Bools, Array]]


def refit_in_batches(source: Source, fit: BatchedFit, labels: Array, n_columns: int) -> BatchedRefit:
    """Return refits of a classifier on the output of its steps.

    Parameters
    ----------
    source : callable
        The steps before the classifier.
    fit : callable
        The classifier.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    n_columns : int
        Largest number of columns in the input of a step or the classifier; determines how many fits are made at once.
    """
    size = max(1, CHUNK_VALUES // max(1, labels.size * n_columns))

    def refit(counts: Array) -> tuple[Bools, Bools, Array]:
        # a training set of one class gives the constant classifier, with an intercept or without
        seconds = counts @ (labels > 0.0)
        losses = np.where(seconds[:, None] > 0.0, labels < 0.0, labels > 0.0)
        clear = np.ones(len(counts), dtype=bool)
        scores = np.full(counts.shape, np.nan)
        both = np.flatnonzero((seconds > 0.0) & (seconds < counts.sum(axis=1)))
        for start in range(0, both.size, size):
            part = both[start : start + size]
            draws = Draws(counts[part], labels)
            columns, steps_clear = source(draws)
            if columns.scale is not None:  # scikit-learn refuses a training set without any column left
                steps_clear = steps_clear & columns.scale.any(axis=1)
            if not steps_clear.any():
                clear[part] = False
                continue
            if not steps_clear.all():
                columns, draws = columns[steps_clear], draws[steps_clear]
            predicted, fit_clear, found = fit(columns, draws)
            losses[part[steps_clear]] = predicted != (labels > 0.0)
            scores[part[steps_clear]] = found
            clear[part] = steps_clear
            clear[part[steps_clear]] = fit_clear
        return losses, clear, scores

    return refit
