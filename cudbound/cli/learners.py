"""The command ``cudbound compare-learners``: whether two classifiers, or several, have the same error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from cudbound.cli import options
from cudbound.cli.advice import in_words_of_the_command
from cudbound.cli.command import command, refuse_beside, say_seed
from cudbound.cli.file_options import data_options
from cudbound.cli.fitted import (
    choose_classifier,
    fit,
    folds_of,
    learner_option,
    read_sample,
    set_option,
    with_notes,
)
from cudbound.cli.output import ResultOutput, finish, result_options
from cudbound.inputs.classifier_recipe import LEARNERS, ClassifierRecipe
from cudbound.inputs.data_file import quoted
from cudbound.inputs.parsed_file import ParsedFile

if TYPE_CHECKING:
    from cudbound.resampling import Resampling

ALTERNATIVES = ("two-sided", "less", "greater", "equivalent")
#: Options of a comparison of two, and of one of several.
OF_TWO = ("a", "b", "assigned_a", "assigned_b")
OF_SEVERAL = ("reference", "assigned_several")


def learner_names(text: str) -> tuple[str, ...]:
    """Return two or more classifiers from names separated by commas."""
    names = options.between_commas(text)
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError(f"{text!r} is not a list of two or more different classifiers.")
    return names


def _recipes(
    a: str | None,
    b: str | None,
    assigned_a: Iterable[str],
    assigned_b: Iterable[str],
    learners: tuple[str, ...] | None,
    assigned_several: Iterable[str],
    standardize: bool,
) -> dict[str, ClassifierRecipe]:
    """Return the learners to compare, by name."""
    if learners is None:
        refuse_beside("--a and --b", OF_SEVERAL, "for several classifiers, use --learners")
        for flag, name in (("--a", a), ("--b", b)):
            if name is None:
                raise click.UsageError(
                    f"Missing option '{flag}'; choose two classifiers with --a and --b, or several with --learners."
                )
        two = {"a": (a or "", assigned_a), "b": (b or "", assigned_b)}
        return {
            flag if a == b else name: choose_classifier(name, assigned, standardize, option=f"--set-{flag}")
            for flag, (name, assigned) in two.items()
        }
    refuse_beside("--learners", OF_TWO, "that option is for a comparison of two")
    given: dict[str, list[str]] = {name: [] for name in learners}
    for text in assigned_several:
        name, _, assignment = text.partition(".")
        if name not in given:
            rule = f"does not begin with one of the --learners and a dot, such as {learners[0]}."
            raise click.BadParameter(f"{quoted(text)} {rule}", param_hint="'--set'")
        given[name].append(assignment)
    return {name: choose_classifier(name, own, standardize) for name, own in given.items()}


@command("compare-learners")
@data_options(required=True, parsed=True)
@options.combined(
    "recipes",
    _recipes,
    learner_option("--a", f"First classifier: {', '.join(LEARNERS)}."),
    learner_option("--b", "Second classifier, from the same list."),
    set_option("--set-a", "assigned_a", "first classifier"),
    set_option("--set-b", "assigned_b", "second classifier", how=""),
    click.option(
        "--learners",
        type=options.from_text(learner_names),
        metavar="NAME,NAME,...",
        help="Several classifiers instead of --a and --b: all pairs are compared, with adjustment for their number.",
    ),
    click.option(
        "--set",
        "assigned_several",
        multiple=True,
        metavar="NAME.OPTION=VALUE",
        help="Option of one of the --learners, such as logistic.C=0.5. May be repeated.",
    ),
    click.option(
        "--standardize",
        is_flag=True,
        help="Standardize every feature to mean 0 and standard deviation 1 before each fit of any classifier.",
    ),
)
@click.option(
    "--reference",
    type=click.Choice(tuple(LEARNERS)),
    metavar="NAME",
    help="Compare every other classifier with this one of the --learners, instead of all pairs.",
)
@click.option(
    "--methods",
    "--method",
    "methods",
    type=options.from_text(options.between_commas),
    metavar="all|NAME,NAME,...",
    help="Tests to compute; 'cudbound methods --gives comparison' lists the names.  [default: repeated-k-fold-t, "
    "for the AUC auc-difference]",
)
@click.option(
    "--metric",
    type=click.Choice(("error", "auc")),
    default="error",
    metavar="error|auc",
    help="Metric to compare; with auc, read AUC for error in this help.",
)
@click.option(
    "--resamples",
    "n_resamples",
    type=int,
    default=1000,
    metavar="INT",
    help="Bootstrap draws for the AUC; not used for the error.",
)
@click.option(
    "--alternative",
    type=click.Choice(ALTERNATIVES),
    default=ALTERNATIVES[0],
    help="Alternative hypothesis: two-sided for unequal errors, less for a smaller error of the first classifier, "
    "greater for a larger one, equivalent for a difference between minus and plus --null.",
)
@click.option(
    "--null",
    type=float,
    default=0.0,
    metavar="FLOAT",
    help="Relevant difference of the errors, in (-1, 1); with --alternative less, this is a test of "
    "non-inferiority.",
)
@options.confidence_level_option
@options.seed_option
@options.method_option
@options.resampling_options()
@options.folds_option
@options.jobs_option
@result_options
def compare_learners(
    *,
    parsed: ParsedFile,
    recipes: dict[str, ClassifierRecipe],
    methods: tuple[str, ...] | None,
    metric: str,
    seed: int,
    assigned: tuple[str, ...],
    resampling: Resampling,
    folds: int | None,
    output: ResultOutput,
    **further: Any,
) -> None:
    """Test whether two classifiers, or several, have the same error, on matched splits of FILE.csv.

    All classifiers are fitted to the same training parts and tested on the same test parts. The table has the
    difference of the errors (--a minus --b), an interval for it and a p-value. With --learners it has one line per
    pair, with simultaneous limits and p-values adjusted by Holm's procedure. The file is as for 'cudbound interval'.
    """
    from cudbound.analysis.question import Question
    from cudbound.intervals import DEFAULT_COMPARISONS, find_comparisons
    from cudbound.intervals.difference import check_alternative

    asked = (DEFAULT_COMPARISONS[metric],) if methods is None else methods
    found = find_comparisons(asked)
    pairs = options.with_options(found, assigned)
    output.check([parsed.data.file])
    plain = {name: further[name] for name in ("confidence_level", "n_resamples", "n_jobs")}
    Question.of(found, metric=metric, resampling=resampling, **plain)  # before any time is spent
    check_alternative(further["alternative"], found, further["null"], further["confidence_level"])
    sample = read_sample(parsed)
    fitted = {name: fit(one, sample, seed) for name, one in recipes.items()}
    first = next(iter(fitted.values()))
    from cudbound.analysis.compare_learners import compare_learners as compare  # loads scikit-learn

    with in_words_of_the_command("some of the refits") as heard:
        table = compare(
            {name: one.estimator for name, one in fitted.items()},
            first.X,
            first.y,
            methods=[*asked, *pairs],
            metric=metric,
            groups=sample.groups,
            resampling=replace(resampling, cv=folds_of(sample, folds)),
            rng=seed,
            **further,
        )
    described = {name: one.description for name, one in fitted.items()}
    table = with_notes(table, sample, learners=described)
    say_seed(seed)
    output.write(table, table.report(style=output.style))
    fits = [f"{name}: {warning}" for name, one in fitted.items() for warning in one.warnings]
    finish([*fits, *heard.messages])
