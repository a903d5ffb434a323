"""A search for a classifier that is worth more than an upper bound: it can refute a bound, and proves nothing.

For any of the six losses and a few hundred rows, where enumeration is out of reach. Candidates come from many sides
and are all evaluated by the definition in plain floating point. One counts only if the scores of all rows with a
weight exceed their rounding errors, so that it lies in an open cell for certain.

Distances are those of the curvature H of the loss at its minimizer, where the loss is nearly |b - minimizer|^2.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.exceptions import CudboundWarning
from cudbound.problem.problem import Problem
from cudbound.solve.native import minimize

Array = NDArray[np.float64]

#: Shares of the way to a wall at which points close to it are tried.
CLOSE = np.array([0.5, 0.99, 1.0 - 1e-5, 1.0 - 1e-8, 1.0 - 1e-11])


@dataclass(frozen=True)
class Found:
    """The best classifier that was found, and its value by the definition."""

    value: float
    coef: Array


def falsify(
    problem: Problem,
    draw: int,
    rng: np.random.Generator,
    *,
    side: str = "both",
    rounds: int = 3,
    witness: Array | None = None,
) -> Found:
    """Search for coefficients of large value; more `rounds` search longer, from other random starts."""
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
        search.enter_wedges()
        search.look_near_zero()
        for _ in range(4):  # from the best point, as long as it gets better
            before = search.value
            search.look_around(search.best)
            search.cross_walls(search.best)
            search.approach(search.best)
            if not search.value > before:
                break
    return Found(search.value, search.best)


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

    def enter_wedges(self) -> None:
        """Points between two hyperplanes that are close to each other: near-duplicates, mirrored or not."""
        if self.live.size < 2:
            return
        design = self.problem.design[self.live]
        unit = (
            design
            / np.maximum(np.sqrt(np.einsum("ij,jk,ik->i", design, self.inverse, design)), 1e-300)[:, None]
        )
        cosines = np.abs(unit @ self.inverse @ unit.T)
        np.fill_diagonal(cosines, 0.0)
        for a, b in np.argwhere(np.triu(cosines) > np.quantile(cosines, 0.98))[:60]:
            rows = [int(self.live[a]), int(self.live[b])]
            self.offer(
                np.array(
                    [
                        self.nearest(rows, np.array(sides), depth)
                        for sides in ([1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0])
                        for depth in (1e-3, 1e-6, 1e-9)
                    ]
                )
            )

    def look_near_zero(self) -> None:
        """Short coefficients in directions of all kinds: every cell touches beta = 0."""
        p = self.problem.coef.size
        directions = [self.rng.normal(size=(300, p)) @ self.root.T]
        lines = []
        for _ in range(40 if self.live.size >= p > 1 else 0):
            rows = self.rng.choice(self.live, size=p - 1, replace=False)
            line = np.linalg.svd(self.problem.design[rows])[2][-1]
            lines += [line + 1e-6 * self.rng.normal(size=(8, p)), -line + 1e-6 * self.rng.normal(size=(8, p))]
        rays = np.vstack(directions + lines)
        rays /= np.maximum(np.linalg.norm(rays, axis=1, keepdims=True), 1e-300)
        size = max(float(np.linalg.norm(self.least)), 1e-6)
        self.offer(np.vstack([rays * size * shrunk for shrunk in (1e-9, 1e-3, 0.1, 0.5)]))

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
