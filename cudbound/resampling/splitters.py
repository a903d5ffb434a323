"""Training and test sets from a scikit-learn splitter, and which records they can fill."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
    def n_samples(self) -> int:
        """Rows that were split."""
        return int(self.training.shape[1])

    @property
    def partitions(self) -> list[slice]:
        """Runs of consecutive splits whose test sets partition the rows; empty if a split belongs to none.

        Each row must be in the training or test set of every split: methods for folds assume n - n/k training rows.
        """
        if not (self.training | self.test).all():
            return []
        runs, start = [], 0
        tested = np.zeros(self.n_samples, dtype=np.int64)
        for stop, test in enumerate(self.test, start=1):
            tested += test
            if tested.max() > 1:
                return []
            if tested.min() == 1:
                runs.append(slice(start, stop))
                start, tested = stop, np.zeros_like(tested)
        return runs if start == len(self.test) else []


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
    seed = int(rng.integers(2**31 - 1))
    splitter = _seeded(cv, y, seed)
    n = len(y)
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(X, y, groups)]
    except (TypeError, ValueError) as error:
        raise ValueError(f"The 'cv' parameter cannot split these rows: {error}") from error
    if not pairs:
        raise ValueError("The 'cv' parameter must give at least one split. Got none.")
    training, test = (
        np.stack([_members(pair[part], n, number) for number, pair in enumerate(pairs)]) for part in (0, 1)
    )
    for number, (train_rows, test_rows) in enumerate(zip(training, test, strict=True)):
        n_shared = int((train_rows & test_rows).sum())
        if not train_rows.any() or not test_rows.any() or n_shared:
            raise ValueError(
                "The 'cv' parameter must give nonempty training and test sets that share no rows. Got "
                f"{train_rows.sum()} and {test_rows.sum()} rows in split {number}, {n_shared} of them in both."
            )
    if groups is not None:
        _check_groups(groups, training, test)
    return Splits(training, test)


def _check_groups(groups: Any, training: NDArray[np.bool_], test: NDArray[np.bool_]) -> None:
    _, codes = np.unique(np.asarray(groups), return_inverse=True)
    for number, (train_rows, test_rows) in enumerate(zip(training, test, strict=True)):
        n_torn = np.intersect1d(codes[train_rows], codes[test_rows]).size
        if n_torn:
            raise ValueError(
                "The 'cv' parameter must keep the 'groups' together. "
                f"Got {n_torn} groups with rows in both sets of split {number}; use GroupKFold or StratifiedGroupKFold."
            )


def _members(rows: NDArray[Any], n_samples: int, number: int) -> NDArray[np.bool_]:
    """Return the rows of a split, given by number or by a mask."""
    times = np.zeros(n_samples, dtype=np.int64)
    try:
        np.add.at(times, rows if rows.size else rows.astype(np.int64), 1)
    except IndexError as error:
        raise ValueError(
            f"The 'cv' parameter must give row numbers from 0 to {n_samples - 1}. Split {number}: {error}."
        ) from error
    if times.max(initial=0) > 1:
        raise ValueError(
            "The 'cv' parameter must give sets without repeated rows, so bootstrap draws are not allowed. Got row "
            f"{int(times.argmax())} {int(times.max())} times in one set of split {number}."
        )
    return times > 0


def _seeded(cv: Any, y: Any, seed: int) -> Any:
    if isinstance(cv, bool) or not (isinstance(cv, int | np.integer | Iterable) or hasattr(cv, "split")):
        raise ValueError(
            "The 'cv' parameter must be a number of folds, a splitter of sklearn.model_selection, or an iterable of "
            f"pairs of arrays of row numbers. Got {cv!r} instead."
        )
    from sklearn.model_selection import check_cv

    try:
        splitter = check_cv(cv, y, classifier=True)
    except ValueError as error:
        raise ValueError(f"The 'cv' parameter cannot be used: {error}") from error
    shuffles = getattr(splitter, "shuffle", True)  # splitters without that attribute always draw at random
    if isinstance(cv, int | np.integer):
        splitter = copy(splitter)
        splitter.shuffle, splitter.random_state = True, seed
    elif shuffles and not isinstance(getattr(splitter, "random_state", seed), int | np.integer):
        # none, or a generator, which would go on from call to call
        splitter = copy(splitter)
        splitter.random_state = seed
    return splitter
