"""Checks of the CUD bounds in a saved result: witnesses, draws solved again, quantile and limits."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.proportions import inverted_cdf_quantile
from cudbound.basis.sample import Sample
from cudbound.basis.validation import check_localization
from cudbound.bound.cud_bound import joint_problem, search_joint
from cudbound.intervals.laber_murphy import cud_limits
from cudbound.metrics.metric import MetricRows
from cudbound.problem.problem import AdditiveModel, Problem
from cudbound.saved.saved_file import Check, SavedBound, SavedQuestion, SavedResult
from cudbound.solve.search import Search, SearchLimits, node_budget, solve_draws

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


@np.errstate(over="ignore", invalid="ignore")  # of coefficients without measure nothing is known
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


#: How far estimates may be apart: sums of a few hundred terms, in whatever order a machine adds them.
ESTIMATE = 1e-12


def check_on_data(
    bound: SavedBound,
    saved: SavedResult,
    model: AdditiveModel,
    sample: Sample,
    n_jobs: int | None,
) -> Iterator[Check]:
    """Check a bound on the data."""
    question = saved.question
    metric_rows = [
        MetricRows(interval.metric, sample.events, sample.sample_weight) for interval in bound.intervals
    ]
    rate = check_localization(question.bound.localization, sample.n_samples)
    if len(metric_rows) > 1:
        problem = joint_problem(model, saved.counts, metric_rows, rate)
    else:
        problem = model.problem(saved.counts, rate, metric_rows[0].score_weights(saved.counts))
    yield _check_estimate(bound, metric_rows, model.training_errors)
    yield _check_witnesses(bound, problem)
    yield _check_draws(bound, problem, question, n_jobs)


def _check_estimate(bound: SavedBound, metric_rows: list[MetricRows], wrong: NDArray[np.bool_]) -> Check:
    """Recompute the metrics of the classifier on its training set."""
    name = f"training value{_of(bound)}"
    for rows, interval in zip(metric_rows, bound.intervals, strict=True):
        value = rows.value(wrong)
        if not abs(value - interval.estimate) <= ESTIMATE * max(1.0, interval.metric.scale):
            return Check(name, False, f"it is {value:.6g}, but the file has {interval.estimate:.6g}")
    values = ", ".join(f"{interval.estimate:.6g}" for interval in bound.intervals)
    return Check(name, True, f"the classifier has {values} on these rows, as in the file")


def _check_witnesses(bound: SavedBound, problem: Problem) -> Check:
    """Compare the bounds of every draw with the value of its witness: no lower bound above, no upper bound below."""
    name, lower = f"witnesses{_of(bound)}", bound.lower
    values, near = witness_values(problem, bound.witness), tolerances(problem)
    # an unknown value proves nothing but 0
    below = ~(lower - np.nan_to_num(values, nan=0.0) <= near)
    above = ~(np.fmax(values, lower) <= bound.upper + near)
    for side, failed, limit in (("below", below, lower), ("above", above, bound.upper)):
        if failed.any():
            draw, which = int(failed.argmax()), "lower" if side == "below" else "upper"
            text = (
                f"{failed.sum()} of {lower.size} witnesses are {side} their {which} bounds; draw {draw} has "
                f"{limit[draw]:.6g}, but its witness has the value {values[draw]:.6g}"
            )
            return Check(name, False, text)
    return Check(name, True, f"{lower.size} lower bounds follow from their witnesses, to {near.max():.1g}")


def _check_draws(bound: SavedBound, problem: Problem, question: SavedQuestion, n_jobs: int | None) -> Check:
    """Solve draws again and compare the bounds: both must allow the same Q."""
    name = f"draws solved again{_of(bound)}"
    limits = SearchLimits(solver=question.bound.solver, nodes=node_budget(problem))
    # first as far as the quantile requires, so that the nodes are spent where they decide
    search = Search(n_jobs=n_jobs, limits=limits)
    previous = search_joint(problem, len(bound.intervals), question.confidence_level, search)
    draws = solve_draws(problem, n_jobs=n_jobs, limits=limits, previous=previous)
    near, size = tolerances(problem), problem.n_draws
    apart = ~((bound.lower <= draws.upper + near) & (bound.upper >= draws.lower - near))
    if apart.any():
        draw = int(apart.argmax())
        text = (
            f"{apart.sum()} of {size} disagree; draw {draw} has Q from {bound.lower[draw]:.6g} to "
            f"{bound.upper[draw]:.6g} in the file, and from {draws.lower[draw]:.6g} to {draws.upper[draw]:.6g} here"
        )
        return Check(name, False, text)
    n_open = int((~draws.certified).sum())
    left = f"; {n_open} of them only up to bounds" if n_open else ""
    return Check(name, True, f"{size} solved here, all within their bounds in the file{left}")


def check_interval(bound: SavedBound, confidence_level: float) -> Iterator[Check]:
    """Recompute the quantile of the upper bounds and the limits, and compare them exactly."""
    intervals = bound.intervals
    largest = bound.upper.reshape(len(intervals), -1).max(axis=0)
    q = inverted_cdf_quantile(largest, confidence_level)
    name, wrong = f"half-width{_of(bound)}", ""
    for interval in intervals:
        expected = interval.metric.scale * q if len(intervals) > 1 else q
        if interval.q != expected:
            wrong = f"the file has {interval.q!r}, but the quantile of its draws is {expected!r}"
    yield Check(name, not wrong, wrong or f"q = {q:.6g} is exactly the quantile of the draws")
    wrong = ""
    for interval in reversed(intervals):
        limits = cud_limits(interval.estimate, interval.q).clipped(*interval.metric.range)
        if limits != (interval.low, interval.high):
            written = f"{interval.low!r} to {interval.high!r}"
            wrong = f"the file has {written}, but they are {limits.low!r} to {limits.high!r}"
    text = ", ".join(f"{interval.low:.6g} to {interval.high:.6g}" for interval in intervals)
    text = f"{text} are exactly estimate and half-width"
    yield Check(f"limits{_of(bound)}", not wrong, wrong or text)


def _of(bound: SavedBound) -> str:
    """Return the metrics of a bound, for the names of checks; empty for the error."""
    names = [interval.metric.name for interval in bound.intervals]
    return "" if names == ["error"] else f" of {' and '.join(names)}"
