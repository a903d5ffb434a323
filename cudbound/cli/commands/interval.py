"""The command ``cudbound interval``: intervals for the error of a classifier, from a file to a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cudbound.cli import option_values, shared_options
from cudbound.cli.command import command, refuse_beside, say_seed
from cudbound.cli.commands.run_interval import compute, write
from cudbound.cli.commands.verify import SavedCommand
from cudbound.cli.fitted import FittedClassifier, choose_classifier, cv_and_groups, fit, new_seed
from cudbound.cli.model_file import SavedModel, load_model
from cudbound.cli.option_values import from_text
from cudbound.cli.result_output import ResultOutput, finish, picture, picture_form
from cudbound.inputs.classifier_recipe import STRATEGIES, ClassifierRecipe
from cudbound.inputs.csv_file import DataFile
from cudbound.inputs.missing_cells import KEEP
from cudbound.inputs.named_classifiers import CLASSIFIERS, DEFAULT

if TYPE_CHECKING:
    from cudbound.analysis.table import IntervalTable
    from cudbound.metrics.metrics import Metrics

SOLVERS = ("native", "cvxpy")
ALTERNATIVES = ("two-sided", "less", "greater")


@command("interval")
@shared_options.data_options
@click.option(
    "--weight",
    metavar="COL",
    help="Column of weights of the rows, such as inverse probabilities of being sampled: they enter the fit, its "
    "refits and every mean loss, and the binomial limits as the effective number of rows.",
)
@click.option(
    "--classifier",
    type=click.Choice(tuple(CLASSIFIERS)),
    default=DEFAULT,
    metavar="NAME",
    help=f"Classifier to fit: {', '.join(CLASSIFIERS)}.",
)
@shared_options.set_option("--set", "assignments", "classifier")
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
@shared_options.model_options
@click.option(
    "--methods",
    type=from_text(option_values.interval_methods),
    default="recommended",
    metavar="GROUP|NAME,NAME,...",
    help="Intervals to compute; 'cudbound methods' lists the names. Groups: recommended for two-center, the one to "
    "report, and two to compare it with, paper for the seven of Laber and Murphy (2008), clinical for what software "
    "for clinical prediction models prints, conditional for the error of this classifier, algorithm for that of the "
    "learning algorithm, all for both. The group tuned needs a fitted search from --model.",
)
@click.option(
    "--metric",
    type=from_text(option_values.metrics),
    default="error",
    metavar="NAME,NAME,...",
    help="What is bounded: error, sensitivity, specificity, balanced-error, cost, ppv, npv; several "
    "share draws and refits.",
)
@click.option(
    "--joint",
    is_flag=True,
    help="Let the intervals of each method hold together for all metrics, at the level.",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    callback=option_values.costs,
    metavar="VALUE=COST",
    help="For the metric cost: what a wrong case with this value of the target costs. Once for each value.",
)
@click.option(
    "--prevalence",
    type=from_text(option_values.parse_value),
    metavar="FLOAT|sample",
    help="For ppv and npv: share of events among those whom they are for; sample takes that of the file.",
)
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
@shared_options.confidence_level_option
@click.option(
    "--resamples",
    "n_resamples",
    type=int,
    default=1000,
    metavar="INT",
    help="Bootstrap draws.",
)
@shared_options.seed_option
@click.option(
    "--seeds",
    "n_seeds",
    type=click.IntRange(2, 1000),
    metavar="INT",
    help="Compute everything with so many seeds, --seed and others that follow from it, and say between which values "
    "the limits lie; takes so many times as long.",
)
@shared_options.resampling_options
@click.option(
    "--inner",
    type=from_text(option_values.parse_value),
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
    type=from_text(option_values.parse_value),
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
    type=int,
    metavar="INT",
    help="Stop the search of a draw after this many nodes; the interval then uses a safe upper bound.",
)
@click.option(
    "--total-node-limit",
    type=from_text(option_values.total_node_limit),
    metavar="INT|none",
    help="End the whole search of cud, and that of two-center, after this many nodes, with a safe upper bound; without "
    "it after about ten seconds' work, that of two-center after three; none for never.",
)
@click.option(
    "--time-limit",
    "total_time_limit",
    type=float,
    metavar="SECONDS",
    help="End the whole search of cud, that of two-center and that of aci, each after this many seconds, with safe "
    "upper bounds, instead of after the usual number of nodes. The table then depends on the speed of the machine.",
)
@shared_options.jobs_option
@shared_options.result_options
@click.option(
    "--instability",
    is_flag=True,
    help="Also say how many training rows refits on the bootstrap draws put in another class than the classifier does; "
    "no further fits.",
)
@click.option(
    "--instability-plot",
    type=from_text(picture),
    metavar="PATH",
    help="Also draw, for each row, the share of such refits against the distance of its score from the threshold, into "
    "a file that ends in .svg, .png or .pdf.",
)
@click.option(
    "--save",
    type=shared_options.FILE,
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
    methods: str | tuple[str, ...],
    recommend: bool,
    seed: int | None,
    n_seeds: int | None,
    folds: int | None,
    output: ResultOutput,
    instability: bool,
    instability_plot: Path | None,
    save: Path | None,
    **further: Any,
) -> None:
    """Print intervals for the error of a classifier that was trained on FILE.csv.

    The file has a header line, then one line per case. Every column except the target and those excluded
    is a feature: a number, or a category named by --categorical. Empty cells and NA, N/A, NaN, null, . and ?
    are missing values; the command counts them and stops, unless --missing says what to do.
    """
    from cudbound.inputs.csv_columns import read_training_data
    from cudbound.report.headline import RECOMMENDED

    if recommend:
        refuse_beside("--recommend", ["methods"], "it computes the recommended interval")
        methods = RECOMMENDED[:1]
    arguments = _arguments(methods, instability or instability_plot is not None, further)
    if instability and output.form == "csv":
        raise click.UsageError(
            "--instability adds sentences, for which csv has no place; take another --format."
        )
    if trust and model_file is None:
        raise click.UsageError("--trust is about the types in a file; name the file with --model.")
    data = data if model_file is None else _data_for_model(data)
    output.check({"--instability-plot": instability_plot, "--save": save}, read=[data.file, model_file])
    model: ClassifierRecipe | SavedModel
    if model_file is None:
        model = replace(choose_classifier(classifier, assignments, standardize), threshold=threshold)
    else:
        model = load_model(model_file, trust)
    chosen = new_seed() if seed is None else seed
    sample = read_training_data(data)
    fitted = fit(model, sample, chosen)
    arguments |= cv_and_groups(sample, folds) | _metric(fitted, further)
    if sample.weights is not None:
        arguments["sample_weight"] = sample.weights
    table, heard, ranges = compute(fitted, arguments, chosen, n_seeds)
    if seed is None:
        say_seed(chosen)
    files: dict[Path, str | bytes] = {}
    if save is not None:
        recipe = model if isinstance(model, ClassifierRecipe) else None
        named = replace(data, file=Path(data.file.name))  # without its folder
        files[save] = _saved_text(table, SavedCommand(named, recipe, folds))
    if instability_plot is not None and table.instability is not None:
        files[instability_plot] = table.instability.display().image(picture_form(instability_plot))
    write(table, output, files, ranges=ranges, instability=instability, headline_only=recommend)
    finish([*fitted.warnings, *heard.messages], heard.certified)


#: Options of which one argument is made.
COMBINED = (
    *("assigned", "node_limit", "total_node_limit", "total_time_limit"),
    *("metric", "costs", "prevalence", "joint"),
)


def _arguments(methods: str | tuple[str, ...], instability: bool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `cudbound.compare_intervals` that do not depend on the data."""
    from cudbound.intervals import find_methods
    from cudbound.solve.limits import SearchLimits

    found = find_methods(methods).methods
    if instability and not any("bootstrap" in method.needs for method in found):
        raise click.UsageError(
            "--instability reads the refits on bootstrap draws, which none of the methods asked for makes; add "
            "two-center to --methods."
        )
    limits = SearchLimits(
        nodes=given["total_node_limit"],
        seconds=given["total_time_limit"],
        nodes_per_draw=given["node_limit"],
    )
    options = shared_options.options_of_methods(given["assigned"], found)
    rest = {name: value for name, value in given.items() if name not in COMBINED}
    return rest | {"methods": methods, "options": options, "limits": limits}


def _metric(fitted: FittedClassifier, given: Mapping[str, Any]) -> dict[str, Metrics]:
    """Return the argument that says what is bounded, in the labels of the classifier; nothing for the error alone."""
    from cudbound.metrics.metrics import Metrics

    names, costs, prevalence, joint = (given[name] for name in ("metric", "costs", "prevalence", "joint"))
    if names == ("error",) and not (costs or joint) and prevalence is None:
        return {}
    (other,) = [label for label in fitted.estimator.classes_.tolist() if label != fitted.event]
    labels = dict(zip(fitted.sample.classes, (other, fitted.event), strict=True))
    if costs is not None and set(costs) != set(labels):
        needed = " ".join(f"--cost {value}=NUMBER" for value in labels)
        raise click.BadParameter(
            f"there must be one for each value of the target: {needed}", param_hint="'--cost'"
        )
    by_label = None if costs is None else {labels[value]: cost for value, cost in costs.items()}
    return {"metric": Metrics(names, fitted.event, by_label, prevalence, joint)}


def _data_for_model(data: DataFile) -> DataFile:
    """Refuse options of a fit beside --model, and leave missing values to the model unless something else is asked."""
    options_of_a_fit = ("classifier", "assignments", "standardize", "threshold")
    refuse_beside("--model", options_of_a_fit, "the classifier of --model is fitted already")
    source = click.get_current_context().get_parameter_source("missing")
    if source is not ParameterSource.COMMANDLINE:
        return replace(data, missing=KEEP)
    if data.missing in STRATEGIES:
        refuse_beside(
            "--model", ("missing",), "a model that is fitted fills missing values itself, or cannot"
        )
    return data


def _saved_text(table: IntervalTable, saved: SavedCommand) -> str:
    """Return the text of the file for ``cudbound verify``."""
    from cudbound.basis.exceptions import SavedResultError

    try:
        return replace(table.saved, command=saved).to_text()
    except SavedResultError as error:
        raise ValueError(f"--save: {error}") from error
