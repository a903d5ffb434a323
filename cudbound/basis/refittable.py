"""Whether an estimator can be refitted at all."""

from __future__ import annotations

import warnings
from typing import Any

from cudbound.basis.exceptions import UnsupportedEstimatorError


def check_can_be_refitted(estimator: Any) -> None:
    """Raise an error for results of statsmodels, and for classes that scikit-learn cannot clone.

    Raises
    ------
    TypeError
        If `estimator` is a result; the message names the function that makes a classifier of it.
    UnsupportedEstimatorError
        If its class, or that of the classifier in it, is not a complete scikit-learn estimator.
    """
    name = type(estimator).__name__
    if hasattr(estimator, "model") and hasattr(estimator, "params") and not hasattr(estimator, "fit"):
        raise TypeError(
            f"{name} of statsmodels is a result, not a classifier. For a logistic "
            "regression, use classifier, X, y = cudbound.from_statsmodels(result)."
        )
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        return  # no classifier at all, which is said elsewhere
    from sklearn.base import clone
    from sklearn.utils import get_tags

    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    name = type(estimator).__name__
    try:
        estimator.get_params()
        get_tags(estimator)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # said when the caller made it
            clone(estimator)
    except AttributeError as error:
        raise UnsupportedEstimatorError(
            f"{name} does not inherit from BaseEstimator of scikit-learn, so that refits cannot clone it.",
            f"Write class {name}(ClassifierMixin, BaseEstimator), both of sklearn.base, with its parameters as "
            "arguments of __init__.",
        ) from error
    except (RuntimeError, TypeError) as error:
        raise UnsupportedEstimatorError(
            f"{name} cannot be cloned for refits: {str(error).rstrip('.')}.",
            "Its __init__ must name its arguments and keep them as they are. Pass parameters that can be copied, such "
            "as cv=StratifiedKFold(5) for a generator of splits.",
        ) from error
