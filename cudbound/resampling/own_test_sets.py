"""Losses of two classifiers with a shared training set and one test set each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.records import TestSetLosses
from cudbound.resampling.refits import Refit
from cudbound.resampling.task import Task


def record_own_test_sets(task: Task, other: Refit) -> tuple[TestSetLosses, TestSetLosses]:
    """Hold out ``sizes.n_held_out`` rows, at least two, and test each classifier on half of them.

    Parameters
    ----------
    task : Task
        The task with the refits of the first classifier.
    other : callable
        The refits of the second classifier.

    Raises
    ------
    ValueError
        If there are fewer than three rows, or the training set has one class and the policy is "error".
    """
    n = task.n_samples
    if n < 3:
        raise ValueError(f"Two test sets and a training set need at least 3 rows. Got {n}; add more rows.")
    n_tested = min(max(2, task.sizes.n_held_out(n)), n - 1)

    def training(order: NDArray[np.int64]) -> NDArray[np.int32]:
        counts = np.ones((1, n), dtype=np.int32)
        counts[0, order[:n_tested]] = 0
        return counts

    order, remarks = task.draw_design(
        lambda: task.rng.permutation(n), training, "training sets of the holdout split"
    )
    rows = order[: (n_tested + 1) // 2], order[(n_tested + 1) // 2 : n_tested]
    first, second = (
        TestSetLosses(refit(training(order))[0, tested], n - n_tested, remarks=remarks)
        for refit, tested in zip((task.refit, other), rows, strict=True)
    )
    return first, second
