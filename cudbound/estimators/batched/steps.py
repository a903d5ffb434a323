"""The steps of scikit-learn that are fitted in batches, and those that are fitted one draw at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import preprocessing
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, chi2, f_classif
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from cudbound.estimators.batched.classifiers import (
    CLEAR_SHARE,
    Array,
    Bools,
    Columns,
    Draws,
    Source,
    Step,
    averages,
)

STRATEGIES = ("mean", "median", "most_frequent", "constant")
#: A variance that is a smaller share of the mean square about a point near all means is computed again from rows of
#: its fit: the difference of two nearly equal numbers has lost digits.
CANCELLED_SHARE = 1e-3


def impute(columns: Columns, draws: Draws, *, strategy: str, fill_value: float) -> tuple[Columns, Bools]:
    """Replace nan; a fit that drew no number of a column is not clear, because the column is then dropped.

    Parameters
    ----------
    columns : Columns
    draws : Draws
    strategy : {"mean", "median", "most_frequent", "constant"}
        Of the most frequent numbers the smallest is taken.
    fill_value : float
        For "constant".
    """
    clear = np.ones(len(draws.counts), dtype=bool)
    missing = np.isnan(columns.rows)  # shared: nothing that makes nan comes before
    if not missing.any():
        return columns, clear
    stacked = np.repeat(columns.rows[None], len(draws.counts), axis=0)
    for column in np.flatnonzero(missing.any(axis=0)):
        present = ~missing[:, column]
        values, counts = columns.rows[present, column], draws.counts[:, present]
        drawn = counts.any(axis=1)
        clear &= drawn
        counts[~drawn] = 1.0
        fill: Any = fill_value
        if strategy == "mean":
            fill = (counts @ values / counts.sum(axis=1))[:, None]
        elif strategy == "median":
            fill = drawn_medians(values, counts)[:, None]
        elif strategy == "most_frequent":
            kinds, places = np.unique(values, return_inverse=True)
            fill = kinds[(counts @ np.eye(kinds.size)[places]).argmax(axis=1)][:, None]
        stacked[:, ~present, column] = fill
    return Columns(stacked), clear


def drawn_medians(values: Array, counts: Array) -> Array:
    """Return the median of the drawn values in each fit, copies included, shape (n_fits,).

    Parameters
    ----------
    values : ndarray of float, shape (n_samples,)
    counts : ndarray of float, shape (n_fits, n_samples)
        Each fit must have drawn a row.

    Examples
    --------
    >>> drawn_medians(np.array([9.0, 1.0, 3.0]), np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 1.0]])).tolist()
    [1.0, 6.0]
    """
    order = values.argsort(kind="stable")
    values = values[order]
    ends = counts[:, order].cumsum(axis=1)  # drawn rows at a place or before it
    middle = 0.5 * (ends[:, -1] - 1.0)
    low, high = (
        values[(ends <= place[:, None]).sum(axis=1)] for place in (np.floor(middle), np.ceil(middle))
    )
    return np.asarray(low + 0.5 * (high - low))


def standardize(
    columns: Columns,
    draws: Draws,
    *,
    with_mean: bool = True,
    with_std: bool = True,
    constants_matter: bool = True,
) -> tuple[Columns, Bools]:
    """Subtract the mean of each column, and divide it by its standard deviation.

    A column that is constant in a fit, among the rows that were drawn, is not divided.

    Parameters
    ----------
    columns : Columns
    draws : Draws
    with_mean, with_std : bool, default=True
        Whether to subtract means, and whether to divide.
    constants_matter : bool, default=True
        Whether fits with a constant column are not clear: a mean that was rounded leaves rounding errors in it. False
        if the next step subtracts means again, or takes no notice of columns that small.

    Returns
    -------
    columns : Columns
    clear : ndarray of bool, shape (n_fits,)

    Examples
    --------
    >>> draws = Draws(np.array([[1.0, 1.0, 0.0]]), np.array([-1.0, 1.0, 1.0]))
    >>> columns, clear = standardize(Columns(np.array([[1.0], [3.0], [9.0]])), draws)
    >>> columns.stacked(1)[0, :, 0].tolist(), clear.tolist()
    ([-1.0, 1.0, 7.0], [True])
    """
    columns = columns.plain()
    means, deviations, constant = _spread(columns.rows, draws)
    varies = deviations > CLEAR_SHARE * np.abs(columns.rows).max(axis=-2, initial=0.0)
    clear = (constant | varies).all(axis=1)
    if with_mean and constants_matter:
        clear &= ~constant.any(axis=1)
    scale = np.divide(1.0, deviations, out=np.ones_like(deviations), where=varies) if with_std else None
    return Columns(columns.rows, means if with_mean else None, scale), clear


def _spread(rows: Array, draws: Draws) -> tuple[Array, Array, Bools]:
    """Return means and standard deviations of the columns in each fit, and which columns are constant there."""
    if rows.ndim == 3:
        return _spread_from_inside(rows, draws)
    middle = rows.mean(axis=0)
    centered = rows - middle
    means = averages(draws.shares, centered)
    squares = averages(draws.shares, centered**2)
    variances = squares - means**2
    deviations = np.sqrt(np.maximum(variances, 0.0))
    constant = np.zeros(means.shape, dtype=bool)
    means += middle
    again = np.asarray((variances <= CANCELLED_SHARE * squares).any(axis=1))
    if again.any():
        stack = np.broadcast_to(rows, (int(again.sum()), *rows.shape))
        means[again], deviations[again], constant[again] = _spread_from_inside(stack, draws[again])
    return means, deviations, constant


def _spread_from_inside(rows: Array, draws: Draws) -> tuple[Array, Array, Bools]:
    # relative to a row of the fit a constant column is exactly 0
    inside = np.take_along_axis(rows, draws.counts.argmax(axis=1)[:, None, None], axis=1)
    centered = rows - inside
    constant = averages(draws.shares, np.abs(centered)) == 0.0
    shifted = averages(draws.shares, centered)
    centered -= shifted[:, None, :]
    return shifted + inside[:, 0], np.sqrt(averages(draws.shares, centered**2)), constant


def principal_components(
    columns: Columns, draws: Draws, *, n_components: int, by_covariance: bool = False
) -> tuple[Columns, Bools]:
    """Project on the first principal axes, in either of their directions.

    Parameters
    ----------
    columns : Columns
    draws : Draws
    n_components : int
        From 1 on. Fits whose rows span fewer dimensions are not clear.
    by_covariance : bool, default=False
        Whether fits count as clear only if the eigenvectors of a covariance matrix of uncentered rows would be clear,
        whose computation loses half of the digits.

    Returns
    -------
    components : Columns
        With fewer columns if there are fewer rows or columns.
    clear : ndarray of bool, shape (n_fits,)

    Examples
    --------
    >>> corners = np.array([[[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]]])
    >>> draws = Draws(np.ones((1, 4)), np.array([-1.0, -1.0, 1.0, 1.0]))
    >>> components, clear = principal_components(Columns(corners), draws, n_components=1)
    >>> np.abs(components.rows[0, :, 0]).round(9).tolist(), clear.tolist()
    ([2.0, 2.0, 2.0, 2.0], [True])
    """
    rows, shares = columns.stacked(len(draws.counts)), draws.shares
    means = averages(shares, rows)
    centered = rows - means[:, None, :]
    _, singular, axes = np.linalg.svd(np.sqrt(shares)[:, :, None] * centered, full_matrices=False)
    # the requested ones and the next one, 0 where there are fewer
    leading = np.zeros((len(rows), n_components + 1))
    leading[:, : singular.shape[1]] = singular[:, : n_components + 1]
    power = 2 if by_covariance else 1
    size = np.sqrt((means**2).sum(axis=1) + leading[:, 0] ** 2)
    clear = (-np.diff(leading**power, axis=1) > CLEAR_SHARE * size[:, None] ** power).all(axis=1)
    return Columns(centered @ axes[:, :n_components].swapaxes(1, 2)), clear


@dataclass(frozen=True, eq=False)
class Feature:
    """One feature of words: a column for each of its categories in the data.

    Attributes
    ----------
    hot : ndarray of float, shape (n_samples, n_categories)
        1 if a row has the category; all 0 if it has none.
    missing : ndarray of bool, shape (n_samples,), default=None
        Rows without a value, which each fit fills with a category; None if every row has a value.
    fill : int, default=None
        That category; None means the most frequent one among the drawn rows, the first of equally frequent ones.
    """

    hot: Array
    missing: Bools | None = None
    fill: int | None = None


def encode(
    features: Sequence[Feature], drop: str | None, unknown_is_error: bool, draws: Draws
) -> tuple[Columns, Bools]:
    """Return one-hot columns of each fit, where those of categories that it did not draw count as 0.

    Parameters
    ----------
    features : sequence of Feature
    drop : {"first", "if_binary"} or None
        Which of the drawn categories has no column: the first one, or the first one of two.
    unknown_is_error : bool
        Whether a row of a category that was not drawn cannot be predicted.
    draws : Draws

    Returns
    -------
    columns : Columns
    clear : ndarray of bool, shape (n_fits,)
    """
    clear = np.ones(len(draws.counts), dtype=bool)
    hot: list[Array] = []
    masks: list[Array] = []
    for feature in features:
        rows = feature.hot
        if feature.missing is not None:
            occurrences = draws.counts @ rows
            fill = occurrences.argmax(axis=1) if feature.fill is None else np.full(len(clear), feature.fill)
            rows = rows + feature.missing[:, None] * np.eye(rows.shape[1])[fill][:, None, :]
            clear &= occurrences.any(axis=1)
        drawn = np.asarray(averages(draws.counts, rows) > 0.0)
        if unknown_is_error:
            n_drawn = (rows * drawn[:, None, :]).sum(axis=2)
            clear &= (n_drawn == rows.sum(axis=-1)).all(axis=1)
        dropped = drawn & (drawn.cumsum(axis=1) == 1) & (drop is not None)
        if drop == "if_binary":
            dropped &= (drawn.sum(axis=1) == 2)[:, None]
        hot.append(rows)
        masks.append((drawn & ~dropped).astype(np.float64))
    if any(rows.ndim == 3 for rows in hot):
        hot = [np.broadcast_to(rows, (len(clear), *rows.shape[-2:])) for rows in hot]
    return Columns(np.concatenate(hot, axis=-1), scale=np.concatenate(masks, axis=1)), clear


def one_hot(X: Any, step: OneHotEncoder) -> Source:
    """Return a fitted encoder for batches, with a column for each of its categories.

    Parameters
    ----------
    X : array-like, shape (n_samples, n_features)
        The rows that it was fitted to.
    step : OneHotEncoder
    """
    whole = OneHotEncoder(
        categories=step.categories_, handle_unknown="ignore", sparse_output=False, dtype=np.float64
    )
    hot = whole.set_output(transform="default").fit_transform(X)
    ends = np.cumsum([len(categories) for categories in step.categories_])[:-1]
    features = [Feature(part) for part in np.split(hot, ends, axis=1)]
    return partial(encode, features, step.drop, step.handle_unknown == "error")


def filled_one_hot(
    words: NDArray[Any], missing: Bools, fill_value: Any, step: OneHotEncoder
) -> Source | None:
    """Return a fitted encoder of words with gaps, which an imputer fills before it.

    Parameters
    ----------
    words : ndarray of object, shape (n_samples, n_features)
    missing : ndarray of bool, shape (n_samples, n_features)
    fill_value : object
        What replaces a missing word; None means the most frequent one.
    step : OneHotEncoder

    Returns
    -------
    callable or None
        None if words of one feature cannot be sorted.
    """
    features = []
    for column, gaps in zip(words.T, missing.T, strict=True):
        values = set(column[~gaps].tolist())
        try:
            categories = sorted(values if fill_value is None else values | {fill_value})
        except TypeError:
            return None
        hot = np.array([[word == category for category in categories] for word in column], dtype=np.float64)
        fill = None if fill_value is None else categories.index(fill_value)
        features.append(Feature(hot, gaps if gaps.any() else None, fill))
    return partial(encode, features, step.drop, step.handle_unknown == "error")


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
    preprocessing.MinMaxScaler,
    preprocessing.PolynomialFeatures,
    preprocessing.RobustScaler,
    SelectKBest,
    preprocessing.SplineTransformer,
)


def is_fixed(step: Any) -> bool:
    """Whether the output for a row does not depend on the rows that the step was fitted to."""
    if type(step) is FunctionTransformer:
        return _of_single_numbers(step)
    if type(step) is preprocessing.SplineTransformer:
        return not isinstance(step.knots, str)
    if type(step) is OneHotEncoder:
        return not isinstance(step.categories, str) and _is_plain(step)
    return type(step) is preprocessing.PolynomialFeatures


def encodes_in_batches(step: Any) -> bool:
    """Whether one-hot columns are those of the categories that were drawn."""
    return type(step) is OneHotEncoder and isinstance(step.categories, str) and _is_plain(step)


def _is_plain(step: OneHotEncoder) -> bool:
    drops_simply = step.drop is None or (isinstance(step.drop, str) and step.drop in ("first", "if_binary"))
    return bool(drops_simply and step.min_frequency is None and step.max_categories is None)


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
        fill_value = 0.0 if step.fill_value is None else float(step.fill_value)
        return partial(impute, strategy=step.strategy, fill_value=fill_value)
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
            principal_components, n_components=int(step.n_components), by_covariance=step.svd_solver != "full"
        )
    return None
