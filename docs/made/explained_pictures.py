"""Draw the figures of the explanations: ``python docs/made/explained_pictures.py docs/pictures``.

Estimands in one picture; why the training error jumps; an arrangement with the levels of g; the search tree of a draw;
the power of tests of two learners, the benchmarks of others, and the coverage of intervals, from stored results. Every
other number in them is computed here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import benchmark_pages
import matplotlib as mpl
import numpy as np
import pandas as pd
import recommended_pages
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, FancyBboxPatch

from cudbound.problem.draws import draw_counts
from cudbound.solve import Problem, solve_draws

RC = {"svg.hashsalt": "cudbound", "svg.fonttype": "none", "font.size": 9}
#: In the pictures of one draw: rows, coefficients without an intercept, seed.
N, SEED = 14, 3


def estimands() -> Figure:
    """Three questions that "the error" can stand for."""
    fig, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
    content = (
        ("1. this classifier", ("your n rows", "one classifier", "its error on new cases"), "conditional"),
        (
            "2. the algorithm",
            ("many training sets of n1 rows", "many classifiers", "the mean of their errors"),
            "expected(n1=...)",
        ),
        (
            "3. inside a resampling",
            ("parts of your rows", "k other classifiers", "the mean of their errors"),
            "cv-average",
        ),
    )
    for ax, (title, boxes, name) in zip(axes, content, strict=True):
        ax.set(xlim=(0, 1), ylim=(0, 1), title=title)
        ax.set_axis_off()
        many = 0 if name == "conditional" else 2
        for y, text in zip((0.8, 0.5, 0.2), boxes, strict=True):
            for shift in range(many if y > 0.3 else 0, -1, -1):
                ax.add_patch(
                    FancyBboxPatch(
                        (0.08 + 0.03 * shift, y - 0.08 + 0.03 * shift), 0.78, 0.14,
                        boxstyle="round,pad=0.02", facecolor="white", edgecolor="0.4",
                    )
                )  # fmt: skip
            ax.text(0.47, y, text, ha="center", va="center")
        for above, below in pairwise((0.8, 0.5, 0.2)):
            ax.annotate(
                "", (0.47, below + 0.1), (0.47, above - 0.11), arrowprops={"arrowstyle": "->", "color": "0.4"}
            )
        ax.text(0.47, 0.0, name, ha="center", family="monospace")
    return fig


def fitted(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0]


def jump() -> Figure:
    """One case moves; the loss changes smoothly, and the error jumps."""
    rng = np.random.default_rng(12)
    y = np.repeat([-1.0, 1.0], 10)
    X = rng.normal(size=(20, 2)) + np.outer(y, [0.7, 0.0])
    path = np.linspace([-2.5, 2.0], [3.5, -1.5], 400)
    errors, losses, lines = [], [], []
    for place in path:
        X[0] = place
        beta = fitted(X, y)
        scores = beta[0] + X @ beta[1:]
        errors.append(np.mean(np.where(scores >= 0, 1.0, -1.0) != y))
        losses.append(np.mean((y - scores) ** 2))
        lines.append(beta)
    fig, (plane, curves) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    grid = np.array([-3.2, 4.2])
    for number in (0, 133, 266, 399):
        b = lines[number]
        plane.plot(-(b[0] + b[2] * grid) / b[1], grid, color=str(0.75 - 0.7 * number / 399), linewidth=1.2)
    for label, marker in ((-1.0, "o"), (1.0, "s")):
        rest = (y == label) & (np.arange(20) > 0)
        plane.plot(*X[rest].T, marker, color="black", markerfacecolor="white" if label < 0 else "black")
    plane.annotate("", path[-1], path[0], arrowprops={"arrowstyle": "->", "color": "tab:red", "lw": 1.5})
    plane.plot(*path[0], "o", color="tab:red", markerfacecolor="white")
    plane.set(xlim=(-3.2, 4.2), ylim=(-2.8, 2.8), xlabel="first feature", ylabel="second feature")
    plane.set_title("one case moves; the boundary turns from light to dark", fontsize=9)
    step = np.linspace(0, 1, len(path))
    curves.plot(step, losses, color="0.5", label="mean squared loss")
    curves.plot(step, errors, ".", markersize=2, color="black", label="training error")
    curves.set(xlabel="share of the way", ylim=(0, None))
    curves.legend(frameon=False)
    return fig


def one_draw() -> tuple[Problem, np.ndarray, np.ndarray]:
    """A problem of one draw with two coefficients, its design and its labels."""
    rng = np.random.default_rng(SEED)
    design = np.column_stack([np.ones(N), rng.normal(size=N)])
    labels = np.where(0.8 * design[:, 1] + rng.normal(size=N) > 0, 1.0, -1.0)
    coef = np.linalg.lstsq(design, labels, rcond=None)[0]
    return Problem.of(design, labels, coef, draw_counts(N, 1, np.random.default_rng(SEED))), design, labels


def arrangement() -> Figure:
    """The cells of a draw with two coefficients, and where g falls from 1 to 0."""
    problem, design, labels = one_draw()
    weights, counts = problem.score_weights(0), problem.counts[0]
    gram = (design * counts[:, None]).T @ design
    center = np.linalg.solve(gram, design.T @ (counts * labels))

    def excess(beta: np.ndarray) -> np.ndarray:
        away = beta - center
        return np.einsum("...i,ij,...j->...", away, gram, away)

    inner = float(excess(problem.coef))
    lows, highs = center - 2.2, center + 2.2
    grid = np.stack(np.meshgrid(*(np.linspace(lo, hi, 700) for lo, hi in zip(lows, highs, strict=True))), -1)
    wrong = np.where(grid @ design.T >= 0, 1.0, -1.0) != labels
    score = np.abs(wrong @ weights)
    fig, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
    shown = ax.imshow(
        score,
        "Greys",
        origin="lower",
        aspect="auto",
        extent=(lows[0], highs[0], lows[1], highs[1]),
        vmax=0.45,
    )
    for row in design:
        across = np.array([lows[0], highs[0]]) * 3
        ax.plot(across, -across / row[1], color="0.35", linewidth=0.6)
    values, vectors = np.linalg.eigh(gram)
    angle = np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))
    for level, style, text in ((inner, "-", "g = 1"), (inner + 1.0, "--", "g = 0")):
        axes = 2 * np.sqrt(level / values)
        ax.add_patch(
            Ellipse(
                tuple(center),
                *axes,
                angle=angle,
                fill=False,
                edgecolor="tab:red",
                linestyle=style,
                label=text,
            )
        )
    witness = solve_draws(problem).witness[0]
    ax.plot(*problem.coef, "o", color="tab:red", label="fitted to the training set")
    ax.plot(*center, "x", color="tab:red", label="minimizer of the draw")
    ax.plot(*witness, "D", color="tab:blue", label="witness: attains Q")
    ax.set(xlim=(lows[0], highs[0]), ylim=(lows[1], highs[1]), xlabel="intercept", ylabel="slope")
    ax.legend(loc="upper left", fontsize=8)
    fig.colorbar(shown, label="deviation |S| of the cell")
    return fig


def search_tree() -> Figure:
    """A branch and bound on a real draw, as the explanation describes it: no cell is left out without its bound."""
    rng = np.random.default_rng(9)
    n = 24
    design = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    labels = np.where(0.8 * design[:, 1] + rng.normal(size=n) > 0, 1.0, -1.0)
    coef = np.linalg.lstsq(design, labels, rcond=None)[0]
    problem = Problem.of(design, labels, coef, draw_counts(n, 1, np.random.default_rng(5)))
    nodes, best = branch_and_bound(problem, design, labels)
    fig, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    place(nodes, 0, iter(range(len(nodes))))
    for one in nodes:
        if one["parent"] is not None:
            up = nodes[one["parent"]]
            ax.plot([up["x"], one["x"]], [up["bound"], one["bound"]], color="0.8", linewidth=0.7, zorder=1)
    for kind, marker, color in (
        ("divided", "o", "black"),
        ("discarded", "x", "0.5"),
        ("better value found", "D", "tab:blue"),
    ):
        some = [one for one in nodes if one["kind"] == kind]
        ax.plot([o["x"] for o in some], [o["bound"] for o in some], marker, color=color, linestyle="none",
                markersize=5, label=f"{kind}: {len(some)}")  # fmt: skip
    ax.axhline(best, color="tab:blue", linestyle="--", linewidth=0.8)
    ax.text(ax.get_xlim()[0], best, f" Q = {best:.3f}", va="bottom", color="tab:blue")
    ax.set(xticks=[], ylabel="bound of the node", ylim=(0, None))
    ax.legend(frameon=False, loc="lower left")
    return fig


def place(nodes: list[dict], number: int, leaves: Iterator[int]) -> float:
    """Give a node and those below it their horizontal place: leaves in turn, others in the middle of their children."""
    below = [i for i, one in enumerate(nodes) if one["parent"] == number]
    places = [place(nodes, i, leaves) for i in below]
    nodes[number]["x"] = sum(places) / len(places) if places else float(next(leaves))
    return nodes[number]["x"]


def branch_and_bound(problem: Problem, design: np.ndarray, labels: np.ndarray) -> tuple[list[dict], float]:
    """The tree of the larger sign, with least squares on cones by SciPy instead of the compiled solver."""
    from scipy.optimize import nnls

    weights, counts = problem.score_weights(0), problem.counts[0].astype(float)
    root = np.linalg.cholesky((design * counts[:, None]).T @ design).T
    center = np.linalg.solve(root.T @ root, design.T @ (counts * labels))
    inner = float(((root @ (problem.coef - center)) ** 2).sum())
    solved = solve_draws(problem)
    beta = solved.witness[0]
    sign = np.sign(weights @ (np.where(design @ beta >= 0, 1.0, -1.0) != labels))
    gains = sign * weights
    preferred = np.where(gains > 0, -labels, labels)  # wrong where that adds, right where it subtracts

    def nearest(forced: list[int]) -> tuple[np.ndarray, float]:
        if not forced:
            return center, 0.0
        rows = preferred[forced, None] * design[forced]
        a = np.linalg.solve(root.T, rows.T).T  # unit coordinates u = root (beta - center)
        short = -(rows @ center)
        kkt = np.vstack([a.T, short])
        multipliers, _ = nnls(kkt, np.append(np.zeros(root.shape[0]), 1.0))
        residual = kkt @ multipliers - np.append(np.zeros(root.shape[0]), 1.0)
        if abs(residual[-1]) < 1e-10:
            return center, np.inf
        u = -residual[:-1] / residual[-1]
        return center + np.linalg.solve(root, u), float(u @ u)

    best, nodes = 0.0, []
    stack: list[tuple[int | None, list[int], set[int], int]] = [(None, [], set(), 0)]
    total = np.abs(gains).sum() - np.clip(-gains, 0, None).sum()
    while stack:
        parent, forced, lost, depth = stack.pop(0)
        point, distance = nearest(forced)
        score = total - sum(abs(gains[i]) for i in lost)
        bound = score * float(np.clip(1 + inner - distance, 0, 1))
        node = {"parent": parent, "depth": depth, "bound": max(bound, 0.0), "kind": "discarded"}
        nodes.append(node)
        if bound <= best + 1e-9:
            continue
        sides = preferred * (design @ point)
        crossed = [i for i in np.argsort(sides) if sides[i] < -1e-9 and i not in lost and abs(gains[i]) > 0]
        value = (score - sum(abs(gains[i]) for i in crossed)) * float(np.clip(1 + inner - distance, 0, 1))
        if value > best:
            best = value
            node["kind"] = "better value found"
        else:
            node["kind"] = "divided"
        given = set(lost)
        for i in crossed:
            stack.append((len(nodes) - 1, [*forced, i], set(given), depth + 1))
            given.add(i)
    assert abs(best - solved.upper[0]) < 1e-6, "the picture must show the search of the solver"
    return nodes, best


#: Tests in the picture of their power, by their names in the stored curves: label, color and line.
TESTS = {
    "resampled-t, n/2 + n/2": ("resampled t", "C3", "-"),
    "pseudo-bootstrap, n/2 + n/2": ("pseudo-bootstrap", "C1", "-"),
    "k-fold-t": ("k-fold t", "C5", "-"),
    "corrected-resampled-t, n/2 + n/2": ("corrected resampled t, tests n/2", "C0", "-"),
    "corrected-resampled-t, n/2 + n/10": ("corrected resampled t, tests n/10", "C0", "--"),
    "conservative-z, n/2 + n/10": ("conservative Z", "C2", "-"),
    "5x2cv-t": ("5x2cv t", "C4", "-"),
    "5x2cv-f": ("5x2cv F", "C4", "--"),
    "repeated-k-fold-t": ("repeated k-fold t (the default)", "black", "-"),
    "grandvalet-bengio-t, rho = .7": ("k-fold t, rho = .7", "C5", "--"),
    "corrected-pseudo-bootstrap, n/2 + n/2": ("corrected pseudo-bootstrap", "C1", "--"),
}


def power() -> Figure:
    """Shares of rejections against the hypothesized difference; for letters, of equality against the true one."""
    folder = Path(__file__).parents[2] / "docs" / "evidence" / "nadeau-bengio"
    curves, cells = (pd.read_csv(folder / f"{name}.csv") for name in ("curves", "cells"))
    fig, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained", sharey=True)
    problems = ("gaussians, I and I/2", "gaussians, I and I/6", "regression 1, n = 200", "letters")
    for ax, problem in zip(axes.flat, problems, strict=True):
        for name, (label, color, line) in TESTS.items():
            lines = cells if problem == "letters" else curves
            of_test = lines[(lines["problem"] == problem) & (lines["test"] == name)]
            if problem == "letters":
                of_test = of_test.sort_values("truth")
                x, y = of_test["truth"], of_test["rejects_equality"]
            else:
                x, y = of_test["widths"], of_test["rejected"]
            ax.plot(x, y, color=color, linestyle=line, label=label, linewidth=1.2)
        ax.axhline(0.1, color="0.6", linewidth=0.8)
        letters = problem == "letters"
        ax.set(
            title="letters, six metrics: rejections of equality" if letters else problem,
            xlabel="true difference" if letters else "hypothesized minus true difference, widths",
            ylim=(0, 1),
        )
    for ax in axes[:, 0]:
        ax.set_ylabel("share of sets that reject")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside right center", frameon=False)
    return fig


#: Intervals in the picture of the README, by metric: the method, and what people call it.
IN_USE = {
    "error": {
        "two-center": "two-center (this package)",
        "bayle-cv": "cross-validation, normal limits",
        "langford-binomial": "bootstrap .632, binomial limits",
    },
    "auc": {
        "two-center": "two-center (this package)",
        "out-of-bag-percentile": "bootstrap, out-of-bag percentiles",
    },
    "brier": {
        "two-center": "two-center (this package)",
        "bayle-cv": "cross-validation, normal limits",
        "out-of-bag-percentile": "bootstrap, out-of-bag percentiles",
    },
}
#: The fewest training sets of a cell in that picture.
ENOUGH = 100


def coverage() -> Figure:
    """One dot per cell of the registered study in which all intervals for a metric were computed."""
    cells = recommended_pages.as_used(recommended_pages.read()).query("sets >= @ENOUGH")
    fig, axes = plt.subplots(
        len(IN_USE),
        figsize=(6.4, 3.6),
        layout="constrained",
        sharex=True,
        height_ratios=[len(names) + 0.6 for names in IN_USE.values()],
    )
    for ax, (metric, names) in zip(axes, IN_USE.items(), strict=True):
        of_metric = cells[cells["metric"] == metric]
        values = of_metric.pivot(index=["cell", "n", "classifier"], columns="method", values="coverage")
        values = values[list(names)].dropna()
        for y, (method, label) in enumerate(names.items()):
            ours = method == "two-center"
            lowest = values[method].min()
            ax.scatter(
                values[method], np.full(len(values), y), 9, "C0" if ours else "0.25", alpha=0.35, linewidths=0
            )
            ax.text(-0.03, y, label, ha="right", va="center", weight="bold" if ours else "normal")
            ax.annotate(
                f"{lowest:.2f}", (lowest, y), (0, 4), textcoords="offset points", ha="center", fontsize=8
            )
        ax.axvline(0.95, color="C3", linewidth=0.8)
        ax.set(
            xlim=(-0.02, 1.02), ylim=(len(names) - 0.5, -0.7), yticks=[], xticks=[0, 0.25, 0.5, 0.75, 0.95]
        )
        title = {"error": "Error", "auc": "AUC", "brier": "Brier score"}[metric]
        ax.set_title(f"{title}, {len(values)} settings", loc="left", fontsize=9)
        ax.spines[["top", "right", "left"]].set_visible(False)
    axes[-1].set_xlabel("share of nominal 95% intervals that contain the true value")
    return fig


FIGURES: dict[str, Callable[[], Figure]] = {
    "estimands": estimands,
    "jump": jump,
    "arrangement": arrangement,
    "search_tree": search_tree,
    "power": power,
    "benchmarks": benchmark_pages.picture,
    "coverage": coverage,
}


def main(folder: Path) -> None:
    """Write all figures."""
    with mpl.rc_context(RC):
        for name, draw in FIGURES.items():
            draw().savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
            plt.close("all")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
