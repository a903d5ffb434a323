"""Normal interval with a variance from replaced training rows: Austern and Zhou (2020)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.method_card import EXPECTED, Choice, RecordKind
from cudbound.basis.results import Estimand
from cudbound.intervals.method import EQUAL, Method, Pivot, of_record
from cudbound.records.rules import MeanLoss, Means, Recorded, Remarks, Size
from cudbound.resampling.context import RefitContext
from cudbound.resampling.folds import draw_folds, fold_training
from cudbound.resampling.settings import Resampling

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.refits import Refit


@dataclass(frozen=True, eq=False)
class ReplacementErrors(Recorded):
    """Cross-validated error of half the data, and with each of its rows replaced by one of the other half.

    Attributes
    ----------
    full : float
        Cross-validated error of all rows.
    half : float
        Cross-validated error of the first half.
    replaced : ndarray of float, shape (n_samples // 2,)
        Cross-validated error of the first half with row l replaced by row l of the second half.
    n_samples, n_folds : int
    remarks : tuple of str
    """

    full: MeanLoss
    half: MeanLoss
    replaced: Means
    n_samples: Size
    n_folds: Size
    remarks: Remarks = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.replaced.size != self.n_samples // 2:
            raise ValueError(
                f"The 'replaced' parameter must contain n_samples // 2 = {self.n_samples // 2} values. "
                f"Got {np.size(self.replaced)} instead."
            )

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return (int(np.size(self.replaced)) + 2) * self.n_folds


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


def count_replacement_folds(sizes: Resampling, n_samples: int) -> int:
    """Return the number of folds K: ``sizes.n_folds``, or as many as half of the rows allow."""
    return min(sizes.n_folds, n_samples // 2)


def count_replacement_fits(sizes: Resampling, n_samples: int) -> int:
    """Return the number of refits in `record_replacements`: (m + 2) K with m = n // 2.

    Examples
    --------
    >>> count_replacement_fits(Resampling(n_folds=10), 30)
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


def record_replacements(context: RefitContext) -> ReplacementErrors:
    """Record the cross-validated error of all rows, of half of them, and with each row of the half replaced.

    ``sizes.n_folds`` is for all rows and for the half; there are fewer folds if the half has fewer rows.

    Raises
    ------
    ValueError
        If there are fewer than four rows.
    """
    n, n_requested = context.n_samples, context.sizes.n_folds
    if n < 4:
        raise ValueError(
            f"Replacing the rows of one half needs at least 4 rows. Got {n}; leave austern-zhou out of the methods."
        )
    n_folds = count_replacement_folds(context.sizes, n)
    # where n is large there are too many training sets to hold at once: their rows of either class stand for them
    (design,), remarks = replace(context, labels=np.unique(context.labels)).draw_parts(
        [lambda: draw_replacements(n, n_folds, context.rng)],
        lambda design: _class_counts(design, context.labels),
        TRAINING_SETS,
    )
    if n_folds != n_requested:
        remarks = (*remarks, f"{n_folds} folds instead of {n_requested}, because a half has {n // 2} rows")
    return measure_replacements(context.refit, design, remarks)


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
    from sklearn.utils import gen_batches

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


REPLACEMENTS = RecordKind(
    "replacements",
    ReplacementErrors,
    "cross-validation with replaced rows",
    refit=record_replacements,
    n_fits=lambda inputs: count_replacement_fits(inputs.sizes, inputs.n_units),
)


#: Factors of n in front of the sum of squares.
FACTORS = {"corrected": 0.25, "as-printed": 0.5}


def austern_zhou_pivot(record: ReplacementErrors, *, factor: str = "corrected") -> Pivot:
    """Normal interval with the variance of cross-validation from replaced training rows.

    Formula: u +/- z(1 - d/2) sqrt(s^2 / n); u is the cross-validated error, s^2 = (n/4) sum over l of (w - w_l)^2,
    with w the cross-validated error of one half of the rows and w_l the same with its row l replaced by a row of the
    other half.
    Assumptions: the learning algorithm is stable and not random; the variance of u is inversely proportional to n.
    Tendency: 5 % test: false rejections up to .010 in 17 settings, with 100 sets each.
    Reference: Austern and Zhou (2020); factor n/4 by Efron and Stein (1981).
    Reference with factor=as-printed: Austern and Zhou (2020).

    By the inequality of Efron and Stein, half the sum bounds the variance on half the rows; the variance on all rows is
    half of that: n/4. Losses that do not depend on the training set show that n/2 doubles it. "s2" is in the details.

    Examples
    --------
    >>> pivot = austern_zhou_pivot(ReplacementErrors(0.25, 0.5, [0.5, 0.25], n_samples=4, n_folds=2))
    >>> round(pivot.standard_error, 3), str(pivot.estimand)
    (0.125, 'expected(n1=2)')
    """
    share = FACTORS[factor]
    changes = record.half - np.asarray(record.replaced, dtype=float)
    constant = float(np.abs(changes).max()) <= EQUAL
    squares = 0.0 if constant else float(np.square(changes).sum())
    return Pivot(
        record.full,
        math.sqrt(share * squares),
        degenerate="replacing a row never changes the cross-validated error" if constant else None,
        estimand=Estimand("expected", record.n_samples * (1.0 - 1.0 / record.n_folds)),
        details={"s2": record.n_samples * share * squares},
    )


AUSTERN_ZHOU = Method(
    "austern-zhou",
    {REPLACEMENTS},
    estimand=EXPECTED,
    cost="(m + 2) K with m = n // 2",
    pivot=of_record(REPLACEMENTS, austern_zhou_pivot),
    options={"factor": Choice(tuple(FACTORS))},
)
