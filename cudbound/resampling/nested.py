"""Losses of nested cross-validation: cross-validation within the training part of every fold."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from cudbound.basis.validation import Losses
from cudbound.records import NestedLosses
from cudbound.resampling.sizes import ResamplingSizes
from cudbound.resampling.task import Task

Rows = NDArray[np.int64]

#: Entries of training counts in memory at once.
CHUNK_VALUES = 4_000_000
#: Classifiers leave out two folds, and a variance within a fold needs two rows.
MIN_FOLDS, MIN_ROWS_PER_FOLD = 3, 2

TRAINING_SETS = "training sets of nested cross-validation"


def count_nested_folds(sizes: ResamplingSizes, n_samples: int) -> int:
    """Return the number of folds K: ``sizes.n_folds``, at least 3, with at least 2 rows each.

    Raises
    ------
    ValueError
        If there are fewer than 6 rows.

    Examples
    --------
    >>> count_nested_folds(ResamplingSizes(n_folds=10), 8)
    4
    """
    if n_samples < MIN_FOLDS * MIN_ROWS_PER_FOLD:
        raise ValueError(
            f"Nested cross-validation needs at least {MIN_FOLDS * MIN_ROWS_PER_FOLD} rows, for {MIN_FOLDS} folds of "
            f"{MIN_ROWS_PER_FOLD}. Got {n_samples}; leave nested-cv out of the methods."
        )
    return min(max(sizes.n_folds, MIN_FOLDS), n_samples // MIN_ROWS_PER_FOLD)


def count_nested_fits(sizes: ResamplingSizes, n_samples: int) -> int:
    """Return the number of refits in `record_nested`: R (K + K (K - 1) / 2); 0 for too few rows, where it raises.

    Examples
    --------
    >>> count_nested_fits(ResamplingSizes(n_folds=10, n_nested_repeats=50), 30)
    2750
    """
    if n_samples < MIN_FOLDS * MIN_ROWS_PER_FOLD:
        return 0
    n_folds = count_nested_folds(sizes, n_samples)
    return sizes.n_nested_repeats * (n_folds + n_folds * (n_folds - 1) // 2)


def draw_equal_folds(n_samples: int, n_folds: int, rng: np.random.Generator) -> Rows:
    """Return the rows of random folds of equal size, shape (n_folds, n_samples // n_folds).

    The remaining n_samples % n_folds rows are in no fold.
    """
    size = n_samples // n_folds
    return np.sort(rng.permutation(n_samples)[: n_folds * size].reshape(n_folds, size), axis=1)


def nested_training(folds: Rows, n_samples: int) -> NDArray[np.int32]:
    """Return the training sets as counts: all folds but one, then all but two in the order of `combinations`.

    Parameters
    ----------
    folds : ndarray of int, shape (n_folds, n_outer)
        Rows of the folds.
    n_samples : int

    Returns
    -------
    counts : ndarray of int32, shape (n_folds + n_folds * (n_folds - 1) // 2, n_samples)
    """
    inside = np.zeros((len(folds), n_samples), dtype=np.int32)
    np.put_along_axis(inside, folds, 1, axis=1)
    but_one = inside.sum(axis=0) - inside
    first, second = np.array(list(combinations(range(len(folds)), 2))).T
    return np.concatenate([but_one, but_one[first] - inside[second]]).astype(np.int32)


def select_nested(losses: Losses, folds: Rows) -> tuple[Losses, Losses]:
    """Select the inner and outer losses of one repetition.

    Parameters
    ----------
    losses : ndarray, shape (n_fits, n_samples)
        Losses on all rows, of the classifiers fitted to `nested_training`.
    folds : ndarray of int, shape (n_folds, n_outer)

    Returns
    -------
    inner : ndarray, shape (n_folds, (n_folds - 1) * n_outer)
        In row k, fold by fold, the losses on fold j of the classifier fitted without folds j and k.
    outer : ndarray, shape (n_folds, n_outer)
        In row k, the losses on fold k of the classifier fitted without it.
    """
    n_folds, n_outer = folds.shape
    outer = np.take_along_axis(losses[:n_folds], folds, axis=1)
    blocks = np.empty((n_folds, n_folds, n_outer), dtype=losses.dtype)
    for without, (j, k) in zip(losses[n_folds:], combinations(range(n_folds), 2), strict=True):
        blocks[k, j], blocks[j, k] = without[folds[j]], without[folds[k]]
    others = ~np.eye(n_folds, dtype=bool)
    return blocks[others].reshape(n_folds, -1), outer


def record_nested(task: Task) -> NestedLosses:
    """Record nested cross-validation ``sizes.n_nested_repeats`` times, each on new folds of equal size.

    A classifier fitted without folds j and k serves both. Rows that do not fill the folds are left out of a repetition;
    other repetitions leave out other rows. A repetition is redrawn by itself if a training set has one class.

    Raises
    ------
    ValueError
        If there are fewer than 6 rows, or a training set has one class and the policy is "error".
    """
    n, asked = task.n_samples, task.sizes.n_folds
    n_folds = count_nested_folds(task.sizes, n)
    designs, n_again, n_one_class = task.draw_parts(
        [lambda: draw_equal_folds(n, n_folds, task.rng)] * task.sizes.n_nested_repeats,
        lambda folds: nested_training(folds, n),
    )
    notes = task.describe_parts(TRAINING_SETS, n_again, n_one_class)
    n_each = n_folds + n_folds * (n_folds - 1) // 2
    step = max(1, CHUNK_VALUES // (n_each * n))
    selected = []
    for batch in gen_batches(len(designs), step):
        chunk = designs[batch]
        losses = task.refit(np.concatenate([nested_training(folds, n) for folds in chunk]))
        parts = np.split(losses, len(chunk))
        selected += [select_nested(part, folds) for part, folds in zip(parts, chunk, strict=True)]
    inner, outer = (np.stack(part) for part in zip(*selected, strict=True))
    remarks = []
    if n_folds != asked:
        remarks.append(f"{n_folds} folds of nested cross-validation instead of {asked}")
    if n % n_folds:
        remarks.append(f"{n % n_folds} rows left out of every repetition of nested cross-validation")
    return NestedLosses(inner, outer, n, (*remarks, *notes))
