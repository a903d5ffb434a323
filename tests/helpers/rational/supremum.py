"""Q of small problems of squared loss in rational arithmetic: no tolerance, no rounding, no code of the solver.

The floating-point numbers of a problem are read as the exact rationals that they represent, and everything is computed
with Python's integers.

Hyperplanes a_j't = 0 cut the space into cells. The least loss on the closure of a cell is attained in the relative
interior of one of its faces, where it is the least loss on the flat that the face spans, an intersection of
hyperplanes. If the minimizer on that flat is not unique, one can move along the set of minimizers to a smaller face.
So only flats with a unique minimizer are needed, down to t = 0. A minimizer with signs s_j lies in the closure of the
cells that agree with s wherever it is not zero, and of no others. Hence

    Q = max over flats of  g(least loss on the flat) * (largest score of an open cell that agrees with s).

The hyperplanes through the minimizer form an arrangement, whose open cells are those of the whole arrangement around
that point. Each of them has a ray of some line among the flats on its border, on which fewer hyperplanes are
undecided: `Arrangement.extreme` descends in this way until they are independent, where every pattern of sides is a
cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from cudbound.problem.problem import Problem
from rational.arrangement import Arrangement
from rational.integers import Vector, dot, identity, to_integers
from rational.quadratic import QuadraticLoss, localization, mean_loss

#: Signs of the deviation that count for a side.
SIGNS = {"both": (1, -1), "positive": (1,), "negative": (-1,)}


@dataclass(frozen=True)
class ExactCell:
    """An open cell with its value.

    Attributes
    ----------
    value : Fraction
        Size of the score (its positive part for one side) times g at the least loss on the closure.
    score : Fraction
        Signed score S of the cell.
    loss : Fraction
        Least mean loss on its closure.
    up : int
        Hyperplanes of the arrangement on whose positive side it lies.
    nearest : tuple of Fraction
        Coefficients in the closure that have the least loss.
    """

    value: Fraction
    score: Fraction
    loss: Fraction
    up: int
    nearest: tuple[Fraction, ...]


class ExactDraw:
    """One draw of a problem of squared loss, with or without a quadratic penalty."""

    def __init__(self, problem: Problem, draw: int) -> None:
        if not problem.loss.quadratic or problem.has_l1_penalty:
            l1 = " with an l1 penalty" if problem.has_l1_penalty else ""
            raise ValueError(
                "Exact arithmetic supports squared loss, with or without a quadratic penalty. 'problem' has "
                f"{problem.loss.name!r}{l1} instead: compare its bounds with those of SearchLimits(solver='cvxpy')."
            )
        self.problem = problem
        self.draw = draw
        self.arrangement = Arrangement(problem, draw)
        self.quadratic = QuadraticLoss(problem, draw, self.arrangement)
        self.anchor = mean_loss(problem, draw, problem.coef.tolist())

    def exceeds(
        self, bound: float | Fraction, side: str = "both", *, slack: Fraction = Fraction(0)
    ) -> ExactCell | None:
        """Return a cell with a value above `bound`, or None if there is none.

        `slack` is added to the loss of the anchor: what a solver may claim that knows losses only to rounding, which
        matters where g jumps (localization = inf).
        """
        return _Search(self, side, Fraction(bound), slack).run() if bound < inf else None

    @property
    def largest_score(self) -> Fraction:
        """Size that no score exceeds: what rounding errors of values are relative to."""
        largest = max(abs(self.arrangement.limit(sign)) for sign in (1, -1))
        return Fraction(largest, self.arrangement.unit)

    def at(
        self, coef: Sequence[Fraction | float], side: str = "both", *, slack: Fraction = Fraction(0)
    ) -> tuple[Fraction, tuple[int, ...]]:
        """Return the value of coefficients, and the rows that count whose hyperplanes contain them.

        If there are such rows, the coefficients are in no open cell. `slack` is added to the loss of the anchor.
        """
        arrangement = self.arrangement
        # column j of the arrangement's design is scaled by the j-th number
        scaled = zip(coef, arrangement.column_scales, strict=True)
        beta, _ = to_integers([Fraction(value) / scale for value, scale in scaled])
        score, on_hyperplanes = arrangement.constant, []
        for plane in arrangement.hyperplanes:
            height = dot(plane.normal, beta)
            if height == 0:
                on_hyperplanes += [row for row, _ in plane.rows]
            score += plane.positive if height > 0 else plane.negative
        loss = mean_loss(self.problem, self.draw, coef)
        size = max(0, *(sign * score for sign in SIGNS[side]))
        value = Fraction(size, arrangement.unit) * localization(self.problem, self.anchor + slack, loss)
        return value, tuple(sorted(on_hyperplanes))

    def approach(self, cell: ExactCell) -> Iterator[tuple[Fraction, ...]]:
        """Yield coefficients strictly inside the cell, ever closer to its point of least loss."""
        deep = self.quadratic.coefficients(self.arrangement.interior(cell.up))
        distance = Fraction(1)
        while True:
            distance /= 16
            yield tuple(near + distance * (far - near) for near, far in zip(cell.nearest, deep, strict=True))


class _Search:
    """The search over flats for a cell with a value above a bound."""

    def __init__(self, exact: ExactDraw, side: str, bound: Fraction, slack: Fraction) -> None:
        self.arrangement, self.quadratic = exact.arrangement, exact.quadratic
        self.problem, self.localization = exact.problem, exact.problem.localization
        self.anchor = (exact.anchor + slack) * self.quadratic.scale
        self.signs = SIGNS[side]
        self.bound = bound * self.arrangement.unit
        self.most = max(0, *(sign * self.arrangement.limit(sign) for sign in self.signs))
        self.found: ExactCell | None = None
        self._limits: dict[int, Fraction | None] = {}

    def run(self) -> ExactCell | None:
        arrangement = self.arrangement
        if arrangement.dimension:
            self._visit(0, identity(arrangement.dimension), -1)
        if not self.found:
            apex = self.quadratic.matrix[-1][-1]
            self._offer(apex, 1, (0,) * arrangement.dimension)
        return self.found

    def _visit(self, closure: int, basis: list[Vector], last: int) -> None:
        least = self.quadratic.least(basis)
        if least is not None:
            if not self._allowed(self.most, least[0], least[1]):
                return  # no flat in this one has a smaller loss
            self._offer(*least)
        if len(basis) > 1:
            for smaller in self.arrangement.children(self.arrangement.all, closure, basis, last):
                if self.found:
                    return
                self._visit(*smaller)

    def _offer(self, numerator: int, denominator: int, point: Vector) -> None:
        arrangement = self.arrangement
        up, on = arrangement.sides_of(point, arrangement.all)
        base = arrangement.constant + arrangement.score(up, arrangement.all & ~on)
        for sign in self.signs:
            if not self._allowed(sign * (base + arrangement.at_most(on, sign)), numerator, denominator):
                continue
            score, at = arrangement.extreme(on, sign)
            score += base
            size = max(sign * score, 0)
            if self._allowed(size, numerator, denominator):
                loss = Fraction(numerator, denominator) / self.quadratic.scale
                value = size * localization(self.problem, self.anchor / self.quadratic.scale, loss)
                if value > self.bound:
                    self.bound = value
                    self._limits.clear()
                    nearest = self.quadratic.coefficients([Fraction(v, denominator) for v in point])
                    unit = arrangement.unit
                    self.found = ExactCell(value / unit, Fraction(score, unit), loss, up | at, nearest)

    def _allowed(self, size: int, numerator: int, denominator: int) -> bool:
        """Whether a score of this size may be worth more than the bound at a loss of numerator / denominator."""
        if self.bound < 0:
            return True
        if size <= self.bound:
            return False
        if self.localization == 0:
            return True
        if self.localization == inf:
            return numerator * self.anchor.denominator <= self.anchor.numerator * denominator
        limit = self._limits.get(size)
        if limit is None:
            limit = self.anchor + (1 - self.bound / size) * self.quadratic.scale / Fraction(self.localization)
            self._limits[size] = limit
        return numerator * limit.denominator < limit.numerator * denominator
