"""Simulated populations whose true error is known: exactly, or to a stated accuracy.

The true error of a linear rule follows from a formula in every world with continuous features, and that of any
classifier by summing over all cases in every world with few distinct ones. Anything else is judged on 50000 fixed
cases, with a standard error of at most .00224.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cudbound.study.populations.breaking_worlds import (
    Correlated,
    FlippedLabels,
    HeavyTails,
    HiddenSubgroup,
    RareClass,
)
from cudbound.study.populations.clinical_worlds import BinaryFinding, MissingValues
from cudbound.study.populations.curved_worlds import Donut, Quadratic
from cudbound.study.populations.discrete_worlds import Binary, Discrete, ThreePoint
from cudbound.study.populations.gaussian_worlds import (
    Gaussians,
    Imbalanced,
    NearSeparable,
    Noise,
    Outliers,
    Wide,
)
from cudbound.study.populations.simulated import World

__all__ = [
    "WORLDS",
    "Binary",
    "BinaryFinding",
    "Correlated",
    "Discrete",
    "Donut",
    "FlippedLabels",
    "Gaussians",
    "HeavyTails",
    "HiddenSubgroup",
    "Imbalanced",
    "MissingValues",
    "NearSeparable",
    "Noise",
    "Outliers",
    "Quadratic",
    "RareClass",
    "ThreePoint",
    "Wide",
]

_WORLDS = (
    Gaussians,
    NearSeparable,
    Imbalanced,
    Wide,
    Noise,
    Outliers,
    Quadratic,
    Donut,
    ThreePoint,
    Discrete,
    Binary,
    FlippedLabels,
    HiddenSubgroup,
    HeavyTails,
    RareClass,
    Correlated,
    BinaryFinding,
    MissingValues,
)
#: Worlds by the name that design files use; the value takes the parameters of the world by name.
WORLDS: Mapping[str, Callable[..., World]] = MappingProxyType({world.name: world for world in _WORLDS})
