"""The command ``cudbound plan``: the number of patients needed for an interval of a given width."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import click

from cudbound.cli import options
from cudbound.cli.command import command, in_words_of_the_command, refuse_beside
from cudbound.cli.fitted import read_sample
from cudbound.cli.input_options import classifier_options, data_options
from cudbound.cli.output import ResultOutput, result_options
from cudbound.inputs.classifier_recipe import LEARNERS, ClassifierRecipe
from cudbound.inputs.data_file import DataFile
from cudbound.metrics.metric import METRICS


@command("plan")
@data_options(file=False, target=False, event=False)
@click.option(
    "--world",
    metavar="NAME",
    help="Simulated world to draw from instead of FILE.csv, such as gaussians; docs/reference/designs_and_worlds.md "
    "lists them.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of the world, such as distance=1.2. May be repeated.",
)
@classifier_options(LEARNERS, "Standardize every feature to mean 0 and standard deviation 1 before each fit.")
@click.option(
    "--n-samples",
    type=options.from_text(lambda text: tuple(map(click.INT, options.between_commas(text)))),
    default="20,40,60,80,100,120,140,160,180,200",
    metavar="N,N,...",
    help="Numbers of patients to simulate.",
)
@click.option("--half-width", default=0.1, help="Target half-width of the interval.")
@click.option("--probability", default=0.8, help="Probability of reaching it.")
@click.option(
    "--method",
    default="two-center",
    metavar="NAME",
    help="Interval to plan for; 'cudbound methods' lists the names.",
)
@click.option("--metric", type=click.Choice(tuple(METRICS)), default="error", help="Metric of the interval.")
@options.confidence_level_option
@click.option("--replicates", "n_replicates", default=100, help="Number of samples per size.")
@click.option("--resamples", "n_resamples", default=200, help="Number of bootstrap draws per interval.")
@options.method_option
@options.resampling_option
@options.seed_option
@options.jobs_option
@result_options
def plan(
    *,
    data: DataFile,
    world: str | None,
    parameters: tuple[str, ...],
    classifier: ClassifierRecipe,
    method: str,
    with_options: list[Any],
    seed: int,
    output: ResultOutput,
    **further: Any,
) -> None:
    """Find how many patients are needed for an interval of a given half-width.

    The planned study is simulated at several sizes. Patients are drawn with replacement from the pilot FILE.csv, which
    is read as by 'cudbound interval', or from a simulated --world. The classifier is fitted to them, and the interval
    is computed as in the planned study.
    """
    if any(name != method for name, _ in with_options):
        raise click.BadParameter(f"they must be options of {method}.", param_hint="'--option'")
    further |= {"method": next(iter(with_options), method), "rng": seed}
    output.check([data.file])
    facts: dict[str, Any] = {}
    if world is None:
        _check_pilot(data)
        sample = read_sample(data)
        rows = f"{sample.y.size} rows of {sample.source} with {sample.y.sum()} events ({sample.event})"
        facts = {"source": f"{rows}, drawn with replacement", "preparation": sample.notes}
        further |= {"X": sample.X, "y": sample.y, "event": 1}
        classifier = replace(classifier, missing=sample.missing, levels=sample.levels)
    else:
        further["X"] = _world(world, parameters)
    from cudbound.adapters.parts import describe_classifier  # loads scikit-learn
    from cudbound.study.planning.plan_sample_size import plan_sample_size

    with in_words_of_the_command("some of the fits") as collected:
        planned = plan_sample_size(classifier(seed), **further)
    output.write(replace(planned, classifier=describe_classifier(classifier(seed)), **facts), collected)


def _check_pilot(data: DataFile) -> None:
    """Raise an error if there is no pilot, or if an option does not apply to it."""
    refuse_beside("FILE.csv", ["parameters"], "parameters belong to --world NAME")
    refuse_beside("FILE.csv", ["group"], "a plan draws single rows; use a file with one row per patient")
    if not (data.file and data.target and data.positive):
        raise click.UsageError(
            "give a pilot, FILE.csv with --target and --positive, or a simulated world with --world, such as gaussians."
        )


def _world(world: str, parameters: tuple[str, ...]) -> Any:
    """Return the population of a simulated world."""
    from cudbound.study.design.design_file import find_world

    refuse_beside("--world", [field.name for field in fields(DataFile)], "a world has no file")
    try:
        return find_world(world, options.parse_assignments(parameters, "NAME=VALUE, such as distance=1.2"))[0]
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--world' or its '--parameter'") from error
