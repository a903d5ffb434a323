"""The command ``cudbound plan``: the number of patients needed for an interval of a given width."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from cudbound.cli import options
from cudbound.cli.command import command, in_words_of_the_command, refuse_beside
from cudbound.cli.input_options import classifier_options, data_options, read_sample
from cudbound.cli.output import ResultOutput, result_options
from cudbound.inputs.classifier_recipe import LEARNERS, ClassifierRecipe
from cudbound.inputs.data_file import DataFile
from cudbound.metrics.metric import METRICS


@command("plan")
@data_options()
@classifier_options(LEARNERS, "Standardize every feature to mean 0 and standard deviation 1 before each fit.")
@click.option(
    "--n-samples",
    type=lambda text: tuple(map(click.INT, options.between_commas(text))),
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
@options.resampling_option
@options.seed_option
@options.jobs_option
@result_options
def plan(
    *,
    data: DataFile,
    classifier: ClassifierRecipe,
    seed: int,
    output: ResultOutput,
    **further: Any,
) -> None:
    """Find how many patients are needed for an interval of a given half-width.

    The planned study is simulated at several sizes. Patients are drawn with replacement from the pilot FILE.csv, which
    is read as by 'cudbound interval'. The classifier is fitted to them, and the interval is computed as in the planned
    study.
    """
    refuse_beside("FILE.csv", ["group"], "a plan draws single rows; use a file with one row per patient")
    output.check([data.file])
    _, sample = read_sample(data)
    recipe = replace(classifier, missing=sample.missing, levels=sample.levels)(seed)
    from cudbound.adapters.parts import describe_classifier  # loads scikit-learn
    from cudbound.study.plan_sample_size import plan_sample_size

    with in_words_of_the_command("some of the fits") as collected:
        planned = plan_sample_size(recipe, sample.X, sample.y, event=1, rng=seed, **further)
    rows = f"{sample.y.size} rows of {sample.source} with {sample.y.sum()} events ({sample.event})"
    planned = replace(
        planned,
        classifier=describe_classifier(recipe),
        source=f"{rows}, drawn with replacement",
        preparation=sample.notes,
    )
    output.write(planned, collected)
