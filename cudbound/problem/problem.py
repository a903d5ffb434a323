"""A fitted classifier as an additive model, and the optimization problems of its draws as plain, checked arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import check_number
from cudbound.losses.surrogates import Loss, get_loss
from cudbound.problem.coordinates import Basis, orthonormal_basis

Array = NDArray[np.float64]

#: Scores this close to 0 count as 0. They are on the scale of the labels, -1 to +1, and carry a rounding error of
#: 1e-14 or so: without this rule the class of a point on the boundary would differ from machine to machine.
TIE_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Polish:
    """The change of the coefficients to the exact minimizer of the loss.

    Attributes
    ----------
    residual : float
        Optimality residual before the change, see `cudbound.solve.search.optimality_residual`.
    coef_change : float
        Length of the difference of the coefficients, relative to the length of the fitted ones.
    score_change : float
        Largest absolute change of the score of a training row.
    n_changed_predictions : int
        Number of training rows whose predicted class changed.
    """

    residual: float
    coef_change: float
    score_change: float
    n_changed_predictions: int

    def __str__(self) -> str:
        return (
            f"polished: residual before {self.residual:.1e}, largest change of a training score "
            f"{self.score_change:.2g}, {self.n_changed_predictions} training predictions changed"
        )


class ReadOnlyArrays:
    """A dataclass whose arrays cannot be written to: what is cached of them would not change with them."""

    def __post_init__(self) -> None:
        for name, array in vars(self).items():
            if isinstance(array, np.ndarray):
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)


@dataclass(frozen=True)
class AdditiveModel(ReadOnlyArrays):
    """A fitted classifier sign(b(gamma-hat, x)'beta) on its training set, as plain arrays.

    Attributes
    ----------
    design : ndarray of float, shape (n_samples, n_coefficients)
        Rows b(gamma-hat, x_i); the column of ones of an intercept, if any, is the first.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    coef : ndarray of float, shape (n_coefficients,)
        Fitted coefficients beta-hat.
    loss : Loss
        The surrogate that `coef` minimizes.
    classes : ndarray, shape (2,)
        The labels of the classes -1 and +1.
    penalty : ndarray of float, shape (n_coefficients,), or None
        Strengths r_j of the quadratic penalty sum_j r_j beta_j^2 on the mean loss; None means 0.
    l1_penalty : ndarray of float, shape (n_coefficients,), or None
        Strengths s_j of the l1 penalty sum_j s_j abs(beta_j) on the mean loss; None means 0.
    sample_weight : ndarray of float, shape (n_samples,), or None
        Weights of the rows in the mean loss; None means 1.
    offset : float
        Added to the scores in the loss, not in the classification: a decision threshold other than 0.
    tuned_by : tuple of str
        The searches that tuned a penalty strength or a threshold on the same data, such as ("GridSearchCV",).
    polish : Polish or None
        Difference between `coef` and the fitted coefficients; None if they are the same.
    """

    design: Array
    labels: Array
    coef: Array
    loss: Loss
    classes: NDArray[np.generic]
    penalty: Array | None = None
    l1_penalty: Array | None = None
    sample_weight: Array | None = None
    offset: float = 0.0
    tuned_by: tuple[str, ...] = ()
    polish: Polish | None = None

    @property
    def training_errors(self) -> NDArray[np.bool_]:
        """Whether each row is misclassified, with sign(0) = +1; shape (n_samples,)."""
        return np.asarray(np.where(self.design @ self.coef >= -TIE_TOLERANCE, 1.0, -1.0) != self.labels)

    @property
    def training_error(self) -> float:
        """Share of the training rows that the fitted classifier misclassifies, in [0, 1]."""
        return float(self.training_errors.mean())

    @cached_property
    def training(self) -> Problem:
        """The problem of the training set itself, one draw of each row."""
        same = {name: getattr(self, name) for name in ("loss", "penalty", "l1_penalty", "sample_weight")}
        ones, offset = np.ones((1, self.labels.size)), self.offset or None
        return Problem.of(self.design, self.labels, self.coef, ones, offset=offset, **same)

    def problem(
        self, counts: NDArray[Any], localization: float | None = None, weights: Array | None = None
    ) -> Problem:
        """Return the optimization problems of draws from the training set.

        `weights` are those of misclassified rows, shape (n_draws, n_samples); None means those of the plain error.
        Draws of whole groups can have more or fewer rows than the training set: their mean loss is over the rows in the
        draw.
        """
        totals = counts.sum(axis=1)
        scale = self.labels.size / totals if (totals != self.labels.size).any() else None
        return self.training.drawn(counts, localization, weights, scale)

    def reversed(self) -> AdditiveModel:
        """Return the same classifier with the other class as +1, the class of a score of exactly 0."""
        return replace(
            self, labels=-self.labels, coef=-self.coef, offset=-self.offset, classes=self.classes[::-1]
        )


#: Fields of a problem that are arrays and may be None.
OPTIONAL = ("weights", "penalty", "l1_penalty", "sample_weight", "offset", "draw_scale")
#: Arrays that may be negative.
SIGNED = ("coef", "weights", "offset")


@dataclass(frozen=True, eq=False)
class Problem(ReadOnlyArrays):
    """One optimization problem per draw, all on the same design, for `cudbound.solve.solve_draws`.

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

        The symbols are those of the definition of Q in `cudbound.solve.solve_draws`.

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
            Surrogate loss. A `cudbound.solve.CvxpyLoss` needs ``SearchLimits(solver="cvxpy")``.
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
        labels = numbers("labels", labels, (n,))
        if (np.abs(labels) != 1.0).any():
            raise ValueError(f"'labels' must be -1 or +1. Got {np.unique(labels)[:5]} instead.")
        problem = cls(
            design,
            labels,
            scaled_numbers("coef", coef, (p,)),
            np.empty((0, n), dtype=np.int32),
            float(n),
            loss=loss if isinstance(loss, Loss) else get_loss(loss),
            penalty=scaled_numbers("penalty", penalty, (p,)),
            l1_penalty=scaled_numbers("l1_penalty", l1_penalty, (p,)),
            sample_weight=scaled_numbers("sample_weight", sample_weight, (n,)),
            offset=scaled_numbers("offset", offset, (n,)),
        )
        if problem.offset is not None:
            with np.errstate(over="ignore"):
                losses = problem.loss.value(labels, problem.offset)
            if not np.isfinite(losses).all():
                raise ValueError(
                    f"'offset' must have a finite {problem.loss.name} loss by itself. Got offsets up to "
                    f"{np.abs(problem.offset).max():.3g} instead."
                )
        return problem.drawn(counts, localization, weights, draw_scale)

    def drawn(self, counts: Any, localization: Any, weights: Any, draw_scale: Any) -> Problem:
        """Return the problem of other draws of the same rows, and check these alone; arguments are those of `of`."""
        n = self.labels.size
        counts = numbers("counts", counts, ("n_draws", n), least=0.0)
        if (counts != np.rint(counts)).any() or counts.max(initial=0.0) >= 2**31:
            raise ValueError(
                "'counts' must be whole numbers below 2**31. Got a fraction or a larger one instead."
            )
        scale = scaled_numbers("draw_scale", draw_scale, (len(counts),))
        if scale is not None and (scale == 0).any():
            raise ValueError("'draw_scale' must be positive. Got 0 instead.")
        rate = float(n) if localization is None else check_number("localization", localization, 0.0, np.inf)
        weights, counts = scaled_numbers("weights", weights, counts.shape), counts.astype(np.int32)
        problem = replace(self, counts=counts, localization=rate, weights=weights, draw_scale=scale)
        if "basis" in vars(self):  # the same for all draws
            vars(problem)["basis"] = self.basis
        return problem

    @cached_property
    def basis(self) -> Basis:
        """Coordinates in which the design has orthonormal columns, for the compiled solver."""
        return orthonormal_basis(self.design, self.coef, self.penalty, self.l1_penalty)

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
        """Return the problem of selected draws, given by their numbers or by a boolean mask."""
        chosen = np.asarray(draws)
        chosen = chosen if chosen.size else chosen.astype(np.intp)  # an empty list is an array of floats
        try:
            rows = np.atleast_1d(np.arange(self.n_draws)[chosen])
        except IndexError:
            rule = f"numbers of draws below {self.n_draws}, or a boolean for each draw"
            raise ParameterError("draws", rule, draws) from None
        each = {name: getattr(self, name) for name in ("counts", "weights", "draw_scale")}
        return replace(self, **{name: values[rows] for name, values in each.items() if values is not None})


#: Absolute values whose squares, and sums of squares, neither overflow nor underflow, with room to spare.
SMALLEST_SCALE, LARGEST_SCALE = 1e-100, 1e100


def check_scale(
    argument: str, columns: Array, names: Sequence[str] | None = None, *, whole: bool = False
) -> None:
    """Raise an error for columns whose squares would leave the range of floating-point numbers.

    Parameters
    ----------
    argument : str
        Name of the argument, for the message.
    columns : ndarray of float, shape (n_rows, n_columns)
        Finite.
    names : sequence of str, default=None
        Names of the columns, for the message; None means their numbers.
    whole : bool, default=False
        Whether the only column is the whole argument.

    Raises
    ------
    ValueError
        If the largest absolute value of a column is above 1e100, or below 1e-100 and not zero.
    """
    largest = np.abs(columns).max(axis=0, initial=0.0)
    bad = np.flatnonzero((largest > LARGEST_SCALE) | ((largest > 0.0) & (largest < SMALLEST_SCALE)))
    if bad.size:
        place = int(bad[0])
        of_each, where = ("", "") if whole else ("each column of ", f" in column {place}")
        if names is not None:
            where = f" in column {names[place]!r}"
        raise ValueError(
            f"The largest absolute value of {of_each}{argument!r} must be 0 or in [{SMALLEST_SCALE:g}, "
            f"{LARGEST_SCALE:g}], for computing squares. Got {largest[place]:.3g}{where} instead; rescale it, for "
            "example to other units."
        )


#: A value larger than this times the median of its column (zeros apart) leaves the rest too few digits.
MOST_SPREAD = 1e9


def check_design(design: ArrayLike) -> Array:
    """Return the design rows; no value may be so large that double precision has too few digits for the others."""
    rows = numbers("design", design, ("n_samples", "n_coefficients"))
    if not rows.size:
        raise ValueError(
            f"'design' must have at least one row and one column. Got shape {rows.shape} instead."
        )
    check_scale("design", rows)
    sizes = np.abs(rows)
    largest = sizes.max(axis=0)
    smallest = np.where(sizes > 0.0, sizes, np.inf).min(axis=0)
    for column in np.flatnonzero(largest > MOST_SPREAD * smallest):
        typical = np.median(sizes[sizes[:, column] > 0.0, column])
        if largest[column] > MOST_SPREAD * typical:
            # hyperplanes would differ only by rounding errors
            raise ValueError(
                f"The values of each column of 'design' must be within a factor of {MOST_SPREAD:g} of their median. "
                f"Got {largest[column]:.3g} in column {column}, whose median absolute value is {typical:.3g}: "
                "double precision cannot distinguish the other rows. Correct the value, or transform the column."
            )
    return rows


def numbers(name: str, values: ArrayLike, shape: tuple[int | str, ...], least: float = -np.inf) -> Array:
    """Return a copy of finite numbers: later changes of the array by the caller have no effect.

    Names in the `shape` stand for any number. A single number stands for all values of an optional argument.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"'{name}' must be an array of real numbers, with rows of equal length. Got dtype {array.dtype} instead; "
            f"convert it, for example with np.asarray({name}, dtype=float)."
        )
    if name in OPTIONAL and len(shape) == 1 and array.ndim == 0:
        array = np.repeat(array, int(shape[0]))
    sizes = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(size != needed for size, needed in sizes if isinstance(needed, int)):
        words = str(shape).replace("'", "")
        raise ValueError(f"'{name}' must have shape {words}. Got {array.shape} instead.")
    array = np.array(array, dtype=np.float64, order="C")
    if not np.isfinite(array).all():
        raise ValueError(f"'{name}' must be finite. Got nan or inf instead.")
    if (array < least).any():
        raise ValueError(f"'{name}' must be non-negative. Got {array.min()} instead.")
    return array


def scaled_numbers(name: str, values: ArrayLike | None, shape: tuple[int, ...]) -> Any:
    """Return a copy of numbers whose squares can be computed, `SIGNED` or not negative; None if they are not given."""
    if values is None:
        return None
    array = numbers(name, values, shape, least=-np.inf if name in SIGNED else 0.0)
    check_scale(name, array.reshape(-1, 1), whole=True)
    return array
