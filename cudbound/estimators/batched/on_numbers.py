"""Numeric steps in a stack of fits: filling of missing values, standardization, principal components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cudbound.estimators.batched.columns import CLEAR_SHARE, Array, Bools, Columns, Draws, averages

STRATEGIES = ("mean", "median", "most_frequent", "constant")
#: A variance that is a smaller share of the mean square about a point near all means is computed again from rows of
#: its fit: the difference of two nearly equal numbers has lost digits.
CANCELLED_SHARE = 1e-3


@dataclass(frozen=True)
class Imputer:
    """Replace nan; a fit that drew no number of a column is not clear, because the column is then dropped.

    Attributes
    ----------
    strategy : {"mean", "median", "most_frequent", "constant"}
        Of the most frequent numbers the smallest is taken.
    fill_value : float
        For "constant".
    """

    strategy: str
    fill_value: float = 0.0

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Columns, Bools]:
        """Return the columns without nan, and which fits are clear."""
        missing = np.isnan(columns.rows)  # shared: nothing that makes nan comes before
        if not missing.any():
            return columns, np.ones(draws.n_fits, dtype=bool)
        stacked = np.repeat(columns.rows[None], draws.n_fits, axis=0)
        clear = np.ones(draws.n_fits, dtype=bool)
        for column in np.flatnonzero(missing.any(axis=0)):
            known = ~missing[:, column]
            counts = draws.counts[:, known]
            drawn = counts.any(axis=1)
            clear &= drawn
            counts[~drawn] = 1.0
            values = columns.rows[known, column]
            stacked[:, ~known, column] = self._statistic(values, counts)[:, None]
        return Columns(stacked), clear

    def _statistic(self, values: Array, counts: Array) -> Array:
        if self.strategy == "mean":
            return np.asarray(counts @ values / counts.sum(axis=1))
        if self.strategy == "median":
            return drawn_medians(values, counts)
        if self.strategy == "most_frequent":
            kinds, places = np.unique(values, return_inverse=True)
            return np.asarray(kinds[(counts @ np.eye(kinds.size)[places]).argmax(axis=1)])
        return np.full(len(counts), self.fill_value)


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
    rows, shares = columns.stacked(draws.n_fits), draws.shares
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
