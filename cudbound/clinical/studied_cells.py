"""Coverage of intervals for the error in the cells of the studies that are nearest to a training set.

``studied_cells.csv`` is made from the committed tables of the studies by ``python tests/helpers/studied_cells.py``.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from cudbound.adapters.parts import unwrap
from cudbound.inputs.classifier_recipe import LEARNERS

#: Cells that are shown, and the factor above which one says little of a training set.
N_NEAREST, FAR = 3, 2.0


@dataclass(frozen=True)
class Covered:
    """Performance of one interval in a cell: coverage with its Monte Carlo standard error, and mean width."""

    coverage: float
    mcse: float
    width: float


@dataclass(frozen=True, eq=False)
class StudiedCell:
    """A cell of a study: a population, a sample size and a classifier.

    Attributes
    ----------
    study, scenario : str
        A folder of ``docs/evidence``, and a name in its table.
    family : str
        Name of the classifier, as in `cudbound.inputs.classifier_recipe.LEARNERS`; with the prefix "tuned" after a
        search, and "grouped" for grouped rows.
    n, p : int
        Number of rows and of features.
    estimate : float
        Mean true error.
    sets : int
        Number of training sets.
    intervals : dict of str to Covered
        Results by the name of the method.
    """

    study: str
    scenario: str
    family: str
    n: int
    p: int
    estimate: float
    sets: int
    intervals: dict[str, Covered] = field(default_factory=dict)

    def distance(self, n: int, p: int, estimate: float) -> float:
        """Return |log ratio of n| + |log ratio of p/n| + |difference of the estimates| / .1."""
        shapes = abs(math.log(n / self.n)) + abs(math.log(p / n * self.n / self.p))
        return shapes + abs(estimate - self.estimate) / 0.1

    def rank(self, n: int, p: int, estimate: float) -> tuple[Any, ...]:
        """Return a sort key for cells, nearest first, in a reproducible order."""
        return self.distance(n, p, estimate), self.study, self.scenario, self.n

    def far_in(self, n: int, p: int, estimate: float) -> dict[str, tuple[float, float]]:
        """Return those of n, p/n and the estimate that differ by a factor above 2, with both values."""
        pairs = {"n": (n, self.n), "p/n": (p / n, self.p / self.n), "estimate": (estimate, self.estimate)}
        return {name: pair for name, pair in pairs.items() if max(pair) > FAR * min(pair)}


def family_of(estimator: Any, grouped: bool = False) -> str:
    """Return the name of a fitted classifier in the studies, or else the name of its class."""
    inside = unwrap(estimator)
    name = type(inside.classifier).__name__
    known = {one.class_name: label for label, one in reversed(LEARNERS.items())}
    marks = ["grouped"] * grouped + ["tuned"] * bool(inside.chosen_by)
    return " ".join([*marks, known.get(name, name)])


def nearest_cells(family: str, method: str, n: int, p: int, estimate: float) -> list[StudiedCell]:
    """Return the nearest cells of a family in which a method was studied, nearest first.

    Examples
    --------
    >>> [cell.n for cell in nearest_cells("linear-svm", "langford-binomial", 40, 4, 0.2)]
    [50, 70, 50]
    >>> nearest_cells("svm", "langford-binomial", 40, 4, 0.2)
    []
    """
    cells = cells_of(family, method)
    return sorted(cells, key=lambda cell: cell.rank(n, p, estimate))[:N_NEAREST]


def cells_of(family: str, method: str) -> list[StudiedCell]:
    """Return the cells of a family in which a method was studied."""
    return [cell for cell in studied_cells() if cell.family == family and method in cell.intervals]


def families_of(method: str) -> list[str]:
    """Return the families of classifiers with which a method was studied.

    Examples
    --------
    >>> families_of("abcloc")
    ['least-squares', 'logistic']
    """
    return sorted({cell.family for cell in studied_cells() if method in cell.intervals})


@cache
def studied_cells() -> tuple[StudiedCell, ...]:
    """Return all cells of the table that ships with the package."""
    text = resources.files("cudbound.clinical").joinpath("studied_cells.csv").read_text("utf-8")
    cells: dict[tuple[str, ...], StudiedCell] = {}
    for line in csv.DictReader(text.splitlines()):
        key = tuple(line[name] for name in ("study", "scenario", "family", "n", "p", "estimate", "sets"))
        study, scenario, family, n, p, estimate, sets = key
        whole = StudiedCell(study, scenario, family, int(n), int(p), float(estimate), int(sets))
        numbers = (float(line[name] or "nan") for name in ("coverage", "mcse", "width"))
        cells.setdefault(key, whole).intervals[line["method"]] = Covered(*numbers)
    return tuple(cells.values())
