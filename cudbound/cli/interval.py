"""The command ``cudbound interval``: intervals for the error of a classifier, from a file to a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudbound.basis.rounding import format_proportion
from cudbound.cli import options
from cudbound.cli.command import (
    CollectedWarnings,
    NotedOption,
    command,
    in_words_of_the_command,
    refuse_beside,
    say_seed,
)
from cudbound.cli.fitted import FittedClassifier, SavedModel, fit, folds_of, read_sample, with_notes
from cudbound.cli.input_options import (
    all_classes_option,
    classifier_of_file,
    data_options,
    for_classifier,
    weight_option,
)
from cudbound.cli.output import ResultOutput, finish, result_options
from cudbound.cli.verify import save_option, saved_text
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.parsed_file import ParsedFile
from cudbound.metrics.metric import METRICS

if TYPE_CHECKING:
    import pandas as pd

    from cudbound.analysis.table import IntervalTable
    from cudbound.basis.results import IntervalEstimate
    from cudbound.metrics.metrics import Metrics
    from cudbound.resampling import Resampling


#: What is compared over the seeds, in the words of a sentence.
COMPARED = {"estimate": "estimate", "low": "lower limit", "high": "upper limit"}
#: The limit that a one-sided interval does not have.
ABSENT = {"less": "low", "greater": "high"}


def compute(
    fitted: FittedClassifier, seed: int, n_seeds: int | None = None, **arguments: Any
) -> tuple[IntervalTable, CollectedWarnings, pd.DataFrame | None]:
    """Compute the intervals for the error of a fitted classifier, with several seeds if requested.

    Parameters
    ----------
    fitted : FittedClassifier
    seed : int
    n_seeds : int or None, default None
    **arguments
        Further arguments of `cudbound.compare_intervals`, and `bound` for the settings of the CUD bound.

    Returns
    -------
    table : IntervalTable
        The table of the first seed; its notes name command options.
    warnings : CollectedWarnings
        The warnings.
    over_seeds : DataFrame or None
        The intervals of all seeds, see `cudbound.over_seeds`.

    Raises
    ------
    ValueError
        If the CUD bound is requested but unavailable for this classifier; the message suggests alternatives.
    """
    from cudbound.analysis.compare_intervals import compare_intervals
    from cudbound.basis.calls import over_seeds
    from cudbound.intervals import find_methods
    from cudbound.report.tables import SINGLE

    tables: list[IntervalTable] = []
    if "bound" in arguments:
        arguments["methods"] = replace(find_methods(arguments["methods"]), settings=arguments.pop("bound"))

    def table_of(rng: int) -> IntervalTable:
        tables.append(compare_intervals(fitted.estimator, fitted.X, fitted.y, rng=rng, **arguments))
        return tables[-1]

    frame = None
    with in_words_of_the_command("some of the refits") as collected:
        if n_seeds is None:
            table_of(seed)
        else:
            frame = over_seeds(table_of, n_seeds, seed)
    return with_notes(tables[0], fitted.sample, classifiers={SINGLE: fitted.description}), collected, frame


def write(
    table: IntervalTable,
    output: ResultOutput,
    files: Mapping[Path, str | bytes] | None = None,
    *,
    over_seeds: pd.DataFrame | None = None,
    instability: bool = False,
    headline_only: bool = False,
) -> None:
    """Write the table to its destination, with further `files`.

    Parameters
    ----------
    table : IntervalTable
    output : ResultOutput
    files : mapping of Path to text or bytes, optional
    over_seeds : DataFrame or None, default None
        The intervals of all seeds, whose ranges are added to the notes.
    instability : bool, default False
        Whether the notes report how often refits classify rows differently.
    headline_only : bool, default False
        Whether human-readable formats contain only the sentences above the table.
    """
    lines, more = list[str](), dict[str, Any]()
    if over_seeds is not None:
        lines, more["over_seeds"] = ranges_over_seeds(over_seeds, table.rows, output.style.percent)
    if instability and table.instability is not None:
        lines += table.instability.lines()
        more["instability"] = table.instability.summary
    report = table.report(style=output.style)
    place = "headline" if headline_only else "notes"
    changes: dict[str, Any] = {place: (*getattr(report, place), *lines), "more": {**report.more, **more}}
    output.write(table, replace(report, **changes), files, headline_only=headline_only)


def ranges_over_seeds(
    frame: pd.DataFrame, rows: Sequence[IntervalEstimate], percent: bool
) -> tuple[list[str], dict[str, Any]]:
    """Return the ranges of estimates and limits over the seeds, in lines and for programs.

    Parameters
    ----------
    frame : DataFrame
        As `cudbound.over_seeds` returns it for a table of intervals.
    rows : sequence of IntervalEstimate
        The rows of the table.
    percent : bool
        Whether proportions are written in percent.
    """
    seeds = frame["seed"].unique().tolist()
    lines, ranges = [f"Over {len(seeds)} seeds: {', '.join(map(str, seeds))}."], []
    for ((method, metric), runs), row in zip(
        frame.groupby(["method", "metric"], sort=False), rows, strict=True
    ):
        limited = runs.dropna(subset=["low", "high"])[list(COMPARED)]
        ends = limited.agg(["min", "max"]).T.to_numpy().tolist() if len(limited) else []
        in_words = partial(format_proportion, percent=percent and row.highest == 1.0)
        parts = [
            f"{word} {in_words(least)} to {in_words(most)}"
            for (name, word), (least, most) in zip(COMPARED.items(), ends, strict=False)
            if name != ABSENT.get(row.alternative)
        ]
        lines.append(f"{method}, {metric}: {', '.join(parts) or 'no interval'}.")
        ranges.append(
            {
                "method": method,
                "metric": metric,
                "n_seeds": len(limited),
                **dict(zip(COMPARED, ends, strict=False)),
            }
        )
    return lines, {"seeds": seeds, "ranges": ranges}


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
        help=f"Metric: {', '.join(METRICS)}, cost, net-benefit, ppv, npv, lr+, lr-; "
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
@options.resamples_option
@options.seed_option
@click.option(
    "--seeds",
    "n_seeds",
    cls=NotedOption,
    type=click.IntRange(2, 1000),
    help="Repeat the computation with this many seeds, --seed and others derived from it, and report the range of the "
    "limits. The run time grows in proportion.",
)
@options.method_option
@options.resampling_option
@options.bound_option
@options.jobs_option
@result_options
@click.option(
    "--instability",
    is_flag=True,
    help="Also report how many training rows are classified differently by refits on the bootstrap draws; needs no "
    "further fits.",
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
    output: ResultOutput,
    instability: bool,
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
    from cudbound.report.sentences import RECOMMENDED

    methods = RECOMMENDED[:1] if recommend else methods
    requested = find_methods(methods)
    pairs = options.with_options(requested, assigned)
    if instability and not any(kind.name == "bootstrap" for method in requested for kind in method.needs):
        raise click.UsageError(
            "--instability needs refits on bootstrap draws, and none of the requested methods makes them; add "
            "two-center to --methods."
        )
    output.check([parsed.data.file, getattr(classifier, "path", None)], save)
    parsed = for_classifier(parsed, classifier)
    # before any time is spent; a saved model tells its threshold when it is read
    resolved = metric.resolve(classifier.threshold if isinstance(classifier, ClassifierRecipe) else 0.5)
    Question.of(requested, metric=resolved, resampling=resampling, **further)
    sample = read_sample(parsed, recommend or parsed.roles.automatic)
    fitted = fit(classifier, sample, seed)
    table, collected, frame = compute(
        fitted,
        seed,
        n_seeds,
        methods=[*methods, *pairs],
        metric=metric.resolve(getattr(fitted.estimator, "threshold", None), fitted),
        groups=sample.groups,
        sample_weight=sample.weights,
        resampling=replace(resampling, cv=folds_of(sample, resampling.cv)),
        **further,
    )
    say_seed(seed)
    files: dict[Path, str | bytes] = {}
    if save is not None:
        files[save] = saved_text(table, parsed, classifier, resampling.cv)
    write(table, output, files, over_seeds=frame, instability=instability, headline_only=recommend)
    finish([*fitted.warnings, *collected.messages], collected.certified)
