"""One column per category that a fit drew, as in `OneHotEncoder`, with or without filling of missing words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import OneHotEncoder

from cudbound.estimators.batched.columns import Array, Bools, Columns, Draws, averages


@dataclass(frozen=True, eq=False)
class Feature:
    """One feature of words: a column for each of its categories in the data.

    Attributes
    ----------
    hot : ndarray of float, shape (n_samples, n_categories)
        1 if a row has the category; all 0 if it has none.
    missing : ndarray of bool, shape (n_samples,), default=None
        Rows to which each fit gives a category; None if there are no such rows.
    fill : int, default=None
        That category; None means the most frequent one among the drawn rows, the first of equally frequent ones.
    """

    hot: Array
    missing: Bools | None = None
    fill: int | None = None


@dataclass(frozen=True, eq=False)
class Encoder:
    """One-hot columns of each fit; those of categories that it did not draw count as 0.

    Attributes
    ----------
    features : sequence of Feature
    drop : {"first", "if_binary"} or None
        Which of the drawn categories has no column: the first one, or the first one of two.
    unknown_is_error : bool
        Whether a row of a category that was not drawn cannot be predicted.
    """

    features: Sequence[Feature]
    drop: str | None
    unknown_is_error: bool

    def __call__(self, draws: Draws) -> tuple[Columns, Bools]:
        """Return the columns, and which fits are clear."""
        clear = np.ones(draws.n_fits, dtype=bool)
        hot: list[Array] = []
        masks: list[Array] = []
        for feature in self.features:
            rows, filled = self._filled(feature, draws)
            clear &= filled
            drawn = np.asarray(averages(draws.counts, rows) > 0.0)
            if self.unknown_is_error:
                seen = (rows * drawn[:, None, :]).sum(axis=2)
                clear &= (seen == rows.sum(axis=-1)).all(axis=1)
            hot.append(rows)
            masks.append((drawn & ~self._dropped(drawn)).astype(np.float64))
        if any(rows.ndim == 3 for rows in hot):
            hot = [np.broadcast_to(rows, (draws.n_fits, *rows.shape[-2:])) for rows in hot]
        return Columns(np.concatenate(hot, axis=-1), scale=np.concatenate(masks, axis=1)), clear

    def _dropped(self, drawn: Bools) -> Bools:
        first = np.asarray(drawn & (drawn.cumsum(axis=1) == 1))
        if self.drop == "first":
            return first
        if self.drop == "if_binary":
            return np.asarray(first & (drawn.sum(axis=1) == 2)[:, None])
        return np.zeros(drawn.shape, dtype=bool)

    @staticmethod
    def _filled(feature: Feature, draws: Draws) -> tuple[Array, Bools]:
        """Return the columns with missing words filled in, and the fits that drew a word."""
        if feature.missing is None:
            return feature.hot, np.ones(draws.n_fits, dtype=bool)
        known = draws.counts @ feature.hot
        fill = known.argmax(axis=1) if feature.fill is None else np.full(draws.n_fits, feature.fill)
        filled = np.eye(feature.hot.shape[1])[fill]
        rows = feature.hot + feature.missing[:, None] * filled[:, None, :]
        return rows, np.asarray(known.any(axis=1))


def one_hot(X: Any, step: OneHotEncoder) -> Encoder:
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
    return _encoder(step, [Feature(part) for part in np.split(hot, ends, axis=1)])


def filled_one_hot(
    words: NDArray[Any], missing: Bools, fill_value: Any, step: OneHotEncoder
) -> Encoder | None:
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
    Encoder or None
        None if words of one feature cannot be sorted.
    """
    features = []
    for column, gaps in zip(words.T, missing.T, strict=True):
        known = set(column[~gaps].tolist())
        try:
            categories = sorted(known if fill_value is None else known | {fill_value})
        except TypeError:
            return None
        hot = np.array([[word == category for category in categories] for word in column], dtype=np.float64)
        fill = None if fill_value is None else categories.index(fill_value)
        features.append(Feature(hot, gaps if gaps.any() else None, fill))
    return _encoder(step, features)


def _encoder(step: OneHotEncoder, features: Sequence[Feature]) -> Encoder:
    return Encoder(features, step.drop, step.handle_unknown == "error")
