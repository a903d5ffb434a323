"""What a command starts from, as options: FILE.csv, which is read before options that take longer, and a classifier."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from cudbound.basis.exceptions import ParameterError
from cudbound.cli.command import refuse_beside, say
from cudbound.cli.fitted import SavedModel, load_model
from cudbound.cli.options import (
    FILE,
    Decorator,
    between_commas,
    options_as_object,
    parse_assignments,
)
from cudbound.inputs.classifier_recipe import CLASSIFIERS, DEFAULT, STRATEGIES, ClassifierRecipe
from cudbound.inputs.data_file import DECIMALS, THOUSANDS, DataFile
from cudbound.inputs.parsed_file import CHOICES, KEEP

if TYPE_CHECKING:
    from cudbound.inputs.csv_columns import TrainingData

#: An option for names that are separated by commas; the command receives a tuple.
names_option = partial(click.option, type=between_commas, default="", show_default=False)
#: FILE.csv: how it is read, and the roles of its columns apart from the target.
_FILE_OPTIONS = (
    names_option(
        "--features",
        metavar="COL,COL,...",
        help="Feature columns; by default every column without another role.",
    ),
    names_option(
        "--categorical",
        metavar="auto|COL,COL,...",
        help="Columns to code as k - 1 indicators of k levels; the first level in sorted order is the reference. auto "
        "means all text columns, and stops at dates, decimal commas and IDs.",
    ),
    names_option("--exclude", metavar="COL,COL,...", help="Columns that are not used as features."),
    click.option(
        "--missing",
        type=click.Choice(CHOICES),
        default=CHOICES[0],
        help="Handling of missing values: stop, drop incomplete rows, or fill them with the median or most frequent "
        "value of the column, as a step of every fit; categories always with the most frequent level.",
    ),
    click.option(
        "--group",
        metavar="COL",
        help="Column of groups of rows, such as those of one patient; draws and folds keep groups whole.",
    ),
    click.option(
        "--delimiter",
        type=lambda text: "\t" if text == "tab" else text,
        default="",
        show_default="recognized",
        metavar="CHAR",
        help="Delimiter of the cells, such as | or tab.",
    ),
    click.option("--decimal", type=click.Choice(DECIMALS), default=DECIMALS[0], help="Decimal separator."),
    click.option(
        "--thousands",
        type=click.Choice(tuple(THOUSANDS)),
        default="",
        show_default="none",
        metavar=",|.|'|space",
        help="Separator of thousands.",
    ),
    names_option(
        "--missing-values",
        metavar="TEXT,TEXT,...",
        help="Further codes of missing values, such as -,unknown,999, in all columns; a number matches every way to "
        "write it. Empty cells and NA, N/A, NaN, null, . and ? are always missing.",
    ),
    click.option("--sheet", show_default="the first visible", help="Sheet of an Excel workbook (.xlsx)."),
    click.option(
        "--skip-rows",
        type=click.IntRange(min=0),
        default=0,
        help="Number of lines above the header, such as a title; for a workbook, rows.",
    ),
)
weight_option = click.option(
    "--weight",
    metavar="COL",
    help="Column of row weights, such as inverse sampling probabilities. The fit, its refits and all mean losses use "
    "them; binomial limits use the effective number of rows.",
)
new_cases_option = click.option(
    "--new-cases",
    type=FILE,
    metavar="NEW.csv",
    help="File of new cases of the same population, read like FILE.csv.",
)
all_classes_option = click.option(
    "--all-classes",
    is_flag=True,
    help="Instead of --positive: keep all values of the target, more than two, as classes. Metrics are the error, the "
    "accuracy and the sensitivity of each class. Not with --classifier least-squares or convex-loss.",
)


def data_options(*more: Decorator, target: bool = True, event: bool = True) -> Decorator:
    """Add FILE.csv and the options for its columns; the command receives them as ``data``, a DataFile.

    `target` and `event` say what is required.
    """
    return partial(
        options_as_object,
        "data",
        DataFile,
        (
            click.argument("file", metavar="FILE.csv", type=FILE),
            click.option("--target", required=target, metavar="COL", help="Column of the class label."),
            click.option(
                "--positive",
                required=event,
                default=None if event else "",
                show_default=False,
                metavar="VALUE",
                help="Value of the target that is the event.",
            ),
            *_FILE_OPTIONS,
            *more,
        ),
    )


# --- the classifier


#: Where a classifier may come from a file, see `chosen_classifier`.
MODEL_OPTIONS = (
    click.option(
        "--model",
        "model_file",
        type=FILE,
        metavar="FILE.skops",
        help="Fitted scikit-learn classifier to use, saved by skops.io.dump, instead of fitting one; FILE.csv must "
        "contain the rows that it was fitted to.",
    ),
    click.option(
        "--trust",
        multiple=True,
        metavar="TYPE",
        help="Full name of a type to load from the file of --model although it is not known to be harmless, such as "
        "sklearn.tree._tree.Tree. Only for files whose origin you know. May be repeated.",
    ),
)


def classifier_options(names: Collection[str], standardize: str, *more: Decorator) -> Decorator:
    """Add the options of one classifier; the command receives it as ``classifier``, a recipe or a saved model."""
    return partial(
        options_as_object,
        "classifier",
        chosen_classifier,
        (
            click.option(
                "--classifier",
                type=click.Choice(tuple(names)),
                default=DEFAULT,
                help="Classifier to fit."
                + (" Any other, such as a forest, comes from a file (--model)." if more else ""),
            ),
            click.option(
                "--set",
                "assignments",
                multiple=True,
                metavar="NAME=VALUE",
                help="Option of the classifier, by its name in Python, such as C=0.5; the value is a number, true, "
                "false, none or a string. May be repeated.",
            ),
            click.option("--standardize", is_flag=True, help=standardize),
            *more,
        ),
    )


def chosen_classifier(
    model_file: Path | None = None,
    trust: Sequence[str] = (),
    assignments: Iterable[str] = (),
    **of_a_fit: Any,
) -> ClassifierRecipe | SavedModel | None:
    """Return the classifier of --model, or a recipe after trying its options; None if the command has neither."""
    if model_file is not None:
        refuse_beside("--model", ("assignments", *of_a_fit), "the classifier of --model is already fitted")
        return load_model(model_file, trust)
    if trust:
        raise click.UsageError("--trust allows types in a model file; give that file with --model.")
    if not of_a_fit:
        return None
    try:
        return ClassifierRecipe(options=tuple(parse_assignments(assignments).items()), **of_a_fit)
    except ParameterError:
        raise
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--set'") from error


#: The classifier, fitted to the file or from a file of its own; the command gets it as ``classifier``.
classifier_of_file = classifier_options(
    CLASSIFIERS,
    "Standardize every feature to mean 0 and standard deviation 1 before the fit. The scaling is fixed for cud "
    "and aci, and part of every refit otherwise.",
    click.option(
        "--threshold",
        type=float,
        metavar="FLOAT",
        help="Classify a case as an event from this probability on, or from this score if the classifier has no "
        "probabilities. Choose it without looking at these data.",
    ),
    *MODEL_OPTIONS,
)


def read_sample(
    data: DataFile, classifier: ClassifierRecipe | SavedModel | None = None
) -> tuple[DataFile, TrainingData]:
    """Read the columns of a file, and print warnings about it on stderr before any long computation.

    Returns
    -------
    data : DataFile
        How it was read: a model from a file gets missing values unless an option says otherwise.
    sample : TrainingData
    """
    from cudbound.inputs.csv_columns import read_training_data

    if isinstance(classifier, SavedModel):
        if data.missing in STRATEGIES:
            reason = "a fitted model either fills missing values itself, or cannot use them"
            refuse_beside("--model", ("missing",), reason)
        source = click.get_current_context().get_parameter_source("missing")
        data = data if source is ParameterSource.COMMANDLINE else replace(data, missing=KEEP)
    elif classifier is not None and classifier.threshold is not None:
        refuse_beside("--threshold", ("weight",), "a fit with a fixed threshold does not support weights")
    sample = read_training_data(data)
    for warning in sample.warnings:
        say(f"warning: {warning}")
    return data, sample
