"""Estimators that are refitted in batches: classifiers with a batched adapter, after steps with a batched fit."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils import gen_batches

from cudbound.adapters.families import find_adapter
from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.basis.validation import check_labels
from cudbound.estimators.batched import BatchedFit, BatchedRefit, Draws, refit_in_batches
from cudbound.estimators.batched.classifiers import (
    Array,
    Bools,
    Candidate,
    choose_on_folds,
    discriminant_fit,
    number_of_folds,
)
from cudbound.estimators.batched.sources import branches, fit_apart, flatten, prepare

#: Training sets in which parameters are chosen at once, each of them in folds.
SEARCHES_PER_BATCH = 100


def batched_refit(estimator: Any, X: Any, y: Any, *, n_jobs: int = 1) -> BatchedRefit | None:
    """Return batched refits of a fitted estimator, or None if it must be cloned and fitted one at a time.

    Parameters
    ----------
    estimator : object
        A classifier of two classes whose adapter offers a `BatchedFit`, alone or at the end of a `Pipeline`, or a
        `GridSearchCV` of them by accuracy on stratified folds.
    X, y : array-like
        Its training rows and labels.
    n_jobs : int, default=1
        Number of threads.
    """
    if np.size(getattr(estimator, "classes_", ())) > 2:
        return None
    *steps, final = flatten([estimator])
    if type(final) is GridSearchCV:
        return None if steps else _batched_search(final, X, y, n_jobs)
    fit: BatchedFit | None = discriminant_fit(final)  # it has no loss to minimize, and so no adapter
    if fit is None:
        try:
            batched_fit = find_adapter(final).batched_fit
        except UnsupportedEstimatorError:
            return None
        fit = None if batched_fit is None else batched_fit(final, n_jobs)
    if fit is None:
        return None
    source = prepare(steps, X, fit) or fit_apart(steps, X, y, fit, n_jobs)
    if source is None:
        return None
    parts = [part for step in steps for part in branches(step)]
    widest = max(getattr(part, "n_features_in_", 1) for part in [*parts, final])
    return refit_in_batches(source, fit, check_labels(y, final.classes_), widest)


def _batched_search(search: GridSearchCV, X: Any, y: Any, n_jobs: int) -> BatchedRefit | None:
    """Return refits of a search, which choose among its values in every training set."""
    folds = number_of_folds(search.cv)
    if folds is None or search.refit is not True or search.scoring not in (None, "accuracy"):
        return None
    if np.isnan(
        search.cv_results_["mean_test_score"]
    ).any():  # a value that cannot be fitted, or not in every fold
        return None
    labels = check_labels(y, search.classes_)
    candidates: list[Candidate] = []
    for parameters in search.cv_results_["params"]:
        candidate = clone(search.estimator).set_params(**clone(parameters, safe=False))
        with warnings.catch_warnings(action="ignore"):  # the search itself has given them
            refit = batched_refit(candidate.fit(X, y), X, y, n_jobs=n_jobs)
        if refit is None:
            return None
        candidates.append(partial(_predicted, refit, labels > 0.0))

    def refit_all(counts: Array) -> tuple[Bools, Bools, Array]:
        parts = [
            choose_on_folds(candidates, Draws(counts[part], labels), folds, partial(np.average, axis=2))
            for part in gen_batches(len(counts), SEARCHES_PER_BATCH)
        ]
        predicted, clear, scores = map(np.concatenate, zip(*parts, strict=True))
        return predicted != (labels > 0.0), clear, scores

    return refit_all


def _predicted(refit: BatchedRefit, second: Bools, counts: Array, _: Any) -> tuple[Bools, Bools, Array]:
    wrong, clear, scores = refit(counts)
    return wrong != second, clear, scores
