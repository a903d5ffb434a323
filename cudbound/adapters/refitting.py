"""Which estimators are refitted in batches: classifiers whose adapter says how, after steps that can be."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudbound.adapters.registry import find_adapter
from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.basis.validation import check_labels
from cudbound.estimators.batched import BatchedFit, BatchedRefit, refit_in_batches
from cudbound.estimators.batched.discriminant import discriminant_fit
from cudbound.estimators.batched.fitted_apart import fit_apart
from cudbound.estimators.batched.sources import branches, flatten, prepare
from cudbound.estimators.batched.steps import is_fixed


def batched_refit(estimator: Any, X: Any, y: Any, *, n_jobs: int = 1) -> BatchedRefit | None:
    """Return refits of a fitted estimator in batches, or None where it has to be cloned and fitted one at a time.

    Parameters
    ----------
    estimator : object
        A classifier of two classes whose adapter offers a `BatchedFit`, alone or at the end of a `Pipeline`.
    X, y : array-like
        Its training rows and labels.
    n_jobs : int, default=1
        Threads.
    """
    if np.size(getattr(estimator, "classes_", ())) > 2:
        return None
    *steps, final = flatten([estimator])
    fit: BatchedFit | None = discriminant_fit(final)  # it has no loss to minimize, and so no adapter
    if fit is None:
        try:
            adapter = find_adapter(final)
        except UnsupportedEstimatorError:
            return None
        if adapter.batched_refit is not None and all(map(is_fixed, steps)):
            for step in steps:
                X = step.transform(X)
            return adapter.batched_refit(final, X, y)
        fit = None if adapter.batched_fit is None else adapter.batched_fit(final, n_jobs)
    if fit is None:
        return None
    source = prepare(steps, X, fit) or fit_apart(steps, X, y, fit, n_jobs)
    if source is None:
        return None
    parts = [part for step in steps for part in branches(step)]
    widest = max(getattr(part, "n_features_in_", 1) for part in [*parts, final])
    return refit_in_batches(source, fit, check_labels(y, final.classes_), widest)
