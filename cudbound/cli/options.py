"""Values of options that click cannot check by itself: one callback each, from the text to the value."""

from __future__ import annotations

import difflib
import math

import click

ALPHA_NAMES = ("n", "paper-literal")
_DELIMITERS = {",": ",", ";": ";", "|": "|", "\t": "\t", "tab": "\t", r"\t": "\t"}


def level(context: click.Context, param: click.Parameter, text: str) -> float:
    """Return a number strictly between 0 and 1; unlike click's own range this refuses nan."""
    number = _number(text)
    if not 0 < number < 1:
        raise click.BadParameter(f"{text!r} is not a number strictly between 0 and 1 (95% is 0.95).")
    return number


def alpha(context: click.Context, param: click.Parameter, text: str) -> str | float:
    """Return ``n``, ``paper-literal``, or a number in [0, inf]."""
    if text in ALPHA_NAMES:
        return text
    number = _number(text)
    if not number >= 0:
        names = " nor ".join(ALPHA_NAMES)
        raise click.BadParameter(f"{text!r} is neither {names} nor a number in [0, inf].")
    return number


def methods(context: click.Context, param: click.Parameter, text: str) -> str | tuple[str, ...]:
    """Return the name of a group of methods, or the methods whose names stand between commas."""
    from cudbound.intervals import GROUPS, METHODS

    if text.strip() in GROUPS:
        return text.strip()
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in METHODS:
            close = difflib.get_close_matches(name, METHODS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"the names are {', '.join(METHODS)}."
            raise click.BadParameter(f"there is no method {name!r}; {hint}")
    return names


def inner(context: click.Context, param: click.Parameter, text: str) -> int | str:
    """Return a positive number of inner draws, or ``oob``."""
    if text == "oob":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is neither a positive number nor oob.")
    return int(text)


def delimiter(context: click.Context, param: click.Parameter, text: str) -> str:
    """Return the character between the cells of a CSV file."""
    if text not in _DELIMITERS:
        raise click.BadParameter(f"{text!r} is not one of: , ; | tab.")
    return _DELIMITERS[text]


def jobs(context: click.Context, param: click.Parameter, number: int) -> int:
    """Return a number of threads: positive, or -1 for one per processor."""
    if number < 1 and number != -1:
        raise click.BadParameter(f"{number} is neither a positive number nor -1 (all processors).")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
