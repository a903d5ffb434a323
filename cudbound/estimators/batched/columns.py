"""The columns of all rows in each of a stack of fits, and batched refits of a classifier and of all steps before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cudbound.estimators.least_squares import CHUNK_VALUES

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Share of the largest value in question above which a standard deviation, a difference between two values or a
#: singular value is clear. Rounding errors are then about 1e-16 over this share.
CLEAR_SHARE = 1e-6


@dataclass(frozen=True, eq=False)
class Draws:
    """Training sets of a stack of fits, all of them with both classes.

    Attributes
    ----------
    counts : ndarray of float, shape (n_fits, n_samples)
        How often each row occurs in each training set.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    """

    counts: Array
    labels: Array

    @cached_property
    def totals(self) -> Array:
        """Rows of each training set, shape (n_fits,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def shares(self) -> Array:
        """Weights of the rows with the sum 1, shape (n_fits, n_samples)."""
        return np.asarray(self.counts / self.totals[:, None])

    @property
    def n_fits(self) -> int:
        """Number of fits."""
        return len(self.counts)

    def __getitem__(self, fits: Bools) -> Draws:
        return Draws(self.counts[fits], self.labels)


@dataclass(frozen=True, eq=False)
class Columns:
    """The input rows of a step or a classifier in each fit.

    Rows that all fits share are not copied: scaling is a map of each fit, (rows - shift) * scale.

    Attributes
    ----------
    rows : ndarray of float, shape (n_samples, n_columns) or (n_fits, n_samples, n_columns)
    shift : ndarray of float, shape (n_fits, n_columns), default=None
        None means 0.
    scale : ndarray of float, shape (n_fits, n_columns), default=None
        None means 1. It is 0 for a column that a fit does not have.
    """

    rows: Array
    shift: Array | None = None
    scale: Array | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[-1])

    def stacked(self, n_fits: int) -> Array:
        """Return the rows of every fit, shape (n_fits, n_samples, n_columns)."""
        rows = np.broadcast_to(self.rows, (n_fits, *self.rows.shape[-2:]))
        if self.shift is not None:
            rows = rows - self.shift[:, None, :]
        return rows if self.scale is None else rows * self.scale[:, None, :]

    def plain(self) -> Columns:
        """Return the same columns without a map, so that one can be set."""
        mapped = self.scale if self.shift is None else self.shift
        return self if mapped is None else Columns(self.stacked(len(mapped)))

    def __getitem__(self, fits: Bools | NDArray[np.intp]) -> Columns:
        return Columns(
            self.rows if self.rows.ndim == 2 else self.rows[fits],
            None if self.shift is None else self.shift[fits],
            None if self.scale is None else self.scale[fits],
        )


class BatchedFit(Protocol):
    """A classifier fitted to each training set, on the output of its steps."""

    @property
    def ignores_constants(self) -> bool:
        """Whether a column that is constant up to rounding errors has no influence.

        An intercept takes it up, or a penalty keeps its coefficient small.
        """

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Bools, Bools, Array]:
        """Return whether each row is assigned the second class in each fit, which fits are clear, and the scores.

        The first and the last have shape (n_fits, n_samples); larger scores favor the second class.
        """


#: One step of a pipeline, fitted to each training set: its columns, and which fits are clear.
Step = Callable[[Columns, Draws], tuple[Columns, Bools]]

#: The same for all steps before a classifier, starting from the rows of the data.
Source = Callable[[Draws], tuple[Columns, Bools]]


def averages(shares: Array, rows: Array) -> Array:
    """Return the weighted means of the columns in each fit, shape (n_fits, n_columns)."""
    if rows.ndim == 2:
        return np.asarray(shares @ rows)
    return np.asarray((shares[:, None, :] @ rows)[:, 0])


def beside(parts: Sequence[Columns], n_fits: int) -> Columns:
    """Return the columns of all parts side by side."""
    if len(parts) == 1:
        return parts[0]
    if any(part.rows.ndim == 3 for part in parts):
        return Columns(np.concatenate([part.stacked(n_fits) for part in parts], axis=2))

    def joined(values: list[Array | None], neutral: float) -> Array | None:
        if all(value is None for value in values):
            return None
        filled = [
            np.full((n_fits, part.n_columns), neutral) if value is None else value
            for part, value in zip(parts, values, strict=True)
        ]
        return np.concatenate(filled, axis=1)

    return Columns(
        np.concatenate([part.rows for part in parts], axis=1),
        joined([part.shift for part in parts], 0.0),
        joined([part.scale for part in parts], 1.0),
    )


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
            predicted, fit_clear, part_scores = fit(columns, draws)
            losses[part[steps_clear]] = predicted != (labels > 0.0)
            scores[part[steps_clear]] = part_scores
            clear[part] = steps_clear
            clear[part[steps_clear]] = fit_clear
        return losses, clear, scores

    return refit
