"""Losses on test sets of random splits: of all rows, of halves of them, and of bootstrap replicates of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cudbound.records import (
    HalfSplitLosses,
    HalvingLosses,
    ReplicateLosses,
    SplitLosses,
    TestSetLosses,
)
from cudbound.records.split_losses import N_HALVINGS
from cudbound.resampling.refits import Refit
from cudbound.resampling.single_class import Policy, describe_parts, draw_design, draw_parts
from cudbound.resampling.sizes import ResamplingSizes

Array = NDArray[np.float64]
Counts = NDArray[np.int32]

#: Halves of fewer rows cannot be split into training and test rows.
SMALLEST_HALF = 2


@dataclass(frozen=True, eq=False)
class Design:
    """Training sets and the test set of each, as counts of rows, both of shape (n_fits, n_samples).

    A row may be in neither, and copies of it in both.
    """

    training: Counts
    testing: Counts

    @classmethod
    def joined(cls, designs: Sequence[Design]) -> Design:
        """Stack designs in their order."""
        return cls(
            np.concatenate([design.training for design in designs]),
            np.concatenate([design.testing for design in designs]),
        )

    def means(self, refit: Refit) -> Array:
        """Return the mean loss on each test set, shape (n_fits,), with one call of `refit`."""
        losses = refit(self.training)
        return np.asarray((losses * self.testing).sum(axis=1) / self.testing.sum(axis=1))


def draw_split(rows: NDArray[np.int64], n_samples: int, n_test: int, rng: np.random.Generator) -> Design:
    """Split the rows at random.

    Parameters
    ----------
    rows : ndarray of int, shape (n_rows,)
        Numbers of rows, in [0, n_samples). A number that occurs twice is two rows, which may be separated.
    n_samples : int
        Rows of the whole data.
    n_test : int
        Rows of the test set, less than n_rows; the others are trained on.
    rng : numpy.random.Generator
    """
    order = rng.permutation(rows)[None, :]
    return Design(_count_rows(order[:, n_test:], n_samples), _count_rows(order[:, :n_test], n_samples))


def record_splits(
    refit: Refit,
    labels: Array,
    sizes: ResamplingSizes,
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> SplitLosses:
    """Record mean losses on the test sets of ``sizes.n_splits`` independent random splits.

    Parameters
    ----------
    refit : callable
        From `Refits.recorded`.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    sizes : ResamplingSizes
        Its `n_splits` and `test_fraction` are used.
    on_single_class : {"fit", "redraw", "drop", "error"}
        See `draw_design`; each split is drawn again on its own.
    rng : numpy.random.Generator
        Draws the splits.

    Raises
    ------
    ValueError
        If a training set holds one class and the policy is "error".
    """
    n = labels.size
    n_test = sizes.n_test(n)
    design, remarks = _draw_splits_of(
        [np.arange(n)], n_test, sizes.n_splits, labels, on_single_class, rng, "training sets of random splits"
    )
    return SplitLosses(design.means(refit), n - n_test, n_test, remarks)


def record_half_splits(
    refit: Refit,
    labels: Array,
    sizes: ResamplingSizes,
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> HalfSplitLosses:
    """Record mean losses over ``sizes.n_splits`` random splits inside each half, for ``sizes.n_halvings`` halvings.

    The test sets are as large as those of `record_splits`, and a training set has n // 2 less that many rows; one row
    is left out of each halving if n is odd. Where a half is too small for such a test set, the share
    ``sizes.test_fraction`` of the half is tested instead, with a remark; smaller test sets make the variance larger,
    so the method that reads it stays conservative. The splits of the two halves are independent.

    Parameters
    ----------
    refit, labels, rng
        As in `record_splits`.
    sizes : ResamplingSizes
        Its `n_halvings`, `n_splits` and `test_fraction` are used.
    on_single_class : {"fit", "redraw", "drop", "error"}
        See `draw_design`; each halving is drawn again on its own, and then each split on its own.

    Raises
    ------
    ValueError
        If there are fewer than 4 rows, or a training set holds one class and the policy is "error".
    """
    n = labels.size
    half, n_test, notes = n // 2, sizes.n_test(n), []
    if half < SMALLEST_HALF:
        raise ValueError(f"Splits inside halves need at least {2 * SMALLEST_HALF} rows. Got {n} instead.")
    if n % 2:
        notes.append("1 row left out of each halving")
    if n_test >= half:
        fitting = sizes.n_test(half)
        notes.append(f"{fitting} rows tested inside a half of {half}, which is too small for {n_test}")
        n_test = fitting

    halvings, n_again, _ = draw_parts(
        [lambda: rng.permutation(n)[: 2 * half].reshape(2, half)] * sizes.n_halvings,
        lambda rows: _count_rows(rows, n),
        labels,
        on_single_class,
    )
    design, remarks = _draw_splits_of(
        np.concatenate(halvings),
        n_test,
        sizes.n_splits,
        labels,
        on_single_class,
        rng,
        "training sets of splits inside halves",
        n_again,
    )
    means = design.means(refit).reshape(sizes.n_halvings, 2, sizes.n_splits).mean(axis=2)
    return HalfSplitLosses(means, half - n_test, n_test, sizes.n_splits, (*notes, *remarks))


def record_replicates(
    refit: Refit,
    labels: Array,
    sizes: ResamplingSizes,
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> ReplicateLosses:
    """Record the mean loss over ``sizes.n_splits`` random splits of each of ``sizes.n_replicates`` replicates.

    A replicate is a bootstrap draw of n rows, and it is split as if its rows were all different: copies of one row may
    be in both the training and the test set.

    Parameters
    ----------
    refit, labels, rng
        As in `record_splits`.
    sizes : ResamplingSizes
        Its `n_replicates`, `n_splits` and `test_fraction` are used.
    on_single_class : {"fit", "redraw", "drop", "error"}
        See `draw_design`; each replicate is drawn again on its own, and then each split on its own.

    Raises
    ------
    ValueError
        If a training set holds one class and the policy is "error".
    """
    n = labels.size
    n_test = sizes.n_test(n)
    replicates, n_again, _ = draw_parts(
        [lambda: rng.integers(n, size=(1, n))] * sizes.n_replicates,
        lambda rows: _count_rows(rows, n),
        labels,
        on_single_class,
    )
    design, remarks = _draw_splits_of(
        np.concatenate(replicates),
        n_test,
        sizes.n_splits,
        labels,
        on_single_class,
        rng,
        "training sets of splits of replicates",
        n_again,
    )
    means = design.means(refit).reshape(sizes.n_replicates, sizes.n_splits).mean(axis=1)
    return ReplicateLosses(means, n - n_test, n_test, sizes.n_splits, remarks)


def record_halvings(
    refit: Refit,
    labels: Array,
    sizes: ResamplingSizes,
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> HalvingLosses:
    """Record mean losses of two-fold cross-validation for five random halvings.

    If n is odd one row is left out of each halving, so that the two halves have the same size.

    Parameters
    ----------
    refit, labels, rng
        As in `record_splits`.
    sizes : ResamplingSizes
        Not used: there are always five halvings.
    on_single_class : {"fit", "redraw", "drop", "error"}
        See `draw_design`; each halving is drawn again on its own.

    Raises
    ------
    ValueError
        If a half holds one class and the policy is "error".
    """
    n = labels.size
    half = n // 2

    def draw() -> Design:
        order = rng.permutation(n)
        training = _count_rows(np.stack([order[:half], order[half : 2 * half]]), n)
        return Design(training, training[::-1])

    designs, n_again, n_one_class = draw_parts([draw] * N_HALVINGS, _training, labels, on_single_class)
    remarks = describe_parts("halves of five halvings", on_single_class, n_again, n_one_class)
    notes = ("1 row left out of each halving",) if n % 2 else ()
    return HalvingLosses(Design.joined(designs).means(refit).reshape(N_HALVINGS, 2), half, (*notes, *remarks))


def record_test_set(
    refit: Refit,
    labels: Array,
    sizes: ResamplingSizes,
    *,
    on_single_class: Policy,
    rng: np.random.Generator,
) -> TestSetLosses:
    """Record the losses on a part of the rows of a classifier fitted to the others.

    Parameters
    ----------
    refit, labels, rng
        As in `record_splits`.
    sizes : ResamplingSizes
        Its `holdout_fraction` is used.
    on_single_class : {"fit", "redraw", "drop", "error"}
        See `draw_design`.

    Raises
    ------
    ValueError
        If the training part holds one class and the policy is "error".
    """
    n = labels.size
    n_test = sizes.n_held_out(n)
    design, remarks = draw_design(
        lambda: draw_split(np.arange(n), n, n_test, rng),
        _training,
        labels,
        on_single_class,
        "training sets of the holdout split",
    )
    losses = refit(design.training)[0, design.testing[0] > 0]
    return TestSetLosses(losses, n - n_test, "holdout-model", remarks)


def _draw_splits_of(
    sets_of_rows: Iterable[NDArray[np.int64]],
    n_test: int,
    n_splits: int,
    labels: Array,
    policy: Policy,
    rng: np.random.Generator,
    what: str,
    n_again: int = 0,
) -> tuple[Design, tuple[str, ...]]:
    """Split each set of rows several times; `n_again` is how often the sets themselves were drawn again."""
    draws = [
        partial(draw_split, rows, labels.size, n_test, rng) for rows in sets_of_rows for _ in range(n_splits)
    ]
    designs, n_more, n_one_class = draw_parts(draws, _training, labels, policy)
    return Design.joined(designs), describe_parts(what, policy, n_again + n_more, n_one_class)


def _training(design: Design) -> Counts:
    return design.training


def _count_rows(rows: NDArray[np.int64], n_samples: int) -> Counts:
    """Count how often each row occurs in each line of `rows`; shape (n_lines, n_samples)."""
    counts = np.zeros((len(rows), n_samples), dtype=np.int32)
    np.add.at(counts, (np.arange(len(rows))[:, None], rows), 1)
    return counts
