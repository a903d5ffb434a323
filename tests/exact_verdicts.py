"""Answers of the solver to the nasty draws, judged in exact arithmetic, in processes that may hang.

Run as a script it prints how many draws of each family were judged wrong:
``python tests/exact_verdicts.py 100`` for 100 seeds a family, further arguments name families.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from multiprocessing.connection import Connection

import numpy as np
from exact_oracle import ExactDraw, score_weights
from nasty_draws import FAMILIES, make, side_of

from cudbound.problem import Problem
from cudbound.results import Draws, SolveStatus
from cudbound.solve import solve_problem

#: Bounds may be wrong by this: losses and scores are rounded.
TOLERANCE = 1e-9
#: Seconds without an answer, of a search that may take `NODE_LIMIT` nodes (some milliseconds), that count as hanging.
PATIENCE = 5.0
NODE_LIMIT = 20_000
#: A row is on the right side of a witness for certain if its score exceeds the rounding of the sum of its terms.
ROUNDING = 4 * np.finfo(float).eps


def faults(problem: Problem, draws: Draws, draw: int, side: str) -> list[str]:
    """Return what is wrong with the answer to one draw, as words: "too small", "overclaimed", ..."""
    exact = ExactDraw(problem, draw)
    lower, upper = float(draws.lower[draw]), float(draws.upper[draw])
    found = []
    if not lower <= upper:
        found.append("crossed")
    if exact.exceeds(upper + TOLERANCE, side) is not None:
        found.append("too small")
    # at alpha = inf a loss that equals the anchor's to rounding counts
    slack = Fraction(TOLERANCE) * max(1, exact.anchor) if problem.alpha == np.inf else Fraction(0)
    if lower > TOLERANCE and exact.exceeds(lower - TOLERANCE, side, slack=slack) is None:
        found.append("overclaimed")
    if draws.status[draw] == SolveStatus.OPTIMAL:
        if upper > lower + TOLERANCE:
            found.append("open")
        found += witness_faults(problem, exact, draws.witness[draw], lower, side)
    return found


def witness_faults(
    problem: Problem, exact: ExactDraw, witness: np.ndarray, lower: float, side: str
) -> list[str]:
    """Return what is wrong with a witness in plain floating point on the raw columns."""
    if not np.isfinite(witness).all():
        return ["witness not finite"]
    scores = problem.design @ witness
    certain = ROUNDING * problem.design.shape[1] * (np.abs(problem.design) @ np.abs(witness))
    counting = [i for rows in exact.arrangement.rows for i in rows]
    if not (np.abs(scores[counting]) > certain[counting]).all():
        return ["witness on a hyperplane"]
    signed = exact.arrangement.constant / exact.arrangement.unit
    weights = score_weights(problem, exact.draw)
    signed += sum(float(weights[i]) * (np.sign(scores[i]) != problem.labels[i]) for i in counting)
    # rows that lie together on a hyperplane without effect are in the constant
    score = {"both": abs(signed), "positive": max(signed, 0.0), "negative": max(-signed, 0.0)}[side]
    anchor, at_witness = problem.mean_loss(exact.draw, problem.coef), problem.mean_loss(exact.draw, witness)
    if problem.alpha == np.inf:
        value = score * (at_witness <= anchor + TOLERANCE * max(1.0, anchor))
    else:
        value = score * min(max(1.0 + problem.alpha * (anchor - at_witness), 0.0), 1.0)
    return ["witness short"] if not value >= lower - TOLERANCE else []


def judge(family: str, seeds: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """Return counts of draws and faults of some seeds of a family, and where the faults are."""
    todo = list(seeds)
    counts: Counter[str] = Counter()
    where: list[str] = []
    while todo:
        ours, theirs = multiprocessing.get_context("fork").Pipe()
        worker = multiprocessing.get_context("fork").Process(target=_work, args=(theirs, family, todo))
        worker.start()
        theirs.close()
        while todo:
            try:
                if not ours.poll(PATIENCE):
                    counts["hung"] += 1
                    where.append(f"{family} seed {todo.pop(0)}: hung")
                    break
                some, at = ours.recv()
            except EOFError:
                counts["crashed"] += 1
                where.append(f"{family} seed {todo.pop(0)}: crashed")
                break
            counts += some
            where += at
            del todo[0]
        worker.kill()
        worker.join()
    return counts, where


def _work(pipe: Connection, family: str, seeds: list[int]) -> None:
    for seed in seeds:
        counts: Counter[str] = Counter()
        where: list[str] = []
        problem, side = make(family, seed), side_of(seed)
        draws = solve_problem(problem, side=side, node_limit=NODE_LIMIT)
        for draw in range(problem.n_draws):
            counts["draws"] += 1
            counts[SolveStatus(draws.status[draw]).name] += 1
            for fault in faults(problem, draws, draw, side):
                counts[fault] += 1
                where.append(f"{family} seed {seed} draw {draw}: {fault}")
        pipe.send((counts, where))
    pipe.close()


def main(arguments: list[str]) -> None:
    """Print one line a family, and the first faults."""
    for family in arguments[1:] or FAMILIES:
        counts, where = judge(family, range(int(arguments[0])))
        print(f"{family:22}", ", ".join(f"{name} {count}" for name, count in counts.items()), flush=True)
        for line in where[:3]:
            print("   ", line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
