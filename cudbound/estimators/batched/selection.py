"""The best columns of each fit by a score of each column, as `SelectKBest` selects them; the others count as 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.estimators.batched.columns import CLEAR_SHARE, Columns, Draws, averages

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


def select_best(columns: Columns, draws: Draws, *, k: int, by: str) -> tuple[Columns, Bools]:
    """Keep the `k` columns with the largest scores.

    Fits in which the last selected and the first rejected column have nearly the same score are not clear.

    Parameters
    ----------
    columns : Columns
    draws : Draws
    k : int
        From 1 on.
    by : {"f_classif", "chi2"}

    Examples
    --------
    >>> draws = Draws(np.ones((1, 4)), np.array([-1.0, -1.0, 1.0, 1.0]))
    >>> rows = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 4.0], [0.0, 5.0]])
    >>> select_best(Columns(rows), draws, k=1, by="f_classif")[0].scale.tolist()
    [[0.0, 1.0]]
    """
    score = _analysis_of_variance if by == "f_classif" else _chi_square
    if by == "chi2":
        columns = columns.plain()
    scores, noise = score(columns, draws)
    clear = np.asarray(~np.isnan(scores).any(axis=1))
    scores = np.where(np.isnan(scores), 0.0, scores)
    order = scores.argsort(axis=1)[:, ::-1]
    kept = np.ones(scores.shape)
    if k < columns.n_columns:
        ranked = np.take_along_axis(scores, order, axis=1)
        last, next_one = ranked[:, k - 1], ranked[:, k]
        clear &= last - next_one > (CLEAR_SHARE + noise) * np.abs(last)
        np.put_along_axis(kept, order[:, k:], 0.0, axis=1)
    return Columns(
        columns.rows, columns.shift, kept if columns.scale is None else columns.scale * kept
    ), clear


def _analysis_of_variance(columns: Columns, draws: Draws) -> tuple[Array, Array]:
    """Return F in units of its degrees of freedom, -1 for columns that are 0, nan where it is unclear; and its noise.

    Affine maps of columns do not change it.
    """
    shares, labels = draws.shares, draws.labels > 0.0
    second = shares @ labels
    middle = columns.rows.mean(axis=-2, keepdims=True)
    rows = columns.rows - middle
    squares = averages(shares, rows**2)
    seconds = averages(shares * labels, rows)
    means = averages(shares, rows)
    total = squares - means**2
    first_mean, second_mean = (means - seconds) / (1.0 - second)[:, None], seconds / second[:, None]
    between = (second * (1.0 - second))[:, None] * (second_mean - first_mean) ** 2
    within = total - between
    raw = averages(shares, np.asarray(columns.rows) ** 2)
    zero = (raw == 0.0) if columns.shift is None else np.zeros(raw.shape, dtype=bool)
    if columns.scale is not None:
        zero |= columns.scale == 0.0
    doubtful = (within <= CLEAR_SHARE * squares) | (squares == 0.0)
    scores = np.divide(between, within, out=np.full(total.shape, np.nan), where=~doubtful)
    # scikit-learn adds squares that were not centered
    noise = np.divide(1e-14 * raw, total, out=np.zeros(total.shape), where=~doubtful).max(axis=1, initial=0.0)
    return np.where(zero, -1.0, scores), noise


def _chi_square(columns: Columns, draws: Draws) -> tuple[Array, Array]:
    """Return the statistics of the sums of columns in the two classes, -1 for columns that are 0; and their noise."""
    labels = draws.labels > 0.0
    second = draws.shares @ labels
    totals = averages(draws.counts, columns.rows)
    seconds = averages(draws.counts * labels, columns.rows)
    zero = totals == 0.0
    expected = totals * second[:, None]
    apart = (seconds - expected) ** 2
    # the two classes deviate equally from their expectations
    scores = np.divide(
        apart, expected * (1.0 - second)[:, None], out=np.full(totals.shape, -1.0), where=~zero
    )
    return scores, np.zeros(draws.n_fits)
