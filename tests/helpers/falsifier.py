"""A search for a classifier that is worth more than an upper bound: it can refute a bound, and proves nothing.

For any of the six losses and a few hundred rows, where enumeration is out of reach. Candidates come from many sides
and are all evaluated by the definition in plain floating point. One counts only if the scores of all rows with a
weight exceed their rounding errors, so that it lies in an open cell for certain.

Distances are those of the curvature H of the loss at its minimizer, where the loss is nearly |b - minimizer|^2.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import CudboundWarning
from cudbound.problem.draws import draw_counts
from cudbound.problem.problem import Problem
from cudbound.solve.native import minimize
from cudbound.solve.search import SearchLimits, solve_draws

Array = NDArray[np.float64]

#: Shares of the way to a wall at which points close to it are tried.
CLOSE = np.array([0.5, 0.99, 1.0 - 1e-5, 1.0 - 1e-8, 1.0 - 1e-11])


def falsify(
    problem: Problem,
    draw: int,
    rng: np.random.Generator,
    *,
    side: str = "both",
    rounds: int = 3,
    witness: Array | None = None,
) -> float:
    """Return the largest value of any coefficients that are met; more `rounds` search longer, from other starts."""
    search = _Search(problem, draw, rng, side)
    starts = [
        problem.coef,
        search.least,
        *([] if witness is None or not np.isfinite(witness).all() else [witness]),
    ]
    search.offer(np.array(starts))
    for _ in range(rounds):
        for start in starts:
            search.look_around(start)
        for sign in search.signs:
            for _ in range(10):
                search.dive(sign)
        search.visit_flats()
        for _ in range(4):  # from the best point, as long as it gets better
            before = search.value
            search.look_around(search.best)
            search.cross_walls(search.best)
            search.approach(search.best)
            if not search.value > before:
                break
    return search.value


class _Search:
    def __init__(self, problem: Problem, draw: int, rng: np.random.Generator, side: str) -> None:
        self.problem, self.draw, self.rng = problem, draw, rng
        self.signs = {"both": (1, -1), "positive": (1,), "negative": (-1,)}[side]
        self.weights = problem.score_weights(draw)
        self.live = np.flatnonzero((self.weights != 0.0) & problem.design.any(axis=1))
        self.anchor = problem.mean_loss(draw, problem.coef)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CudboundWarning)  # any point of small loss will do
            self.least = minimize(problem.select(draw)).coef[0]
        drawn, weights = problem.weighted_rows(draw)
        curvature = problem.loss.curvature(problem.labels[drawn], problem.scores(self.least)[drawn])
        shares = weights * np.clip(curvature, 0.05, 2.0)
        hessian = (problem.design[drawn] * shares[:, None]).T @ problem.design[drawn]
        if problem.penalty is not None:
            hessian += np.diag(2.0 * problem.penalty)
        # directions that the loss does not see are as good as free
        hessian += 1e-9 * np.diag(np.maximum((problem.design**2).mean(axis=0), 1e-300))
        self.inverse = np.linalg.inv(hessian)
        self.inverse = 0.5 * (self.inverse + self.inverse.T)
        values, vectors = np.linalg.eigh(self.inverse)
        self.root = vectors * np.sqrt(np.maximum(values, 0.0))
        self.value, self.best = 0.0, problem.coef

    def offer(self, candidates: Array) -> None:
        """Evaluate candidates, one per row, by the definition, and keep the best."""
        problem = self.problem
        candidates = candidates[np.isfinite(candidates).all(axis=1)]
        if not len(candidates):
            return
        scores = candidates @ problem.design.T
        rounding = (
            4 * np.finfo(float).eps * problem.coef.size * (np.abs(candidates) @ np.abs(problem.design.T))
        )
        certain = (np.abs(scores) > rounding)[:, self.live].all(axis=1)
        wrong = np.where(scores >= 0.0, 1.0, -1.0) != problem.labels
        signed = wrong @ self.weights
        size = np.max([np.maximum(sign * signed, 0.0) for sign in self.signs], axis=0)
        worth = np.flatnonzero(certain & (size > self.value))
        if worth.size == 0:
            return
        drawn, shares = problem.weighted_rows(self.draw)
        seen = scores[worth] if problem.offset is None else scores[worth] + problem.offset
        with np.errstate(over="ignore", invalid="ignore"):
            losses = problem.loss.value(problem.labels[drawn], seen[:, drawn])
            loss = losses @ shares
            if problem.penalty is not None:
                loss = loss + candidates[worth] ** 2 @ problem.penalty
            if problem.localization == np.inf:
                g = (loss <= self.anchor).astype(float)
            elif problem.localization == 0.0:
                g = np.ones_like(loss)
            else:
                g = np.clip(1.0 + problem.localization * (self.anchor - loss), 0.0, 1.0)
        values = np.nan_to_num(size[worth] * g)
        top = int(values.argmax())
        if values[top] > self.value:
            self.value, self.best = float(values[top]), candidates[worth[top]].copy()

    def look_around(self, center: Array) -> None:
        """Points in random directions and along each coordinate, at all distances."""
        p = center.size
        steps = self.rng.normal(size=(200, p)) @ self.root.T
        sizes = 10.0 ** self.rng.uniform(-5.0, 0.5, size=(200, 1)) / np.sqrt(self.problem.labels.size)
        axes = np.vstack([np.eye(p), -np.eye(p)]) * np.maximum(
            np.abs(center), 1e-3 * np.abs(center).max() + 1e-12
        )
        along = np.concatenate([center + axes * size for size in (1e-6, 1e-3, 0.1, 1.0)])
        self.offer(np.vstack([center + sizes * steps, along]))

    def nearest(self, rows: list[int], sides: Array, depth: float) -> Array:
        """Return the point nearest to the minimizer that gives the rows small scores of the signs given."""
        normals = self.problem.design[rows]
        images = normals @ self.inverse
        gram = images @ normals.T
        size = np.sqrt(np.maximum(np.diag(gram), 1e-300))
        wanted = sides * depth * size - normals @ self.least
        scaled = np.linalg.lstsq(gram / np.outer(size, size), wanted / size, rcond=1e-15)[0]
        return np.asarray(self.least + (scaled / size) @ images)

    def dive(self, sign: int) -> None:
        """Force rows onto the side with the larger score one by one, at random by gain for squared distance."""
        labels, design = self.problem.labels, self.problem.design
        preferred = np.where(sign * self.weights > 0.0, -labels, labels)
        distance_scale = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", design, self.inverse, design), 1e-300))
        forced: list[int] = []
        point = self.least
        for _ in range(min(self.problem.coef.size, self.live.size)):
            heights = design @ point
            crossed = [int(i) for i in self.live if preferred[i] * heights[i] <= 0.0 and i not in forced]
            if not crossed:
                break
            gains = np.abs(self.weights[crossed]) / (
                1e-12 + (heights[crossed] / distance_scale[crossed]) ** 2
            )
            chances = gains**2 / (gains**2).sum()
            forced.append(int(self.rng.choice(crossed, p=chances)))
            points = [self.nearest(forced, preferred[forced], depth) for depth in (1e-4, 1e-7, 1e-10)]
            point = points[1]
            self.offer(np.array(points))
        self.approach(point)

    def visit_flats(self) -> None:
        """Cells around the least points of random flats, and around lines, which are the vertices of cones."""
        p = self.problem.coef.size
        for _ in range(60):
            k = int(self.rng.integers(1, min(p, self.live.size) + 1)) if self.live.size else 0
            if k == 0:
                return
            rows = self.rng.choice(self.live, size=k, replace=False).tolist()
            patterns = self.rng.choice([-1.0, 1.0], size=(6, k))
            points = np.array([self.nearest(rows, pattern, 1e-8) for pattern in patterns])
            self.offer(np.vstack([points, -points]))

    def cross_walls(self, point: Array) -> None:
        """Just beyond each hyperplane, and beyond random pairs of them."""
        normals = self.problem.design[self.live]
        images = normals @ self.inverse
        lengths = np.einsum("ij,ij->i", images, normals)
        steps = images * ((normals @ point) / np.maximum(lengths, 1e-300))[:, None]
        self.offer(np.vstack([point - steps * (1.0 + beyond) for beyond in (1e-9, 1e-6, 1e-3, 0.1)]))
        if self.live.size >= 2:
            pairs = self.rng.integers(self.live.size, size=(100, 2))
            self.offer(point - (steps[pairs[:, 0]] + steps[pairs[:, 1]]) * 1.001)

    def approach(self, point: Array) -> None:
        """Move to smaller losses within the cell: toward the minimizer up to a wall, then along the walls met."""
        met: list[int] = []
        for _ in range(self.problem.coef.size + 1):
            heights = self.problem.design[self.live] @ point
            target = (
                self.least if not met else self.nearest(met, np.sign(self.problem.design[met] @ point), 1e-11)
            )
            ahead = self.problem.design[self.live] @ target
            leaving = np.flatnonzero(heights * ahead < 0.0)
            reach = heights[leaving] / (heights[leaving] - ahead[leaving])
            furthest = float(reach.min()) if leaving.size else 1.0
            self.offer(point + furthest * CLOSE[:, None] * (target - point))
            point = point + furthest * CLOSE[-2] * (target - point)
            if not leaving.size:
                return
            met.append(int(self.live[leaving[reach.argmin()]]))


# ---- problems of moderate size under all losses ----

NODE_LIMIT = 5_000
N_DRAWS = 2
SHAPES = ("normal", "integers", "near_duplicates", "outliers", "many_columns")


def moderate(seed: int, loss: str, shape: str) -> tuple[Problem, str]:
    """Return a problem of 20 to 200 rows, with the anchor fitted to them, and a side."""
    rng = np.random.default_rng([seed, *shape.encode(), *loss.encode()])
    n, p = int(rng.choice([20, 50, 100, 200])), int(rng.integers(2, 7))
    if shape == "many_columns":
        n, p = 20, int(rng.integers(8, 24))
    features = rng.normal(size=(n, p - 1))
    if shape == "integers":
        features = rng.integers(0, 4, size=(n, p - 1)).astype(float)
    if shape == "near_duplicates":
        source = rng.integers(n, size=n // 3)
        features[: n // 3] = features[source] + 10.0 ** rng.uniform(-12.0, -3.0) * rng.normal(
            size=(n // 3, p - 1)
        )
    if shape == "outliers":
        features = features.round(1)
        features[rng.integers(n), rng.integers(p - 1)] = 10.0 ** rng.integers(2, 7)
    design = np.column_stack([np.ones(n), features])
    signal = rng.choice([0.0, 1.0, 3.0])
    labels = np.where(signal * np.clip(features[:, 0], -5.0, 5.0) + rng.normal(size=n) > 0.0, 1.0, -1.0)
    labels[:2] = 1.0, -1.0
    penalty = rng.choice([0.001, 0.1]) * np.ones(p) if loss != "squared" or rng.random() < 0.3 else None
    weights = rng.normal(size=(N_DRAWS, n)) / n if rng.random() < 0.2 else None
    problem = Problem.of(
        design,
        labels,
        np.zeros(p),
        draw_counts(n, N_DRAWS, rng),
        loss=loss,
        localization=float(rng.choice([1.0, n, n, n, n**2.0])),
        weights=weights,
        penalty=penalty,
    )
    whole = replace(problem, counts=np.ones((1, n), dtype=np.int32), weights=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CudboundWarning)  # an anchor near the minimizer will do
        anchor = minimize(whole).coef[0]
    return replace(problem, coef=anchor), str(rng.choice(["both", "positive", "negative"]))


def refuted(case: tuple[int, str, str, int]) -> list[str]:
    """Return what the falsifier found against the bounds of the draws of a case; the last number is its rounds."""
    *which, rounds = case
    problem, side = moderate(*which)
    draws = solve_draws(problem, side=side, limits=SearchLimits(nodes_per_draw=NODE_LIMIT))
    rng = np.random.default_rng(1)
    against = []
    for draw in range(N_DRAWS):
        value = falsify(problem, draw, rng, side=side, rounds=rounds, witness=draws.witness[draw])
        # losses near n are known to some 1e-14 of themselves
        allowance = 1e-9 + 1e-13 * min(problem.localization, 1e6) * (
            1.0 + problem.mean_loss(draw, problem.coef)
        )
        if value > draws.upper[draw] + allowance:
            against.append(f"{case} {side} draw {draw}: {value!r} above {draws.upper[draw]!r}")
    return against
