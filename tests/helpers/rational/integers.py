"""Linear algebra with Python's integers, for few dimensions: nothing is rounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm

Vector = tuple[int, ...]
Matrix = list[list[int]]


def to_integers(values: Iterable[Fraction | float]) -> tuple[Vector, int]:
    """Return integers and the positive number by which to divide them to get the values."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = lcm(*(below for _, below in ratios))
    return tuple(above * (scale // below) for above, below in ratios), scale


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """Return the inner product; extra entries of the longer vector do not count."""
    return sum(map(int.__mul__, a, b))


def primitive(vector: Vector) -> Vector:
    """Divide by the greatest common divisor."""
    divisor = gcd(*vector)
    return tuple(value // divisor for value in vector) if divisor > 1 else vector


def identity(size: int) -> list[Vector]:
    """Return the unit vectors."""
    return [tuple(int(j == k) for k in range(size)) for j in range(size)]


def bits(mask: int) -> list[int]:
    """Return the numbers of the bits that are set."""
    return [j for j in range(mask.bit_length()) if mask >> j & 1]


def cut(basis: list[Vector], normal: Vector) -> list[Vector]:
    """Return a basis of the part of a space that lies on a hyperplane."""
    heights = [dot(normal, vector) for vector in basis]
    pivot = next((q for q, height in enumerate(heights) if height), None)
    if pivot is None:
        return basis
    height, chosen = heights[pivot], basis[pivot]
    return [
        vector
        if other == 0
        else primitive(tuple(height * a - other * b for a, b in zip(vector, chosen, strict=True)))
        for q, (vector, other) in enumerate(zip(basis, heights, strict=True))
        if q != pivot
    ]


def pivot_columns(basis: list[Vector]) -> list[int]:
    """Return as many columns as there are independent vectors, on which they are independent."""
    rows = list(basis)
    chosen: list[int] = []
    while rows:
        column = next(j for j, value in enumerate(rows[0]) if value)
        chosen.append(column)
        first = rows[0]
        rows = [
            tuple(first[column] * a - row[column] * b for a, b in zip(row, first, strict=True))
            for row in rows[1:]
        ]
    return chosen


def restrict(matrix: Matrix, basis: Sequence[Vector]) -> Matrix:
    """Return the matrix of a quadratic form in the coordinates of a basis."""
    images = [[dot(line, vector) for line in matrix] for vector in basis]
    return [[dot(image, vector) for vector in basis] for image in images]


def solve(system: Matrix) -> tuple[list[int], int] | None:
    """Return (x, d) with A (x / d) = b, d > 0, for the rows [A b], A positive semidefinite; None if A is singular.

    Fraction-free elimination by Bareiss; the pivots are principal minors, so d = det A > 0.
    """
    k = len(system)
    rows = [list(line) for line in system]
    previous = 1
    for q in range(k):
        pivot = rows[q][q]
        if pivot == 0:
            return None
        chosen = rows[q]
        for r in range(k):
            if r != q:
                line = rows[r]
                factor = line[q]
                rows[r] = [(pivot * a - factor * b) // previous for a, b in zip(line, chosen, strict=True)]
        previous = pivot
    return [rows[q][k] for q in range(k)], previous
