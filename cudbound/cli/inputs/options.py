"""Values of options that click cannot check by itself: from the text to the value."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cudbound.cli.inputs.assignments import number_or_nan, parse_assignments, parse_value
from cudbound.cli.inputs.forms import EXTENSIONS, PICTURES
from cudbound.hints import did_you_mean
from cudbound.inputs.csv_file import quoted
from cudbound.inputs.named_classifiers import LEARNERS

if TYPE_CHECKING:
    from cudbound.resampling import ResamplingSizes

#: As in `cudbound.validation` and `cudbound.problem.draws`, which are slow to import.
MAX_INNER, MAX_RESAMPLES = 100_000, 1_000_000
_DELIMITERS = {",": ",", ";": ";", "|": "|", "\t": "\t", "tab": "\t", r"\t": "\t"}


def level(text: str) -> float:
    """Return a number strictly between 0 and 1; unlike click's own range this refuses nan."""
    number = number_or_nan(text)
    if not 0 < number < 1:
        raise click.BadParameter(f"{text!r} is not a number strictly between 0 and 1 (95% is 0.95).")
    return number


def alpha(context: click.Context, param: click.Parameter, text: str | None) -> None:
    """Refuse what others call one minus the confidence level, and papers the localization rate."""
    if text is not None:
        known = {option for one in context.command.params for option in one.opts}
        rate = "; the rate alpha_n of the CUD bound is --localization" if "--localization" in known else ""
        raise click.NoSuchOption(
            "--alpha",
            f"There is no option --alpha: the level of the intervals is --confidence-level, such as 0.95{rate}.",
        )


def localization(text: str) -> str | float:
    """Return ``n``, ``paper-literal``, or a number in [0, inf]."""
    if text in ("n", "paper-literal"):
        return text
    number = number_or_nan(text)
    if not number >= 0:
        raise click.BadParameter(f"{text!r} is neither n nor paper-literal nor a number in [0, inf].")
    return number


def total_node_limit(text: str) -> float:
    """Return a number of nodes, infinity for ``none``."""
    if text == "none":
        return math.inf
    if not text.isdecimal():
        raise click.BadParameter(f"{text!r} is neither a number of nodes, such as 1000000, nor none.")
    return int(text) if len(text) < 19 else math.inf


def seconds(context: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Return the seconds; nan is within every range."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("'nan' is not a number of seconds.")
    return value


def interval_methods(text: str) -> str | tuple[str, ...]:
    """Return the name of a group of intervals, or the intervals whose names stand between commas."""
    from cudbound.intervals import GROUPS, METHODS

    return _methods(text, GROUPS, [name for name, one in METHODS.items() if one.gives_interval], "interval")


def comparison_methods(text: str) -> str | tuple[str, ...]:
    """Return ``all``, or the comparisons whose names stand between commas."""
    from cudbound.intervals import METHODS

    return _methods(text, ("all",), [name for name, one in METHODS.items() if one.compares], "comparison")


def learners(text: str) -> tuple[str, ...]:
    """Return two or more classifiers whose names stand between commas."""
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in LEARNERS:
            hint = did_you_mean(name, list(LEARNERS), "they are")
            raise click.BadParameter(f"there is no classifier {quoted(name)}; {hint}")
    if len(names) < 2 or len(set(names)) < len(names):
        raise click.BadParameter(f"{text!r} does not name two or more different classifiers.")
    return names


def _methods(text: str, groups: Collection[str], known: list[str], gives: str) -> str | tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if len(names) == 1 and names[0] in groups:
        return names[0]
    for name in names:
        if name not in known:
            raise click.BadParameter(_no_such_method(name, groups, known, gives))
    return names


def _no_such_method(name: str, groups: Collection[str], known: list[str], gives: str) -> str:
    from cudbound.intervals import METHODS
    from cudbound.point_estimates import ESTIMATORS

    overview = f"'cudbound methods --gives {gives}' lists the names."
    if name in groups:
        return f"{name!r} stands for several methods; give it alone, or name the methods: {overview}"
    if name in METHODS and gives == "interval":
        return f"{name!r} compares two classifiers; it is for 'cudbound compare-learners'."
    if name in METHODS:
        return (
            f"{name!r} is an interval for one classifier and compares nothing; it is for 'cudbound interval'."
        )
    if name in ESTIMATORS:
        return f"{name!r} is a point estimate, which cudbound.estimate_error in Python computes; {overview}"
    close = difflib.get_close_matches(name, [*groups, *known], n=1)
    return f"there is no method {name!r}; {f'did you mean {close[0]}?' if close else overview}"


def sizes(
    context: click.Context, param: click.Parameter, assignments: Iterable[str]
) -> ResamplingSizes | None:
    """Return numbers of folds, splits and repetitions; None if all are left to their defaults."""
    assignments = tuple(assignments)
    if not assignments:
        return None
    from dataclasses import fields

    from cudbound.resampling import ResamplingSizes

    known = [one.name for one in fields(ResamplingSizes)]
    try:
        given = parse_assignments(assignments, form="NAME=VALUE, such as n_folds=5")
        for name in given:
            if name not in known:
                raise ValueError(
                    f"there is no size {quoted(name)}; {did_you_mean(name, known, 'the sizes are')}"
                )
        return ResamplingSizes(**{name: parse_value(text) for name, text in given.items()})
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def inner(text: str) -> int | str:
    """Return a positive number of inner draws, or ``oob``."""
    if text == "oob":
        return text
    if not text.isdecimal() or text.strip("0") == "":
        raise click.BadParameter(f"{text!r} is neither a positive number nor oob.")
    if len(text) > 9 or int(text) > MAX_INNER:
        raise click.BadParameter(
            f"{quoted(text)} inner draws are more than {MAX_INNER:,}, the most of a draw."
        )
    return int(text)


def output(text: str) -> Path | None:
    """Return the file to write, or None for stdout, which is called -."""
    return None if text == "-" else Path(text)


def picture(text: str) -> Path:
    """Return the file of a picture, whose extension says of which kind."""
    path = Path(text)
    if EXTENSIONS.get(path.suffix.lower()) not in PICTURES:
        raise click.BadParameter(f"{text!r} ends in none of .{', .'.join(PICTURES)}.")
    return path


def label(text: str) -> str:
    """Return a name that LaTeX takes for a table."""
    from cudbound.report.table_style import Style

    try:
        Style(label=text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return text


def delimiter(text: str) -> str:
    """Return the character between the cells of a CSV file."""
    if text not in _DELIMITERS:
        raise click.BadParameter(f"{text!r} is not one of: , ; | tab.")
    return _DELIMITERS[text]


def jobs(context: click.Context, param: click.Parameter, number: int) -> int:
    """Return a number of workers: positive, or -1 for one per processor."""
    if number < 1 and number != -1:
        raise click.BadParameter(f"{number} is neither a positive number nor -1 (all processors).")
    return number
