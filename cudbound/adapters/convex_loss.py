"""`ConvexLossClassifier`: any of the losses on the features or on the columns of its basis."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudbound.adapters.base import Adapter
from cudbound.adapters.linear import class_pair
from cudbound.batches import LinearFit
from cudbound.convex_loss import ConvexLossClassifier
from cudbound.losses import get_loss
from cudbound.model import AdditiveModel
from cudbound.validation import check_labels, check_lengths


def _accepts(estimator: Any) -> bool:
    return isinstance(estimator, ConvexLossClassifier)


def _express(estimator: ConvexLossClassifier, X: Any, y: Any) -> AdditiveModel:
    labels = check_labels(y, estimator.classes_)
    rows = estimator.basis_rows(X)
    check_lengths(rows.shape[0], labels.size)
    coef = estimator.coef_[0]
    strengths = estimator.strengths(coef.size)
    if estimator.fit_intercept:
        rows = np.column_stack([np.ones(labels.size), rows])
        coef = np.concatenate([estimator.intercept_, coef])
    return AdditiveModel(
        design=np.ascontiguousarray(rows),
        labels=labels,
        coef=coef,
        loss=get_loss(estimator.loss),
        classes=estimator.classes_,
        penalty=strengths if strengths.any() else None,
        sample_weight=estimator.row_weights(estimator.classes_, labels, np.ones(labels.size)),
    )


def _batched_fit(estimator: ConvexLossClassifier, n_jobs: int) -> LinearFit | None:
    # a subclass may fit in a way of its own, and a basis is fitted again in every refit
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


ADAPTER = Adapter(
    supports="cudbound.ConvexLossClassifier",
    accepts=_accepts,
    express=_express,
    loss="`loss`",
    penalty="`penalty`",
    weights="`class_weight`",
    intercept="`intercept_penalty`",
    batched_fit=_batched_fit,
)
