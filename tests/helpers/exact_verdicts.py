"""Answers of the solver to the nasty draws, judged in exact arithmetic, in processes that may hang."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np
from exact_oracle import ExactCell, ExactDraw, score_weights
from nasty_draws import make, side_of
from watched import Watched

from cudbound.problem.draws import Draws, SolveStatus
from cudbound.problem.problem import Problem
from cudbound.solve.search import SearchLimits, solve_draws

#: Bounds may be wrong by this, times the largest score if that is above 1: losses and scores are rounded.
TOLERANCE = 1e-9
#: Some milliseconds.
NODE_LIMIT = 20_000
#: A row is on the right side of a witness for certain if its score exceeds the rounding of the sum of its terms.
ROUNDING = 4 * np.finfo(float).eps


#: Some floating-point coefficients are worth more than `upper`; or only rational ones, because the cell that the search
#: found first has no point where the scores of all rows exceed their rounding errors.
TOO_SMALL, TOO_SMALL_EXACTLY = "too small", "too small in rational numbers alone"


@dataclass(frozen=True)
class Verdicts:
    """How many draws, statuses and faults there were, and a line for each fault."""

    counts: Counter[str]
    where: list[str]


def faults(problem: Problem, draws: Draws, draw: int, side: str) -> list[str]:
    """Return what is wrong with the answer to one draw, as words: "too small", "overclaimed", ..."""
    exact = ExactDraw(problem, draw)
    tolerance = TOLERANCE * max(1.0, float(exact.largest_score))
    lower, upper = float(draws.lower[draw]), float(draws.upper[draw])
    found = []
    if not lower <= upper:
        found.append("crossed")
    missed = exact.exceeds(upper + tolerance, side)
    if missed is not None:
        real = in_double_precision(exact, missed, upper + tolerance, side)
        found.append(
            f"{TOO_SMALL if real else TOO_SMALL_EXACTLY} by a cell of width {width(exact, missed):.0e}"
        )
    # at localization = inf a loss that equals the anchor's to rounding counts
    slack = Fraction(TOLERANCE) * max(1, exact.anchor) if problem.localization == np.inf else Fraction(0)
    if lower > tolerance and exact.exceeds(lower - tolerance, side, slack=slack) is None:
        found.append("overclaimed")
    if draws.status[draw] == SolveStatus.OPTIMAL:
        if upper > lower + tolerance:
            found.append("open")
        if lower > tolerance:  # a value of 0 needs no witness
            found += witness_faults(problem, exact, draws.witness[draw], lower - tolerance, side)
    return found


def width(exact: ExactDraw, cell: ExactCell) -> float:
    """Return about the largest margin |x_i'b| / sum_j |x_ij b_j| that all rows that count have in the cell."""
    deep = exact.quadratic.coefficients(exact.arrangement.interior(cell.up))
    counting = [i for plane in exact.arrangement.hyperplanes for i, _ in plane.rows]
    margins = []
    for row in exact.problem.design[counting].tolist():
        terms = [Fraction(x) * b for x, b in zip(row, deep, strict=True)]
        margins.append(float(abs(sum(terms)) / sum(map(abs, terms))))
    return min(margins, default=1.0)


def in_double_precision(exact: ExactDraw, cell: ExactCell, bound: float, side: str) -> bool:
    """Whether floating-point coefficients in the cell whose scores exceed their rounding are worth more."""
    for coef in islice(exact.approach(cell), 40):
        rounded = np.array([float(value) for value in coef])
        if not uncertain_rows(exact, rounded) and exact.at(rounded.tolist(), side)[0] > bound:
            return True
    return False


def uncertain_rows(exact: ExactDraw, coef: np.ndarray) -> list[int]:
    """Return the rows that count whose scores do not exceed what their rounding may be."""
    design = exact.problem.design
    scores = design @ coef
    rounding = ROUNDING * design.shape[1] * (np.abs(design) @ np.abs(coef))
    return [
        i
        for plane in exact.arrangement.hyperplanes
        for i, _ in plane.rows
        if not abs(scores[i]) > rounding[i]
    ]


def witness_faults(
    problem: Problem, exact: ExactDraw, witness: np.ndarray, least: float, side: str
) -> list[str]:
    """Return what is wrong with a witness, to be worth `least`, in plain floating point on the raw columns."""
    if not np.isfinite(witness).all():
        return ["witness not finite"]
    if uncertain_rows(exact, witness):
        return ["witness on a hyperplane"]
    scores = problem.design @ witness
    counting = [i for plane in exact.arrangement.hyperplanes for i, _ in plane.rows]
    signed = exact.arrangement.constant / exact.arrangement.unit
    weights = score_weights(problem, exact.draw)
    signed += sum(float(weights[i]) * (np.sign(scores[i]) != problem.labels[i]) for i in counting)
    # rows that lie together on a hyperplane without effect are in the constant
    score = {"both": abs(signed), "positive": max(signed, 0.0), "negative": max(-signed, 0.0)}[side]
    anchor, at_witness = problem.mean_loss(exact.draw, problem.coef), problem.mean_loss(exact.draw, witness)
    if problem.localization == np.inf:
        value = score * (at_witness <= anchor + TOLERANCE * max(1.0, anchor))
    else:
        value = score * min(max(1.0 + problem.localization * (anchor - at_witness), 0.0), 1.0)
    return ["witness short"] if not value >= least else []


def judge(processes: Watched, family: str, seeds: Iterable[int]) -> Verdicts:
    """Return counts of draws and faults of some seeds of a family, and where the faults are."""
    verdicts = Verdicts(Counter(), [])
    for answer in processes.run(judge_seed, ((family, seed) for seed in seeds)):
        some = answer.result
        if answer.fault:
            some = Verdicts(Counter([answer.fault]), [f"{family} seed {answer.job[1]}: {answer.fault}"])
        verdicts.counts.update(some.counts)
        verdicts.where.extend(some.where)
    return verdicts


def judge_seed(job: tuple[str, int]) -> Verdicts:
    """Solve and judge the problem of a family and seed."""
    family, seed = job
    verdicts = Verdicts(Counter(), [])
    problem, side = make(family, seed), side_of(seed)
    draws = solve_draws(problem, side=side, limits=SearchLimits(nodes_per_draw=NODE_LIMIT))
    for draw in range(problem.n_draws):
        verdicts.counts["draws"] += 1
        verdicts.counts[SolveStatus(draws.status[draw]).name] += 1
        for fault in faults(problem, draws, draw, side):
            verdicts.counts[fault.partition(" by a cell")[0]] += 1
            verdicts.where.append(f"{family} seed {seed} draw {draw}: {fault}")
    return verdicts
