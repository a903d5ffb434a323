"""Options shared by several commands, as decorators, and the parsing of option texts."""

from __future__ import annotations

import csv
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from cudbound.basis.exceptions import did_you_mean
from cudbound.inputs.data_file import quoted

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

FILE = click.Path(path_type=Path)
OUTPUT = click.Path(dir_okay=False, writable=True, path_type=Path)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "none": None}


def options_as_object(
    name: str, make: Callable[..., Any], decorators: Sequence[Decorator], command: Command
) -> Command:
    """Add options to a command that receives them as one object, `name`, see `OneLineCommand.invoke`.

    ``make`` receives the values of the options by name.
    """
    before = len(vars(command).get("__click_params__", ()))
    for decorator in reversed(decorators):  # the first comes first in the help
        command = decorator(command)
    options = [option.name for option in vars(command)["__click_params__"][before:]]
    vars(command)["objects"] = {name: (make, options), **vars(command).get("objects", {})}
    return command


# --- from text to value


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


def parse_assignments(assignments: Iterable[str], form: str = "NAME=VALUE, such as C=0.5") -> dict[str, Any]:
    """Return the parsed value of each assignment by name; one of another form or given twice raises a ValueError."""
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, _, text = (part.strip() for part in assignment.partition("="))
        if not name or not text:
            raise ValueError(f"{quoted(assignment)} is not of the form {form}.")
        if name in values:
            raise ValueError(f"{quoted(name)} is given twice; give it once.")
        values[name] = parse_value(text)
    return values


def between_commas(text: str) -> tuple[str, ...]:
    """Return the names between commas; one that contains a comma is in quotation marks."""
    try:
        return tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True), []))
    except csv.Error as error:
        raise click.BadParameter(f"{quoted(text)} is not a list of names: {error}.") from error


# --- what is computed


confidence_level_option = click.option(
    "--confidence-level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    help="Nominal level, in (0, 1).",
)
resamples_option = click.option("--resamples", "n_resamples", default=1000, help="Bootstrap draws.")
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=lambda: secrets.randbelow(2**32),  # short enough to be typed again
    show_default=False,
    help="Seed of the resampling. By default one is chosen and printed, for repeating the run.",
)
jobs_option = click.option("--jobs", "n_jobs", default=1, help="Number of workers; -1 for all processors.")


def _settings(_: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> Any:
    """Return the settings that an option is named after, from texts ``NAME=VALUE``."""
    from cudbound.bound.cud_bound import Bound
    from cudbound.resampling import Resampling

    settings: Any = {"resampling": Resampling, "bound": Bound}[str(option.name)]
    names = [entry.name for entry in fields(settings)]
    try:
        values = parse_assignments(texts)
        for name in values:
            if name not in names:
                hint = did_you_mean(name, names, "the settings are")
                raise ValueError(f"there is no setting {quoted(name)}; {hint}")
        return settings(**values)
    except ValueError as error:
        raise click.BadParameter(str(error), param=option) from error


resampling_option = click.option(
    "--resampling",
    callback=_settings,
    multiple=True,
    metavar="NAME=VALUE",
    help="Setting of cudbound.Resampling, such as n_splits=30: n_folds, n_repeats, n_splits, test_fraction, "
    "n_halvings, n_replicates, n_nested_repeats, holdout_fraction, copies, on_single_class; cv=K for one stratified "
    "partition into K folds, or into folds of whole groups, for most methods that use folds or splits; inner, the "
    "draws per draw of bootstrap-percentile, bootstrap-bias-corrected and two-stage, or inner=oob, which needs none "
    "and about a fiftieth of the fits of inner=50; two-stage then has no limits. May be repeated.",
)
bound_option = click.option(
    "--bound",
    callback=_settings,
    multiple=True,
    metavar="NAME=VALUE",
    help="Setting of cudbound.Bound, for cud: localization=paper-literal; polish=true for the exact minimizer of "
    "the loss; solver=cvxpy, slow and needed only for some l1 penalties; nodes, nodes_per_draw or seconds, after "
    "which the search stops with a safe upper bound (nodes=inf for no limit). May be repeated.",
)
