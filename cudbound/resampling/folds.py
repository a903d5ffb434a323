"""Cross-validated losses: one partition into folds, several, and leave-one-out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from cudbound.records import FoldLosses, RepeatedFoldLosses
from cudbound.resampling.refits import Refit
from cudbound.resampling.single_class import Policy, draw_design
from cudbound.resampling.sizes import ResamplingSizes

Array = NDArray[np.float64]
Folds = NDArray[np.int64]

TRAINING_SETS = "cross-validation training sets"


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


def record_folds(
    refit: Refit,
    labels: Array,
    sizes: ResamplingSizes,
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> FoldLosses:
    """Record cross-validated losses on shuffled folds; with fewer rows than folds every row is a fold.

    Parameters
    ----------
    refit : callable
        From `Refits.recorded`.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    sizes : ResamplingSizes
        Its `n_folds` is used.
    on_single_class : {"fit", "redraw", "drop", "error"}
        See `draw_design`.
    rng : numpy.random.Generator
        Shuffles the rows.

    Raises
    ------
    ValueError
        If a training part holds one class and the policy is "error".
    """
    n = labels.size
    n_folds = min(sizes.n_folds, n)
    fold, remarks = draw_design(
        lambda: draw_folds(n, n_folds, rng), fold_training, labels, on_single_class, TRAINING_SETS
    )
    if n_folds == n:
        remarks = (*remarks, f"{n} folds of one row")
    return FoldLosses(refit(fold_training(fold))[fold, np.arange(n)], fold, remarks)


def record_repeated_folds(
    refit: Refit,
    labels: Array,
    sizes: ResamplingSizes,
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> RepeatedFoldLosses:
    """Record cross-validated losses on ``sizes.n_repeats`` partitions; parameters as in `record_folds`."""
    partitions = tuple(
        record_folds(refit, labels, sizes, on_single_class=on_single_class, rng=rng)
        for _ in range(sizes.n_repeats)
    )
    remarks = tuple(dict.fromkeys(remark for partition in partitions for remark in partition.remarks))
    return RepeatedFoldLosses(partitions, remarks)


def record_leave_one_out(
    refit: Refit,
    labels: Array,
    sizes: ResamplingSizes,
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> FoldLosses:
    """Record leave-one-out losses; parameters as in `record_folds`. Nothing here is random."""
    fold = np.arange(labels.size)
    policy: Policy = "error" if on_single_class == "error" else "fit"  # drawing again would change nothing
    _, remarks = draw_design(lambda: fold, fold_training, labels, policy, TRAINING_SETS)
    return FoldLosses(refit(fold_training(fold))[fold, fold], fold, remarks)
