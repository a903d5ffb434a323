"""Cross-validated losses: one partition into folds, several, and leave-one-out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.method_card import RecordKind
from cudbound.records import FoldLosses, RepeatedFoldLosses
from cudbound.resampling.context import RefitContext, parted
from cudbound.resampling.splits import Splits

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.refits import Outputs

Folds = NDArray[np.int64]

TRAINING_SETS = "cross-validation training sets"
#: Partitions into stratified folds, and folds per partition unless a class has fewer rows or occurs in fewer groups.
N_STRATIFIED_REPEATS = 5
N_STRATIFIED_FOLDS = 10
#: With fewer rows of a class, a remark says how few folds there are.
FEWEST = 3


def draw_folds(n_samples: int, n_folds: int, rng: np.random.Generator) -> Folds:
    """Return a random fold for each row, numbered from 0, shape (n_samples,); sizes differ by at most one."""
    from sklearn.model_selection import KFold

    splitter = KFold(n_folds, shuffle=True, random_state=int(rng.integers(2**32 - 1)))
    return _numbered(splitter.split(np.zeros(n_samples)), n_samples)


def _numbered(splits: Iterable[tuple[Any, Any]], n_samples: int) -> Folds:
    fold = np.empty(n_samples, dtype=np.int64)
    for number, (_, test) in enumerate(splits):
        fold[test] = number
    return fold


def fold_training(fold: Folds) -> NDArray[np.int32]:
    """Return the training set of each fold as counts, shape (n_folds, n_samples)."""
    return np.asarray(fold != np.arange(fold.max() + 1)[:, None], dtype=np.int32)


def record_folds(context: RefitContext) -> FoldLosses:
    """Record cross-validated losses on ``sizes.n_folds`` shuffled folds; with fewer rows, every row is a fold."""
    return _tested(context, [_shuffled(context)])[0]


def _shuffled(context: RefitContext) -> tuple[Folds, tuple[str, ...]]:
    n = context.n_samples
    n_folds = min(context.sizes.n_folds, n)
    (fold,), remarks = context.draw_parts(
        [lambda: draw_folds(n, n_folds, context.rng)], fold_training, TRAINING_SETS
    )
    return fold, (*remarks, f"{n} folds with one row each") if n_folds == n else remarks


def _tested(context: RefitContext, drawn: Sequence[tuple[Folds, tuple[str, ...]]]) -> list[FoldLosses]:
    """Return the output for each row of the classifiers fitted without its folds, from one call of `refit`."""
    outputs = context.refit(np.concatenate([fold_training(fold) for fold, _ in drawn]))
    stops = np.cumsum([fold.max() + 1 for fold, _ in drawn])
    return [
        _of_partition(part, fold, remarks)
        for part, (fold, remarks) in zip(np.split(outputs, stops[:-1]), drawn, strict=True)
    ]


def _of_partition(outputs: Outputs, fold: Folds, remarks: tuple[str, ...] = ()) -> FoldLosses:
    losses, scores = parted(outputs[fold, np.arange(fold.size)])
    return FoldLosses(losses, fold, remarks, **scores)


def record_repeated_folds(context: RefitContext) -> RepeatedFoldLosses:
    """Record cross-validated losses on ``sizes.n_repeats`` partitions."""
    partitions = _tested(context, [_shuffled(context) for _ in range(context.sizes.n_repeats)])
    remarks = dict.fromkeys(remark for partition in partitions for remark in partition.remarks)
    return RepeatedFoldLosses(tuple(partitions), tuple(remarks))


def record_stratified_folds(context: RefitContext) -> RepeatedFoldLosses:
    """Record cross-validated losses on five partitions into ten stratified folds.

    There are fewer folds if a class has fewer than ten rows or occurs in fewer than ten groups. Groups of rows stay
    together.
    """
    # rows, or groups with such a row, of the class that has the fewest
    units = context.units.codes
    fewest = min(np.unique(units[context.labels == label]).size for label in np.unique(context.labels))
    notes = (
        [f"{max(2, fewest)} folds, since a class has only {fewest} rows or groups"] if fewest < FEWEST else []
    )
    n_folds = max(2, min(N_STRATIFIED_FOLDS, fewest))
    folds = []
    for _ in range(N_STRATIFIED_REPEATS):
        fold, remarks = context.draw_parts(
            [lambda: _draw_stratified(context, n_folds)], fold_training, TRAINING_SETS
        )
        folds += fold
        notes += remarks
    partitions = _tested(context, [(fold, ()) for fold in folds])
    return RepeatedFoldLosses(tuple(partitions), tuple(dict.fromkeys(notes)))


def _draw_stratified(context: RefitContext, n_folds: int) -> Folds:
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    splitter = (StratifiedKFold if context.groups is None else StratifiedGroupKFold)(
        n_folds, shuffle=True, random_state=int(context.rng.integers(2**32 - 1))
    )
    groups = None if context.groups is None else context.groups.codes
    fold = _numbered(splitter.split(context.labels[:, None], context.labels, groups), context.n_samples)
    # folds of whole groups may be empty
    return np.asarray(np.unique(fold, return_inverse=True)[1])


def record_leave_one_out(context: RefitContext) -> FoldLosses:
    """Record leave-one-out or leave-one-group-out losses. Nothing here is random."""
    fold = context.units.codes
    context = replace(context, on_single_class="fit")  # drawing again would change nothing
    _, remarks = context.draw_parts([lambda: fold], fold_training, TRAINING_SETS)
    return _tested(context, [(fold, remarks)])[0]


def _folds_of_splits(splits: Splits, outputs: Outputs, remarks: tuple[str, ...]) -> FoldLosses:
    return _of_partition(
        outputs[splits.partitions[0]], splits.test[splits.partitions[0]].argmax(axis=0), remarks
    )


def _repeated_of_splits(splits: Splits, outputs: Outputs, remarks: tuple[str, ...]) -> RepeatedFoldLosses:
    partitions = (
        _of_partition(outputs[part], splits.test[part].argmax(axis=0)) for part in splits.partitions
    )
    return RepeatedFoldLosses(tuple(partitions), remarks)


FOLDS = RecordKind(
    "folds",
    holds=FoldLosses,
    words="cross-validation",
    refit=record_folds,
    n_fits=lambda inputs: min(inputs.sizes.n_folds, inputs.n_units),
    filled_by=lambda splits: len(splits.partitions) == 1,
    from_splits=_folds_of_splits,
    scored=True,
    of_every_metric=True,
)
REPEATED_FOLDS = RecordKind(
    "repeated_folds",
    holds=RepeatedFoldLosses,
    words="repeated cross-validation",
    refit=record_repeated_folds,
    n_fits=lambda inputs: inputs.sizes.n_repeats * min(inputs.sizes.n_folds, inputs.n_units),
    filled_by=lambda splits: bool(splits.partitions),
    from_splits=_repeated_of_splits,
    scored=True,
    of_every_metric=True,
)
#: With the classes of the whole training set in every fold.
STRATIFIED_FOLDS = RecordKind(
    "stratified_folds",
    holds=RepeatedFoldLosses,
    words="repeated cross-validation",
    refit=record_stratified_folds,
    n_fits=lambda inputs: N_STRATIFIED_REPEATS * min(N_STRATIFIED_FOLDS, inputs.n_units),
    whole_groups=True,
    filled_by=lambda splits: bool(splits.partitions),
    from_splits=_repeated_of_splits,
    scored=True,
    of_every_metric=True,
)
LEAVE_ONE_OUT = RecordKind(
    "leave_one_out",
    holds=FoldLosses,
    words="leave-one-out cross-validation",
    holder="FoldLosses with one row per fold",
    refit=record_leave_one_out,
    n_fits=lambda inputs: inputs.n_units,
    whole_groups=True,
    of_every_metric=True,
)
