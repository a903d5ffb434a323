"""The records that several methods read: outputs of refits on bootstrap draws, folds, splits and test sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.results import TestedRows
from cudbound.basis.validation import Array
from cudbound.records import rules


def never_out_of_bag(counts: ArrayLike) -> int:
    """Return the number of points that occur in every draw; `counts` has shape (n_resamples, n_samples)."""
    return int((np.asarray(counts) > 0).all(axis=0).sum())


def leave_one_out_bootstrap_error(
    losses: ArrayLike, counts: ArrayLike, sizes: ArrayLike | None = None
) -> Array:
    """Leave-one-out bootstrap error: mean over points of their mean loss over the draws that left them out.

    Parameters
    ----------
    losses : array-like, shape (..., n_resamples, n_samples)
        Loss on the point of the classifier fitted to the draw: 0 or 1, or a difference of losses.
    counts : array-like of int, shape (..., n_resamples, n_samples)
        How often the point occurs in the draw; the point is out of bag where this is 0.
    sizes : array-like of int, shape (..., n_samples), default=None
        Rows of each point, where points are groups of rows and `losses` the sums over them; None means 1.

    Returns
    -------
    ndarray of float, shape (...)
        Mean losses over the points that at least one draw leaves out; nan if there is no such point.

    References
    ----------
    Efron, B. and Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method. JASA
    92, 548-560.

    Examples
    --------
    >>> leave_one_out_bootstrap_error([[1, 0, 0], [1, 0, 1]], [[0, 2, 1], [0, 3, 0]])
    array(1.)
    """
    out_of_bag = np.asarray(counts) == 0
    times_out = out_of_bag.sum(axis=-2)
    errors = (np.asarray(losses) * out_of_bag).sum(axis=-2)
    per_point = np.divide(errors, times_out, out=np.zeros(errors.shape), where=times_out > 0)
    rows = times_out > 0 if sizes is None else (times_out > 0) * np.asarray(sizes)
    return ratio_or_nan(per_point.sum(axis=-1), rows.sum(axis=-1))


def no_information_error(positive: ArrayLike, predicted_positive: ArrayLike) -> Any:
    """Return the no-information error gamma: the error if labels and predictions were independent.

    It is the mean loss over all n^2 pairs of a training row's prediction and a training row's label.

    Parameters
    ----------
    positive : array-like of float
        Share p of the training rows of the class +1, in [0, 1].
    predicted_positive : array-like of float
        Share q of the training rows that the classifier fitted to all of them predicts as +1, in [0, 1].

    Returns
    -------
    float or ndarray of float
        p (1 - q) + (1 - p) q, elementwise.

    References
    ----------
    Efron and Tibshirani (1997), section 3.

    Examples
    --------
    >>> float(no_information_error(0.25, 0.5))
    0.5
    """
    p, q = np.asarray(positive, dtype=float), np.asarray(predicted_positive, dtype=float)
    return p * (1.0 - q) + (1.0 - p) * q


def ratio_or_nan(total: ArrayLike, number: ArrayLike) -> Array:
    """Return total / number, or nan if the number is 0."""
    return np.asarray(
        np.divide(total, number, out=np.full(np.shape(total), np.nan), where=np.asarray(number) > 0)
    )


@dataclass(frozen=True, eq=False)
class MeansOfRefits(rules.Recorded):
    """Means of losses, each with a fit."""

    means: Array

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return int(np.size(self.means))


@dataclass(frozen=True, eq=False)
class BootstrapLosses(rules.Recorded):
    """Losses or scores, on all training points, of the classifiers fitted to bootstrap draws.

    Attributes
    ----------
    counts : ndarray of int, shape (n_resamples, n_samples)
        How often each point occurs in each draw.
    losses : ndarray, shape (n_resamples, n_samples), or None
        Loss of the classifier fitted to the draw, on the point; None if scores are recorded alone.
    remarks : tuple of str
        Changes to draws that could not be used as drawn.
    no_information : ndarray of float, shape (n_resamples,), or None
        No-information error of each draw, from the classes in the draw and those that its classifier predicts there;
        None if it was not recorded.
    on_draws : ndarray of float, shape (n_resamples,), or None
        Mean loss of each draw's classifier on its own draw for weighted rows; None means the plain mean.
    uneven : bool, default=False
        Whether draws may have more or fewer rows than the training set: draws of whole groups, or with rows omitted.
    weighed : bool, default=False
        Whether the losses include row weights, so only their mean is in [0, 1].
    scores, probabilities : ndarray of float, shape (n_resamples, n_samples), or None
        Scores (larger ones favor the event) or probabilities of the event, from the classifier fitted to the draw; nan
        if the draw has one class. Kept if a metric uses them: 1.6 MB for 1,000 draws of 200 rows.
    n_fits, n_samples : int
        Number of classifier fits behind the record, and of rows of the training set.
    """

    counts: rules.Counts
    losses: rules.DrawLosses = None
    remarks: rules.Remarks = ()
    no_information: rules.MeansWithGaps | None = None
    on_draws: rules.MeansWithGaps | None = None
    uneven: rules.Flag = False
    weighed: rules.Flag = False
    scores: rules.DrawScores = None
    probabilities: rules.DrawProbabilities = None
    n_fits: int = field(init=False, repr=False)
    n_samples: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, size in zip(("n_fits", "n_samples"), self.counts.shape, strict=True):
            object.__setattr__(self, name, size)
        rules.check_outputs(self, counts=self.counts)
        rules.check_draws(self.counts, uneven=self.uneven)
        for name in ("no_information", "on_draws"):
            if getattr(self, name) is not None:
                rules.check_same("length", **{"counts": self.counts, name: getattr(self, name)})

    @property
    def resubstitution(self) -> Array:
        """Error of each draw's classifier on its own draw, shape (n_resamples,)."""
        if self.on_draws is not None:
            return self.on_draws
        return np.asarray((self.counts * self.losses).sum(axis=1) / self.counts.sum(axis=1))

    @property
    def out_of_bag(self) -> Array:
        """Error of each draw's classifier on the points outside its draw; nan if there is none."""
        outside = self.counts == 0
        return ratio_or_nan(np.where(outside, self.losses, 0).sum(axis=1), outside.sum(axis=1))


@dataclass(frozen=True, eq=False)
class InnerErrors(rules.Recorded):
    """Err(1) of every bootstrap draw, treated as a training set and bootstrapped again.

    Attributes
    ----------
    errors : ndarray of float, shape (n_resamples,)
        nan if no inner draw left a point out.
    n_fits : int
        Number of classifier fits behind them.
    remarks : tuple of str
    optimism : ndarray of float, shape (n_resamples,), or None
        Optimism of every bootstrap draw: mean over its inner draws of the error of their classifiers on the draw minus
        that on the inner draw; None if it was not recorded.
    """

    errors: rules.MeansWithGaps
    n_fits: rules.FitCount
    remarks: rules.Remarks = ()
    optimism: rules.Optimism | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.optimism is not None:
            rules.check_same("length", errors=self.errors, optimism=self.optimism)


@dataclass(frozen=True, eq=False)
class FoldLosses(rules.Recorded):
    """Cross-validated losses or scores on one partition of the rows into folds.

    Attributes
    ----------
    losses : ndarray, shape (n_samples,), or None
        Loss of the classifier fitted without the fold of the row, on the row; None if scores are recorded alone.
    fold : ndarray of int, shape (n_samples,)
        Which fold the row belongs to, numbered from 0.
    remarks : tuple of str
    weighed : bool, default=False
        Whether the losses include row weights, so only their mean is in [0, 1].
    scores, probabilities : ndarray of float, shape (n_samples,), or None
        Scores or probabilities of the event, from the classifier fitted without the fold of the row; nan if it was
        fitted to one class. Kept if a metric uses them.
    n_train_of_all : float or None, default=None
        Mean number of training rows, if losses are kept for some of the rows only.
    n_folds, n_fits : int
        Number of folds K, each with a fit.
    n_samples : int
        Number of rows of the training set.
    """

    losses: rules.RowLosses
    fold: rules.RowNumbers
    remarks: rules.Remarks = ()
    weighed: rules.Flag = False
    scores: rules.RowScores = None
    probabilities: rules.RowProbabilities = None
    n_train_of_all: float | None = None
    n_folds: int = field(init=False, repr=False)
    n_fits: int = field(init=False, repr=False)
    n_samples: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        rules.check_outputs(self, fold=self.fold)
        numbers = np.unique(self.fold)
        if numbers.size < 2 or numbers[-1] != numbers.size - 1:
            raise ValueError(
                "The 'fold' parameter must number at least two folds 0, 1, 2, ... without gaps. "
                f"Got the numbers {numbers[:10].tolist()} instead."
            )
        object.__setattr__(self, "n_folds", numbers.size)
        object.__setattr__(self, "n_fits", numbers.size)
        object.__setattr__(self, "n_samples", self.fold.size)

    @classmethod
    def from_blocks(cls, blocks: Sequence[ArrayLike]) -> FoldLosses:
        """Build the record from one array of losses per fold.

        Examples
        --------
        >>> FoldLosses.from_blocks([[1, 0, 0], [0, 1, 0]]).means.round(3).tolist()
        [0.333, 0.333]
        """
        arrays = [rules.numeric(f"blocks[{number}]", block, 1) for number, block in enumerate(blocks)]
        if len(arrays) < 2:
            raise ValueError(
                f"The 'blocks' parameter must contain at least two folds. Got {len(arrays)} instead."
            )
        return cls(
            np.concatenate(arrays), np.repeat(np.arange(len(arrays)), [array.size for array in arrays])
        )

    @property
    def n_train(self) -> float:
        """Mean number of training rows over the folds.

        Examples
        --------
        >>> FoldLosses.from_blocks([[1, 0, 0], [0, 1, 0]]).n_train
        3.0
        """
        mean = self.n_samples * (1.0 - 1.0 / self.n_folds)
        return mean if self.n_train_of_all is None else self.n_train_of_all

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each fold, shape (n_folds,)."""
        return np.bincount(self.fold)

    @property
    def means(self) -> Array:
        """Mean loss of each fold, shape (n_folds,)."""
        return np.asarray(np.bincount(self.fold, weights=self.losses) / self.sizes)


@dataclass(frozen=True, eq=False)
class RepeatedFoldLosses(rules.Recorded):
    """Cross-validated losses or scores on several partitions of the same rows.

    Attributes
    ----------
    partitions : tuple of FoldLosses
        At least one.
    remarks : tuple of str
    n_fits, n_samples : int
        Number of classifier fits behind the record, and of rows of the training set.
    """

    partitions: tuple[FoldLosses, ...]
    remarks: rules.Remarks = ()
    n_fits: int = field(init=False, repr=False)
    n_samples: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = {folds.n_samples for folds in self.partitions}
        if len(sizes) != 1:
            rule = "one FoldLosses or more, all of the same rows"
            raise ParameterError("partitions", rule, f"{sorted(sizes)} rows")
        object.__setattr__(self, "n_fits", sum(folds.n_fits for folds in self.partitions))
        object.__setattr__(self, "n_samples", sizes.pop())


#: The methods of 5x2 cross-validation are defined for this many halvings; their degrees of freedom follow from it.
N_HALVINGS = 5


@dataclass(frozen=True, eq=False)
class SplitLosses(MeansOfRefits):
    """Mean losses on the test sets of random splits, or of the folds of cross-validation.

    Attributes
    ----------
    means : ndarray of float, shape (n_splits,)
        Mean loss on each test set.
    n_train, n_test : float
        Number of rows of a training and of a test set; means over the splits if they differ.
    remarks : tuple of str
    """

    means: rules.Means
    n_train: rules.MeanSize
    n_test: rules.MeanSize
    remarks: rules.Remarks = ()


@dataclass(frozen=True, eq=False)
class HalvingLosses(MeansOfRefits):
    """Mean losses of two-fold cross-validation, repeated: each half is the test set of the other.

    Attributes
    ----------
    means : ndarray of float, shape (n_halvings, 2)
        Mean loss on the second half after training on the first, and vice versa.
    n_train : int
        Rows of a half.
    remarks : tuple of str
    """

    means: rules.PairsOfMeans
    n_train: rules.Size
    remarks: rules.Remarks = ()


@dataclass(frozen=True, eq=False)
class TestSetLosses(rules.Recorded):
    """Losses or scores of one classifier on a test set.

    Attributes
    ----------
    losses : ndarray, shape (n_tested,), or None
        None if scores are recorded alone.
    n_train : int
        Rows that the classifier was fitted to.
    estimand : {"holdout-model", "conditional"}
        "conditional" if the classifier is the given one and the test set is new, "holdout-model" if it was fitted to
        the rest of the training set.
    remarks : tuple of str
    event : ndarray of bool, shape (n_tested,), or None
        Which of the tested rows are events; None if this was not recorded, or there are more than two classes.
    class_numbers : ndarray of int, shape (n_tested,), or None
        The class of each tested row, for more than two classes.
    effective_rows : float
        Effective sample size: number of equally weighted rows with the same information; nan if it is the number of
        rows.
    weighed : bool, default=False
        Whether the losses include row weights, so only their mean is in [0, 1].
    scores, probabilities : ndarray of float, shape (n_tested,), or None
        Scores or probabilities of the event. Kept if a metric uses them.
    """

    __test__ = False  # the name is not a test for pytest

    losses: rules.RowLosses
    n_train: rules.Size
    estimand: str = "holdout-model"
    remarks: rules.Remarks = ()
    event: rules.Flags | Any = None
    effective_rows: rules.NumberOrNan = np.nan
    weighed: rules.Flag = False
    scores: rules.RowScores = None
    probabilities: rules.RowProbabilities = None
    class_numbers: rules.RowNumbers | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        rules.check_outputs(self, **({} if self.event is None else {"event": self.event}))
        if self.estimand not in ("holdout-model", "conditional"):
            raise ParameterError("estimand", "'holdout-model' or 'conditional'", self.estimand)

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return 0 if self.estimand == "conditional" else 1

    @property
    def n_tested(self) -> int:
        """Number of tested rows."""
        outputs = (self.losses, self.scores, self.probabilities)
        return int(next(output.size for output in outputs if output is not None))

    @property
    def n_effective(self) -> float:
        """Number of equally weighted rows: by default the number of tested rows."""
        return float(self.n_tested) if np.isnan(self.effective_rows) else self.effective_rows

    def events_of(self, event_class: int | None = None) -> NDArray[np.bool_] | None:
        """Return which rows are events, or belong to one of more than two classes; None if unknown."""
        if self.class_numbers is None or event_class is None:
            return self.event
        return np.asarray(self.class_numbers == event_class)

    def rows_of(self, event_class: int | None = None) -> TestedRows:
        """Return what is known of the tested rows; `event_class` is that of a metric of one of several classes."""
        classes = self.event if self.class_numbers is None else self.class_numbers
        tested = TestedRows.of(self.n_tested, self.events_of(event_class), self.estimand)
        if classes is None:
            return tested
        return replace(tested, majority_error=1.0 - float(np.bincount(classes).max()) / tested.n)


@dataclass(frozen=True, eq=False)
class Design(rules.Recorded):
    """The rank of the matrix that reached the classifier, for all rows regardless of the metric.

    Attributes
    ----------
    n_rows : int
        Number of rows of the training set.
    rank : float, default=nan
        Rank of the matrix, including the column of ones of a fitted intercept; nan if the classifier has no linear
        form, or if the rank is unknown.
    n_groups : int or None, default=None
        Number of groups of rows; None without groups.
    """

    n_rows: rules.Size
    rank: rules.NumberOrNan = np.nan
    n_groups: int | None = None
