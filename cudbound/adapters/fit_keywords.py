"""What a refit passes to ``fit`` besides rows and labels: weights, and the groups that folds inside keep together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.model_selection import PredefinedSplit
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from cudbound.adapters.inside import parameters_of
from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.basis.parameter_error import ParameterError


def fit_keywords(
    estimator: Any, sample_weight: NDArray[np.float64] | None = None, groups: ArrayLike | None = None
) -> dict[str, NDArray[Any]]:
    """Return the keywords of ``fit``: arrays of the length of the rows.

    With metadata routing they are those that the estimator requests. Without it, weights are for the last step of a
    `Pipeline`, and groups for the searches and selections in it whose folds keep groups together.

    Raises
    ------
    ValueError
        If the classifier cannot be fitted with weights, or has folds that need groups and `groups` is None.
    UnsupportedEstimatorError
        If it has folds inside that are numbers of rows.
    """
    _check_folds(estimator)
    folds = dict(_folds_of_groups(estimator))
    if folds and groups is None:
        name, cv = next(iter(folds.items()))
        advice = (
            " Groups of rows then stay together in the resampling too; on the command line, pass --group COL."
        )
        raise ParameterError("groups", f"given: {name} has the folds {cv!r}, which need them", None, advice)
    metadata = {
        "sample_weight": sample_weight,
        "groups": None if groups is None else np.asarray(groups),
    }
    given = {name: values for name, values in metadata.items() if values is not None}
    if get_config()["enable_metadata_routing"]:
        keywords = {name: values for name, values in given.items() if _requests(estimator, name)}
    else:
        keywords = {
            f"{step}{name}": given[name] for step, name in _without_routing(estimator) if name in given
        }
    if sample_weight is not None and not any(name.endswith("sample_weight") for name in keywords):
        raise ValueError(_no_weights(estimator))
    return keywords


def _check_folds(estimator: Any) -> None:
    for part in parameters_of(estimator):
        cv = getattr(part, "cv", None)
        if isinstance(cv, PredefinedSplit) or not (
            cv is None or isinstance(cv, int | str) or hasattr(cv, "split")
        ):
            raise UnsupportedEstimatorError(
                f"{type(part).__name__} has folds given as numbers of rows, which are other patients in a refit.",
                "Pass a splitter, such as cv=StratifiedKFold(5), or cv=GroupKFold(5) with groups=.",
            )


def _no_weights(estimator: Any) -> str:
    if get_config()["enable_metadata_routing"]:
        lacking = f"no part of {type(estimator).__name__} requests them"
    else:
        lacking = f"{type(list(_steps(estimator))[-1][1]).__name__}.fit does not"
    return (
        f"The 'sample_weight' parameter needs a classifier that supports weights, and {lacking}. Use one that does, "
        "such as LogisticRegression, or leave the weights out. A search passes weights on with metadata routing, "
        "sklearn.set_config(enable_metadata_routing=True), if its parts request them: "
        "LogisticRegression().set_fit_request(sample_weight=True)."
    )


def _requests(estimator: Any, name: str) -> bool:
    """Whether the fit of an estimator takes such values, for itself or for a part that requests them."""
    if has_fit_parameter(estimator, name):
        return True
    routing = get_routing_for_object(estimator)
    return bool(routing.consumes("fit", [name]))


def _without_routing(estimator: Any) -> Iterator[tuple[str, str]]:
    """Yield what steps of a pipeline take: the prefix of the keyword, and "sample_weight" or "groups"."""
    steps = list(_steps(estimator))
    if has_fit_parameter(steps[-1][1], "sample_weight"):
        yield steps[-1][0], "sample_weight"
    for prefix, step in steps:
        if keeps_groups(getattr(step, "cv", None)):
            yield prefix, "groups"


def _steps(estimator: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the steps of nested pipelines, with the beginning of their keywords of ``fit``."""
    if not hasattr(estimator, "steps"):
        yield prefix, estimator
        return
    for name, step in estimator.steps:
        yield from _steps(step, f"{prefix}{name}__")


def _folds_of_groups(estimator: Any) -> Iterator[tuple[str, Any]]:
    """Yield the classes inside whose folds need the groups of the rows, with the folds."""
    for part in parameters_of(estimator):
        if keeps_groups(cv := getattr(part, "cv", None)):
            yield type(part).__name__, cv


def keeps_groups(cv: Any) -> bool:
    """Whether a splitter needs the groups of the rows, as `GroupKFold` does."""
    if not hasattr(cv, "split") or not hasattr(cv, "get_metadata_routing"):
        return False
    return bool(cv.get_metadata_routing().consumes("split", ["groups"]))
