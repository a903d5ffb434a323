"""Classes around centers: normal components, other noise, and patients with several similar rows each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import check_flag, check_integer, check_number
from cudbound.study.populations.population import (
    ALWAYS_EXACT,
    BY_FORMULA,
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
    >>> from cudbound.study.populations.worlds import FlippedLabels, Gaussians, HiddenSubgroup
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

    @property
    def cases(self) -> str:
        """How cases arise, in words."""
        if self.distance == 0.0:
            return f"{self.n_features} features of pure noise, {self.positive_share:.0%} positive"
        cases = f"two Gaussians {self.distance:g} apart in {self.n_signal} of {self.n_features} features"
        if self.outlier_share:
            return f"{cases}, {self.outlier_share:.0%} of cases with {self.outlier_sd:g} times the spread"
        cases += f", {self.positive_share:.0%} positive"
        if self.positive_sd != 1.0:
            cases += f", these with SD {self.positive_sd:g}"
        if self.subgroup_share:
            cases += f", {self.subgroup_share:.0%} of them where the others are"
        return f"{cases}, {self.flip_rate:.0%} of the labels flipped" if self.flip_rate else cases

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

    @property
    def _is_noise(self) -> bool:
        return self.distance == 0.0 and self.positive_sd == 1.0 and self.positive_share == 0.5

    def _truth(self) -> str:
        return ALWAYS_EXACT if self._is_noise else BY_FORMULA

    def true_error(self, classifier: Any) -> Truth:
        """Return the error: one half if classes are of equal size and alike, else as for any other world."""
        return Truth(0.5) if self._is_noise else super().true_error(classifier)


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
    >>> from cudbound.study.populations.worlds import Correlated, HeavyTails
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
        Such as `cudbound.study.populations.worlds.Gaussians`.
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
    >>> from cudbound.study.populations.worlds import Gaussians
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
                "world", "a world of normal classes, for patients with several rows", self.world
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
        """One line on how cases arise and how the true error is found."""
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
