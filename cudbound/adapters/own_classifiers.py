"""The classifiers of this package: `LeastSquaresClassifier`, and `ConvexLossClassifier` with any of the losses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudbound.adapters.linear import Objective, additive_model, class_pair
from cudbound.adapters.registry import Adapter
from cudbound.basis.validation import check_labels
from cudbound.estimators.batched import BatchedRefit, LinearFit
from cudbound.estimators.batched.minimizers import LeastSquaresFit
from cudbound.estimators.convex_loss import ConvexLossClassifier
from cudbound.estimators.least_squares import LeastSquaresClassifier
from cudbound.estimators.weighted_least_squares import LeastSquaresRefit
from cudbound.problem.additive_model import AdditiveModel


def _express_least_squares(estimator: LeastSquaresClassifier, X: Any, y: Any) -> AdditiveModel:
    labels = check_labels(y, estimator.classes_)
    return additive_model(estimator, labels, estimator.basis_rows(X), loss="squared")


def _batched_refit_least_squares(estimator: LeastSquaresClassifier, X: Any, y: Any) -> BatchedRefit | None:
    if type(estimator) is not LeastSquaresClassifier:  # a subclass may fit differently
        return None
    rows, labels = estimator.basis_rows(X), check_labels(y, estimator.classes_)
    refit = LeastSquaresRefit(rows, labels, fit_intercept=estimator.fit_intercept)

    def refit_all(
        counts: NDArray[np.float64],
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.float64]]:
        losses, scores = refit(counts)
        return losses, np.ones(len(counts), dtype=bool), scores

    return refit_all


def _batched_fit_least_squares(estimator: LeastSquaresClassifier, n_jobs: int) -> LeastSquaresFit | None:
    return LeastSquaresFit(estimator.fit_intercept) if type(estimator) is LeastSquaresClassifier else None


LEAST_SQUARES = Adapter(
    supports="cudbound.LeastSquaresClassifier",
    families=(LeastSquaresClassifier,),
    express=_express_least_squares,
    objective=lambda estimator, n_rows: Objective("squared", 0.0),
    batched_fit=_batched_fit_least_squares,
    batched_refit=_batched_refit_least_squares,
)


def _express_convex_loss(estimator: ConvexLossClassifier, X: Any, y: Any) -> AdditiveModel:
    labels = check_labels(y, estimator.classes_)
    return additive_model(
        estimator,
        labels,
        estimator.basis_rows(X),
        loss=estimator.loss,
        penalty=estimator.strengths(estimator.coef_.size),
        sample_weight=estimator.row_weights(estimator.classes_, labels, np.ones(labels.size)),
    )


def _batched_fit_convex_loss(estimator: ConvexLossClassifier, n_jobs: int) -> LinearFit | None:
    # a subclass may fit differently, and a basis is fitted again in every refit
    if type(estimator) is not ConvexLossClassifier or estimator.basis is not None:
        return None
    penalty = np.asarray(estimator.penalty, dtype=np.float64)
    return LinearFit(
        estimator.loss,
        penalty if penalty.ndim else float(penalty),
        fit_intercept=estimator.fit_intercept,
        intercept_penalty=float(estimator.intercept_penalty),
        class_weight=class_pair(estimator),
        per_row=True,
        ties="second",
        n_jobs=n_jobs,
    )


CONVEX_LOSS = Adapter(
    supports="cudbound.ConvexLossClassifier",
    families=(ConvexLossClassifier,),
    express=_express_convex_loss,
    objective=lambda estimator, n_rows: Objective(estimator.loss, float(np.max(estimator.penalty))),
    batched_fit=_batched_fit_convex_loss,
)
