"""The optimisation problems of a set of draws as plain arrays, and one of them as a file for a bug report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.losses import get_loss
from cudbound.validation import check_rate

Array = NDArray[np.float64]
FORMAT = 1


@dataclass(frozen=True)
class Problem:
    """One optimisation problem a draw, all on the same design: the suprema that `cudbound.solve_draws` finds.

    Attributes
    ----------
    design : ndarray of float64, shape (n_samples, n_coefficients), C-contiguous
    labels : ndarray of float64, shape (n_samples,), values -1 and +1
    coef : ndarray of float64, shape (n_coefficients,)
        The anchor beta-hat.
    counts : ndarray of int32, shape (n_draws, n_samples), C-contiguous, non-negative
    alpha : float
        Localisation rate, in [0, inf], on the scale of the mean loss.
    weights : ndarray of float64, shape (n_draws, n_samples), or None
        Signed weights on the error indicators; None stands for (counts - 1) / n_samples, the plain error.
    loss : str
        Name of the surrogate.
    penalty : ndarray of float64, shape (n_coefficients,), or None
        Strengths r_j >= 0; sum_j r_j beta_j^2 is added to the mean loss.
    """

    design: Array
    labels: Array
    coef: Array
    counts: NDArray[np.int32]
    alpha: float
    weights: Array | None = None
    loss: str = "squared"
    penalty: Array | None = None

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.counts.shape[0])

    def score_weights(self, draw: int) -> Array:
        """Return the signed weights of one draw, shape (n_samples,)."""
        weights = (self.counts[draw] - 1.0) / self.labels.size if self.weights is None else self.weights[draw]
        return np.asarray(weights)

    def mean_loss(self, draw: int, coef: ArrayLike) -> float:
        """Penalised mean surrogate loss of `coef` on one draw."""
        beta = np.asarray(coef, dtype=float)
        values = get_loss(self.loss).value(self.labels, self.design @ beta)
        mean = float(self.counts[draw] @ values) / self.labels.size
        return mean if self.penalty is None else mean + float(self.penalty @ beta**2)

    def select(self, draws: ArrayLike) -> Problem:
        """Return the problem of some draws alone, given by their numbers."""
        rows = np.atleast_1d(np.asarray(draws, dtype=np.intp))
        return replace(
            self, counts=self.counts[rows], weights=None if self.weights is None else self.weights[rows]
        )

    def save(self, path: str | Path) -> None:
        """Write the arrays to an ``.npz`` file, with no pickled objects in it.

        The file holds the design rows and labels, that is the data the classifier was fitted to.
        """
        optional = {"weights": self.weights, "penalty": self.penalty}
        np.savez(
            path,
            allow_pickle=False,
            format=np.int64(FORMAT),
            design=self.design,
            labels=self.labels,
            coef=self.coef,
            counts=self.counts,
            alpha=np.float64(self.alpha),
            loss=np.str_(self.loss),
            **{name: value for name, value in optional.items() if value is not None},
        )

    @classmethod
    def load(cls, path: str | Path) -> Problem:
        """Read a file that `save` wrote.

        Raises
        ------
        ValueError
            If the file is of another format, or holds values that no problem can have.
        """
        with np.load(path, allow_pickle=False) as stored:
            if "format" not in stored or int(stored["format"]) != FORMAT:
                raise ValueError(
                    f"{path} is not a problem file of format {FORMAT}; save it again with this version"
                )
            return make_problem(
                stored["design"],
                stored["labels"],
                stored["coef"],
                stored["counts"],
                alpha=float(stored["alpha"]),
                weights=stored.get("weights"),
                loss=str(stored["loss"]),
                penalty=stored.get("penalty"),
            )


def make_problem(
    design: ArrayLike,
    labels: ArrayLike,
    coef: ArrayLike,
    counts: ArrayLike,
    *,
    alpha: float | None = None,
    weights: ArrayLike | None = None,
    loss: str = "squared",
    penalty: ArrayLike | None = None,
) -> Problem:
    """Check and standardise the arrays of `cudbound.solve_draws`; the solvers do not check again.

    Raises
    ------
    ValueError
        If a shape does not fit or a value is out of range; the message names the argument, the rule and the value.
    """
    design = _finite("design", design, 2)
    n, p = design.shape
    if n == 0 or p == 0:
        raise ValueError(
            f"'design' must have at least one row and one column. Got shape {design.shape} instead."
        )
    labels = _finite("labels", labels, 1)
    _expect_shape("labels", labels, (n,))
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise ValueError(f"'labels' must be -1 or +1. Got {np.unique(labels)[:5]} instead.")
    coef = _finite("coef", coef, 1)
    _expect_shape("coef", coef, (p,))

    counts = np.asarray(counts)
    if counts.ndim != 2 or counts.shape[1] != n:
        raise ValueError(f"'counts' must have shape (n_draws, {n}). Got {counts.shape} instead.")
    if counts.dtype.kind not in "iu" and not np.array_equal(counts, np.round(counts)):
        raise ValueError("'counts' must be whole numbers. Got a fractional count instead.")
    if counts.size and (counts.min() < 0 or counts.max() >= 2**31):
        raise ValueError(f"'counts' must be in [0, 2**31). Got {counts.min()} to {counts.max()} instead.")

    alpha = float(n) if alpha is None else check_rate(alpha)
    if weights is not None:
        weights = _finite("weights", weights, 2)
        _expect_shape("weights", weights, counts.shape)
    get_loss(loss)
    if penalty is not None:
        penalty = _finite("penalty", penalty, np.ndim(penalty))
        penalty = np.full(p, float(penalty)) if penalty.ndim == 0 else penalty
        _expect_shape("penalty", penalty, (p,))
        if (penalty < 0).any():
            raise ValueError(f"'penalty' must be non-negative. Got {penalty.min()} instead.")
    return Problem(
        design, labels, coef, np.ascontiguousarray(counts, dtype=np.int32), alpha, weights, loss, penalty
    )


def _finite(name: str, values: ArrayLike, ndim: int) -> Array:
    array = np.asarray(values, dtype=np.float64, order="C")
    if array.ndim != ndim:
        raise ValueError(f"'{name}' must have {ndim} dimension(s). Got {array.ndim} instead.")
    if not np.isfinite(array).all():
        raise ValueError(f"'{name}' must be finite. Got nan or inf instead.")
    return array


def _expect_shape(name: str, array: Array, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(f"'{name}' must have shape {shape}. Got {array.shape} instead.")
