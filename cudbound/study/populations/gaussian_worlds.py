"""Simulated populations of normal classes, on which a linear rule is the best or nearly so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from cudbound.study.populations.population import Truth
from cudbound.study.populations.simulated import (
    ALWAYS_EXACT,
    BY_FORMULA,
    Array,
    ContinuousWorld,
    Labels,
    check_features,
    check_share,
)
from cudbound.validation import check_number


class MixtureWorld(ContinuousWorld):
    """Two classes, each of one or two spherical normal components; parameters that a world lacks are as here."""

    distance = 0.0
    n_signal = 1
    positive_share = 0.5
    positive_sd = 1.0
    outlier_share = 0.0
    outlier_sd = 1.0

    def __post_init__(self) -> None:
        check_number("distance", self.distance, 0.0, 100.0)
        check_features(self.n_features, self.n_signal)
        check_share("positive_share", self.positive_share)
        check_number("positive_sd", self.positive_sd, 0.01, 100.0)

    @cached_property
    def _mixture(self) -> tuple[Array, Labels, Array, Array]:
        """Shares (k,), labels (k,), means (k, p) and standard deviations (k,) of the components.

        The means are at plus and minus half the distance along the diagonal of the features with signal.
        """
        center = np.zeros(self.n_features)
        center[: self.n_signal] = 0.5 * self.distance / math.sqrt(self.n_signal)
        components = [
            (share * part, label, (2 * label - 1) * center, spread * sd)
            for label, share, sd in (
                (0, 1.0 - self.positive_share, 1.0),
                (1, self.positive_share, self.positive_sd),
            )
            for part, spread in ((1.0 - self.outlier_share, 1.0), (self.outlier_share, self.outlier_sd))
            if part > 0.0
        ]
        shares, labels, means, sds = map(np.array, zip(*components, strict=True))
        return shares, labels, means, sds

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        return self._rows(self._parts(n, rng), rng.standard_normal((n, self.n_features)))

    def sample_patients(
        self, patient: NDArray[np.int64], within: float, rng: np.random.Generator
    ) -> tuple[Array, Labels]:
        """Return features and labels of patients with several rows, each of which alone is a case of this world.

        Parameters
        ----------
        patient : ndarray of int, shape (n,)
            Number of the patient of each row, from 0 up, ascending.
        within : float
            Share of the variance of every feature around the center of its component that the rows of a patient have
            in common. Component and label are those of the patient.
        rng : numpy.random.Generator
        """
        n_patients = int(patient[-1]) + 1
        parts = self._parts(n_patients, rng)[patient]
        common = rng.standard_normal((n_patients, self.n_features))[patient]
        own = rng.standard_normal((patient.size, self.n_features))
        return self._rows(parts, math.sqrt(within) * common + math.sqrt(1.0 - within) * own)

    def _parts(self, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw the components of n cases."""
        shares, *_ = self._mixture
        return np.searchsorted(np.cumsum(shares)[:-1], rng.random(n), side="right")

    def _rows(self, part: NDArray[np.intp], noise: Array) -> tuple[Array, Labels]:
        _, labels, means, sds = self._mixture
        return means[part] + sds[part, None] * noise, labels[part]

    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of a linear rule: a sum of normal tail areas over the components."""
        shares, labels, means, sds = self._mixture
        towards_own_class = (2 * labels - 1) * (means @ coef + intercept)
        length = max(math.sqrt(coef @ coef), 1e-250)  # 0 would turn a certain prediction into nan
        return float(shares @ ndtr(-towards_own_class / (sds * length)))


@dataclass(frozen=True)
class Gaussians(MixtureWorld):
    """Two normal classes; with equal covariances the best rule is linear.

    Parameters
    ----------
    distance : float, default=1.6
        Between the class means, in standard deviations of class 0; in [0, 100). With classes of equal size and
        covariance the smallest error of any classifier is Phi(-distance / 2).
    n_features : int, default=3
    n_signal : int, default=1
        Features on which the means differ, all by the same amount.
    positive_share : float, default=0.5
        Share of class 1, strictly between 0 and 1.
    positive_sd : float, default=1.0
        Standard deviation of every feature of class 1, in [0.01, 100); that of class 0 is 1. With another than 1 the
        best rule is quadratic.

    Examples
    --------
    >>> import numpy as np
    >>> world = Gaussians(distance=2.0, n_features=2)
    >>> round(world.linear_error(np.array([1.0, 0.0]), 0.0), 6)  # Phi(-1)
    0.158655
    """

    distance: float = 1.6
    n_features: int = 3
    n_signal: int = 1
    positive_share: float = 0.5
    positive_sd: float = 1.0

    name: ClassVar[str] = "gaussians"

    def _cases(self) -> str:
        spread = "" if self.positive_sd == 1.0 else f", these with SD {self.positive_sd:g}"
        return (
            f"two Gaussians {self.distance:g} apart in {self.n_signal} of {self.n_features} features, "
            f"{self.positive_share:.0%} positive{spread}"
        )


@dataclass(frozen=True)
class NearSeparable(Gaussians):
    """Two Gaussians so far apart that most small samples are separable: the smallest error is Phi(-2.5) = .0062."""

    distance: float = 5.0

    name: ClassVar[str] = "near-separable"


@dataclass(frozen=True)
class Imbalanced(Gaussians):
    """Two Gaussians, one case in five positive."""

    positive_share: float = 0.2

    name: ClassVar[str] = "imbalanced"


@dataclass(frozen=True)
class Wide(Gaussians):
    """Two Gaussians with as many features as half of fifty cases, five of them with signal."""

    distance: float = 2.0
    n_features: int = 25
    n_signal: int = 5

    name: ClassVar[str] = "wide"


@dataclass(frozen=True)
class Noise(MixtureWorld):
    """Labels that do not depend on the normal features.

    Parameters
    ----------
    n_features : int, default=3
    positive_share : float, default=0.5
        Strictly between 0 and 1; with 0.5 the true error of every classifier is exactly 0.5.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> Noise().true_error(DummyClassifier().fit([[0.0] * 3] * 3, [0, 1, 1]))
    Truth(value=0.5, standard_error=0.0)
    """

    n_features: int = 3
    positive_share: float = 0.5

    name: ClassVar[str] = "noise"

    def _cases(self) -> str:
        return f"{self.n_features} features of pure noise, {self.positive_share:.0%} positive"

    def _truth(self) -> str:
        return ALWAYS_EXACT if self.positive_share == 0.5 else BY_FORMULA

    def true_error(self, classifier: Any) -> Truth:
        """Return the error: one half, or as for any other world where one class is the larger."""
        return Truth(0.5) if self.positive_share == 0.5 else super().true_error(classifier)


@dataclass(frozen=True)
class Outliers(MixtureWorld):
    """Two Gaussians of equal size, some cases of each with a larger spread around the same mean.

    Parameters
    ----------
    distance : float, default=1.6
        Between the class means, in standard deviations of the clean cases; in [0, 100).
    n_features : int, default=3
    n_signal : int, default=1
        Features on which the means differ.
    outlier_share : float, default=0.1
        Of each class, strictly between 0 and 1.
    outlier_sd : float, default=5.0
        Standard deviation of the outliers in every feature, in [1, 1000).

    References
    ----------
    Tukey, J. W. (1960). A survey of sampling from contaminated distributions. In Contributions to Probability and
    Statistics, 448-485.
    """

    distance: float = 1.6
    n_features: int = 3
    n_signal: int = 1
    outlier_share: float = 0.1
    outlier_sd: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share("outlier_share", self.outlier_share)
        check_number("outlier_sd", self.outlier_sd, 1.0, 1000.0)

    name: ClassVar[str] = "outliers"

    def _cases(self) -> str:
        return (
            f"two Gaussians {self.distance:g} apart in {self.n_signal} of {self.n_features} features, "
            f"{self.outlier_share:.0%} of the cases with {self.outlier_sd:g} times the spread"
        )
