"""The columns of all rows in each of a stack of fits, and the classifiers that are fitted to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, Literal, Protocol

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.fixes import parse_version

from cudbound.estimators.two_class import CHUNK_VALUES, minimum_norm_scores
from cudbound.losses.surrogates import get_loss
from cudbound.problem.coordinates import RANK_TOLERANCE
from cudbound.problem.problem import TIE_TOLERANCE, Problem
from cudbound.solve.native import fit_stack, minimize

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Share of the largest value in question above which a standard deviation, a difference between two values or a
#: singular value is clear. Rounding errors are then about 1e-16 over this share.
CLEAR_SHARE = 1e-6


@dataclass(frozen=True, eq=False)
class Draws:
    """Training sets of a stack of fits, all of them with both classes.

    Attributes
    ----------
    counts : ndarray of float, shape (n_fits, n_samples)
        How often each row occurs in each training set.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    """

    counts: Array
    labels: Array

    @cached_property
    def totals(self) -> Array:
        """Rows of each training set, shape (n_fits,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def shares(self) -> Array:
        """Weights of the rows with the sum 1, shape (n_fits, n_samples)."""
        return np.asarray(self.counts / self.totals[:, None])

    def __getitem__(self, fits: Bools) -> Draws:
        return Draws(self.counts[fits], self.labels)


@dataclass(frozen=True, eq=False)
class Columns:
    """The input rows of a step or a classifier in each fit.

    Rows that all fits share are not copied: scaling is a map of each fit, (rows - shift) * scale.

    Attributes
    ----------
    rows : ndarray of float, shape (n_samples, n_columns) or (n_fits, n_samples, n_columns)
    shift : ndarray of float, shape (n_fits, n_columns), default=None
        None means 0.
    scale : ndarray of float, shape (n_fits, n_columns), default=None
        None means 1. It is 0 for a column that a fit does not have.
    """

    rows: Array
    shift: Array | None = None
    scale: Array | None = None

    def stacked(self, n_fits: int) -> Array:
        """Return the rows of every fit, shape (n_fits, n_samples, n_columns)."""
        rows = np.broadcast_to(self.rows, (n_fits, *self.rows.shape[-2:]))
        if self.shift is not None:
            rows = rows - self.shift[:, None, :]
        return rows if self.scale is None else rows * self.scale[:, None, :]

    def plain(self) -> Columns:
        """Return the same columns without a map, so that one can be set."""
        mapped = self.scale if self.shift is None else self.shift
        return self if mapped is None else Columns(self.stacked(len(mapped)))

    def __getitem__(self, fits: Bools | NDArray[np.intp]) -> Columns:
        return Columns(
            self.rows if self.rows.ndim == 2 else self.rows[fits],
            None if self.shift is None else self.shift[fits],
            None if self.scale is None else self.scale[fits],
        )


class BatchedFit(Protocol):
    """A classifier fitted to each training set, on the output of its steps."""

    @property
    def ignores_constants(self) -> bool:
        """Whether a column that is constant up to rounding errors has no influence.

        An intercept takes it up, or a penalty keeps its coefficient small.
        """

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Bools, Bools, Array]:
        """Return whether each row is assigned the second class in each fit, which fits are clear, and the scores.

        The first and the last have shape (n_fits, n_samples); larger scores favor the second class.
        """


#: One step of a pipeline, fitted to each training set: its columns, and which fits are clear.
Step = Callable[[Columns, Draws], tuple[Columns, Bools]]

#: The same for all steps before a classifier, starting from the rows of the data.
Source = Callable[[Draws], tuple[Columns, Bools]]


def averages(shares: Array, rows: Array) -> Array:
    """Return the weighted means of the columns in each fit, shape (n_fits, n_columns)."""
    if rows.ndim == 2:
        return np.asarray(shares @ rows)
    return np.asarray((shares[:, None, :] @ rows)[:, 0])


def beside(parts: Sequence[Columns], n_fits: int) -> Columns:
    """Return the columns of all parts side by side."""
    if len(parts) == 1:
        return parts[0]
    if any(part.rows.ndim == 3 for part in parts):
        return Columns(np.concatenate([part.stacked(n_fits) for part in parts], axis=2))

    def joined(values: list[Array | None], neutral: float) -> Array | None:
        if all(value is None for value in values):
            return None
        filled = [
            np.full((n_fits, part.rows.shape[-1]), neutral) if value is None else value
            for part, value in zip(parts, values, strict=True)
        ]
        return np.concatenate(filled, axis=1)

    return Columns(
        np.concatenate([part.rows for part in parts], axis=1),
        joined([part.shift for part in parts], 0.0),
        joined([part.scale for part in parts], 1.0),
    )


#: Maps counts of the training rows, float, shape (n_fits, n_samples), to whether each training row is misclassified by
#: the classifier fitted to the resampled rows, bool, same shape, which fits are clear, shape (n_fits,), and the scores
#: of the rows, nan where a fit has one class. What it says of fits that are not clear is meaningless; they are refitted
#: one at a time. It must be able to fit a single class.
BatchedRefit = Callable[[Array], tuple[Bools, Bools, Array]]


def refit_in_batches(
    source: Source, fit: BatchedFit, labels: Array, n_columns: int, counts: Array
) -> tuple[Bools, Bools, Array]:
    """Refit a classifier on the output of its steps, as a `BatchedRefit` does.

    Parameters
    ----------
    source : callable
        The steps before the classifier.
    fit : callable
        The classifier.
    labels : ndarray of float, shape (n_samples,)
        -1.0 or +1.0.
    n_columns : int
        Largest number of columns in the input of a step or the classifier; determines how many fits are made at once.
    counts : ndarray of float, shape (n_fits, n_samples)
    """
    size = max(1, CHUNK_VALUES // max(1, labels.size * n_columns))
    # a training set of one class gives the constant classifier, with an intercept or without
    seconds = counts @ (labels > 0.0)
    losses = np.where(seconds[:, None] > 0.0, labels < 0.0, labels > 0.0)
    clear = np.ones(len(counts), dtype=bool)
    scores = np.full(counts.shape, np.nan)
    both = np.flatnonzero((seconds > 0.0) & (seconds < counts.sum(axis=1)))
    for start in range(0, both.size, size):
        part = both[start : start + size]
        draws = Draws(counts[part], labels)
        columns, steps_clear = source(draws)
        if columns.scale is not None:  # scikit-learn refuses a training set without any column left
            steps_clear = steps_clear & columns.scale.any(axis=1)
        if not steps_clear.any():
            clear[part] = False
            continue
        if not steps_clear.all():
            columns, draws = columns[steps_clear], draws[steps_clear]
        predicted, fit_clear, part_scores = fit(columns, draws)
        losses[part[steps_clear]] = predicted != (labels > 0.0)
        scores[part[steps_clear]] = part_scores
        clear[part] = steps_clear
        clear[part[steps_clear]] = fit_clear
    return losses, clear, scores


#: Error of a score by the kernel's minimizer, relative to the sum of its terms. Its accuracy is in the loss.
KERNEL_DOUBT = 1e-6
#: Singular values of columns of length 1 above this may be rounding errors or not, up to `CLEAR_SHARE`.
RANK_DOUBT = 0.01 * RANK_TOLERANCE


@dataclass(frozen=True)
class LinearFit:
    """A linear classifier that minimizes sum_i c_i loss_i + sum_j r_j beta_j^2, with class weights c_i.

    Attributes
    ----------
    loss : str
        Name of one of the package's losses.
    penalty : float or ndarray of float, shape (n_columns,)
        Strengths r_j of the columns.
    fit_intercept : bool, default=True
    intercept_penalty : float, default=0.0
        Strength of the intercept.
    class_weight : (float, float) or "balanced", default=(1.0, 1.0)
        Weights of the first and of the second class; "balanced" gives each class n / 2 in every training set.
    of_package : bool, default=False
        Whether it is a classifier of this package: the strengths are relative to the weighted mean of the losses, and a
        score of 0, up to rounding, gives the second class. In scikit-learn, strengths are relative to the sum, and a
        fit with such a score is made by itself, since a rounding error decides.
    n_jobs : int, default=1
        Threads.
    """

    loss: str
    penalty: float | Array
    fit_intercept: bool = True
    intercept_penalty: float = 0.0
    class_weight: tuple[float, float] | Literal["balanced"] = (1.0, 1.0)
    of_package: bool = False
    n_jobs: int = 1

    @property
    def ignores_constants(self) -> bool:
        """Whether an intercept or a penalty makes columns that are constant up to rounding errors harmless."""
        return self.fit_intercept or bool(np.all(np.asarray(self.penalty) > 0.0))

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Bools, Bools, Array]:
        """Return whether each row is assigned the second class in each fit, which fits are clear, and the scores."""
        loss = get_loss(self.loss)
        weights = draws.counts if self.class_weight == (1.0, 1.0) else self._weights(draws)
        n_columns = columns.rows.shape[-1]
        strengths = np.broadcast_to(np.asarray(self.penalty, dtype=np.float64), (n_columns,))
        if self.fit_intercept:
            strengths = np.concatenate([[self.intercept_penalty], strengths])
        factors = weights.sum(axis=1) if self.of_package else np.ones(len(weights))
        strengths = factors[:, None] * strengths  # in each fit
        flat = columns.scale is None and n_columns >= draws.labels.size and not np.any(self.penalty)
        if not loss.smooth or flat:  # the latter never has a single minimizer
            scores, doubt = np.zeros(weights.shape), np.zeros(weights.shape)
            unique = np.zeros(len(draws.counts), dtype=bool)
        else:
            scores, doubt, unique = fit_stack(
                columns.rows,
                draws.labels,
                weights,
                strengths,
                loss=self.loss,
                shift=columns.shift,
                scale=columns.scale,
                fit_intercept=self.fit_intercept,
                threads=self.n_jobs,
            )
        if not np.any(self.penalty):  # a rounding error may look like the last dimension
            unique &= (weights > 0.0).sum(axis=1) >= strengths.shape[1]
        rest = np.flatnonzero(~unique)
        if self.of_package and self.loss == "squared" and not strengths.any():
            scores[rest], unique[rest] = self._of_least_norm(columns, draws, weights, rest)
        elif not loss.smooth or (self.of_package and loss.vanishes):
            # clones of this package's classifiers refuse separable training sets under a loss without a minimizer
            scores[rest], unique[rest] = self._by_kernel(columns, draws, weights, strengths, rest)
        if self.of_package:
            return scores >= -TIE_TOLERANCE, unique, scores
        # without an intercept, scikit-learn always gives a row of zeros the first class
        zeros = np.zeros(scores.shape, dtype=bool) if self.fit_intercept else (scores == 0.0) & (doubt == 0.0)
        undecided = (np.abs(scores) <= np.maximum(doubt, TIE_TOLERANCE)) & ~zeros
        return scores > 0.0, unique & ~undecided.any(axis=1), scores

    def _weights(self, draws: Draws) -> Array:
        """Return the weights of the losses of all rows in each fit by their class, shape (n_fits, n_samples)."""
        if self.class_weight == "balanced":
            seconds = draws.counts @ (draws.labels > 0.0)
            of_classes = 0.5 * draws.totals / np.stack([draws.totals - seconds, seconds])
        else:
            of_classes = np.array(self.class_weight)[:, None]
        first, second = of_classes[:, :, None]
        return np.asarray(draws.counts * np.where(draws.labels > 0.0, second, first))

    def _of_least_norm(
        self, columns: Columns, draws: Draws, weights: Array, fits: NDArray[np.intp]
    ) -> tuple[Array, Bools]:
        """Return the scores of least-squares fits without a single minimizer, and whether they are reliable."""
        if columns.rows.ndim == 2 and columns.shift is columns.scale is None:
            scores = minimum_norm_scores(
                columns.rows, draws.labels, weights[fits], fit_intercept=self.fit_intercept
            )
            return scores, np.ones(fits.size, dtype=bool)
        shares = weights[fits] / weights[fits].sum(axis=1, keepdims=True)
        rows = columns[fits].stacked(fits.size)
        return least_squares_scores(rows, shares, draws.labels, fit_intercept=self.fit_intercept)

    def _by_kernel(
        self, columns: Columns, draws: Draws, weights: Array, strengths: Array, fits: NDArray[np.intp]
    ) -> tuple[Array, Bools]:
        """Return the scores of fits that Newton's method does not find, and whether they are reliable."""
        scores, sure = np.zeros((fits.size, draws.labels.size)), np.zeros(fits.size, dtype=bool)
        shared = columns.rows.ndim == 2 and columns.shift is columns.scale is None
        if shared and self.class_weight != "balanced":
            # one problem for all fits with the same strengths
            of_class = np.where(draws.labels > 0.0, self.class_weight[1], self.class_weight[0])
            _, groups = np.unique(strengths[fits], axis=0, return_inverse=True)
            for group in range(groups.max(initial=-1) + 1):
                part = np.flatnonzero(groups == group)
                counts = draws.counts[fits[part]].astype(np.int32)
                scores[part], sure[part] = self._minimum(
                    columns.rows, draws.labels, counts, of_class, strengths[fits[part[0]]]
                )
            return scores, sure
        for place, fit in enumerate(fits):
            rows = columns[np.arange(len(draws.counts)) == fit].stacked(1)[0]
            ones = (weights[fit] > 0.0).astype(np.int32)[None]
            of_fit = self._minimum(rows, draws.labels, ones, weights[fit], strengths[fit])
            scores[place], sure[place] = of_fit[0][0], of_fit[1][0]
        return scores, sure

    def _minimum(
        self, rows: Array, labels: Array, counts: NDArray[np.int32], weights: Array, strengths: Array
    ) -> tuple[Array, Bools]:
        design = np.column_stack([np.ones(labels.size), rows]) if self.fit_intercept else rows
        problem = Problem.of(
            design,
            labels,
            np.zeros(design.shape[1]),
            counts,
            loss=get_loss(self.loss),
            penalty=strengths / labels.size if strengths.any() else None,
            sample_weight=weights,
        )
        minimum = minimize(problem)
        scores = minimum.coef @ design.T
        near = np.abs(scores) <= KERNEL_DOUBT * (np.abs(minimum.coef) @ np.abs(design).T)
        sure = np.asarray(self.of_package | ~near.any(axis=1))
        return scores, sure


def least_squares_scores(
    rows: Array, shares: Array, targets: Array, *, fit_intercept: bool
) -> tuple[Array, Bools]:
    """Return the scores of all rows by least squares.

    Where coefficients are not unique, the fit is clear only if all columns have the same length and an intercept is
    fitted: then it has those of least norm.

    Parameters
    ----------
    rows : ndarray of float, shape (n_fits, n_samples, n_columns)
    shares : ndarray of float, shape (n_fits, n_samples)
    targets : ndarray of float, shape (n_samples,)
    fit_intercept : bool

    Returns
    -------
    scores : ndarray of float, shape (n_fits, n_samples)
    clear : ndarray of bool, shape (n_fits,)

    Examples
    --------
    >>> rows, shares = np.array([[[0.0], [1.0], [2.0]]]), np.array([[0.5, 0.5, 0.0]])
    >>> scores, clear = least_squares_scores(rows, shares, np.array([-1.0, 1.0, 1.0]), fit_intercept=True)
    >>> scores.round(9).tolist(), clear.tolist()
    ([[-1.0, 1.0, 3.0]], [True])
    """
    roots = np.sqrt(shares)
    size = np.sqrt(averages(shares, rows**2))
    intercepts = np.zeros(len(rows))
    if fit_intercept:
        intercepts = shares @ targets
        rows = rows - averages(shares, rows)[:, None, :]
    lengths = np.sqrt(averages(shares, rows**2))
    constant = lengths <= RANK_TOLERANCE * size
    rows = np.where(constant[:, None, :], 0.0, rows / np.where(constant, 1.0, lengths)[:, None, :])
    left, singular, right = np.linalg.svd(roots[:, :, None] * rows, full_matrices=False)
    kept = singular > CLEAR_SHARE
    clear = ~((singular > RANK_DOUBT) & ~kept).any(axis=1)
    clear &= (constant | (lengths > CLEAR_SHARE * size)).all(axis=1)
    unique = kept.sum(axis=1) == (~constant).sum(axis=1)
    # for columns of equal length the pseudo-inverse gives coefficients of least norm; and what rounding left of means
    # is an intercept, unless they are subtracted again
    shortest = np.where(constant, np.inf, lengths).min(axis=1, initial=np.inf)
    alike = lengths.max(axis=1, initial=0.0) <= (1.0 + CLEAR_SHARE**2) * shortest
    clear &= unique | (alike & fit_intercept)
    inverse = np.divide(1.0, singular, out=np.zeros_like(singular), where=kept)
    moments = np.einsum("fnr,fn->fr", left, roots * (targets - intercepts[:, None]))
    coef = np.einsum("frc,fr->fc", right, inverse * moments)
    return (rows @ coef[:, :, None])[:, :, 0] + intercepts[:, None], clear


#: Fits with a score nearer to 0 than this share of the sum of its terms are made one at a time, and so are fits whose
#: within-class correlations have an eigenvalue below `CLEAR_EIGENVALUE`: the error of a score is about 1e-16 over
#: that.
ROUNDING = 1e-8
CLEAR_EIGENVALUE = 1e-6

#: The first scikit-learn whose solver svd divides covariances by the number of rows, as is done here.
FIRST_VERSION = "1.9.1"


@dataclass(frozen=True)
class DiscriminantFit:
    """`LinearDiscriminantAnalysis` of two classes by its solver svd.

    Attributes
    ----------
    priors : (float, float) or None
        Priors of the first and of the second class; None uses their shares of the drawn rows.
    least_eigenvalue : float
        Fits in which the correlations within the classes have a smaller eigenvalue are made one at a time.
    """

    priors: tuple[float, float] | None
    least_eigenvalue: float

    #: The difference of the means does not see what is constant.
    ignores_constants = False

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Bools, Bools, Array]:
        """Return whether each row is assigned the second class in each fit, which fits are clear, and the scores."""
        # otherwise there is no variance within the classes in some direction
        if columns.rows.shape[-1] >= draws.labels.size:
            nothing = np.zeros(draws.counts.shape)
            return nothing > 0.0, np.zeros(len(draws.counts), dtype=bool), nothing
        rows, second = columns.stacked(len(draws.counts)), draws.labels > 0.0
        counts = np.stack([draws.counts * ~second, draws.counts * second], axis=1)
        sizes = counts.sum(axis=2)
        means = counts @ rows / sizes[:, :, None]
        shares = sizes / sizes.sum(axis=1, keepdims=True)
        priors = shares if self.priors is None else np.broadcast_to(self.priors, shares.shape)
        coef, clear = self._coefficients(rows, counts, means, shares)
        middle = 0.5 * (means[:, 0] + means[:, 1])
        terms = (rows - middle[:, None, :]) * coef[:, None, :]
        offset = np.log(priors[:, 1] / priors[:, 0])[:, None]
        scores = terms.sum(axis=2) + offset
        sure = np.abs(scores) > ROUNDING * (np.abs(terms).sum(axis=2) + np.abs(offset))
        return scores > 0.0, clear & sure.all(axis=1), scores

    def _coefficients(self, rows: Array, counts: Array, means: Array, shares: Array) -> tuple[Array, Bools]:
        """Return the difference of the means over the covariances within the classes, and which fits are clear."""
        within = np.zeros((len(rows), rows.shape[2], rows.shape[2]))
        for which in (0, 1):
            weights = counts[:, which] * (shares[:, which] / counts[:, which].sum(axis=1))[:, None]
            centered = rows - means[:, which, None]
            within += (centered * weights[:, :, None]).swapaxes(1, 2) @ centered
        deviations = np.sqrt(np.einsum("fjj->fj", within))
        varies = deviations > CLEAR_SHARE * np.abs(rows).max(axis=1)
        scale = np.where(varies, deviations, 1.0)
        correlations = within / (scale[:, :, None] * scale[:, None, :])
        least = np.linalg.eigvalsh(correlations)[:, 0]
        clear = np.asarray(varies.all(axis=1) & (least > self.least_eigenvalue))
        correlations[~clear] = np.eye(rows.shape[2])
        apart = (means[:, 1] - means[:, 0]) / scale
        return np.linalg.solve(correlations, apart[:, :, None])[:, :, 0] / scale, clear


def discriminant_fit(estimator: Any) -> DiscriminantFit | None:
    """Return a batched fit of a linear discriminant analysis, or None if it has no such closed form."""
    if (
        parse_version(sklearn.__version__) < parse_version(FIRST_VERSION)
        or type(estimator) is not LinearDiscriminantAnalysis
        or estimator.solver != "svd"
        or estimator.shrinkage is not None
        or getattr(estimator, "covariance_estimator", None) is not None
    ):
        return None
    priors = None
    if estimator.priors is not None:
        first, second = (np.asarray(estimator.priors, dtype=np.float64) / np.sum(estimator.priors)).tolist()
        priors = (first, second)
    # solver svd leaves out directions whose singular value, a root of an eigenvalue, is not above tol
    least = max(CLEAR_EIGENVALUE, (2.0 * float(estimator.tol)) ** 2)
    return DiscriminantFit(priors, least)


#: What ``cv=None`` stands for in scikit-learn.
N_FOLDS = 5
#: One of the values to choose from, fitted to counts of the rows that are parts of training sets of these numbers.
Candidate = Callable[[Array, NDArray[np.intp]], tuple[Bools, Bools, Array]]


@dataclass(frozen=True)
class TunedFit:
    """A classifier fitted with each of several values; the first with the largest accuracy on folds is kept.

    Attributes
    ----------
    fits : tuple of BatchedFit
        One per value.
    n_folds : int
        Of stratified cross-validation without shuffling.
    """

    fits: tuple[BatchedFit, ...]
    n_folds: int

    @property
    def ignores_constants(self) -> bool:
        """Whether all of them do."""
        return all(fit.ignores_constants for fit in self.fits)

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Bools, Bools, Array]:
        """Return whether each row is assigned the second class in each fit, which fits are clear, and the scores."""

        def candidate(fit: BatchedFit) -> Candidate:
            return lambda counts, draw: fit(columns[draw], Draws(counts, draws.labels))

        # `LogisticRegressionCV` adds the scores of the folds up, fold by fold
        return choose_on_folds(
            list(map(candidate, self.fits)),
            draws,
            self.n_folds,
            lambda scores: sum(np.moveaxis(scores, 2, 0)),
        )


def number_of_folds(cv: Any) -> int | None:
    """Return the number of folds of a parameter ``cv``, None if it is a splitter."""
    is_number = isinstance(cv, Integral) and not isinstance(cv, bool)
    return N_FOLDS if cv is None else int(cv) if is_number else None


def choose_on_folds(
    candidates: Sequence[Candidate], draws: Draws, n_folds: int, summed: Callable[[Array], Any]
) -> tuple[Bools, Bools, Array]:
    """Return the output of the best candidate of each training set, as a `BatchedFit` does.

    Training sets with fewer rows of a class than folds are not clear: scikit-learn warns of them.

    Parameters
    ----------
    candidates : sequence of callable
    draws : Draws
    n_folds : int
    summed : callable
        Sums or means over the folds, the last axis, rounded as scikit-learn rounds them: they decide between ties.
    """
    second = draws.labels > 0.0
    predicted, clear = np.zeros(draws.counts.shape, dtype=bool), np.zeros(len(draws.counts), dtype=bool)
    scores = np.full(draws.counts.shape, np.nan)
    seconds = draws.counts @ second
    enough = np.flatnonzero(np.minimum(seconds, draws.totals - seconds) >= n_folds)
    if not enough.size:
        return predicted, clear, scores
    tested = np.stack([_tested(row, second, n_folds) for row in draws.counts[enough]])
    training = (draws.counts[enough][:, None] - tested).reshape(-1, second.size)
    accuracy = np.empty((enough.size, len(candidates), n_folds))
    sure = np.ones(enough.size, dtype=bool)
    for number, candidate in enumerate(candidates):
        of_folds, found_clear, _ = candidate(training, np.repeat(enough, n_folds))
        right = (of_folds == second).reshape(tested.shape)
        accuracy[:, number] = (tested * right).sum(axis=2) / tested.sum(axis=2)
        sure &= found_clear.reshape(-1, n_folds).all(axis=1)
    best = np.argmax(summed(accuracy), axis=1)
    for number, candidate in enumerate(candidates):
        part = enough[best == number]
        if part.size:
            predicted[part], of_all, scores[part] = candidate(draws.counts[part], part)
            sure[best == number] &= of_all
    clear[enough] = sure
    return predicted, clear, scores


def _tested(counts: Array, second: Bools, n_folds: int) -> Array:
    """Return how often each row is tested in each fold, shape (n_folds, n_samples)."""
    drawn = np.repeat(np.arange(counts.size), counts.astype(np.intp))
    folds = StratifiedKFold(n_folds).split(drawn, second[drawn])
    return np.stack([np.bincount(drawn[test], minlength=counts.size) for _, test in folds]).astype(np.float64)
