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

    Asked = Mapping[str, object]


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


def choose_learners(
    names: Iterable[str], assignments: Iterable[str], standardize: bool = False
) -> dict[str, ClassifierRecipe]:
    """Return the recipes of several classifiers by their names; an assignment is ``NAME.OPTION=VALUE``.

    Raises
    ------
    click.BadParameter
        As `choose_classifier`, or if an assignment begins with none of the names.
    """
    given: dict[str, list[str]] = {name: [] for name in names}
    for text in assignments:
        name, _, assignment = text.partition(".")
        if name not in given:
            rule = f"does not begin with one of the --learners and a dot, such as {next(iter(given))}."
            raise click.BadParameter(f"{quoted(text)} {rule}", param_hint="'--set'")
        given[name].append(assignment)
    return {name: choose_classifier(name, own, standardize) for name, own in given.items()}


def check_learners(several: Sequence[str] | None, of_two: Asked, of_several: Asked) -> None:
    """Raise UsageError unless learners are named in one way: two with --a and --b, or several with --learners.

    Parameters
    ----------
    several : sequence of str or None
        The --learners.
    of_two, of_several : mapping of str to object
        The options that belong to one of the ways, by their flags; what is not given is false.
    """
    for flag, value in (of_several if several is None else of_two).items():
        if value and several is None:
            raise click.UsageError(
                f"{flag} is for --learners NAME,NAME,...; leave it out beside --a and --b."
            )
        if value:
            raise click.UsageError(f"{flag} is for the comparison of two; leave it out beside --learners.")
    for flag in ("--a", "--b"):
        if several is None and not of_two[flag]:
            raise click.UsageError(
                f"Missing option '{flag}'; name two classifiers with --a and --b, or several with --learners."
            )
    reference = of_several["--reference"]
    if several is not None and reference and reference not in several:
        raise click.UsageError(f"--reference {reference}: it is none of the --learners {','.join(several)}.")


def one_method(methods: Sequence[Method]) -> str:
    """Return the name of the method that compares several learners; raise UsageError if it cannot be one."""
    from cudbound.tables.compare_learners import OWN_TEST_SETS

    if len(methods) > 1:
        raise click.UsageError("--learners takes one method; name one with --method.")
    if OWN_TEST_SETS in methods[0].needs:
        raise click.UsageError(
            f"--method {methods[0].name}: it tests each classifier on cases of its own, and several cannot be; "
            "compare two with --a and --b, or choose another method."
        )
    return methods[0].name


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


def check_inner(inner: int | str | None, metric: Sequence[str], weight: str | None) -> None:
    """Raise UsageError if inner draws are asked for where only those of the plain error can be read."""
    others = [f"--metric {name}" for name in metric if name != "error"]
    others += [] if weight is None else ["--weight"]
    if isinstance(inner, int) and others:
        raise click.UsageError(
            f"--inner {inner} and {others[0]} exclude each other: of inner draws only means over all rows, alike, are "
            "recorded; use --inner oob, or leave it out."
        )


def check_refits(methods: Iterable[Method]) -> None:
    """Raise UsageError if no method makes the refits on bootstrap draws that instability is about."""
    if not any("bootstrap" in method.needs for method in methods):
        raise click.UsageError(
            "--instability reads the refits on bootstrap draws, which none of the methods asked for makes; add "
            "two-center to --methods."
        )
