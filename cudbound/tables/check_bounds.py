"""Checks of the CUD bounds in a saved result: witnesses, draws solved again, the quantile and the limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.audit.saved_result import SavedBound, SavedResult
from cudbound.audit.witness_values import tolerances, witness_values
from cudbound.bound.joint import search_joint
from cudbound.bound.saved_bounds import bound_problem
from cudbound.intervals.cud import cud_limits
from cudbound.metrics.metric import MetricRows
from cudbound.problem.additive_model import AdditiveModel
from cudbound.problem.problem import Problem
from cudbound.quantiles import inverted_cdf_quantile
from cudbound.results import Draws
from cudbound.solve.effort import default_node_budget
from cudbound.solve.limits import SearchLimits
from cudbound.solve.search import Search
from cudbound.solve.solve_draws import solve_problem
from cudbound.tables.verification import Check

Array = NDArray[np.float64]

#: How far estimates may be apart: sums of a few hundred terms, in whatever order a machine adds them.
ESTIMATE = 1e-12


@dataclass(frozen=True, eq=False)
class Choice:
    """Which draws are solved again: as many as `size`, chosen at random, or all of them."""

    size: int | None
    rng: np.random.Generator

    def of(self, n_draws: int) -> NDArray[np.intp] | None:
        """Return numbers of draws in ascending order, or None for all."""
        if self.size is None:
            return None
        return np.sort(self.rng.choice(n_draws, min(self.size, n_draws), replace=False))


@dataclass(frozen=True, eq=False)
class BoundOnData:
    """A saved bound together with the problem that it is of, on the data again.

    Attributes
    ----------
    bound : SavedBound
    problem : Problem
    seen : tuple of MetricRows
    name : str
        Of its metrics, for the names of checks; empty for the plain error.
    """

    bound: SavedBound
    problem: Problem
    seen: tuple[MetricRows, ...]
    name: str

    @classmethod
    def of(
        cls,
        bound: SavedBound,
        saved: SavedResult,
        model: AdditiveModel,
        event: NDArray[np.bool_],
        sample_weight: Array | None,
    ) -> BoundOnData:
        """Put a bound of a saved result on the data; raises ValueError where its draws cannot be of its metric."""
        seen = tuple(MetricRows(one.metric.metric, event, sample_weight) for one in bound.intervals)
        if any(one.lacking(saved.counts).any() for one in seen):
            raise ValueError("a draw holds no row of a class that counts")
        problem = bound_problem(model, saved.counts, seen, saved.settings.localization)
        return cls(bound, problem, seen, name_of(bound))

    @property
    def tolerances(self) -> Array:
        """How far numbers of each draw may be from those of another machine."""
        return tolerances(self.problem)


def name_of(bound: SavedBound) -> str:
    """Return the metrics of a bound in words; nothing for the error."""
    names = [one.metric.name for one in bound.intervals]
    return "" if names == ["error"] else f" of {' and '.join(names)}"


def check_estimate(one: BoundOnData, wrong: NDArray[np.bool_]) -> Check:
    """Compute the metrics of the classifier on its training set again."""
    name = f"training value{one.name}"
    for seen, interval in zip(one.seen, one.bound.intervals, strict=True):
        value = seen.value(wrong)
        if not abs(value - interval.estimate) <= ESTIMATE * max(1.0, seen.metric.scale):
            return Check(name, False, f"it is {value:.6g}, and the file has {interval.estimate:.6g}")
    values = ", ".join(f"{interval.estimate:.6g}" for interval in one.bound.intervals)
    return Check(name, True, f"the classifier has {values} on these rows, as in the file")


def check_witnesses(one: BoundOnData) -> Check:
    """Compare every lower bound with what its witness is worth."""
    lower = one.bound.lower
    values = witness_values(one.problem, one.bound.witness)
    # an unknown value proves nothing but 0
    missing = lower - np.nan_to_num(values, nan=0.0)
    failed = np.flatnonzero(missing > one.tolerances)
    if failed.size:
        draw = int(failed[0])
        return Check(
            f"witnesses{one.name}",
            False,
            f"{failed.size} of {lower.size} are not worth their lower bounds; draw {draw} has {lower[draw]:.6g}, and "
            f"its witness is worth {values[draw]:.6g}",
        )
    return Check(
        f"witnesses{one.name}",
        True,
        f"{lower.size} lower bounds follow from their witnesses, to {one.tolerances.max():.1g}",
    )


def check_again(
    one: BoundOnData, saved: SavedResult, choice: Choice, n_jobs: int | None
) -> tuple[Check, Draws | None]:
    """Solve draws again and compare the bounds; return all draws as solved, None if only some were chosen."""
    draws, limits = None, SearchLimits(nodes=default_node_budget(one.problem))
    chosen = choice.of(one.problem.n_draws)
    problem, numbers = one.problem, np.arange(one.problem.n_draws)
    solver = saved.settings.solver
    if chosen is None:
        search = Search(solver=solver, n_jobs=n_jobs, limits=limits)
        level = saved.settings.confidence_level
        draws = search_joint(problem, len(one.seen), level, search, False)
    else:
        problem, numbers = problem.select(chosen), chosen
    draws = solve_problem(
        problem, solver=solver, n_jobs=n_jobs, limits=limits, progress=False, previous=draws
    )
    near = one.tolerances[numbers]
    lower, upper = one.bound.lower[numbers], one.bound.upper[numbers]
    apart = (lower > draws.upper + near) | (upper < draws.lower - near)
    claimed = np.array([one.bound.status[number] == "optimal" for number in numbers], dtype=bool)
    apart |= claimed & (upper - lower > near)
    name = f"draws solved again{one.name}"
    if apart.any():
        place = int(apart.argmax())
        found = (
            f"{int(apart.sum())} of {numbers.size} do not fit; draw {numbers[place]} has Q from {lower[place]:.6g} to "
            f"{upper[place]:.6g} in the file, and from {draws.lower[place]:.6g} to {draws.upper[place]:.6g} here"
        )
        return Check(name, False, found), None if chosen is not None else draws
    n_open = int((~draws.certified).sum())
    left = f"; {n_open} of them only to bounds" if n_open else ""
    of = f"of {one.problem.n_draws} " if chosen is not None else ""
    found = f"{numbers.size} {of}solved here, all within their bounds in the file{left}"
    return Check(name, True, found), None if chosen is not None else draws


def check_quantile(bound: SavedBound, saved: SavedResult) -> Check:
    """Take the quantile of the upper bounds again, to the bit."""
    q = _quantile(bound.upper, bound, saved)
    for interval in bound.intervals:
        expected = interval.metric.metric.scale * q if len(bound.intervals) > 1 else q
        if interval.q != expected:
            return Check(
                f"half-width{name_of(bound)}",
                False,
                f"the file has {interval.q!r}, and the quantile of its draws is {expected!r}",
            )
    return Check(f"half-width{name_of(bound)}", True, f"q = {q:.6g} is the quantile of the draws, to the bit")


def check_quantile_again(one: BoundOnData, saved: SavedResult, draws: Draws) -> Check:
    """Compare the quantile with that of the draws that were solved again."""
    q = _quantile(one.bound.upper, one.bound, saved)
    least = _quantile(one.bound.lower, one.bound, saved)
    low, high = (_quantile(values, one.bound, saved) for values in (draws.lower, draws.upper))
    near = float(one.tolerances.max())
    here = f"{low:.6g}" if low == high else f"from {low:.6g} to {high:.6g}"
    name = f"half-width again{one.name}"
    if least > high + near or q < low - near:
        return Check(name, False, f"the quantile is {here} here, and {q:.6g} in the file")
    return Check(name, True, f"the quantile is {here} here, and {q:.6g} in the file")


def check_limits(bound: SavedBound) -> Check:
    """Compute the limits from estimate and half-width again, to the bit."""
    name = f"limits{name_of(bound)}"
    for one in bound.intervals:
        limits = cud_limits(one.estimate, one.q).clipped(0.0, one.metric.metric.scale)
        if limits != (one.low, one.high):
            found = (
                f"the file has {one.low!r} to {one.high!r}, and they are {limits.low!r} to {limits.high!r}"
            )
            return Check(name, False, found)
    text = ", ".join(f"{one.low:.6g} to {one.high:.6g}" for one in bound.intervals)
    return Check(name, True, f"{text} are estimate and half-width, to the bit")


def _quantile(values: Array, bound: SavedBound, saved: SavedResult) -> float:
    """Return the quantile, over the draws, of the largest value over the metrics."""
    largest = values.reshape(len(bound.intervals), -1).max(axis=0)
    return inverted_cdf_quantile(largest, saved.settings.confidence_level)
