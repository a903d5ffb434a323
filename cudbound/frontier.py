"""The frontier of scores and losses of one draw gives Q at every localisation rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.validation import check_rate


def frontier_to_q(
    scores: ArrayLike, losses: ArrayLike, anchor_loss: float, alpha: ArrayLike
) -> NDArray[np.float64]:
    """Return Q at each localisation rate from what each size of deviation costs.

    Parameters
    ----------
    scores : array-like of float, shape (n_points,)
        Absolute weighted deviations k that classifiers attain, non-negative.
    losses : array-like of float, shape (n_points,)
        Least mean loss, of the draw, of a classifier whose deviation is at least k.
    anchor_loss : float
        Mean loss of the fitted classifier on the draw.
    alpha : array-like of float, shape (...)
        Localisation rates in [0, inf]; at infinity only classifiers whose loss is at most `anchor_loss` count.

    Returns
    -------
    ndarray of float, shape (...)
        max over the points of k clip(1 - alpha (loss - anchor_loss), 0, 1), at least 0; it falls with alpha.

    Raises
    ------
    ValueError
        If there is no point, `scores` and `losses` differ in length, a score is negative, a value is not finite, or a
        rate is not in [0, inf].

    References
    ----------
    Laber and Murphy (2008), section 3.1, where alpha is fixed; the supremum over classifiers is one over the sizes of
    their deviations, each at its least loss.

    Examples
    --------
    >>> frontier_to_q([0.1, 0.2], [0.50, 0.56], anchor_loss=0.52, alpha=[0, 10, float("inf")]).round(3).tolist()
    [0.2, 0.12, 0.1]
    """
    k, loss = np.asarray(scores, dtype=float), np.asarray(losses, dtype=float)
    if k.ndim != 1 or k.shape != loss.shape or not k.size:
        raise ValueError(
            "'scores' and 'losses' must have one dimension, the same length and at least one value. "
            f"Got shapes {k.shape} and {loss.shape}."
        )
    if not (np.isfinite(k).all() and np.isfinite(loss).all() and np.isfinite(anchor_loss)) or (k < 0.0).any():
        raise ValueError(
            "'scores' must be finite and non-negative, 'losses' and 'anchor_loss' finite; "
            "keep the points of the frontier that classifiers attain."
        )
    rates = np.vectorize(check_rate, otypes=[float])(np.asarray(alpha, dtype=float))
    excess = loss - anchor_loss
    with np.errstate(invalid="ignore"):  # infinity times an excess of 0
        kept = np.clip(1.0 - rates[..., None] * excess, 0.0, 1.0)
    kept = np.where(np.isinf(rates)[..., None], excess <= 0.0, kept)
    return np.asarray((k * kept).max(axis=-1))
