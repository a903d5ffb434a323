"""The command ``cudbound compare-learners``: whether two classifiers, or several, have the same error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cudbound.cli import options
from cudbound.cli.command import command
from cudbound.cli.fitted import compute, fit
from cudbound.cli.input_options import data_options, read_sample
from cudbound.cli.output import ResultOutput, result_options
from cudbound.inputs.classifier_recipe import LEARNERS, ClassifierRecipe
from cudbound.inputs.data_file import DataFile

if TYPE_CHECKING:
    from cudbound.resampling import Resampling


@command("compare-learners")
@data_options()
@click.option(
    "--learners",
    required=True,
    type=options.between_commas,
    metavar="NAME,NAME,...",
    help=f"Two or more of the classifiers {', '.join(LEARNERS)}. With more than two, all pairs are compared, with "
    "adjustment for their number.",
)
@click.option(
    "--standardize",
    is_flag=True,
    help="Standardize every feature to mean 0 and standard deviation 1 before each fit of any classifier.",
)
@click.option(
    "--reference",
    metavar="NAME",
    help="Compare every other classifier with this one of the --learners, instead of all pairs.",
)
@click.option(
    "--methods",
    type=options.between_commas,
    metavar="all|NAME,NAME,...",
    help="Tests to compute; 'cudbound methods' lists the names.  [default: repeated-k-fold-t, "
    "for the AUC auc-difference]",
)
@click.option(
    "--metric",
    type=click.Choice(("error", "auc")),
    default="error",
    help="Metric to compare; with auc, read AUC for error in this help.",
)
@options.resamples_option
@click.option(
    "--alternative",
    type=click.Choice(("two-sided", "less", "greater", "equivalent")),
    default="two-sided",
    help="Alternative hypothesis: two-sided for unequal errors, less for a smaller error of the first classifier, "
    "greater for a larger one, equivalent for a difference between minus and plus --null.",
)
@click.option(
    "--null",
    default=0.0,
    help="Relevant difference of the errors, in (-1, 1); with --alternative less, this is a test of "
    "non-inferiority.",
)
@options.confidence_level_option
@options.seed_option
@options.resampling_option
@options.jobs_option
@result_options
def compare_learners(
    *,
    data: DataFile,
    learners: tuple[str, ...],
    standardize: bool,
    methods: tuple[str, ...] | None,
    metric: str,
    seed: int,
    resampling: Resampling,
    output: ResultOutput,
    **further: Any,
) -> None:
    """Test whether two classifiers, or several, have the same error, on matched splits of FILE.csv.

    All classifiers are fitted to the same training parts and, except by independent-test-sets, tested on the same test
    parts. The table has the difference of the errors (the first minus the second), an interval for it and a p-value.
    For several classifiers it has one line per pair and method, with simultaneous limits and p-values adjusted by
    Holm's procedure. The file is as for 'cudbound interval'.
    """
    from cudbound.analysis.compare_learners import compare_learners as compare
    from cudbound.intervals import DEFAULT_COMPARISONS, find_comparisons

    if len(set(learners)) < max(2, len(learners)):
        raise click.BadParameter(
            "it must be two or more different classifiers, such as ridge,tree.", param_hint="'--learners'"
        )
    recipes = {name: ClassifierRecipe(name, standardize=standardize) for name in learners}
    names = methods or [DEFAULT_COMPARISONS[metric]]
    find_comparisons(names)  # an unknown one is reported before the file is read
    output.check([data.file])
    _, sample = read_sample(data)
    fitted = {label: fit(recipe, sample, seed) for label, recipe in recipes.items()}
    table, collected = compute(compare, fitted, resampling, methods=names, metric=metric, rng=seed, **further)
    output.write(table, collected)
