"""`sklearn.pipeline.Pipeline`: the fitted transformers are a fixed basis for the last step.

This is the gamma-hat of Laber & Murphy (2008), section 3.1: parameters of the basis, such as principal axes
or the means and scales of a standardisation, are held at their values from the training set in every
bootstrap draw. Refits are another matter: they fit the transformers anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise, takewhile
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.validation import FLOAT_DTYPES, validate_data

from cudbound.adapters.base import Adapter, BatchedRefit
from cudbound.batched_steps import least_squares_scores, principal_components, standardise
from cudbound.estimators import LeastSquaresClassifier
from cudbound.exceptions import UnsupportedEstimatorError
from cudbound.least_squares import CHUNK_VALUES, check_scale
from cudbound.model import TIE_TOLERANCE, AdditiveModel
from cudbound.validation import check_labels, check_lengths

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: A step refitted to a stack of weighted rows, as `cudbound.batched_steps` describes it.
BatchedStep = Callable[[Array, Array], tuple[Array, Bools]]

#: Transformers whose output for a row does not depend on the rows that they were fitted to, so that refitting them
#: with the last step changes nothing.
STATELESS = (PolynomialFeatures,)

#: Rows and columns up to which ``PCA(svd_solver="auto")`` draws no random numbers.
LARGEST_EXACT = 500


def pipeline_adapter(find_adapter: Callable[[Any], Adapter]) -> Adapter:
    """Return the adapter of pipelines; `find_adapter` is the registry's look-up, for the last step."""

    def accepts(estimator: Any) -> bool:
        return isinstance(estimator, Pipeline)

    def express(estimator: Pipeline, X: Any, y: Any) -> AdditiveModel:
        final = estimator.steps[-1][1]
        adapter = find_adapter(final)
        basis = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        return adapter.express(final, basis, y)

    def batched_refit(estimator: Pipeline, X: Any, y: Any) -> BatchedRefit | None:
        *steps, final = [step for _, step in estimator.steps]
        n_fixed = sum(1 for _ in takewhile(_is_fixed, steps))
        basis = estimator[:n_fixed].transform(X) if n_fixed else X
        if n_fixed < len(steps):
            return _least_squares_refit(estimator[n_fixed:], basis, y)
        try:
            adapter = find_adapter(final)
        except UnsupportedEstimatorError:
            return None
        return None if adapter.batched_refit is None else adapter.batched_refit(final, basis, y)

    return Adapter(
        supports="a sklearn Pipeline of transformers that ends in one of these",
        accepts=accepts,
        express=express,
        batched_refit=batched_refit,
    )


def _is_fixed(step: Any) -> bool:
    return step is None or step == "passthrough" or type(step) in STATELESS


def _least_squares_refit(estimator: Pipeline, X: Any, y: Any) -> BatchedRefit | None:
    """Return refits of least squares with the steps before it, or None where these cannot be fitted in batches."""
    *steps, final = [step for _, step in estimator.steps if step not in (None, "passthrough")]
    if type(final) is not LeastSquaresClassifier or sparse.issparse(X):
        return None
    batched = [_batched_step(step, follower, len(y)) for step, follower in pairwise([*steps, final])]
    known = [step for step in batched if step is not None]
    if len(known) < len(steps):
        return None
    labels = check_labels(y, final.classes_)
    features = validate_data(steps[0], X, dtype=FLOAT_DTYPES, reset=False)
    check_lengths(len(features), labels.size)
    if features.dtype != np.float64:  # scikit-learn computes in the precision of the rows
        return None
    try:
        check_scale("X", features)
    except ValueError:
        return None
    return _refit(clone(estimator), known, features, labels, fit_intercept=final.fit_intercept)


def _batched_step(step: Any, follower: Any, n_samples: int) -> BatchedStep | None:
    if type(step) is StandardScaler:
        centred_again = type(follower) is PCA or getattr(follower, "fit_intercept", False)
        return partial(
            standardise, with_mean=step.with_mean, with_std=step.with_std, centred_again=centred_again
        )
    if type(step) is PCA and isinstance(step.n_components, Integral) and not step.whiten:
        largest = max(n_samples, step.n_features_in_)
        if step.svd_solver in ("full", "covariance_eigh") or (
            step.svd_solver == "auto" and largest <= LARGEST_EXACT
        ):
            return partial(
                principal_components,
                n_components=int(step.n_components),
                by_covariance=step.svd_solver != "full",
            )
    return None


def _refit(
    estimator: Pipeline, steps: Sequence[BatchedStep], features: Array, labels: Array, *, fit_intercept: bool
) -> BatchedRefit:
    """Return refits that are batched where they are clear, and made one by one elsewhere.

    Parameters
    ----------
    estimator : Pipeline
        Unfitted.
    steps : sequence of callable
        Its steps before the classifier.
    features : ndarray of float, shape (n_samples, n_features)
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    fit_intercept : bool
    """
    size = max(1, CHUNK_VALUES // features.size)

    def refit(weights: Array) -> Bools:
        # a training set of one class gives the constant classifier, with an intercept or without
        positive = weights @ (labels > 0.0) / weights.sum(axis=1)
        losses = np.where(positive[:, None] > 0.0, labels < 0.0, labels > 0.0)
        both = np.flatnonzero((positive > 0.0) & (positive < 1.0))
        for start in range(0, both.size, size):
            part = both[start : start + size]
            scores, clear = batch(weights[part])
            losses[part[clear]] = (scores >= -TIE_TOLERANCE) != (labels > 0.0)
            for fit in np.delete(part, clear):
                losses[fit] = alone(weights[fit])
        return losses

    def batch(weights: Array) -> tuple[Array, NDArray[np.intp]]:
        """Return the scores of all rows by the fits that are clear, and which these are."""
        shares = weights / weights.sum(axis=1, keepdims=True)
        rows = np.broadcast_to(features, (len(weights), *features.shape))
        clear = np.arange(len(weights))
        for step in steps:
            rows, found = step(rows, shares)
            rows, shares, clear = rows[found], shares[found], clear[found]
        scores, found = least_squares_scores(rows, shares, labels, fit_intercept=fit_intercept)
        return scores[found], clear[found]

    def alone(weights: Array) -> Bools:
        drawn = np.repeat(np.arange(labels.size), weights.astype(int))
        fitted = clone(estimator).fit(features[drawn], labels[drawn])
        # steps with copy=False write into the rows that they are given
        return np.asarray(fitted.predict(features.copy()) != labels)

    return refit
