"""Which individual steps of scikit-learn are fitted in batches, and how."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import norm
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
from cudbound.estimators.batched.imputing import STRATEGIES, Imputer
from cudbound.estimators.batched.scalers import scale_by_quantiles, scale_to_range, standardize
from cudbound.estimators.batched.selection import select_best
from cudbound.estimators.batched.squares import principal_components
from cudbound.estimators.batched.terms import Splines, mapped, products

#: Rows and columns up to which ``PCA(svd_solver="auto")`` draws no random numbers.
LARGEST_EXACT = 500

#: Steps that may follow principal axes, whose direction is arbitrary, or columns that some fits leave out, which count
#: as 0: for these steps, as for linear classifiers, neither matters.
INDIFFERENT = (StandardScaler, PCA, SelectKBest)
#: Steps of which a column of the batch may be absent in some of the fits.
SELECTIVE = (SelectKBest, OneHotEncoder)


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


def batched_step(step: Any, follower: Any, n_samples: int) -> Step | None:
    """Return a step on numbers for batches of fits, or None where it cannot be fitted in batches.

    Parameters
    ----------
    step : object
        Fitted transformer.
    follower : object
        The step after it, or a `BatchedFit`.
    n_samples : int
    """
    final = hasattr(follower, "ignores_constants")
    if type(step) is StandardScaler:
        constants_matter = not (type(follower) is PCA or getattr(follower, "ignores_constants", False))
        return partial(
            standardize, with_mean=step.with_mean, with_std=step.with_std, constants_matter=constants_matter
        )
    if type(step) is MinMaxScaler and not step.clip:
        return partial(scale_to_range, low=float(step.feature_range[0]), high=float(step.feature_range[1]))
    if type(step) is RobustScaler:
        return _by_quantiles(step)
    if type(step) is PCA and (final or type(follower) in INDIFFERENT):
        return _components(step, n_samples)
    if type(step) is PolynomialFeatures:
        return partial(products, powers=step.powers_)
    if type(step) is FunctionTransformer and _of_single_numbers(step):
        return partial(mapped, function=np.positive if step.func is None else step.func)
    if fills_in_batches(step):
        return Imputer(step.strategy, 0.0 if step.fill_value is None else float(step.fill_value))
    if type(step) is SplineTransformer:
        return _splines(step)
    if type(step) is SelectKBest and (final or type(follower) in INDIFFERENT):
        return _best(step)
    return None


def _of_single_numbers(step: FunctionTransformer) -> bool:
    unary = isinstance(step.func, np.ufunc) and step.func.nin == step.func.nout == 1
    return (step.func is None or unary) and not step.kw_args


def _by_quantiles(step: RobustScaler) -> Step:
    low, high = (end / 100.0 for end in step.quantile_range)
    return partial(
        scale_by_quantiles,
        with_centering=step.with_centering,
        with_scaling=step.with_scaling,
        quantiles=(low, high),
        unit=float(norm.ppf(high) - norm.ppf(low)) if step.unit_variance else 1.0,
    )


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


def _splines(step: SplineTransformer) -> Step | None:
    if (
        step.degree < 1
        or step.extrapolation not in ("constant", "continue")
        or getattr(step, "handle_missing", "error") != "error"
    ):
        return None
    return Splines(step.n_knots, step.degree, step.knots, step.extrapolation, bool(step.include_bias))


def _best(step: SelectKBest) -> Step | None:
    names = {f_classif: "f_classif", chi2: "chi2"}
    if step.score_func not in names or isinstance(step.k, str) or step.k < 1:
        return None
    return partial(select_best, k=int(step.k), by=names[step.score_func])
