"""A fitted classifier together with the training set in the words that it was fitted with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cudbound.cli.inputs.assignments import number_or_nan
from cudbound.cli.inputs.model_file import SavedModel
from cudbound.cli.output.advice import (
    INTERVAL_OPTIONS,
    OptionNames,
    advice_of_the_command,
    collected_warnings,
)
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.csv_file import first_few, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cudbound.inputs.csv_columns import TrainingData


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """What the intervals are computed for.

    Attributes
    ----------
    estimator : object
        The fitted classifier.
    X : ndarray or DataFrame, shape (n_samples, n_features)
        Its training rows; a DataFrame if it was fitted to columns with names.
    y : ndarray, shape (n_samples,)
        Their labels, out of ``estimator.classes_``.
    sample : TrainingData
        The data as they were read.
    description : str
        The classifier in words, for the notes under the table.
    warnings : tuple of str
        What was remarkable about the fit or the file.
    saved : bool
        Whether the classifier comes from a file.
    event : object
        Its label of the event.
    """

    estimator: Any
    X: Any
    y: NDArray[Any]
    sample: TrainingData
    description: str
    warnings: tuple[str, ...] = ()
    saved: bool = False
    event: Any = 1


def fit(
    classifier: ClassifierRecipe | SavedModel,
    sample: TrainingData,
    seed: int,
    *,
    names: OptionNames = INTERVAL_OPTIONS,
) -> FittedClassifier:
    """Fit what was chosen, or bring the sample into the form that a saved model was fitted to.

    Parameters
    ----------
    classifier : ClassifierRecipe or SavedModel
    sample : TrainingData
    seed : int
        Of the classifier's own random numbers.
    names : OptionNames, default INTERVAL_OPTIONS
        The options that chose the classifier.

    Raises
    ------
    ValueError
        If the fit fails, or the model does not belong to this sample.
    """
    if isinstance(classifier, SavedModel):
        with advice_of_the_command(names, saved=True):
            return _match(classifier, sample)
    with collected_warnings("the classifier", names) as collected, advice_of_the_command(names):
        recipe = replace(classifier, missing=sample.missing, levels=sample.levels)
        estimator = recipe(seed)
        estimator.fit(sample.X, sample.y, **_weights_of_fit(estimator, sample))
    messages = tuple(dict.fromkeys(map(str, collected)))
    from cudbound.adapters.in_words import describe_classifier  # loads scikit-learn

    description = describe_classifier(estimator, classifier.class_in_words)
    return FittedClassifier(estimator, sample.X, sample.y, sample, description, messages)


def _weights_of_fit(estimator: Any, sample: TrainingData) -> dict[str, NDArray[np.float64]]:
    """Return the weights of the rows by the name that the fit has for them; none if the file has none."""
    if sample.weights is None:
        return {}
    from cudbound.resampling.refits import weights_of_fit

    try:
        return weights_of_fit(estimator, sample.weights)
    except ValueError as error:
        raise ValueError(
            f"--weight: {type(estimator).__name__} is fitted without weights; choose another --classifier, such as "
            "logistic, without --threshold, or leave the option out"
        ) from error


def _match(model: SavedModel, sample: TrainingData) -> FittedClassifier:
    from cudbound.validation import check_binary_classifier

    name, estimator = quoted(model.file_name), model.estimator
    try:
        classes = check_binary_classifier(estimator)
    except (ValueError, TypeError) as error:  # sklearn's NotFittedError is a ValueError
        raise ValueError(f"--model: {name} cannot be used: {error}") from error
    X = _columns(estimator, sample, name)
    event, coded = _event(classes.tolist(), sample, name)
    _check_filled(estimator, X, sample, name)
    y = classes[event * (sample.y == 1) + (1 - event) * (sample.y != 1)]
    try:
        wrong = int((estimator.predict(X) != y).sum())
    except Exception as error:  # the state of a saved model can be anything
        raise ValueError(
            f"--model: {name} cannot classify the rows of {quoted(sample.source)}, {type(error).__name__}: {error}; "
            "fit it again with the installed scikit-learn, or let the command fit one with --classifier"
        ) from error
    description = model.description
    if coded:
        label, other = classes[event].item(), classes[1 - event].item()
        if 2 * wrong > y.size:
            raise ValueError(
                f"--model: {name} was fitted to the classes {other!r} and {label!r}. With {label!r} for the event "
                f"'{sample.event}' it gets {wrong} of {y.size} rows wrong, so the codes seem to be the other way "
                f"round: choose the other value with --positive, or check that {quoted(sample.source)} holds the rows "
                "that it was fitted to"
            )
        description += f", its class {label!r} being the event"
    from cudbound.adapters.in_words import describe_classifier

    description = describe_classifier(estimator, description)
    return FittedClassifier(
        estimator, X, y, sample, description, model.warnings, True, classes.tolist()[event]
    )


def _check_filled(estimator: Any, X: Any, sample: TrainingData, name: str) -> None:
    """Refuse missing values that a model cannot fill."""
    import numpy as np

    lacking = np.isnan(sample.X).any(axis=1)
    if not lacking.any():
        return
    try:
        estimator.predict(X[lacking])
    except ValueError as error:
        raise ValueError(
            f"--model: {name} has no step that fills missing values, and {lacking.sum()} of {lacking.size} rows of "
            f"{quoted(sample.source)} have some; leave these rows out with --missing drop if it was fitted without them"
        ) from error


def _listed(names: Sequence[str]) -> str:
    return first_few([quoted(name, 100) for name in names])


def _columns(estimator: Any, sample: TrainingData, name: str) -> Any:
    """Return the features in the order of the model, which knows their names or at least their number."""
    known = getattr(estimator, "feature_names_in_", None)
    found = sample.feature_names
    if known is None:
        expected = getattr(estimator, "n_features_in_", len(found))
        if expected != len(found):
            raise ValueError(
                f"--model: {name} was fitted to {expected} features, {quoted(sample.source)} has {len(found)}: "
                f"{_listed(found)}; leave columns out with --exclude COL, or name categories with --categorical COL"
            )
        return sample.X
    names = [str(one) for one in known]
    missing = [one for one in names if one not in found]
    extra = [one for one in found if one not in names]
    if missing or extra:
        messages = [f"missing {_listed(missing)}"] if missing else []
        messages += [f"not known to the model {_listed(extra)}"] if extra else []
        ways = ["leave columns out with --exclude COL"] if extra else []
        if missing:
            ways.append(
                "name the columns as they were named in the fit (an indicator made by --categorical is called "
                "column=level; a model that turns text into numbers itself can be used from Python only)"
            )
        raise ValueError(
            f"--model: {name} was fitted to other columns than {quoted(sample.source)} has: {', '.join(messages)}; "
            f"{', and '.join(ways)}"
        )
    import pandas as pd

    return pd.DataFrame(sample.X, columns=list(found))[names]


def _event(classes: list[Any], sample: TrainingData, name: str) -> tuple[int, bool]:
    """Return which of the two classes of a model is the event, and whether that rests on a numeric code."""
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


def _same(text: str, label: Any) -> bool:
    """Whether a cell of the file and a label mean the same, as pandas would read the cell."""
    if isinstance(label, bool) and text.casefold() in ("true", "false"):
        return (text.casefold() == "true") is label
    if isinstance(label, str) and label.strip() == text:
        return True
    return number_or_nan(text) == number_or_nan(label)
