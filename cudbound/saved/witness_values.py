"""The values of the witnesses of draws, from the definition: sums and signs, without a search."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cudbound.problem.problem import Problem

Array = NDArray[np.float64]

#: A score closer to 0 than this share of the sum of its absolute terms has no sign: it is rounding.
ROUNDING = 1e-15
#: How far bounds of a draw may be from those computed on another machine, times the largest weighted deviation that the
#: draw allows, or 1: sums of weights and, for squared loss, of losses.
TOLERANCE = 1e-9
#: For the other losses in addition, times the localization rate: how far their minima are known.
LOSS_TOLERANCE = 1e-7
#: Where g is a step, at localization = infinity: the loss of the witness may be above that L of the fitted coefficients
#: by this times max(1, L).
STEP = 1e-9


def witness_values(problem: Problem, witness: Array) -> Array:
    r"""Return the lower bound on Q from the witness of each draw, shape (n_draws,).

    For coefficients :math:`\beta` and the weights :math:`w` of a draw it is
    :math:`|\sum_i w_i 1\{\mathrm{sign}(x_i'\beta) \ne y_i\}| \, g(\alpha (L_b(\hat\beta) - L_b(\beta)))`, with
    :math:`g(u) = \mathrm{clip}(1 + u, 0, 1)`; nan if a row with a weight has no side.

    Parameters
    ----------
    problem : Problem
    witness : ndarray of float, shape (n_draws, n_coefficients)

    References
    ----------
    Laber and Murphy (2008), sections 3.1 and 4.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of coefficients without measure nothing is known
        return _values(problem, witness)


def _values(problem: Problem, witness: Array) -> Array:
    scores = witness @ problem.design.T
    terms = np.abs(witness) @ np.abs(problem.design).T
    wrong = np.where(scores >= 0.0, 1.0, -1.0) != problem.labels  # rows of zeros are always +1
    sideless = (np.abs(scores) <= ROUNDING * terms) & problem.design.any(axis=1)
    values = np.empty(problem.n_draws)
    for draw in range(problem.n_draws):
        weights = problem.score_weights(draw)
        if (sideless[draw] & (weights != 0.0)).any():
            values[draw] = math.nan
        else:
            values[draw] = abs(float(weights @ wrong[draw])) * _share(problem, draw, witness[draw])
    return values


def tolerances(problem: Problem) -> Array:
    """Return how far the bounds of each draw may differ from those of another machine, shape (n_draws,)."""
    weights = np.array([problem.score_weights(draw) for draw in range(problem.n_draws)])
    scale = np.maximum(weights.clip(min=0.0).sum(axis=1), -weights.clip(max=0.0).sum(axis=1))
    exact = problem.loss.name == "squared" or math.isinf(problem.localization)
    return np.asarray(
        np.maximum(1.0, scale) * (TOLERANCE + (0.0 if exact else LOSS_TOLERANCE * problem.localization))
    )


def _share(problem: Problem, draw: int, coef: Array) -> float:
    """Return g at the coefficients."""
    if problem.localization == 0.0:
        return 1.0
    anchor, loss = problem.mean_loss(draw, problem.coef), problem.mean_loss(draw, coef)
    if math.isinf(problem.localization):
        return float(loss <= anchor + STEP * max(1.0, anchor))
    return float(np.clip(1.0 + problem.localization * (anchor - loss), 0.0, 1.0))
