"""A file with the proved bounds of one draw, and their check in exact arithmetic."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cudbound.basis.solved_draws import Draws, SolveStatus
from cudbound.exact.supremum import SIGNS, ExactDraw
from cudbound.problem.problem import Problem, read_arrays, read_scalars, write_arrays

FORMAT = 1

#: Bounds are accepted if they hold up to this, times the largest score if that is above 1: losses and scores are
#: rounded numbers. Errs on the side of accepting.
TOLERANCE = Fraction(1, 10**9)
#: Largest number of flats that are visited: a few seconds.
MOST_FLATS = 20_000


@dataclass(frozen=True)
class Verification:
    """The result of checking the bounds of one draw in exact arithmetic.

    Attributes
    ----------
    lower_proved : bool
        Whether the witness is in an open cell and its value is `lower`, to 1e-9. A lower bound of 0 needs no witness.
    upper_proved : bool or None
        Whether no classifier has a value above `upper`, to 1e-9; None if this was not checked, because there are too
        many flats.
    witness_value : Fraction
        Exact value of the witness; 0 if it is on a hyperplane that counts.
    on_hyperplanes : tuple of int
        Rows that count and have a score of exactly 0 for the witness.
    counterexample : tuple of Fraction or None
        Coefficients with a value above `upper`, if any.
    counterexample_value : Fraction or None
        Their value.
    """

    lower_proved: bool
    upper_proved: bool | None
    witness_value: Fraction
    on_hyperplanes: tuple[int, ...] = ()
    counterexample: tuple[Fraction, ...] | None = field(repr=False, default=None)
    counterexample_value: Fraction | None = field(repr=False, default=None)

    @property
    def holds(self) -> bool:
        """Whether all checked bounds are correct."""
        return self.lower_proved and self.upper_proved is not False

    def __str__(self) -> str:
        if self.lower_proved:
            text = "the lower bound is proved by its witness"
        elif self.on_hyperplanes:
            text = f"the lower bound is NOT proved: the witness has score 0 for the rows {list(self.on_hyperplanes)}"
        else:
            text = (
                f"the lower bound is NOT proved: the value of the witness is {float(self.witness_value):.9g}"
            )
        if self.upper_proved is None:
            return f"{text}; the upper bound was not checked: there are too many flats"
        if self.upper_proved:
            return f"{text}; the upper bound holds"
        assert self.counterexample_value is not None
        return f"{text}; the upper bound is WRONG: a classifier has the value {float(self.counterexample_value):.9g}"


@dataclass(frozen=True, eq=False)
class Certificate:
    """The problem of one draw and the bounds that a solver proved: enough for anyone to check them.

    Made by `cudbound.CudResult.certificate`, or by `of` from the draws of `cudbound.solve_draws`.

    Attributes
    ----------
    problem : Problem
        The problem of one draw.
    side : {"both", "positive", "negative"}
        Which sign of the deviation counts.
    lower, upper : float
        The claimed bounds on Q.
    status : SolveStatus
        How the search ended.
    witness : ndarray of float, shape (n_coefficients,)
        Coefficients with the value `lower`.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound import Certificate, Problem, solve_draws
    >>> design = np.column_stack([np.ones(6), [-2.0, -1.0, 0.5, 1.0, 2.0, 3.0]])
    >>> labels = np.array([-1, -1, 1, -1, 1, 1])
    >>> coef = np.linalg.lstsq(design, labels, rcond=None)[0]
    >>> problem = Problem.of(design, labels, coef, [[2, 0, 0, 2, 1, 1]])
    >>> certificate = Certificate.of(problem, solve_draws(problem), 0)
    >>> certificate.verify().upper_proved
    True
    """

    problem: Problem = field(repr=False)
    side: str
    lower: float
    upper: float
    status: SolveStatus
    witness: NDArray[np.float64] = field(repr=False)

    @classmethod
    def of(cls, problem: Problem, draws: Draws, draw: int) -> Certificate:
        """Return the certificate of one draw of a problem.

        Parameters
        ----------
        problem : Problem
        draws : Draws
            The draws of this problem, as solved.
        draw : int
            Number of the draw; a negative one counts from the end.

        Raises
        ------
        ValueError
            If `draws` belongs to another problem.
        IndexError
            If there is no such draw.
        """
        side = next((side for side in SIGNS if problem.digest(side) == draws.problem_digest), None)
        if side is None:
            raise ValueError(
                "'draws' must belong to 'problem'. Got draws of another one, or a subset of draws: pass both "
                "as they were solved, and choose the draw by its number."
            )
        draw = operator.index(draw)
        single = problem.select(draw)
        return cls(
            single,
            side,
            float(draws.lower[draw]),
            float(draws.upper[draw]),
            draws.status[draw],
            np.array(draws.witness[draw], dtype=float),
        )

    def verify(self, *, most_flats: int = MOST_FLATS) -> Verification:
        r"""Check the bounds in exact arithmetic, without the solver; squared loss only.

        The floating-point numbers of the problem are treated as exact rational numbers, and all computations use
        integers.

        Parameters
        ----------
        most_flats : int, default=20000
            The upper bound is checked if the hyperplanes that count have at most this many flats, which takes up to a
            few seconds: :math:`\sum_{k < r} \binom{m}{k}`, for m hyperplanes of rank r. For m = 30 this is r <= 4.

        Returns
        -------
        Verification
            ``holds``, ``lower_proved``, ``upper_proved`` (None if it was not checked), and coefficients that refute an
            upper bound if it is too small.

        Raises
        ------
        ValueError
            If the loss is not squared loss, or if there is an l1 penalty.

        Notes
        -----
        If weights allow scores above 1, the tolerance of 1e-9 is relative to the largest score. At localization =
        infinity, where g jumps, the loss of the witness may exceed the loss L of the anchor by 1e-9 max(1, L).
        """
        exact = ExactDraw(self.problem, 0)
        value, on_hyperplanes = self._witness_value(exact)
        tolerance = TOLERANCE * max(Fraction(1), exact.largest_score)
        proved = self.lower <= tolerance or (
            np.isfinite(self.lower) and value >= Fraction(self.lower) - tolerance
        )
        if exact.n_flats > most_flats:
            return Verification(bool(proved), None, value, on_hyperplanes)
        # that is wrong for -infinity and nan
        limit = Fraction(self.upper) + tolerance if np.isfinite(self.upper) else Fraction(-1)
        cell = None if self.upper == np.inf else exact.exceeds(limit, self.side)
        counterexample = () if cell is None else exact.realize(cell, limit, self.side)
        return Verification(bool(proved), cell is None, value, on_hyperplanes, *counterexample)

    def _witness_value(self, exact: ExactDraw) -> tuple[Fraction, tuple[int, ...]]:
        """Return the value of the witness and the rows whose hyperplanes contain it."""
        if not np.isfinite(self.witness).all():
            return Fraction(0), ()
        slack = (
            TOLERANCE * max(Fraction(1), exact.anchor) if np.isinf(self.problem.localization) else Fraction(0)
        )
        value, on_hyperplanes = exact.at(self.witness.tolist(), self.side, slack=slack)
        return Fraction(0) if on_hyperplanes else value, on_hyperplanes

    def save(self, path: str | Path) -> None:
        """Write a file in NumPy's ``.npz`` format, with no pickled objects in it.

        The file has exactly the name `path`. It contains the design rows and labels, which are the training data of the
        classifier.
        """
        write_arrays(
            path,
            {
                **self.problem.to_arrays(),
                "certificate_format": np.int64(FORMAT),
                "side": np.str_(self.side),
                "lower": np.float64(self.lower),
                "upper": np.float64(self.upper),
                "status": np.int64(self.status),
                "witness": self.witness,
                "digest": np.str_(self.problem.digest(self.side)),
            },
        )

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read a file written by `save`.

        Raises
        ------
        ValueError
            If the file has a different format, or its problem is not the one that was saved.
        OSError
            If it cannot be read.
        """
        stored = read_arrays(path)
        names = ("certificate_format", "side", "lower", "upper", "status", "digest")
        scalars = read_scalars(stored, names)
        if len(scalars) != len(names) or "witness" not in stored or scalars["certificate_format"] != FORMAT:
            raise ValueError(
                f"{path} is not a certificate of format {FORMAT}; save it again with Certificate.save of this version"
            )
        problem = Problem.from_arrays(stored, path)
        witness = stored["witness"]
        bounds = scalars["lower"], scalars["upper"]
        if (
            problem.n_draws != 1
            or scalars["side"] not in SIGNS
            or scalars["status"] not in set(SolveStatus)
            or not all(isinstance(bound, float) for bound in bounds)
            or witness.dtype != np.float64
            or witness.shape != problem.coef.shape
        ):
            raise ValueError(
                f"{path} is damaged: a certificate has one draw, a side, two bounds, a status and a witness with one "
                "number per column. Save it again."
            )
        if problem.digest(scalars["side"]) != scalars["digest"]:
            raise ValueError(f"{path} was changed: its problem is not the one that was saved. Save it again.")
        return cls(problem, scalars["side"], *bounds, SolveStatus(scalars["status"]), witness)
