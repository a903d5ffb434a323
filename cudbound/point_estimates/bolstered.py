"""Bolstered resubstitution: each training point counts as the misclassified share of a kernel around it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv, ndtr

from cudbound.basis.method_card import RecordKind
from cudbound.basis.results import PointOutcome
from cudbound.basis.sample import column_names, dense
from cudbound.basis.validation import Array, check_binary_classifier, check_lengths
from cudbound.point_estimates.estimator import PointEstimator
from cudbound.records import Records
from cudbound.records.rules import Flags, Means, Recorded, Remarks, check_same

if TYPE_CHECKING:
    # these load scikit-learn, which the first call does
    from cudbound.resampling.make_records import RecordingInputs


@dataclass(frozen=True, eq=False)
class BolsteredLosses(Recorded):
    """Share of a kernel around each training point that the fitted classifier misclassifies.

    Attributes
    ----------
    losses : ndarray of float, shape (n_samples,)
        In [0, 1].
    wrong : ndarray of bool, shape (n_samples,)
        Whether the point itself is misclassified.
    remarks : tuple of str
    """

    losses: Means
    wrong: Flags
    remarks: Remarks = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_same("shape", losses=self.losses, wrong=self.wrong)

    @property
    def n_samples(self) -> int:
        """Number of rows of the training set."""
        return int(np.size(self.losses))

    @property
    def n_fits(self) -> int:
        """Number of classifier fits behind the record."""
        return 0


#: Draws from the kernel of a point without a closed form. The misclassified share of the kernel then has a standard
#: error of at most .05 per point, and .05 / sqrt(n) in the mean over n points.
N_DRAWS = 100
#: Largest number of values in the rows that are predicted at once, 16 MB.
CHUNK_VALUES = 2_000_000


def record_bolstered(estimator: Any, X: Any, y: Any, *, rng: np.random.Generator) -> BolsteredLosses:
    """Record the misclassified share of a normal kernel around each training point.

    The kernels are spherical, with one width per class, see `cudbound.point_estimates.bolstered.kernel_widths`. If the
    classifier is the sign of a linear score of its rows, the share has a closed form; any other classifier predicts 100
    random points from each kernel. For a `Pipeline`, the kernels are placed around the rows that its last step
    receives; a `StandardScaler` before the classifier therefore makes the estimate independent of the units. For a
    search, its best estimator is used.

    Parameters
    ----------
    estimator : object
        Fitted scikit-learn classifier of two classes.
    X : array-like, shape (n_samples, n_features)
        The rows that it was fitted to; the transformers of a `Pipeline` must turn them into numbers.
    y : array-like, shape (n_samples,)
        Their labels, as passed to the estimator's `fit`.
    rng : numpy.random.Generator
        Source of the draws; not used with a closed form.

    Returns
    -------
    BolsteredLosses
        Its remarks report how the shares were computed, and which class borrows its kernel width.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator has not been fitted.
    ValueError
        If it does not have two classes, `X` and `y` differ in length, or the rows are not numbers.

    References
    ----------
    Braga-Neto, U. and Dougherty, E. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> import numpy as np
    >>> from cudbound import LeastSquaresClassifier
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> clf = LeastSquaresClassifier().fit(X, y)
    >>> record_bolstered(clf, X, y, rng=np.random.default_rng(0)).losses.round(3).tolist()
    [0.089, 0.25, 0.25, 0.089]
    """
    classes = check_binary_classifier(estimator)
    answers = np.asarray(y)
    labels = np.where(answers == classes[1], 1.0, -1.0)
    predicted = np.asarray(estimator.predict(X))
    check_lengths(len(predicted), labels.size)
    wrong = np.asarray(predicted != answers)
    rule, inputs = _last_step(estimator, X)
    rows = _numbers(inputs)
    widths, remarks_on_widths = kernel_widths(rows, labels)
    remarks = [
        "one kernel width in all directions makes the estimate depend on the units of the features",
        *remarks_on_widths,
    ]
    linear = _linear_rule(rule, inputs, rows)
    if linear is None:
        losses = _drawn_losses(rule, inputs, rows, widths, answers, rng)
        remarks.append(f"{N_DRAWS} random points from the kernel of each row")
    else:
        coef, intercept = linear
        # without a kernel the point counts as it is classified, ties included
        has_kernel = widths * np.linalg.norm(coef) > 0.0
        losses = np.where(has_kernel, linear_bolstered_losses(rows, labels, widths, coef, intercept), wrong)
        if not coef.any():
            remarks.append("the classifier is constant: every row counts as it is classified")
    return BolsteredLosses(losses, wrong, tuple(remarks))


def _last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the classifier inside pipelines and searches, and the rows that it receives."""
    from sklearn.pipeline import Pipeline

    while True:
        if isinstance(estimator, Pipeline):
            X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return estimator, X


def _numbers(rows: Any) -> Array:
    try:
        numbers = np.asarray(dense(rows), dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.ndim != 2 or not np.isfinite(numbers).all():
        raise ValueError(
            "Bolstering puts normal kernels around the rows of 'X', which must be finite numbers in two dimensions. "
            "Encode other values and impute missing ones in a Pipeline, or leave the bolstered estimates out."
        )
    return numbers


def _linear_rule(rule: Any, inputs: Any, rows: Array) -> tuple[Array, float] | None:
    """Return coefficients and intercept of the rule, or None if it is not the sign of a linear score."""
    from cudbound.adapters.families import contradicts, own_coefficients

    coefficients = own_coefficients(rule, rows.shape[1])
    if coefficients is None:
        return None
    coef, intercept = coefficients
    terms = np.abs(rows) @ np.abs(coef) + abs(intercept)
    positive = np.asarray(rule.predict(inputs) == rule.classes_[1])
    return None if contradicts(positive, rows @ coef + intercept, terms) else coefficients


def _drawn_losses(
    rule: Any, inputs: Any, rows: Array, widths: Array, answers: Any, rng: np.random.Generator
) -> Array:
    n, p = rows.shape
    step = max(1, CHUNK_VALUES // max(1, n * p))
    n_wrong = np.zeros(n)
    for start in range(0, N_DRAWS, step):
        points = rows + widths[:, None] * rng.standard_normal((min(step, N_DRAWS - start), n, p))
        predicted = rule.predict(_like(inputs, points.reshape(-1, p))).reshape(-1, n)
        n_wrong += (predicted != answers).sum(axis=0)
    return n_wrong / N_DRAWS


def _like(inputs: Any, points: Array) -> Any:
    """Return the points with the column names of the rows, if there are any."""
    names = column_names(inputs)
    if names is None:
        return points
    import pandas as pd

    return pd.DataFrame(points, columns=names)


def _record(inputs: RecordingInputs, _: Any) -> BolsteredLosses:
    sample = inputs.sample
    return record_bolstered(sample.estimator, sample.X, sample.y, rng=inputs.streams["bolstered"])


BOLSTERED_LOSSES = RecordKind(
    "bolstered",
    holds=BolsteredLosses,
    words="kernels around the rows",
    record=_record,
    whole_groups=True,
    resamples=False,
)


def kernel_widths(rows: ArrayLike, labels: ArrayLike) -> tuple[Array, tuple[str, ...]]:
    """Return the widths of the spherical normal kernels of the two classes.

    The width is the mean distance of the points of the class to their nearest neighbor in the class, divided by the
    median distance of a standard normal point from its center, the median of the chi distribution with as many degrees
    of freedom as there are features.

    Parameters
    ----------
    rows : array-like of float, shape (n_samples, n_features)
        Without a column for the intercept; at least one feature. Distances are Euclidean, so the widths depend on the
        units of the features.
    labels : array-like of float, shape (n_samples,)
        -1.0 or +1.0.

    Raises
    ------
    ValueError
        If `rows` does not have two dimensions and at least one feature.

    Returns
    -------
    widths : ndarray of float, shape (n_samples,)
        Of the kernel of each row. A class of one row has the width of the other class, or 0 if the other has at most
        one row. A class has width 0 if each of its points coincides with another of the class.
    remarks : tuple of str
        Classes whose width does not come from their own points.

    References
    ----------
    Braga-Neto, U. and Dougherty, E. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> kernel_widths([[0.0], [1.0], [5.0], [7.0]], [-1, -1, 1, 1])[0].round(3).tolist()
    [1.483, 1.483, 2.965, 2.965]
    """
    from scipy.spatial import KDTree

    points, classes = np.asarray(rows, dtype=float), np.asarray(labels, dtype=float) > 0.0
    if points.ndim != 2 or points.shape[1] == 0:
        raise ValueError(
            "The 'rows' parameter must have shape (n_samples, n_features) with at least one feature. "
            f"Got shape {points.shape} instead."
        )
    median = math.sqrt(2.0 * float(gammaincinv(points.shape[1] / 2, 0.5)))
    widths: dict[bool, float] = {}
    for positive in (False, True):
        of_class = points[classes == positive]
        if len(of_class) > 1:
            distances, _ = KDTree(of_class).query(of_class, k=2)
            nearest = np.asarray(distances)[:, 1]  # the nearest of all is the point itself
            widths[positive] = float(nearest.mean()) / median
    remarks = []
    for positive in (False, True):
        name = "+1" if positive else "-1"
        if positive not in widths:
            widths[positive] = widths.get(not positive, 0.0)
            if (classes == positive).any():
                remarks.append(f"class {name} has one row and uses the kernel width of the other class")
        if widths[positive] == 0.0:
            remarks.append(
                f"no kernel around the rows of class {name}: they coincide with their nearest neighbors"
            )
    return np.where(classes, widths[True], widths[False]), tuple(remarks)


def linear_bolstered_losses(
    rows: ArrayLike, labels: ArrayLike, widths: ArrayLike, coef: ArrayLike, intercept: float
) -> Array:
    """Return the share of each point's kernel on the wrong side of a hyperplane, in closed form.

    Parameters
    ----------
    rows : array-like of float, shape (n_samples, n_features)
    labels : array-like of float, shape (n_samples,)
        -1.0 or +1.0.
    widths : array-like of float, shape (n_samples,)
        From `kernel_widths`.
    coef : array-like of float, shape (n_features,)
        a of the rule sign(a'x + b), with sign(0) = +1.
    intercept : float
        b.

    Returns
    -------
    ndarray of float, shape (n_samples,)
        Phi(-y_i (a'x_i + b) / (sigma_i |a|)); where sigma_i or |a| is 0, the 0/1 loss of the point.

    References
    ----------
    Braga-Neto and Dougherty (2004), the closed form for linear classifiers.

    Examples
    --------
    >>> linear_bolstered_losses([[-1.0], [0.0]], [-1, 1], [1.0, 0.0], [1.0], 0.0).round(4).tolist()
    [0.1587, 0.0]
    """
    normal, signs = np.asarray(coef, dtype=float), np.asarray(labels, dtype=float)
    scores = np.asarray(rows, dtype=float) @ normal + intercept
    reach = np.asarray(widths, dtype=float) * float(np.linalg.norm(normal))
    plain = np.where(scores >= 0.0, 1.0, -1.0) != signs
    margins = np.divide(signs * scores, reach, out=np.zeros(scores.shape), where=reach > 0.0)
    return np.asarray(np.where(reach > 0.0, ndtr(-margins), plain))


def _bolstered(records: Records) -> PointOutcome:
    """Bolstered resubstitution.

    Formula: mean over the rows of the misclassified share of a normal kernel around the row; its standard deviation is
    the mean distance to the nearest row of the class / the median of chi with as many degrees of freedom as features.
    Assumptions: a spherical normal kernel around each row resembles the population near it.
    Reference: Braga-Neto and Dougherty (2004).
    """
    return PointOutcome(float(np.mean(records.require(BOLSTERED_LOSSES).losses)))


def _semi_bolstered(records: Records) -> PointOutcome:
    """Semi-bolstered resubstitution.

    Formula: as bolstered, with 1 for misclassified rows.
    Assumptions: as bolstered.
    Reference: Braga-Neto and Dougherty (2004).
    """
    recorded = records.require(BOLSTERED_LOSSES)
    return PointOutcome(float(np.where(recorded.wrong, 1.0, recorded.losses).mean()))


#: Estimators that read kernels, in the order of the table.
OF_KERNELS = (
    PointEstimator("bolstered", {BOLSTERED_LOSSES}, cost="0", compute=_bolstered),
    PointEstimator("semi-bolstered", {BOLSTERED_LOSSES}, cost="0", compute=_semi_bolstered),
)
