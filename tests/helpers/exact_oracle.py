"""The oracle in rational arithmetic, in the folder `rational`: it shares no code with the solver."""

from fractions import Fraction

from rational.arrangement import score_weights
from rational.quadratic import localization, mean_loss
from rational.supremum import ExactCell, ExactDraw

from cudbound.problem.problem import Problem

__all__ = ["ExactCell", "ExactDraw", "classes", "exact_q", "localization", "mean_loss", "score_weights"]


def exact_q(problem: Problem, draw: int, side: str = "both") -> ExactCell:
    """Return Q of one draw exactly, as the value of a cell that attains it: none is worth more."""
    exact = ExactDraw(problem, draw)
    better = exact.exceeds(Fraction(-1), side)
    assert better is not None, "some open cell is worth at least 0"
    while better is not None:
        found, better = better, exact.exceeds(better.value, side)
    return found


def classes(exact: ExactDraw, cell: ExactCell) -> tuple[int, ...]:
    """Return the class in a cell, -1 or +1, of each row that counts, and 0 for those whose class does not matter."""
    arrangement = exact.arrangement
    found = [0] * len(arrangement.labels)
    for j, plane in enumerate(arrangement.hyperplanes):
        for i, side in plane.rows:
            found[i] = side if cell.up >> j & 1 else -side
    return tuple(found)
