"""Checks of options that depend on each other."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cudbound.cli.inputs.assignments import parse_assignments, parse_value
from cudbound.hints import did_you_mean
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.csv_file import quoted

if TYPE_CHECKING:
    from cudbound.intervals import Method


def choose_classifier(
    name: str, assignments: Iterable[str], standardize: bool = False, *, option: str = "--set"
) -> ClassifierRecipe:
    """Return a recipe whose options have been tried on a small example.

    Parameters
    ----------
    name : str
        One of `LEARNERS`.
    assignments : iterable of str
        ``NAME=VALUE`` each; a value is a number, true, false, none, or a word.
    standardize : bool, default False
    option : str, default "--set"
        That of the command line by which the assignments were given.

    Raises
    ------
    click.BadParameter
        If an option is malformed, unknown or given twice, or if the class refuses its value.
    """
    try:
        options = tuple((key, parse_value(text)) for key, text in parse_assignments(assignments).items())
        return ClassifierRecipe(name, options, standardize)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=f"'{option}'") from error


def method_options(assignments: Iterable[str], methods: Iterable[Method]) -> dict[str, dict[str, Any]]:
    """Return the options of single methods by the names of the methods.

    Parameters
    ----------
    assignments : iterable of str
        ``METHOD.NAME=VALUE`` each.
    methods : iterable of Method
        Those that are asked for.

    Raises
    ------
    click.BadParameter
        If one is malformed, given twice, for a method that is not asked for, unknown or not allowed.
    """
    asked = {method.name: method for method in methods}
    from cudbound.method_card import Flag, Number

    form = "METHOD.NAME=VALUE, such as kohavi-normal.form=wilson"
    found: dict[str, dict[str, Any]] = {}
    try:
        for whole, text in parse_assignments(assignments, form=form).items():
            method, _, name = whole.partition(".")
            if not method or not name:
                raise ValueError(f"{quoted(f'{whole}={text}')} is not of the form {form}.")
            if method not in asked:
                raise ValueError(_not_asked_for(method, asked))
            known = asked[method].options
            if name not in known:
                hint = did_you_mean(name, list(known), "its options are") if known else "it has none."
                raise ValueError(f"{method} has no option {quoted(name)}; {hint}")
            value = parse_value(text) if isinstance(known[name], Number | Flag) else text
            found.setdefault(method, {})[name] = known[name].check(f"{method}.{name}", value)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--option'") from error
    return found


def _not_asked_for(name: str, asked: Mapping[str, Method]) -> str:
    from cudbound.intervals import METHODS

    if name in METHODS:
        return f"{name} is not among the methods asked for; add it to --methods."
    close = difflib.get_close_matches(name, asked, n=1)
    hint = f"did you mean {close[0]}?" if close else "'cudbound methods' lists the names and their options."
    return f"there is no method {quoted(name)}; {hint}"


def check_folds(
    folds: int | None,
    group: str | None,
    methods: Sequence[Method],
    available: Sequence[Method],
    *,
    lenient: bool = False,
) -> None:
    """Raise UsageError if no method reads the folds that are asked for, or one would tear groups of rows apart.

    Parameters
    ----------
    folds, group
        The values of --folds and --group.
    methods : sequence of Method
        Those that are asked for.
    available : sequence of Method
        Those that the command has, for the way out.
    lenient : bool, default False
        Whether methods that take groups apart keep a row that says so.
    """
    from cudbound.tables.caller_splits import FOLDS_OF_GROUPS, takes_groups_apart

    torn = [method.name for method in methods if takes_groups_apart(method, FOLDS_OF_GROUPS)]
    if group is not None and torn and not lenient:
        raise click.UsageError(
            f"--group: {', '.join(torn)} would take the rows of a group apart; name other methods. The column "
            "with_groups of 'cudbound methods --format csv' says which keep them together."
        )
    if folds is not None and not any(method.needs & FOLDS_OF_GROUPS for method in methods):
        readers = [method.name for method in available if method.needs & FOLDS_OF_GROUPS]
        raise click.UsageError(
            f"--folds: none of the methods asked for reads folds or splits; these do: {', '.join(readers)}."
        )


def check_alternative(
    alternative: str, methods: Iterable[Method], null: float, confidence_level: float
) -> None:
    """Raise UsageError if a method has no direction and the alternative has one, or a margin cannot be tested."""
    from cudbound.intervals import METHODS, difference

    methods = tuple(methods)
    undirected = [method.name for method in methods if method.two_sided_only]
    if alternative != "two-sided" and undirected:
        others = [name for name, one in METHODS.items() if one.compares and not one.two_sided_only]
        raise click.UsageError(
            f"--alternative {alternative}: {', '.join(undirected)} has no direction; leave it out of --methods, "
            f"or name the others: {','.join(others)}."
        )
    try:
        difference.check_alternative(alternative, methods, null, confidence_level)
    except ValueError as error:
        raise click.UsageError(f"--alternative {alternative} --null {null:g}: {error}") from error


def check_tuned(methods: Iterable[Method], model: object) -> None:
    """Raise UsageError if a method reads a fitted search and what is asked about is none.

    Parameters
    ----------
    methods : iterable of Method
        Those that are asked for.
    model : object
        The estimator of --model, or what is to be fitted.
    """
    tuned = [method.name for method in methods if "tuned" in method.needs]
    if not tuned:
        return
    from cudbound.exceptions import UnsupportedEstimatorError
    from cudbound.resampling.configurations import check_search

    try:
        check_search(model)
    except UnsupportedEstimatorError as error:
        raise click.UsageError(
            f"--methods: {', '.join(tuned)} needs a fitted GridSearchCV or RandomizedSearchCV, saved with skops: name "
            "its file with --model, or leave the method out."
        ) from error
