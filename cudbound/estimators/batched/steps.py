"""The steps of scikit-learn that are fitted in batches, and those that are fitted one draw at a time."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, chi2, f_classif
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from cudbound.estimators.batched.columns import Step
from cudbound.estimators.batched.on_numbers import STRATEGIES, Imputer, principal_components, standardize

#: Rows and columns up to which ``PCA(svd_solver="auto")`` draws no random numbers.
LARGEST_EXACT = 500

#: Steps that may follow principal axes, whose direction is arbitrary, or columns that some fits leave out, which count
#: as 0: for these steps, as for linear classifiers, neither matters.
INDIFFERENT = (StandardScaler, PCA, SelectKBest)
#: Steps of which a column may be absent in some of the fits.
SELECTIVE = (SelectKBest, OneHotEncoder)

#: Steps that scikit-learn fits to one draw at a time, before a classifier that is fitted to all draws at once.
FITTED_APART = (
    FunctionTransformer,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    SelectKBest,
    SplineTransformer,
)


def is_fixed(step: Any) -> bool:
    """Whether the output for a row does not depend on the rows that the step was fitted to."""
    if type(step) is FunctionTransformer:
        return _of_single_numbers(step)
    if type(step) is SplineTransformer:
        return not isinstance(step.knots, str)
    if type(step) is OneHotEncoder:
        return not isinstance(step.categories, str) and _is_plain(step)
    return type(step) is PolynomialFeatures


def encodes_in_batches(step: Any) -> bool:
    """Whether one-hot columns are those of the categories that were drawn."""
    return type(step) is OneHotEncoder and isinstance(step.categories, str) and _is_plain(step)


def _is_plain(step: OneHotEncoder) -> bool:
    known = step.drop is None or (isinstance(step.drop, str) and step.drop in ("first", "if_binary"))
    return bool(known and step.min_frequency is None and step.max_categories is None)


def fills_in_batches(step: Any) -> bool:
    """Whether missing values are nan, and are replaced column by column in a known way."""
    return (
        type(step) is SimpleImputer
        and isinstance(step.missing_values, float)
        and np.isnan(step.missing_values)
        and not step.add_indicator
        and not step.keep_empty_features
        and step.strategy in STRATEGIES
    )


def is_repeatable(step: Any, n_samples: int) -> bool:
    """Whether scikit-learn draws no random numbers for a step, and gives a row the same output in fit and transform."""
    if type(step) is PCA:
        return _components(step, n_samples) is not None
    if type(step) is SelectKBest:
        return step.score_func in (f_classif, chi2)
    if type(step) is FunctionTransformer:
        return _of_single_numbers(step)
    return fills_in_batches(step) or type(step) in (StandardScaler, OneHotEncoder, *FITTED_APART)


def batched_step(step: Any, follower: Any, n_samples: int) -> Step | None:
    """Return a numeric step for batches of fits, or None if it cannot be fitted in batches.

    Parameters
    ----------
    step : object
        Fitted transformer.
    follower : object
        The step after it, or a `BatchedFit`.
    n_samples : int
    """
    if type(step) is StandardScaler:
        constants_matter = not (type(follower) is PCA or getattr(follower, "ignores_constants", False))
        return partial(
            standardize, with_mean=step.with_mean, with_std=step.with_std, constants_matter=constants_matter
        )
    if type(step) is PCA:
        return _components(step, n_samples)
    if fills_in_batches(step):
        return Imputer(step.strategy, 0.0 if step.fill_value is None else float(step.fill_value))
    return None


def _of_single_numbers(step: FunctionTransformer) -> bool:
    unary = isinstance(step.func, np.ufunc) and step.func.nin == step.func.nout == 1
    return (step.func is None or unary) and not step.kw_args


def _components(step: PCA, n_samples: int) -> Step | None:
    if not isinstance(step.n_components, Integral) or step.whiten:
        return None
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
