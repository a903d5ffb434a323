"""Losses recorded on bootstrap draws of the training set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cudbound.basis.validation import Array
from cudbound.records.rules import (
    Counts,
    Deviations,
    DrawLosses,
    DrawScoresIfRecorded,
    FitCount,
    Flag,
    MeanLoss,
    Means,
    MeansWithGaps,
    MeansWithGapsIfRecorded,
    NumberOrNan,
    OptimismIfRecorded,
    Recorded,
    Remarks,
    Size,
    check_draws,
    check_ordered,
    check_same,
)


def never_out_of_bag(counts: ArrayLike) -> int:
    """Return the number of points that occur in every draw; `counts` has shape (n_resamples, n_samples)."""
    return int((np.asarray(counts) > 0).all(axis=0).sum())


@dataclass(frozen=True, eq=False)
class BootstrapLosses(Recorded):
    """Losses of the classifiers fitted to bootstrap draws, on all training points.

    Attributes
    ----------
    counts : ndarray of int, shape (n_resamples, n_samples)
        How often each point occurs in each draw.
    losses : ndarray, shape (n_resamples, n_samples)
        Loss of the classifier fitted to the draw, on the point.
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
        Scores or probabilities of the event, from the classifier fitted to the draw; nan if the draw has one class.
        Kept if a metric uses them, 8 bytes each.
    """

    counts: Counts
    losses: DrawLosses
    remarks: Remarks = ()
    no_information: MeansWithGapsIfRecorded = None
    on_draws: MeansWithGapsIfRecorded = None
    uneven: Flag = False
    weighed: Flag = False
    scores: DrawScoresIfRecorded = None
    probabilities: DrawScoresIfRecorded = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_same("shape", counts=self.counts, losses=self.losses)
        check_draws(self.counts, uneven=self.uneven)
        for name in ("no_information", "on_draws"):
            if getattr(self, name) is not None:
                check_same("length", **{"counts": self.counts, name: getattr(self, name)})

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return len(self.counts)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set."""
        return int(np.shape(self.counts)[1])

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
        size = outside.sum(axis=1)
        errors = np.where(outside, self.losses, 0).sum(axis=1)
        return np.asarray(np.divide(errors, size, out=np.full(size.shape, np.nan), where=size > 0))


@dataclass(frozen=True, eq=False)
class InnerErrors(Recorded):
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

    errors: MeansWithGaps
    n_fits: FitCount
    remarks: Remarks = ()
    optimism: OptimismIfRecorded = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.optimism is not None:
            check_same("length", errors=self.errors, optimism=self.optimism)


@dataclass(frozen=True, eq=False)
class RemovedCaseErrors(Recorded):
    """Cross-validated error of bootstrap draws, with all copies of the tested case removed at once.

    Attributes
    ----------
    errors : ndarray of float, shape (n_resamples,)
    leave_one_out : float
        Leave-one-out cross-validated error of the training set itself.
    n_fits : int
    remarks : tuple of str
    """

    errors: Means
    leave_one_out: MeanLoss
    n_fits: FitCount
    remarks: Remarks = ()


@dataclass(frozen=True, eq=False)
class BoundaryDeviations(Recorded):
    """Largest and smallest bootstrap deviation over all classifications of the points near the boundary.

    Attributes
    ----------
    upper, lower : ndarray of float, shape (n_resamples,)
        On the scale of sqrt(n) times the error.
    n_samples : int
    n_fits : int
    remarks : tuple of str
    rate : float
        a_n, which bounds the squared standardized score of near points; nan if it was not recorded.
    n_near : float
        Mean number of near points of a draw; nan if it was not recorded.
    """

    upper: Deviations
    lower: Deviations
    n_samples: Size
    n_fits: FitCount
    remarks: Remarks = ()
    rate: NumberOrNan = np.nan
    n_near: NumberOrNan = np.nan

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ordered(self.lower, self.upper)
