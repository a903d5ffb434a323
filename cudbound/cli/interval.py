"""The command ``cudbound interval``: intervals for the error of a classifier, from a file to a table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudbound.cli import input_options, options
from cudbound.cli.command import command, refuse_beside
from cudbound.cli.fitted import FittedClassifier, SavedModel, compute, fit, new_cases_of
from cudbound.cli.output import ResultOutput, picture, result_options
from cudbound.cli.verify import save_option, saved_text
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.data_file import DataFile
from cudbound.metrics.metric import METRICS
from cudbound.plotting.display import import_matplotlib
from cudbound.report.tables import SINGLE

if TYPE_CHECKING:
    from cudbound.bound.cud_bound import Bound
    from cudbound.metrics.metrics import Metrics
    from cudbound.resampling import Resampling


def _metric_names(text: str) -> tuple[str, ...]:
    if text == "error":
        return (text,)
    from cudbound.metrics.metrics import check_name  # loads SciPy

    try:
        return tuple(map(check_name, options.between_commas(text)))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _metrics_for(
    fitted: FittedClassifier, names: tuple[str, ...], joint: bool, costs: tuple[str, ...], prevalence: Any
) -> Metrics:
    """Return the `metric` argument, in which the labels of the classifier stand for the values of the target."""
    from cudbound.metrics.metrics import Metrics

    labels = dict(zip(fitted.sample.classes, fitted.labels, strict=True))
    try:
        cost_of = options.parse_assignments(costs, "VALUE=COST, such as yes=5")
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--cost'") from error
    if cost_of and set(cost_of) != set(labels):
        needed = " ".join(f"--cost {value}=NUMBER" for value in labels)
        rule = f"there must be one per value of the target: {needed}"
        raise click.BadParameter(rule, param_hint="'--cost'")
    cost_of = {labels[value]: cost for value, cost in cost_of.items()}
    event = fitted.labels[1] if fitted.sample.event else None
    threshold = getattr(fitted.estimator, "threshold", None) if "net-benefit" in names else None
    return Metrics(names, event, cost_of or None, prevalence, joint, threshold=threshold)


@command("interval")
@input_options.data_options(input_options.weight_option, input_options.all_classes_option, event=False)
@input_options.classifier_of_file
@input_options.new_cases_option
@click.option(
    "--methods",
    type=options.between_commas,
    default="recommended",
    metavar="GROUP|NAME,NAME,...",
    help="Intervals to compute; 'cudbound methods' lists the names. Groups: recommended (two-center, the one to "
    "report, and others for comparison), paper (the seven of Laber and Murphy, 2008), clinical (those of software for "
    "clinical prediction models), conditional (error of this classifier), algorithm (error of the learning "
    "algorithm), probability (AUC and Brier score), all (all of these), tuned (needs a fitted search from "
    "--model), new-cases (from FILE.csv alone, from --new-cases alone, and pooled; the default with --new-cases).",
)
@click.option(
    "--metric",
    type=_metric_names,
    default="error",
    metavar="NAME,NAME,...",
    help=f"Metric: {', '.join(METRICS)}, cost, net-benefit, ppv, npv, lr+, lr-; "
    "several metrics share draws and refits. Calibration is in 'cudbound report'.",
)
@click.option(
    "--joint",
    is_flag=True,
    help="Make the intervals of each method simultaneous for all metrics, at the given level.",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="VALUE=COST",
    help="For the metric cost: cost of misclassifying a case with this value of the target. Once per value.",
)
@click.option(
    "--prevalence",
    type=options.parse_value,
    metavar="FLOAT|sample",
    help="For ppv, npv and net-benefit: share of events in the target population; sample uses the share in the file.",
)
@click.option(
    "--recommend",
    is_flag=True,
    help="Compute only the recommended interval, two-center, or pooled with --new-cases, and print it in a sentence to "
    "quote.",
)
@click.option(
    "--alternative",
    type=click.Choice(("two-sided", "less", "greater")),
    default="two-sided",
    help="less for upper limits only, each at the full level (the error is at most x), greater for lower limits only.",
)
@options.confidence_level_option
@options.resamples_option
@options.seed_option
@options.resampling_option
@options.bound_option
@options.jobs_option
@result_options
@click.option(
    "--instability",
    type=picture,
    metavar="PATH",
    help="Also draw how much refits on the bootstrap draws differ in the risk of each row, or in its class, to a file "
    "that ends in .svg, .png or .pdf, and report it below the table.",
)
@save_option
def interval(
    *,
    data: DataFile,
    classifier: ClassifierRecipe | SavedModel,
    new_cases: Path | None,
    methods: tuple[str, ...],
    metric: tuple[str, ...],
    joint: bool,
    costs: tuple[str, ...],
    prevalence: Any,
    recommend: bool,
    seed: int,
    resampling: Resampling,
    bound: Bound,
    output: ResultOutput,
    instability: Path | None,
    save: Path | None,
    **further: Any,
) -> None:
    """Print intervals for the error of a classifier trained on FILE.csv.

    The file has a header line, then one line per case. Every column without another role is a feature: numeric, or a
    category listed in --categorical. Empty cells and NA, N/A, NaN, null, . and ? are missing values; the
    command counts them and stops, unless --missing is given.
    """
    from cudbound.analysis.performance_interval import compare_intervals
    from cudbound.intervals import find_methods
    from cudbound.report.sentences import POOLED, RECOMMENDED

    if bool(data.positive) == data.all_classes:
        raise click.UsageError(
            "give the event with --positive VALUE, or --all-classes for more than two classes."
        )
    if recommend:
        refuse_beside("--recommend", ["methods"], "it computes the recommended interval")
    names = RECOMMENDED[:1] if recommend else methods
    if new_cases is not None:
        names = (POOLED,) if recommend else ("new-cases",) if names == ("recommended",) else names
    requested = replace(find_methods(names), settings=bound)
    if instability is not None:
        if data.all_classes or not any(
            kind.name == "bootstrap" for method in requested for kind in method.needs
        ):
            raise click.UsageError(
                "--instability needs two classes and a method that refits on bootstrap draws, such as two-center."
            )
        import_matplotlib()
    output.check([data.file, new_cases, getattr(classifier, "path", None)], save, instability)
    data, sample = input_options.read_sample(data, classifier)
    fitted = fit(classifier, sample, seed)
    table, collected = compute(
        compare_intervals,
        {SINGLE: fitted},
        resampling,
        methods=requested,
        metric=_metrics_for(fitted, metric, joint, costs, prevalence),
        sample_weight=sample.weights,
        new_cases=None if new_cases is None else new_cases_of(fitted, data, new_cases),
        rng=seed,
        **further,
    )
    files = {} if save is None else {save: saved_text(table, data, sample, classifier, resampling.cv)}
    output.write(table, collected, files, headline_only=recommend, instability=instability)
