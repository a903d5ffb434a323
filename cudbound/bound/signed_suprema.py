"""The side of the CUD bound that says how far the training error can be too low, and the rank of the design."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from cudbound.exceptions import ManyFeaturesWarning
from cudbound.intervals.two_center import allows_cap
from cudbound.problem.additive_model import AdditiveModel
from cudbound.problem.coordinates import design_rank
from cudbound.quantiles import inverted_cdf_quantile
from cudbound.records import SignedSuprema
from cudbound.results import Draws
from cudbound.solve.minimum import draws_problem
from cudbound.solve.search import Search, search_ended


def solve_signed_suprema(
    model: AdditiveModel,
    counts: NDArray[np.int32],
    *,
    probability: float,
    alpha: float,
    search: Search,
    progress: bool = False,
    previous: Draws | None = None,
) -> tuple[SignedSuprema, Draws | None]:
    """Bound the suprema of (error - error_b)_+ g(alpha (L_b(fitted) - L_b)) of given draws, where they are of use.

    Parameters
    ----------
    model : AdditiveModel
    counts : ndarray of int32, shape (n_draws, n_samples)
    probability : float
        Of the quantile that is needed; draws are solved as far as it requires.
    alpha, search, progress, previous
        As in `cudbound.bound.cud_interval.solve_bound`; the search is of the negative side.

    Returns
    -------
    SignedSuprema
        Without suprema where the rank of the design is too large for the cap of the upper limit.
    Draws or None
        What was proved, to resume the search.

    Raises
    ------
    SolveInterrupted
        On Ctrl-C.

    Warns
    -----
    ManyFeaturesWarning
        If the rank of the design is too large for the cap.
    NotCertifiedWarning
        If a limit, or rounding, ended the search before the quantile was proved; upper bounds are used.
    """
    problem = draws_problem(model, counts, alpha)
    n, rank = model.labels.size, design_rank(problem.design)
    if not allows_cap(rank, n):
        warnings.warn(
            ManyFeaturesWarning(
                f"The design has rank {rank} and {n} rows. Where the rank is above half of the rows the upper limit "
                "of two-center is not capped, and the interval covered less often than its level in simulations: fit "
                "fewer features, or report it with this caution."
            ),
            stacklevel=3,
        )
        return SignedSuprema(n, rank), None
    draws = search.run(problem, probability, progress, previous)
    lower, upper = (inverted_cdf_quantile(values, probability) for values in (draws.lower, draws.upper))
    if lower < upper:
        warnings.warn(search_ended(search, draws, lower, upper), stacklevel=3)
    return SignedSuprema(n, rank, upper=draws.upper, lower=draws.lower), draws
