"""Columns made from columns: polynomial terms, splines, functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cudbound.estimators.batched.columns import CLEAR_SHARE, Columns, Draws
from cudbound.estimators.batched.order import drawn_quantiles

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


def products(columns: Columns, draws: Draws, *, powers: NDArray[np.integer[Any]]) -> tuple[Columns, Bools]:
    """Multiply powers of columns, as `PolynomialFeatures` does.

    Parameters
    ----------
    columns : Columns
    draws : Draws
    powers : ndarray of int, shape (n_terms, n_columns)
        Exponents of each term.

    Examples
    --------
    >>> draws = Draws(np.ones((1, 2)), np.array([-1.0, 1.0]))
    >>> terms, _ = products(Columns(np.array([[2.0, 3.0], [1.0, 5.0]])), draws, powers=np.array([[2, 0], [1, 1]]))
    >>> terms.rows[0].tolist()
    [[4.0, 6.0], [1.0, 5.0]]
    """
    rows = columns.stacked(draws.n_fits)
    terms = np.ones((*rows.shape[:2], len(powers)))
    for term, exponents in enumerate(powers):
        for column in np.flatnonzero(exponents):
            terms[:, :, term] *= rows[:, :, column] ** int(exponents[column])
    return _finite(terms)


def mapped(columns: Columns, draws: Draws, *, function: Callable[[Array], Array]) -> tuple[Columns, Bools]:
    """Apply an elementwise function; fits in which its result is not finite are not clear."""
    return _finite(np.asarray(function(columns.stacked(draws.n_fits)), dtype=np.float64))


def _finite(rows: Array) -> tuple[Columns, Bools]:
    clear = np.asarray(np.isfinite(rows).all(axis=(1, 2)))
    if not clear.all():
        rows[~clear] = 0.0
    return Columns(rows), clear


@dataclass(frozen=True)
class Splines:
    """B-splines of each column, with knots from the drawn rows, as `SplineTransformer` makes them.

    Attributes
    ----------
    n_knots, degree : int
        At least 2, and at least 1.
    knots : {"uniform", "quantile"}
        Fits with two equal knots are not clear.
    extrapolation : {"constant", "continue"}
    include_bias : bool
        Whether the last spline of each column is kept.
    """

    n_knots: int
    degree: int
    knots: Literal["uniform", "quantile"]
    extrapolation: Literal["constant", "continue"]
    include_bias: bool

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Columns, Bools]:
        """Return the splines, and which fits are clear."""
        columns = columns.plain()
        base = self._base_knots(columns, draws)
        gaps = np.diff(base, axis=2)
        clear = (gaps.min(axis=2) > CLEAR_SHARE * np.abs(columns.rows).max(axis=-2, initial=0.0)).all(axis=1)
        base[~clear] = np.arange(self.n_knots)
        made = [
            self._splines(columns.rows[..., column], base[:, column]) for column in range(columns.n_columns)
        ]
        return Columns(np.concatenate(made, axis=2)), clear

    def _base_knots(self, columns: Columns, draws: Draws) -> Array:
        """Return the knots between the ends, shape (n_fits, n_columns, n_knots)."""
        if self.knots == "quantile":
            return drawn_quantiles(columns, draws, np.linspace(0.0, 1.0, self.n_knots).tolist())
        ends = drawn_quantiles(columns, draws, (0.0, 1.0))
        return np.asarray(np.linspace(ends[:, :, 0], ends[:, :, 1], self.n_knots, axis=2))

    def _splines(self, values: Array, base: Array) -> Array:
        """Return the splines of one column, shape (n_fits, n_samples, n_splines)."""
        degree, steps = self.degree, np.arange(1, self.degree + 1)
        before = base[:, :1] - (base[:, 1:2] - base[:, :1]) * steps[::-1]
        after = base[:, -1:] + (base[:, -1:] - base[:, -2:-1]) * steps
        knots = np.concatenate([before, base, after], axis=1)
        x = np.broadcast_to(values, (len(base), values.shape[-1]))
        if self.extrapolation == "constant":
            x = np.clip(x, base[:, :1], base[:, -1:])
        # the last base knot that is not above x, except for the very last
        place = (base[:, None, 1:-1] <= x[:, :, None]).sum(axis=2) + degree

        def knot(offset: int) -> Array:
            return np.asarray(np.take_along_axis(knots, place + offset, axis=1))

        # Cox and de Boor: the degree + 1 splines that do not vanish between two knots
        local = [np.ones(x.shape)]
        for level in range(1, degree + 1):
            risen, saved = [], np.zeros(x.shape)
            for number in range(level):
                right, left = knot(number + 1), knot(number + 1 - level)
                share = local[number] / (right - left)
                risen.append(saved + (right - x) * share)
                saved = (x - left) * share
            local = [*risen, saved]
        splines = np.zeros((*x.shape, self.n_knots + degree - 1))
        for number, part in enumerate(local):
            np.put_along_axis(splines, (place - degree + number)[:, :, None], part[:, :, None], axis=2)
        return splines if self.include_bias else splines[:, :, :-1]
