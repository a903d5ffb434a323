"""Patients with several similar rows each, instead of the independent cases of a world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import check_integer, check_number
from cudbound.study.populations.mixture import Mixture
from cudbound.study.populations.population import (
    Array,
    Cases,
    Labels,
    check_share,
)

#: Largest number of rows per patient.
MAX_ROWS_PER_PATIENT = 1000


@dataclass(frozen=True)
class Patients:
    """A world of normal classes with several rows per patient.

    A patient has a component of the world, with its class, and one normal point in it. Each row is a weighted mean of
    that point and a separate point; the weights make a single row a case of the world. Rows of different patients are
    independent. The true error is that on one row of a new patient, and so that of the world.

    Parameters
    ----------
    world : Mixture
        Such as `cudbound.study.populations.worlds.Gaussians`.
    rows_per_patient : (int, int), default=(2, 6)
        The smallest and largest number of rows per patient, from 1 to 1000; all numbers between are equally likely,
        unless `many_rows` is given.
    many_rows : float or None, default=None
        Share of patients with the largest number of rows, strictly between 0 and 1; the others have the smallest. None
        for all numbers between.
    within_patient : float, default=0.5
        Share of the variance of every feature, around the center of the component, that is common to the rows of a
        patient; in [0, 1).

    Raises
    ------
    ValueError
        If a parameter is out of range, or the world has another type.

    Examples
    --------
    >>> from cudbound.study.populations.worlds import Gaussians
    >>> drawn = Patients(Gaussians()).draw(8, np.random.default_rng(0))
    >>> drawn.groups.tolist(), drawn.y.tolist()
    ([0, 0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0])
    """

    world: Mixture
    rows_per_patient: tuple[int, int] = (2, 6)
    within_patient: float = 0.5
    many_rows: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.world, Mixture):
            raise ParameterError(
                "world", "a world of normal classes, for patients with several rows", self.world
            )
        rows = self.rows_per_patient
        if not isinstance(rows, tuple) or len(rows) != 2:
            raise ParameterError(
                "rows_per_patient", "the smallest and the largest number of rows per patient", rows
            )
        fewest = check_integer("rows_per_patient", rows[0], 1, MAX_ROWS_PER_PATIENT)
        check_integer("rows_per_patient", rows[1], fewest, MAX_ROWS_PER_PATIENT)
        check_number("within_patient", self.within_patient, 0.0, 1.0)
        if self.many_rows is not None:
            check_share("many_rows", self.many_rows)

    @property
    def name(self) -> str:
        """The name of the world in design files and results."""
        return self.world.name

    @property
    def title(self) -> str:
        """One line on how cases arise and how the true error is found."""
        fewest, most = self.rows_per_patient
        rows = (
            f"{fewest} to {most} rows per patient"
            if self.many_rows is None
            else f"{most} rows for {self.many_rows:.0%} of patients and {fewest} for the others"
        )
        return f"{self.world.title}; {rows}, which share {self.within_patient:.0%} of the variance"

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.world.n_features

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of n patients, with one row each."""
        return self.world.sample(n, rng)

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n rows; the last patient may have fewer rows.

        Raises
        ------
        ValueError
            If n is not an integer of at least 1.
        """
        fewest, most = self.rows_per_patient
        n_most = -(-check_integer("n", n, 1) // fewest)
        sizes = (
            rng.integers(fewest, most, size=n_most, endpoint=True)
            if self.many_rows is None
            else np.where(rng.random(n_most) < self.many_rows, most, fewest)
        )
        patient = np.repeat(np.arange(n_most), sizes)[:n]
        X, y = self.world.sample_patients(patient, self.within_patient, rng)
        return Cases(X, y, self.true_error, patient)

    def true_error(self, classifier: Any) -> Any:
        """Return the error of a fitted classifier on one row of a new patient."""
        return self.world.true_error(classifier)
