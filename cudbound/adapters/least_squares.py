"""`LeastSquaresClassifier`: squared loss on the features, after a column of ones for the intercept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from cudbound.adapters.base import Adapter
from cudbound.batches import BatchedRefit
from cudbound.batches.squares import LeastSquaresFit
from cudbound.estimators import LeastSquaresClassifier
from cudbound.least_squares import LeastSquaresRefit
from cudbound.losses import get_loss
from cudbound.model import TIE_TOLERANCE, AdditiveModel
from cudbound.validation import check_labels, check_lengths


def _accepts(estimator: Any) -> bool:
    return isinstance(estimator, LeastSquaresClassifier)


def _validated(
    estimator: LeastSquaresClassifier, X: Any, y: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    labels = check_labels(y, estimator.classes_)
    features = validate_data(estimator, X, dtype=np.float64, reset=False)
    check_lengths(features.shape[0], labels.size)
    return features, labels


def _express(estimator: LeastSquaresClassifier, X: Any, y: Any) -> AdditiveModel:
    features, labels = _validated(estimator, X, y)
    coef = estimator.coef_[0]
    if estimator.fit_intercept:
        features = np.column_stack([np.ones(labels.size), features])
        coef = np.concatenate([estimator.intercept_, coef])
    return AdditiveModel(
        design=np.ascontiguousarray(features),
        labels=labels,
        coef=coef,
        loss=get_loss("squared"),
        classes=estimator.classes_,
    )


def _batched_refit(estimator: LeastSquaresClassifier, X: Any, y: Any) -> BatchedRefit | None:
    if type(estimator) is not LeastSquaresClassifier:  # a subclass may fit in a way of its own
        return None
    features, labels = _validated(estimator, X, y)
    refit = LeastSquaresRefit(
        features, labels, fit_intercept=estimator.fit_intercept, tie_tolerance=TIE_TOLERANCE
    )
    return lambda counts: (refit(counts), np.ones(len(counts), dtype=bool))


def _batched_fit(estimator: LeastSquaresClassifier, n_jobs: int) -> LeastSquaresFit | None:
    return LeastSquaresFit(estimator.fit_intercept) if type(estimator) is LeastSquaresClassifier else None


ADAPTER = Adapter(
    supports="cudbound.LeastSquaresClassifier",
    accepts=_accepts,
    express=_express,
    loss="squared",
    penalty="none",
    weights="none",
    intercept="free",
    batched_fit=_batched_fit,
    batched_refit=_batched_refit,
)
