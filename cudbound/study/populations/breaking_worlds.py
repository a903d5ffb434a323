"""Simulated populations in which intervals in use are known to fail: flipped labels, hidden groups, heavy tails."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr

from cudbound.study.populations.gaussian_worlds import Gaussians
from cudbound.study.populations.simulated import Array, ContinuousWorld, Labels, check_features, check_share
from cudbound.validation import check_number


@dataclass(frozen=True)
class FlippedLabels(Gaussians):
    """Two Gaussians far apart, with some labels exchanged: most small samples look separable, and none is.

    Parameters
    ----------
    distance, n_features, n_signal, positive_share, positive_sd
        As of `Gaussians`.
    flip_rate : float, default=0.03
        Share of the cases of either class that carry the label of the other; strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> world = FlippedLabels(n_features=1)
    >>> round(world.linear_error(np.array([1.0]), 0.0), 6)  # .03 + .94 Phi(-3)
    0.031269
    """

    distance: float = 6.0
    flip_rate: float = 0.03
    name: ClassVar[str] = "flipped-labels"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("flip_rate", self.flip_rate)

    def _cases(self) -> str:
        return f"{super()._cases()}, {self.flip_rate:.0%} of the labels flipped"

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        X, labels = super().sample(n, rng)
        return X, np.where(rng.random(n) < self.flip_rate, 1 - labels, labels)

    def sample_patients(
        self, patient: NDArray[np.int64], within: float, rng: np.random.Generator
    ) -> tuple[Array, Labels]:
        """Return features and labels of patients with several rows; the labels of a patient are flipped together."""
        X, labels = super().sample_patients(patient, within, rng)
        flipped = rng.random(int(patient[-1]) + 1) < self.flip_rate
        return X, np.where(flipped[patient], 1 - labels, labels)

    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of a linear rule: wrong on its own label or right on a flipped one."""
        own = super().linear_error(coef, intercept)
        return (1.0 - self.flip_rate) * own + self.flip_rate * (1.0 - own)


@dataclass(frozen=True)
class HiddenSubgroup(Gaussians):
    """Two Gaussians, and a part of class 1 that looks like class 0: few small samples show that it is there.

    Parameters
    ----------
    distance, n_features, n_signal, positive_share, positive_sd
        As of `Gaussians`.
    subgroup_share : float, default=0.1
        Share of class 1 whose features have the mean of class 0; strictly between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> world = HiddenSubgroup(n_features=1)
    >>> round(world.linear_error(np.array([1.0]), 0.0), 6)  # .5 Phi(-2.5) + .45 Phi(-2.5) + .05 Phi(2.5)
    0.055589
    """

    distance: float = 5.0
    subgroup_share: float = 0.1
    name: ClassVar[str] = "hidden-subgroup"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("subgroup_share", self.subgroup_share)

    def _cases(self) -> str:
        return f"{super()._cases()}, {self.subgroup_share:.0%} of them where the others are"

    @cached_property
    def _mixture(self) -> tuple[Array, Labels, Array, Array]:
        shares, labels, means, sds = super()._mixture
        positive = labels == 1
        hidden = shares[positive] * self.subgroup_share
        return (
            np.append(np.where(positive, shares * (1.0 - self.subgroup_share), shares), hidden),
            np.append(labels, labels[positive]),
            np.vstack([means, -means[positive]]),
            np.append(sds, sds[positive]),
        )


@dataclass(frozen=True)
class RareClass(Gaussians):
    """Two Gaussians, one case in ten positive: a sample of thirty has three."""

    distance: float = 2.0
    positive_share: float = 0.1
    name: ClassVar[str] = "rare-class"


class _TwoCenters(ContinuousWorld):
    """Classes of equal size around centers at plus and minus half the distance, with noise of one distribution."""

    distance: float
    n_signal: int

    def __post_init__(self) -> None:
        check_number("distance", self.distance, 0.0, 100.0)
        check_features(self.n_features, self.n_signal)

    @abstractmethod
    def _noise(self, n: int, rng: np.random.Generator) -> Array:
        """Return noise of n cases, shape (n, n_features)."""

    @abstractmethod
    def _tail(self, coef: Array, scores: Array) -> Array:
        """Return the probabilities that the noise has scores below these under a linear rule."""

    @cached_property
    def _center(self) -> Array:
        center = np.zeros(self.n_features)
        center[: self.n_signal] = 0.5 * self.distance / math.sqrt(self.n_signal)
        return center

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        labels = rng.integers(0, 2, n)
        return (2 * labels - 1)[:, None] * self._center + self._noise(n, rng), labels

    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of a linear rule: the mean of two tail areas."""
        shift = float(self._center @ coef)
        return float(self._tail(coef, np.array([intercept - shift, -intercept - shift])).mean())


@dataclass(frozen=True)
class HeavyTails(_TwoCenters):
    """Two classes of spherical t distributions: with two degrees of freedom the features have no variance.

    Parameters
    ----------
    distance : float, default=3.0
        Between the centers of the classes, in units of the scale; in [0, 100).
    df : float, default=2.0
        Degrees of freedom, in [0.5, 1000).
    n_features : int, default=3
    n_signal : int, default=1
        Features on which the centers differ, all by the same amount.

    Examples
    --------
    >>> import numpy as np
    >>> round(HeavyTails().linear_error(np.array([1.0, 0.0, 0.0]), 0.0), 6)  # P(t_2 < -1.5)
    0.136197
    """

    distance: float = 3.0
    df: float = 2.0
    n_features: int = 3
    n_signal: int = 1
    name: ClassVar[str] = "heavy-tails"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("df", self.df, 0.5, 1000.0)

    def _cases(self) -> str:
        return (
            f"two classes of t distributions with {self.df:g} degrees of freedom, {self.distance:g} apart in "
            f"{self.n_signal} of {self.n_features} features"
        )

    def _noise(self, n: int, rng: np.random.Generator) -> Array:
        spread = np.sqrt(self.df / rng.chisquare(self.df, n))
        return np.asarray(rng.standard_normal((n, self.n_features)) * spread[:, None])

    def _tail(self, coef: Array, scores: Array) -> Array:
        return np.asarray(stdtr(self.df, scores / _length(coef)))


@dataclass(frozen=True)
class Correlated(_TwoCenters):
    """Two Gaussians with correlated features, nearly as many as thirty cases.

    Parameters
    ----------
    distance : float, default=2.0
        Between the class means, in standard deviations of a feature; in [0, 100).
    n_features : int, default=27
    n_signal : int, default=5
        Features on which the means differ, all by the same amount.
    correlation : float, default=0.7
        Of neighboring features, in [0, 1); features j and k have that to the power abs(j - k).

    Examples
    --------
    >>> import numpy as np
    >>> world = Correlated(distance=2.0, n_features=2, n_signal=1, correlation=0.5)
    >>> round(world.linear_error(np.array([1.0, 0.0]), 0.0), 6)  # Phi(-1)
    0.158655
    """

    distance: float = 2.0
    n_features: int = 27
    n_signal: int = 5
    correlation: float = 0.7
    name: ClassVar[str] = "correlated"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("correlation", self.correlation, 0.0, 1.0)

    def _cases(self) -> str:
        return (
            f"two Gaussians {self.distance:g} apart in {self.n_signal} of {self.n_features} features, neighbors "
            f"correlated by {self.correlation:g}"
        )

    @cached_property
    def _root(self) -> Array:
        apart = np.abs(np.subtract.outer(np.arange(self.n_features), np.arange(self.n_features)))
        return np.asarray(np.linalg.cholesky(float(self.correlation) ** apart))

    def _noise(self, n: int, rng: np.random.Generator) -> Array:
        return np.asarray(rng.standard_normal((n, self.n_features)) @ self._root.T)

    def _tail(self, coef: Array, scores: Array) -> Array:
        return np.asarray(ndtr(scores / _length(self._root.T @ coef)))


def _length(coef: Array) -> float:
    """Return the length of coefficients; 0 would turn a certain prediction into nan."""
    return max(math.sqrt(coef @ coef), 1e-250)
