"""Searches such as `GridSearchCV`: their best estimator, with the tuned parameters taken as given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from cudbound.adapters.family import Adapter
from cudbound.exceptions import UnsupportedEstimatorError
from cudbound.problem.additive_model import AdditiveModel


def search_adapter(find_adapter: Callable[[Any], Adapter]) -> Adapter:
    """Return the adapter of searches; `find_adapter` is the registry's look-up, for the best estimator."""

    def accepts(estimator: Any) -> bool:
        return isinstance(estimator, GridSearchCV | RandomizedSearchCV) or hasattr(
            estimator, "best_estimator_"
        )

    def express(estimator: Any, X: Any, y: Any) -> AdditiveModel:
        name = type(estimator).__name__
        if not hasattr(estimator, "best_estimator_"):
            raise UnsupportedEstimatorError(
                f"{name}(refit={estimator.refit!r}) holds no classifier. Fit it with refit=True."
            )
        best = estimator.best_estimator_
        model = find_adapter(best).express(best, X, y)
        return replace(model, tuned_by=(name, *model.tuned_by))

    return Adapter(
        supports="sklearn GridSearchCV, RandomizedSearchCV over one of these",
        accepts=accepts,
        express=express,
    )
