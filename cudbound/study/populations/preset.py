"""Worlds that differ in parameters only: one class, and presets of its parameters under names of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import Any, Generic, TypeVar

from cudbound.hints import did_you_mean
from cudbound.study.populations.simulated import World

Made = TypeVar("Made", bound=World, covariant=True)


@dataclass(frozen=True)
class Preset(Generic[Made]):
    """Parameters of a class of worlds under a name of their own; called with other values it makes such a world.

    Attributes
    ----------
    makes : callable
        The class; its first parameter is the preset.
    name : str
        The word for it in design files and results.
    defaults : mapping of str to number
        The parameters that the preset has, in the order in which they print. Others of the class stay as they are.
    """

    makes: Callable[..., Made]
    name: str
    defaults: Mapping[str, float] = field(hash=False)

    @property
    def label(self) -> str:
        """What a world that it made prints as, and so a part of what identifies a study, such as NearSeparable."""
        return "".join(word.capitalize() for word in self.name.split("-"))

    def __call__(self, **given: float) -> Made:
        """Return the world of these parameters.

        Raises
        ------
        TypeError
            If the preset has no such parameter.
        ValueError
            If a value is out of range.
        """
        for key in given.keys() - self.defaults:
            hint = did_you_mean(key, self.defaults, "it has")
            raise TypeError(f"{self.label}() has no parameter {key!r}; {hint}")
        return self.makes(self, **{**self.defaults, **given})

    @property
    def __signature__(self) -> Signature:
        kind = Parameter.KEYWORD_ONLY
        return Signature([Parameter(key, kind, default=value) for key, value in self.defaults.items()])


class FromPreset(World):
    """A world that a preset made: it has its name, and prints with the parameters of the preset alone."""

    preset: Preset[Any]

    @property
    def name(self) -> str:
        """The word for it in design files and results."""
        return self.preset.name

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={getattr(self, key)!r}" for key in self.preset.defaults)
        return f"{self.preset.label}({shown})"
