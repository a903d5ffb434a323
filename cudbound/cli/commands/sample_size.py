"""The command ``cudbound plan``: how many patients an interval of a wished width takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cudbound.cli.inputs import common_options, options
from cudbound.cli.inputs.assignments import number_or_nan, parse_assignments, parse_value
from cudbound.cli.inputs.checks import choose_classifier, method_options
from cudbound.cli.inputs.sample import new_seed, read_sample
from cudbound.cli.output.exit_codes import EXIT_CODES
from cudbound.cli.output.one_line import say_seed
from cudbound.cli.output.outcome import write
from cudbound.cli.output.wanted import Wanted
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.csv_file import DataFile
from cudbound.inputs.named_classifiers import DEFAULT, LEARNERS

if TYPE_CHECKING:
    from cudbound.planning.sample_size_plan import SampleSizePlan

METRICS = ("error", "sensitivity", "specificity", "balanced-error")
#: Sizes of one plan; each takes its hundred samples.
MAX_SIZES = 1000


def grid(context: click.Context, param: click.Parameter, text: str) -> tuple[int, ...]:
    """Return the sizes of FROM:TO:STEP, TO included, or those that stand between commas."""
    parts = [part.strip() for part in text.split(":")]
    try:
        if len(parts) == 1:
            found = tuple(int(part) for part in text.split(","))
        else:
            first, last, step = map(int, parts)
            found = tuple(range(first, last + 1, step)[: MAX_SIZES + 1])
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r} is neither FROM:TO:STEP, such as 20:200:20, nor N,N,..."
        ) from error
    if not found or len(found) > MAX_SIZES:
        raise click.BadParameter(f"{text!r} stands for {len(found) or 'no'} sizes; name 1 to {MAX_SIZES}.")
    return found


def _number_option(flag: str, default: str, limit: float, help: str) -> common_options.Decorator:
    """Add an option for a number above 0 and below the limit."""

    def check(context: click.Context, param: click.Parameter, text: str) -> float:
        number = number_or_nan(text)
        if not 0.0 < number < limit:
            raise click.BadParameter(f"{text!r} is not a number above 0 and below {limit:g}.")
        return number

    return click.option(flag, callback=check, default=default, metavar="FLOAT", help=help)


def _count_option(
    flag: str, name: str, ends: tuple[int, int], default: int, help: str
) -> common_options.Decorator:
    return click.option(flag, name, type=click.IntRange(*ends), default=default, metavar="INT", help=help)


def one_method(context: click.Context, param: click.Parameter, text: str) -> str:
    """Return the name of one interval."""
    found = options.interval_methods(text)
    if isinstance(found, str) or len(found) > 1:
        raise click.BadParameter(f"{text!r} stands for several methods; name one of them.")
    return found[0]


@click.command("plan", epilog=EXIT_CODES)
@common_options.optional_data_options
@click.option(
    "--world",
    metavar="NAME",
    help="Simulated world to draw from in place of FILE.csv; docs/studies.md lists them, such as gaussians.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the world, such as distance=1.2. May be repeated.",
)
@common_options.learner_option("--classifier", f"Classifier to fit: {', '.join(LEARNERS)}.", DEFAULT)
@common_options.set_option("--set", "assignments", "classifier")
@click.option(
    "--standardize", is_flag=True, help="Give every feature mean 0 and standard deviation 1 before each fit."
)
@click.option(
    "--n-samples",
    callback=grid,
    default="20:200:20",
    metavar="FROM:TO:STEP|N,N,...",
    help="Numbers of patients to simulate.",
)
@_number_option("--half-width", "0.1", 0.5, "Half-width of the interval that is wished.")
@_number_option("--probability", "0.8", 1.0, "Probability of keeping to it.")
@click.option(
    "--method",
    callback=one_method,
    default="two-center",
    metavar="NAME",
    help="Interval to plan for; 'cudbound methods --gives interval' lists the names.",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    default=METRICS[0],
    metavar="NAME",
    help=f"What it is for: {', '.join(METRICS)}.",
)
@common_options.confidence_level_option
@_count_option("--replicates", "n_replicates", (10, 100_000), 100, "Samples of each size.")
@_count_option(
    "--resamples", "n_resamples", (1, options.MAX_RESAMPLES), 200, "Bootstrap draws for each interval."
)
@common_options.method_options
@common_options.seed_option
@common_options.jobs_option
@common_options.result_options
def plan(
    *,
    data: DataFile,
    world: str | None,
    parameters: tuple[str, ...],
    classifier: str,
    assignments: tuple[str, ...],
    standardize: bool,
    method: str,
    assigned: tuple[str, ...],
    seed: int | None,
    wanted: Wanted,
    **asked: Any,
) -> None:
    """Plan how many patients an interval of a wished half-width takes.

    The study to come is simulated at several sizes: patients are drawn with replacement from the pilot FILE.csv, read
    as 'cudbound interval' reads its file, or from a simulated --world; the classifier is fitted to them, and the
    interval computed as it will be.
    """
    from cudbound.intervals import find_methods
    from cudbound.report.table_style import Style

    _check_source(data, world, parameters)
    recipe = choose_classifier(classifier, assignments, standardize)
    given = method_options(assigned, find_methods([method]))
    wanted.check_places(data=None if world is not None else data.file)
    chosen = new_seed() if seed is None else seed
    asked |= {"method": method, "options": given.get(method), "rng": chosen}
    if world is None:
        found = _from_pilot(data, recipe, chosen, asked)
    else:
        found = _from_world(world, parameters, recipe, chosen, asked)
    if seed is None:
        say_seed(chosen)
    write(found, found.report(style=Style(**wanted.style)), wanted)


def _check_source(data: DataFile, world: str | None, parameters: tuple[str, ...]) -> None:
    """Raise UsageError unless there is a pilot with its target, or a world with its parameters, and not both."""
    if world is None:
        if parameters:
            raise click.UsageError("--parameter is for --world NAME; leave it out beside FILE.csv.")
        if data.file is None:
            raise click.UsageError(
                "Name a pilot, FILE.csv, or a simulated world with --world, such as gaussians."
            )
        for flag, value in (("--target", data.target), ("--positive", data.positive)):
            if value is None:
                raise click.UsageError(f"Missing option '{flag}', which FILE.csv needs.")
        if data.group is not None:
            raise click.UsageError(
                "--group: a plan draws single rows; plan from a file with one row of each patient."
            )
        return
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in vars(data) and source is ParameterSource.COMMANDLINE:
            name = "FILE.csv" if parameter.name == "file" else parameter.opts[0]
            raise click.UsageError(f"{name} and --world exclude each other: a world has no file.")


def _from_pilot(data: DataFile, recipe: ClassifierRecipe, seed: int, asked: dict[str, Any]) -> SampleSizePlan:
    from cudbound.metrics.asked import Metrics
    from cudbound.planning.plan_sample_size import plan_sample_size

    sample = read_sample(data)
    complete = replace(recipe, missing=sample.missing, levels=sample.levels)
    asked |= {"metric": Metrics(asked["metric"], event=1)}
    found = plan_sample_size(complete(seed), sample.X, sample.y, **asked)
    return replace(
        found,
        source=f"{sample.y.size} rows of {sample.source} with {sample.y.sum()} events ({sample.event}), drawn with "
        "replacement",
        classifier=_in_words(complete, seed),
        preparation=sample.notes,
    )


def _from_world(
    world: str, parameters: tuple[str, ...], recipe: ClassifierRecipe, seed: int, asked: dict[str, Any]
) -> SampleSizePlan:
    from cudbound.planning.plan_sample_size import plan_sample_size
    from cudbound.study.design.scenario_tables import find_world

    try:
        values = parse_assignments(parameters, form="NAME=VALUE, such as distance=1.2")
        population, _ = find_world(world, {name: parse_value(text) for name, text in values.items()})
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--world'") from error
    found = plan_sample_size(recipe(seed), world=population, **asked)
    return replace(found, classifier=_in_words(recipe, seed))


def _in_words(recipe: ClassifierRecipe, seed: int) -> str:
    from cudbound.adapters.in_words import describe_classifier

    return describe_classifier(recipe(seed), recipe.class_in_words)
