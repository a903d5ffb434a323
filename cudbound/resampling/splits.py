"""Splits of the caller, and losses on test sets of random ones: of all rows, of halves, and of replicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.method_card import RecordKind
from cudbound.records import HalvingLosses, SplitLosses, TestSetLosses
from cudbound.records.losses import N_HALVINGS
from cudbound.resampling.settings import RefitContext, parted

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.refits import Outputs, Refit

#: Halves with fewer rows cannot be split into training and test rows.
SMALLEST_HALF = 2

Array = NDArray[np.float64]
Counts = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Splits:
    """The training and test sets of a splitter on the given rows.

    Attributes
    ----------
    training, test : ndarray of bool, shape (n_splits, n_samples)
    """

    training: NDArray[np.bool_]
    test: NDArray[np.bool_]

    @property
    def partitions(self) -> list[slice]:
        """Runs of consecutive splits whose test sets partition the rows; empty if a split belongs to none.

        Each row must be in the training or test set of every split: methods for folds assume n - n/k training rows.
        """
        times_tested = self.test.cumsum(axis=0)
        # where every row has been tested equally often: once after the first run, twice after the second
        ends = np.flatnonzero(np.ptp(times_tested, axis=1) == 0) + 1
        if not (self.training | self.test).all() or len(self.test) not in ends:
            return []
        if (times_tested[ends - 1, 0] != np.arange(1, ends.size + 1)).any():
            return []
        return [slice(start, stop) for start, stop in pairwise([0, *ends.tolist()])]


def make_splits(cv: Any, X: Any, y: Any, groups: Any, rng: np.random.Generator) -> Splits:
    """Draw the splits of a scikit-learn splitter.

    Parameters
    ----------
    cv : int, splitter or iterable
        As in `sklearn.model_selection.cross_validate`: a number of folds, stratified by class and shuffled; an object
        with ``split(X, y, groups)``; or an iterable of pairs of arrays of row numbers.
    X, y : array-like
    groups : array-like, shape (n_samples,) or None
        Passed to the splitter, which must keep groups together.
    rng : numpy.random.Generator
        Seeds a splitter that shuffles without a ``random_state``.

    Raises
    ------
    ValueError
        If `cv` is none of these, or a training and a test set share rows or a group, or one of them is empty, repeats a
        row or names a row that does not exist.
    """
    seed, n = int(rng.integers(2**31 - 1)), len(y)
    if isinstance(cv, bool) or not (isinstance(cv, int | np.integer | Iterable) or hasattr(cv, "split")):
        rule = "a number of folds, a splitter of sklearn.model_selection, or pairs of arrays of row numbers"
        raise ParameterError("cv", rule, cv)
    place = ""
    try:
        pairs = list(_seeded(cv, y, seed).split(X, y, groups))
        counts = np.zeros((2, len(pairs), n), dtype=np.int16)  # leave-one-out has a split per row
        for number, pair in enumerate(pairs):
            place = f" in split {number}"
            for part, rows in zip(counts, map(np.asarray, pair), strict=True):
                np.add.at(part[number], rows if rows.size else rows.astype(np.int64), 1)
                if (rows < 0).any():  # NumPy counts them from the end
                    raise ValueError(f"row numbers must be from 0 to {n - 1}. Got {rows.min()} instead.")
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(f"The 'cv' parameter cannot split these rows{place}: {error}") from error
    if not pairs:
        raise ParameterError("cv", "one that gives at least one split", cv)
    unit = "rows" if groups is None else "groups"
    codes = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    for number, (train, test) in enumerate(zip(*counts, strict=True)):
        n_shared = np.intersect1d(codes[train > 0], codes[test > 0]).size
        if n_shared or not (train.any() and test.any()) or counts[:, number].max() > 1:
            raise ValueError(
                "In each split of the 'cv' parameter, the training set and the test set must both have rows, must have "
                f"each row only once, and must have no {unit} in common. Got {train.sum()} training and {test.sum()} "
                f"test rows in split {number}, {n_shared} {unit} in both sets, and up to {counts[:, number].max()} "
                "copies of a row; use KFold, or GroupKFold for groups."
            )
    training, tested = counts > 0
    return Splits(training, tested)


def _seeded(cv: Any, y: Any, seed: int) -> Any:
    from sklearn.model_selection import check_cv

    splitter = copy(check_cv(cv, y, classifier=True))
    if isinstance(cv, int | np.integer):
        splitter.shuffle, splitter.random_state = True, seed
        return splitter
    shuffles = getattr(splitter, "shuffle", True)  # splitters without that attribute always draw at random
    if shuffles and not isinstance(getattr(splitter, "random_state", seed), int | np.integer):
        # none, or a generator, which would go on from call to call
        splitter.random_state = seed
    return splitter


@dataclass(frozen=True, eq=False)
class SplitDesign:
    """Training sets and their test sets, as counts of rows, both of shape (n_fits, n_samples).

    A row may be in neither, and its copies in both.
    """

    training: Counts
    testing: Counts


#: The training sets of a design.
TRAINING_OF = attrgetter("training")


def draw_split(rows: NDArray[np.int64], n_samples: int, n_test: int, rng: np.random.Generator) -> SplitDesign:
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
    return SplitDesign(count_rows(order[:, n_test:], n_samples), count_rows(order[:, :n_test], n_samples))


def record_splits(context: RefitContext) -> SplitLosses:
    """Record mean losses on the test sets of ``sizes.n_splits`` independent random splits.

    A split is redrawn by itself if its training set has one class.
    """
    n = context.labels.size
    n_test = context.sizes.n_test(n)
    means, remarks = means_of_splits(context, [lambda: np.arange(n)[None]], n_test, "rows", "random splits")
    return SplitLosses(means[0], n - n_test, n_test, remarks)


def record_halvings(context: RefitContext) -> HalvingLosses:
    """Record mean losses of two-fold cross-validation for five random halvings, for any sizes.

    If n is odd, one row is left out of each halving to make both halves equal in size. Each halving is redrawn by
    itself.
    """
    n = context.labels.size
    half = n // 2

    def draw() -> SplitDesign:
        order = context.rng.permutation(n)
        training = count_rows(np.stack([order[:half], order[half : 2 * half]]), n)
        return SplitDesign(training, training[::-1])

    designs, remarks = context.draw_parts([draw] * N_HALVINGS, TRAINING_OF, "halves of five halvings")
    notes = ("1 row left out of each halving",) if n % 2 else ()
    means = means_on_test_sets(context.refit, designs)
    return HalvingLosses(means.reshape(N_HALVINGS, 2), half, (*notes, *remarks))


def hold_out(context: RefitContext, event_class: int = 1) -> TestSetLosses:
    """Record the losses on a part of the rows, ``sizes.holdout_fraction``, of a classifier fitted to the others.

    `event_class` is the number of the event of two classes, 0 or 1.
    """
    n = context.labels.size
    n_test = context.sizes.n_held_out(n)
    (design,), remarks = context.draw_parts(
        [lambda: draw_split(np.arange(n), n, n_test, context.rng)],
        TRAINING_OF,
        "training sets of the holdout split",
    )
    tested = design.testing[0] > 0
    losses, scores = parted(context.refit(design.training)[0, tested])
    labels = context.labels[tested]
    two = np.unique(context.labels).size == 2
    classes = {"event": (labels > 0.0) == bool(event_class)} if two else {"class_numbers": labels}
    return TestSetLosses(losses, n - n_test, "holdout-model", remarks, **classes, **scores)


def means_of_splits(
    context: RefitContext,
    draws: Sequence[Callable[[], NDArray[np.int64]]],
    n_test: int,
    sets: str,
    splits: str,
) -> tuple[Array, tuple[str, ...]]:
    """Split sets of rows ``sizes.n_splits`` times each and return the mean losses, shape (n_sets, n_splits).

    ``draw()`` returns one or more sets, shape (n_sets, n_rows). They are redrawn together, and then each split; `sets`
    and `splits` name both in remarks.
    """
    n, n_splits = context.labels.size, context.sizes.n_splits
    parts, remarks = context.draw_parts(draws, lambda rows: count_rows(rows, n), sets)
    draws_of_splits = [
        partial(draw_split, rows, n, n_test, context.rng)
        for rows in np.concatenate(parts)
        for _ in range(n_splits)
    ]
    designs, further = context.draw_parts(draws_of_splits, TRAINING_OF, f"training sets of {splits}")
    return means_on_test_sets(context.refit, designs).reshape(-1, n_splits), (*remarks, *further)


def means_on_test_sets(refit: Refit, designs: Sequence[SplitDesign]) -> Array:
    """Return the mean loss on each test set, shape (n_fits,), with one call of `refit`."""
    testing = np.concatenate([design.testing for design in designs])
    losses = refit(np.concatenate([design.training for design in designs]))
    return np.asarray((losses * testing).sum(axis=1) / testing.sum(axis=1))


def count_rows(rows: NDArray[np.int64], n_samples: int) -> Counts:
    """Count how often each row occurs in each line of `rows`; shape (n_lines, n_samples)."""
    counts = np.zeros((len(rows), n_samples), dtype=np.int32)
    np.add.at(counts, (np.arange(len(rows))[:, None], rows), 1)
    return counts


def _splits_of_splits(splits: Splits, outputs: Outputs, remarks: tuple[str, ...]) -> SplitLosses:
    tested, trained = splits.test.sum(axis=1), splits.training.sum(axis=1)
    if len(set(tested.tolist())) > 1 or len(set(trained.tolist())) > 1:
        remarks = (
            *remarks,
            f"splits of unequal size ({trained.min()} to {trained.max()} training rows): means used",
        )
    means = np.where(splits.test, parted(outputs)[0], 0).sum(axis=1) / tested
    return SplitLosses(means, float(trained.mean()), float(tested.mean()), remarks)


def _halvings_of_splits(splits: Splits, outputs: Outputs, remarks: tuple[str, ...]) -> HalvingLosses:
    means = _splits_of_splits(splits, outputs, ()).means.reshape(N_HALVINGS, 2)
    return HalvingLosses(means, int(splits.training.sum(axis=1).min()), remarks)


SPLITS = RecordKind(
    "splits",
    holds=SplitLosses,
    words="splits into training and test rows",
    refit=record_splits,
    n_fits=lambda inputs: inputs.resampling.n_splits,
    filled_by=lambda _: True,
    from_splits=_splits_of_splits,
)
HALVINGS = RecordKind(
    "halvings",
    holds=HalvingLosses,
    words="two-fold cross-validation",
    refit=record_halvings,
    n_fits=lambda _: 2 * N_HALVINGS,
    filled_by=lambda splits: len(splits.partitions) == N_HALVINGS and len(splits.test) == 2 * N_HALVINGS,
    from_splits=_halvings_of_splits,
)
TEST_SET: RecordKind[TestSetLosses] = RecordKind(
    "test_set",
    holds=TestSetLosses,
    words="test cases",
    record=lambda inputs, _: hold_out(inputs.context(TEST_SET), inputs.scoring.event_class),
    n_fits=lambda _: 1,
    resamples=False,
    scored=True,
    of_every_metric=True,
)
