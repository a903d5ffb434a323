"""Cross-validated error of half the data with each of its rows replaced in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from cudbound.records import ReplacementErrors
from cudbound.resampling.folds import draw_folds, fold_training
from cudbound.resampling.refits import Refit
from cudbound.resampling.sizes import ResamplingSizes
from cudbound.resampling.task import Task

Counts = NDArray[np.int32]
Rows = NDArray[np.int64]

#: Entries of training counts in memory at once.
CHUNK_VALUES = 4_000_000

TRAINING_SETS = "training sets of cross-validation with replaced rows"


@dataclass(frozen=True, eq=False)
class ReplacementDesign:
    """Folds of all rows, and of one half whose rows are replaced in turn by rows of the other half.

    Attributes
    ----------
    full_fold : ndarray of int, shape (n_samples,)
        Fold of every row.
    first, second : ndarray of int, shape (m,)
        Rows of the two halves.
    fold : ndarray of int, shape (m,)
        Fold of every position in the first half; a replacement gets the fold of the row it replaces.
    """

    full_fold: Rows
    first: Rows
    second: Rows
    fold: Rows

    @property
    def n_folds(self) -> int:
        """Number of folds K, of the whole and of the half."""
        return int(self.fold.max()) + 1

    def versions(self) -> Rows:
        """Return the rows of the first half, unchanged and with each row replaced, shape (m + 1, m)."""
        m = self.first.size
        rows = np.tile(self.first, (m + 1, 1))
        rows[np.arange(1, m + 1), np.arange(m)] = self.second
        return rows


def count_replacement_folds(sizes: ResamplingSizes, n_samples: int) -> int:
    """Return the number of folds K: ``sizes.n_folds``, or as many as half of the rows allow."""
    return min(sizes.n_folds, n_samples // 2)


def count_replacement_fits(sizes: ResamplingSizes, n_samples: int) -> int:
    """Return the number of refits in `record_replacements`: (m + 2) K with m = n // 2.

    Examples
    --------
    >>> count_replacement_fits(ResamplingSizes(n_folds=10), 30)
    170
    """
    return (n_samples // 2 + 2) * count_replacement_folds(sizes, n_samples)


def draw_replacements(n_samples: int, n_folds: int, rng: np.random.Generator) -> ReplacementDesign:
    """Return a random design; if the number of rows is odd, one row is in neither half."""
    m = n_samples // 2
    rows = rng.permutation(n_samples)
    return ReplacementDesign(
        full_fold=draw_folds(n_samples, n_folds, rng),
        first=rows[:m],
        second=rows[m : 2 * m],
        fold=draw_folds(m, n_folds, rng),
    )


def record_replacements(task: Task) -> ReplacementErrors:
    """Record the cross-validated error of all rows, of half of them, and with each row of the half replaced.

    ``sizes.n_folds`` is for all rows and for the half; there are fewer folds if the half has fewer rows.

    Raises
    ------
    ValueError
        If there are fewer than four rows, or a training set has one class and the policy is "error".
    """
    n, asked = task.n_samples, task.sizes.n_folds
    if n < 4:
        raise ValueError(
            f"Replacing the rows of one half needs at least 4 rows. Got {n}; leave austern-zhou out of the methods."
        )
    n_folds = count_replacement_folds(task.sizes, n)
    # where n is large there are too many training sets to hold at once: their rows of either class stand for them
    design, remarks = replace(task, labels=np.unique(task.labels)).draw_design(
        lambda: draw_replacements(n, n_folds, task.rng),
        lambda design: _class_counts(design, task.labels),
        TRAINING_SETS,
    )
    if n_folds != asked:
        remarks = (*remarks, f"{n_folds} folds instead of {asked}, because a half has {n // 2} rows")
    return measure_replacements(task.refit, design, remarks)


def measure_replacements(
    refit: Refit, design: ReplacementDesign, remarks: tuple[str, ...] = ()
) -> ReplacementErrors:
    """Make the refits of a design and record its cross-validated errors."""
    full_fold, fold = design.full_fold, design.fold
    full = refit(fold_training(full_fold))[full_fold, np.arange(full_fold.size)]
    errors = []
    for rows, training in _half_training(design):
        losses = refit(training).reshape(len(rows), design.n_folds, -1)
        errors.append(losses[np.arange(len(rows))[:, None], fold, rows].mean(axis=1))
    halves = np.concatenate(errors)
    return ReplacementErrors(
        float(full.mean()), float(halves[0]), halves[1:], full_fold.size, design.n_folds, remarks
    )


def _half_training(design: ReplacementDesign) -> Iterator[tuple[Rows, Counts]]:
    """Yield versions of the half, shape (c, m), with their training sets as counts, shape (c * n_folds, n_samples)."""
    n, n_folds = design.full_fold.size, design.n_folds
    versions = design.versions()
    step = max(1, CHUNK_VALUES // (n_folds * n))
    for part in gen_batches(len(versions), step):
        rows = versions[part]
        training = np.zeros((len(rows), n_folds, n), dtype=np.int32)
        for number in range(n_folds):
            np.put_along_axis(training[:, number], rows[:, design.fold != number], 1, axis=1)
        yield rows, training.reshape(-1, n)


def _class_counts(design: ReplacementDesign, labels: NDArray[np.float64]) -> Counts:
    """Return the rows of each class in every training set, shape (n_fits, n_classes)."""
    classes = (labels[:, None] == np.unique(labels)).astype(np.int32)
    half = [training @ classes for _, training in _half_training(design)]
    return np.concatenate([fold_training(design.full_fold) @ classes, *half])
