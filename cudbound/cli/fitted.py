"""A fitted classifier and its training set, with labels and column names as in the fit."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cudbound.basis.hints import did_you_mean
from cudbound.basis.parameter_error import ParameterError
from cudbound.cli.advice import in_words_of_the_command
from cudbound.cli.command import refuse_beside, say, typed_options
from cudbound.cli.model_file import SavedModel, load_model
from cudbound.cli.options import FILE, Decorator, combined, from_text, parse_assignments, parse_value
from cudbound.cli.output import finish
from cudbound.inputs.classifier_recipe import DEFAULT, LEARNERS, ClassifierRecipe
from cudbound.inputs.data_file import first_few, quoted
from cudbound.inputs.parsed_file import ParsedFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cudbound.analysis.table import ComparisonTable, IntervalTable
    from cudbound.inputs.csv_columns import TrainingData

    SomeTable = TypeVar("SomeTable", IntervalTable, ComparisonTable)

#: Where a classifier may come from a file, see `find_model`.
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


def classifier_named(names: Collection[str], text: str) -> str:
    """Return the name of a classifier, which must be one of `names`; raise a ValueError with a hint otherwise."""
    if text in names:
        return text
    way = did_you_mean(text, names, "they are")
    if text in LEARNERS:
        way += " Fit any other scikit-learn classifier in Python, and give its file with --model."
    raise ValueError(f"{quoted(text)} is not one of the classifiers here; {way}")


def classifier_options(names: Collection[str], standardize: str, *more: Decorator) -> Decorator:
    """Add the options of one classifier; the command receives it as ``classifier``, a recipe or a saved model."""
    return combined(
        "classifier",
        _chosen,
        click.option(
            "--classifier",
            type=from_text(partial(classifier_named, names)),
            default=DEFAULT,
            metavar="NAME",
            help=f"Classifier to fit: {', '.join(names)}.",
        ),
        click.option(
            "--set",
            "assignments",
            multiple=True,
            metavar="NAME=VALUE",
            help="Option of the classifier, by its name in scikit-learn, such as C=0.5; the value is a number, true, "
            "false, none or a string. May be repeated.",
        ),
        click.option("--standardize", is_flag=True, help=standardize),
        *more,
    )


def _chosen(
    model_file: Path | None = None, trust: Sequence[str] = (), **of_a_fit: Any
) -> ClassifierRecipe | SavedModel:
    if model_file is not None:
        refuse_beside("--model", of_a_fit, "the classifier of --model is already fitted")
    return find_model(model_file, trust) or choose_classifier(**of_a_fit)


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """The classifier and data for which intervals are computed.

    Attributes
    ----------
    estimator : object
        The fitted classifier.
    X : ndarray or DataFrame, shape (n_samples, n_features)
        Its training rows; a DataFrame if it was fitted to columns with names.
    y : ndarray, shape (n_samples,)
        Their labels, from ``estimator.classes_``.
    sample : TrainingData
        The data as read.
    description : str
        The classifier in words, for the notes under the table.
    warnings : sequence of str
        Warnings about the fit or the file.
    event : object
        Its label of the event.
    """

    estimator: Any
    X: Any
    y: NDArray[Any]
    sample: TrainingData
    description: str
    warnings: Sequence[str] = ()
    event: Any = 1


def choose_classifier(
    classifier: str,
    assignments: Iterable[str],
    standardize: bool = False,
    threshold: float | None = None,
) -> ClassifierRecipe:
    """Return a recipe after trying its options on a small example.

    Parameters
    ----------
    classifier : str
        One of `cudbound.inputs.classifier_recipe.LEARNERS`.
    assignments : iterable of str
        Each is ``NAME=VALUE``; a value is a number, true, false, none, or a string.
    standardize : bool, default False
    threshold : float or None, default None

    Raises
    ------
    click.BadParameter
        If an option is malformed, unknown or given twice, or if its value is invalid for the class.
    ParameterError
        If the classifier is unknown, or the threshold is not a number.
    """
    try:
        return ClassifierRecipe(
            classifier, tuple(parse_assignments(assignments).items()), standardize, threshold=threshold
        )
    except ParameterError:
        raise
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--set'") from error


def find_model(model_file: Path | None, trust: Sequence[str]) -> SavedModel | None:
    """Return the classifier of --model, or None without one; --trust needs --model."""
    if trust and model_file is None:
        raise click.UsageError("--trust allows types in a model file; give that file with --model.")
    return None if model_file is None else load_model(model_file, trust)


def read_sample(parsed: ParsedFile, say_roles: bool = False) -> TrainingData:
    """Read the columns of a file, and print warnings about it on stderr before any long computation.

    With `say_roles`, also print how each column was read.
    """
    from cudbound.inputs.csv_columns import read_training_data

    sample = read_training_data(parsed.data, parsed=parsed)
    if say_roles:
        say(f"read {len(sample.y)} rows of {quoted(sample.source)}")
        for line in sample.roles:
            say(line)
    finish(sample.warnings)
    return sample


def fit(classifier: ClassifierRecipe | SavedModel, sample: TrainingData, seed: int) -> FittedClassifier:
    """Fit the chosen classifier, or convert the sample to the form that a saved model was fitted to.

    Parameters
    ----------
    classifier : ClassifierRecipe or SavedModel
    sample : TrainingData
    seed : int
        Seed of the random numbers of the classifier.

    Raises
    ------
    ValueError
        If the fit fails, or the model does not belong to this sample.
    """
    if isinstance(classifier, SavedModel):
        return _match(classifier, sample)
    from cudbound.adapters.fit_keywords import fit_keywords
    from cudbound.adapters.procedure import describe_classifier  # loads scikit-learn

    with in_words_of_the_command("the classifier") as heard:
        estimator = replace(classifier, missing=sample.missing, levels=sample.levels)(seed)
        estimator.fit(sample.X, sample.labels, **fit_keywords(estimator, sample.weights))
    description = describe_classifier(estimator)
    return FittedClassifier(estimator, sample.X, sample.labels, sample, description, heard.messages)


def _match(model: SavedModel, sample: TrainingData) -> FittedClassifier:
    from cudbound.adapters.procedure import describe_classifier
    from cudbound.basis.validation import check_binary_classifier, check_classifier

    name, estimator = quoted(model.path.name), model.estimator
    try:
        classes = (check_binary_classifier if sample.event else check_classifier)(estimator)
    except (ValueError, TypeError) as error:  # sklearn's NotFittedError is a ValueError
        raise ValueError(f"--model: {name} cannot be used: {error}") from error
    X = _columns(estimator, sample, name)
    event, coded = _event(classes.tolist(), sample, name) if sample.event else (1, False)
    if sample.event:
        y = classes[event * (sample.y == 1) + (1 - event) * (sample.y != 1)]
    else:
        places = _places(classes.tolist(), sample, name)
        y = classes[[places[code] for code in sample.y]]
    try:
        wrong = int((estimator.predict(X) != y).sum())
    except Exception as error:  # the state of a saved model can be anything
        gaps = math.isnan(sample.X.sum())
        remedy = (
            "if it has no step that fills missing values, drop these rows with --missing drop"
            if gaps
            else "refit it with the installed scikit-learn, or let the command fit one with --classifier"
        )
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"--model: {name} cannot classify the rows of {quoted(sample.source)}, {type(error).__name__}: {reason}; "
            f"{remedy}"
        ) from error
    description = model.description
    if coded:
        label, other = classes[event].item(), classes[1 - event].item()
        if 2 * wrong > y.size:
            raise ValueError(
                f"--model: {name} was fitted to the classes {other!r} and {label!r}. With {label!r} as the event "
                f"'{sample.event}', it misclassifies {wrong} of {y.size} rows, so the codes are probably reversed: "
                f"choose the other value with --positive, or check that {quoted(sample.source)} contains the rows "
                "that it was fitted to"
            )
        description += f", with class {label!r} as the event"
    description = describe_classifier(estimator, description)
    return FittedClassifier(estimator, X, y, sample, description, model.warnings, classes.tolist()[event])


def _listed(names: Sequence[str]) -> str:
    return first_few([quoted(name, 100) for name in names]) or "none"


def _columns(estimator: Any, sample: TrainingData, name: str) -> Any:
    """Return the features in the order of the model, matched by name or, without names, by number."""
    known = getattr(estimator, "feature_names_in_", None)
    found = sample.feature_names
    if known is None:
        expected = getattr(estimator, "n_features_in_", len(found))
        if expected != len(found):
            raise ValueError(
                f"--model: {name} was fitted to {expected} features, {quoted(sample.source)} has {len(found)}: "
                f"{_listed(found)}; drop columns with --exclude COL, or code categories with --categorical COL"
            )
        return sample.X
    names = [str(one) for one in known]
    missing = [one for one in names if one not in found]
    extra = [one for one in found if one not in names]
    if missing or extra:
        raise ValueError(
            f"--model: {name} was fitted to other columns than {quoted(sample.source)} has: missing "
            f"{_listed(missing)}, unknown to the model {_listed(extra)}; drop columns with --exclude COL, and use the "
            "column names of the fit (indicators from --categorical are named column=level)"
        )
    import pandas as pd

    return pd.DataFrame(sample.X, columns=list(found))[names]


def _event(classes: list[Any], sample: TrainingData, name: str) -> tuple[int, bool]:
    """Return which of the two classes of a model is the event, and whether a numeric code decided this."""
    negative, positive = sample.classes
    for event in (0, 1):
        if _same(positive, classes[event]) and _same(negative, classes[1 - event]):
            return event, False
    if all(isinstance(one, bool | int | float) for one in classes) and set(classes) in ({0, 1}, {-1, 1}):
        return classes.index(1), True
    raise ValueError(
        f"--model: {name} was fitted to the classes {classes[0]!r} and {classes[1]!r}, which are neither the values "
        f"{quoted(negative)} and {quoted(positive)} of the target in {quoted(sample.source)} nor 0 and 1"
    )


def _places(classes: list[Any], sample: TrainingData, name: str) -> list[int]:
    """Return the index of each value of the target among the classes of a model."""
    found = [[k for k, label in enumerate(classes) if _same(text, label)] for text in sample.classes]
    if [len(one) for one in found] != [1] * len(classes):
        raise ValueError(
            f"--model: {name} was fitted to the classes {first_few(list(map(repr, classes)))}, which are not the "
            f"values {_listed(sample.classes)} of the target in {quoted(sample.source)}"
        )
    return [place for (place,) in found]


def _same(text: str, label: Any) -> bool:
    """Whether a cell of the file equals a label, as pandas would read the cell."""
    if isinstance(label, str):
        number = parse_value(label)
        return label.strip() == text or (isinstance(number, int | float) and number == parse_value(text))
    return bool(parse_value(text) == label)


def folds_of(sample: TrainingData, folds: int | None) -> Any:
    """Return the ``cv`` of the package for a number of folds: stratified, or of whole groups."""
    from sklearn.model_selection import GroupKFold

    return folds if folds is None or sample.groups is None else GroupKFold(folds)


def with_notes(table: SomeTable, sample: TrainingData, **further: Any) -> SomeTable:
    """Return a table whose notes give the file, the options that were typed, and `further` facts."""
    if table.run is None:
        return table
    events = int(sample.y.sum())
    of_two: dict[str, Any] = {
        "n_events": events,
        "n_non_events": sample.y.size - events,
        "event": sample.event,
    }
    run = replace(
        table.run,
        source=sample.source,
        **(of_two if sample.event else {}),
        features=sample.feature_names,
        preparation=sample.notes,
        **{"choices": typed_options(), **further},
    )
    return replace(table, run=run)
