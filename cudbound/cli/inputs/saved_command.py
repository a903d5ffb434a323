"""The options by which ``cudbound interval`` read a file and fitted a classifier, in a saved result and back."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.csv_file import DELIMITERS, DataFile
from cudbound.inputs.missing_cells import CHOICES, KEEP
from cudbound.inputs.named_classifiers import CLASSIFIERS

if TYPE_CHECKING:
    from cudbound.audit.saved_result import SavedCommand

#: Largest number, by its size, that an option of a classifier in a file may have: a longer fit has no end.
LARGEST = 1_000_000


def save_command(data: DataFile, recipe: ClassifierRecipe | None, folds: int | None) -> SavedCommand:
    """Return the options for a file; without a recipe the classifier came from a file of its own."""
    from cudbound.audit.saved_result import SavedCommand

    read = {name: value for name, value in vars(data).items() if name != "file"}
    return SavedCommand(
        **read,
        classifier=None if recipe is None else recipe.classifier,
        options={} if recipe is None else dict(recipe.options),
        standardize=recipe is not None and recipe.standardize,
        threshold=None if recipe is None else recipe.threshold,
        folds=folds,
    )


def data_file(command: SavedCommand, path: Path) -> DataFile:
    """Return how a saved result says that its data are to be read.

    Raises
    ------
    ValueError
        If no command can have said so.
    """
    _check(command.missing in (*CHOICES, KEEP), "missing", command.missing)
    _check(command.delimiter in tuple(DELIMITERS), "delimiter", command.delimiter)
    return DataFile(
        path, **{one.name: getattr(command, one.name) for one in fields(DataFile) if one.name != "file"}
    )


def recipe_of(command: SavedCommand) -> ClassifierRecipe | None:
    """Return how a saved result says that its classifier is to be fitted; None if that came from a file.

    Raises
    ------
    ValueError
        If no command can have said so.
    """
    if command.classifier is None:
        return None
    _check(command.classifier in CLASSIFIERS, "classifier", command.classifier)
    for name, value in command.options.items():
        number = isinstance(value, int | float) and value != float("inf")
        _check(not number or abs(value) <= LARGEST, f"options.{name}", value)
    try:
        return ClassifierRecipe(
            command.classifier,
            tuple(command.options.items()),
            command.standardize,
            threshold=command.threshold,
        )
    except ValueError as error:
        raise ValueError(f"the saved result has a 'command.options' that cannot be: {error}") from error


def _check(right: bool, field: str, value: Any) -> None:
    if not right:
        raise ValueError(f"the saved result has a 'command.{field}' that no command writes: {value!r:.60}")
