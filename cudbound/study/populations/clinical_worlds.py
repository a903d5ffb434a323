"""Simulated populations with features of clinical data: a binary finding with measurements, and missing values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, ndtr

from cudbound.basis.validation import check_integer, check_number
from cudbound.study.populations.simulated import (
    MAX_FEATURES,
    Array,
    ContinuousWorld,
    Labels,
    World,
    check_share,
)


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

    odds_ratio: float = 3.0
    n_noise: int = 2
    name: ClassVar[str] = "binary-finding"

    def __post_init__(self) -> None:
        check_number("odds_ratio", self.odds_ratio, 1.0, 1000.0)
        check_integer("n_noise", self.n_noise, 0, MAX_FEATURES - 1)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return 1 + self.n_noise

    @property
    def cases(self) -> str:
        """How cases arise, in words."""
        return f"a binary finding with odds ratio {self.odds_ratio:g} and {self.n_noise} normal features"

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

    n_features: int = 5
    missing_share: float = 0.1
    signal: float = 1.0
    effect: float = 1.0
    name: ClassVar[str] = "missing-values"

    def __post_init__(self) -> None:
        check_integer("n_features", self.n_features, 3, MAX_FEATURES)
        check_share("missing_share", self.missing_share)
        check_number("signal", self.signal, 0.0, 100.0)
        check_number("effect", self.effect, 0.0, 100.0)

    @property
    def cases(self) -> str:
        """How cases arise, in words."""
        return (
            f"{self.n_features - 1} normal features and one of four levels, {self.missing_share:.0%} missing"
        )

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features, some of them nan, and labels of n independent cases."""
        X = rng.standard_normal((n, self.n_features))
        level = rng.integers(0, 4, n)
        odds = self.signal * (X[:, 0] + X[:, 1]) + self.effect * np.array([1.0, 0.0, 0.0, -1.0])[level]
        X[:, -1] = level
        X[rng.random(X.shape) < self.missing_share] = np.nan
        return X, (rng.random(n) < expit(odds)).astype(np.int64)
