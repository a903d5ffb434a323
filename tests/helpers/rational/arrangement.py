"""Hyperplanes of a draw in exact arithmetic: their flats, rays and open cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from cudbound.problem.coordinates import dependence_rows
from cudbound.problem.problem import Problem
from rational.integers import Vector, bits, cut, dot, identity, pivot_columns, primitive, to_integers


def score_weights(problem: Problem, draw: int) -> list[Fraction]:
    """Return the signed weights of one draw; those of the plain error are (counts - 1) / n, not its rounding."""
    if problem.weights is None:
        return [Fraction(count - 1, problem.labels.size) for count in problem.counts[draw].tolist()]
    return [Fraction(weight) for weight in problem.weights[draw].tolist()]


def exact_columns(problem: Problem) -> list[list[Fraction]]:
    """Return the columns of the design, those of whole steps (`dependence_rows`) without their rounding."""
    columns = []
    has_ones = (problem.design == 1.0).all(axis=0).any()
    for column, steps in zip(problem.design.T, dependence_rows(problem.design).T, strict=True):
        if (column == steps).all():
            columns.append([Fraction(value) for value in column.tolist()])
        else:
            start = float(column.min()) if has_ones else 0.0
            step = Fraction(float(abs(column - start).max())) / int(abs(steps).max())
            columns.append([Fraction(start) + step * int(number) for number in steps.tolist()])
    return columns


class Hyperplane(NamedTuple):
    """A hyperplane, the scores on its two sides, and its rows, each with the side on which its class is +1."""

    normal: Vector
    positive: int
    negative: int
    rows: list[tuple[int, int]]


class Arrangement:
    """Distinct hyperplanes that change the score of one draw, in coordinates that they span.

    Columns of the design are scaled to integers. Only the coefficients in `kept` decide the sides once the directions
    in `lineality`, which change none, are removed. A set of hyperplanes is an integer, bit j standing for the j-th.
    """

    def __init__(self, problem: Problem, draw: int) -> None:
        n, p = problem.design.shape
        columns = [to_integers(column) for column in exact_columns(problem)]
        self.column_scales = [scale for _, scale in columns]
        self.design: list[Vector] = list(zip(*(column for column, _ in columns), strict=True))
        self.labels = [int(label) for label in problem.labels.tolist()]
        weights, self.unit = to_integers(score_weights(problem, draw))
        self.constant = 0
        merged: dict[Vector, list[tuple[int, int]]] = {}
        for i in range(n):
            if not any(self.design[i]):  # always classified as +1
                self.constant += weights[i] * (self.labels[i] != 1)
            elif weights[i] != 0:
                normal, side = primitive(self.design[i]), 1
                if next(value for value in normal if value) < 0:
                    normal, side = tuple(-value for value in normal), -1
                merged.setdefault(normal, []).append((i, side))
        self.hyperplanes: list[Hyperplane] = []
        for normal, members in merged.items():
            positive = sum(weights[i] for i, side in members if side != self.labels[i])
            negative = sum(weights[i] for i, side in members if -side != self.labels[i])
            if positive == negative:
                self.constant += positive
            else:
                self.hyperplanes.append(Hyperplane(normal, positive, negative, members))
        self.lineality = identity(p)
        for plane in self.hyperplanes:
            self.lineality = cut(self.lineality, plane.normal)
        dropped = pivot_columns(self.lineality)
        self.kept = [j for j in range(p) if j not in dropped]
        self.normals = [tuple(normal[j] for j in self.kept) for normal, *_ in self.hyperplanes]
        self.dimension = len(self.kept)
        self.all = (1 << len(self.normals)) - 1
        self._extremes: dict[tuple[int, int], tuple[int, int]] = {}

    def children(
        self, within: int, closure: int, basis: list[Vector], last: int
    ) -> Iterator[tuple[int, list[Vector], int]]:
        """Yield the flats of codimension one in a flat, each once in the whole descent from the full space.

        A flat is the intersection of the hyperplanes in `closure`, all those of `within` that contain it, and is
        spanned by `basis`. It is visited from the flat of its lexicographically first independent hyperplanes.
        """
        for j in range(last + 1, len(self.normals)):
            if not within >> j & 1 or closure >> j & 1:
                continue
            smaller = cut(basis, self.normals[j])
            contained = closure | 1 << j
            first = True
            for i in range(len(self.normals)):
                if within >> i & 1 and not contained >> i & 1:
                    normal = self.normals[i]
                    if not any(dot(normal, vector) for vector in smaller):
                        if i < j:
                            first = False
                            break
                        contained |= 1 << i
            if first:
                yield contained, smaller, j

    def sides_of(self, point: Sequence[int], within: int) -> tuple[int, int]:
        """Return the hyperplanes on whose positive side a point lies, and those it lies on."""
        up = on = 0
        for j in bits(within):
            height = dot(self.normals[j], point)
            up |= (height > 0) << j
            on |= (height == 0) << j
        return up, on

    def score(self, up: int, within: int) -> int:
        """Return the score of the hyperplanes in `within`, on their positive side if in `up`."""
        planes = self.hyperplanes
        return sum(planes[j].positive if up >> j & 1 else planes[j].negative for j in bits(within))

    def at_most(self, within: int, sign: int) -> int:
        """Return a limit of their score, from above for sign 1 and from below for -1: each may take either side."""
        better = max if sign > 0 else min
        return sum(better(self.hyperplanes[j].positive, self.hyperplanes[j].negative) for j in bits(within))

    def limit(self, sign: int) -> int:
        """Return a limit of the score of the draw, see `at_most`."""
        return self.constant + self.at_most(self.all, sign)

    def extreme(self, within: int, sign: int) -> tuple[int, int]:
        """Return the largest score of the open cells of just the hyperplanes in `within`, for sign -1 the smallest.

        The second number holds the hyperplanes on whose positive side its cell lies.
        """
        if (within, sign) not in self._extremes:
            space = identity(self.dimension)
            for j in bits(within):
                space = cut(space, self.normals[j])
            rank = self.dimension - len(space)
            if rank == within.bit_count():
                gains = {j: self.hyperplanes[j].positive - self.hyperplanes[j].negative for j in bits(within)}
                up = sum(1 << j for j, gain in gains.items() if sign * gain > 0)
                self._extremes[within, sign] = self.score(up, within), up
            else:
                self._extremes[within, sign] = self._extreme_by_rays(within, rank, sign)
        return self._extremes[within, sign]

    def _extreme_by_rays(self, within: int, rank: int, sign: int) -> tuple[int, int]:
        best: tuple[int, int] | None = None
        for ray in self.rays(within, rank):
            up, on = self.sides_of(ray, within)
            base = self.score(up, within & ~on)
            if best is None or sign * (base + self.at_most(on, sign)) > sign * best[0]:
                score, at = self.extreme(on, sign)
                if best is None or sign * (base + score) > sign * best[0]:
                    best = base + score, up | at
        assert best is not None
        return best

    def rays(self, within: int, rank: int) -> Iterator[Vector]:
        """Yield a vector on each ray of the hyperplanes in `within`; two on a line, in opposite directions."""

        def descend(closure: int, basis: list[Vector], last: int, left: int) -> Iterator[Vector]:
            if left == 0:
                ray = next(v for v in basis if any(dot(self.normals[j], v) for j in bits(within)))
                yield ray
                yield tuple(-value for value in ray)
                return
            for smaller in self.children(within, closure, basis, last):
                yield from descend(*smaller, left - 1)

        return descend(0, identity(self.dimension), -1, rank - 1)

    def interior(self, up: int) -> list[Fraction]:
        """Return a point well inside an open cell: the mean of its rays, all of one size in the design's units."""
        sizes = [max(abs(row[j]) for row in self.design) for j in self.kept]
        total = [Fraction(0)] * self.dimension
        count = 0
        for ray in self.rays(self.all, self.dimension) if self.dimension else ():
            above, on = self.sides_of(ray, self.all)
            if above == up & ~on:
                length = max(abs(value) * size for value, size in zip(ray, sizes, strict=True))
                total = [a + Fraction(b, length) for a, b in zip(total, ray, strict=True)]
                count += 1
        assert all(
            (sum(a * b for a, b in zip(normal, total, strict=True)) > 0) == bool(up >> j & 1)
            for j, normal in enumerate(self.normals)
        )
        return [value / max(count, 1) for value in total]
