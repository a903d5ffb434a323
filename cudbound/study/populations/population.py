"""The source of training sets in a study: a population with a true error for every classifier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from cudbound.basis.validation import MIN_ROWS_PER_CLASS

#: Samples without a class, after which drawing fails.
MAX_DRAWS = 1000


@dataclass(frozen=True)
class Truth:
    """The error of one classifier on the population.

    Attributes
    ----------
    value : float
        In [0, 1].
    standard_error : float
        Standard error of `value` if it is estimated; 0 if it is exact.
    """

    value: float
    standard_error: float = 0.0


@dataclass(frozen=True, eq=False)
class Cases:
    """A training set, and the true error of classifiers fitted to it.

    Attributes
    ----------
    X : ndarray of float, shape (n, n_features)
    y : ndarray of int, shape (n,)
        0 or 1, or the numbers of more classes.
    true_error : callable
        ``true_error(classifier) -> Truth`` for a fitted scikit-learn classifier.
    groups : ndarray, shape (n,), or None, default=None
        Patient of each case, with equal values for the same patient; None if each case is a separate patient.
    """

    X: Any
    y: Any
    true_error: Callable[[Any], Truth] = field(repr=False)
    groups: Any = None

    @property
    def n_rarer(self) -> int:
        """Number of cases, or of patients with several cases, in the smallest class."""
        y = np.asarray(self.y)
        patients = np.arange(y.size) if self.groups is None else np.asarray(self.groups)
        sizes = [len(set(patients[y == label])) for label in np.unique(y)]
        return min(sizes) if len(sizes) > 1 else 0


class Population(Protocol):
    """A source of training sets; examples are in the modules `worlds` and `real_data`."""

    @property
    def name(self) -> str:
        """Its name in design files and results."""

    @property
    def title(self) -> str:
        """One line on how cases arise and how the true error is found."""

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n cases; it may have only one class."""


def draw_both_classes(population: Population, n: int, rng: np.random.Generator) -> tuple[Cases, int]:
    """Draw a sample with at least two cases, or patients with several cases, per class; count rejected samples.

    Raises
    ------
    ValueError
        If a thousand samples are rejected.
    """
    for n_redrawn in range(MAX_DRAWS):
        drawn = population.draw(n, rng)
        if drawn.n_rarer >= MIN_ROWS_PER_CLASS:
            return drawn, n_redrawn
    raise ValueError(
        f"{MAX_DRAWS} samples of {n} cases from {population.name} all had fewer than {MIN_ROWS_PER_CLASS} cases of a "
        "class; use larger samples."
    )
