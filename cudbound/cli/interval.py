"""The command ``cudbound interval``: intervals for the error of a classifier, from a file to a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cudbound.cli import options
from cudbound.cli.command import NotedOption, command, refuse_beside, say_seed
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
from cudbound.inputs.classifier_recipe import STRATEGIES, ClassifierRecipe
from cudbound.inputs.csv_file import DataFile
from cudbound.inputs.first_look import FirstLook
from cudbound.inputs.missing_cells import KEEP
from cudbound.inputs.named_classifiers import CLASSIFIERS

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
    """What is to be bounded, in words of the file."""

    metric: tuple[str, ...]
    joint: bool
    costs: tuple[str, ...]
    prevalence: Any

    def in_words(self, threshold: float | None) -> Metrics:
        """Return the argument of the package, in the values of the target, for a classifier with this threshold."""
        from cudbound.metrics.metrics import Metrics

        try:
            costs = options.parse_assignments(self.costs, "VALUE=COST, such as yes=5")
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="'--cost'") from error
        threshold = threshold if "net-benefit" in self.metric else None
        return Metrics(self.metric, None, costs or None, self.prevalence, self.joint, threshold=threshold)

    def in_labels(self, fitted: FittedClassifier) -> str | Metrics:
        """Return the argument of the package, in the labels of the classifier."""
        if self == AskedMetrics(("error",), False, (), None):
            return "error"
        if not fitted.sample.event:
            from cudbound.metrics.metrics import Metrics

            if self.costs:
                raise click.UsageError("--cost is for two classes, and not for --all-classes.")
            return Metrics(self.metric, prevalence=self.prevalence, joint=self.joint)
        (other,) = [label for label in fitted.estimator.classes_.tolist() if label != fitted.event]
        labels = dict(zip(fitted.sample.classes, (other, fitted.event), strict=True))
        asked = self.in_words(getattr(fitted.estimator, "threshold", None))
        if asked.costs and set(asked.costs) != set(labels):
            needed = " ".join(f"--cost {value}=NUMBER" for value in labels)
            rule = f"there must be one for each value of the target: {needed}"
            raise click.BadParameter(rule, param_hint="'--cost'")
        of_labels = {labels[value]: cost for value, cost in (asked.costs or {}).items()} or None
        return replace(asked, event=fitted.event, costs=of_labels)


weight_option = click.option(
    "--weight",
    cls=NotedOption,
    metavar="COL",
    help="Column of weights of the rows, such as inverse probabilities of being sampled: they enter the fit, its "
    "refits and every mean loss, and the binomial limits as the effective number of rows.",
)
all_classes_option = click.option(
    "--all-classes",
    is_flag=True,
    help="Instead of --positive: keep all values of the target as classes, of which there are more than two, for "
    "the metrics error, accuracy and sensitivity, of each class; needs a --classifier of several classes, such as "
    "logistic.",
)
#: The classifier, fitted to the file or from a file of its own; the command gets it as ``classifier``.
classifier_of_file = classifier_options(
    CLASSIFIERS,
    "Give every feature mean 0 and standard deviation 1 before the fit; kept fixed for cud and the cap of two-center, "
    "refitted on every draw elsewhere.",
    click.option(
        "--threshold",
        type=float,
        metavar="FLOAT",
        help="Probability of the event, or score where the classifier has none, from which a case is called an event; "
        "it must have been chosen without looking at these data.",
    ),
    *MODEL_OPTIONS,
)


@command("interval")
@options.data_options(True, weight_option, all_classes_option, event=False, look=True)
@classifier_of_file
@click.option(
    "--methods",
    type=options.from_text(options.between_commas),
    default="recommended",
    metavar="GROUP|NAME,NAME,...",
    help="Intervals to compute; 'cudbound methods' lists the names. Groups: recommended for two-center, the one to "
    "report, and two to compare it with, paper for the seven of Laber and Murphy (2008), clinical for what software "
    "for clinical prediction models prints, conditional for the error of this classifier, algorithm for that of the "
    "learning algorithm, probability for the AUC and the Brier score, all for these. The group tuned needs a fitted "
    "search from --model.",
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
        help=f"What is bounded: {', '.join(options.METRICS)}, cost, net-benefit, ppv, npv, lr+, lr-; "
        "several share draws and refits.",
    ),
    click.option(
        "--joint",
        cls=NotedOption,
        is_flag=True,
        help="Let the intervals of each method hold together for all metrics, at the level.",
    ),
    click.option(
        "--cost",
        "costs",
        cls=NotedOption,
        multiple=True,
        metavar="VALUE=COST",
        help="For the metric cost: what a wrong case with this value of the target costs. Once for each value.",
    ),
    click.option(
        "--prevalence",
        cls=NotedOption,
        type=options.from_text(options.parse_value),
        metavar="FLOAT|sample",
        help="For ppv, npv and net-benefit: share of events among those whom they are for; sample takes that of the "
        "file.",
    ),
)
@click.option(
    "--recommend",
    is_flag=True,
    help="Compute the recommended interval alone, two-center, and print it in a sentence to quote, with the error of "
    "always predicting the majority class beside it.",
)
@click.option(
    "--alternative",
    type=click.Choice(ALTERNATIVES),
    default=ALTERNATIVES[0],
    help="less for upper limits alone, each at the whole level (the error is at most x), greater for lower ones.",
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
    help="Compute everything with this many seeds, --seed and others that follow from it, and say between which values "
    "the limits lie; takes that much longer.",
)
@options.method_option
@options.folds_option
@options.resampling_options(
    click.option(
        "--inner",
        type=options.from_text(options.parse_value),
        show_default="50, or oob where refits are made one by one",
        metavar="INT|oob",
        help="Inner draws of each draw for bootstrap-percentile, bootstrap-bias-corrected and two-stage; oob needs "
        "none, and so a fiftieth of the fits.",
    ),
)
@click.option(
    "--fallback",
    cls=NotedOption,
    is_flag=True,
    help="Replace a zero-width interval, and one of cud with an upper limit that new cases without an error could not "
    "give, by the fallback that 'cudbound methods' names, and say so in the remarks.",
)
@options.bound_options
@options.jobs_option
@result_options
@click.option(
    "--instability",
    is_flag=True,
    help="Also say how many training rows refits on the bootstrap draws put in another class than the classifier does; "
    "no further fits.",
)
@click.option(
    "--instability-plot",
    type=options.from_text(picture),
    metavar="PATH",
    help="Also draw, for each row, the share of such refits against the distance of its score from the threshold, into "
    "a file that ends in .svg, .png or .pdf.",
)
@click.option(
    "--save",
    type=options.FILE,
    metavar="PATH",
    help="Also write a file by which others can check the result with 'cudbound verify'; no row of the data is in it.",
)
def interval(
    *,
    look: FirstLook,
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
    """Print intervals for the error of a classifier that was trained on FILE.csv.

    The file has a header line, then one line per case. Every column except the target and those excluded
    is a feature: a number, or a category named by --categorical. Empty cells and NA, N/A, NaN, null, . and ?
    are missing values; the command counts them and stops, unless --missing says what to do.
    """
    data = _checked_classes(look.data, classifier)
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
    sample = read_sample(replace(look, data=data), recommend or "auto" in ",".join(data.categorical))
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
        named = replace(data, file=Path(data.file.name))  # without its folder
        recipe = classifier if isinstance(classifier, ClassifierRecipe) else None
        files[save] = _saved_text(table, SavedCommand(named, recipe, folds))
    if instability_plot is not None and table.instability is not None:
        files[instability_plot] = table.instability.display().image(picture_form(instability_plot))
    write(table, output, files, ranges=ranges, instability=instability, headline_only=recommend)
    finish([*fitted.warnings, *heard.messages], heard.certified, output.style.percent)


def _checked_classes(data: DataFile, classifier: ClassifierRecipe | SavedModel) -> DataFile:
    """Return the data with an event, or with all classes where the classifier takes them."""
    if data.positive and data.all_classes:
        raise click.UsageError("--positive names one of two classes; leave it out, or --all-classes.")
    if data.all_classes and getattr(classifier, "classifier", "") in ("least-squares", "convex-loss"):
        raise click.UsageError(
            "--all-classes needs a classifier of several classes, as --classifier logistic."
        )
    return replace(data, positive=data.positive or "")


def _check_instability(asked: Asked[Method], in_notes: bool, output: ResultOutput) -> None:
    """Refuse --instability where there are no refits on bootstrap draws, or no place for sentences."""
    if not any("bootstrap" in one.needs for one in asked):
        raise click.UsageError(
            "--instability reads the refits on bootstrap draws, which none of the methods asked for makes; add "
            "two-center to --methods."
        )
    if in_notes and output.form == "csv":
        raise click.UsageError(
            "--instability adds sentences, for which csv has no place; take another --format."
        )


def data_for_model(data: DataFile) -> DataFile:
    """Leave missing values to the model unless something else is asked."""
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
