"""The command ``cudbound compare-learners``: it parses, calls `comparison`, prints, and sets the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cudbound.cli.commands import run_learners as comparison
from cudbound.cli.inputs import common_options, options
from cudbound.cli.inputs.checks import check_alternative, check_folds, choose_or_refuse, method_options
from cudbound.cli.inputs.classifier_options import LEARNERS
from cudbound.cli.inputs.fitted import fit
from cudbound.cli.inputs.sample import DataFile, check_folds_of, new_seed, read_sample
from cudbound.cli.output import destination as output
from cudbound.cli.output.advice import A_OPTIONS, B_OPTIONS
from cudbound.cli.output.exit_codes import EXIT_CODES, UNUSABLE
from cudbound.cli.output.one_line import fail, say_seed, say_warnings

ALTERNATIVES = ("two-sided", "less", "greater")


@click.command("compare-learners", epilog=EXIT_CODES)
@common_options.data_options
@click.option(
    "--a",
    type=click.Choice(tuple(LEARNERS)),
    metavar="NAME",
    required=True,
    help=f"First classifier: {', '.join(LEARNERS)}.",
)
@click.option(
    "--b",
    type=click.Choice(tuple(LEARNERS)),
    metavar="NAME",
    required=True,
    help="Second classifier, one of the same.",
)
@click.option(
    "--set-a",
    "assigned_a",
    multiple=True,
    metavar="NAME=VALUE",
    help="Option of the first classifier, by its name in scikit-learn, such as C=0.5; the value is a number, true, "
    "false, none or a word. May be repeated.",
)
@click.option(
    "--set-b",
    "assigned_b",
    multiple=True,
    metavar="NAME=VALUE",
    help="Option of the second classifier. May be repeated.",
)
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
    callback=options.comparison_methods,
    default="corrected-resampled-t",
    show_default=True,
    metavar="all|NAME,NAME,...",
    help="Tests to compute; 'cudbound methods --gives comparison' lists the names.",
)
@click.option(
    "--alternative",
    type=click.Choice(ALTERNATIVES),
    default=ALTERNATIVES[0],
    show_default=True,
    help="What a small p-value is to speak for: unequal errors, less for a smaller error of the first classifier, "
    "greater for a larger one.",
)
@common_options.confidence_level_option
@common_options.seed_option
@common_options.resampling_options
@common_options.jobs_option
@common_options.output_options
@click.pass_context
def compare_learners(
    context: click.Context,
    /,
    *,
    data: DataFile,
    a: str,
    b: str,
    assigned_a: tuple[str, ...],
    assigned_b: tuple[str, ...],
    standardize: bool,
    seed: int | None,
    assigned: tuple[str, ...],
    form: str,
    place: Path | None,
    **asked: Any,
) -> None:
    """Test whether two classifiers have the same error, on matched splits of FILE.csv.

    Both are fitted to the same parts of the rows and tested on the same others. The table gives the difference of
    their errors, that of --a minus that of --b, an interval for it and a p-value. The file is as for 'cudbound
    interval'.
    """
    from cudbound.intervals import find_comparisons

    first = choose_or_refuse(context, a, assigned_a, standardize, "--set-a")
    second = choose_or_refuse(context, b, assigned_b, standardize, "--set-b")
    methods = find_comparisons(asked["methods"])
    check_alternative(context, asked["alternative"], methods)
    check_folds(context, asked["folds"], data.group, methods, find_comparisons("all"))
    chosen = new_seed() if seed is None else seed
    settings = comparison.ComparisonSettings(
        seed=chosen, options=method_options(context, assigned, methods), **asked
    )
    try:
        if place is not None:
            output.check_output(place, data=data.file)
        sample = read_sample(data)
        check_folds_of(sample, settings.folds)
        fitted_a, fitted_b = (
            fit(first, sample, chosen, names=A_OPTIONS),
            fit(second, sample, chosen, names=B_OPTIONS),
        )
        if seed is None:
            say_seed(chosen)
        outcome = comparison.compare(fitted_a, fitted_b, settings, progress=output.on_terminal())
        _emit(outcome, form, place)
    except MemoryError:
        fail("not enough memory for so many splits; ask for fewer with --size", UNUSABLE)
    except (ValueError, OSError) as error:
        fail(str(error), UNUSABLE)
    say_warnings(outcome.warnings)


def _emit(outcome: comparison.ComparisonOutcome, form: str, place: Path | None) -> None:
    from cudbound.report.render import render_report

    output.emit(render_report(outcome.table.report(outcome.run), form), place)
