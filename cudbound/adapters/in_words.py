"""A fitted classifier in words: the penalty, its strength, and whether the features were standardized."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudbound.adapters.registry import find_adapter
from cudbound.basis.exceptions import UnsupportedEstimatorError

#: Parameters, or what a fit has chosen for them, that set the strength of a penalty.
_STRENGTHS = ("C_", "alpha_", "alpha", "C", "penalty")
#: What the names of scalers end with.
_SCALERS = ("Scaler", "PowerTransformer", "QuantileTransformer")


def describe_classifier(estimator: Any, name: str | None = None) -> str:
    """Return a classifier with its parameters, its penalty and the scaling of its features, in one line.

    Parameters
    ----------
    estimator : object
    name : str or None, default=None
        Text for the class and its parameters; None uses the representation in Python.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> describe_classifier(LogisticRegression(C=2.0))
    'LogisticRegression(C=2.0): ridge penalty, C = 2; features not standardized'
    """
    return ": ".join(filter(None, (name or " ".join(repr(estimator).split()), fit_in_words(estimator))))


def fit_in_words(estimator: Any) -> str:
    """Return the penalty of a classifier and the scaling of its features; empty if neither matters or is known.

    Parameters
    ----------
    estimator : object
        Classifier, fitted or not, a pipeline that ends in one, or a search over either; parameters that a search has
        not chosen yet are omitted.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
    >>> fit_in_words(LogisticRegression(C=0.5).fit(X, y))
    'ridge penalty, C = 0.5; features not standardized'
    >>> fit_in_words(make_pipeline(StandardScaler(), LogisticRegression(C=float("inf"))).fit(X, y))
    'no penalty; features standardized'
    """
    steps = _steps(estimator)
    penalty = "" if _is_open_search(estimator) else penalty_of(steps[-1])
    return "; ".join(filter(None, (penalty, _scaling(steps[:-1], penalty))))


def _steps(estimator: Any) -> list[Any]:
    """Return the steps of pipelines inside searches, thresholds and pipelines, with the classifier last."""
    for inner in ("best_estimator_", "estimator_", "estimator"):
        if hasattr(estimator, inner):
            return _steps(getattr(estimator, inner))
    if not hasattr(estimator, "steps"):
        return [estimator]
    *first, last = (step for _, step in estimator.steps)
    return [*first, *_steps(last)]


def _is_open_search(estimator: Any) -> bool:
    searched = hasattr(estimator, "param_grid") or hasattr(estimator, "param_distributions")
    return searched and not hasattr(estimator, "best_estimator_")


def penalty_of(classifier: Any) -> str:
    """Return the penalty of a classifier and its strength, such as "ridge penalty, C = 1"; empty if unknown."""
    try:
        objective = find_adapter(classifier).objective
        minimized = None if objective is None else objective(classifier, 1)
    except (
        UnsupportedEstimatorError,
        AttributeError,
    ):  # a tree, a kernel without a fixed basis, nothing chosen yet
        minimized = None
    if minimized is None:
        return f"C = {float(classifier.C):g}" if hasattr(classifier, "C") else ""
    kinds = [
        name for name, size in (("ridge", minimized.penalty), ("lasso", minimized.l1_penalty)) if size > 0.0
    ]
    if not kinds:
        return "no penalty"
    name = next(name for name in _STRENGTHS if hasattr(classifier, name))
    values = np.ravel(getattr(classifier, name)).tolist()
    strength = f"{values[0]:g}" if len(set(values)) == 1 else "one per coefficient"
    return f"{' and '.join(kinds)} penalty, {name.removesuffix('_')} = {strength}"


def _scaling(steps: list[Any], penalty: str) -> str:
    scalers = [type(step).__name__ for step in steps if type(step).__name__.endswith(_SCALERS)]
    if "StandardScaler" in scalers:
        return "features standardized"
    if scalers:
        return f"features scaled by {scalers[-1]}"
    columns = [getattr(step, "transformers_", getattr(step, "transformers", ())) for step in steps]
    inside = [branch for branches in columns for _, branch, *_ in branches]
    if any(type(part).__name__.endswith(_SCALERS) for branch in inside for part in _steps(branch)):
        return "some features scaled"
    return "features not standardized" if penalty else ""
