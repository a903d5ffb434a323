"""The command ``cudbound compare-learners``: it parses, calls `comparison`, prints, and sets the exit code."""

from __future__ import annotations

from typing import Any

import click

from cudbound.cli.commands import run_learners as comparison
from cudbound.cli.inputs import common_options, options
from cudbound.cli.inputs.checks import check_alternative, check_folds, choose_classifier, method_options
from cudbound.cli.inputs.fitted import fit
from cudbound.cli.inputs.sample import new_seed, read_sample
from cudbound.cli.output.advice import A_OPTIONS, B_OPTIONS
from cudbound.cli.output.exit_codes import EXIT_CODES, UNUSABLE
from cudbound.cli.output.one_line import fail, say_seed
from cudbound.cli.output.outcome import emit, finish
from cudbound.cli.output.wanted import Wanted
from cudbound.inputs.csv_file import DataFile
from cudbound.inputs.named_classifiers import LEARNERS

ALTERNATIVES = ("two-sided", "less", "greater", "equivalent")


def _learner_option(flag: str, help: str) -> common_options.Decorator:
    return click.option(flag, type=click.Choice(tuple(LEARNERS)), metavar="NAME", required=True, help=help)


@click.command("compare-learners", epilog=EXIT_CODES)
@common_options.data_options
@_learner_option("--a", f"First classifier: {', '.join(LEARNERS)}.")
@_learner_option("--b", "Second classifier, one of the same.")
@common_options.set_option("--set-a", "assigned_a", "first classifier")
@common_options.set_option("--set-b", "assigned_b", "second classifier", how="")
@click.option(
    "--standardize",
    is_flag=True,
    help="Give every feature mean 0 and standard deviation 1 before each fit of either classifier, as a step of the "
    "fit.",
)
@click.option(
    "--methods",
    "--method",
    "methods",
    type=options.comparison_methods,
    default="corrected-resampled-t",
    metavar="all|NAME,NAME,...",
    help="Tests to compute; 'cudbound methods --gives comparison' lists the names.",
)
@click.option(
    "--alternative",
    type=click.Choice(ALTERNATIVES),
    default=ALTERNATIVES[0],
    help="What a small p-value is to speak for: unequal errors, less for a smaller error of the first classifier, "
    "greater for a larger one, equivalent for a difference between minus and plus --null.",
)
@click.option(
    "--null",
    type=float,
    default=0.0,
    metavar="FLOAT",
    help="Difference of the errors that would matter, in (-1, 1); with --alternative less the test is of "
    "non-inferiority.",
)
@common_options.confidence_level_option
@common_options.seed_option
@common_options.resampling_options
@common_options.jobs_option
@common_options.result_options
def compare_learners(
    *,
    data: DataFile,
    a: str,
    b: str,
    assigned_a: tuple[str, ...],
    assigned_b: tuple[str, ...],
    standardize: bool,
    seed: int | None,
    assigned: tuple[str, ...],
    wanted: Wanted,
    **asked: Any,
) -> None:
    """Test whether two classifiers have the same error, on matched splits of FILE.csv.

    Both are fitted to the same parts of the rows and tested on the same others. The table gives the difference of
    their errors, that of --a minus that of --b, an interval for it and a p-value. The file is as for 'cudbound
    interval'.
    """
    from cudbound.intervals import find_comparisons

    first = choose_classifier(a, assigned_a, standardize, option="--set-a")
    second = choose_classifier(b, assigned_b, standardize, option="--set-b")
    methods = find_comparisons(asked["methods"])
    check_alternative(asked["alternative"], methods, asked["null"], asked["confidence_level"])
    check_folds(asked["folds"], data.group, methods, find_comparisons("all"))
    chosen = new_seed() if seed is None else seed
    settings = comparison.ComparisonSettings(seed=chosen, options=method_options(assigned, methods), **asked)
    wanted.check_places(data=data.file)
    sample = read_sample(data, settings.folds)
    fitted_a = fit(first, sample, chosen, names=A_OPTIONS)
    fitted_b = fit(second, sample, chosen, names=B_OPTIONS)
    if seed is None:
        say_seed(chosen)
    try:
        outcome = comparison.compare(fitted_a, fitted_b, settings)
    except MemoryError:
        fail("not enough memory for so many splits; ask for fewer with --size", UNUSABLE)
    emit(outcome, wanted)
    finish(outcome)
