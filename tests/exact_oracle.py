"""Q of small problems of squared loss in rational arithmetic: no tolerance, no rounding, nothing from the solver.

The numbers of a problem are taken as the exact rationals that floating-point numbers are, and everything is
computed with Python's integers.

Hyperplanes a_j't = 0 cut the space into cells. The least loss on the closure of a cell is attained in the relative
interior of one of its faces, where it is the least loss on the flat that the face spans, an intersection of
hyperplanes. If the minimiser on that flat is not unique, one may move along the others to a smaller face. So only
flats with a single minimiser are needed, down to t = 0. A minimiser with signs s_j lies in the closure of the cells
that agree with s wherever it is not zero, and of no others. Hence

    Q = max over flats of  g(least loss on the flat) * (largest score of an open cell that agrees with s).

The hyperplanes through the minimiser form an arrangement of their own, whose open cells are those of the whole
around that point. Each of them has a ray of some line among the flats on its border, on which fewer hyperplanes
are undecided: `Arrangement.extremes` goes down like this until they are independent, where every pattern of sides is
a cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, inf, lcm

from cudbound.problem import Problem

Vector = tuple[int, ...]
Matrix = list[list[int]]


@dataclass(frozen=True)
class ExactCell:
    """An open cell and what it is worth.

    Attributes
    ----------
    value : Fraction
        Size of the score (its positive part for one side) times g at the least loss on the closure.
    score : Fraction
        Signed score S of the cell.
    loss : Fraction
        Least mean loss on its closure.
    classes : tuple of int
        Class (-1 or +1) in the cell of each row that counts; 0 for rows whose class does not matter.
    nearest : tuple of Fraction
        Coefficients in the closure that have the least loss.
    """

    value: Fraction
    score: Fraction
    loss: Fraction
    classes: tuple[int, ...]
    nearest: tuple[Fraction, ...]


class ExactDraw:
    """One draw of a problem of squared loss, with or without a quadratic penalty."""

    def __init__(self, problem: Problem, draw: int) -> None:
        if problem.loss.name != "squared" or (problem.l1_penalty is not None and problem.l1_penalty.any()):
            raise ValueError(
                "Exact arithmetic knows squared loss with a quadratic penalty. Got "
                f"{problem.loss.name!r}{' with an l1 penalty' if problem.l1_penalty is not None else ''} instead."
            )
        self.problem = problem
        self.draw = draw
        self.arrangement = Arrangement(problem, draw)
        self.quadratic = Quadratic(problem, draw, self.arrangement)
        self.anchor = mean_loss(problem, draw, problem.coef.tolist())

    def q(self, side: str = "both", *, slack: Fraction = Fraction(0)) -> ExactCell:
        """Return Q as the value of a cell that attains it; see `exact_q`."""
        found = _Search(self, side, Fraction(-1), slack).run(first=False)
        assert found is not None, "some open cell is worth at least 0"
        return found

    def exceeds(self, bound: float, side: str = "both", *, slack: Fraction = Fraction(0)) -> ExactCell | None:
        """Return a cell that is worth more than `bound`, or None if there is none; see `exceeds`."""
        return _Search(self, side, Fraction(bound), slack).run(first=True) if bound < inf else None

    def inside(self, cell: ExactCell, distance: Fraction) -> tuple[Fraction, ...]:
        """Return coefficients strictly inside the cell, this share of the way from its point of least loss."""
        arrangement = self.arrangement
        up = 0
        for j, (rows, sides) in enumerate(zip(arrangement.rows, arrangement.sides, strict=True)):
            up |= (cell.classes[rows[0]] * sides[0] > 0) << j
        deep = self.quadratic.coefficients([Fraction(value) for value in arrangement.interior(up)])
        return tuple(near + distance * (far - near) for near, far in zip(cell.nearest, deep, strict=True))


def exact_q(problem: Problem, draw: int, side: str = "both", *, slack: Fraction = Fraction(0)) -> ExactCell:
    """Return Q of one draw exactly, as the value of a cell that attains it.

    `slack` is added to the loss of the anchor: with some, the result is an upper limit for what a solver may claim
    that knows losses only to rounding, which matters where g jumps (alpha = inf).
    """
    return ExactDraw(problem, draw).q(side, slack=slack)


def exceeds(problem: Problem, draw: int, bound: float, side: str = "both") -> ExactCell | None:
    """Return an open cell that is worth more than `bound`, or None if there is none."""
    return ExactDraw(problem, draw).exceeds(bound, side)


def mean_loss(problem: Problem, draw: int, coef: Sequence[Fraction | float]) -> Fraction:
    """Return the penalized mean squared loss of `coef` on one draw."""
    beta, below = _integers(coef)
    total = Fraction(0)
    for i, count in enumerate(problem.counts[draw].tolist()):
        if count == 0:
            continue
        share = Fraction(count)
        if problem.sample_weight is not None:
            share *= Fraction(float(problem.sample_weight[i]))
        row, row_below = _integers(problem.design[i].tolist())
        score = Fraction(_dot(row, beta), row_below * below)
        if problem.offset is not None:
            score += Fraction(float(problem.offset[i]))
        total += share * (int(problem.labels[i]) - score) ** 2
    total /= problem.labels.size
    if problem.penalty is not None:
        for strength, value in zip(problem.penalty.tolist(), beta, strict=True):
            total += Fraction(strength) * Fraction(value, below) ** 2
    return total


def localization(problem: Problem, anchor: Fraction, loss: Fraction) -> Fraction:
    """Return g(alpha (anchor - loss)), g(x) = clip(1 + x, 0, 1), with its limits at alpha = 0 and infinity."""
    if problem.alpha == inf:
        return Fraction(int(loss <= anchor))
    return min(max(1 + Fraction(problem.alpha) * (anchor - loss), Fraction(0)), Fraction(1))


def score_weights(problem: Problem, draw: int) -> list[Fraction]:
    """Return the signed weights of one draw; those of the plain error are (counts - 1) / n, not its rounding."""
    if problem.weights is None:
        return [Fraction(count - 1, problem.labels.size) for count in problem.counts[draw].tolist()]
    return [Fraction(weight) for weight in problem.weights[draw].tolist()]


class Arrangement:
    """Distinct hyperplanes that change the score of one draw, in coordinates that they span.

    Columns of the design are scaled to integers. The coefficients in `kept` alone decide all sides once the directions
    in `lineality`, which change none, are taken out. A set of hyperplanes is an integer, bit j standing for the j-th.
    """

    def __init__(self, problem: Problem, draw: int) -> None:
        n, p = problem.design.shape
        columns = [_integers(column) for column in problem.design.T.tolist()]
        self.column_scales = [scale for _, scale in columns]
        self.design: list[Vector] = list(zip(*(column for column, _ in columns), strict=True))
        self.labels = [int(label) for label in problem.labels.tolist()]
        weights, self.unit = _integers(score_weights(problem, draw))
        self.constant = 0
        merged: dict[Vector, list[tuple[int, int]]] = {}
        for i in range(n):
            if not any(self.design[i]):  # always classified as +1
                self.constant += weights[i] * (self.labels[i] != 1)
            elif weights[i] != 0:
                normal, side = _primitive(self.design[i]), 1
                if next(value for value in normal if value) < 0:
                    normal, side = tuple(-value for value in normal), -1
                merged.setdefault(normal, []).append((i, side))
        self.full_normals: list[Vector] = []
        self.positive: list[int] = []
        self.negative: list[int] = []
        self.rows: list[list[int]] = []
        self.sides: list[list[int]] = []
        for normal, members in merged.items():
            on_positive = sum(weights[i] for i, side in members if side != self.labels[i])
            on_negative = sum(weights[i] for i, side in members if -side != self.labels[i])
            if on_positive == on_negative:
                self.constant += on_positive
                continue
            self.full_normals.append(normal)
            self.positive.append(on_positive)
            self.negative.append(on_negative)
            self.rows.append([i for i, _ in members])
            self.sides.append([side for _, side in members])
        self.lineality = _identity(p)
        for normal in self.full_normals:
            self.lineality = _cut(self.lineality, normal)
        dropped = _pivot_columns(self.lineality)
        self.kept = [j for j in range(p) if j not in dropped]
        self.normals = [tuple(normal[j] for j in self.kept) for normal in self.full_normals]
        self.dimension = len(self.kept)
        self.all = (1 << len(self.normals)) - 1
        self._extremes: dict[int, tuple[int, int, int, int]] = {}

    def children(
        self, within: int, closure: int, basis: list[Vector], last: int
    ) -> Iterator[tuple[int, list[Vector], int]]:
        """Yield the flats of one dimension less in a flat, each once in the whole descent from the full space.

        A flat is the intersection of the hyperplanes in `closure`, all those of `within` that contain it, and is
        spanned by `basis`. It is visited from the flat of its lexicographically first independent hyperplanes.
        """
        for j in range(last + 1, len(self.normals)):
            if not within >> j & 1 or closure >> j & 1:
                continue
            smaller = _cut(basis, self.normals[j])
            contained = closure | 1 << j
            first = True
            for i in range(len(self.normals)):
                if within >> i & 1 and not contained >> i & 1:
                    normal = self.normals[i]
                    if not any(_dot(normal, vector) for vector in smaller):
                        if i < j:
                            first = False
                            break
                        contained |= 1 << i
            if first:
                yield contained, smaller, j

    def sides_of(self, point: Sequence[int], within: int) -> tuple[int, int]:
        """Return the hyperplanes on whose positive side a point lies, and those it lies on."""
        up = on = 0
        for j, normal in enumerate(self.normals):
            if within >> j & 1:
                value = _dot(normal, point)
                if value > 0:
                    up |= 1 << j
                elif value == 0:
                    on |= 1 << j
        return up, on

    def score(self, up: int, within: int) -> int:
        """Return the score of the hyperplanes in `within`, on their positive side if in `up`."""
        total = 0
        for j in range(len(self.normals)):
            if within >> j & 1:
                total += self.positive[j] if up >> j & 1 else self.negative[j]
        return total

    def at_most(self, within: int) -> tuple[int, int]:
        """Return limits (high, low) of their score if each could take either side."""
        high = low = 0
        for j in range(len(self.normals)):
            if within >> j & 1:
                a, b = self.positive[j], self.negative[j]
                high, low = (high + a, low + b) if a > b else (high + b, low + a)
        return high, low

    def extremes(self, within: int) -> tuple[int, int, int, int]:
        """Return the largest score of an open cell of the hyperplanes in `within` alone, the hyperplanes on whose
        positive side this cell lies, and the same for the smallest score.
        """
        if within not in self._extremes:
            space = _identity(self.dimension)
            for j in _bits(within):
                space = _cut(space, self.normals[j])
            rank = self.dimension - len(space)
            if rank == within.bit_count():
                high, low = self.at_most(within)
                up = sum(1 << j for j in _bits(within) if self.positive[j] > self.negative[j])
                self._extremes[within] = high, up, low, within & ~up
            else:
                self._extremes[within] = self._extremes_by_rays(within, rank)
        return self._extremes[within]

    def _extremes_by_rays(self, within: int, rank: int) -> tuple[int, int, int, int]:
        high: int | None = None
        low: int | None = None
        high_at = low_at = 0
        for ray in self.rays(within, rank):
            up, on = self.sides_of(ray, within)
            off = within & ~on
            base, (free_high, free_low) = self.score(up, off), self.at_most(on)
            if high is None or base + free_high > high:
                value, at = self.extremes(on)[:2]
                if high is None or base + value > high:
                    high, high_at = base + value, up | at
            if low is None or base + free_low < low:
                value, at = self.extremes(on)[2:]
                if low is None or base + value < low:
                    low, low_at = base + value, up | at
        assert high is not None
        assert low is not None
        return high, high_at, low, low_at

    def rays(self, within: int, rank: int) -> Iterator[Vector]:
        """Yield a vector on each ray of the hyperplanes in `within`; two on a line, in opposite directions."""

        def descend(closure: int, basis: list[Vector], last: int, left: int) -> Iterator[Vector]:
            if left == 0:
                ray = next(v for v in basis if any(_dot(self.normals[j], v) for j in _bits(within)))
                yield ray
                yield tuple(-value for value in ray)
                return
            for smaller in self.children(within, closure, basis, last):
                yield from descend(*smaller, left - 1)

        return descend(0, _identity(self.dimension), -1, rank - 1)

    def interior(self, up: int) -> Vector:
        """Return a point strictly inside an open cell: the sum of its rays, since it holds no line."""
        total = [0] * self.dimension
        if self.dimension:
            for ray in self.rays(self.all, self.dimension):
                above, on = self.sides_of(ray, self.all)
                if above == up & ~on:
                    total = [a + b for a, b in zip(total, ray, strict=True)]
        assert self.sides_of(total, self.all) == (up, 0), "the cell is not open"
        return tuple(total)


class Quadratic:
    """The loss as [t 1] matrix [t 1]' / scale, least over the directions that change no side."""

    def __init__(self, problem: Problem, draw: int, arrangement: Arrangement) -> None:
        n, p = problem.design.shape
        targets = [Fraction(label) for label in problem.labels.tolist()]
        if problem.offset is not None:
            targets = [t - Fraction(o) for t, o in zip(targets, problem.offset.tolist(), strict=True)]
        target, self.target_scale = _integers(targets)
        shares = [Fraction(count) for count in problem.counts[draw].tolist()]
        if problem.sample_weight is not None:
            shares = [s * Fraction(c) for s, c in zip(shares, problem.sample_weight.tolist(), strict=True)]
        strengths = (
            [Fraction(0)] * p if problem.penalty is None else [Fraction(r) for r in problem.penalty.tolist()]
        )
        numbers, unit = _integers([*shares, *(n * r for r in strengths)])
        full = [[0] * (p + 1) for _ in range(p + 1)]
        for share, row, value in zip(numbers[:n], arrangement.design, target, strict=True):
            if share:
                extended = (*row, -value)
                for j in range(p + 1):
                    weighted = share * extended[j]
                    if weighted:
                        line = full[j]
                        for k in range(p + 1):
                            line[k] += weighted * extended[k]
        for j, strength in enumerate(numbers[n:]):
            full[j][j] += strength * arrangement.column_scales[j] ** 2
        self.scale = Fraction(n * unit * self.target_scale**2)
        self.arrangement = arrangement
        self.eliminated: list[tuple[int, list[int]]] = []
        self.matrix = self._eliminate(full)

    def _eliminate(self, full: Matrix) -> Matrix:
        """Minimise over the lineality; what is eliminated is kept for `coefficients`."""
        arrangement = self.arrangement
        p = len(full) - 1
        if not arrangement.lineality:
            return full
        unit = _identity(p + 1)
        flat = [(*vector, 0) for vector in arrangement.lineality]
        basis = [*flat, *(unit[j] for j in arrangement.kept), unit[p]]
        matrix = _restrict(full, basis)
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
            z = (
                Fraction(0)
                if pivot == 0
                else -sum((a * v for a, v in zip(line, values, strict=True)), Fraction(0)) / pivot
            )
            values.insert(0, z)
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
        """Return the least value on a flat as a fraction of `scale` (numerator, denominator) and a positive multiple of
        its minimiser; None if there are several minimisers.
        """
        d = len(self.matrix) - 1
        matrix = self.matrix
        images = [[_dot(matrix[j], vector) for j in range(d + 1)] for vector in basis]
        k = len(basis)
        system = [[_dot(image, vector) for vector in basis] + [-image[d]] for image in images]
        solved = _solve(system)
        if solved is None:
            return None
        multipliers, determinant = solved
        numerator = matrix[d][d] * determinant + sum(
            image[d] * value for image, value in zip(images, multipliers, strict=True)
        )
        point = tuple(sum(multipliers[q] * basis[q][j] for q in range(k)) for j in range(d))
        return numerator, determinant, point


class _Search:
    """The search over flats for the most valuable cell, or for the first one worth more than a bound."""

    def __init__(self, exact: ExactDraw, side: str, bound: Fraction, slack: Fraction) -> None:
        self.exact, self.arrangement, self.quadratic = exact, exact.arrangement, exact.quadratic
        self.alpha = exact.problem.alpha
        self.anchor = (exact.anchor + slack) * self.quadratic.scale
        self.signs = {"both": (1, -1), "positive": (1,), "negative": (-1,)}[side]
        self.bound = bound * self.arrangement.unit
        self.most = self._size(*self._with_constant(self.arrangement.at_most(self.arrangement.all)))
        self.found: tuple[Fraction, int, int, Vector, int, int] | None = None
        self._limits: dict[int, Fraction | None] = {}

    def run(self, *, first: bool) -> ExactCell | None:
        self.first = first
        arrangement = self.arrangement
        if arrangement.dimension:
            self._visit(0, _identity(arrangement.dimension), -1)
        if not (first and self.found):
            apex = self.quadratic.matrix[-1][-1]
            self._offer(apex, 1, (0,) * arrangement.dimension)
        return self._cell()

    def _visit(self, closure: int, basis: list[Vector], last: int) -> None:
        least = self.quadratic.least(basis)
        if least is not None:
            if not self._allowed(self.most, least[0], least[1]):
                return  # no flat in this one has a smaller loss
            self._offer(*least)
        if len(basis) > 1:
            for smaller in self.arrangement.children(self.arrangement.all, closure, basis, last):
                if self.first and self.found:
                    return
                self._visit(*smaller)

    def _offer(self, numerator: int, denominator: int, point: Vector) -> None:
        arrangement = self.arrangement
        up, on = arrangement.sides_of(point, arrangement.all)
        base = arrangement.constant + arrangement.score(up, arrangement.all & ~on)
        high, low = arrangement.at_most(on)
        if not self._allowed(self._size(base + high, base + low), numerator, denominator):
            return
        high, high_at, low, low_at = arrangement.extremes(on)
        for sign in self.signs:
            score, at = (base + high, high_at) if sign > 0 else (base + low, low_at)
            size = max(sign * score, 0)
            if self._allowed(size, numerator, denominator):
                value = size * self._g(Fraction(numerator, denominator))
                if value > self.bound:
                    self.bound = value
                    self._limits.clear()
                    self.found = value, score, up | at, point, numerator, denominator

    def _with_constant(self, limits: tuple[int, int]) -> tuple[int, int]:
        return limits[0] + self.arrangement.constant, limits[1] + self.arrangement.constant

    def _size(self, high: int, low: int) -> int:
        return max(0, *(high if sign > 0 else -low for sign in self.signs))

    def _g(self, value: Fraction) -> Fraction:
        if self.alpha == inf:
            return Fraction(int(value <= self.anchor))
        return min(
            max(1 + Fraction(self.alpha) * (self.anchor - value) / self.quadratic.scale, Fraction(0)),
            Fraction(1),
        )

    def _allowed(self, size: int, numerator: int, denominator: int) -> bool:
        """Whether a score of this size may be worth more than the bound at a loss of numerator / denominator."""
        if self.bound < 0:
            return True
        if size <= self.bound:
            return False
        if self.alpha == 0:
            return True
        if self.alpha == inf:
            return numerator * self.anchor.denominator <= self.anchor.numerator * denominator
        limit = self._limits.get(size)
        if limit is None:
            limit = self.anchor + (1 - self.bound / size) * self.quadratic.scale / Fraction(self.alpha)
            self._limits[size] = limit
        return numerator * limit.denominator < limit.numerator * denominator

    def _cell(self) -> ExactCell | None:
        if self.found is None:
            return None
        value, score, up, point, numerator, denominator = self.found
        arrangement = self.arrangement
        classes = [0] * len(arrangement.labels)
        for j, (rows, sides) in enumerate(zip(arrangement.rows, arrangement.sides, strict=True)):
            for i, side in zip(rows, sides, strict=True):
                classes[i] = side if up >> j & 1 else -side
        nearest = self.quadratic.coefficients([Fraction(v, denominator) for v in point])
        return ExactCell(
            value / arrangement.unit,
            Fraction(score, arrangement.unit),
            Fraction(numerator, denominator) / self.quadratic.scale,
            tuple(classes),
            nearest,
        )


def _integers(values: Iterable[Fraction | float]) -> tuple[Vector, int]:
    """Return integers and the positive number that they have to be divided by to give the values."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = lcm(*(below for _, below in ratios))
    return tuple(above * (scale // below) for above, below in ratios), scale


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(map(int.__mul__, a, b))  # the shorter one decides how many terms there are


def _primitive(vector: Vector) -> Vector:
    divisor = gcd(*vector)
    return tuple(value // divisor for value in vector) if divisor > 1 else vector


def _identity(size: int) -> list[Vector]:
    return [tuple(int(j == k) for k in range(size)) for j in range(size)]


def _bits(mask: int) -> list[int]:
    return [j for j in range(mask.bit_length()) if mask >> j & 1]


def _cut(basis: list[Vector], normal: Vector) -> list[Vector]:
    """Return a basis of the part of a space that lies on a hyperplane."""
    heights = [_dot(normal, vector) for vector in basis]
    pivot = next((q for q, height in enumerate(heights) if height), None)
    if pivot is None:
        return basis
    height, chosen = heights[pivot], basis[pivot]
    return [
        vector
        if other == 0
        else _primitive(tuple(height * a - other * b for a, b in zip(vector, chosen, strict=True)))
        for q, (vector, other) in enumerate(zip(basis, heights, strict=True))
        if q != pivot
    ]


def _pivot_columns(basis: list[Vector]) -> list[int]:
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


def _restrict(matrix: Matrix, basis: Sequence[Vector]) -> Matrix:
    images = [[_dot(line, vector) for line in matrix] for vector in basis]
    return [[_dot(image, vector) for vector in basis] for image in images]


def _solve(system: Matrix) -> tuple[list[int], int] | None:
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
