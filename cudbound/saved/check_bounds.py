"""Checks of the CUD bounds in a saved result: witnesses, draws solved again, quantile and limits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.proportions import inverted_cdf_quantile
from cudbound.basis.validation import check_localization
from cudbound.bound.joint import joint_problem, search_joint
from cudbound.intervals.cud import cud_limits
from cudbound.metrics.metric import MetricRows
from cudbound.problem.problem import AdditiveModel, Problem
from cudbound.saved.saved_file import SavedBound, SavedQuestion, SavedResult
from cudbound.saved.verification import Check
from cudbound.saved.witness_values import tolerances, witness_values
from cudbound.solve.limits import SearchLimits, default_node_budget
from cudbound.solve.minimum import draws_problem
from cudbound.solve.solve_draws import Search, solve_draws

#: How far estimates may be apart: sums of a few hundred terms, in whatever order a machine adds them.
ESTIMATE = 1e-12


def check_on_data(
    bound: SavedBound,
    saved: SavedResult,
    model: AdditiveModel,
    event: NDArray[np.bool_],
    sample_weight: NDArray[np.float64] | None,
    size: int | None,
    rng: np.random.Generator,
    n_jobs: int | None,
) -> Iterator[Check]:
    """Check a bound on the data: `size` draws, chosen at random, are solved again; None means all draws."""
    question = saved.question
    seen = [MetricRows(one.metric, event, sample_weight) for one in bound.intervals]
    rate = check_localization(question.bound.localization, event.size)
    if len(seen) > 1:
        problem = joint_problem(model, saved.counts, seen, rate)
    else:
        problem = draws_problem(model, saved.counts, rate, seen[0].score_weights(saved.counts))
    yield _check_estimate(bound, seen, model.training_errors)
    yield _check_witnesses(bound, problem)
    n = problem.n_draws
    chosen = None if size is None else np.sort(rng.choice(n, min(size, n), replace=False))
    yield _check_draws(bound, problem, question, chosen, n_jobs)


def _check_estimate(bound: SavedBound, seen: list[MetricRows], wrong: NDArray[np.bool_]) -> Check:
    """Recompute the metrics of the classifier on its training set."""
    name = f"training value{_of(bound)}"
    for rows, one in zip(seen, bound.intervals, strict=True):
        value = rows.value(wrong)
        if not abs(value - one.estimate) <= ESTIMATE * max(1.0, one.metric.scale):
            return Check(name, False, f"it is {value:.6g}, but the file has {one.estimate:.6g}")
    values = ", ".join(f"{one.estimate:.6g}" for one in bound.intervals)
    return Check(name, True, f"the classifier has {values} on these rows, as in the file")


def _check_witnesses(bound: SavedBound, problem: Problem) -> Check:
    """Compare the bounds of every draw with the value of its witness: no lower bound above, no upper bound below."""
    name, lower = f"witnesses{_of(bound)}", bound.lower
    values, near = witness_values(problem, bound.witness), tolerances(problem)
    # an unknown value proves nothing but 0
    failed = np.flatnonzero(~(lower - np.nan_to_num(values, nan=0.0) <= near))
    if failed.size:
        draw = int(failed[0])
        text = (
            f"{failed.size} of {lower.size} witnesses are below their lower bounds; draw {draw} has "
            f"{lower[draw]:.6g}, but its witness has the value {values[draw]:.6g}"
        )
        return Check(name, False, text)
    failed = np.flatnonzero(~(np.fmax(values, lower) <= bound.upper + near))
    if failed.size:
        draw = int(failed[0])
        text = (
            f"{failed.size} of {lower.size} witnesses are above their upper bounds; draw {draw} has "
            f"{bound.upper[draw]:.6g}, but its witness has the value {values[draw]:.6g}"
        )
        return Check(name, False, text)
    return Check(name, True, f"{lower.size} lower bounds follow from their witnesses, to {near.max():.1g}")


def _check_draws(
    bound: SavedBound,
    problem: Problem,
    question: SavedQuestion,
    chosen: NDArray[np.intp] | None,
    n_jobs: int | None,
) -> Check:
    """Solve draws again and compare the bounds: both must allow the same Q."""
    name = f"draws solved again{_of(bound)}"
    limits = SearchLimits(solver=question.bound.limits.solver, nodes=default_node_budget(problem))
    n_draws, previous = problem.n_draws, None
    if chosen is None:
        # first as far as the quantile requires, so that the nodes are spent where they decide
        search = Search(n_jobs=n_jobs, limits=limits)
        previous = search_joint(problem, len(bound.intervals), question.confidence_level, search)
        chosen = np.arange(n_draws)
    else:
        problem = problem.select(chosen)
    draws = solve_draws(problem, n_jobs=n_jobs, limits=limits, previous=previous)
    near = tolerances(problem)
    lower, upper = bound.lower[chosen], bound.upper[chosen]
    apart = ~((lower <= draws.upper + near) & (upper >= draws.lower - near))
    if apart.any():
        place = int(apart.argmax())
        text = (
            f"{int(apart.sum())} of {chosen.size} disagree; draw {chosen[place]} has Q from {lower[place]:.6g} to "
            f"{upper[place]:.6g} in the file, and from {draws.lower[place]:.6g} to {draws.upper[place]:.6g} here"
        )
        return Check(name, False, text)
    n_open = int((~draws.certified).sum())
    left = f"; {n_open} of them only up to bounds" if n_open else ""
    of = f"of {n_draws} " if chosen.size < n_draws else ""
    return Check(name, True, f"{chosen.size} {of}solved here, all within their bounds in the file{left}")


def check_interval(bound: SavedBound, confidence_level: float) -> Iterator[Check]:
    """Recompute the quantile of the upper bounds and the limits, and compare them exactly."""
    largest = bound.upper.reshape(len(bound.intervals), -1).max(axis=0)
    q = inverted_cdf_quantile(largest, confidence_level)
    name, wrong = f"half-width{_of(bound)}", ""
    for one in bound.intervals:
        expected = one.metric.scale * q if len(bound.intervals) > 1 else q
        if one.q != expected:
            wrong = f"the file has {one.q!r}, but the quantile of its draws is {expected!r}"
    yield Check(name, not wrong, wrong or f"q = {q:.6g} is exactly the quantile of the draws")
    for one in bound.intervals:
        limits = cud_limits(one.estimate, one.q).clipped(*one.metric.range)
        if limits != (one.low, one.high):
            wrong = (
                f"the file has {one.low!r} to {one.high!r}, but they are {limits.low!r} to {limits.high!r}"
            )
            yield Check(f"limits{_of(bound)}", False, wrong)
            return
    text = ", ".join(f"{one.low:.6g} to {one.high:.6g}" for one in bound.intervals)
    yield Check(f"limits{_of(bound)}", True, f"{text} are exactly estimate and half-width")


def _of(bound: SavedBound) -> str:
    """Return the metrics of a bound, for the names of checks; empty for the error."""
    names = [one.metric.name for one in bound.intervals]
    return "" if names == ["error"] else f" of {' and '.join(names)}"
