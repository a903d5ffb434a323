"""The comparisons of all losses. Each returns rows of the table.

Penalized problems have the strengths of scikit-learn's ``C=1``, 1 / (2 n) beside the mean loss, with a free intercept.
What is not measured in turns is processor time, which a shared machine changes less than the time on the clock.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from measure import Row, in_turns, milliseconds
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.svm import SVC, LinearSVC
from worlds import surrogate_problem, world, world_problem

from cudbound import Bound, LeastSquaresClassifier, cud_interval
from cudbound.adapters import to_additive_model
from cudbound.losses.surrogates import LOSSES
from cudbound.problem.draws import Draws, draw_counts
from cudbound.problem.problem import Problem
from cudbound.solve.native import minimize
from cudbound.solve.search import SearchLimits, solve_draws

SIGNAL, NOISE = 1.0, 0.0


@dataclass(frozen=True)
class Refitted:
    """An estimator with its default settings but for the loss, and what is aimed at."""

    name: str
    estimator: Any
    polish: bool  # whether it stops too early for its coefficients to be taken as they are
    most: float | None  # cost of the bound in units of 500 refits
    peer: Any = None  # what is refitted in its place


REFITTED = (
    Refitted("LinearRegression()", LeastSquaresClassifier(), False, 0.025, LinearRegression()),
    Refitted("LogisticRegression()", LogisticRegression(), False, 2.0),
    Refitted("LinearSVC()", LinearSVC(), False, 5.0),
    Refitted("LinearSVC(loss='hinge')", LinearSVC(loss="hinge"), True, 5.0),
    Refitted("SVC(kernel='linear')", SVC(kernel="linear"), True, None),
)
#: Refits that are timed; 500 take `PER_REFITS` times as long.
REFITS, PER_REFITS = 100, 5
LIMITED = SearchLimits(nodes_per_draw=20_000)


def surrogate_refits(quick: bool) -> list[Row]:
    """500 draws by `cud_interval` against 500 refits of the same estimator."""
    rows = []
    for refitted in REFITTED:
        for seed in range(1 if quick else 3):
            rows.append(refits_on(refitted, seed, repetitions=1 if quick else 3))
    return rows


def refits_on(refitted: Refitted, seed: int, repetitions: int) -> Row:
    """Run the comparison of `surrogate_refits` on one data set."""
    n, p, draws = 50, 5, 500
    design, labels, _ = world(n, p, SIGNAL, seed)
    features = design[:, 1:]
    with warnings.catch_warnings():
        # with its default settings LinearSVC(loss="hinge") stops before it has converged
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf = clone(refitted.estimator).fit(features, labels)

        def bound() -> Any:
            return cud_interval(
                clf, features, labels, n_resamples=draws, rng=0, bound=Bound(polish=refitted.polish)
            )

        def refit_each() -> None:
            rng = np.random.default_rng(0)
            fresh = clone(refitted.peer or refitted.estimator)
            for _ in range(REFITS):
                drawn = rng.integers(0, n, n)
                fresh.fit(features[drawn], labels[drawn])

        seconds = in_turns({"cud": bound, "refits": refit_each}, repetitions)
    cost = seconds["cud"] / (PER_REFITS * seconds["refits"])
    return Row(
        f"cud_interval, 500 draws / 500 refits of {refitted.name}",
        f"n={n} p={p} signal, data set {seed}",
        f"{milliseconds(seconds['cud'])} / {milliseconds(PER_REFITS * seconds['refits'])}",
        f"{cost:.2g}",
        "reported" if refitted.most is None else f"<= {refitted.most:g}",
        None if refitted.most is None else cost <= refitted.most,
        int(not bound().certified),
    )


def unsolved(draws: Draws) -> int:
    """Return the number of draws that are not certified."""
    return int((~draws.certified).sum())


def one_by_one(problem: Problem, **limits: Any) -> tuple[list[float], list[int], int]:
    """Solve each draw by itself; return the seconds and nodes of each and the number left unsolved."""
    seconds, nodes, left = [], [], 0
    for draw in range(problem.n_draws):
        single = problem.select(draw)
        begun = time.process_time()
        draws = solve_draws(single, limits=SearchLimits(**limits))
        seconds.append(time.process_time() - begun)
        nodes.append(int(draws.nodes[0]))
        left += unsolved(draws)
    return seconds, nodes, left


def large_row(where: str, problem: Problem, aim: float | None, **limits: Any) -> Row:
    """Return median and largest time per draw; `aim` in milliseconds for the median, with all draws certified."""
    seconds, nodes, left = one_by_one(problem, **limits)
    share = 100.0 * (1.0 - left / problem.n_draws)
    return Row(
        f"time per draw, median and largest: {problem.loss.name}",
        f"{where}, {problem.n_draws} draws",
        f"nodes {int(median(nodes))} and {max(nodes)}, {share:.0f}% certified",
        f"{milliseconds(median(seconds))} and {milliseconds(max(seconds))}",
        "reported" if aim is None else f"median < {aim:.0f} ms, all certified",
        None if aim is None else left == 0 and 1e3 * median(seconds) < aim,
        left,
    )


def surrogate_large(quick: bool) -> list[Row]:
    """Squared loss at two sizes; logistic loss at n=200 and p=10, unpenalized with a limit on nodes."""
    draws = 6 if quick else 60
    squares = [
        (f"n={n} p={p} signal", world_problem(n, p, SIGNAL, 0, n_draws=draws))
        for n, p in ((200, 10), (1000, 5))
    ]
    penalized, free = (
        surrogate_problem(200, 10, SIGNAL, 0, n_draws=draws, loss="logistic", c=c) for c in (1.0, None)
    )
    return [
        *(large_row(where, problem, 20.0) for where, problem in squares),
        large_row("n=200 p=10 signal, C=1", penalized, 100.0),
        large_row("n=200 p=10 signal, unpenalized, 20000 nodes", free, None, nodes_per_draw=20_000),
    ]


def surrogate_reference(quick: bool) -> list[Row]:
    """The compiled solver against the branch and bound with cvxpy, draw by draw, for every loss."""
    few = 1 if quick else 5
    solve_draws(
        surrogate_problem(8, 2, SIGNAL, 0, n_draws=1, loss="squared", c=1.0),
        limits=SearchLimits(solver="cvxpy"),
    )  # the imports
    rows = []
    for loss in LOSSES:
        problem = surrogate_problem(30, 3, SIGNAL, 0, n_draws=few, loss=loss, c=1.0)
        ratios, native, slow = [], [], []
        for draw in range(few):
            single = problem.select(draw)
            solve_draws(single)
            begun = time.process_time()
            for _ in range(20):
                ours = solve_draws(single)
            native.append((time.process_time() - begun) / 20)
            begun = time.process_time()
            theirs = solve_draws(single, limits=SearchLimits(solver="cvxpy"))
            slow.append(time.process_time() - begun)
            ratios.append(slow[-1] / native[-1])
            assert abs(ours.upper[0] - theirs.upper[0]) < 1e-6, (loss, draw)
        rows.append(
            Row(
                f"cvxpy / native, one call per draw: {loss}",
                f"n=30 p=3 signal, C=1, median of {few} draws",
                f"{milliseconds(median(slow))} / {milliseconds(median(native))}",
                f"{median(ratios):.0f}",
                ">= 300",
                median(ratios) >= 300,
            )
        )
    return rows


def surrogate_wide(quick: bool) -> list[Row]:
    """More coefficients than rows, under the penalty of estimators as they come."""
    n, p = 40, 200
    rng = np.random.default_rng(0)
    features = rng.standard_normal((n, p))
    labels = np.where(features[:, :5].sum(axis=1) + rng.standard_normal(n) > 0.0, 1.0, -1.0)
    rows = []
    for estimator in (RidgeClassifier(), LogisticRegression(), LinearSVC()):
        clf = estimator.fit(features, labels)
        model = to_additive_model(clf, features, labels, polish=True)
        counts = draw_counts(n, 4 if quick else 20, np.random.default_rng(0))
        problem = model.problem(counts)
        rows.append(large_row(f"n={n} p={p} signal, {estimator}", problem, None, nodes_per_draw=2_000))
    return rows


def surrogate_floor(quick: bool) -> list[Row]:
    """Microseconds per draw of the search and of one minimization, which is the floor, for every loss."""
    draws = 50 if quick else 100
    rows = []
    for loss in LOSSES:
        for labels, signal in (("signal", SIGNAL), ("noise", NOISE)):
            for penalized, c in (("C=1", 1.0), ("unpenalized", None)):
                problem = surrogate_problem(50, 5, signal, 0, n_draws=draws, loss=loss, c=c)
                seconds = in_turns(
                    {
                        "search": lambda problem=problem: solve_draws(problem, limits=LIMITED),
                        "minimum": lambda problem=problem: minimize(problem),
                    },
                    1 if quick else 3,
                )
                solved = solve_draws(problem, limits=LIMITED)
                search, minimum = (1e6 * seconds[side] / draws for side in ("search", "minimum"))
                rows.append(
                    Row(
                        f"search / one minimization, microseconds per draw: {loss}",
                        f"n=50 p=5 {labels}, {penalized}, {draws} draws",
                        f"{search:.3g} / {minimum:.3g}; nodes {int(np.median(solved.nodes))} and {solved.nodes.max()}",
                        f"{search / minimum:.0f}",
                        "reported",
                        None,
                        unsolved(solved),
                    )
                )
    return rows


CASES = (surrogate_refits, surrogate_large, surrogate_reference, surrogate_wide, surrogate_floor)
