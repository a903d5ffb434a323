"""Recorded losses: what the interval methods read, whoever made the fits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class BootstrapLosses:
    """Losses of the classifiers fitted to bootstrap draws, on all training points.

    Attributes
    ----------
    counts : ndarray of int, shape (n_resamples, n_samples)
        How often each point stands in each draw.
    losses : ndarray of bool, shape (n_resamples, n_samples)
        Whether the classifier fitted to the draw misclassifies the point.
    remarks : tuple of str
        What happened to draws that could not be used as they fell.
    """

    counts: NDArray[np.int32]
    losses: Bools
    remarks: tuple[str, ...] = ()

    @property
    def resubstitution(self) -> Array:
        """Error of each draw's classifier on its own draw, shape (n_resamples,)."""
        return np.asarray((self.counts * self.losses).sum(axis=1) / self.counts.sum(axis=1))

    @property
    def out_of_bag(self) -> Array:
        """Error of each draw's classifier on the points outside its draw; nan if there is none."""
        outside = self.counts == 0
        size = outside.sum(axis=1)
        errors = (outside & self.losses).sum(axis=1)
        return np.asarray(np.divide(errors, size, out=np.full(size.shape, np.nan), where=size > 0))


@dataclass(frozen=True)
class InnerErrors:
    """Err(1) of every bootstrap draw, taken as a training set of its own and bootstrapped again.

    Attributes
    ----------
    errors : ndarray of float, shape (n_resamples,)
        nan where no inner draw left a point out.
    n_fits : int
        Classifier fits behind them.
    remarks : tuple of str
    """

    errors: Array
    n_fits: int
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoldLosses:
    """Cross-validated losses.

    Attributes
    ----------
    losses : ndarray of bool, shape (n_samples,)
        Whether the classifier fitted without the point's fold misclassifies the point.
    n_folds : int
    remarks : tuple of str
    """

    losses: Bools
    n_folds: int
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Records:
    """What has been recorded on one training set; the interval methods read it and nothing else.

    Attributes
    ----------
    losses : ndarray of bool, shape (n_samples,)
        Whether the classifier fitted to the whole training set misclassifies each of its points.
    bootstrap : BootstrapLosses or None
    inner : InnerErrors or None
        None also stands for the out-of-bag variant of the bootstrap intervals, which needs no inner draws.
    folds : FoldLosses or None
    bound : object or None
        The `cudbound.CudResult` on the same draws.
    """

    losses: Bools
    bootstrap: BootstrapLosses | None = None
    inner: InnerErrors | None = None
    folds: FoldLosses | None = None
    bound: Any = field(default=None, repr=False)

    @property
    def n_samples(self) -> int:
        """Rows of the training set."""
        return int(self.losses.size)
