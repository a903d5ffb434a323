"""How the cost of the search for the quantile grows with n and p: rows of the table, and a picture of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from directed import DRAWS, NAMES, NOISE, RANK, SIGNAL, STRONG, found, quantile
from measure import Row, milliseconds
from worlds import world_problem

from cudbound.problem.problem import Problem

ROWS = (20, 50, 100, 200, 500, 1000)
COLUMNS = (2, 3, 5, 7, 10, 15, 20)
AT_ROWS, AT_COLUMNS = 100, 5
LIMIT = 10.0


@dataclass(frozen=True)
class Point:
    """The processor time of one search, and of the least that any bootstrap must pay."""

    n: int
    p: int
    signal: float
    seconds: float
    refits: float
    nodes: int
    proved: bool
    shown: str


def refits(problem: Problem) -> float:
    """Return the processor time of all weighted least-squares fits in one numpy batch."""
    X, y, counts = problem.design, problem.labels, problem.counts.astype(float)
    begun = time.process_time()
    gram = np.einsum("bi,ij,ik->bjk", counts, X, X, optimize=True)
    np.linalg.pinv(gram, hermitian=True) @ ((counts * y) @ X)[..., None]
    return time.process_time() - begun


def measure(quick: bool) -> list[Point]:
    """Search 500 draws for q at every n with p = 5, and at every p with n = 100."""
    shapes = [(n, AT_COLUMNS) for n in ROWS] + [(AT_ROWS, p) for p in COLUMNS if p != AT_COLUMNS]
    points = []
    for signal in (STRONG, SIGNAL, NOISE):
        for n, p in shapes[::3] if quick else shapes:
            problem = world_problem(n, p, signal, 0, n_draws=DRAWS)
            floor = min(refits(problem) for _ in range(3))
            draws, seconds = quantile(problem, 1.0 if quick else LIMIT)
            low, high = draws.bracket(RANK)
            points.append(
                Point(n, p, signal, seconds, floor, int(draws.nodes.sum()), low == high, found(draws))
            )
    return points


def rows(points: list[Point]) -> list[Row]:
    """Return the points as rows of the table."""
    return [
        Row(
            "cost of q of 500 draws, processor time",
            f"n={point.n} p={point.p} {NAMES[point.signal]}",
            f"{point.nodes} nodes, {point.shown}, floor {milliseconds(point.refits)}",
            milliseconds(point.seconds),
            unsolved=int(not point.proved),
        )
        for point in points
    ]


def draw(points: list[Point], path: Path) -> None:
    """Draw the curves, in n and in p, on logarithmic axes."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "cudbound", "font.size": 9})
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.2), sharey=True, layout="constrained")
    colors = {STRONG: "#0072b2", SIGNAL: "#009e73", NOISE: "#d55e00"}
    for ax, fixed, along in ((axes[0], "p", "n"), (axes[1], "n", "p")):
        at = AT_COLUMNS if fixed == "p" else AT_ROWS
        here = sorted((x for x in points if getattr(x, fixed) == at), key=lambda x: getattr(x, along))
        for signal, color in colors.items():
            curve = [point for point in here if point.signal == signal]
            x = [getattr(point, along) for point in curve]
            ax.plot(x, [point.seconds for point in curve], color=color, label=NAMES[signal])
            for filled in (True, False):
                chosen = [point for point in curve if point.proved == filled]
                ax.plot(
                    [getattr(point, along) for point in chosen],
                    [point.seconds for point in chosen],
                    "o",
                    color=color,
                    markerfacecolor=color if filled else "white",
                )
        floor = [point for point in here if point.signal == STRONG]
        ax.plot(
            [getattr(point, along) for point in floor],
            [point.refits for point in floor],
            color="gray",
            linestyle="--",
            label="500 refits, numpy",
        )
        ax.set(xscale="log", yscale="log", xlabel=f"{along} ({fixed} = {at})")
        ticks = ROWS if along == "n" else COLUMNS
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.minorticks_off()
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("processor time, seconds")
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(path, metadata={"Date": None})
