"""Load a fitted model from a file of the package skops, which names the types in it before any object is made.

A pickle is a program, and so is what joblib writes. A skops file is loaded only if all of its types are known: to
skops, to `HARMLESS`, or to the user, who names them. No code of the file runs then. A forged file can still crash the
process, since compiled code takes the arrays of a fitted estimator as they are.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cudbound.basis.hints import install_command
from cudbound.inputs.csv_file import first_few, quoted

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
        As it was saved, but for the parameters in `QUIET`.
    path : Path
        The file.
    description : str
        The model in words, for the notes under the table.
    warnings : tuple of str
        What was remarkable about the file.
    """

    estimator: Any
    path: Path
    description: str
    warnings: tuple[str, ...] = ()


def load_model(path: Path, trust: Sequence[str] = ()) -> SavedModel:
    """Load a fitted classifier that `skops.io.dump` has written.

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
        If it is a pickle or no skops file at all, is damaged, holds types that are neither known as harmless nor in
        `trust`, or no classifier, or if skops is not installed.
    """
    name, content = quoted(path.name), path.read_bytes()
    if not zipfile.is_zipfile(path):
        raise ValueError(
            f"--model: {name} is not a skops file. If it is a pickle, as joblib writes, too: loading a pickle runs "
            f"whatever code is in it, so it was not opened; {_WAY_ON}"
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
            f"--model: {name} holds types that are not known to be harmless: "
            f"{first_few([quoted(one, 100) for one in sorted(unknown)])}. It was not loaded, since loading could run "
            "code. Let the command fit a classifier with --classifier or, if you know where the file comes from, name "
            "each type with --trust TYPE"
        )
    from sklearn.base import is_classifier

    if isinstance(estimator, type) or not hasattr(estimator, "predict") or not is_classifier(estimator):
        raise ValueError(f"--model: {name} holds a {type(estimator).__name__}, which is not a classifier")
    description = f"{_in_words(estimator)} from the file {path.name}, as it was saved"
    messages = dict.fromkeys(_in_short(event.message, name) for event in caught)
    return SavedModel(estimator, path, description, tuple(messages))


def _in_short(message: Warning | str, name: str) -> str:
    """Word the warning of scikit-learn that another version wrote the file, which it gives for every step."""
    from sklearn.exceptions import InconsistentVersionWarning

    if not isinstance(message, InconsistentVersionWarning):
        return f"{name}: {message}"
    return (
        f"{name} was saved with scikit-learn {message.original_sklearn_version} and is used with "
        f"{message.current_sklearn_version}; if the two differ in this model the numbers are wrong"
    )


def _silence(model: Any) -> None:
    """Reset the parameters in `QUIET` of all that a model holds; refuse a search that would set them again."""
    for part in _parts_of(model):
        if isinstance(part, Mapping):
            loud = [name for name in part if isinstance(name, str) and name.rpartition("__")[2] in QUIET]
            if loud:
                raise ValueError(f"it searches over {loud[0]!r}, which is no parameter of a fit")
        state = getattr(part, "__dict__", {})
        state.update({name: value for name, value in QUIET.items() if name in state})


def _parts_of(model: Any) -> Iterator[Any]:
    """Yield an object and all that it holds, each once."""
    import numpy as np

    seen: dict[int, Any] = {}  # the objects too: the number of one that is gone may become that of another
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, type):
            continue
        seen[id(part)] = part
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
    """Name the class, and the classes of the steps or of the estimator that it is made of."""
    if isinstance(estimator, str):  # a step that is left out
        return "passthrough"
    parts = [step for _, step in getattr(estimator, "steps", [])]
    inner = getattr(estimator, "estimator", None)
    names = ", ".join(map(_in_words, [*parts, *([] if inner is None else [inner])]))
    return f"{type(estimator).__name__}({names})" if names else type(estimator).__name__
