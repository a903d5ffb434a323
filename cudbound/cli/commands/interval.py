"""The command ``cudbound interval``: it parses, calls `run`, prints, and sets the exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from cudbound.cli.commands import run_interval as run
from cudbound.cli.inputs import common_options, options
from cudbound.cli.inputs.checks import (
    check_folds,
    check_inner,
    check_refits,
    check_tuned,
    choose_classifier,
    method_options,
)
from cudbound.cli.inputs.fitted import FittedClassifier, fit
from cudbound.cli.inputs.metric_options import metric_options
from cudbound.cli.inputs.model_file import SavedModel, load_model
from cudbound.cli.inputs.sample import new_seed, read_sample
from cudbound.cli.inputs.saved_command import save_command
from cudbound.cli.output.exit_codes import EXIT_CODES, UNUSABLE
from cudbound.cli.output.one_line import fail, say_seed
from cudbound.cli.output.outcome import CommandOutcome, emit, finish
from cudbound.cli.output.wanted import Wanted
from cudbound.inputs.classifier_recipe import STRATEGIES, ClassifierRecipe
from cudbound.inputs.csv_file import DataFile
from cudbound.inputs.missing_cells import KEEP
from cudbound.inputs.named_classifiers import CLASSIFIERS, DEFAULT

SOLVERS = ("native", "cvxpy")
ALTERNATIVES = ("two-sided", "less", "greater")


@click.command("interval", epilog=EXIT_CODES)
@common_options.data_options
@common_options.weight_option
@click.option(
    "--classifier",
    type=click.Choice(tuple(CLASSIFIERS)),
    default=DEFAULT,
    metavar="NAME",
    help=f"Classifier to fit: {', '.join(CLASSIFIERS)}.",
)
@common_options.set_option("--set", "assignments", "classifier")
@click.option(
    "--standardize",
    is_flag=True,
    help="Give every feature mean 0 and standard deviation 1 before the fit; kept fixed for cud and the cap "
    "of two-center, refitted on every draw elsewhere.",
)
@click.option(
    "--threshold",
    type=float,
    metavar="FLOAT",
    help="Probability of the event, or score where the classifier has none, from which a case is called an event; it "
    "must have been chosen without looking at these data.",
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
    "--trust",
    multiple=True,
    metavar="TYPE",
    help="Type in the file of --model that is loaded although it is not known to be harmless, by its full name, such "
    "as sklearn.tree._tree.Tree. Only for files whose origin you know. May be repeated.",
)
@click.option(
    "--methods",
    type=options.interval_methods,
    default="recommended",
    metavar="GROUP|NAME,NAME,...",
    help="Intervals to compute; 'cudbound methods' lists the names. Groups: recommended for two-center, the one to "
    "report, and two to compare it with, paper for the seven of Laber and Murphy (2008), clinical for what software "
    "for clinical prediction models prints, conditional for the error of this classifier, algorithm for that of the "
    "learning algorithm, all for both. The group tuned needs a fitted search from --model.",
)
@metric_options
@click.option(
    "--recommend",
    is_flag=True,
    help="Compute the recommended interval alone, two-center, and print it in a sentence to quote, with the error of "
    "always saying the majority class beside it.",
)
@click.option(
    "--alternative",
    type=click.Choice(ALTERNATIVES),
    default=ALTERNATIVES[0],
    help="less for upper limits alone, each at the whole level (the error is at most x), greater for lower ones.",
)
@common_options.confidence_level_option
@click.option(
    "--resamples",
    "n_resamples",
    type=click.IntRange(1, options.MAX_RESAMPLES),
    default=1000,
    metavar="INT",
    help="Bootstrap draws.",
)
@common_options.seed_option
@click.option(
    "--seeds",
    "n_seeds",
    type=click.IntRange(2, 1000),
    metavar="INT",
    help="Compute everything with so many seeds, --seed and others that follow from it, and say between which values "
    "the limits lie; takes so many times as long.",
)
@common_options.resampling_options
@click.option(
    "--inner",
    type=options.inner,
    default=None,
    show_default="50, or oob where refits are made one by one",
    metavar="INT|oob",
    help="Inner draws of each draw for bootstrap-percentile, bootstrap-bias-corrected and two-stage; oob needs none, "
    "and so a fiftieth of the fits.",
)
@click.option(
    "--fallback",
    is_flag=True,
    help="Replace a zero-width interval, and one of cud with an upper limit that new cases without an error could not "
    "give, by the fallback that 'cudbound methods' names, and say so in the remarks.",
)
@click.option(
    "--localization",
    type=options.localization,
    default="n",
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
    help="Solver of the draws of cud and two-center; cvxpy is slow, and needed for l1 penalties only.",
)
@click.option(
    "--node-limit",
    type=click.IntRange(min=1),
    metavar="INT",
    help="Stop the search of a draw after this many nodes; the interval then uses a safe upper bound.",
)
@click.option(
    "--total-node-limit",
    type=options.total_node_limit,
    metavar="INT|none",
    help="End the whole search of cud, and that of two-center, after this many nodes, with a safe upper bound; without "
    "it after about ten seconds' work, that of two-center after three; none for never.",
)
@click.option(
    "--time-limit",
    "total_time_limit",
    type=click.FloatRange(min=0.0),
    callback=options.seconds,
    metavar="SECONDS",
    help="End the whole search of cud, that of two-center and that of aci, each after this many seconds, with safe "
    "upper bounds, instead of after the usual number of nodes. The table then depends on the speed of the machine.",
)
@common_options.jobs_option
@common_options.result_options
@click.option(
    "--instability",
    is_flag=True,
    help="Also say how many training rows refits on the bootstrap draws put in another class than the classifier does; "
    "no further fits.",
)
@click.option(
    "--instability-plot",
    "instability_picture",
    type=options.picture,
    metavar="PATH",
    help="Also draw, for each row, the share of such refits against the distance of its score from the threshold, into "
    "a file that ends in .svg, .png or .pdf.",
)
@click.option(
    "--save",
    "saved",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Also write a file by which others can check the result with 'cudbound verify'; no row of the data is in it.",
)
def interval(
    *,
    data: DataFile,
    classifier: str,
    assignments: tuple[str, ...],
    standardize: bool,
    threshold: float | None,
    model_file: Path | None,
    trust: tuple[str, ...],
    recommend: bool,
    seed: int | None,
    assigned: tuple[str, ...],
    wanted: Wanted,
    instability: bool,
    instability_picture: Path | None,
    saved: Path | None,
    **asked: Any,
) -> None:
    """Print intervals for the error of a classifier that was trained on FILE.csv.

    The file has a header line, then one line per case. Every column except the target and those excluded
    is a feature: a number, or a category named by --categorical. Empty cells and NA, N/A, NaN, null, . and ?
    are missing values; the command counts them and stops, unless --missing says what to do.
    """
    from cudbound.intervals import find_methods
    from cudbound.report.headline import RECOMMENDED

    if recommend:
        _refuse_methods()
        asked["methods"] = RECOMMENDED[:1]
    if model_file is not None:
        _refuse_options_of_a_fit(assignments, standardize, threshold)
        data = _left_to_the_model(data)
    elif trust:
        raise click.UsageError("--trust is about the types in a file; name the file with --model.")
    wanted = replace(wanted, instability=instability, instability_picture=instability_picture, saved=saved)
    wanted.check()
    choice = replace(choose_classifier(classifier, assignments, standardize), threshold=threshold)
    methods = find_methods(asked["methods"])
    lenient = isinstance(asked["methods"], str)  # the name of a group
    if instability or instability_picture is not None:
        check_refits(methods)
    check_inner(asked["inner"], asked["metric"], data.weight)
    check_folds(asked["folds"], data.group, methods, find_methods("all"), lenient=lenient)
    chosen = new_seed() if seed is None else seed
    settings = run.Settings(seed=chosen, options=method_options(assigned, methods), **asked)
    wanted.check_places(data=data.file, model=model_file)
    model: ClassifierRecipe | SavedModel = choice if model_file is None else load_model(model_file, trust)
    check_tuned(methods, getattr(model, "estimator", model))
    fitted = fit(model, read_sample(data, settings.folds), chosen)
    if seed is None:
        say_seed(chosen)
    outcome = compute(fitted, settings)
    if saved is not None:
        recipe = None if model_file is not None else choice
        outcome = replace(outcome, saved=run.save(outcome, save_command(data, recipe, settings.folds)))
    emit(outcome, wanted, headline_only=recommend)
    finish(outcome)


def _refuse_methods() -> None:
    """Raise UsageError if methods are named beside --recommend, which names its own."""
    if click.get_current_context().get_parameter_source("methods") is ParameterSource.COMMANDLINE:
        raise click.UsageError(
            "--recommend and --methods exclude each other: --recommend computes the recommended interval."
        )


def _refuse_options_of_a_fit(
    assignments: tuple[str, ...], standardize: bool, threshold: float | None
) -> None:
    """Raise UsageError if a classifier that is fitted already is to be fitted in some way."""
    source = click.get_current_context().get_parameter_source("classifier")
    named = source is ParameterSource.COMMANDLINE
    asked = {"--classifier": named, "--set": bool(assignments), "--standardize": standardize}
    asked["--threshold"] = threshold is not None
    for option, is_given in asked.items():
        if is_given:
            raise click.UsageError(
                f"{option} and --model exclude each other: the classifier of --model is fitted already."
            )


def _left_to_the_model(data: DataFile) -> DataFile:
    """Leave missing values to a model that is fitted already, unless something else is asked for."""
    source = click.get_current_context().get_parameter_source("missing")
    if source is not ParameterSource.COMMANDLINE:
        return replace(data, missing=KEEP)
    if data.missing in STRATEGIES:
        raise click.UsageError(
            f"--missing {data.missing} and --model exclude each other: a model that is fitted fills missing values "
            "itself, or cannot; leave the option out, or use --missing drop."
        )
    return data


def compute(fitted: FittedClassifier, settings: run.Settings) -> CommandOutcome:
    """Compute the intervals, and say so if memory does not suffice."""
    try:
        return run.compute(fitted, settings)
    except MemoryError:
        rows = fitted.sample.y.size
        fail(f"not enough memory for {settings.n_resamples} resamples of {rows} rows; use fewer", UNUSABLE)
