"""Two centers with noise that is not spherical and normal: heavy tails, and correlated features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, stdtr

from cudbound.study.populations.preset import FromPreset, Preset
from cudbound.study.populations.simulated import Array, ContinuousWorld, Labels, check_features
from cudbound.validation import check_number


@dataclass(frozen=True, repr=False)
class TwoCenters(FromPreset, ContinuousWorld):
    """Classes of equal size around centers at plus and minus half the distance, with noise of one distribution.

    Parameters
    ----------
    preset : Preset
    distance : float, default=0.0
        Between the centers of the classes, in units of the scale; in [0, 100).
    n_features : int, default=3
    n_signal : int, default=1
        Features on which the centers differ, all by the same amount.
    df : float, default=inf
        Degrees of freedom of a spherical t distribution, in [0.5, 1000); infinity for a normal one.
    correlation : float, default=0.0
        Of neighboring features, in [0, 1); features j and k have that to the power abs(j - k).

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

    preset: Preset[TwoCenters]
    distance: float = 0.0
    n_features: int = 3
    n_signal: int = 1
    df: float = math.inf
    correlation: float = 0.0

    def __post_init__(self) -> None:
        check_number("distance", self.distance, 0.0, 100.0)
        check_features(self.n_features, self.n_signal)
        if "df" in self.preset.defaults:
            check_number("df", self.df, 0.5, 1000.0)
        check_number("correlation", self.correlation, 0.0, 1.0)

    @property
    def cases(self) -> str:
        """How cases arise, in words."""
        where = f"{self.distance:g} apart in {self.n_signal} of {self.n_features} features"
        if "df" in self.preset.defaults:
            return f"two classes of t distributions with {self.df:g} degrees of freedom, {where}"
        return f"two Gaussians {where}, neighbors correlated by {self.correlation:g}"

    @cached_property
    def _center(self) -> Array:
        center = np.zeros(self.n_features)
        center[: self.n_signal] = 0.5 * self.distance / math.sqrt(self.n_signal)
        return center

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
        return (2 * labels - 1)[:, None] * self._center + noise, labels

    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of a linear rule: the mean of two tail areas."""
        shift = float(self._center @ coef)
        turned = self._root.T @ coef if self.correlation else coef
        length = max(math.sqrt(turned @ turned), 1e-250)  # 0 would turn a certain prediction into nan
        scores = np.array([intercept - shift, -intercept - shift]) / length
        return float((ndtr(scores) if math.isinf(self.df) else stdtr(self.df, scores)).mean())
