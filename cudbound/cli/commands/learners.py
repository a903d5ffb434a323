"""The command ``cudbound compare-learners``: it parses, calls `comparison`, prints, and sets the exit code."""

from __future__ import annotations

from typing import Any

import click

from cudbound.cli.commands import run_learners as comparison
from cudbound.cli.inputs import common_options, options
from cudbound.cli.inputs.checks import (
    check_alternative,
    check_folds,
    check_learners,
    choose_classifier,
    choose_learners,
    method_options,
    one_method,
)
from cudbound.cli.inputs.fitted import fit
from cudbound.cli.inputs.sample import new_seed, read_sample
from cudbound.cli.output.advice import A_OPTIONS, B_OPTIONS, OptionNames
from cudbound.cli.output.exit_codes import EXIT_CODES, UNUSABLE
from cudbound.cli.output.one_line import fail, say_seed
from cudbound.cli.output.outcome import emit, finish
from cudbound.cli.output.wanted import Wanted
from cudbound.inputs.csv_file import DataFile
from cudbound.inputs.named_classifiers import LEARNERS

ALTERNATIVES = ("two-sided", "less", "greater", "equivalent")


@click.command("compare-learners", epilog=EXIT_CODES)
@common_options.data_options
@common_options.learner_option("--a", f"First classifier: {', '.join(LEARNERS)}.")
@common_options.learner_option("--b", "Second classifier, one of the same.")
@common_options.set_option("--set-a", "assigned_a", "first classifier")
@common_options.set_option("--set-b", "assigned_b", "second classifier", how="")
@click.option(
    "--learners",
    type=options.learners,
    metavar="NAME,NAME,...",
    help="Several classifiers in place of --a and --b: every pair is compared, by one method, adjusted for their "
    "number.",
)
@click.option(
    "--reference",
    type=click.Choice(tuple(LEARNERS)),
    metavar="NAME",
    help="The one of --learners that each other is compared with, in place of every pair.",
)
@click.option(
    "--set",
    "assigned_several",
    multiple=True,
    metavar="NAME.OPTION=VALUE",
    help="Option of one of --learners, such as logistic.C=0.5. May be repeated.",
)
@click.option(
    "--standardize",
    is_flag=True,
    help="Give every feature mean 0 and standard deviation 1 before each fit of any classifier, as a step of the fit.",
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
    a: str | None,
    b: str | None,
    assigned_a: tuple[str, ...],
    assigned_b: tuple[str, ...],
    learners: tuple[str, ...] | None,
    reference: str | None,
    assigned_several: tuple[str, ...],
    standardize: bool,
    seed: int | None,
    assigned: tuple[str, ...],
    wanted: Wanted,
    **asked: Any,
) -> None:
    """Test whether two classifiers, or several, have the same error, on matched splits of FILE.csv.

    All are fitted to the same parts of the rows and tested on the same others. The table gives the difference of
    their errors, that of --a minus that of --b, an interval for it and a p-value. With --learners it has a line for
    each pair, with limits that hold for all pairs at once and p-values adjusted by Holm's procedure. The file is as for
    'cudbound interval'.
    """
    from cudbound.intervals import find_comparisons

    directed = {"--alternative": asked["alternative"] != ALTERNATIVES[0], "--null": asked["null"] != 0.0}
    check_learners(
        learners,
        {"--a": a, "--b": b, "--set-a": assigned_a, "--set-b": assigned_b, **directed},
        {"--reference": reference, "--set": assigned_several},
    )
    methods = find_comparisons(asked["methods"])
    if a is not None and b is not None:
        recipes = {
            "a": choose_classifier(a, assigned_a, standardize, option="--set-a"),
            "b": choose_classifier(b, assigned_b, standardize, option="--set-b"),
        }
        names = {"a": A_OPTIONS, "b": B_OPTIONS}
    else:
        recipes = choose_learners(learners or (), assigned_several, standardize)
        names = {name: OptionNames("--learners", f"--set {name}.") for name in recipes}
    check_alternative(asked["alternative"], methods, asked["null"], asked["confidence_level"])
    check_folds(asked["folds"], data.group, methods, find_comparisons("all"))
    chosen = new_seed() if seed is None else seed
    shared = asked | {"seed": chosen, "options": method_options(assigned, methods)}
    settings: comparison.ComparisonSettings | comparison.PairsSettings
    if learners is None:
        settings = comparison.ComparisonSettings(**shared)
    else:
        for name in ("methods", "alternative", "null"):
            del shared[name]
        settings = comparison.PairsSettings(method=one_method(methods), reference=reference, **shared)
    wanted.check_places(data=data.file)
    sample = read_sample(data, settings.folds)
    fitted = {name: fit(recipe, sample, chosen, names=names[name]) for name, recipe in recipes.items()}
    if seed is None:
        say_seed(chosen)
    try:
        if isinstance(settings, comparison.PairsSettings):
            outcome = comparison.compare_many(fitted, settings)
        else:
            outcome = comparison.compare(fitted["a"], fitted["b"], settings)
    except MemoryError:
        fail("not enough memory for so many splits; ask for fewer with --size", UNUSABLE)
    emit(outcome, wanted)
    finish(outcome)
