"""Estimators that can be written as additive classifiers, one adapter per family, or refitted in batches."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils import gen_batches

from cudbound.adapters.families import contradicts, find_adapter
from cudbound.adapters.parts import unwrap
from cudbound.basis.calls import warn
from cudbound.basis.exceptions import NotResampledWarning, UnscaledPenaltyWarning, UnsupportedEstimatorError
from cudbound.basis.sample import Sample, unequal_spreads
from cudbound.basis.validation import Array, check_can_be_refitted, check_labels
from cudbound.estimators.batched import classifiers
from cudbound.estimators.batched.classifiers import BatchedFit, BatchedRefit, Draws, refit_in_batches
from cudbound.estimators.batched.sources import branches, fit_apart, flatten, prepare
from cudbound.estimators.two_class import ConvexLossClassifier
from cudbound.problem.problem import AdditiveModel
from cudbound.solve.search import check_minimizer, check_native, optimality_residual
from cudbound.solve.search import polish as polish_model


def to_additive_model(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    polish: bool = False,
    sample_weight: NDArray[np.float64] | None = None,
) -> AdditiveModel:
    """Write a fitted estimator and its training set as plain arrays.

    Parameters
    ----------
    estimator : object
        Fitted estimator of one of the families in `ADAPTERS`.
    X : array-like, shape (n_samples, n_features)
        The rows that the estimator was fitted to.
    y : array-like, shape (n_samples,)
        Their labels, as passed to the estimator's `fit`; at least two rows of each class.
    polish : bool, default=False
        Whether to replace the coefficients by the exact minimizer of the loss instead of checking that they minimize
        it; the ``polish`` of the result reports how far they moved.
    sample_weight : ndarray of float, shape (n_samples,), default=None
        The weights of the rows in the fit.

    Returns
    -------
    AdditiveModel
        Design rows (the column of ones of an intercept first), labels -1 and +1, coefficients, loss, penalty, weights.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator has not been fitted.
    UnsupportedEstimatorError
        If no adapter accepts the estimator.
    NotMinimizerError
        If the fitted coefficients do not minimize the surrogate loss on `X` and `y`; `NoMinimizerError` if none do.
    ValueError
        If `X` or `y` is not valid for the estimator, or it was fitted to a number of classes other than two.

    Warns
    -----
    UnscaledPenaltyWarning
        If there is a penalty, and the largest standard deviation of a penalized column is over 100 times the smallest.
    NotResampledWarning
        If a penalty strength or a threshold was chosen on the same data.

    Examples
    --------
    >>> from cudbound import LeastSquaresClassifier
    >>> from cudbound.adapters import to_additive_model
    >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
    >>> to_additive_model(LeastSquaresClassifier().fit(X, y), X, y).design[:2]
    array([[1., 0.],
           [1., 1.]])
    """
    check_can_be_refitted(estimator)
    find_adapter(estimator)
    sample = Sample.of(estimator, X, y, sample_weight=sample_weight)
    return additive_model(sample, polish=polish)


def additive_model(sample: Sample, *, polish: bool, native: bool = False) -> AdditiveModel:
    """Return the classifier of a sample as `to_additive_model` does.

    It raises `UnsupportedProblemError` for an l1 penalty that the compiled solver does not support, if that is used.
    """
    estimator = sample.estimator
    model = find_adapter(estimator).to_additive_model(estimator, sample.X, sample.y)
    # +1 is the class that the estimator assigns to a score of 0, and predict must return the sign of the score
    terms = np.abs(model.design) @ np.abs(model.coef)
    scores = model.design @ model.coef
    second = np.asarray(sample.predicted == model.classes[1])
    zero_rows = ~model.design.any(axis=1)
    if zero_rows.any() and not second[zero_rows].any():
        model, second, scores = model.reversed(), ~second, -scores
    if contradicts(second, scores, terms):
        raise UnsupportedEstimatorError(
            f"{type(estimator).__name__}.predict does not return the sign of its fitted score on these rows, so the "
            "CUD bound would be for another classifier.",
            "Pass a classifier with the predict method of scikit-learn.",
        )
    strengths = [penalty for penalty in (model.penalty, model.l1_penalty) if penalty is not None]
    if strengths and (spreads := unequal_spreads(model.design[:, np.sum(strengths, axis=0) > 0.0])):
        warn(
            UnscaledPenaltyWarning(
                f"the penalty of {type(unwrap(estimator).classifier).__name__} treats all features alike, but their "
                f"standard deviations range from {spreads}: features with small standard deviations are penalized most",
                "; put a StandardScaler before it, in a pipeline",
            )
        )
    if native and model.l1_penalty is not None:
        check_native(model.training)
    if sample.sample_weight is not None:
        model = _weighted(model, sample.sample_weight, unwrap(estimator).classifier)
    if polish:
        model = polish_model(model)
    else:
        check_minimizer(model)
    if model.tuned_by:
        warn(
            NotResampledWarning(
                f"{' in '.join(model.tuned_by[::-1])} chose parameters on these data. The CUD bound treats them as "
                "fixed: it does not account for how the choice varies from one training set to another."
            )
        )
    return model


def _weighted(model: AdditiveModel, sample_weight: NDArray[np.float64], classifier: Any) -> AdditiveModel:
    """Return the model with the weights of a fit in addition to those of the classes.

    scikit-learn's objectives are sums over rows, or means, so that the weights enter as they are; those of
    `ConvexLossClassifier` have mean 1. Without a penalty both scales have the same minimizer, so the coefficients do
    not show which of them it is. Balanced classes have equal numbers of rows, or, in some of scikit-learn's
    classifiers, equal sums of weights. Which of these it is shows in which loss the coefficients minimize.
    """
    of_classes = np.ones(sample_weight.size) if model.sample_weight is None else model.sample_weight
    product = of_classes * sample_weight
    if isinstance(classifier, ConvexLossClassifier):
        return replace(model, sample_weight=product / product.mean())
    candidates = [product]
    if getattr(classifier, "class_weight", None) == "balanced":
        second = model.labels > 0.0
        of_class = np.where(second, sample_weight[second].sum(), sample_weight[~second].sum())
        candidates.append(sample_weight * sample_weight.sum() / (2.0 * of_class))
    return min((replace(model, sample_weight=weights) for weights in candidates), key=optimality_residual)


# ---- refits in batches: of classifiers with a batched adapter, after steps with a batched fit ----

Bools = NDArray[np.bool_]
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
    fit: BatchedFit | None = None
    try:
        batched_fit = find_adapter(final).batched_fits.get(type(final))
        if batched_fit is not None:
            fit = batched_fit(final, n_jobs)
    except UnsupportedEstimatorError:  # discriminants have no loss to minimize, and so no adapter
        fit = classifiers.discriminant_fit(final)
    if fit is None:
        return None
    source = prepare(steps, X, fit) or fit_apart(steps, X, y, fit, n_jobs)
    if source is None:
        return None
    parts = [part for step in steps for part in branches(step)]
    widest = max(getattr(part, "n_features_in_", 1) for part in [*parts, final])
    return partial(refit_in_batches, source, fit, check_labels(y, final.classes_), widest)


def _batched_search(search: GridSearchCV, X: Any, y: Any, n_jobs: int) -> BatchedRefit | None:
    """Return refits of a search, which choose among its values in every training set."""
    folds = classifiers.number_of_folds(search.cv)
    if folds is None or search.refit is not True or search.scoring not in (None, "accuracy"):
        return None
    # a value that cannot be fitted, or not in every fold
    if np.isnan(search.cv_results_["mean_test_score"]).any():
        return None
    labels = check_labels(y, search.classes_)
    candidates: list[classifiers.Candidate] = []
    for parameters in search.cv_results_["params"]:
        candidate = clone(search.estimator).set_params(**clone(parameters, safe=False))
        with warnings.catch_warnings(action="ignore"):  # the search itself has given them
            refit = batched_refit(candidate.fit(X, y), X, y, n_jobs=n_jobs)
        if refit is None:
            return None
        candidates.append(partial(_predicted, refit, labels > 0.0))

    def refit_all(counts: Array) -> tuple[Bools, Bools, Array]:
        parts = [
            classifiers.choose_on_folds(
                candidates, Draws(counts[part], labels), folds, partial(np.average, axis=2)
            )
            for part in gen_batches(len(counts), SEARCHES_PER_BATCH)
        ]
        predicted, clear, scores = map(np.concatenate, zip(*parts, strict=True))
        return predicted != (labels > 0.0), clear, scores

    return refit_all


def _predicted(refit: BatchedRefit, second: Bools, counts: Array, _: Any) -> tuple[Bools, Bools, Array]:
    wrong, clear, scores = refit(counts)
    return wrong != second, clear, scores
