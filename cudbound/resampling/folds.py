"""Cross-validated losses: one partition into folds, several, and leave-one-out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold

from cudbound.records import FoldLosses, RepeatedFoldLosses
from cudbound.resampling.task import Task, parted

Folds = NDArray[np.int64]

TRAINING_SETS = "cross-validation training sets"
#: Partitions into stratified folds, and folds per partition unless a class has fewer rows or occurs in fewer groups.
N_STRATIFIED_REPEATS = 5
N_STRATIFIED_FOLDS = 10
#: With fewer rows of a class, a remark says how few folds there are.
FEWEST = 3


def draw_folds(n_samples: int, n_folds: int, rng: np.random.Generator) -> Folds:
    """Return a random fold for each row, numbered from 0, shape (n_samples,); sizes differ by at most one."""
    splitter = KFold(n_folds, shuffle=True, random_state=int(rng.integers(2**32 - 1)))
    fold = np.empty(n_samples, dtype=np.int64)
    for number, (_, test) in enumerate(splitter.split(np.zeros(n_samples))):
        fold[test] = number
    return fold


def fold_training(fold: Folds) -> NDArray[np.int32]:
    """Return the training set of each fold as counts, shape (n_folds, n_samples)."""
    return np.asarray(fold != np.arange(fold.max() + 1)[:, None], dtype=np.int32)


def record_folds(task: Task) -> FoldLosses:
    """Record cross-validated losses on ``sizes.n_folds`` shuffled folds; with fewer rows, every row is a fold."""
    n = task.n_samples
    n_folds = min(task.sizes.n_folds, n)
    fold, remarks = task.draw_design(lambda: draw_folds(n, n_folds, task.rng), fold_training, TRAINING_SETS)
    if n_folds == n:
        remarks = (*remarks, f"{n} folds with one row each")
    return _tested(task, fold, remarks)


def _tested(task: Task, fold: Folds, remarks: tuple[str, ...] = ()) -> FoldLosses:
    """Return the output for each row of the classifier fitted without its fold."""
    losses, scores = parted(task.refit(fold_training(fold))[fold, np.arange(fold.size)])
    return FoldLosses(losses, fold, remarks, **scores)


def record_repeated_folds(task: Task) -> RepeatedFoldLosses:
    """Record cross-validated losses on ``sizes.n_repeats`` partitions."""
    partitions = tuple(record_folds(task) for _ in range(task.sizes.n_repeats))
    remarks = tuple(dict.fromkeys(remark for partition in partitions for remark in partition.remarks))
    return RepeatedFoldLosses(partitions, remarks)


def record_stratified_folds(task: Task) -> RepeatedFoldLosses:
    """Record cross-validated losses on five partitions into ten stratified folds.

    There are fewer folds if a class has fewer than ten rows. Groups of rows stay together.
    """
    partitions: list[FoldLosses] = []
    fewest = _units_of_rarest_class(task)
    found = (
        [f"{max(2, fewest)} folds, since a class has only {fewest} rows or groups"] if fewest < FEWEST else []
    )
    for _ in range(N_STRATIFIED_REPEATS):
        fold, remarks = task.draw_design(lambda: _draw_stratified(task), fold_training, TRAINING_SETS)
        partitions.append(_tested(task, fold))
        found += remarks
    return RepeatedFoldLosses(tuple(partitions), tuple(dict.fromkeys(found)))


def _draw_stratified(task: Task) -> Folds:
    splitter = (StratifiedKFold if task.groups is None else StratifiedGroupKFold)(
        max(2, min(N_STRATIFIED_FOLDS, _units_of_rarest_class(task))),
        shuffle=True,
        random_state=int(task.rng.integers(2**32 - 1)),
    )
    groups = None if task.groups is None else task.groups.codes
    fold = np.empty(task.n_samples, dtype=np.int64)
    for number, (_, test) in enumerate(splitter.split(task.labels[:, None], task.labels, groups)):
        fold[test] = number
    # folds of whole groups may be empty
    return np.asarray(np.unique(fold, return_inverse=True)[1])


def _units_of_rarest_class(task: Task) -> int:
    """Return the number of rows of the rarest class, or of groups with such a row."""
    units = np.arange(task.n_samples) if task.groups is None else task.groups.codes
    return min(np.unique(units[task.labels == label]).size for label in np.unique(task.labels))


def record_leave_one_out(task: Task) -> FoldLosses:
    """Record leave-one-out or leave-one-group-out losses. Nothing here is random."""
    fold = np.arange(task.n_samples) if task.groups is None else task.groups.codes
    if task.on_single_class != "error":
        task = replace(task, on_single_class="fit")  # drawing again would change nothing
    _, remarks = task.draw_design(lambda: fold, fold_training, TRAINING_SETS)
    return _tested(task, fold, remarks)
