"""Squared loss of a draw in exact arithmetic, and its minimum on flats."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from cudbound.problem.problem import Problem
from rational.arrangement import Arrangement, exact_columns
from rational.integers import Matrix, Vector, dot, identity, restrict, solve, to_integers


def loss_terms(problem: Problem, draw: int) -> tuple[list[Fraction], list[Fraction], list[Fraction]]:
    """Return the share of each row in the sum of the losses, the target of its score, and the penalty strengths."""

    def exactly(values: Any, default: int, size: int) -> list[Fraction]:
        return (
            [Fraction(default)] * size if values is None else [Fraction(value) for value in values.tolist()]
        )

    n, p = problem.design.shape
    weights, offsets = exactly(problem.sample_weight, 1, n), exactly(problem.offset, 0, n)
    scale = 1 if problem.draw_scale is None else Fraction(problem.draw_scale.tolist()[draw])
    shares = [
        int(count) * weight * scale for count, weight in zip(problem.counts[draw], weights, strict=True)
    ]
    targets = [int(label) - offset for label, offset in zip(problem.labels, offsets, strict=True)]
    return shares, targets, exactly(problem.penalty, 0, p)


def mean_loss(problem: Problem, draw: int, coef: Sequence[Fraction | float]) -> Fraction:
    """Return the penalized mean squared loss of `coef` on one draw."""
    shares, targets, strengths = loss_terms(problem, draw)
    beta, below = to_integers(coef)
    total = Fraction(0)
    for share, target, values in zip(shares, targets, zip(*exact_columns(problem), strict=True), strict=True):
        if share:
            row, row_below = to_integers(values)
            total += share * (target - Fraction(dot(row, beta), row_below * below)) ** 2
    penalty = sum(strength * Fraction(b, below) ** 2 for strength, b in zip(strengths, beta, strict=True))
    return total / problem.labels.size + penalty


def localization(problem: Problem, anchor: Fraction, loss: Fraction) -> Fraction:
    """Return g(alpha (anchor - loss)), g(x) = clip(1 + x, 0, 1), with its limits at localization = 0 and infinity."""
    if problem.localization == inf:
        return Fraction(int(loss <= anchor))
    return min(max(1 + Fraction(problem.localization) * (anchor - loss), Fraction(0)), Fraction(1))


class QuadraticLoss:
    """The loss as [t 1] matrix [t 1]' / scale, least over the directions that change no side."""

    def __init__(self, problem: Problem, draw: int, arrangement: Arrangement) -> None:
        n = problem.labels.size
        shares, targets, strengths = loss_terms(problem, draw)
        target, self.target_scale = to_integers(targets)
        numbers, unit = to_integers([*shares, *(n * r for r in strengths)])
        # Python's integers, which do not overflow
        rows = np.array([(*row, -t) for row, t in zip(arrangement.design, target, strict=True)], dtype=object)
        weights = np.array(numbers[:n], dtype=object)
        full: Matrix = (rows.T @ (weights[:, None] * rows)).tolist()
        for j, strength in enumerate(numbers[n:]):
            full[j][j] += strength * arrangement.column_scales[j] ** 2
        self.scale = Fraction(n * unit * self.target_scale**2)
        self.arrangement = arrangement
        self.eliminated: list[tuple[int, list[int]]] = []
        self.matrix = self._eliminate(full)

    def _eliminate(self, full: Matrix) -> Matrix:
        """Minimize over the lineality space; the eliminated part is kept for `coefficients`."""
        arrangement = self.arrangement
        p = len(full) - 1
        if not arrangement.lineality:
            return full
        unit = identity(p + 1)
        flat = [(*vector, 0) for vector in arrangement.lineality]
        basis = [*flat, *(unit[j] for j in arrangement.kept), unit[p]]
        matrix = restrict(full, basis)
        for _ in flat:
            pivot = matrix[0][0]
            self.eliminated.append((pivot, matrix[0][1:]))
            if pivot == 0:  # the matrix is positive semidefinite: the whole row is zero
                assert not any(matrix[0])
                matrix = [line[1:] for line in matrix[1:]]
            else:
                first = matrix[0]
                matrix = [
                    [pivot * line[k] - line[0] * first[k] for k in range(1, len(line))] for line in matrix[1:]
                ]
                self.scale *= pivot
        return matrix

    def coefficients(self, point: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Return the coefficients of least loss for a point t."""
        arrangement = self.arrangement
        values = [*point, Fraction(1)]
        for pivot, line in reversed(self.eliminated):
            total = sum((a * v for a, v in zip(line, values, strict=True)), Fraction(0))
            values.insert(0, -total / pivot if pivot else Fraction(0))
        count = len(self.eliminated)
        scaled = [Fraction(0)] * len(arrangement.column_scales)
        for j, value in zip(arrangement.kept, values[count:-1], strict=True):
            scaled[j] += value
        for z, vector in zip(values[:count], arrangement.lineality, strict=True):
            for j, entry in enumerate(vector):
                scaled[j] += z * entry
        return tuple(
            value * scale / self.target_scale
            for value, scale in zip(scaled, arrangement.column_scales, strict=True)
        )

    def least(self, basis: list[Vector]) -> tuple[int, int, Vector] | None:
        """Return the least value on a flat and its location, or None if there are several minimizers.

        The value is numerator / denominator in units of 1 / `scale`; a third number, a vector, divided by the
        denominator is the minimizer.
        """
        images = [[dot(line, vector) for line in self.matrix] for vector in basis]
        solved = solve([[dot(image, vector) for vector in basis] + [-image[-1]] for image in images])
        if solved is None:
            return None
        multipliers, determinant = solved
        linear = [image[-1] for image in images]
        numerator = self.matrix[-1][-1] * determinant + dot(linear, multipliers)
        point = tuple(dot(multipliers, entries) for entries in zip(*basis, strict=True))
        return numerator, determinant, point
