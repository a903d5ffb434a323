"""The search for the quantile that an interval needs. Each returns rows of the table.

Nodes are those of 500 draws and the .95 quantile; `tests/solve/test_directed.py` pins them.
"""

from __future__ import annotations

import time
import warnings

from measure import Row, in_turns, milliseconds
from worlds import world, world_problem

from cudbound import LeastSquaresClassifier, cud_interval
from cudbound.basis.exceptions import NotCertifiedWarning
from cudbound.problem.draws import Draws
from cudbound.problem.problem import Problem
from cudbound.solve.search import SearchLimits, solve_draws

DRAWS, RANK = 500, 475
STRONG, SIGNAL, NOISE = 3.0, 1.0, 0.0
NAMES = {STRONG: "signal 3", SIGNAL: "signal 1", NOISE: "noise"}


def quantile(problem: Problem, seconds: float | None = None) -> tuple[Draws, float]:
    """Search for the quantile; return the draws and the processor time."""
    begun = time.process_time()
    draws = solve_draws(problem, ranks=RANK, limits=SearchLimits(seconds=seconds))
    return draws, time.process_time() - begun


def found(draws: Draws) -> str:
    """Return q, or what it is proved to lie between."""
    low, high = draws.bracket(RANK)
    return f"q {high:.4f}" if low == high else f"q in [{low:.4f}, {high:.4f}]"


def nodes(quick: bool) -> list[Row]:
    """Nodes without a limit, beside those of every draw."""
    rows = []
    for n, p, signal, most in (
        (50, 5, SIGNAL, 12_000),
        (200, 5, SIGNAL, 80_000),
        (200, 10, STRONG, 70_000),
        (1000, 5, STRONG, 42_000),
    ):
        problem = world_problem(n, p, signal, 0, n_draws=DRAWS)
        draws, seconds = quantile(problem)
        total = int(draws.nodes.sum())
        every = "" if quick else f" (every draw: {solve_draws(problem).nodes.sum()})"
        rows.append(
            Row(
                "nodes of 500 draws, quantile",
                f"n={n} p={p} {NAMES[signal]}",
                f"{milliseconds(seconds)}, {found(draws)}",
                f"{total}{every}",
                f"<= {most}",
                total <= most,
            )
        )
    return rows


def default_call(quick: bool) -> list[Row]:
    """The default call where it cannot prove q: the budget must end it."""
    rows = []
    for n, p in ((200, 10),) if quick else ((200, 10), (200, 30), (1000, 20)):
        design, labels, _ = world(n, p, NOISE, 0)
        clf = LeastSquaresClassifier().fit(design[:, 1:], labels)
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            result = cud_interval(clf, design[:, 1:], labels, rng=0)
        seconds = time.process_time() - begun
        rows.append(
            Row(
                "cud_interval with its default budget, processor time",
                f"n={n} p={p} noise, 1000 draws",
                f"{int(result.draws.nodes.sum())} nodes, q in [{result.q_lower:.4f}, {result.q:.4f}]",
                f"{seconds:.1f} s",
                "<= 20 s",
                seconds <= 20.0,
            )
        )
    return rows


def small(quick: bool) -> list[Row]:
    """The quantile against every draw where both are cheap: the set-up is paid two or three times."""
    rows = []
    for n, p, signal in ((50, 3, STRONG), (50, 5, STRONG), (200, 3, STRONG)):
        problem = world_problem(n, p, signal, 0, n_draws=DRAWS)
        seconds = in_turns(
            {
                "quantile": lambda problem=problem: solve_draws(problem, ranks=RANK),
                "every": lambda problem=problem: solve_draws(problem),
            },
            3 if quick else 15,
        )
        ratio = seconds["quantile"] / seconds["every"]
        rows.append(
            Row(
                "quantile / every draw, 500 draws",
                f"n={n} p={p} {NAMES[signal]}",
                f"{milliseconds(seconds['quantile'])} / {milliseconds(seconds['every'])}",
                f"{ratio:.2f}",
                "<= 1",
                ratio <= 1.0,
            )
        )
    return rows


CASES = (nodes, default_call, small)
