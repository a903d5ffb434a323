"""Losses on test sets of random splits: of all rows, of halves, and of bootstrap replicates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cudbound.records import (
    HalfFoldLosses,
    HalfSplitLosses,
    HalvingLosses,
    ReplicateLosses,
    SplitLosses,
    TestSetLosses,
)
from cudbound.records.split_losses import N_HALVINGS
from cudbound.resampling.folds import draw_folds
from cudbound.resampling.refits import Refit
from cudbound.resampling.task import Task, parted

Array = NDArray[np.float64]
Counts = NDArray[np.int32]

#: Halves with fewer rows cannot be split into training and test rows.
SMALLEST_HALF = 2


@dataclass(frozen=True, eq=False)
class Design:
    """Training sets and their test sets, as counts of rows, both of shape (n_fits, n_samples).

    A row may be in neither, and its copies in both.
    """

    training: Counts
    testing: Counts


def draw_split(rows: NDArray[np.int64], n_samples: int, n_test: int, rng: np.random.Generator) -> Design:
    """Split the rows at random.

    Parameters
    ----------
    rows : ndarray of int, shape (n_rows,)
        Row numbers, in [0, n_samples). A repeated number stands for several rows, which may be separated.
    n_samples : int
        Rows of the whole data.
    n_test : int
        Rows of the test set, fewer than n_rows; the others are for training.
    rng : numpy.random.Generator
    """
    order = rng.permutation(rows)[None, :]
    return Design(_count_rows(order[:, n_test:], n_samples), _count_rows(order[:, :n_test], n_samples))


def record_splits(task: Task) -> SplitLosses:
    """Record mean losses on the test sets of ``sizes.n_splits`` independent random splits.

    A split is redrawn by itself if its training set has one class.
    """
    n = task.n_samples
    n_test = task.sizes.n_test(n)
    means, remarks = _means_of_splits(task, [np.arange(n)], n_test, "training sets of random splits")
    return SplitLosses(means[0], n - n_test, n_test, remarks)


def record_half_splits(task: Task) -> HalfSplitLosses:
    """Record mean losses over ``sizes.n_splits`` random splits inside each half, for ``sizes.n_halvings`` halvings.

    The test sets are as large as in `record_splits`, and a training set has n // 2 minus that many rows; if n is odd,
    one row is left out of each halving. If a half is too small for such a test set, the share ``sizes.test_fraction``
    of the half is tested instead, with a remark; smaller test sets increase the variance, so the method that uses it
    stays conservative. The splits of the two halves are independent. Each halving is redrawn by itself, and then each
    split.

    Raises
    ------
    ValueError
        If there are fewer than 4 rows, or a training set has one class and the policy is "error".
    """
    n, sizes = task.n_samples, task.sizes
    half, n_test, notes = n // 2, sizes.n_test(n), []
    if half < SMALLEST_HALF:
        raise ValueError(f"Splits within halves need at least {2 * SMALLEST_HALF} rows. Got {n} instead.")
    if n % 2:
        notes.append("1 row left out of each halving")
    if n_test >= half:
        fitting = sizes.n_test(half)
        notes.append(f"{fitting} rows tested within a half of {half}, which is too small for {n_test}")
        n_test = fitting

    halvings, n_again, _ = task.draw_parts(
        [lambda: task.rng.permutation(n)[: 2 * half].reshape(2, half)] * sizes.n_halvings,
        lambda rows: _count_rows(rows, n),
    )
    means, remarks = _means_of_splits(
        task, np.concatenate(halvings), n_test, "training sets of splits inside halves", n_again
    )
    pairs = means.mean(axis=1).reshape(sizes.n_halvings, 2)
    return HalfSplitLosses(pairs, half - n_test, n_test, sizes.n_splits, (*notes, *remarks))


def record_half_folds(task: Task) -> HalfFoldLosses:
    """Record the fold means of a cross-validation inside each half, for ``sizes.n_halvings`` halvings.

    Each half has its own ``sizes.n_folds`` shuffled folds; with fewer rows, every row is a fold. If n is odd, one row
    is left out of each halving. Each halving is redrawn by itself, with its folds.

    Raises
    ------
    ValueError
        If there are fewer than 4 rows, or a training set has one class and the policy is "error".
    """
    n, half = task.n_samples, task.n_samples // 2
    if half < SMALLEST_HALF:
        raise ValueError(f"Folds within halves need at least {2 * SMALLEST_HALF} rows. Got {n} instead.")
    n_folds = min(task.sizes.n_folds, half)

    def draw() -> Design:
        testing = np.zeros((2, n_folds, n), dtype=np.int32)
        for part, rows in zip(testing, task.rng.permutation(n)[: 2 * half].reshape(2, half), strict=True):
            part[draw_folds(half, n_folds, task.rng), rows] = 1
        training = testing.sum(axis=1, keepdims=True, dtype=np.int32) - testing
        return Design(training.reshape(-1, n), testing.reshape(-1, n))

    designs, n_again, n_one_class = task.draw_parts([draw] * task.sizes.n_halvings, _training)
    remarks = task.describe_parts("training sets of folds inside halves", n_again, n_one_class)
    notes = ("1 row left out of each halving",) if n % 2 else ()
    means = _means(task.refit, designs).reshape(-1, 2, n_folds)
    return HalfFoldLosses(means, half - half / n_folds, (*notes, *remarks))


def record_replicates(task: Task) -> ReplicateLosses:
    """Record the mean loss over ``sizes.n_splits`` random splits of each of ``sizes.n_replicates`` replicates.

    A replicate is a bootstrap draw of n rows, split as if all its rows were different: copies of a row may be in both
    the training and the test set. Each replicate is redrawn by itself, and then each split.
    """
    n, sizes = task.n_samples, task.sizes
    n_test = sizes.n_test(n)
    replicates, n_again, _ = task.draw_parts(
        [lambda: task.rng.integers(n, size=(1, n))] * sizes.n_replicates, lambda rows: _count_rows(rows, n)
    )
    means, remarks = _means_of_splits(
        task, np.concatenate(replicates), n_test, "training sets of splits of replicates", n_again
    )
    return ReplicateLosses(means.mean(axis=1), n - n_test, n_test, sizes.n_splits, remarks)


def record_halvings(task: Task) -> HalvingLosses:
    """Record mean losses of two-fold cross-validation for five random halvings, for any sizes.

    If n is odd, one row is left out of each halving to make both halves equal in size. Each halving is redrawn by
    itself.
    """
    n = task.n_samples
    half = n // 2

    def draw() -> Design:
        order = task.rng.permutation(n)
        training = _count_rows(np.stack([order[:half], order[half : 2 * half]]), n)
        return Design(training, training[::-1])

    designs, n_again, n_one_class = task.draw_parts([draw] * N_HALVINGS, _training)
    remarks = task.describe_parts("halves of five halvings", n_again, n_one_class)
    notes = ("1 row left out of each halving",) if n % 2 else ()
    means = _means(task.refit, designs)
    return HalvingLosses(means.reshape(N_HALVINGS, 2), half, (*notes, *remarks))


def record_test_set(task: Task) -> TestSetLosses:
    """Record the losses on a part of the rows, ``sizes.holdout_fraction``, of a classifier fitted to the others."""
    n = task.n_samples
    n_test = task.sizes.n_held_out(n)
    design, remarks = task.draw_design(
        lambda: draw_split(np.arange(n), n, n_test, task.rng), _training, "training sets of the holdout split"
    )
    tested = design.testing[0] > 0
    losses, scores = parted(task.refit(design.training)[0, tested])
    labels = task.labels[tested]
    classes = {"event": labels > 0.0} if np.unique(task.labels).size == 2 else {"class_numbers": labels}
    return TestSetLosses(losses, n - n_test, "holdout-model", remarks, **classes, **scores)


def _means_of_splits(
    task: Task, sets_of_rows: Iterable[NDArray[np.int64]], n_test: int, what: str, n_again: int = 0
) -> tuple[Array, tuple[str, ...]]:
    """Split each set of rows ``sizes.n_splits`` times and return the mean losses, shape (n_sets, n_splits).

    `n_again` is the number of times the sets themselves were redrawn.
    """
    n_splits = task.sizes.n_splits
    draws = [
        partial(draw_split, rows, task.n_samples, n_test, task.rng)
        for rows in sets_of_rows
        for _ in range(n_splits)
    ]
    designs, n_more, n_one_class = task.draw_parts(draws, _training)
    remarks = task.describe_parts(what, n_again + n_more, n_one_class)
    return _means(task.refit, designs).reshape(-1, n_splits), remarks


def _means(refit: Refit, designs: Sequence[Design]) -> Array:
    """Return the mean loss on each test set, shape (n_fits,), with one call of `refit`."""
    testing = np.concatenate([design.testing for design in designs])
    losses = refit(np.concatenate([design.training for design in designs]))
    return np.asarray((losses * testing).sum(axis=1) / testing.sum(axis=1))


def _training(design: Design) -> Counts:
    return design.training


def _count_rows(rows: NDArray[np.int64], n_samples: int) -> Counts:
    """Count how often each row occurs in each line of `rows`; shape (n_lines, n_samples)."""
    counts = np.zeros((len(rows), n_samples), dtype=np.int32)
    np.add.at(counts, (np.arange(len(rows))[:, None], rows), 1)
    return counts
