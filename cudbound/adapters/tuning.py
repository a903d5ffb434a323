"""Searches such as `GridSearchCV`: their best estimator, with the tuned parameters taken as given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

from cudbound.adapters.family import Adapter
from cudbound.adapters.registry import find_adapter
from cudbound.exceptions import UnsupportedEstimatorError
from cudbound.problem.additive_model import AdditiveModel


def _express(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    name = type(estimator).__name__
    if not hasattr(estimator, "best_estimator_"):
        raise UnsupportedEstimatorError(
            f"{name}(refit={estimator.refit!r}) holds no classifier.", "Fit it with refit=True."
        )
    best = estimator.best_estimator_
    model = find_adapter(best).express(best, X, y)
    return replace(model, tuned_by=(name, *model.tuned_by))


ADAPTER = Adapter(
    supports="sklearn GridSearchCV, RandomizedSearchCV over one of these",
    families=(GridSearchCV, RandomizedSearchCV),
    marked_by="best_estimator_",
    express=_express,
)
