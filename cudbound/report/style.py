"""Rounding rules and safe text. Nothing here computes, nothing here knows of a table."""

from __future__ import annotations

import math
from typing import Literal

Kind = Literal["text", "count", "proportion", "level"]

#: Decimals of a proportion: with n patients an error moves in steps of 1/n, and n is 20 to 200.
PROPORTION_DECIMALS = 3


def format_proportion(value: float) -> str:
    """Round a proportion to 3 decimals.

    A value that is not 0 is never shown as ``0.000``, nor one that is not 1 as ``1.000``: a reader takes
    those for exact, and a width of zero has a meaning of its own.

    Parameters
    ----------
    value : float
        A proportion, usually in [0, 1]; NaN stands for an undefined value.

    Returns
    -------
    str

    Examples
    --------
    >>> [format_proportion(x) for x in (0.0, 0.0001, 0.21649, 0.9999, 1.0, float("nan"))]
    ['0.000', '<0.001', '0.216', '>0.999', '1.000', 'undefined']
    """
    if math.isnan(value):
        return "undefined"
    step = 10.0**-PROPORTION_DECIMALS
    text = f"{value + 0.0:.{PROPORTION_DECIMALS}f}"  # adding 0 takes the sign off a negative zero
    if value > 0 and float(text) == 0:
        return f"<{step:.{PROPORTION_DECIMALS}f}"
    if value < 1 and float(text) == 1:
        return f">{1 - step:.{PROPORTION_DECIMALS}f}"
    return text


def format_level(confidence_level: float) -> str:
    """Write a confidence level in percent, without rounding it away.

    Examples
    --------
    >>> format_level(0.95), format_level(0.999)
    ('95%', '99.9%')
    """
    return f"{100 * confidence_level:.10g}%"


def format_cell(value: str | float, kind: Kind) -> str:
    """Write one value of a table by the rule of its kind."""
    if isinstance(value, str):
        return printable(value)
    if kind == "proportion":
        return format_proportion(value)
    if kind == "level":
        return format_level(value)
    return str(value)


def printable(text: str) -> str:
    r"""Escape every character that does not print, so that foreign text cannot steer a terminal.

    Line breaks, escape sequences, and characters that reverse the reading direction are written out; letters
    of any script stay as they are.

    Examples
    --------
    >>> print(printable("na\x1b[2Jme\n"), printable("größe"))
    na\x1b[2Jme\n größe
    """
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode("ascii") for ch in text)
