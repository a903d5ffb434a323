"""The command ``cudbound interval``: intervals for the error of a classifier, from a file to a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cudbound.cli import options
from cudbound.cli.command import NotedOption, command, refuse_beside, say_seed
from cudbound.cli.file_options import data_options
from cudbound.cli.fitted import (
    MODEL_OPTIONS,
    FittedClassifier,
    classifier_options,
    fit,
    folds_of,
    read_sample,
)
from cudbound.cli.model_file import SavedModel
from cudbound.cli.output import ResultOutput, finish, picture, picture_form, result_options
from cudbound.cli.run_interval import compute, write
from cudbound.cli.verify import SavedCommand
from cudbound.inputs.classifier_recipe import CLASSIFIERS, STRATEGIES, ClassifierRecipe
from cudbound.inputs.data_file import DataFile
from cudbound.inputs.parsed_file import KEEP, ParsedFile

if TYPE_CHECKING:
    from cudbound.analysis.table import IntervalTable
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
class AskedMetrics:
    """The requested metrics, with the values of the file."""

    metric: tuple[str, ...]
    joint: bool
    costs: tuple[str, ...]
    prevalence: Any

    def in_words(self, threshold: float | None) -> Metrics:
        """Return the `metric` argument, with values of the target, for a classifier with this threshold."""
        from cudbound.metrics.metrics import Metrics

        try:
            costs = options.parse_assignments(self.costs, "VALUE=COST, such as yes=5")
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="'--cost'") from error
        threshold = threshold if "net-benefit" in self.metric else None
        return Metrics(self.metric, None, costs or None, self.prevalence, self.joint, threshold=threshold)

    def in_labels(self, fitted: FittedClassifier) -> str | Metrics:
        """Return the `metric` argument, with labels of the classifier."""
        if self == AskedMetrics(("error",), False, (), None):
            return "error"
        if not fitted.sample.event:
            from cudbound.metrics.metrics import Metrics

            if self.costs:
                raise click.UsageError("--cost needs two classes, and cannot be combined with --all-classes.")
            return Metrics(self.metric, prevalence=self.prevalence, joint=self.joint)
        (other,) = [label for label in fitted.estimator.classes_.tolist() if label != fitted.event]
        labels = dict(zip(fitted.sample.classes, (other, fitted.event), strict=True))
        asked = self.in_words(getattr(fitted.estimator, "threshold", None))
        if asked.costs and set(asked.costs) != set(labels):
            needed = " ".join(f"--cost {value}=NUMBER" for value in labels)
            rule = f"there must be one per value of the target: {needed}"
            raise click.BadParameter(rule, param_hint="'--cost'")
        of_labels = {labels[value]: cost for value, cost in (asked.costs or {}).items()} or None
        return replace(asked, event=fitted.event, costs=of_labels)


weight_option = click.option(
    "--weight",
    cls=NotedOption,
    metavar="COL",
    help="Column of row weights, such as inverse sampling probabilities. The fit, its refits and all mean losses use "
    "them; binomial limits use the effective number of rows.",
)
all_classes_option = click.option(
    "--all-classes",
    is_flag=True,
    help="Instead of --positive: keep all values of the target, more than two, as classes. Metrics are the error, the "
    "accuracy and the sensitivity of each class. Needs a --classifier for several classes, such as logistic.",
)
save_option = click.option(
    "--save",
    type=options.FILE,
    metavar="PATH",
    help="Also write a file for checking the result with 'cudbound verify'; it contains no row of the data.",
)
#: The classifier, fitted to the file or from a file of its own; the command gets it as ``classifier``.
classifier_of_file = classifier_options(
    CLASSIFIERS,
    "Standardize every feature to mean 0 and standard deviation 1 before the fit. The scaling is fixed for cud, "
    "and refitted on every draw otherwise.",
    click.option(
        "--threshold",
        type=float,
        metavar="FLOAT",
        help="Classify a case as an event from this probability on, or from this score if the classifier has no "
        "probabilities. Choose it without looking at these data.",
    ),
    *MODEL_OPTIONS,
)


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
@options.combined(
    "metric",
    AskedMetrics,
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
    ),
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
    metric: AskedMetrics,
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
    data = _checked_classes(parsed.data, classifier)
    if recommend:
        refuse_beside("--recommend", ["methods"], "it computes the recommended interval")
    from cudbound.analysis.question import Question  # loads SciPy
    from cudbound.intervals import find_methods
    from cudbound.report.headline import RECOMMENDED

    methods = RECOMMENDED[:1] if recommend else methods
    asked = find_methods(methods)
    pairs = options.with_options(asked, assigned, fallback)
    if instability or instability_plot is not None:
        _check_instability(asked, instability, output)
    model = classifier if isinstance(classifier, SavedModel) else None
    read = [data.file, None if model is None else model.path]
    output.check(read, {"--instability-plot": instability_plot, "--save": save})
    if model is not None:
        data = data_for_model(data)
    # before any time is spent; a saved model tells its threshold when it is read
    in_words = metric.in_words(0.5 if isinstance(classifier, SavedModel) else classifier.threshold)
    Question.of(asked, metric=in_words, resampling=resampling, **further)
    sample = read_sample(replace(parsed, data=data), recommend or "auto" in ",".join(data.categorical))
    fitted = fit(classifier, sample, seed)
    table, heard, ranges = compute(
        fitted,
        seed,
        n_seeds,
        methods=[*methods, *pairs],
        metric=metric.in_labels(fitted),
        groups=sample.groups,
        sample_weight=sample.weights,
        resampling=replace(resampling, cv=folds_of(sample, folds)),
        **further,
    )
    say_seed(seed)
    files: dict[Path, str | bytes] = {}
    if save is not None:
        files[save] = saved_text(table, replace(parsed, data=data), classifier, folds)
    if instability_plot is not None and table.instability is not None:
        files[instability_plot] = table.instability.display().image(picture_form(instability_plot))
    write(table, output, files, ranges=ranges, instability=instability, headline_only=recommend)
    finish([*fitted.warnings, *heard.messages], heard.certified, output.style.percent)


def _checked_classes(data: DataFile, classifier: ClassifierRecipe | SavedModel) -> DataFile:
    """Return the data with an event, or with all classes if the classifier supports them."""
    if data.positive and data.all_classes:
        raise click.UsageError("--positive is for two classes; drop it, or drop --all-classes.")
    if data.all_classes and getattr(classifier, "classifier", "") in ("least-squares", "convex-loss"):
        raise click.UsageError(
            "--all-classes needs a classifier for several classes, such as --classifier logistic."
        )
    return replace(data, positive=data.positive or "")


def _check_instability(asked: Asked[Method], in_notes: bool, output: ResultOutput) -> None:
    """Raise an error for --instability without refits on bootstrap draws, or with a format that has no sentences."""
    if not any("bootstrap" in one.needs for one in asked):
        raise click.UsageError(
            "--instability needs refits on bootstrap draws, and none of the requested methods makes them; add "
            "two-center to --methods."
        )
    if in_notes and output.form == "csv":
        raise click.UsageError(
            "--instability adds sentences, which csv cannot contain; choose another --format."
        )


def data_for_model(data: DataFile) -> DataFile:
    """Pass missing values to the model unless an option says otherwise."""
    source = click.get_current_context().get_parameter_source("missing")
    if source is not ParameterSource.COMMANDLINE:
        return replace(data, missing=KEEP)
    if data.missing in STRATEGIES:
        refuse_beside(
            "--model", ("missing",), "a fitted model either fills missing values itself, or cannot use them"
        )
    return data


def saved_text(
    table: IntervalTable,
    parsed: ParsedFile,
    classifier: ClassifierRecipe | SavedModel,
    folds: int | None = None,
) -> str:
    """Return the text of the file for ``cudbound verify``, which names the data file without its folder."""
    from cudbound.basis.exceptions import SavedResultError

    recipe = classifier if isinstance(classifier, ClassifierRecipe) else None
    data = replace(parsed.data, file=Path(parsed.data.file.name))
    how = SavedCommand(
        data, recipe, folds, tuple(name for name in parsed.table.names if name in parsed.roles.used)
    )
    try:
        return replace(table.saved, command=how).to_text()
    except SavedResultError as error:
        raise ValueError(f"--save: {error}") from error
