"""Load a fitted model from a skops file, whose types are known before any object is created.

A pickle is a program, and so is a joblib file. A skops file is loaded only if all of its types are known to skops, in
`HARMLESS`, or named by the user. Then no code in the file runs. A forged file can still crash the process, because
compiled code does not check the arrays of a fitted estimator.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cudbound.basis.exceptions import install_command
from cudbound.inputs.data_file import first_few, quoted

#: Types that skops does not trust, and with which pipelines and searches on tables are saved. Neither making an object
#: of such a type nor using it runs code of the file, whatever stands in its attributes.
HARMLESS = (
    "cudbound.estimators.convex_loss.ConvexLossClassifier",
    "cudbound.estimators.least_squares.LeastSquaresClassifier",
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
    description : str
        Description of the model, for the notes under the table.
    warnings : tuple of str
        Warnings about the file.
    """

    estimator: Any
    path: Path
    description: str
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
    description = f"{_in_words(estimator)} from the file {path.name}, as it was saved"
    messages = dict.fromkeys(_in_short(event.message, name) for event in caught)
    return SavedModel(estimator, path, description, tuple(messages))


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


def _in_words(estimator: Any) -> str:
    """Return the name of the class, with the classes of its steps or of its inner estimator."""
    if isinstance(estimator, str):  # a step that is left out
        return "passthrough"
    parts = [step for _, step in getattr(estimator, "steps", [])]
    inner = getattr(estimator, "estimator", None)
    names = ", ".join(map(_in_words, [*parts, *([] if inner is None else [inner])]))
    return f"{type(estimator).__name__}({names})" if names else type(estimator).__name__
