"""Which estimators can be written as additive classifiers, and how: one adapter a family."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from cudbound.adapters import least_squares
from cudbound.adapters.base import Adapter, BatchedRefit
from cudbound.adapters.pipeline import pipeline_adapter
from cudbound.exceptions import UnsupportedEstimatorError
from cudbound.model import AdditiveModel, check_minimiser

__all__ = ["ADAPTERS", "Adapter", "BatchedRefit", "express", "find_adapter"]


def find_adapter(estimator: Any) -> Adapter:
    """Return the adapter that accepts the estimator.

    Raises
    ------
    UnsupportedEstimatorError
        If there is none; the message names what is supported and how to go on.
    """
    for adapter in ADAPTERS:
        if adapter.accepts(estimator):
            return adapter
    supported = "; ".join(adapter.supports for adapter in ADAPTERS)
    found = hasattr(estimator, "best_estimator_")  # a search such as GridSearchCV
    inner = " Pass its '.best_estimator_' if that is one." if found else ""
    raise UnsupportedEstimatorError(
        f"{type(estimator).__name__} is not known as an additive classifier with a convex surrogate loss."
        f"{inner} Supported: {supported}. Fit one of these for the CUD interval, or leave 'cud' out of the methods "
        "of cudbound.compare_intervals: the other intervals take any classifier of two classes."
    )


ADAPTERS: tuple[Adapter, ...] = (least_squares.ADAPTER, pipeline_adapter(find_adapter))


def express(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    """Write a fitted estimator and its training set as plain arrays.

    Parameters
    ----------
    estimator : object
        Fitted estimator of one of the families in `ADAPTERS`.
    X : array-like, shape (n_samples, n_features)
        The rows that the estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels, in the words the estimator was fitted with; at least two rows of each class.

    Returns
    -------
    AdditiveModel
        Design rows (the column of ones of an intercept first), labels -1 and +1, coefficients, loss.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator has not been fitted.
    UnsupportedEstimatorError
        If no adapter accepts the estimator.
    NotMinimiserError
        If the fitted coefficients do not minimise the surrogate loss on `X` and `y`.
    ValueError
        If `X` or `y` is not valid for the estimator.

    Examples
    --------
    >>> from cudbound import LeastSquaresClassifier
    >>> from cudbound.adapters import express
    >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
    >>> express(LeastSquaresClassifier().fit(X, y), X, y).design[:2]
    array([[1., 0.],
           [1., 1.]])
    """
    check_is_fitted(estimator)
    model = find_adapter(estimator).express(estimator, X, y)
    check_minimiser(model)
    return model
