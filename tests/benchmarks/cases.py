"""The comparisons. Each returns rows of the table."""

from __future__ import annotations

import time
from statistics import median

import numpy as np
from measure import Row, in_turns, milliseconds, peak_megabytes
from sklearn.linear_model import LinearRegression
from worlds import world, world_problem

from cudbound import LeastSquaresClassifier, cud_interval
from cudbound.solve.limits import SearchLimits
from cudbound.solve.solve_draws import solve_problem

#: Strength of the score against noise of unit variance in `worlds.world`.
SIGNAL, WEAK, NOISE = 1.0, 0.3, 0.0


def refits(quick: bool) -> list[Row]:
    """500 draws by `cud_interval` against 500 refits, and against one batch of weighted least squares."""
    rows = []
    for seed in range(1 if quick else 3):
        rows += refits_on(seed, repetitions=3 if quick else 9)
    return rows


def refits_on(seed: int, repetitions: int) -> list[Row]:
    """Run the comparison of `refits` on one data set."""
    n, p, draws = 50, 5, 500
    design, labels, _ = world(n, p, SIGNAL, seed)
    features = design[:, 1:]
    clf = LeastSquaresClassifier().fit(features, labels)
    result = cud_interval(clf, features, labels, n_resamples=draws, rng=0)
    counts = result.problem.counts

    def refit_each() -> None:
        rng = np.random.default_rng(0)
        for _ in range(draws):
            drawn = rng.integers(0, n, n)
            LinearRegression().fit(features[drawn], labels[drawn])

    def one_batch() -> None:
        products = (design[:, :, None] * design[:, None, :]).reshape(n, p * p)
        gram = (counts.astype(float) @ products).reshape(draws, p, p)
        np.linalg.solve(gram, ((counts * labels) @ design)[..., None])

    seconds = in_turns(
        {
            "cud": lambda: cud_interval(clf, features, labels, n_resamples=draws, rng=0),
            "solver": lambda: solve_problem(result.problem, ranks=475),
            "refits": refit_each,
            "batch": one_batch,
        },
        repetitions,
    )
    where = f"n={n} p={p} signal, data set {seed}"
    ratio = seconds["refits"] / seconds["cud"]
    unsolved = int(not result.certified)
    rows = [
        Row(
            "500 refits of LinearRegression / cud_interval, 500 draws",
            where,
            f"{milliseconds(seconds['refits'])} / {milliseconds(seconds['cud'])}",
            f"{ratio:.1f}",
            ">= 40",
            ratio >= 40,
            unsolved,
        )
    ]
    for side, name, aim in (("cud", "cud_interval", 25.0), ("solver", "solver alone", None)):
        floor = seconds[side] / seconds["batch"]
        rows.append(
            Row(
                f"{name}, 500 draws / one batch of 500 weighted least-squares solves",
                where,
                f"{milliseconds(seconds[side])} / {milliseconds(seconds['batch'])}",
                f"{floor:.1f}",
                "reported" if aim is None else f"<= {aim:.0f}",
                None if aim is None else floor <= aim,
            )
        )
    return rows


def reference(quick: bool) -> list[Row]:
    """The compiled solver against the branch and bound with cvxpy, draw by draw."""
    few = 2 if quick else 7
    problem = world_problem(50, 5, SIGNAL, 0, n_draws=few)
    native: list[float] = []
    slow: list[float] = []
    solve_problem(problem)
    solve_problem(world_problem(8, 2, SIGNAL, 0, n_draws=1), solver="cvxpy")  # the imports
    for draw in range(few):
        single = problem.select(draw)
        begun = time.perf_counter()
        for _ in range(20):
            ours = solve_problem(single)
        native.append((time.perf_counter() - begun) / 20)
        begun = time.perf_counter()
        theirs = solve_problem(single, solver="cvxpy")
        slow.append(time.perf_counter() - begun)
        assert abs(ours.upper[0] - theirs.upper[0]) < 1e-8
    many = world_problem(50, 5, SIGNAL, 0, n_draws=500)
    together = in_turns({"native": lambda: solve_problem(many)}, 5)["native"] / 500
    single_ratio = median(b / a for a, b in zip(native, slow, strict=True))
    ratio = median(slow) / together
    where = f"n=50 p=5 signal, median of {few} draws"
    return [
        Row(
            "cvxpy / native, one call per draw",
            where,
            f"{milliseconds(median(slow))} / {milliseconds(median(native))}",
            f"{single_ratio:.0f}",
            ">= 1000",
            single_ratio >= 1000,
        ),
        Row(
            "cvxpy / native, 500 draws in one call",
            where,
            f"{milliseconds(median(slow))} / {milliseconds(together)}",
            f"{ratio:.0f}",
            ">= 1000",
            ratio >= 1000,
        ),
    ]


def apex(quick: bool) -> list[Row]:
    """Labels that are pure noise against labels with a signal."""
    rows = []
    sets = 2 if quick else 7
    for p, aim in ((3, 10), (5, 100)):
        ratios, signals, noises, unsolved = [], [], [], 0
        for seed in range(sets):
            signal, noise = (
                world_problem(50, p, strength, seed, n_draws=500) for strength in (SIGNAL, NOISE)
            )
            sides = {
                "signal": lambda problem=signal: solve_problem(problem),
                "noise": lambda problem=noise: solve_problem(problem),
            }
            seconds = in_turns(sides, 3)
            unsolved += sum(int((~solve().certified).sum()) for solve in sides.values())
            ratios.append(seconds["noise"] / seconds["signal"])
            signals.append(seconds["signal"])
            noises.append(seconds["noise"])
        for name, value in (("median", median(ratios)), ("largest", max(ratios))):
            rows.append(
                Row(
                    f"noise / signal, 500 draws, {name} ratio",
                    f"n=50 p={p}, {sets} data sets",
                    f"{milliseconds(median(noises))} / {milliseconds(median(signals))}",
                    f"{value:.1f}",
                    f"<= {aim}",
                    value <= aim,
                    unsolved if name == "median" else 0,
                )
            )
    return rows


def large(quick: bool) -> list[Row]:
    """Time, nodes and memory of large problems, each draw by itself.

    The weak signal shows how much the time depends on the data; no aim was set for it.
    """
    rows, nodes_in_all = [], 0
    solve_problem(world_problem(1000, 5, SIGNAL, 0, n_draws=2))
    before = peak_megabytes()
    for n, p, signal, draws, aim in (
        (200, 10, SIGNAL, 100, 20.0),
        (1000, 5, SIGNAL, 100, 20.0),
        (1000, 5, WEAK, 40, None),
        (200, 20, SIGNAL, 20, None),
    ):
        problem = world_problem(n, p, signal, 0, n_draws=draws // 4 if quick else draws)
        seconds, nodes, unsolved = [], [], 0
        for draw in range(problem.n_draws):
            single = problem.select(draw)
            begun = time.perf_counter()
            result = solve_problem(single, limits=SearchLimits(seconds_per_draw=600.0))
            seconds.append(time.perf_counter() - begun)
            nodes.append(int(result.nodes[0]))
            unsolved += int(not result.certified[0])
        nodes_in_all += sum(nodes)
        share = 100.0 * (1.0 - unsolved / problem.n_draws)
        finishes = unsolved == 0
        rows.append(
            Row(
                "time per draw, median and largest",
                f"n={n} p={p} {'signal' if signal == SIGNAL else 'weak'}, {problem.n_draws} draws",
                f"nodes {int(median(nodes))} and {max(nodes)}, {share:.0f}% certified",
                f"{milliseconds(median(seconds))} and {milliseconds(max(seconds))}",
                "finishes" if aim is None else f"median < {aim:.0f} ms, all certified",
                finishes if aim is None else finishes and 1e3 * median(seconds) < aim,
                unsolved,
            )
        )
    growth = peak_megabytes() - before
    rows.append(
        Row(
            "growth of the peak memory over these",
            "all of the above",
            f"{nodes_in_all} nodes, peak {peak_megabytes():.0f} MB",
            f"{growth:.1f} MB",
            "megabytes",
            growth < 32.0,
        )
    )
    return rows


CASES = (refits, reference, apex, large)
