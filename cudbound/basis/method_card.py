"""What every registered method says of itself, and the options it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from cudbound.basis.hints import suggestion
from cudbound.basis.outcomes import Estimand
from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_choice, check_flag, check_number

#: What the formulas of several methods share, by a pattern that finds it in them.
SYMBOLS = {
    r"\bn\b(?!\*)": "n: rows",
    r"\bd\b": "d: 1 - confidence level",
    r"\bz\(": "z(p): quantile of the normal distribution",
    r"\bt\(": "t(p; v): quantile of t with v degrees of freedom",
    r"\bT\b(?! =)": "T: training error",
    r"\bx\b(?!')": "x: .632 estimate",
    r"\bA_b\b": "A_b: error of the refit to draw b on that draw",
    r"\bD_b\b": "D_b: error of the refit to draw b on the training set",
    r"Err\(1\)(?! =)": "Err(1): mean over the rows of the error at the row of the draws without it",
}
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Choice:
    """An option that is one of some words; the first is the default."""

    words: tuple[str, ...]

    @property
    def default(self) -> str:
        """The value that is used unless another is given."""
        return self.words[0]

    def check(self, name: str, value: object) -> str:
        """Return the value; raise ValueError if it is none of the words."""
        return check_choice(name, value, self.words)

    def __str__(self) -> str:
        return ", ".join(self.words)


@dataclass(frozen=True)
class Number:
    """An option that is a number in [low, high), or in [low, inf] if `high` is infinite."""

    default: float
    low: float = 0.0
    high: float = float("inf")

    def check(self, name: str, value: object) -> float:
        """Return the value as a float; raise ValueError if it is no number of the range."""
        return check_number(name, value, self.low, self.high)

    def __str__(self) -> str:
        return f"{self.default:g}"


@dataclass(frozen=True)
class Flag:
    """An option that is true or false."""

    default: bool

    def check(self, name: str, value: object) -> bool:
        """Return the value; raise ValueError if it is neither."""
        return check_flag(name, value)

    def __str__(self) -> str:
        return str(self.default).lower()


Option = Choice | Number | Flag


@dataclass(frozen=True, kw_only=True)
class MethodCard:
    """What a registered method says of itself.

    Attributes
    ----------
    name : str
        The word for it in ``methods=``.
    title : str
        One line.
    formula : str, default=""
        The estimate or the limits in plain characters, in the symbols of `SYMBOLS`.
    estimand : Estimand
        What it aims at; where the records decide the number of training rows, the kind alone.
    needs : frozenset of str
        What must be recorded: names of fields of `cudbound.records.Records`.
    assumptions : str
        What has to hold for the nominal level.
    tendency : str
        Whether it is known to be too short (liberal) or too long (conservative), too low or too high, and where.
    reference : str
        Source with section or equation, and where this package deviates from it.
    cost : str
        Classifier fits beyond the one that is given, in the symbols of `cudbound.ResamplingSizes`.
    options : mapping of str to Option
        What can be chosen, with defaults.
    needs_with : callable or None
        ``needs_with(options) -> frozenset of str``: what must be recorded under all its options where that can be less
        than `needs`; None where it cannot.
    with_groups : {"kept", "refits", "no"}
        What becomes of rows that belong together: "kept" if what is resampled and the limits follow from whole groups,
        "refits" if refits keep groups together and the limits count rows as independent, "no" if it cannot be used.
    """

    name: str
    title: str
    estimand: Estimand
    needs: frozenset[str]
    assumptions: str
    tendency: str
    reference: str
    cost: str
    options: Mapping[str, Option] = field(default_factory=dict)
    formula: str = ""
    needs_with: Callable[[Mapping[str, Any]], frozenset[str]] | None = field(default=None, repr=False)
    with_groups: Literal["kept", "refits", "no"] = "kept"

    def __post_init__(self) -> None:
        if not isinstance(self.estimand, Estimand):
            raise ValueError(
                f"The 'estimand' of {self.name} must be an Estimand, such as Estimand('conditional'). "
                f"Got {self.estimand!r} instead."
            )

    @property
    def symbols(self) -> str:
        """What those symbols of the formula mean that it does not explain itself."""
        return "; ".join(meaning for pattern, meaning in SYMBOLS.items() if re.search(pattern, self.formula))

    def needed(self, options: Mapping[str, Any]) -> frozenset[str]:
        """Return what must be recorded under these options, one for each of the method's own."""
        return self.needs if self.needs_with is None else self.needs_with(options)

    def resolve_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a value for every option, the given one or the default.

        Raises
        ------
        ValueError
            If an option is unknown or its value is not allowed.
        """
        for name in sorted(set(given) - set(self.options)):
            meant = suggestion(name, self.options)
            raise ValueError(
                f"{self.name} has no option {name!r}. Its options are {sorted(self.options)}.{meant}"
            )
        return {
            name: option.check(name, given.get(name, option.default)) for name, option in self.options.items()
        }


Card = TypeVar("Card", bound=MethodCard)


def find_named(
    asked: str | Sequence[str | Card],
    known: Mapping[str, Card],
    groups: Mapping[str, Iterable[str]],
    rule: str,
) -> tuple[Card, ...]:
    """Return the methods of a group, of one name or of a list, each once, in the order given.

    A list has names, or methods themselves, which need not be known.

    Raises
    ------
    ValueError
        If a name is not known or the list is empty; the message has the `rule`.
    """
    listed = groups.get(asked, (asked,)) if isinstance(asked, str) else asked
    entries = {one.name if isinstance(one, MethodCard) else one: one for one in listed}
    unknown = [one for one in entries.values() if not isinstance(one, MethodCard) and one not in known]
    if unknown or not entries:
        meant = suggestion(str(unknown[0]) if unknown else "", (*known, *groups))
        raise ParameterError("methods", rule, unknown[0] if unknown else asked, meant)
    return tuple(known[one] if isinstance(one, str) else one for one in entries.values())


def check_options(options: object, methods: Iterable[MethodCard]) -> dict[str, dict[str, Any]]:
    """Return the options of single methods by their names.

    Raises
    ------
    ValueError
        If they are no mapping of mappings, if one is for a method that is not asked for, or if a name or a value of an
        option is not allowed.
    """
    example = 'a mapping of names of methods to mappings, such as {"kohavi-normal": {"form": "wilson"}}'
    if not isinstance(options, Mapping):
        raise ParameterError("options", f"{example}", options)
    for name, given in options.items():
        if not isinstance(given, Mapping):
            raise ValueError(
                f"The 'options' parameter must be {example}. Got {given!r} for {name!r} instead."
            )
    asked = {method.name: method for method in methods}
    for name in sorted(set(options) - set(asked)):
        meant = suggestion(name, asked)
        raise ValueError(f"'options' names {name!r}, which is not among the methods asked for.{meant}")
    return {name: asked[name].resolve_options(given) for name, given in options.items()}
