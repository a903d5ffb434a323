"""The classifier that the options of a command ask for."""

from __future__ import annotations

from collections.abc import Sequence

from cudbound.cli.inputs.assignments import parse_assignments, parse_value
from cudbound.inputs.named_classifiers import (
    CLASSIFIERS,
    DEFAULT,
    LEARNERS,
    ClassifierChoice,
    build,
    check_classifier,
)

__all__ = ["CLASSIFIERS", "DEFAULT", "LEARNERS", "ClassifierChoice", "build", "choose"]


def choose(name: str, assignments: Sequence[str], *, standardize: bool = False) -> ClassifierChoice:
    """Return a choice whose options have been tried on a small example.

    Parameters
    ----------
    name : str
        One of `LEARNERS`.
    assignments : sequence of str
        ``NAME=VALUE`` each; a value is a number, true, false, none, or a word.
    standardize : bool, default False

    Raises
    ------
    ValueError
        If an option is malformed, unknown or given twice, or if the class refuses its value.
    """
    options = {option: parse_value(text) for option, text in parse_assignments(assignments).items()}
    return check_classifier(ClassifierChoice(name, tuple(options.items()), standardize))
