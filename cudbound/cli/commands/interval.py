"""The command ``cudbound interval``: it parses, calls `run`, prints, and sets the exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from cudbound.cli.commands import run_interval as run
from cudbound.cli.inputs import common_options, options
from cudbound.cli.inputs.checks import check_folds, choose_or_refuse, method_options
from cudbound.cli.inputs.classifier_options import CLASSIFIERS, DEFAULT, ClassifierChoice
from cudbound.cli.inputs.fitted import FittedClassifier, fit
from cudbound.cli.inputs.model_file import SavedModel, load_model
from cudbound.cli.inputs.sample import DataFile, check_folds_of, new_seed, read_sample
from cudbound.cli.output import destination as output
from cudbound.cli.output.exit_codes import EXIT_CODES, NOT_CERTIFIED, UNUSABLE
from cudbound.cli.output.one_line import fail, say_seed, say_warnings

SOLVERS = ("native", "cvxpy")


@click.command("interval", epilog=EXIT_CODES)
@common_options.data_options
@click.option(
    "--classifier",
    type=click.Choice(tuple(CLASSIFIERS)),
    default=DEFAULT,
    show_default=True,
    help="Classifier to fit.",
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Option of the classifier, by its name in scikit-learn, such as C=0.5; the value is a number, true, "
    "false, none or a word. May be repeated.",
)
@click.option(
    "--standardize",
    is_flag=True,
    help="Give every feature mean 0 and standard deviation 1 before the fit; fixed in the draws of cud, fitted "
    "again by the other methods.",
)
@click.option(
    "--model",
    "model_file",
    type=click.Path(path_type=Path),
    metavar="FILE.skops",
    help="Fitted scikit-learn classifier to use instead of fitting one, saved by skops.io.dump; FILE.csv must "
    "hold the rows that it was fitted to.",
)
@click.option(
    "--methods",
    callback=options.interval_methods,
    default="paper",
    show_default=True,
    metavar="GROUP|NAME,NAME,...",
    help="Intervals to compute; 'cudbound methods' lists the names. Groups: paper for the seven of Laber and Murphy "
    "(2008), conditional for the error of this classifier, algorithm for that of the learning algorithm, all for "
    "both.",
)
@common_options.confidence_level_option
@click.option(
    "--resamples",
    "n_resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="INT",
    help="Bootstrap draws.",
)
@common_options.seed_option
@common_options.resampling_options
@click.option(
    "--inner",
    callback=options.inner,
    default=None,
    show_default="50, or oob where refits are made one by one",
    metavar="INT|oob",
    help="Inner draws of each draw for the two bootstrap intervals; oob needs none, and so a fiftieth of the "
    "fits.",
)
@click.option(
    "--fallback",
    is_flag=True,
    help="Replace a zero-width interval by the fallback that 'cudbound methods' names, and say so in the "
    "remarks.",
)
@click.option(
    "--alpha",
    callback=options.alpha,
    default="n",
    show_default=True,
    metavar="n|paper-literal|FLOAT",
    help="Localization rate of the CUD bound on the scale of the mean loss; paper-literal is n squared.",
)
@click.option(
    "--polish",
    is_flag=True,
    help="For cud, replace the fitted coefficients by the exact minimizer of their loss; the remarks say how far "
    "they moved.",
)
@click.option(
    "--solver",
    type=click.Choice(SOLVERS),
    default=SOLVERS[0],
    show_default=True,
    help="Solver of the draws of cud; cvxpy is slow, and needed for l1 penalties only.",
)
@click.option(
    "--node-limit",
    type=click.IntRange(min=1),
    metavar="INT",
    help="Stop the search of a draw after this many nodes; the interval then uses a safe upper bound.",
)
@click.option(
    "--total-node-limit",
    callback=options.total_node_limit,
    metavar="INT|none",
    help="End the whole search of cud after this many nodes, with a safe upper bound; without it after about ten "
    "seconds' work, none for never.",
)
@click.option(
    "--time-limit",
    "total_time_limit",
    type=click.FloatRange(min=0.0),
    callback=options.seconds,
    metavar="SECONDS",
    help="End the whole search of cud, and that of aci, after this many seconds, with safe upper bounds, instead of "
    "after the usual number of nodes. The table then depends on the speed of the machine.",
)
@common_options.jobs_option
@common_options.output_options
@click.pass_context
def interval(
    context: click.Context,
    /,
    *,
    data: DataFile,
    classifier: str,
    assignments: tuple[str, ...],
    standardize: bool,
    model_file: Path | None,
    seed: int | None,
    assigned: tuple[str, ...],
    form: str,
    place: Path | None,
    **asked: Any,
) -> None:
    """Print intervals for the error of a classifier that was trained on FILE.csv.

    The file has a header line, then one line per case. Every column except the target and those excluded
    is a feature: a number, or a category named by --categorical. Empty cells and NA, N/A, NaN, null, . and ?
    are missing values; the command names them and stops, it neither drops rows nor fills gaps.
    """
    from cudbound.intervals import find_methods

    choice = _choice(context, classifier, assignments, standardize, model_file)
    methods = find_methods(asked["methods"])
    check_folds(context, asked["folds"], data.group, methods, find_methods("all"))
    chosen = new_seed() if seed is None else seed
    settings = run.Settings(seed=chosen, options=method_options(context, assigned, methods), **asked)
    try:
        if place is not None:
            output.check_output(place, data=data.file, model=model_file)
        model: ClassifierChoice | SavedModel = choice if model_file is None else load_model(model_file)
        sample = read_sample(data)
        check_folds_of(sample, settings.folds)
        fitted = fit(model, sample, chosen)
        if seed is None:
            say_seed(chosen)
        outcome = compute(fitted, settings)
        emit(outcome, form, None if outcome.interrupted else place)
    except (ValueError, OSError) as error:
        fail(str(error), UNUSABLE)
    finish(outcome)


def _choice(
    context: click.Context,
    classifier: str,
    assignments: tuple[str, ...],
    standardize: bool,
    model_file: Path | None,
) -> ClassifierChoice:
    """Return the classifier that is asked for, or say what is wrong with the command line."""
    if model_file is not None:
        named = context.get_parameter_source("classifier") is ParameterSource.COMMANDLINE
        asked = {"--classifier": named, "--set": bool(assignments), "--standardize": standardize}
        given = [option for option, is_given in asked.items() if is_given]
        if given:
            raise click.UsageError(
                f"{given[0]} and --model exclude each other: the classifier of --model is fitted already.",
                context,
            )
    return choose_or_refuse(context, classifier, assignments, standardize, "--set")


def compute(fitted: FittedClassifier, settings: run.Settings) -> run.CommandOutcome:
    """Compute the intervals, with a progress bar on a terminal."""
    try:
        return run.compute(fitted, settings, progress=output.on_terminal())
    except MemoryError:
        rows = fitted.sample.y.size
        fail(f"not enough memory for {settings.n_resamples} resamples of {rows} rows; use fewer", UNUSABLE)


def emit(outcome: run.CommandOutcome, form: str, place: Path | None) -> None:
    """Write the table to its place."""
    from cudbound.report.render import render_report

    output.emit(render_report(outcome.table.report(outcome.run), form), place)


def finish(outcome: run.CommandOutcome) -> None:
    """Pass the warnings on, and leave with the code of a run that was stopped or of a bound that is not proved."""
    say_warnings(outcome.warnings)
    if outcome.interrupted:
        raise KeyboardInterrupt
    if not outcome.certified:
        sys.exit(NOT_CERTIFIED)
