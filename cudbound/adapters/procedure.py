"""The steps of every fit, in words for a methods paragraph: preprocessing, classifier with its penalty, and tuning."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from cudbound.adapters.families import find_adapter
from cudbound.basis.exceptions import UnsupportedEstimatorError

#: Parameters, or what a fit has chosen for them, that set the strength of a penalty.
STRENGTHS = ("C_", "alpha_", "alpha", "C", "penalty")
#: Parameters that say how a fit is computed, not what is fitted.
_HOW = ("random_state", "n_jobs", "verbose", "solver", "algorithm", "tol", "max_iter", "dual", "probability")
#: Parameters that are shown with their defaults as well.
_SHOWN = ("strategy", "kernel", "k", "threshold", "loss")


def penalty_of(classifier: Any) -> tuple[str, str] | None:
    """Return the kind of a penalty and its strength.

    Returns
    -------
    tuple of str or None
        Such as ("ridge", "C = 1"), or ("", "") where there is none; None if it is unknown.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> penalty_of(LogisticRegression(C=2.0)), penalty_of(LogisticRegression(C=float("inf")))
    (('ridge', 'C = 2'), ('', ''))
    """
    try:
        objective = find_adapter(classifier).objective
        minimized = None if objective is None else objective(classifier, 1)
    except (
        UnsupportedEstimatorError,
        AttributeError,
    ):  # a tree, a kernel without a fixed basis, nothing chosen yet
        return None
    if minimized is None:
        return None
    sizes = {"ridge": np.max(minimized.penalty), "lasso": minimized.l1_penalty}
    kinds = [name for name, size in sizes.items() if size > 0.0]
    if not kinds:
        return "", ""
    name = next(name for name in STRENGTHS if hasattr(classifier, name))
    values = np.ravel(getattr(classifier, name)).tolist()
    strength = f"{values[0]:g}" if len(set(values)) == 1 else "one per coefficient"
    return " and ".join(kinds), f"{name.removesuffix('_')} = {strength}"


_AROUND = ("CalibratedClassifierCV", "FixedThresholdClassifier", "TunedThresholdClassifierCV")
#: What the names of scalers end with.
_SCALERS = ("Scaler", "PowerTransformer", "QuantileTransformer")


def describe_classifier(estimator: Any, name: str | None = None) -> str:
    """Return a classifier in one line: the steps of a fit, and that features are not standardized where it matters.

    Parameters
    ----------
    estimator : object
        Classifier, fitted or not, a pipeline that ends in one, or a search over either.
    name : str or None, default=None
        A name to put before it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> describe_classifier(LogisticRegression(C=2.0, class_weight="balanced"))
    'LogisticRegression with a ridge penalty (C = 2, class_weight = balanced); features not standardized'
    """
    *steps, classifier = _steps(estimator)
    penalty = penalty_of(classifier)
    depends_on_scale = hasattr(classifier, "C") if penalty is None else any(penalty)
    unscaled = depends_on_scale and not any(type(step).__name__.endswith(_SCALERS) for step in steps)
    words = "; ".join((*procedure_in_words(estimator), *(["features not standardized"] * unscaled)))
    return words if name is None else f"{name}: {words}"


def _steps(estimator: Any) -> list[Any]:
    """Return the steps inside searches, thresholds, pipelines and column transformers, the classifier last."""
    for inner in ("best_estimator_", "estimator_", "estimator"):
        if hasattr(estimator, inner):
            return _steps(getattr(estimator, inner))
    if hasattr(estimator, "transformers"):
        return [step for _, branch, *_ in estimator.transformers for step in _steps(branch)]
    return [step for _, part in getattr(estimator, "steps", ()) for step in _steps(part)] or [estimator]


def procedure_in_words(estimator: Any, tuned: Collection[str] = ()) -> tuple[str, ...]:
    """Return the steps of every fit of an estimator in words, each once, in order.

    Parameters
    ----------
    estimator : object
    tuned : collection of str, default=()
        Parameters without a chosen value; they are omitted.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> procedure_in_words(make_pipeline(StandardScaler(), LogisticRegression()))
    ('StandardScaler', 'LogisticRegression with a ridge penalty (C = 1)')
    """
    if estimator is None or isinstance(estimator, str):  # a step that is left out
        return ()
    grid = getattr(estimator, "param_grid", getattr(estimator, "param_distributions", None))
    if grid is not None:
        grids: list[Mapping[str, Any]] = [grid] if isinstance(grid, Mapping) else list(grid)
        names = list(dict.fromkeys(name.rpartition("__")[2] for values in grids for name in values))
        chosen = getattr(estimator, "best_estimator_", None)
        inner = (
            procedure_in_words(estimator.estimator, names) if chosen is None else procedure_in_words(chosen)
        )
        folds = 5 if estimator.cv is None else estimator.cv
        how = f"{folds}-fold cross-validation" if isinstance(folds, int) else "cross-validation"
        return (*inner, f"tuning of {' and '.join(names)} by {how}, again in every fit")
    if type(estimator).__name__ in _AROUND:
        return (*procedure_in_words(estimator.estimator, tuned), _words(estimator, tuned))
    if hasattr(estimator, "steps"):
        parts = [step for _, step in estimator.steps]
    elif hasattr(estimator, "transformers"):
        parts = [*(branch for _, branch, *_ in estimator.transformers), estimator.remainder]
    else:
        return (_words(estimator, tuned),)
    return tuple(dict.fromkeys(words for part in parts for words in procedure_in_words(part, tuned)))


def _words(estimator: Any, tuned: Collection[str]) -> str:
    """Return the class of a step with its penalty, and the parameters that matter or differ from their defaults."""
    name = type(estimator).__name__
    words, settings, omitted = name, [], {*_HOW, *tuned}
    is_classifier = hasattr(estimator, "predict") and name not in _AROUND
    if is_classifier and (penalty := penalty_of(estimator)) is not None:
        kind, strength = penalty
        omitted |= {*STRENGTHS, "penalty"}
        settings = [strength] if strength and strength.partition(" = ")[0] not in tuned else []
        if kind:
            words += f" with a {kind} penalty"
        elif any(hasattr(estimator, strength) for strength in STRENGTHS):
            words += " without a penalty"
    parameters = inspect.signature(type(estimator)).parameters
    settings += [
        f"{parameter} = {value:g}" if isinstance(value, float) else f"{parameter} = {value}"
        for parameter, value in (
            estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
        ).items()
        if isinstance(value, str | bool | int | float)
        and parameter in parameters.keys() - omitted
        and (parameter in _SHOWN or repr(value) != repr(parameters[parameter].default))
    ]
    words += f" ({', '.join(settings)})" if settings else ""
    return (
        f"{words}, tuned by cross-validation in every fit" if is_classifier and name.endswith("CV") else words
    )
