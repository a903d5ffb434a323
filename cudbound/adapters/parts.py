"""The parts of a classifier: steps and searches in it, their seeds, and what a refit passes to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, PredefinedSplit, TunedThresholdClassifierCV
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from cudbound.basis.exceptions import ParameterError, UnsupportedEstimatorError
from cudbound.estimators.batched.sources import flatten
from cudbound.estimators.chosen_threshold import ChosenThresholdClassifier
from cudbound.estimators.convex_loss import ConvexLossClassifier

#: These have a parameter `cv`, and choose nothing by it: they fit on scores of held-out rows.
_CROSS_FITTED = (CalibratedClassifierCV, StackingClassifier)


@dataclass(frozen=True)
class EstimatorParts:
    """The parts of a fitted classifier.

    Attributes
    ----------
    steps : tuple of object
        Fitted steps before the classifier, in order, including those of nested pipelines and of a basis.
    classifier : object
        The fitted classifier after these steps.
    chosen_by : tuple of str
        The searches that chose parameters on the training rows, outermost first, such as ("GridSearchCV",).
    roots : tuple of object
        The estimator, and the best estimators of searches in it, with parameters that the search itself does not have.
    """

    steps: tuple[Any, ...]
    classifier: Any
    chosen_by: tuple[str, ...]
    roots: tuple[Any, ...]


def unwrap(estimator: Any) -> EstimatorParts:
    """Return the steps and the classifier inside fitted pipelines, searches, thresholds and frozen estimators.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> inside = unwrap(make_pipeline(StandardScaler(), LogisticRegression()))
    >>> inside.steps, inside.classifier
    ((StandardScaler(),), LogisticRegression())
    """
    steps: list[Any] = []
    chosen: list[str] = []
    roots = [estimator]
    while True:
        name = type(estimator).__name__
        if isinstance(estimator, FrozenEstimator):  # first, since it shows the attributes of what it holds
            estimator = estimator.estimator
        elif hasattr(estimator, "steps"):
            *before, (_, estimator) = estimator.steps
            steps += flatten([step for _, step in before])
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
            roots.append(estimator)
            chosen.append(name)
        elif isinstance(estimator, FixedThresholdClassifier):
            estimator = estimator.estimator_
        elif isinstance(estimator, TunedThresholdClassifierCV | ChosenThresholdClassifier):
            estimator = estimator.estimator_
            chosen.append(name)
        else:
            break
    if hasattr(estimator, "cv") and not isinstance(estimator, _CROSS_FITTED):
        chosen.append(type(estimator).__name__)
    if isinstance(estimator, ConvexLossClassifier) and estimator.basis is not None:
        steps += flatten([estimator.basis_])
    return EstimatorParts(tuple(steps), estimator, tuple(chosen), tuple(roots))


def splits_rows(estimator: Any) -> bool:
    """Whether a classifier, or one of its parts, splits the rows that it is fitted to, as far as parameters show it.

    Parts with a parameter `cv` do, such as searches, target encoders and stacked classifiers, unless they use fitted
    estimators, and so does early stopping.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
    >>> splits_rows(LogisticRegression()), splits_rows(RidgeClassifierCV())
    (False, True)
    """
    parts = parameters_of(estimator) if hasattr(estimator, "get_params") else [estimator]
    return any(
        (hasattr(part, "cv") and part.cv != "prefit")
        or getattr(part, "early_stopping", False) is True
        or (
            hasattr(part, "validation_fraction")
            and getattr(part, "n_iter_no_change", None) is not None
            and not hasattr(part, "early_stopping")
        )
        for part in parts
        if hasattr(part, "get_params")
    )


def parameters_of(estimator: Any) -> list[Any]:
    """Return an estimator and all values of its parameters, including nested ones."""
    return [estimator, *estimator.get_params(deep=True).values()]


def seeded_clone(estimator: Any, seed: int) -> Any:
    """Return an unfitted clone in which `seed` replaces every ``random_state`` that is None, including nested ones."""
    return clone(estimator).set_params(**dict.fromkeys(unseeded_parameters(estimator), seed))


def unseeded_parameters(estimator: Any) -> list[str]:
    """Return the names of the ``random_state`` parameters that are None, including nested ones."""
    return [
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]


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
    for part in parameters_of(estimator):
        cv = getattr(part, "cv", None)
        if isinstance(cv, PredefinedSplit) or not (isinstance(cv, int | str | None) or hasattr(cv, "split")):
            raise UnsupportedEstimatorError(
                f"{type(part).__name__} has folds given as numbers of rows, which are other patients in a refit.",
                "Pass a splitter, such as cv=StratifiedKFold(5), or cv=GroupKFold(5) with groups=.",
            )
        if groups is None and keeps_groups(cv):
            advice = " Groups of rows then stay together in the resampling too; on the command line, pass --group COL."
            rule = f"given: {type(part).__name__} has the folds {cv!r}, which need them"
            raise ParameterError("groups", rule, None, advice)
    metadata = {
        "sample_weight": sample_weight,
        "groups": None if groups is None else np.asarray(groups),
    }
    arrays = {name: values for name, values in metadata.items() if values is not None}
    if get_config()["enable_metadata_routing"]:
        requested = get_routing_for_object(estimator).consumes("fit", arrays)
        keywords = {
            name: values
            for name, values in arrays.items()
            if name in requested or has_fit_parameter(estimator, name)
        }
        lacking = f"no part of {type(estimator).__name__} requests them"
    else:
        steps = list(_steps(estimator))
        prefix, final = steps[-1]
        of_steps = [(prefix, "sample_weight")] if has_fit_parameter(final, "sample_weight") else []
        of_steps += [(prefix, "groups") for prefix, step in steps if keeps_groups(getattr(step, "cv", None))]
        keywords = {f"{prefix}{name}": arrays[name] for prefix, name in of_steps if name in arrays}
        lacking = f"{type(final).__name__}.fit does not"
    if sample_weight is not None and not any(name.endswith("sample_weight") for name in keywords):
        raise ValueError(
            f"The 'sample_weight' parameter needs a classifier that supports weights, and {lacking}. Use one that "
            "does, such as LogisticRegression, or leave the weights out. A search passes weights on with metadata "
            "routing, sklearn.set_config(enable_metadata_routing=True), if its parts request them: "
            "LogisticRegression().set_fit_request(sample_weight=True)."
        )
    return keywords


def _steps(estimator: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the steps of nested pipelines, with the beginning of their keywords of ``fit``."""
    if not hasattr(estimator, "steps"):
        yield prefix, estimator
        return
    for name, step in estimator.steps:
        yield from _steps(step, f"{prefix}{name}__")


def keeps_groups(cv: Any) -> bool:
    """Whether a splitter needs the groups of the rows, as `GroupKFold` does."""
    if not hasattr(cv, "split") or not hasattr(cv, "get_metadata_routing"):
        return False
    return bool(cv.get_metadata_routing().consumes("split", ["groups"]))
