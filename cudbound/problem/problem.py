"""The optimization problems of a set of draws as plain arrays, and a file format for bug reports."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.calls import public_call
from cudbound.basis.validation import check_number
from cudbound.losses.surrogates import Loss, get_loss
from cudbound.problem.arguments import (
    check_counts,
    check_design,
    check_size,
    finite,
    non_negative,
    one_or_each,
)

Array = NDArray[np.float64]
FORMAT = 1

#: Fields of a problem that are arrays: of every problem, and those that may be None.
ARRAYS = ("design", "labels", "coef", "counts")
OPTIONAL = ("weights", "penalty", "l1_penalty", "sample_weight", "offset", "draw_scale")


@dataclass(frozen=True, eq=False)
class Problem:
    """One optimization problem per draw, all on the same design, for `cudbound.solve_draws`.

    Attributes
    ----------
    design : ndarray of float64, shape (n_samples, n_coefficients), C-contiguous
    labels : ndarray of float64, shape (n_samples,), values -1 and +1
    coef : ndarray of float64, shape (n_coefficients,)
        The anchor beta-hat.
    counts : ndarray of int32, shape (n_draws, n_samples), C-contiguous, non-negative
    localization : float
        Localization rate, in [0, inf], on the scale of the mean loss.
    weights : ndarray of float64, shape (n_draws, n_samples), or None
        Signed weights on the error indicators; None means (counts - 1) / n_samples, the plain error.
    loss : Loss
        The surrogate.
    penalty : ndarray of float64, shape (n_coefficients,), or None
        Strengths r_j >= 0; sum_j r_j beta_j^2 is added to the mean loss.
    l1_penalty : ndarray of float64, shape (n_coefficients,), or None
        Strengths s_j >= 0; sum_j s_j abs(beta_j) is added to the mean loss.
    sample_weight : ndarray of float64, shape (n_samples,), or None
        Weights c_i >= 0 of the rows in the mean loss (1 / n_samples) sum_i counts_i c_i loss_i; None means 1.
    offset : ndarray of float64, shape (n_samples,), or None
        Constants added to the scores in the loss, not in the classification; None means 0.
    draw_scale : ndarray of float64, shape (n_draws,), or None
        Factors s_b > 0 of the counts of each draw in its mean loss; None means 1. Draws of N_b rows instead of
        n_samples have n_samples / N_b, which makes the mean loss (1 / N_b) sum_i counts_i c_i loss_i.
    """

    design: Array
    labels: Array
    coef: Array
    counts: NDArray[np.int32]
    localization: float
    weights: Array | None = None
    loss: Loss = field(default_factory=lambda: get_loss("squared"))
    penalty: Array | None = None
    l1_penalty: Array | None = None
    sample_weight: Array | None = None
    offset: Array | None = None
    draw_scale: Array | None = None

    @classmethod
    @public_call
    def of(
        cls,
        design: ArrayLike,
        labels: ArrayLike,
        coef: ArrayLike,
        counts: ArrayLike,
        *,
        loss: str | Loss = "squared",
        localization: float | None = None,
        weights: ArrayLike | None = None,
        penalty: ArrayLike | None = None,
        l1_penalty: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        draw_scale: ArrayLike | None = None,
    ) -> Problem:
        r"""Check, standardize and copy the arrays of a problem; the solvers do not check again.

        The symbols are those of the definition of Q in `cudbound.solve_draws`.

        Parameters
        ----------
        design : array-like of float, shape (n_samples, n_coefficients)
            Rows :math:`x_i`: the basis of the additive classifier evaluated at each training point, with a column of
            ones if it has an intercept. Zero rows are always classified as +1.
        labels : array-like, shape (n_samples,)
            -1 or +1.
        coef : array-like of float, shape (n_coefficients,)
            Fitted coefficients :math:`\hat\beta`.
        counts : array-like of int, shape (n_draws, n_samples)
            How often each row occurs in each draw, non-negative.
        loss : {"squared", "logistic", "exponential", "squared_hinge", "hinge", "huber"} or Loss, default="squared"
            Surrogate loss. A `cudbound.CvxpyLoss` needs ``SearchLimits(solver="cvxpy")``.
        localization : float in [0, inf], default=None
            Localization rate :math:`\alpha` on the scale of the mean loss; None means n_samples.
        weights : array-like of float, shape (n_draws, n_samples), default=None
            Signed weights :math:`w_i` on the error indicators; None means ``(counts - 1) / n_samples``, the plain
            error.
        penalty : float or array-like of float, shape (n_coefficients,), default=None
            Strengths :math:`r_j \ge 0` of a quadratic penalty on the mean loss.
        l1_penalty : float or array-like of float, shape (n_coefficients,), default=None
            Strengths :math:`s_j \ge 0` of an l1 penalty on the mean loss, under squared or logistic loss and with
            linearly independent columns; otherwise it needs ``SearchLimits(solver="cvxpy")``.
        sample_weight : array-like of float, shape (n_samples,), default=None
            Weights :math:`c_i \ge 0` of the rows in the loss; None means 1.
        offset : float or array-like of float, shape (n_samples,), default=None
            Constants :math:`o_i` added to the scores in the loss, not in the classification; None means 0.
        draw_scale : array-like of float, shape (n_draws,), default=None
            Factors :math:`s_b > 0` of the counts of each draw in its mean loss; None means 1.

        Raises
        ------
        ValueError
            If a shape or a value is invalid; the message gives the argument, the rule and the value.

        Examples
        --------
        >>> problem = Problem.of([[1.0, -2.0], [1.0, 0.5], [1.0, 1.0]], [-1, 1, 1], [0.2, 0.6], [[2, 0, 1]])
        >>> problem.n_draws, problem.localization, problem.score_weights(0).round(3).tolist()
        (1, 3.0, [0.333, -0.333, 0.0])
        """
        design = check_design(design)
        n, p = design.shape
        labels = finite("labels", labels, (n,))
        if not np.isin(labels, (-1.0, 1.0)).all():
            raise ValueError(f"'labels' must be -1 or +1. Got {np.unique(labels)[:5]} instead.")
        coef = finite("coef", coef, (p,))
        counts = check_counts(counts, n)
        rate = float(n) if localization is None else check_number("localization", localization, 0.0, np.inf)
        problem = cls(
            design,
            labels,
            coef,
            counts,
            rate,
            weights=None if weights is None else finite("weights", weights, counts.shape),
            offset=one_or_each("offset", offset, n),
            penalty=non_negative("penalty", penalty, p),
            l1_penalty=non_negative("l1_penalty", l1_penalty, p),
            sample_weight=non_negative("sample_weight", sample_weight, n),
            draw_scale=non_negative("draw_scale", draw_scale, len(counts)),
            loss=_loss(loss),
        )
        if problem.draw_scale is not None and (problem.draw_scale == 0).any():
            raise ValueError("'draw_scale' must be positive. Got 0 instead.")
        for name in ("coef", *OPTIONAL):
            check_size(name, getattr(problem, name))
        if problem.offset is not None:
            with np.errstate(over="ignore"):
                losses = problem.loss.value(labels, problem.offset)
            if not np.isfinite(losses).all():
                raise ValueError(
                    f"'offset' must have a finite {problem.loss.name} loss by itself. Got offsets up to "
                    f"{np.abs(problem.offset).max():.3g} instead."
                )
        return problem

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.counts.shape[0])

    @property
    def has_l1_penalty(self) -> bool:
        """Whether there is an l1 penalty: the loss then has kinks at coefficients of 0."""
        return self.l1_penalty is not None and bool(self.l1_penalty.any())

    def score_weights(self, draw: int) -> Array:
        """Return the signed weights of one draw, shape (n_samples,)."""
        weights = (self.counts[draw] - 1.0) / self.labels.size if self.weights is None else self.weights[draw]
        return np.asarray(weights)

    def mean_loss(self, draw: int, coef: ArrayLike) -> float:
        """Penalized mean surrogate loss of `coef` on one draw."""
        beta = np.asarray(coef, dtype=float)
        rows, shares = self.weighted_rows(draw)
        mean = float(shares @ self.loss.value(self.labels[rows], self.scores(beta)[rows]))
        if self.penalty is not None:
            mean += float(self.penalty @ beta**2)
        if self.l1_penalty is not None:
            mean += float(self.l1_penalty @ np.abs(beta))
        return mean

    def weighted_rows(self, draw: int) -> tuple[NDArray[np.intp], Array]:
        """Rows with a weight in the mean loss of one draw, and these weights; the loss of others may be infinite."""
        counts = self.counts[draw]
        shares = (counts if self.sample_weight is None else counts * self.sample_weight) / self.labels.size
        if self.draw_scale is not None:
            shares = shares * self.draw_scale[draw]
        rows = np.flatnonzero(shares > 0.0)
        return rows, shares[rows]

    def scores(self, coef: ArrayLike) -> Array:
        """Scores of all rows as they enter the loss, offset included."""
        scores = self.design @ np.asarray(coef, dtype=float)
        return np.asarray(scores if self.offset is None else scores + self.offset)

    def digest(self, side: str = "both") -> str:
        """Return 32 hexadecimal digits that differ for different problems, or sides of them."""
        # counts are usually small, as in bootstrap draws: a quarter of the bytes to hash
        counts = self.counts.astype(np.min_scalar_type(self.counts.max(initial=0)))
        digest = hashlib.blake2b(
            repr((float(self.localization), self.loss.name, side)).encode(), digest_size=16
        )
        optional = (getattr(self, name) for name in OPTIONAL)
        for values in (self.design, self.labels, self.coef, counts, *optional):
            kind = None if values is None else (values.dtype.str, values.shape)
            digest.update(repr(kind).encode())
            digest.update(b"" if values is None else values.tobytes())
        return digest.hexdigest()

    def select(self, draws: ArrayLike) -> Problem:
        """Return the problem of selected draws, given by their numbers or by a boolean mask.

        Raises
        ------
        ValueError
            If `draws` is neither.
        IndexError
            If there is no draw with that number, or the length of the mask is not the number of draws.
        """
        rows = np.asarray(draws)
        if rows.dtype == bool:
            if rows.shape != (self.n_draws,):
                raise IndexError(
                    f"A mask must have shape ({self.n_draws},), one value per draw. Got {rows.shape}."
                )
            rows = np.flatnonzero(rows)
        elif rows.size == 0:  # an empty list is an array of floats
            rows = np.zeros(0, dtype=np.intp)
        elif rows.dtype.kind not in "iu" or rows.ndim > 1:
            raise ValueError(f"'draws' must be numbers of draws or a boolean mask. Got {draws!r} instead.")
        rows = np.atleast_1d(rows)
        missing = rows[(rows < -self.n_draws) | (rows >= self.n_draws)]
        if missing.size:
            raise IndexError(
                f"'draws' must be below {self.n_draws}, the number of draws. Got {missing[0]} instead."
            )
        each = {name: getattr(self, name) for name in ("counts", "weights", "draw_scale")}
        return replace(self, **{name: values[rows] for name, values in each.items() if values is not None})

    def save(self, path: str | Path) -> None:
        """Write the arrays to a file in NumPy's ``.npz`` format, with no pickled objects in it.

        The file has exactly the name `path`. It contains the design rows and labels, which are the training data of the
        classifier.

        Raises
        ------
        ValueError
            If the loss is not one of `cudbound.losses.surrogates.LOSSES`: a user-defined expression cannot be stored.
        """
        write_arrays(path, self.to_arrays())

    def to_arrays(self) -> dict[str, Any]:
        """Return the arrays that `save` writes, by name."""
        get_loss(self.loss.name)
        arrays: dict[str, Any] = {name: getattr(self, name) for name in (*ARRAYS, *OPTIONAL)}
        return {
            "format": np.int64(FORMAT),
            "localization": np.float64(self.localization),
            "loss": np.str_(self.loss.name),
            **{name: values for name, values in arrays.items() if values is not None},
        }

    @classmethod
    def load(cls, path: str | Path) -> Problem:
        """Read a file written by `save`.

        Raises
        ------
        ValueError
            If the file has a different format, or contains values that no problem can have.
        OSError
            If it cannot be read.
        """
        return cls.from_arrays(read_arrays(path), path)

    @classmethod
    def from_arrays(cls, stored: dict[str, NDArray[Any]], path: str | Path) -> Problem:
        """Return the problem of arrays that were read from `path`; other arrays are ignored."""
        scalars = read_scalars(stored, ("format", "localization", "loss"))
        if not stored.keys() >= set(ARRAYS) or len(scalars) != 3 or scalars["format"] != FORMAT:
            raise ValueError(
                f"{path} is not a problem file of format {FORMAT}; save it again with Problem.save of this version"
            )
        arrays: dict[str, Any] = {name: stored.get(name) for name in (*ARRAYS, *OPTIONAL)}
        return cls.of(**arrays, localization=scalars["localization"], loss=scalars["loss"])


def write_arrays(path: str | Path, arrays: dict[str, Any]) -> None:
    """Write an ``.npz`` file of exactly this name."""
    with open(path, "wb") as file:  # numpy adds a suffix to names, not to open files
        np.savez(file, **arrays)


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` file, or none if it is another kind of file."""
    content = io.BytesIO(Path(path).read_bytes())
    try:
        with np.load(content, allow_pickle=False) as arrays:
            return {
                name: np.asarray(values) for name, values in arrays.items()
            }  # bytes if it is not an array
    except Exception:  # a damaged file raises whatever zipfile, zlib and numpy choose
        return {}


def read_scalars(stored: dict[str, NDArray[Any]], names: Sequence[str]) -> dict[str, Any]:
    """Return the single numbers and texts among the arrays with these names."""
    return {name: stored[name].item() for name in names if name in stored and stored[name].shape == ()}


def _loss(loss: Any) -> Loss:
    """Return a loss object unchanged; look up anything else by name."""
    is_object = all(hasattr(loss, name) for name in ("name", "vanishes", "value"))
    found: Loss = loss if is_object and not isinstance(loss, type) else get_loss(loss)
    return found
