"""The command ``cudbound interval``: intervals for the error of a classifier, from a file to a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudbound.cli import options
from cudbound.cli.command import NotedOption, command, refuse_beside, say_seed
from cudbound.cli.fitted import FittedClassifier, fit, folds_of, read_sample
from cudbound.cli.input_options import (
    all_classes_option,
    classifier_of_file,
    data_options,
    for_classifier,
    weight_option,
)
from cudbound.cli.model_file import SavedModel
from cudbound.cli.output import ResultOutput, finish, picture, picture_form, result_options
from cudbound.cli.run_interval import compute, write
from cudbound.cli.verify import save_option, saved_text
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.parsed_file import ParsedFile

if TYPE_CHECKING:
    from cudbound.basis.method_card import Asked
    from cudbound.intervals import Method
    from cudbound.metrics.metrics import Metrics
    from cudbound.resampling import Resampling

ALTERNATIVES = ("two-sided", "less", "greater")


def _metrics(text: str) -> tuple[str, ...]:
    if text == "error":
        return (text,)
    from cudbound.metrics.metrics import check_name  # loads SciPy

    return tuple(map(check_name, options.between_commas(text)))


@dataclass(frozen=True)
class RequestedMetrics:
    """The requested metrics, with the values of the file."""

    metric: tuple[str, ...]
    joint: bool
    costs: tuple[str, ...]
    prevalence: Any

    def resolve(self, threshold: float | None, fitted: FittedClassifier | None = None) -> str | Metrics:
        """Return the `metric` argument: with values of the target, or with the labels of a fitted classifier."""
        from cudbound.metrics.metrics import Metrics

        if self == RequestedMetrics(("error",), False, (), None):
            return "error"
        try:
            costs = options.parse_assignments(self.costs, "VALUE=COST, such as yes=5")
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="'--cost'") from error
        event = None
        if fitted is not None and fitted.sample.event:
            event, labels = fitted.labels[1], dict(zip(fitted.sample.classes, fitted.labels, strict=True))
            if costs and set(costs) != set(labels):
                needed = " ".join(f"--cost {value}=NUMBER" for value in labels)
                rule = f"there must be one per value of the target: {needed}"
                raise click.BadParameter(rule, param_hint="'--cost'")
            costs = {labels[value]: cost for value, cost in costs.items()}
        elif fitted is not None and costs:
            raise click.UsageError("--cost needs two classes, and cannot be combined with --all-classes.")
        threshold = threshold if "net-benefit" in self.metric else None
        return Metrics(self.metric, event, costs or None, self.prevalence, self.joint, threshold=threshold)


@command("interval")
@data_options(True, weight_option, all_classes_option, event=False, parsed=True)
@classifier_of_file
@click.option(
    "--methods",
    type=options.from_text(options.between_commas),
    default="recommended",
    metavar="GROUP|NAME,NAME,...",
    help="Intervals to compute; 'cudbound methods' lists the names. Groups: recommended (two-center, the one to "
    "report, and two for comparison), paper (the seven of Laber and Murphy, 2008), clinical (those of software for "
    "clinical prediction models), conditional (error of this classifier), algorithm (error of the learning "
    "algorithm), probability (AUC and Brier score), all (all of these), tuned (needs a fitted search from --model).",
)
@options.options_as_object(
    "metric",
    RequestedMetrics,
    click.option(
        "--metric",
        cls=NotedOption,
        type=options.from_text(_metrics),
        default="error",
        metavar="NAME,NAME,...",
        help=f"Metric: {', '.join(options.METRICS)}, cost, net-benefit, ppv, npv, lr+, lr-; "
        "several metrics share draws and refits.",
    ),
    click.option(
        "--joint",
        cls=NotedOption,
        is_flag=True,
        help="Make the intervals of each method simultaneous for all metrics, at the given level.",
    ),
    click.option(
        "--cost",
        "costs",
        cls=NotedOption,
        multiple=True,
        metavar="VALUE=COST",
        help="For the metric cost: cost of misclassifying a case with this value of the target. Once per value.",
    ),
    click.option(
        "--prevalence",
        cls=NotedOption,
        type=options.from_text(options.parse_value),
        metavar="FLOAT|sample",
        help="For ppv, npv and net-benefit: share of events in the target population; sample uses the share in the "
        "file.",
    ),
)
@click.option(
    "--recommend",
    is_flag=True,
    help="Compute only the recommended interval, two-center, and print it in a sentence to quote, with the error of "
    "always predicting the majority class.",
)
@click.option(
    "--alternative",
    type=click.Choice(ALTERNATIVES),
    default=ALTERNATIVES[0],
    help="less for upper limits only, each at the full level (the error is at most x), greater for lower limits only.",
)
@options.confidence_level_option
@click.option("--resamples", "n_resamples", type=int, default=1000, metavar="INT", help="Bootstrap draws.")
@options.seed_option
@click.option(
    "--seeds",
    "n_seeds",
    cls=NotedOption,
    type=click.IntRange(2, 1000),
    metavar="INT",
    help="Repeat the computation with this many seeds, --seed and others derived from it, and report the range of the "
    "limits. The run time grows in proportion.",
)
@options.method_option
@options.folds_option
@options.resampling_options(
    click.option(
        "--inner",
        type=options.from_text(options.parse_value),
        show_default="50, or oob where refits are made one by one",
        metavar="INT|oob",
        help="Inner draws per draw for bootstrap-percentile, bootstrap-bias-corrected and two-stage; oob needs "
        "none, and only a fiftieth of the fits.",
    )
)
@click.option(
    "--fallback",
    cls=NotedOption,
    is_flag=True,
    help="Replace a zero-width interval, and a cud interval whose upper limit is lower than new cases without an error "
    "could support, by the fallback in 'cudbound methods'; a remark reports it.",
)
@options.bound_options
@options.jobs_option
@result_options
@click.option(
    "--instability",
    is_flag=True,
    help="Also report how many training rows are classified differently by refits on the bootstrap draws; needs no "
    "further fits.",
)
@click.option(
    "--instability-plot",
    type=options.from_text(picture),
    metavar="PATH",
    help="Also plot the share of such refits per row against the distance of its score from the threshold, to a file "
    "that ends in .svg, .png or .pdf.",
)
@save_option
def interval(
    *,
    parsed: ParsedFile,
    classifier: ClassifierRecipe | SavedModel,
    methods: tuple[str, ...],
    metric: RequestedMetrics,
    recommend: bool,
    seed: int,
    n_seeds: int | None,
    assigned: tuple[str, ...],
    resampling: Resampling,
    folds: int | None,
    fallback: bool,
    output: ResultOutput,
    instability: bool,
    instability_plot: Path | None,
    save: Path | None,
    **further: Any,
) -> None:
    """Print intervals for the error of a classifier trained on FILE.csv.

    The file has a header line, then one line per case. Every column except the target and excluded ones is a feature:
    numeric, or a category listed in --categorical. Empty cells and NA, N/A, NaN, null, . and ? are missing values; the
    command counts them and stops, unless --missing is given.
    """
    if parsed.data.all_classes and getattr(classifier, "classifier", "") in ("least-squares", "convex-loss"):
        raise click.UsageError(
            "--all-classes needs a classifier for several classes, such as --classifier logistic."
        )
    if recommend:
        refuse_beside("--recommend", ["methods"], "it computes the recommended interval")
    from cudbound.analysis.question import Question  # loads SciPy
    from cudbound.intervals import find_methods
    from cudbound.report.headline import RECOMMENDED

    methods = RECOMMENDED[:1] if recommend else methods
    requested = find_methods(methods)
    pairs = options.with_options(requested, assigned, fallback)
    if instability or instability_plot is not None:
        _check_instability(requested, instability, output)
    read = [parsed.data.file, getattr(classifier, "path", None)]
    output.check(read, {"--instability-plot": instability_plot, "--save": save})
    parsed = for_classifier(parsed, classifier)
    # before any time is spent; a saved model tells its threshold when it is read
    resolved = metric.resolve(classifier.threshold if isinstance(classifier, ClassifierRecipe) else 0.5)
    Question.of(requested, metric=resolved, resampling=resampling, **further)
    sample = read_sample(parsed, recommend or parsed.roles.automatic)
    fitted = fit(classifier, sample, seed)
    table, collected, ranges = compute(
        fitted,
        seed,
        n_seeds,
        methods=[*methods, *pairs],
        metric=metric.resolve(getattr(fitted.estimator, "threshold", None), fitted),
        groups=sample.groups,
        sample_weight=sample.weights,
        resampling=replace(resampling, cv=folds_of(sample, folds)),
        **further,
    )
    say_seed(seed)
    files: dict[Path, str | bytes] = {}
    if save is not None:
        files[save] = saved_text(table, parsed, classifier, folds)
    if instability_plot is not None and table.instability is not None:
        files[instability_plot] = table.instability.display().image(picture_form(instability_plot))
    write(table, output, files, ranges=ranges, instability=instability, headline_only=recommend)
    finish([*fitted.warnings, *collected.messages], collected.certified, output.style.percent)


def _check_instability(requested: Asked[Method], in_notes: bool, output: ResultOutput) -> None:
    """Raise an error for --instability without refits on bootstrap draws, or with a format that has no sentences."""
    if not any("bootstrap" in method.needs for method in requested):
        raise click.UsageError(
            "--instability needs refits on bootstrap draws, and none of the requested methods makes them; add "
            "two-center to --methods."
        )
    if in_notes and output.form == "csv":
        raise click.UsageError(
            "--instability adds sentences, which csv cannot contain; choose another --format."
        )
