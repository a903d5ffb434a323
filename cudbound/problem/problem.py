"""The optimization problems of a set of draws as plain arrays, and one of them as a file for a bug report."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.validation import check_number
from cudbound.losses.surrogates import Loss, get_loss
from cudbound.problem.scale import LARGEST_SCALE, SMALLEST_SCALE, check_scale

Array = NDArray[np.float64]
FORMAT = 1

#: A value larger than this times the median of its column (zeros apart) leaves the rest too few digits.
MOST_SPREAD = 1e9
#: Fields of a problem that are arrays: of every problem, and those that may be None.
ARRAYS = ("design", "labels", "coef", "counts")
OPTIONAL = ("weights", "penalty", "l1_penalty", "sample_weight", "offset", "draw_scale")


@dataclass(frozen=True, eq=False)
class Problem:
    """One optimization problem per draw, all on the same design: the suprema that `cudbound.solve_draws` finds.

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
        Signed weights on the error indicators; None stands for (counts - 1) / n_samples, the plain error.
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
        Factors s_b > 0 of the counts of each draw in its mean loss; None means 1. Draws that hold N_b rows and not
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

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return int(self.counts.shape[0])

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
            if values is None:
                digest.update(b"None")
            else:
                digest.update(repr((values.dtype.str, values.shape)).encode())
                digest.update(values.tobytes())
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

        The file gets exactly the name `path`. It holds the design rows and labels, which are the data the classifier
        was fitted to.

        Raises
        ------
        ValueError
            If the loss is not one of `cudbound.losses.surrogates.LOSSES`: a user-defined expression cannot be stored.
        """
        write_arrays(path, self.to_arrays())

    def to_arrays(self) -> dict[str, Any]:
        """Return what `save` writes, by name."""
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
        """Read a file that `save` wrote.

        Raises
        ------
        ValueError
            If the file has a different format, or holds values that no problem can have.
        OSError
            If it cannot be read.
        """
        return cls.from_arrays(read_arrays(path), path)

    @classmethod
    def from_arrays(cls, stored: dict[str, NDArray[Any]], path: str | Path) -> Problem:
        """Return the problem of arrays that were read from `path`; arrays that are not its own are ignored."""
        scalars = read_scalars(stored, ("format", "localization", "loss"))
        if not stored.keys() >= set(ARRAYS) or len(scalars) != 3 or scalars["format"] != FORMAT:
            raise ValueError(
                f"{path} is not a problem file of format {FORMAT}; save it again with Problem.save of this version"
            )
        arrays: dict[str, Any] = {name: stored.get(name) for name in (*ARRAYS, *OPTIONAL)}
        return make_problem(**arrays, localization=scalars["localization"], loss=scalars["loss"])


def write_arrays(path: str | Path, arrays: dict[str, Any]) -> None:
    """Write an ``.npz`` file of exactly this name."""
    with open(path, "wb") as file:  # numpy adds a suffix to names, not to open files
        np.savez(file, **arrays)


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` file, or none if it is something else."""
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


def make_problem(
    design: ArrayLike,
    labels: ArrayLike,
    coef: ArrayLike,
    counts: ArrayLike,
    *,
    localization: float | None = None,
    weights: ArrayLike | None = None,
    loss: str | Loss = "squared",
    penalty: ArrayLike | None = None,
    l1_penalty: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    draw_scale: ArrayLike | None = None,
) -> Problem:
    """Check, standardize and copy the arrays of `cudbound.solve_draws`; the solvers do not check again.

    Raises
    ------
    ValueError
        If a shape does not fit or a value is out of range; the message names the argument, the rule and the value.
    """
    design = _finite("design", design)
    if design.ndim != 2:
        raise ValueError(f"'design' must have 2 dimension(s). Got {design.ndim} instead.")
    n, p = design.shape
    if n == 0 or p == 0:
        raise ValueError(
            f"'design' must have at least one row and one column. Got shape {design.shape} instead."
        )
    check_scale("design", design)
    _check_spread(design)
    labels = _finite("labels", labels, (n,))
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise ValueError(f"'labels' must be -1 or +1. Got {np.unique(labels)[:5]} instead.")
    coef = _finite("coef", coef, (p,))

    counts = _numbers("counts", counts)
    if counts.ndim != 2 or counts.shape[1] != n:
        raise ValueError(f"'counts' must have shape (n_draws, {n}). Got {counts.shape} instead.")
    if np.isnan(counts).any():
        raise ValueError("'counts' must be whole numbers. Got nan instead.")
    if counts.dtype.kind == "f" and not np.array_equal(counts, np.round(counts)):
        raise ValueError("'counts' must be whole numbers. Got a fractional count instead.")
    if counts.size and (counts.min() < 0 or counts.max() >= 2**31):
        raise ValueError(f"'counts' must be in [0, 2**31). Got {counts.min()} to {counts.max()} instead.")

    localization = (
        float(n) if localization is None else check_number("localization", localization, 0.0, np.inf)
    )
    if weights is not None:
        weights = _finite("weights", weights, counts.shape)
    offset = _one_or_each("offset", offset, n)
    penalty = _non_negative("penalty", penalty, p)
    l1_penalty = _non_negative("l1_penalty", l1_penalty, p)
    sample_weight = _non_negative("sample_weight", sample_weight, n)
    draw_scale = _non_negative("draw_scale", draw_scale, len(counts))
    if draw_scale is not None and (draw_scale == 0).any():
        raise ValueError("'draw_scale' must be positive. Got 0 instead.")
    counts = np.array(counts, dtype=np.int32, order="C")
    surrogate = _loss(loss)
    problem = Problem(
        design,
        labels,
        coef,
        counts,
        localization,
        weights,
        surrogate,
        penalty,
        l1_penalty,
        sample_weight,
        offset,
        draw_scale,
    )
    for name in ("coef", *OPTIONAL):
        _check_size(name, getattr(problem, name))
    if offset is not None:
        with np.errstate(over="ignore"):
            finite = np.isfinite(surrogate.value(labels, offset)).all()
        if not finite:
            raise ValueError(
                f"'offset' must leave the {surrogate.name} loss of the offset alone finite. Got offsets up to "
                f"{np.abs(offset).max():.3g} instead."
            )
    return problem


def _loss(loss: Any) -> Loss:
    """Return a loss object unchanged, and look up anything else by its name."""
    is_object = all(hasattr(loss, name) for name in ("name", "vanishes", "value"))
    found: Loss = loss if is_object and not isinstance(loss, type) else get_loss(loss)
    return found


def _one_or_each(name: str, values: ArrayLike | None, size: int) -> Array | None:
    """Return `size` numbers, all equal if one was given."""
    if values is None:
        return None
    numbers = _numbers(name, values)
    return _finite(name, np.full(size, numbers) if numbers.ndim == 0 else numbers, (size,))


def _non_negative(name: str, values: ArrayLike | None, size: int) -> Array | None:
    array = _one_or_each(name, values, size)
    if array is not None and (array < 0).any():
        raise ValueError(f"'{name}' must be non-negative. Got {array.min()} instead.")
    return array


def _numbers(name: str, values: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"'{name}' must be an array of numbers. Got rows of different lengths instead."
        ) from None
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"'{name}' must be an array of real numbers. Got dtype {array.dtype} instead; "
            f"convert it, for example with np.asarray({name}, dtype=float)."
        )
    return array


def _check_spread(design: Array) -> None:
    """Refuse a column in which a few values dwarf the others: hyperplanes would differ only by rounding errors."""
    sizes = np.abs(design)
    largest = sizes.max(axis=0)
    smallest = np.where(sizes > 0.0, sizes, np.inf).min(axis=0)
    for column in np.flatnonzero(largest > MOST_SPREAD * smallest):
        typical = np.median(sizes[sizes[:, column] > 0.0, column])
        if largest[column] > MOST_SPREAD * typical:
            raise ValueError(
                f"The values of each column of 'design' must be within a factor of {MOST_SPREAD:g} of their median. "
                f"Got {largest[column]:.3g} in column {column}, whose median absolute value is {typical:.3g}: "
                "double precision cannot tell the other rows apart. Correct the value, or transform the column."
            )


def _finite(name: str, values: ArrayLike, shape: tuple[int, ...] | None = None) -> Array:
    # a copy: the problem stays as it is when the caller changes the array
    array = np.array(_numbers(name, values), dtype=np.float64, order="C")
    if shape is not None and array.shape != shape:
        raise ValueError(f"'{name}' must have shape {shape}. Got {array.shape} instead.")
    if not np.isfinite(array).all():
        raise ValueError(f"'{name}' must be finite. Got nan or inf instead.")
    return array


def _check_size(name: str, array: Array | None) -> None:
    """Refuse values whose squares or sums would leave the range of floating-point numbers."""
    largest = 0.0 if array is None else float(np.abs(array).max(initial=0.0))
    if largest > LARGEST_SCALE or 0.0 < largest < SMALLEST_SCALE:
        raise ValueError(
            f"The largest absolute value of '{name}' must be 0 or in [{SMALLEST_SCALE:g}, {LARGEST_SCALE:g}]. Got "
            f"{largest:.3g} instead; rescale it, for example to other units."
        )
