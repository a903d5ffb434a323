"""Simulated populations with few distinct cases: ties, duplicates, and cases on the limiting decision boundary."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_integer, check_number
from cudbound.study.populations.population import Truth
from cudbound.study.populations.simulated import (
    ALWAYS_EXACT,
    BY_SAMPLE,
    Array,
    FromPreset,
    Labels,
    Preset,
    World,
    check_features,
    check_share,
)
from cudbound.study.populations.truth import sampled_truth

#: Largest number of distinct cases for which a world is enumerated.
MAX_SUPPORT = 20_000


class FiniteWorld(World):
    """A world that lists its distinct cases, with their shares and the probability of class 1 in each."""

    @property
    @abstractmethod
    def support(self) -> tuple[Array, Array, Array]:
        """Distinct cases, shape (k, n_features), their shares, shape (k,), and P(y = 1) in each, shape (k,)."""

    def _truth(self) -> str:
        return ALWAYS_EXACT

    def true_error(self, classifier: Any) -> Truth:
        """Return the error of any fitted classifier of the classes 0 and 1: the sum over all distinct cases."""
        X, shares, positive = self.support
        wrong = np.where(np.asarray(classifier.predict(X)) == 1, 1.0 - positive, positive)
        return Truth(min(float(shares @ wrong), 1.0))  # rounding may pass the end


@dataclass(frozen=True)
class ThreePoint(FiniteWorld):
    """One feature with three values, the middle one exactly on the limiting boundary of least squares.

    The feature is 0 with probability m and -1 or 1 with probability (1 - m) / 2 each. The mean label (-1 or +1) is b at
    0 and c - s, c + s at -1 and 1, with c = -m b / (1 - m). The population least-squares fit is then s x, without
    intercept, and a share m of all cases lies on its boundary. The sign of the estimated intercept changes the true
    error by m abs(b). No bootstrap of the error is consistent here.

    Parameters
    ----------
    boundary_mass : float, default=0.4
        m, strictly between 0 and 1.
    boundary_label : float, default=0.6
        b, in [-1, 1].
    slope : float, default=0.5
        s, in (0, 1). The mean labels must be in [-1, 1].

    References
    ----------
    Laber, E. B. and Murphy, S. A. (2011). Adaptive confidence intervals for the test error in classification. JASA
    106, 904-913, section 2, on cases with positive probability on the boundary of the limiting classifier.

    Examples
    --------
    >>> X, shares, positive = ThreePoint().support
    >>> shares.round(2).tolist(), positive.round(3).tolist()
    ([0.3, 0.4, 0.3], [0.05, 0.8, 0.55])
    """

    boundary_mass: float = 0.4
    boundary_label: float = 0.6
    slope: float = 0.5
    name: ClassVar[str] = "three-point"
    n_features: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_share("boundary_mass", self.boundary_mass)
        check_number("boundary_label", self.boundary_label, -1.0, np.nextafter(1.0, 2.0))
        check_share("slope", self.slope)
        if (largest := 1.0 - abs(self._shift)) < self.slope - 1e-12:
            rule = f"at most {largest:.4g}, 1 - boundary_mass / (1 - boundary_mass) * abs(boundary_label)"
            raise ParameterError("slope", rule, self.slope)

    @property
    def _shift(self) -> float:
        return -self.boundary_mass * self.boundary_label / (1.0 - self.boundary_mass)

    @property
    def cases(self) -> str:
        """How cases arise, in words."""
        return f"three points, {self.boundary_mass:.0%} of the cases on the limiting boundary"

    @cached_property
    def support(self) -> tuple[Array, Array, Array]:
        """The three cases, their shares, and P(y = 1) in each."""
        side = 0.5 * (1.0 - self.boundary_mass)
        labels = np.array([self._shift - self.slope, self.boundary_label, self._shift + self.slope])
        positive = np.clip(0.5 * (1.0 + labels), 0.0, 1.0)
        return np.array([[-1.0], [0.0], [1.0]]), np.array([side, self.boundary_mass, side]), positive

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        X, shares, positive = self.support
        case = np.searchsorted(np.cumsum(shares)[:-1], rng.random(n), side="right")
        return X[case], (rng.random(n) < positive[case]).astype(np.int64)


@dataclass(frozen=True, repr=False)
class FewLevels(FromPreset, FiniteWorld):
    """Independent features with few integer values, which cause repeated cases and tied scores.

    Features are uniform on 0, ..., n_levels - 1, and P(y = 1) = Phi(signal * sum of (x_j - (n_levels - 1) / 2) over
    the features with signal): classes have equal size.

    Parameters
    ----------
    preset : Preset
    n_levels : int, default=2
        At least 2.
    n_features : int, default=1
    n_signal : int, default=1
    signal : float, default=0.0
        In [0, 100).

    Notes
    -----
    With at most 20000 distinct cases (n_levels ** n_features) the true error is exact for every classifier; with more,
    it is estimated on 50000 fixed cases.

    Examples
    --------
    >>> from cudbound.study.populations.worlds import Discrete
    >>> X, shares, positive = Discrete(n_levels=2, n_features=2, n_signal=1, signal=2.0).support
    >>> X.astype(int).tolist(), positive.round(4).tolist()
    ([[0, 0], [0, 1], [1, 0], [1, 1]], [0.1587, 0.1587, 0.8413, 0.8413])
    """

    preset: Preset[FewLevels]
    n_levels: int = 2
    n_features: int = 1
    n_signal: int = 1
    signal: float = 0.0

    def __post_init__(self) -> None:
        check_integer("n_levels", self.n_levels, 2)
        check_features(self.n_features, self.n_signal)
        check_number("signal", self.signal, 0.0, 100.0)

    @property
    def _enumerable(self) -> bool:
        return bool(self.n_levels**self.n_features <= MAX_SUPPORT)

    @property
    def cases(self) -> str:
        """How cases arise, in words."""
        return f"{self.n_features} features with {self.n_levels} levels, {self.n_signal} with signal {self.signal:g}"

    def _truth(self) -> str:
        return ALWAYS_EXACT if self._enumerable else BY_SAMPLE

    def _positive(self, X: Array) -> Array:
        return np.asarray(ndtr(self.signal * (X[:, : self.n_signal] - 0.5 * (self.n_levels - 1)).sum(axis=1)))

    @cached_property
    def support(self) -> tuple[Array, Array, Array]:
        """All cases in lexicographic order, their shares, and P(y = 1) in each."""
        if not self._enumerable:
            raise ParameterError(
                "n_features", f"smaller, because at most {MAX_SUPPORT} cases can be listed", self.n_features
            )
        grid = np.indices((self.n_levels,) * self.n_features)
        X = grid.reshape(self.n_features, -1).T.astype(np.float64)
        return X, np.full(len(X), 1.0 / len(X)), self._positive(X)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        X = rng.integers(0, self.n_levels, (n, self.n_features)).astype(np.float64)
        return X, (rng.random(n) < self._positive(X)).astype(np.int64)

    def true_error(self, classifier: Any) -> Truth:
        """Return the error of a fitted classifier: summed over all cases, or on a sample if there are too many."""
        return super().true_error(classifier) if self._enumerable else sampled_truth(self, classifier)
