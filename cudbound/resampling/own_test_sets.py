"""Losses of two classifiers that share a training set and have one test set each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.records import TestSetLosses
from cudbound.resampling.refits import Refit
from cudbound.resampling.single_class import Policy, draw_design
from cudbound.resampling.sizes import ResamplingSizes

Array = NDArray[np.float64]


def record_own_test_sets(
    refits: tuple[Refit, Refit],
    labels: Array,
    sizes: ResamplingSizes,
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> tuple[TestSetLosses, TestSetLosses]:
    """Hold out ``sizes.n_held_out`` rows, at least two, and test each classifier on one half of them.

    Parameters
    ----------
    refits : (callable, callable)
        Of the first and of the second classifier.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    sizes : ResamplingSizes
    on_single_class : {"fit", "redraw", "drop", "error"}
        See `draw_design`.
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        If there are fewer than three rows, or the training set holds one class and the policy is "error".
    """
    n = labels.size
    if n < 3:
        raise ValueError(
            f"Two test sets and a training set need at least 3 rows. Got {n}; collect more of them."
        )
    n_tested = min(max(2, sizes.n_held_out(n)), n - 1)

    def training(order: NDArray[np.int64]) -> NDArray[np.int32]:
        counts = np.ones((1, n), dtype=np.int32)
        counts[0, order[:n_tested]] = 0
        return counts

    order, remarks = draw_design(
        lambda: rng.permutation(n), training, labels, on_single_class, "training sets of the holdout split"
    )
    rows = order[: (n_tested + 1) // 2], order[(n_tested + 1) // 2 : n_tested]
    first, second = (
        TestSetLosses(refit(training(order))[0, tested], n - n_tested, remarks=remarks)
        for refit, tested in zip(refits, rows, strict=True)
    )
    return first, second
