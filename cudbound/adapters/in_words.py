"""The penalty of a classifier, and its other settings that differ from the defaults, in words."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from typing import Any

import numpy as np

from cudbound.adapters.registry import find_adapter
from cudbound.basis.exceptions import UnsupportedEstimatorError

#: Parameters, or what a fit has chosen for them, that set the strength of a penalty.
STRENGTHS = ("C_", "alpha_", "alpha", "C", "penalty")
#: Parameters that say how a fit is computed, not what is fitted.
_HOW = ("random_state", "n_jobs", "verbose", "solver", "algorithm", "tol", "max_iter", "dual", "probability")


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
    sizes = {"ridge": minimized.penalty, "lasso": minimized.l1_penalty}
    kinds = [name for name, size in sizes.items() if size > 0.0]
    if not kinds:
        return "", ""
    name = next(name for name in STRENGTHS if hasattr(classifier, name))
    values = np.ravel(getattr(classifier, name)).tolist()
    strength = f"{values[0]:g}" if len(set(values)) == 1 else "one per coefficient"
    return " and ".join(kinds), f"{name.removesuffix('_')} = {strength}"


def settings_of(classifier: Any, said: Collection[str] = ()) -> list[str]:
    """Return the parameters that differ from their defaults, apart from those that are `said` already.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> settings_of(LogisticRegression(class_weight="balanced", max_iter=500))
    ['class_weight = balanced']
    """
    if not hasattr(classifier, "get_params"):
        return []
    known = inspect.signature(type(classifier)).parameters
    return [
        f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in classifier.get_params(deep=False).items()
        if isinstance(value, str | bool | int | float)
        and name in known
        and value != known[name].default
        and name not in (*_HOW, *said)
    ]
