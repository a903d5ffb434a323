"""What a study draws training sets from: a population with a true error for every classifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from cudbound.basis.validation import MIN_ROWS_PER_CLASS

#: Samples that may lack a class before there is none.
MAX_DRAWS = 1000


@dataclass(frozen=True)
class Truth:
    """The error of one classifier on the population.

    Attributes
    ----------
    value : float
        In [0, 1].
    standard_error : float
        Of `value` where it is itself estimated; 0 where it is exact.
    """

    value: float
    standard_error: float = 0.0


@dataclass(frozen=True, eq=False)
class Cases:
    """A training set, and how a classifier that was fitted to it is judged.

    Attributes
    ----------
    X : ndarray of float, shape (n, n_features)
    y : ndarray of int, shape (n,)
        0 or 1, or the numbers of more classes.
    true_error : callable
        ``true_error(classifier) -> Truth`` for a fitted scikit-learn classifier.
    groups : ndarray, shape (n,), or None, default=None
        Which cases are rows of one patient, by equal values; None if each is a patient of its own.
    """

    X: Any
    y: Any
    true_error: Callable[[Any], Truth] = field(repr=False)
    groups: Any = None

    @property
    def n_rarer(self) -> int:
        """Cases, or patients with several, of the class that has fewest of them."""
        y = np.asarray(self.y)
        patients = np.arange(y.size) if self.groups is None else np.asarray(self.groups)
        sizes = [len(set(patients[y == label])) for label in np.unique(y)]
        return min(sizes) if len(sizes) > 1 else 0


class Population(Protocol):
    """A source of training sets; the modules `worlds` and `real_data` beside this one have some."""

    @property
    def name(self) -> str:
        """The word for it in design files and results."""

    @property
    def title(self) -> str:
        """One line: how cases arise, and how the true error is found."""

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n cases; it may hold one class only."""


def draw_both_classes(population: Population, n: int, rng: np.random.Generator) -> tuple[Cases, int]:
    """Draw a sample with at least two cases, or patients with several, of each class; count those that had not.

    Raises
    ------
    ValueError
        If a thousand samples had not.
    """
    for n_redrawn in range(MAX_DRAWS):
        drawn = population.draw(n, rng)
        if drawn.n_rarer >= MIN_ROWS_PER_CLASS:
            return drawn, n_redrawn
    raise ValueError(
        f"{MAX_DRAWS} samples of {n} cases of {population.name} had fewer than {MIN_ROWS_PER_CLASS} cases of "
        "a class each; take larger samples."
    )
