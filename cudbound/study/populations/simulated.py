"""Base classes of simulated populations, which draw cases by a rule and may have a formula for the true error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.hints import did_you_mean
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_integer, check_number
from cudbound.study.populations.population import (
    N_TRUTH_CASES,
    Array,
    Cases,
    Truth,
    linear_rule,
    sampled_truth,
)

Labels = NDArray[np.int64]
AnyWorld = TypeVar("AnyWorld", bound="World", covariant=True)
#: How the true error is found, for titles.
BY_SAMPLE = f"true error on {N_TRUTH_CASES} fixed cases"
BY_FORMULA = f"true error by formula for linear classifiers, else on {N_TRUTH_CASES} fixed cases"
ALWAYS_EXACT = "true error exact for every classifier"
#: With more features than this, one sample fills the memory.
MAX_FEATURES = 10_000


def check_share(name: str, share: float) -> None:
    """Raise for a share that is not strictly between 0 and 1.

    Raises
    ------
    ValueError
        The message names the parameter.
    """
    check_number(name, share, 0.0, 1.0)
    if share == 0.0:
        raise ParameterError(name, "above 0 and below 1", share)


def check_features(n_features: int, n_signal: int) -> None:
    """Raise for numbers of features below 1, and for more features with signal than features.

    Raises
    ------
    ValueError
        The message names the parameter.
    """
    check_integer("n_features", n_features, 1, MAX_FEATURES)
    check_integer("n_signal", n_signal, 1)
    if n_signal > n_features:
        raise ParameterError("n_signal", f"at most n_features = {n_features}", n_signal)


@dataclass(frozen=True)
class World(ABC):
    """A simulated population; a subclass adds its parameters, each with a default.

    A world is a `Population`. Two worlds of the same class and parameters are equal.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in design files and results."""

    @property
    def title(self) -> str:
        """One line on how cases arise and how the true error is found."""
        return f"{self.cases}; {self._truth()}"

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features, usually a parameter."""

    @property
    @abstractmethod
    def cases(self) -> str:
        """How cases arise, in words."""

    def _truth(self) -> str:
        """Return how the true error is found, in words."""
        return BY_SAMPLE

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features, shape (n, n_features), and labels 0 and 1, shape (n,), of n independent cases."""

    def true_error(self, classifier: Any) -> Truth:
        """Return the error of a fitted classifier of the classes 0 and 1 on this world."""
        return sampled_truth(self, classifier)

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n independent cases; it may have only one class.

        Raises
        ------
        ValueError
            If n is not an integer of at least 1.
        """
        X, y = self.sample(check_integer("n", n, 1), rng)
        return Cases(X, y, self.true_error)


@dataclass(frozen=True)
class ContinuousWorld(World):
    """A world with a formula for the error of a linear rule; other rules are tested on a large fixed sample."""

    def _truth(self) -> str:
        return BY_FORMULA

    @abstractmethod
    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of the rule that predicts 1 if ``x @ coef + intercept > 0``.

        Parameters
        ----------
        coef : ndarray of float, shape (n_features,)
            All 0 means one predicted class, given by the sign of `intercept`.
        intercept : float
        """

    def true_error(self, classifier: Any) -> Truth:
        """Return the error of a fitted classifier of the classes 0 and 1 on this world.

        Returns
        -------
        Truth
            Without standard error for a linear rule; otherwise the share of misclassified cases out of 50000.
        """
        rule = linear_rule(classifier, self.n_features)
        if rule is None:
            return super().true_error(classifier)
        return Truth(min(max(self.linear_error(*rule), 0.0), 1.0))  # rounding may pass the ends


@dataclass(frozen=True)
class Preset(Generic[AnyWorld]):
    """Named parameters of a class of worlds; calling the preset with other values makes a world.

    Attributes
    ----------
    makes : callable
        The class; its first parameter is the preset.
    name : str
        Its name in design files and results.
    defaults : mapping of str to number
        The parameters of the preset, in printing order. Other parameters of the class keep their defaults.
    """

    makes: Callable[..., AnyWorld]
    name: str
    defaults: Mapping[str, float] = field(hash=False)

    @property
    def label(self) -> str:
        """Printed name of its worlds, such as NearSeparable, and so part of the identity of a study."""
        return "".join(word.capitalize() for word in self.name.split("-"))

    def __call__(self, **parameters: float) -> AnyWorld:
        """Return the world with these parameters.

        Raises
        ------
        TypeError
            If the preset has no such parameter.
        ValueError
            If a value is out of range.
        """
        for key in parameters.keys() - self.defaults:
            hint = did_you_mean(key, self.defaults, "it has")
            raise TypeError(f"{self.label}() has no parameter {key!r}; {hint}")
        return self.makes(self, **{**self.defaults, **parameters})

    @property
    def __signature__(self) -> Signature:
        kind = Parameter.KEYWORD_ONLY
        return Signature([Parameter(key, kind, default=value) for key, value in self.defaults.items()])


class FromPreset(World):
    """A world made by a preset, with its name; it prints only the parameters of the preset."""

    preset: Preset[Any]

    @property
    def name(self) -> str:
        """Its name in design files and results."""
        return self.preset.name

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={getattr(self, key)!r}" for key in self.preset.defaults)
        return f"{self.preset.label}({shown})"
