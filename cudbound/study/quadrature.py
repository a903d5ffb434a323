"""Simulated populations whose true error for a linear rule is an integral over an angle, a feature or the log odds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, ndtr

from cudbound.study.population import Array, ContinuousWorld, Labels, count, number

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
    """Class 1 in the center, class 0 on a ring around it.

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


@dataclass(frozen=True)
class LogisticLabels(ContinuousWorld):
    """Standard normal features and a logistic model of the labels.

    The log odds of class 1 are signal (x_1 + ... + x_k) for the k features with signal; classes have equal size.

    Parameters
    ----------
    n_features : int, default=20
    n_signal : int, default=5
    signal : float, default=1.0
        In [0, 100).

    References
    ----------
    Bates, S., Hastie, T. and Tibshirani, R. (2024). Cross-validation: what does it estimate and how well does it do it?
    JASA 119, 1434-1445.

    Notes
    -----
    Given the log odds, label and prediction of a linear rule are independent, and the score of the rule is normal. The
    product of their probabilities is integrated over the log odds, to 1e-8.

    Examples
    --------
    >>> import numpy as np
    >>> world = LogisticLabels(n_features=2, n_signal=1)
    >>> round(world.linear_error(np.array([1.0, 0.0]), 0.0), 6)  # the mean of 1 / (1 + exp(|z|))
    0.325143
    >>> round(world.linear_error(np.array([0.0, 1.0]), 0.0), 6)
    0.5
    """

    n_features: int = count(20, 1)
    n_signal: int = count(5, 1)
    signal: float = number(1.0, 0.0, 100.0)
    name: ClassVar[str] = "logistic-labels"

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        X = rng.standard_normal((n, self.n_features))
        odds = self.signal * X[:, : self.n_signal].sum(axis=1)
        return X, (rng.random(n) < expit(odds)).astype(np.int64)

    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of a linear rule by quadrature, to 1e-8."""
        length = math.sqrt(self.n_signal)
        slope = float(coef[: self.n_signal].sum()) / length
        spread = math.sqrt(max(float(coef @ coef) - slope**2, 1e-300))
        turns = [(0.0, 4.0 / max(self.signal * length, 1.0))]
        if max(abs(intercept), spread) < 100.0 * abs(slope):  # else it hardly turns where there are cases
            turns.append((-intercept / slope, spread / abs(slope)))
        first, density = _normal_rule(turns)
        label = expit(self.signal * length * first)
        predicted = ndtr((intercept + slope * first) / spread)
        return float(density @ (label + predicted - 2.0 * label * predicted))


def _normal_rule(turns: Sequence[tuple[float, float]]) -> tuple[Array, Array]:
    """Return nodes between the `turns`, given as position and width, and weights that include the normal density."""
    places = [place + steps * width for place, width in turns for steps in (-TURN_WIDTHS, 0.0, TURN_WIDTHS)]
    ends = np.sort(np.clip([-NORMAL_RANGE, *places, NORMAL_RANGE], -NORMAL_RANGE, NORMAL_RANGE))
    halves = 0.5 * np.diff(ends)[:, None]
    points = (ends[:-1, None] + halves * (NODES + 1.0)).ravel()
    return points, (halves * WEIGHTS).ravel() * np.exp(-0.5 * points**2) / math.sqrt(2.0 * math.pi)
