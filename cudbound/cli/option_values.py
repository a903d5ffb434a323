"""From the text of an option to its value, where click has no type for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudbound.basis.parameter_error import ParameterError
from cudbound.inputs.csv_file import quoted

if TYPE_CHECKING:
    from cudbound.resampling import ResamplingSizes

_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}


def from_text(function: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the type of an option whose value `function` makes of a text; its ValueError says what is wrong."""

    def text(value: str) -> Any:
        try:
            return function(value)
        except ParameterError as error:
            rule = f"it must be {error.rule}. Got {error.value!r} instead.{error.hint}"
            raise click.BadParameter(rule) from error
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return text


def parse_value(text: str) -> Any:
    """Return a number, True, False, None, or the text itself.

    Examples
    --------
    >>> [parse_value(text) for text in ("3", "1e-3", "False", "none", "hinge")]
    [3, 0.001, False, None, 'hinge']
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def split_assignments(assignments: Iterable[str], form: str = "NAME=VALUE, such as C=0.5") -> dict[str, str]:
    """Return the text of the value of each assignment ``NAME=VALUE`` by its name.

    Raises
    ------
    ValueError
        If one is malformed, and so not of the `form`, or given twice.
    """
    found: dict[str, str] = {}
    for assignment in assignments:
        name, _, text = (part.strip() for part in assignment.partition("="))
        if not name or not text:
            raise ValueError(f"{quoted(assignment)} is not of the form {form}.")
        if name in found:
            raise ValueError(f"{quoted(name)} is given twice; give it once.")
        found[name] = text
    return found


def parse_assignments(assignments: Iterable[str], form: str = "NAME=VALUE, such as C=0.5") -> dict[str, Any]:
    """Return the value of each assignment by its name, see `split_assignments` and `parse_value`."""
    return {name: parse_value(text) for name, text in split_assignments(assignments, form).items()}


def between_commas(text: str) -> tuple[str, ...]:
    """Return the words that stand between commas."""
    return tuple(part.strip() for part in text.split(","))


def level(text: str) -> float:
    """Return a number strictly between 0 and 1."""
    from cudbound.basis.validation import check_confidence_level

    return check_confidence_level(parse_value(text))


def interval_methods(text: str) -> str | tuple[str, ...]:
    """Return the name of a group of intervals, or the intervals whose names stand between commas."""
    from cudbound.intervals import GROUPS, find_methods

    asked = text.strip() if text.strip() in GROUPS else between_commas(text)
    find_methods(asked)
    return asked


def comparison_methods(text: str) -> str | tuple[str, ...]:
    """Return ``all``, or the comparisons whose names stand between commas."""
    from cudbound.intervals import find_comparisons

    asked = text if text == "all" else between_commas(text)
    find_comparisons(asked)
    return asked


def metrics(text: str) -> tuple[str, ...]:
    """Return the metrics whose names stand between commas."""
    from cudbound.metrics.metrics import check_name

    return tuple(map(check_name, between_commas(text)))


def total_node_limit(text: str) -> Any:
    """Return a number of nodes, infinity for ``none``."""
    return math.inf if text == "none" else parse_value(text)


def output(text: str) -> Path | None:
    """Return the file to write, or None for stdout, which is called -."""
    return None if text == "-" else Path(text)


def delimiter(text: str) -> str:
    """Return the character between the cells of a CSV file."""
    return "\t" if text in ("tab", r"\t") else text


def sizes(
    context: click.Context, param: click.Parameter, assignments: tuple[str, ...]
) -> ResamplingSizes | None:
    """Return numbers of folds, splits and repetitions; None if all are left to their defaults."""
    if not assignments:
        return None
    from dataclasses import fields

    from cudbound.basis.hints import did_you_mean
    from cudbound.resampling import ResamplingSizes

    known = [one.name for one in fields(ResamplingSizes)]
    try:
        given = parse_assignments(assignments, "NAME=VALUE, such as n_folds=5")
        for name in given:
            if name not in known:
                raise ValueError(
                    f"there is no size {quoted(name)}; {did_you_mean(name, known, 'the sizes are')}"
                )
        return ResamplingSizes(**given)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def costs(
    context: click.Context, param: click.Parameter, assignments: tuple[str, ...]
) -> dict[str, float] | None:
    """Return the cost of a wrong case by the text of its true class; None if none is given."""
    try:
        return parse_assignments(assignments, "VALUE=COST, such as yes=5") or None
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
