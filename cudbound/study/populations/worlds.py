"""Simulated populations whose true error is known: exactly, or to a stated accuracy.

The true error of a linear rule has a formula in every world with continuous features; that of any classifier is a sum
over all cases in every world with few distinct cases. Anything else is tested on 50000 fixed cases, with a standard
error of at most .00224.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from cudbound.study.populations.curved_worlds import Donut as Donut
from cudbound.study.populations.curved_worlds import Quadratic as Quadratic
from cudbound.study.populations.discrete_worlds import BinaryFinding as BinaryFinding
from cudbound.study.populations.discrete_worlds import FewLevels
from cudbound.study.populations.discrete_worlds import MissingValues as MissingValues
from cudbound.study.populations.discrete_worlds import ThreePoint as ThreePoint
from cudbound.study.populations.mixture import Mixture, PureNoise, SeveralClasses, TwoCenters
from cudbound.study.populations.simulated import Preset, World

_CENTERS = {"distance": 1.6, "n_features": 3, "n_signal": 1}
_CLASSES = {**_CENTERS, "positive_share": 0.5, "positive_sd": 1.0}

Gaussians = Preset(Mixture, "gaussians", _CLASSES)
#: Most small samples are separable: the smallest error is Phi(-2.5) = .0062.
NearSeparable = Preset(Mixture, "near-separable", {**_CLASSES, "distance": 5.0})
Imbalanced = Preset(Mixture, "imbalanced", {**_CLASSES, "positive_share": 0.2})
#: As many features as half of fifty cases.
Wide = Preset(Mixture, "wide", {**_CLASSES, "distance": 2.0, "n_features": 25, "n_signal": 5})
#: A sample of thirty has three cases of class 1.
RareClass = Preset(Mixture, "rare-class", {**_CLASSES, "distance": 2.0, "positive_share": 0.1})
Noise = Preset(PureNoise, "noise", {"n_features": 3, "positive_share": 0.5})
Outliers = Preset(Mixture, "outliers", {**_CENTERS, "outlier_share": 0.1, "outlier_sd": 5.0})
#: Most small samples look separable, but the population is not.
FlippedLabels = Preset(Mixture, "flipped-labels", {**_CLASSES, "distance": 6.0, "flip_rate": 0.03})
#: Few small samples show that part of class 1 looks like class 0.
HiddenSubgroup = Preset(Mixture, "hidden-subgroup", {**_CLASSES, "distance": 5.0, "subgroup_share": 0.1})
#: With two degrees of freedom the features have no variance.
HeavyTails = Preset(TwoCenters, "heavy-tails", {"distance": 3.0, "df": 2.0, "n_features": 3, "n_signal": 1})
#: Nearly as many features as thirty cases.
Correlated = Preset(
    TwoCenters, "correlated", {"distance": 2.0, "n_features": 27, "n_signal": 5, "correlation": 0.7}
)
Discrete = Preset(FewLevels, "discrete", {"n_levels": 3, "n_features": 3, "n_signal": 2, "signal": 0.8})
Binary = Preset(FewLevels, "binary", {"n_levels": 2, "n_features": 5, "n_signal": 3, "signal": 1.0})

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
    SeveralClasses,
)
#: Worlds by their name in design files; calling a value with parameters by name makes the world.
WORLDS: Mapping[str, Callable[..., World]] = MappingProxyType({world.name: world for world in _WORLDS})
