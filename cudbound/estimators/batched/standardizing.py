"""Standardized columns of each fit, as maps of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.estimators.batched.columns import CLEAR_SHARE, Columns, Draws, averages

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: A variance that is a smaller share of the mean square about a point near all means is computed again from rows of
#: its fit: the difference of two nearly equal numbers has lost digits.
CANCELLED_SHARE = 1e-3


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
