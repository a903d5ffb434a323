"""Cross-validated losses: one partition into folds, several, and leave-one-out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.method_card import RecordKind
from cudbound.records import FoldLosses, RepeatedFoldLosses
from cudbound.resampling.settings import RefitContext, parted
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


def draw_folds(
    n_samples: int,
    n_folds: int,
    rng: np.random.Generator,
    splitter: Any = None,
    labels: Any = None,
    groups: Any = None,
) -> Folds:
    """Return a random fold for each row, numbered from 0, shape (n_samples,).

    By default the sizes of the folds differ by at most one; `splitter` is the class of another splitter of
    scikit-learn, which `labels` and `groups` are passed to.
    """
    from sklearn.model_selection import KFold

    seeded = (splitter or KFold)(n_folds, shuffle=True, random_state=int(rng.integers(2**32 - 1)))
    fold = np.empty(n_samples, dtype=np.int64)
    for number, (_, test) in enumerate(seeded.split(np.zeros((n_samples, 1)), labels, groups)):
        fold[test] = number
    # folds of whole groups may be empty
    return np.asarray(np.unique(fold, return_inverse=True)[1])


def fold_training(fold: Folds) -> NDArray[np.int32]:
    """Return the training set of each fold as counts, shape (n_folds, n_samples)."""
    return np.asarray(fold != np.arange(fold.max() + 1)[:, None], dtype=np.int32)


def record_folds(context: RefitContext) -> FoldLosses:
    """Record cross-validated losses on ``sizes.n_folds`` shuffled folds; with fewer rows, every row is a fold."""
    return record_repeated_folds(context, 1).partitions[0]


def record_repeated_folds(context: RefitContext, n_repeats: int | None = None) -> RepeatedFoldLosses:
    """Record cross-validated losses on ``sizes.n_repeats`` partitions, or another number of them."""
    n = context.labels.size
    n_folds = min(context.sizes.n_folds, n)
    notes = (f"{n} folds with one row each",) if n_folds == n else ()
    draw = partial(draw_folds, n, n_folds, context.rng)
    return _record_partitions(context, [draw] * (n_repeats or context.sizes.n_repeats), notes)


def record_stratified_folds(context: RefitContext) -> RepeatedFoldLosses:
    """Record cross-validated losses on five partitions into ten stratified folds.

    There are fewer folds if a class has fewer than ten rows or occurs in fewer than ten groups. Groups of rows stay
    together.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    labels, groups = context.labels, None if context.groups is None else context.groups.codes
    units = np.arange(labels.size) if groups is None else groups
    # rows, or groups with such a row, of the class that has the fewest
    fewest = min(np.unique(units[labels == label]).size for label in np.unique(labels))
    few = f"{max(2, fewest)} folds, since a class has only {fewest} rows or groups"
    splitter = StratifiedKFold if groups is None else StratifiedGroupKFold
    n_folds = max(2, min(N_STRATIFIED_FOLDS, fewest))
    draw = partial(draw_folds, labels.size, n_folds, context.rng, splitter, labels, groups)
    return _record_partitions(context, [draw] * N_STRATIFIED_REPEATS, (few,) if fewest < FEWEST else ())


def record_leave_one_out(context: RefitContext) -> FoldLosses:
    """Record leave-one-out or leave-one-group-out losses. Nothing here is random."""
    context = replace(context, on_single_class="fit")  # drawing again would change nothing
    return _record_partitions(context, [lambda: context.units.codes]).partitions[0]


def _record_partitions(
    context: RefitContext, draws: Sequence[Callable[[], Folds]], notes: tuple[str, ...] = ()
) -> RepeatedFoldLosses:
    """Record the output for each row of the classifiers fitted without its folds, from one call of `refit`."""
    folds, remarks = context.draw_parts(draws, fold_training, TRAINING_SETS)
    outputs = context.refit(np.concatenate([fold_training(fold) for fold in folds]))
    parts = np.split(outputs, np.cumsum([fold.max() + 1 for fold in folds])[:-1])
    remarks = (*notes, *remarks)
    partitions = (_losses_on_folds(part, fold, remarks) for part, fold in zip(parts, folds, strict=True))
    return RepeatedFoldLosses(tuple(partitions), remarks)


def _losses_on_folds(outputs: Outputs, fold: Folds, remarks: tuple[str, ...]) -> FoldLosses:
    losses, scores = parted(outputs[fold, np.arange(fold.size)])
    return FoldLosses(losses, fold, remarks, **scores)


def _repeated_of_splits(splits: Splits, outputs: Outputs, remarks: tuple[str, ...]) -> RepeatedFoldLosses:
    partitions = (
        _losses_on_folds(outputs[part], splits.test[part].argmax(axis=0), remarks)
        for part in splits.partitions
    )
    return RepeatedFoldLosses(tuple(partitions), remarks)


FOLDS = RecordKind(
    "folds",
    holds=FoldLosses,
    words="cross-validation",
    refit=record_folds,
    n_fits=lambda inputs: min(inputs.resampling.n_folds, inputs.n_units),
    filled_by=lambda splits: len(splits.partitions) == 1,
    from_splits=lambda *of_splits: _repeated_of_splits(*of_splits).partitions[0],
    scored=True,
    of_every_metric=True,
)
REPEATED_FOLDS = RecordKind(
    "repeated_folds",
    holds=RepeatedFoldLosses,
    words="repeated cross-validation",
    refit=record_repeated_folds,
    n_fits=lambda inputs: inputs.resampling.n_repeats * min(inputs.resampling.n_folds, inputs.n_units),
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
