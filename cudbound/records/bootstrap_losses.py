"""Losses recorded on bootstrap draws of the training set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.validation import Array, Losses, checked


def never_out_of_bag(counts: ArrayLike) -> int:
    """Return the number of points that occur in every draw; `counts` has shape (n_resamples, n_samples)."""
    return int((np.asarray(counts) > 0).all(axis=0).sum())


@dataclass(frozen=True, eq=False)
class BootstrapLosses:
    """Losses of the classifiers fitted to bootstrap draws, on all training points.

    Attributes
    ----------
    counts : ndarray of int, shape (n_resamples, n_samples)
        How often each point occurs in each draw.
    losses : ndarray, shape (n_resamples, n_samples)
        Loss on the point of the classifier fitted to the draw.
    remarks : tuple of str
        What happened to draws that could not be used as drawn.
    no_information : ndarray of float, shape (n_resamples,), or None
        No-information error of each draw: of the classes in the draw and those that its classifier gives to the draw;
        None if it was not recorded.
    on_draws : ndarray of float, shape (n_resamples,), or None
        Mean loss of each draw's classifier on its own draw where the rows are weighted; None takes the plain mean.
    """

    counts: NDArray[np.int32]
    losses: Losses
    remarks: tuple[str, ...] = ()
    no_information: Array | None = None
    on_draws: Array | None = None

    def __post_init__(self) -> None:
        checked("counts", self.counts, 2)
        if checked("losses", self.losses, 2).shape != np.shape(self.counts):
            raise ValueError(
                "'counts' and 'losses' must have the same shape. "
                f"Got {np.shape(self.counts)} and {np.shape(self.losses)}."
            )

    @property
    def n_fits(self) -> int:
        """Classifier fits behind the record."""
        return len(self.counts)

    @property
    def n_samples(self) -> int:
        """Rows of the training set."""
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
class InnerErrors:
    """Err(1) of every bootstrap draw, treated as a training set and bootstrapped again.

    Attributes
    ----------
    errors : ndarray of float, shape (n_resamples,)
        nan where no inner draw left a point out.
    n_fits : int
        Classifier fits behind them.
    remarks : tuple of str
    optimism : ndarray of float, shape (n_resamples,), or None
        Of every bootstrap draw: mean over its inner draws of the error of their classifiers on the draw minus that on
        the inner draw; None if it was not recorded.
    """

    errors: Array
    n_fits: int
    remarks: tuple[str, ...] = ()
    optimism: Array | None = None


@dataclass(frozen=True, eq=False)
class RemovedCaseErrors:
    """Cross-validated error of bootstrap draws, all copies of the tested case being removed at once.

    Attributes
    ----------
    errors : ndarray of float, shape (n_resamples,)
    leave_one_out : float
        Leave-one-out cross-validated error of the training set itself.
    n_fits : int
    remarks : tuple of str
    """

    errors: Array
    leave_one_out: float
    n_fits: int
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked("errors", self.errors, 1)


@dataclass(frozen=True, eq=False)
class BoundaryDeviations:
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

    upper: Array
    lower: Array
    n_samples: int
    n_fits: int
    remarks: tuple[str, ...] = ()
    rate: float = np.nan
    n_near: float = np.nan

    def __post_init__(self) -> None:
        upper, lower = checked("upper", self.upper, 1), checked("lower", self.lower, 1)
        if upper.shape != lower.shape or (upper < lower).any():
            raise ValueError(
                "'upper' and 'lower' must have the same length, and no value of 'upper' may be below that of 'lower'. "
                f"Got {upper.size} and {lower.size} values, {int((upper < lower).sum())} of them below."
                if upper.shape == lower.shape
                else f"'upper' and 'lower' must have the same length. Got {upper.size} and {lower.size} values."
            )


@dataclass(frozen=True, eq=False)
class SignedSuprema:
    """How much lower the error of a nearby classifier can be on a draw than on the training set.

    The value of a draw b is the supremum over classifiers of (error - error_b)_+ g(alpha (L_b(fitted) - L_b)), with the
    error on the training set, the error and the mean loss on the draw, and g(u) = clip(1 + u, 0, 1): the side of the
    CUD bound that says how far the training error is too low.

    Attributes
    ----------
    n_samples : int
        Rows of the training set.
    rank : int
        Rank of the design with its intercept.
    upper : ndarray of float, shape (n_resamples,), or None
        Upper bounds on the suprema; None where they were not computed.
    lower : ndarray of float, shape (n_resamples,), or None
        Lower bounds; None means that `upper` is exact.
    remarks : tuple of str
    """

    n_samples: int
    rank: int
    upper: Array | None = None
    lower: Array | None = None
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.rank < 1 or self.n_samples < 1:
            raise ValueError(
                f"'rank' and 'n_samples' must be at least 1. Got {self.rank!r} and {self.n_samples!r} instead."
            )
        if self.upper is not None:
            upper = checked("upper", self.upper, 1)
            lower = np.zeros_like(upper) if self.lower is None else checked("lower", self.lower, 1)
            if lower.shape != upper.shape or (lower > upper).any() or (lower < 0.0).any():
                raise ValueError(
                    "'lower' and 'upper' must have the same length, no value of 'lower' being negative or above that "
                    f"of 'upper'. Got {lower.size} and {upper.size} values."
                )

    @property
    def n_fits(self) -> int:
        """Classifier fits behind the record."""
        return 0
