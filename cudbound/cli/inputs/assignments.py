"""Options of the form NAME=VALUE: what is said on the command line, and what a value means."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from cudbound.inputs.csv_file import quoted

_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}


def parse_assignments(
    assignments: Iterable[str], *, form: str = "NAME=VALUE, such as C=0.5"
) -> dict[str, str]:
    """Return the text of each value by its name.

    Parameters
    ----------
    assignments : iterable of str
    form : str
        What an assignment looks like, for the message.

    Raises
    ------
    ValueError
        If one is malformed or given twice.
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


def number_or_nan(value: Any) -> float:
    """Return what a text or a label is as a number; nan if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
