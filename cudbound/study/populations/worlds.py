"""Simulated populations whose true error is known: exactly, or to a stated accuracy.

The true error of a linear rule has a formula in every world with continuous features; that of any classifier is a sum
over all cases in every world with few distinct cases. Anything else is tested on 50000 fixed cases, with a standard
error of at most .00224.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, ndtr

from cudbound.basis.exceptions import ParameterError
from cudbound.study.populations.mixture import Mixture, SeveralClasses, TwoCenters
from cudbound.study.populations.population import (
    ALWAYS_EXACT,
    BY_SAMPLE,
    MAX_FEATURES,
    Array,
    ContinuousWorld,
    Labels,
    Truth,
    World,
    count,
    number,
    sampled_truth,
    share,
)

#: Nodes of the quadratures. Within the parameter limits of the worlds, errors are accurate to 1e-8.
N_ANGLES = 512
N_NODES = 40
#: For angles on half of the circle; the other half repeats it.
COSINES = np.cos(np.pi * (np.arange(N_ANGLES) + 0.5) / N_ANGLES)
#: Of the Gauss-Legendre rule on [-1, 1].
NODES, WEIGHTS = np.polynomial.legendre.leggauss(N_NODES)
#: Beyond this many standard deviations, a normal distribution has probability below 1e-17.
NORMAL_RANGE = 8.5
#: A normal area changes from 0 to 1 within this many of its standard deviations; the quadrature restarts there.
TURN_WIDTHS = 5.0


@dataclass(frozen=True)
class Donut(ContinuousWorld):
    """Class 1 in the center, class 0 on a ring around it: no linear rule is much better than chance.

    The first two features are a point of the ring (class 0, uniform angle) or its center (class 1), each plus normal
    noise; all others are noise of variance 1. Classes have equal size.

    Parameters
    ----------
    radius : float, default=3.0
        Radius of the ring, in [0, 20).
    sd : float, default=1.0
        Standard deviation of the noise around ring and center, in [0.2, 100).
    n_features : int, default=2
        At least 2.

    Notes
    -----
    The projection of a case of class 0 on the direction of a linear rule is normal given its angle. The tail area is
    averaged over angles by the trapezoidal rule, which converges geometrically on a circle.

    References
    ----------
    Trefethen, L. N. and Weideman, J. A. C. (2014). The exponentially convergent trapezoidal rule. SIAM Review 56,
    385-458, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> round(Donut().linear_error(np.array([1.0, 0.0]), 0.0), 6)  # a line through the center
    0.5
    """

    radius: float = number(3.0, 0.0, 20.0)
    sd: float = number(1.0, 0.2, 100.0)
    n_features: int = count(2, 2)
    name: ClassVar[str] = "donut"

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        y = rng.integers(0, 2, n)
        angle = rng.uniform(0.0, 2.0 * np.pi, n)
        X = rng.standard_normal((n, self.n_features))
        X[:, :2] *= self.sd
        distance = np.where(y == 0, self.radius, 0.0)
        X[:, :2] += distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return X, y

    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of a linear rule from normal tail areas, averaged over angles for the ring."""
        in_plane = coef[:2] @ coef[:2]
        spread = max(math.sqrt(self.sd**2 * in_plane + coef[2:] @ coef[2:]), 1e-250)
        shift = self.radius * math.sqrt(in_plane) * COSINES
        missed_ring = float(ndtr((intercept + shift) / spread).mean())
        return 0.5 * (float(ndtr(-intercept / spread)) + missed_ring)


@dataclass(frozen=True)
class Quadratic(ContinuousWorld):
    """Labels from a quadratic function of the first feature plus normal noise; features are standard normal.

    y = 1 if ``x_1 + curvature * (x_1 ** 2 - 1) + noise * e > 0`` with e standard normal: class 0 lies between two
    parallel boundaries. All other features are noise.

    Parameters
    ----------
    curvature : float, default=2.0
        In [0, 4); with 0 the optimal rule is linear.
    noise : float, default=0.5
        In [0.25, 100).
    n_features : int, default=3

    Notes
    -----
    Given x_1, label and prediction are independent, and the probability of each is a normal area. Their product is
    integrated over x_1 by Gauss-Legendre rules between the points where label and rule change, to 1e-8.

    Examples
    --------
    >>> import numpy as np
    >>> flat = Quadratic(curvature=0.0, noise=1.0)  # a probit model: the angle between score and rule decides
    >>> round(flat.linear_error(np.array([1.0, 0.0, 0.0]), 0.0), 6)
    0.25
    """

    curvature: float = number(2.0, 0.0, 4.0)
    noise: float = number(0.5, 0.25, 100.0)
    n_features: int = count(3, 1)
    name: ClassVar[str] = "quadratic"

    def _score(self, first: Array) -> Array:
        return first + self.curvature * (first**2 - 1.0)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        X = rng.standard_normal((n, self.n_features))
        score = self._score(X[:, 0]) + self.noise * rng.standard_normal(n)
        return X, (score > 0.0).astype(np.int64)

    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of a linear rule by quadrature, to 1e-8."""
        slope = float(coef[0])
        spread = max(math.sqrt(coef[1:] @ coef[1:]), 1e-250)
        # also the steepness of the label's score where it turns
        root = math.sqrt(1.0 + 4.0 * self.curvature**2)
        upper = 2.0 * self.curvature / (1.0 + root)
        turns = [(upper, self.noise / root)]
        if upper > 0.0:
            turns.append((-1.0 / upper, self.noise / root))
        if max(abs(intercept), spread) < 100.0 * abs(slope):  # else it hardly turns where there are cases
            turns.append((-intercept / slope, spread / abs(slope)))
        first, density = _normal_rule(turns)
        label = ndtr(self._score(first) / self.noise)
        predicted = ndtr((intercept + slope * first) / spread)
        return float(density @ (label + predicted - 2.0 * label * predicted))


def _normal_rule(turns: Sequence[tuple[float, float]]) -> tuple[Array, Array]:
    """Return nodes between the `turns`, given as position and width, and weights that include the normal density."""
    places = [place + steps * width for place, width in turns for steps in (-TURN_WIDTHS, 0.0, TURN_WIDTHS)]
    ends = np.sort(np.clip([-NORMAL_RANGE, *places, NORMAL_RANGE], -NORMAL_RANGE, NORMAL_RANGE))
    halves = 0.5 * np.diff(ends)[:, None]
    points = (ends[:-1, None] + halves * (NODES + 1.0)).ravel()
    return points, (halves * WEIGHTS).ravel() * np.exp(-0.5 * points**2) / math.sqrt(2.0 * math.pi)


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

    boundary_mass: float = share(0.4)
    boundary_label: float = number(0.6, -1.0, np.nextafter(1.0, 2.0))
    slope: float = share(0.5)
    name: ClassVar[str] = "three-point"
    n_features: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if (largest := 1.0 - abs(self._shift)) < self.slope - 1e-12:
            rule = f"at most {largest:.4g}, 1 - boundary_mass / (1 - boundary_mass) * abs(boundary_label)"
            raise ParameterError("slope", rule, self.slope)

    @property
    def _shift(self) -> float:
        return -self.boundary_mass * self.boundary_label / (1.0 - self.boundary_mass)

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


@dataclass(frozen=True)
class FewLevels(FiniteWorld):
    """Independent features with few integer values, which cause repeated cases and tied scores.

    Features are uniform on 0, ..., n_levels - 1, and P(y = 1) = Phi(signal * sum of (x_j - (n_levels - 1) / 2) over
    the features with signal): classes have equal size.

    Parameters
    ----------
    name : str, default="discrete"
        Its name in design files and results.
    n_levels : int, default=3
        At least 2.
    n_features : int, default=3
    n_signal : int, default=2
    signal : float, default=0.8
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

    name: str = "discrete"
    n_levels: int = count(3, 2, None)
    n_features: int = count(3, 1)
    n_signal: int = count(2, 1)
    signal: float = number(0.8, 0.0, 100.0)

    @property
    def _enumerable(self) -> bool:
        return bool(self.n_levels**self.n_features <= MAX_SUPPORT)

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


@dataclass(frozen=True)
class BinaryFinding(ContinuousWorld):
    """One binary finding with a given odds ratio, and normal features without signal, which make all rows distinct.

    The finding is present in half of the cases, and classes have equal size: P(y = 1) is r / (1 + r) with the finding
    and 1 / (1 + r) without it, where r is the square root of the odds ratio.

    Parameters
    ----------
    odds_ratio : float, default=3.0
        In [1, 1000).
    n_noise : int, default=2
        Normal features; 0 leaves only the finding.

    Examples
    --------
    >>> import numpy as np
    >>> world = BinaryFinding(odds_ratio=4.0)
    >>> round(world.linear_error(np.array([1.0, 0.0, 0.0]), -0.5), 6)  # 1 / (1 + 2)
    0.333333
    """

    odds_ratio: float = number(3.0, 1.0, 1000.0)
    n_noise: int = count(2, 0, MAX_FEATURES - 1)
    name: ClassVar[str] = "binary-finding"

    @property
    def n_features(self) -> int:
        """Number of features."""
        return 1 + self.n_noise

    @property
    def _with_finding(self) -> float:
        """P(y = 1) if the finding is present."""
        return math.sqrt(self.odds_ratio) / (1.0 + math.sqrt(self.odds_ratio))

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases, the finding in the first column."""
        finding = rng.integers(0, 2, n)
        positive = np.where(finding == 1, self._with_finding, 1.0 - self._with_finding)
        noise = rng.standard_normal((n, self.n_noise))
        return np.column_stack([finding, noise]), (rng.random(n) < positive).astype(np.int64)

    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of a linear rule: the mean over both values of the finding."""
        scores = intercept + coef[0] * np.array([0.0, 1.0])
        length = math.sqrt(coef[1:] @ coef[1:])
        called = ndtr(scores / length) if length > 0.0 else (scores > 0.0).astype(float)
        positive = np.array([1.0 - self._with_finding, self._with_finding])
        return float(np.mean(called * (1.0 - positive) + (1.0 - called) * positive))


@dataclass(frozen=True)
class MissingValues(World):
    """Normal features and a level from 0 to 3, with values missing at random and a logistic model of the labels.

    The log odds of class 1 are signal (x_1 + x_2) plus effect (1, 0, 0, -1) for levels 0, 1, 2 and 3, each in a quarter
    of the cases. Every value is missing, nan, with the same probability, independently of all others.

    Parameters
    ----------
    n_features : int, default=5
        Including the level, in the last column; at least 3.
    missing_share : float, default=0.1
        Strictly between 0 and 1.
    signal : float, default=1.0
        In [0, 100).
    effect : float, default=1.0
        Effect of the level, in [0, 100).

    Examples
    --------
    >>> import numpy as np
    >>> X, y = MissingValues().sample(1000, np.random.default_rng(0))
    >>> X.shape, bool(0.08 < np.isnan(X).mean() < 0.12)
    ((1000, 5), True)
    """

    n_features: int = count(5, 3)
    missing_share: float = share(0.1)
    signal: float = number(1.0, 0.0, 100.0)
    effect: float = number(1.0, 0.0, 100.0)
    name: ClassVar[str] = "missing-values"

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features, some of them nan, and labels of n independent cases."""
        X = rng.standard_normal((n, self.n_features))
        level = rng.integers(0, 4, n)
        odds = self.signal * (X[:, 0] + X[:, 1]) + self.effect * np.array([1.0, 0.0, 0.0, -1.0])[level]
        X[:, -1] = level
        X[rng.random(X.shape) < self.missing_share] = np.nan
        return X, (rng.random(n) < expit(odds)).astype(np.int64)


# ---- worlds by name, each with its own defaults ----

Gaussians = partial(Mixture, "gaussians")
#: Most small samples are separable: the smallest error is Phi(-2.5) = .0062.
NearSeparable = partial(Mixture, "near-separable", distance=5.0)
Imbalanced = partial(Mixture, "imbalanced", positive_share=0.2)
#: As many features as half of fifty cases.
Wide = partial(Mixture, "wide", distance=2.0, n_features=25, n_signal=5)
#: A sample of thirty has three cases of class 1.
RareClass = partial(Mixture, "rare-class", distance=2.0, positive_share=0.1)
Noise = partial(Mixture, "noise", distance=0.0)
Outliers = partial(Mixture, "outliers", outlier_share=0.1, outlier_sd=5.0)
#: Most small samples look separable, but the population is not.
FlippedLabels = partial(Mixture, "flipped-labels", distance=6.0, flip_rate=0.03)
#: Few small samples show that part of class 1 looks like class 0.
HiddenSubgroup = partial(Mixture, "hidden-subgroup", distance=5.0, subgroup_share=0.1)
#: With two degrees of freedom the features have no variance.
HeavyTails = partial(TwoCenters, "heavy-tails", df=2.0)
#: Nearly as many features as thirty cases.
Correlated = partial(TwoCenters, "correlated", distance=2.0, n_features=27, n_signal=5, correlation=0.7)
Discrete = partial(FewLevels, "discrete")
Binary = partial(FewLevels, "binary", n_levels=2, n_features=5, n_signal=3, signal=1.0)

#: Worlds by their name in design files; calling a value with parameters by name makes the world.
WORLDS: Mapping[str, Callable[..., World]] = MappingProxyType(
    {
        world().name: world
        for world in (
            *(Gaussians, NearSeparable, Imbalanced, Wide, Noise, Outliers, Quadratic, Donut, ThreePoint),
            *(Discrete, Binary, FlippedLabels, HiddenSubgroup, HeavyTails, RareClass, Correlated),
            *(BinaryFinding, MissingValues, SeveralClasses),
        )
    }
)
