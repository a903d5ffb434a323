"""Simulated populations whose true error is known: exactly, or to a stated accuracy.

The true error of a linear rule has a formula in most worlds with continuous features; that of any classifier is a sum
over all cases in every world with few distinct cases. Anything else is tested on 50000 fixed cases, with a standard
error of at most .00224.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, stdtr

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import check_flag, check_integer, check_number
from cudbound.study.population import (
    MAX_FEATURES,
    Array,
    Cases,
    ContinuousWorld,
    Labels,
    Truth,
    World,
    check_share,
    count,
    number,
    share,
)


@dataclass(frozen=True)
class Mixture(ContinuousWorld):
    """Two classes, each with one or more spherical normal components, and optional label noise.

    Parameters
    ----------
    name : str, default="gaussians"
        Its name in design files and results.
    distance : float, default=1.6
        Between the class means, in standard deviations of class 0; in [0, 100). With classes of equal size and
        covariance the smallest error of any classifier is Phi(-distance / 2).
    n_features : int, default=3
    n_signal : int, default=1
        Features on which the means differ, all by the same amount.
    positive_share : float, default=0.5
        Share of class 1.
    positive_sd : float, default=1.0
        Standard deviation of every feature of class 1, in [0.01, 100); that of class 0 is 1. The optimal rule is
        quadratic unless it is 1.
    outlier_share : float, default=0.0
        Share of each class with a larger spread around the same mean.
    outlier_sd : float, default=1.0
        Standard deviation of these outliers in every feature, in [1, 1000); other cases have 1.
    subgroup_share : float, default=0.0
        Share of class 1 whose features have the mean of class 0.
    flip_rate : float, default=0.0
        Share of cases in each class with the label of the other class.

    References
    ----------
    Tukey, J. W. (1960). A survey of sampling from contaminated distributions. In Contributions to Probability and
    Statistics, 448-485; on outliers.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound.study.worlds import FlippedLabels, Gaussians, HiddenSubgroup
    >>> rule = np.array([1.0]), 0.0
    >>> round(Gaussians(distance=2.0, n_features=1).linear_error(*rule), 6)  # Phi(-1)
    0.158655
    >>> round(FlippedLabels(n_features=1).linear_error(*rule), 6)  # .03 + .94 Phi(-3)
    0.031269
    >>> round(HiddenSubgroup(n_features=1).linear_error(*rule), 6)  # .5 Phi(-2.5) + .45 Phi(-2.5) + .05 Phi(2.5)
    0.055589
    """

    name: str = "gaussians"
    distance: float = number(1.6, 0.0, 100.0)
    n_features: int = count(3, 1)
    n_signal: int = count(1, 1)
    positive_share: float = share(0.5)
    positive_sd: float = number(1.0, 0.01, 100.0)
    outlier_share: float = number(0.0, 0.0, 1.0)
    outlier_sd: float = number(1.0, 1.0, 1000.0)
    subgroup_share: float = number(0.0, 0.0, 1.0)
    flip_rate: float = number(0.0, 0.0, 1.0)

    @cached_property
    def _mixture(self) -> tuple[Array, Labels, Array, Array]:
        """Shares (k,), labels (k,), means (k, p) and standard deviations (k,) of the components.

        The means are at plus and minus half the distance, along the diagonal of the features with signal.
        """
        center = _center(self)
        shown, hidden = 1.0 - self.subgroup_share, self.subgroup_share
        clean, apart = 1.0 - self.outlier_share, self.outlier_share
        classes = [
            (0, 1.0 - self.positive_share, -center, 1.0),
            (1, self.positive_share * shown, center, self.positive_sd),
            (1, self.positive_share * hidden, -center, self.positive_sd),
        ]
        components = [
            (share * part, label, mean, spread * sd)
            for label, share, mean, sd in classes
            for part, spread in ((clean, 1.0), (apart, self.outlier_sd))
            if share * part > 0.0
        ]
        shares, labels, means, sds = map(np.array, zip(*components, strict=True))
        return shares, labels, means, sds

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        parts = self._parts(n, rng)
        return self._rows(parts, rng.standard_normal((n, self.n_features)), np.arange(n), rng)

    def sample_patients(
        self, patient: NDArray[np.int64], within: float, rng: np.random.Generator
    ) -> tuple[Array, Labels]:
        """Return features and labels of patients with several rows; each row by itself is a case of this world.

        Parameters
        ----------
        patient : ndarray of int, shape (n,)
            Patient number of each row, from 0, ascending.
        within : float
            Share of the variance of every feature, around the center of its component, that is common to the rows of a
            patient. Rows share the component and label of their patient; labels of a patient are flipped together.
        rng : numpy.random.Generator
        """
        n_patients = int(patient[-1]) + 1
        parts = self._parts(n_patients, rng)[patient]
        common = rng.standard_normal((n_patients, self.n_features))[patient]
        separate = rng.standard_normal((patient.size, self.n_features))
        return self._rows(
            parts, math.sqrt(within) * common + math.sqrt(1.0 - within) * separate, patient, rng
        )

    def _parts(self, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw the components of n cases."""
        shares, *_ = self._mixture
        return np.searchsorted(np.cumsum(shares)[:-1], rng.random(n), side="right")

    def _rows(
        self, part: NDArray[np.intp], noise: Array, patient: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Array, Labels]:
        _, labels, means, sds = self._mixture
        X, y = means[part] + sds[part, None] * noise, labels[part]
        if self.flip_rate:
            flipped = rng.random(int(patient[-1]) + 1) < self.flip_rate
            y = np.where(flipped[patient], 1 - y, y)
        return X, y

    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of a linear rule from normal tail areas, for original and flipped labels."""
        shares, labels, means, sds = self._mixture
        towards_own_class = (2 * labels - 1) * (means @ coef + intercept)
        length = max(math.sqrt(coef @ coef), 1e-250)  # 0 would turn a certain prediction into nan
        unflipped = float(shares @ ndtr(-towards_own_class / (sds * length)))
        return (1.0 - self.flip_rate) * unflipped + self.flip_rate * (1.0 - unflipped)

    def true_error(self, classifier: Any) -> Truth:
        """Return the error: one half if classes are of equal size and alike, else as for any other world."""
        is_noise = self.distance == 0.0 and self.positive_sd == 1.0 and self.positive_share == 0.5
        return Truth(0.5) if is_noise else super().true_error(classifier)


@dataclass(frozen=True)
class TwoCenters(ContinuousWorld):
    """Classes of equal size around centers at plus and minus half the distance, with the same noise distribution.

    Parameters
    ----------
    name : str, default="heavy-tails"
        Its name in design files and results.
    distance : float, default=3.0
        Between the centers of the classes, in units of the scale; in [0, 100).
    n_features : int, default=3
    n_signal : int, default=1
        Features on which the centers differ, all by the same amount.
    df : float, default=inf
        Degrees of freedom of a spherical t distribution, at least 0.5; infinity for a normal one.
    correlation : float, default=0.0
        Correlation of neighboring features, in [0, 1); for features j and k, it is raised to the power abs(j - k).

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound.study.worlds import Correlated, HeavyTails
    >>> round(HeavyTails().linear_error(np.array([1.0, 0.0, 0.0]), 0.0), 6)  # P(t_2 < -1.5)
    0.136197
    >>> world = Correlated(distance=2.0, n_features=2, n_signal=1, correlation=0.5)
    >>> round(world.linear_error(np.array([1.0, 0.0]), 0.0), 6)  # Phi(-1)
    0.158655
    """

    name: str = "heavy-tails"
    distance: float = number(3.0, 0.0, 100.0)
    n_features: int = count(3, 1)
    n_signal: int = count(1, 1)
    df: float = number(math.inf, 0.5, math.inf)
    correlation: float = number(0.0, 0.0, 1.0)

    @cached_property
    def _root(self) -> Array:
        apart = np.abs(np.subtract.outer(np.arange(self.n_features), np.arange(self.n_features)))
        return np.asarray(np.linalg.cholesky(float(self.correlation) ** apart))

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        labels = rng.integers(0, 2, n)
        spread = np.ones(n) if math.isinf(self.df) else np.sqrt(self.df / rng.chisquare(self.df, n))
        noise = rng.standard_normal((n, self.n_features)) * spread[:, None]
        if self.correlation:
            noise = noise @ self._root.T
        return (2 * labels - 1)[:, None] * _center(self) + noise, labels

    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of a linear rule, the mean of two tail areas."""
        shift = float(_center(self) @ coef)
        turned = self._root.T @ coef if self.correlation else coef
        length = max(math.sqrt(turned @ turned), 1e-250)  # 0 would turn a certain prediction into nan
        scores = np.array([intercept - shift, -intercept - shift]) / length
        return float((ndtr(scores) if math.isinf(self.df) else stdtr(self.df, scores)).mean())


def _center(world: Mixture | TwoCenters) -> Array:
    """Return the center of class 1, half the distance along the diagonal of the features with signal."""
    center = np.zeros(world.n_features)
    center[: world.n_signal] = 0.5 * world.distance / math.sqrt(world.n_signal)
    return center


@dataclass(frozen=True)
class SeveralClasses(World):
    """Normal classes with centers along the feature axes.

    Class k is centered at `distance` along feature k; classes beyond the last feature are centered on the other side
    of 0. Within a class, features are independent with variance 1.

    Parameters
    ----------
    n_classes : int, default=2
        At least 2, at most twice `n_features`.
    n_features : int, default=3
    distance : float, default=2.0
        Distance of each center from 0; with 0, the features have no signal.
    ratio : float, default=1.0
        Share of each class relative to the previous one, above 0 and at most 1.
    whole : bool, default=False
        Whether features are rounded to whole numbers, which makes many cases equal.
    """

    n_classes: int = count(2, 2)
    n_features: int = count(3, 1)
    distance: float = number(2.0, 0.0, 100.0)
    ratio: float = number(1.0, 1e-3, 1.0 + 1e-9)
    whole: bool = False

    name = "several-classes"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_integer("n_classes", self.n_classes, 2, 2 * self.n_features)
        check_flag("whole", self.whole)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features, shape (n, n_features), and labels from 0, shape (n,)."""
        shares = self.ratio ** np.arange(self.n_classes)
        y = rng.choice(self.n_classes, size=n, p=shares / shares.sum())
        X = rng.normal(size=(n, self.n_features))
        side, feature = np.divmod(y, self.n_features)
        X[np.arange(n), feature] += self.distance * (1.0 - 2.0 * side)
        return np.round(X) if self.whole else X, y


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
        return _disagreement(
            lambda first: ndtr(self._score(first) / self.noise), turns, intercept, slope, spread
        )


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
        return _disagreement(
            lambda first: expit(self.signal * length * first), turns, intercept, slope, spread
        )


def _disagreement(
    label: Callable[[Array], Array],
    turns: list[tuple[float, float]],
    intercept: float,
    slope: float,
    spread: float,
) -> float:
    """Return the probability that a label differs from the sign of ``intercept + slope * z + spread * e``.

    z and e are independent and standard normal, and ``label(z)`` is the probability of class 1. Gauss-Legendre rules
    between the `turns` of the label, given as position and width, and that of the score integrate over z.
    """
    if max(abs(intercept), spread) < 100.0 * abs(slope):  # else it hardly turns where there are cases
        turns = [*turns, (-intercept / slope, spread / abs(slope))]
    places = [place + steps * width for place, width in turns for steps in (-TURN_WIDTHS, 0.0, TURN_WIDTHS)]
    ends = np.sort(np.clip([-NORMAL_RANGE, *places, NORMAL_RANGE], -NORMAL_RANGE, NORMAL_RANGE))
    halves = 0.5 * np.diff(ends)[:, None]
    points = (ends[:-1, None] + halves * (NODES + 1.0)).ravel()
    density = (halves * WEIGHTS).ravel() * np.exp(-0.5 * points**2) / math.sqrt(2.0 * math.pi)
    positive, predicted = label(points), ndtr((intercept + slope * points) / spread)
    return float(density @ (positive + predicted - 2.0 * positive * predicted))


#: Largest number of rows per patient.
MAX_ROWS_PER_PATIENT = 1000


@dataclass(frozen=True)
class Patients:
    """A world of normal classes with several rows per patient.

    A patient has a component of the world, with its class, and one normal point in it. Each row is a weighted mean of
    that point and a separate point; the weights make a single row a case of the world. Rows of different patients are
    independent. The true error is that on one row of a new patient, and so that of the world.

    Parameters
    ----------
    world : Mixture
        Such as `cudbound.study.worlds.Gaussians`.
    rows_per_patient : (int, int), default=(2, 6)
        The smallest and largest number of rows per patient, from 1 to 1000; all numbers between are equally likely,
        unless `many_rows` is given.
    many_rows : float or None, default=None
        Share of patients with the largest number of rows, strictly between 0 and 1; the others have the smallest. None
        for all numbers between.
    within_patient : float, default=0.5
        Share of the variance of every feature, around the center of the component, that is common to the rows of a
        patient; in [0, 1).

    Raises
    ------
    ValueError
        If a parameter is out of range, or the world has another type.

    Examples
    --------
    >>> from cudbound.study.worlds import Gaussians
    >>> drawn = Patients(Gaussians()).draw(8, np.random.default_rng(0))
    >>> drawn.groups.tolist(), drawn.y.tolist()
    ([0, 0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0])
    """

    world: Mixture
    rows_per_patient: tuple[int, int] = (2, 6)
    within_patient: float = 0.5
    many_rows: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.world, Mixture):
            raise ParameterError(
                "world", "'gaussians', or another Mixture, for patients with several rows", self.world
            )
        rows = self.rows_per_patient
        if not isinstance(rows, tuple) or len(rows) != 2:
            raise ParameterError(
                "rows_per_patient", "the smallest and the largest number of rows per patient", rows
            )
        fewest = check_integer("rows_per_patient", rows[0], 1, MAX_ROWS_PER_PATIENT)
        check_integer("rows_per_patient", rows[1], fewest, MAX_ROWS_PER_PATIENT)
        check_number("within_patient", self.within_patient, 0.0, 1.0)
        if self.many_rows is not None:
            check_share("many_rows", self.many_rows)

    @property
    def name(self) -> str:
        """The name of the world in design files and results."""
        return self.world.name

    @property
    def title(self) -> str:
        """One line on how cases arise."""
        fewest, most = self.rows_per_patient
        rows = (
            f"{fewest} to {most} rows per patient"
            if self.many_rows is None
            else f"{most} rows for {self.many_rows:.0%} of patients and {fewest} for the others"
        )
        return f"{self.world.title}; {rows}, which share {self.within_patient:.0%} of the variance"

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.world.n_features

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n patients, with one row each."""
        return self.world.sample(n, rng)

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n rows; the last patient may have fewer rows.

        Raises
        ------
        ValueError
            If n is not an integer of at least 1.
        """
        fewest, most = self.rows_per_patient
        n_most = -(-check_integer("n", n, 1) // fewest)
        sizes = (
            rng.integers(fewest, most, size=n_most, endpoint=True)
            if self.many_rows is None
            else np.where(rng.random(n_most) < self.many_rows, most, fewest)
        )
        patient = np.repeat(np.arange(n_most), sizes)[:n]
        X, y = self.world.sample_patients(patient, self.within_patient, rng)
        return Cases(X, y, self.true_error, patient)

    def true_error(self, classifier: Any) -> Any:
        """Return the error of a fitted classifier on one row of a new patient."""
        return self.world.true_error(classifier)


#: Largest number of distinct cases for which a world is enumerated.
MAX_SUPPORT = 20_000


class FiniteWorld(World):
    """A world that lists its distinct cases, with their shares and the probability of class 1 in each."""

    @property
    @abstractmethod
    def support(self) -> tuple[Array, Array, Array]:
        """Distinct cases, shape (k, n_features), their shares, shape (k,), and P(y = 1) in each, shape (k,)."""

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
    """Independent features with few integer values.

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
    At most 20000 distinct cases (n_levels ** n_features): the true error is exact for every classifier.

    Examples
    --------
    >>> from cudbound.study.worlds import Discrete
    >>> X, shares, positive = Discrete(n_levels=2, n_features=2, n_signal=1, signal=2.0).support
    >>> X.astype(int).tolist(), positive.round(4).tolist()
    ([[0, 0], [0, 1], [1, 0], [1, 1]], [0.1587, 0.1587, 0.8413, 0.8413])
    """

    name: str = "discrete"
    n_levels: int = count(3, 2, None)
    n_features: int = count(3, 1)
    n_signal: int = count(2, 1)
    signal: float = number(0.8, 0.0, 100.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_levels**self.n_features > MAX_SUPPORT:
            raise ParameterError(
                "n_features", f"smaller, because at most {MAX_SUPPORT} cases can be listed", self.n_features
            )

    def _positive(self, X: Array) -> Array:
        return np.asarray(ndtr(self.signal * (X[:, : self.n_signal] - 0.5 * (self.n_levels - 1)).sum(axis=1)))

    @cached_property
    def support(self) -> tuple[Array, Array, Array]:
        """All cases in lexicographic order, their shares, and P(y = 1) in each."""
        grid = np.indices((self.n_levels,) * self.n_features)
        X = grid.reshape(self.n_features, -1).T.astype(np.float64)
        return X, np.full(len(X), 1.0 / len(X)), self._positive(X)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n independent cases."""
        X = rng.integers(0, self.n_levels, (n, self.n_features)).astype(np.float64)
        return X, (rng.random(n) < self._positive(X)).astype(np.int64)


@dataclass(frozen=True)
class BinaryFinding(ContinuousWorld):
    """One binary finding with a given odds ratio, and normal features without signal.

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
#: Many small samples are separable, but the population is not.
FlippedLabels = partial(Mixture, "flipped-labels", distance=6.0, flip_rate=0.03)
#: Small samples have few cases of the part of class 1 that looks like class 0.
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
            *(BinaryFinding, MissingValues, SeveralClasses, LogisticLabels),
        )
    }
)
