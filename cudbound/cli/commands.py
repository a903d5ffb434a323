"""The command line: it parses, calls `run`, prints, and sets the exit code."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.core import ParameterSource

from cudbound.cli import options
from cudbound.cli.classifiers import CLASSIFIERS, DEFAULT, Choice, choose
from cudbound.cli.fitted import Fitted, fit
from cudbound.cli.model_file import SavedModel, load_model
from cudbound.cli.one_line import OneLineGroup, fail, say
from cudbound.cli.output import check_output, write_whole
from cudbound.cli.run import Outcome, Settings, compute, new_seed, read_sample

UNUSABLE = 1
NOT_CERTIFIED = 3
SOLVERS = ("native", "cvxpy")
FORMATS = ("table", "markdown", "latex", "csv", "json")
EXIT_CODES = """\b
Exit codes:
    0  success
    1  the data, or a file, cannot be used: one line on stderr says why
    2  the command line is wrong: unknown option, level outside (0, 1)
    3  the table was written, but some draws were not solved to the end:
       the CUD bound is not certified
  130  stopped by Ctrl-C; nothing was written"""


@click.group("cudbound", cls=OneLineGroup, invoke_without_command=True, epilog=EXIT_CODES)
@click.version_option(package_name="cudbound", prog_name="cudbound")
@click.pass_context
def main(context: click.Context) -> None:
    """Confidence intervals for the error of a classifier that was trained on few patients.

    The interval comes from the training data alone: the exact CUD bound (Laber & Murphy, 2008), beside the
    six intervals that its authors compare it with.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(2)


@main.command(epilog=EXIT_CODES)
@click.argument("file", metavar="FILE.csv", type=click.Path(path_type=Path))
@click.option(
    "--target", required=True, metavar="COL", help="Column of the class label; it must have two values."
)
@click.option("--positive", required=True, metavar="VALUE", help="Value of the target that is the event.")
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
    "--polish",
    is_flag=True,
    help="For cud, replace the fitted coefficients by the exact minimiser of their loss; the remarks say how far "
    "they moved.",
)
@click.option(
    "--confidence-level",
    callback=options.level,
    default="0.95",
    show_default=True,
    metavar="FLOAT",
    help="Nominal level, in (0, 1).",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    metavar="INT",
    help="Bootstrap draws.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="INT",
    help="Seed of the resampling. Without it one is chosen, and printed so that the run can be repeated.",
)
@click.option(
    "--alpha",
    callback=options.alpha,
    default="n",
    show_default=True,
    metavar="n|paper-literal|FLOAT",
    help="Localisation rate of the CUD bound on the scale of the mean loss; paper-literal is n squared.",
)
@click.option(
    "--methods",
    callback=options.methods,
    default="paper",
    show_default=True,
    metavar="paper|NAME,NAME,...",
    help="cud, bootstrap-percentile, bootstrap-bias-corrected, kohavi-normal, yang-cv-normal, martin-beta, "
    "langford-binomial; paper means all seven.",
)
@click.option(
    "--inner",
    callback=options.inner,
    default="50",
    show_default=True,
    metavar="INT|oob",
    help="Inner draws of each draw for the two bootstrap intervals; oob needs none, and so a fiftieth of the "
    "fits.",
)
@click.option(
    "--categorical",
    multiple=True,
    metavar="COL",
    help="Column whose k levels become k - 1 indicators, the first level in sorted order being the "
    "reference. May be repeated.",
)
@click.option(
    "--exclude", multiple=True, metavar="COL", help="Column that is not a feature. May be repeated."
)
@click.option(
    "--delimiter",
    callback=options.delimiter,
    default=",",
    show_default=True,
    metavar="CHAR",
    help="Character between the cells of the file: , ; | or tab.",
)
@click.option(
    "--jobs",
    type=int,
    callback=options.jobs,
    default=1,
    show_default=True,
    metavar="INT",
    help="Threads; -1 for all processors.",
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
    help="Stop the search of a draw after so many nodes; the interval then uses a safe upper bound.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Form of the output.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="File to write instead of stdout, which is also -. It is replaced whole, at the end.",
)
@click.pass_context
def interval(
    context: click.Context,
    file: Path,
    target: str,
    positive: str,
    classifier: str,
    assignments: tuple[str, ...],
    standardize: bool,
    model_file: Path | None,
    polish: bool,
    confidence_level: float,
    resamples: int,
    seed: int | None,
    alpha: str | float,
    methods: str | tuple[str, ...],
    inner: int | str,
    categorical: tuple[str, ...],
    exclude: tuple[str, ...],
    delimiter: str,
    jobs: int,
    solver: str,
    node_limit: int | None,
    form: str,
    output: Path | None,
) -> None:
    """Print intervals for the error of a classifier that was trained on FILE.csv.

    The file has a header line, then one line per case. Every column except the target and those excluded
    is a feature: a number, or a category named by --categorical. Empty cells and NA, N/A, NaN, null, . and ?
    are missing values; the command names them and stops, it neither drops rows nor fills gaps.
    """
    choice = _choice(context, classifier, assignments, standardize, model_file)
    chosen = new_seed() if seed is None else seed
    place = None if output is None or str(output) == "-" else output
    settings = Settings(
        chosen, methods, confidence_level, resamples, alpha, jobs, node_limit, inner, polish, solver
    )
    try:
        if place is not None:
            check_output(place, file, model_file)
        model: Choice | SavedModel = choice if model_file is None else load_model(model_file)
        sample = read_sample(
            str(file),
            target=target,
            positive=positive,
            categorical=categorical,
            exclude=exclude,
            delimiter=delimiter,
        )
        fitted = fit(model, sample, chosen)
        if seed is None:
            say(f"seed {chosen} was chosen; repeat this run with --seed {chosen}")
        outcome = _compute(fitted, settings)
        _emit(outcome, form, place)
    except (ValueError, OSError) as error:
        fail(str(error), UNUSABLE)
    _finish(outcome)


def _choice(
    context: click.Context,
    classifier: str,
    assignments: tuple[str, ...],
    standardize: bool,
    model_file: Path | None,
) -> Choice:
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
    try:
        return choose(classifier, assignments, standardize=standardize)
    except ValueError as error:
        raise click.BadParameter(str(error), context, param_hint="'--set'") from error


@main.command(epilog=EXIT_CODES)
def demo() -> None:
    """Show the seven intervals on a small real data set, and what they mean and do not mean."""
    from cudbound.cli import demo as example

    data = example.demo_data()
    click.echo(example.introduction(data) + "\n")
    outcome = _compute(fit(Choice(), data.sample, example.SETTINGS.seed), example.SETTINGS)
    _emit(outcome, "table", None)
    click.echo("\n" + example.meaning(data, outcome))
    _finish(outcome)


def _compute(fitted: Fitted, settings: Settings) -> Outcome:
    try:
        return compute(fitted, settings, progress=_on_terminal())
    except MemoryError:
        rows = fitted.sample.y.size
        fail(f"not enough memory for {settings.n_resamples} resamples of {rows} rows; use fewer", UNUSABLE)


def _on_terminal() -> bool:
    """Whether a progress bar, which goes to stderr, would be seen by a person."""
    return sys.stderr.isatty()


def _emit(outcome: Outcome, form: str, output: Path | None) -> None:
    from cudbound.report.render import render_table

    text = render_table(outcome.table, form, run=outcome.run)
    if output is None:
        click.echo(text)
        return
    write_whole(output, f"{text}\n")
    say(f"wrote {output}")


def _finish(outcome: Outcome) -> None:
    """Pass the warnings on, and leave with the code of a bound that is not certified."""
    for warning in outcome.warnings:
        say(f"warning: {warning}")
    if not outcome.certified:
        sys.exit(NOT_CERTIFIED)
