"""A fitted classifier and its training set; the classifier may come from a skops file.

A pickle is a program, and so is a joblib file. A skops file is loaded only if all of its types are known to skops, in
`HARMLESS`, or named by the user. Then no code in the file runs. A forged file can still crash the process, because
compiled code does not check the arrays of a fitted estimator.
"""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from cudbound.basis.exceptions import install_command
from cudbound.cli.command import CollectedWarnings, in_words_of_the_command, typed_options
from cudbound.inputs.classifier_recipe import ClassifierRecipe
from cudbound.inputs.data_file import DataFile, first_few, key_of, quoted, spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cudbound.analysis.table import ComparisonTable, IntervalTable
    from cudbound.inputs.csv_columns import TrainingData
    from cudbound.resampling import Resampling

    SomeTable = TypeVar("SomeTable", IntervalTable, ComparisonTable)


#: Types that skops does not trust, and with which pipelines and searches on tables are saved. Neither making an object
#: of such a type nor using it runs code of the file, whatever stands in its attributes.
HARMLESS = (
    "cudbound.estimators.two_class.ConvexLossClassifier",
    "cudbound.estimators.two_class.LeastSquaresClassifier",
    "numpy.dtype",
    "scipy.interpolate._bsplines.BSpline",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
    "sklearn.compose._column_transformer._RemainderColsList",
    "sklearn.impute._iterative.IterativeImputer",
    "sklearn.impute._iterative._ImputerTriplet",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.metrics._ranking.roc_auc_score",
    *(
        f"sklearn.metrics._classification.{name}"
        for name in ("accuracy_score", "balanced_accuracy_score", "brier_score_loss", "f1_score", "log_loss")
    ),
    *(
        f"sklearn.model_selection._split.{name}"
        for name in ("KFold", "RepeatedKFold", "RepeatedStratifiedKFold", "StratifiedKFold")
    ),
    *(f"sklearn.feature_selection._univariate_selection.{name}" for name in ("chi2", "f_classif")),
    *(f"sklearn.utils._metadata_requests.{name}" for name in ("MetadataRequest", "MethodMetadataRequest")),
)

#: Parameters that make a refit print, start processes, have a text evaluated by joblib, or read pickles from a folder
#: that the file names; and what they are set to.
QUIET = {"memory": None, "n_jobs": None, "pre_dispatch": "2*n_jobs", "verbose": False}

_WAY_ON = "save the model with skops.io.dump, or let the command fit one with --classifier"


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted classifier from a file.

    Attributes
    ----------
    estimator : object
        As it was saved, except for the parameters in `QUIET`.
    path : Path
        The file.
    warnings : tuple of str
        Warnings about the file.
    """

    estimator: Any
    path: Path
    warnings: tuple[str, ...] = ()


def load_model(path: Path, trust: Sequence[str] = ()) -> SavedModel:
    """Load a fitted classifier that was saved by `skops.io.dump`.

    Parameters
    ----------
    path : Path
    trust : sequence of str, default ()
        Types, by their full names, that the user knows to be harmless.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is a pickle or another non-skops file, is damaged, has no classifier, or has types that are neither
        known to be harmless nor in `trust`, or if skops is not installed.
    """
    name, content = quoted(path.name), path.read_bytes()
    if not zipfile.is_zipfile(path):
        raise ValueError(
            f"--model: {name} is not a skops file. Loading a pickle, including files of joblib, would run any code in "
            f"it, so the file was not opened; {_WAY_ON}"
        )
    try:
        import skops.io
    except ImportError as error:
        raise ValueError(
            f"--model needs the package skops, which is not installed ({error}); "
            f"get it with: {install_command('models')}"
        ) from error
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            unknown = set(skops.io.get_untrusted_types(data=content)) - {*HARMLESS, *trust}
            estimator = None if unknown else skops.io.loads(content, trusted=[*HARMLESS, *trust])
            _silence(estimator)
        except Exception as error:  # a damaged file can make skops raise anything
            raise ValueError(
                f"--model: {name} cannot be loaded, {type(error).__name__}: {quoted(str(error), 200)}; {_WAY_ON}"
            ) from error
    if unknown:
        raise ValueError(
            f"--model: {name} contains types that are not known to be harmless: "
            f"{first_few([quoted(kind, 100) for kind in sorted(unknown)])}. It was not loaded, because loading could "
            "run code. Let the command fit a classifier with --classifier or, if you trust the source of the file, "
            "name each type with --trust TYPE"
        )
    from sklearn.base import is_classifier

    if isinstance(estimator, type) or not hasattr(estimator, "predict") or not is_classifier(estimator):
        raise ValueError(f"--model: {name} contains a {type(estimator).__name__}, which is not a classifier")
    messages = dict.fromkeys(_in_short(event.message, name) for event in caught)
    return SavedModel(estimator, path, tuple(messages))


def _in_short(message: Warning | str, name: str) -> str:
    """Merge scikit-learn's warnings, one per step, that the file is from another version."""
    from sklearn.exceptions import InconsistentVersionWarning

    if not isinstance(message, InconsistentVersionWarning):
        return f"{name}: {message}"
    return (
        f"{name} was saved with scikit-learn {message.original_sklearn_version} and is used with "
        f"{message.current_sklearn_version}; if this model differs between the two, the numbers are wrong"
    )


def _silence(model: Any) -> None:
    """Reset the `QUIET` parameters in all parts of a model; raise an error for a search that would set them again."""
    for part in _parts_of(model):
        if isinstance(part, Mapping):
            loud = [name for name in part if isinstance(name, str) and name.rpartition("__")[2] in QUIET]
            if loud:
                raise ValueError(f"it searches over {loud[0]!r}, which is not a parameter of a fit")
        state = getattr(part, "__dict__", {})
        state.update({name: value for name, value in QUIET.items() if name in state})


def _parts_of(model: Any) -> Iterator[Any]:
    """Yield an object and all objects in it, each once."""
    import numpy as np

    parts: dict[int, Any] = {}  # the objects too: the number of one that is gone may become that of another
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in parts or isinstance(part, type):
            continue
        parts[id(part)] = part
        yield part
        if isinstance(part, Mapping):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple | set):
            waiting.extend(part)
        elif isinstance(part, np.ndarray):
            waiting.extend(part.ravel().tolist() if part.dtype == object else [])
        else:
            waiting.extend(getattr(part, "__dict__", {}).values())


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
    labels : sequence of object
        Its labels of the classes of the sample; of two, the second is the event.
    fitted_here : bool
        Whether the command fitted it.
    """

    estimator: Any
    X: Any
    y: NDArray[Any]
    sample: TrainingData
    description: str
    warnings: Sequence[str] = ()
    labels: Sequence[Any] = (0, 1)
    fitted_here: bool = False


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
    import numpy as np

    from cudbound.adapters.parts import describe_classifier, fit_keywords  # loads scikit-learn

    labels = (0, 1) if sample.event else sample.classes
    y = np.asarray(labels)[sample.y]
    with in_words_of_the_command("the classifier") as collected:
        estimator = replace(classifier, missing=sample.missing, levels=sample.levels)(seed)
        estimator.fit(sample.X, y, **fit_keywords(estimator, sample.weights))
    description = describe_classifier(estimator)
    return FittedClassifier(
        estimator, sample.X, y, sample, description, collected.messages, labels, fitted_here=True
    )


def _match(model: SavedModel, sample: TrainingData) -> FittedClassifier:
    from cudbound.adapters.parts import describe_classifier
    from cudbound.basis.validation import check_binary_classifier, check_can_be_refitted, check_classifier

    name, estimator = quoted(model.path.name), model.estimator
    try:
        check_can_be_refitted(estimator)
        classes = (check_binary_classifier if sample.event else check_classifier)(estimator)
    except (ValueError, TypeError) as error:  # sklearn's NotFittedError is a ValueError
        raise ValueError(f"--model: {name} cannot be used: {error}") from error
    X: Any = sample.X
    if hasattr(estimator, "feature_names_in_"):
        import pandas as pd

        X = pd.DataFrame(X, columns=list(sample.feature_names))
        fitted_to = [*map(str, estimator.feature_names_in_)]
        X = X[fitted_to] if set(fitted_to) == set(X.columns) else X
    names = [spelling(key_of(str(label).strip())) for label in classes.tolist()]
    values = [spelling(key_of(value)) for value in sample.classes]
    if len(set(names)) < len(names) or set(names) != set(values):
        fitted_classes, listed = (
            first_few([*map(repr, classes.tolist())]),
            first_few([*map(quoted, sample.classes)]),
        )
        raise ValueError(
            f"--model: {name} was fitted to the classes {fitted_classes}, which are not the values {listed} of the "
            f"target in {quoted(sample.source)}; write the target in the file as it was in the fit"
        )
    labels = [classes.tolist()[names.index(value)] for value in values]
    y = classes[[names.index(values[code]) for code in sample.y]]
    try:
        estimator.predict(X)
    except Exception as error:  # the state of a saved model can be anything
        raise ValueError(
            f"--model: {name} cannot classify the rows of {quoted(sample.source)}, {type(error).__name__}: "
            f"{quoted(' '.join(str(error).split()), 400)}; use the columns of the fit, with --exclude COL and "
            "--categorical COL, whose indicators are named column=level; drop rows with missing values, if it has no "
            "step that fills them, with --missing drop; or refit it with the installed scikit-learn"
        ) from error
    description = describe_classifier(estimator, f"from the file {model.path.name}, as it was saved")
    return FittedClassifier(estimator, X, y, sample, description, model.warnings, labels)


def new_cases_of(fitted: FittedClassifier, data: DataFile, file: Path) -> tuple[Any, Any]:
    """Return the cases of a file of new ones in the form of the training rows of a classifier."""
    import numpy as np

    from cudbound.inputs.csv_columns import read_new_cases

    rows, y = read_new_cases(data, fitted.sample, file)
    return in_form_of_fit(fitted, rows), np.asarray(fitted.labels)[y]


def in_form_of_fit(fitted: FittedClassifier, rows: NDArray[Any]) -> Any:
    """Return coded rows of a file as a classifier was fitted to them: with their columns, if it was fitted to some."""
    if fitted.X is fitted.sample.X:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=list(fitted.sample.feature_names))[list(fitted.X.columns)]


def folds_of_groups(folds: Any) -> Any:
    """Return the ``cv`` of the package for a number of folds of whole groups, None for the usual number."""
    from sklearn.model_selection import GroupKFold

    return None if folds is None else GroupKFold(folds)


def compute(
    call: Callable[..., SomeTable],
    fitted: Mapping[str, FittedClassifier],
    resampling: Resampling,
    **arguments: Any,
) -> tuple[SomeTable, CollectedWarnings]:
    """Return the table of a call for one classifier, or for several by name, and the warnings of fits and refits."""
    first, *others = fitted.values()
    sample = first.sample
    estimators = {name: learner.estimator for name, learner in fitted.items()}
    with in_words_of_the_command("some of the refits", first.fitted_here) as collected:
        collected.n_copies = sample.n_copies
        for name, learner in fitted.items():
            collected.messages += [f"{name}: {text}" if others else text for text in learner.warnings]
        table = call(
            estimators if others else first.estimator,
            first.X,
            first.y,
            groups=sample.groups,
            resampling=resampling
            if sample.groups is None
            else replace(resampling, cv=folds_of_groups(resampling.cv)),
            **arguments,
        )
    return with_notes(table, fitted), collected


def with_notes(table: SomeTable, fitted: Mapping[str, FittedClassifier]) -> SomeTable:
    """Return a table whose notes give the file, the classifiers by name, and the options that were typed."""
    sample: TrainingData = next(iter(fitted.values())).sample
    events = int(sample.y.sum())
    counts = {"n_events": events, "n_non_events": sample.y.size - events, "event": sample.event}
    changes: Any = counts if sample.event else {}
    assert table.run is not None
    run = replace(
        table.run,
        source=sample.source,
        features=tuple(sample.feature_names if sample.columns is None else sample.columns),
        preparation=(*sample.notes, *(_filled_once(table) if sample.missing else ())),
        choices=typed_options(),
        classifiers={name: learner.description for name, learner in fitted.items()},
        **changes,
    )
    return replace(table, about=run)


def _filled_once(table: IntervalTable | ComparisonTable) -> tuple[str, ...]:
    """Return for which rows missing values are filled in once: those that take the fitted classifier as it is."""
    from cudbound.intervals import METHODS

    as_fitted = {name for name, method in METHODS.items() if any(kind.of_model for kind in method.needs)}
    names = dict.fromkeys(row.method for row in table if not math.isnan(row.estimate))
    fixed = " and ".join(name for name in names if name in as_fitted)
    return (f"For {fixed}, missing values are filled as in the fit to all rows.",) if fixed else ()
