"""Which steps of scikit-learn are fitted in batches, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, takewhile
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, RobustScaler, StandardScaler
from sklearn.utils.validation import FLOAT_DTYPES, validate_data

from cudbound.batches.columns import BatchedFit, Columns, Draws, Source, Step
from cudbound.batches.scalers import scale_by_quantiles, scale_to_range, standardise
from cudbound.batches.squares import principal_components
from cudbound.least_squares import check_scale

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Rows and columns up to which ``PCA(svd_solver="auto")`` draws no random numbers.
LARGEST_EXACT = 500


@dataclass(frozen=True)
class Prepared:
    """All steps before a classifier, and the largest number of columns that one of them makes."""

    source: Source
    n_columns: int


def flatten(steps: Sequence[Any]) -> list[Any]:
    """Return the steps that do something, those of pipelines inside included."""
    flat: list[Any] = []
    for step in steps:
        if type(step) is Pipeline:
            flat += flatten([inner for _, inner in step.steps])
        elif step is not None and step != "passthrough":
            flat.append(step)
    return flat


def is_fixed(step: Any) -> bool:
    """Whether the output for a row does not depend on the rows that the step was fitted to."""
    return type(step) is PolynomialFeatures


def prepare(steps: Sequence[Any], X: Any, final: BatchedFit) -> Prepared | None:
    """Return the steps of a fitted pipeline for batches of fits, or None where they cannot be fitted in batches.

    Parameters
    ----------
    steps : sequence of object
        Fitted transformers, from `flatten`.
    X : array-like, shape (n_samples, n_features)
    final : BatchedFit
        The classifier behind them.
    """
    fixed = list(takewhile(is_fixed, steps))
    for step in fixed:
        X = step.transform(X)
    rest = list(steps[len(fixed) :])
    rows = _rows(rest, X)
    if rows is None:
        return None
    made: list[Step] = []
    for step, follower in pairwise([*rest, final]):
        batched = _step(step, follower, rows)
        if batched is None:
            return None
        made.append(batched)
    widest = max([rows.shape[1], *(_width(step) for step in rest)])
    return Prepared(partial(_run, Columns(rows), tuple(made)), widest)


def _run(columns: Columns, steps: Sequence[Step], draws: Draws) -> tuple[Columns, Bools]:
    clear = np.ones(draws.n_fits, dtype=bool)
    for step in steps:
        columns, found = step(columns, draws)
        clear &= found
    return columns, clear


def _rows(steps: Sequence[Any], X: Any) -> Array | None:
    """Return the rows that the first step is given, as numbers; None if it computes in another precision."""
    if not steps:
        dense: Any = X
        if sparse.issparse(X):
            dense = dense.toarray()
        return np.asarray(dense, dtype=np.float64)
    if sparse.issparse(X):
        return None
    try:
        rows = validate_data(steps[0], X, dtype=FLOAT_DTYPES, reset=False)
        if rows.dtype != np.float64:
            return None
        check_scale("X", rows)
    except ValueError:  # words, or numbers whose squares overflow
        return None
    return np.asarray(rows)


def _width(step: Any) -> int:
    return len(step.get_feature_names_out())


def _step(step: Any, follower: Any, rows: Array) -> Step | None:
    if type(step) is StandardScaler:
        constants_matter = not (type(follower) is PCA or getattr(follower, "ignores_constants", False))
        return partial(
            standardise, with_mean=step.with_mean, with_std=step.with_std, constants_matter=constants_matter
        )
    if type(step) is MinMaxScaler and not step.clip:
        return partial(scale_to_range, low=float(step.feature_range[0]), high=float(step.feature_range[1]))
    if type(step) is RobustScaler:
        return _by_quantiles(step)
    # axes may point either way, which matters to neither of these
    if type(step) is PCA and (
        hasattr(follower, "ignores_constants") or type(follower) in (PCA, StandardScaler)
    ):
        return _components(step, len(rows))
    return None


def _by_quantiles(step: RobustScaler) -> Step:
    from scipy.stats import norm

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
