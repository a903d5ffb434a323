"""Patients with several rows each, which resemble each other, in place of the independent cases of a world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.validation import check_integer, check_number
from cudbound.study.populations.mixture import Mixture
from cudbound.study.populations.population import Cases
from cudbound.study.populations.simulated import Array, Labels, check_share

#: Rows of one patient, at most.
MAX_ROWS_PER_PATIENT = 1000


@dataclass(frozen=True)
class Patients:
    """A world of normal classes in which every patient has several rows.

    A patient has a component of the world, with its class, and one normal point in it: each of his rows is a mean of
    that point and of a point of its own, weighted such that a row by itself is a case of the world. Rows of different
    patients are independent. The true error is that on one row of a new patient, and so that of the world.

    Parameters
    ----------
    world : Mixture
        One of those that the presets of `cudbound.study.populations.worlds` make.
    rows_per_patient : (int, int), default=(2, 6)
        The fewest and the most rows of a patient, from 1 to 1000; all numbers between are equally likely, unless
        `many_rows` says otherwise.
    many_rows : float or None, default=None
        Share of the patients who have the most rows, strictly between 0 and 1, while the others have the fewest; None
        for all numbers between.
    within_patient : float, default=0.5
        Share of the variance of every feature, around the center of the component, that is common to the rows of a
        patient; in [0, 1).

    Raises
    ------
    ValueError
        If a parameter is out of range, or the world is of another kind.

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
                "world", "a world of normal classes where patients have several rows", self.world
            )
        rows = self.rows_per_patient
        if not isinstance(rows, tuple) or len(rows) != 2:
            raise ParameterError("rows_per_patient", "the fewest and the most rows of a patient", rows)
        fewest = check_integer("rows_per_patient", rows[0], 1, MAX_ROWS_PER_PATIENT)
        check_integer("rows_per_patient", rows[1], fewest, MAX_ROWS_PER_PATIENT)
        check_number("within_patient", self.within_patient, 0.0, 1.0)
        if self.many_rows is not None:
            check_share("many_rows", self.many_rows)

    @property
    def name(self) -> str:
        """The word for the world in design files and results."""
        return self.world.name

    @property
    def title(self) -> str:
        """One line: how cases arise, and how the true error is found."""
        fewest, most = self.rows_per_patient
        rows = (
            f"{fewest} to {most} rows a patient"
            if self.many_rows is None
            else f"{most} rows of {self.many_rows:.0%} of the patients and {fewest} of the others"
        )
        return f"{self.world.title}; {rows}, which share {self.within_patient:.0%} of the variance"

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.world.n_features

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features and labels of one row each of n patients."""
        return self.world.sample(n, rng)

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n rows; the last patient may have fewer rows than the others.

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
