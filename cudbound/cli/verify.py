"""The command ``cudbound verify``: check a saved result on the data."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudbound.cli.command import DISAGREES, CollectedWarnings, command, in_words_of_the_command
from cudbound.cli.fitted import SavedModel, fit, folds_of_groups, new_cases_of
from cudbound.cli.input_options import MODEL_OPTIONS, chosen_classifier, new_cases_option
from cudbound.cli.options import FILE, OUTPUT, jobs_option, options_as_object
from cudbound.cli.output import ResultOutput, output_options
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.data_file import CsvError, DataFile

if TYPE_CHECKING:
    from cudbound.analysis.table import IntervalTable
    from cudbound.inputs.csv_columns import TrainingData


@dataclass(frozen=True)
class SavedCommand:
    """How a command read its file, and what it fitted; there is no `recipe` if the model came from a file."""

    data: DataFile
    recipe: ClassifierRecipe | None
    folds: int | None


save_option = click.option(
    "--save",
    type=OUTPUT,
    help="Also write a file for checking the result with 'cudbound verify'; it contains no row of the data.",
)


def saved_text(
    table: IntervalTable,
    data: DataFile,
    sample: TrainingData,
    classifier: ClassifierRecipe | SavedModel,
    folds: Any = None,
) -> str:
    """Return the text of the file for ``cudbound verify``, which names the data file without its folder."""
    recipe = classifier if isinstance(classifier, ClassifierRecipe) else None
    # the columns that were used, so that others may come or go
    columns: dict[str, Any] = {"features": tuple(sample.columns), "exclude": ()}
    how = SavedCommand(replace(data, file=Path(data.file.name), **columns), recipe, folds)
    return replace(table.saved, command=how).to_text()


@command("verify")
@click.argument("saved_file", metavar="RESULT.json", type=FILE)
@click.argument("data_path", metavar="FILE.csv", type=FILE)
@partial(options_as_object, "model", chosen_classifier, MODEL_OPTIONS)
@new_cases_option
@jobs_option
@output_options
def verify(
    saved_file: Path,
    data_path: Path,
    model: SavedModel | None,
    new_cases: Path | None,
    n_jobs: int,
    output: ResultOutput,
) -> None:
    """Check RESULT.json, written by --save of 'cudbound interval' or 'cudbound report', on its data FILE.csv.

    RESULT.json describes how to read the data and which classifier to fit. The fingerprint of the data is compared
    first, then the draws, their bounds, the limits, and the rows of the table. The exit code is 4 if anything
    disagrees.
    """
    from cudbound.analysis.saved_file import read_saved, structured
    from cudbound.basis.exceptions import SavedResultError
    from cudbound.inputs.csv_columns import read_training_data

    output.check([saved_file, data_path, new_cases, None if model is None else model.path])
    saved, _ = read_saved(saved_file)
    if saved.command is None:
        raise ValueError(
            "the saved result comes from Python and does not describe how to read a file: check it with "
            "cudbound.verify_result in Python"
        )
    try:
        how = structured(saved.command, SavedCommand)
    except SavedResultError as error:
        raise SavedResultError(f"saved result {str(saved_file)!r}: command: {error}") from error
    classifier = how.recipe or model
    if classifier is None or (how.recipe and model):
        raise ValueError(
            "--model FILE.skops must be given if the classifier of the saved result came from a file, and not if the "
            "command fitted it"
        )
    try:
        data = read_training_data(replace(how.data, file=data_path))
    except CsvError as error:  # it names options of the command that saved the result
        if not data_path.exists():
            raise
        raise CsvError(
            f"{str(data_path)!r} cannot be read like the data of the saved result: {error}"
        ) from error
    from cudbound.analysis.verify_result import verify_result  # loads scikit-learn

    with in_words_of_the_command("some of the fits"):  # the result was printed with its warnings
        fitted = fit(classifier, data, saved.question.rng or 0)
        verification = verify_result(
            saved_file,
            fitted.estimator,
            fitted.X,
            fitted.y,
            groups=data.groups,
            sample_weight=data.weights,
            cv=how.folds if data.groups is None else folds_of_groups(how.folds),
            new_cases=None if new_cases is None else new_cases_of(fitted, how.data, new_cases),
            n_jobs=n_jobs,
        )
    output.write(verification, CollectedWarnings())
    if not verification.passed:
        sys.exit(DISAGREES)
