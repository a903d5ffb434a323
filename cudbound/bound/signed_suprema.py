"""The side of the CUD bound for a training error that is too low."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.calls import warn
from cudbound.basis.quantiles import inverted_cdf_quantile
from cudbound.basis.solved_draws import Draws
from cudbound.metrics.metric import ERROR, MetricRows
from cudbound.problem.additive_model import AdditiveModel
from cudbound.records import SignedSuprema
from cudbound.solve.minimum import draws_problem
from cudbound.solve.search import Search, search_ended


def solve_signed_suprema(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    *,
    probability: float,
    localization: float,
    search: Search,
    matters: tuple[float, float] = (0.0, 1.0),
    seen: MetricRows | None = None,
) -> SignedSuprema:
    """Bound the suprema of (error - error_b)_+ g(alpha (L_b(fitted) - L_b)) of given draws, as far as they matter.

    Parameters
    ----------
    model : AdditiveModel
    counts : ndarray of int32, shape (n_draws, n_samples)
    probability : float
        Probability of the quantile; draws are solved as far as it requires.
    localization, search
        As in `cudbound.analysis.cud_interval.solve_bound`; the search is of the negative side.
    matters : tuple of float, default=(0.0, 1.0)
        Range in which the quantile must be known: the search ends once it is shown to lie outside.
    seen : MetricRows, default=None
        The metric; its mean loss replaces the error. None for the error itself.

    Returns
    -------
    SignedSuprema

    Warns
    -----
    NotCertifiedWarning
        If a limit, or rounding, stopped the search before the quantile was known as far as it matters; upper bounds are
        used.
    """
    seen = MetricRows(ERROR, model.labels > 0.0) if seen is None else seen
    weights = seen.score_weights(counts)
    problem = draws_problem(
        model, counts, localization, None if weights is None else weights / seen.metric.scale
    )
    n = seen.n_rows
    polished = () if model.polish is None else (f"cap of the {model.polish}",)
    least, most = matters
    draws: Draws | None = None
    lower, upper = 0.0, 1.0
    for stage in search.stages(problem):
        if upper <= least or lower >= most or lower == upper:
            break
        draws = stage.run(problem, probability, draws)
        lower, upper = (inverted_cdf_quantile(values, probability) for values in (draws.lower, draws.upper))
    else:
        if draws is not None and lower < upper and upper > least and lower < most:
            warn(search_ended(search, draws, lower, upper))
    if draws is None:  # no error differs by more than 1
        return SignedSuprema(n, np.ones(len(counts)), np.zeros(len(counts)), polished)
    return SignedSuprema(n, draws.upper, draws.lower, polished)
