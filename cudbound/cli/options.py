"""Options shared by several commands, as decorators, and the parsing of option texts."""

from __future__ import annotations

import csv
import functools
import math
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudbound.basis.exceptions import ParameterError
from cudbound.cli.command import NotedOption
from cudbound.inputs.data_file import quoted

if TYPE_CHECKING:
    from cudbound.basis.method_card import RequestedMethods
    from cudbound.bound.cud_bound import Bound
    from cudbound.intervals import Method
    from cudbound.resampling import Resampling, ResamplingSizes

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

FILE = click.Path(path_type=Path)
#: As in `cudbound.solve.limits`, which loads SciPy.
SOLVERS = ("native", "cvxpy")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}


def options_as_object(name: str, make: Callable[..., Any], *decorators: Decorator) -> Decorator:
    """Return one decorator for options that the command receives as one object, `name`.

    ``make`` receives the values of the options by name.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_object(**values: Any) -> Any:
            fields = {option: values.pop(option) for option in options}
            return command(**{name: make(**fields)}, **values)

        before = len(vars(command).get("__click_params__", ()))
        decorated: Command = with_object
        for decorator in reversed(decorators):  # the first comes first in the help
            decorated = decorator(decorated)
        options = [option.name for option in vars(decorated)["__click_params__"][before:]]
        return decorated

    return decorate


# --- from text to value


def from_text(function: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the type of an option whose text `function` parses; its ValueError is the error message."""

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


def split_assignments(assignments: Iterable[str], form: str) -> dict[str, str]:
    """Return the value of each assignment ``NAME=VALUE`` as text, by name.

    Raises
    ------
    ValueError
        If one is not of the `form`, or given twice.
    """
    texts: dict[str, str] = {}
    for assignment in assignments:
        name, _, text = (part.strip() for part in assignment.partition("="))
        if not name or not text:
            raise ValueError(f"{quoted(assignment)} is not of the form {form}.")
        if name in texts:
            raise ValueError(f"{quoted(name)} is given twice; give it once.")
        texts[name] = text
    return texts


def parse_assignments(assignments: Iterable[str], form: str = "NAME=VALUE, such as C=0.5") -> dict[str, Any]:
    """Return the parsed value of each assignment by name, see `split_assignments` and `parse_value`."""
    return {name: parse_value(text) for name, text in split_assignments(assignments, form).items()}


def between_commas(text: str) -> tuple[str, ...]:
    """Return the names between commas; one that contains a comma is in quotation marks."""
    try:
        return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True), []))
    except csv.Error as error:
        raise ValueError(f"{quoted(text)} is not a list of names: {error}.") from error


# --- what is computed


confidence_level_option = click.option(
    "--confidence-level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    metavar="FLOAT",
    help="Nominal level, in (0, 1).",
)

resamples_option = click.option(
    "--resamples", "n_resamples", type=int, default=1000, metavar="INT", help="Bootstrap draws."
)

seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=lambda: secrets.randbelow(2**32),  # short enough to be typed again
    show_default=False,
    metavar="INT",
    help="Seed of the resampling. By default one is chosen and printed, for repeating the run.",
)

jobs_option = click.option(
    "--jobs", "n_jobs", type=int, default=1, metavar="INT", help="Number of workers; -1 for all processors."
)

#: Options of single methods; the command gets the texts as ``assigned``, for `with_options`.
method_option = click.option(
    "--option",
    "assigned",
    cls=NotedOption,
    multiple=True,
    metavar="METHOD.NAME=VALUE",
    help="Option of one method, such as bayle-cv.variance=within-fold; 'cudbound methods --gives interval' lists "
    "them. May be repeated.",
)


def with_options(
    requested: RequestedMethods[Method], assigned: Iterable[str]
) -> list[tuple[str, dict[str, Any]]]:
    """Return options of single methods as pairs for ``methods=``, from texts ``METHOD.NAME=VALUE``.

    Raises
    ------
    click.BadParameter
        If one is malformed, given twice, for a method that was not requested, unknown or not allowed.
    """
    from cudbound.basis.exceptions import suggestion
    from cudbound.basis.method_card import Choice

    methods = {method.name: method for method in requested}
    options: dict[str, dict[str, Any]] = {name: {} for name in methods}
    form = "METHOD.NAME=VALUE, such as kohavi-normal.form=wilson"
    try:
        for whole, text in split_assignments(assigned, form).items():
            method, _, name = whole.partition(".")
            if not name:
                raise ValueError(f"'{whole}={text}' is not of the form {form}.")
            if method not in methods:
                meant = suggestion(method, methods)
                raise ValueError(f"{quoted(method)} is not one of the requested methods.{meant}")
            is_word = isinstance(methods[method].options.get(name), Choice)
            options[method][name] = text if is_word else parse_value(text)
            methods[method].resolve_options(options[method])
    except ParameterError as error:
        raise ParameterError(whole, error.rule, error.value, error.hint) from error
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--option'") from error
    return [(name, settings) for name, settings in options.items() if settings]


def _sizes(context: click.Context, param: click.Parameter, assignments: tuple[str, ...]) -> ResamplingSizes:
    from dataclasses import fields

    from cudbound.basis.exceptions import did_you_mean
    from cudbound.resampling import ResamplingSizes

    names = [field.name for field in fields(ResamplingSizes)]
    try:
        sizes = parse_assignments(assignments, "NAME=VALUE, such as n_folds=5")
        for name in sizes:
            if name not in names:
                raise ValueError(
                    f"there is no size {quoted(name)}; {did_you_mean(name, names, 'the sizes are')}"
                )
        return ResamplingSizes(**sizes)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _resampling(sizes: ResamplingSizes, **parts: Any) -> Resampling:
    from cudbound.resampling import Resampling

    return Resampling.with_sizes(sizes, **parts)


def resampling_options(*more: Decorator) -> Decorator:
    """Add --size, and options for the other parts of a `Resampling`; the command receives it as ``resampling``."""
    size = click.option(
        "--size",
        "sizes",
        cls=NotedOption,
        multiple=True,
        callback=_sizes,
        metavar="NAME=VALUE",
        help="Number of folds, splits or repetitions, such as n_splits=30; NAME is n_folds, n_repeats, n_splits, "
        "test_fraction, n_halvings, n_replicates, n_nested_repeats or holdout_fraction; or aci_rate, which is log, "
        "loglog or a number. May be repeated.",
    )
    return options_as_object("resampling", _resampling, size, *more)


folds_option = click.option(
    "--folds",
    cls=NotedOption,
    type=click.IntRange(min=2),
    metavar="INT",
    help="Use one stratified partition into this many folds, or into folds of whole groups, for all methods that use "
    "folds or splits.",
)


def _bound(localization: Any, polish: bool, **limits: Any) -> Bound:
    from cudbound.bound.cud_bound import Bound

    return Bound(localization=localization, polish=polish, **limits)


#: What is said of the CUD bound; the command gets it as ``bound``.
bound_options = options_as_object(
    "bound",
    _bound,
    click.option(
        "--localization",
        type=from_text(parse_value),
        default="n",
        metavar="n|paper-literal|FLOAT",
        help="Localization rate of the CUD bound on the scale of the mean loss; paper-literal is n squared.",
    ),
    click.option(
        "--polish",
        is_flag=True,
        help="For cud, replace the fitted coefficients by the exact minimizer of their loss; a remark reports how far "
        "they moved.",
    ),
    click.option(
        "--solver",
        type=click.Choice(SOLVERS),
        default=SOLVERS[0],
        help="Solver for the draws of cud; cvxpy is slow, and needed only for some l1 penalties.",
    ),
    click.option(
        "--node-limit",
        "nodes_per_draw",
        type=click.IntRange(min=0),
        metavar="INT",
        help="Stop the search in a draw after this many nodes; the interval then uses a safe upper bound.",
    ),
    click.option(
        "--total-node-limit",
        "nodes",
        type=from_text(lambda text: math.inf if text == "none" else parse_value(text)),
        metavar="INT|none",
        help="Stop the whole search of cud after this many nodes, with a safe upper bound. By default after about ten "
        "seconds' work; none for no limit.",
    ),
    click.option(
        "--time-limit",
        "seconds",
        type=float,
        metavar="SECONDS",
        help="Stop the whole searches of cud and aci, each after this many seconds, with safe upper bounds, instead of "
        "after the usual number of nodes. The table then depends on the speed of the machine.",
    ),
)
