"""Bolstered resubstitution: each training point counts as the misclassified share of a kernel around it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv, ndtr

from cudbound.basis.outcomes import Estimand, PointOutcome
from cudbound.point_estimates.estimator import PointEstimator
from cudbound.records import Records

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KernelWidths:
    """Standard deviations of the normal kernels around training points.

    Attributes
    ----------
    of_rows : ndarray of float, shape (n_samples,)
        In the units of the features; 0 for no kernel.
    negative, positive : float
        Those of the two classes.
    remarks : tuple of str
        Classes whose width does not come from their own points.
    """

    of_rows: Array
    negative: float
    positive: float
    remarks: tuple[str, ...] = ()


def kernel_widths(rows: ArrayLike, labels: ArrayLike) -> KernelWidths:
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
    KernelWidths
        A class of one row has the width of the other class, or 0 if the other has at most one row. A class has width 0
        if each of its points coincides with another of the class.

    References
    ----------
    Braga-Neto, U. and Dougherty, E. (2004). Bolstered error estimation. Pattern Recognition 37, 1267-1281.

    Examples
    --------
    >>> widths = kernel_widths([[0.0], [1.0], [5.0], [7.0]], [-1, -1, 1, 1])
    >>> round(widths.negative, 3), round(widths.positive, 3)
    (1.483, 2.965)
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
        own = points[classes == positive]
        if len(own) > 1:
            distances, _ = KDTree(own).query(own, k=2)
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
    return KernelWidths(
        np.where(classes, widths[True], widths[False]), widths[False], widths[True], tuple(remarks)
    )


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
        ``of_rows`` of `kernel_widths`.
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
    return PointOutcome(float(np.mean(records.require("bolstered").losses)))


def _semi_bolstered(records: Records) -> PointOutcome:
    recorded = records.require("bolstered")
    return PointOutcome(float(np.where(recorded.wrong, 1.0, recorded.losses).mean()))


BOLSTERED = PointEstimator(
    name="bolstered",
    title="Bolstered resubstitution",
    formula="mean over the rows of the misclassified share of a normal kernel around the row; its standard deviation "
    "is the mean distance to the nearest row of the class / the median of chi with as many degrees of freedom as "
    "features",
    estimand=Estimand("conditional"),
    needs=frozenset({"bolstered"}),
    assumptions="a spherical normal kernel around each point resembles the population near it; features have similar "
    "units",
    tendency="too low if the classifier fits its training set closely; depends on the units of the features",
    reference="Braga-Neto and Dougherty (2004), with one kernel width per class",
    cost="0",
    compute=_bolstered,
)

SEMI_BOLSTERED = replace(
    BOLSTERED,
    name="semi-bolstered",
    title="Semi-bolstered resubstitution",
    formula="as bolstered, with 1 for misclassified rows",
    assumptions="as bolstered",
    tendency="higher than bolstered: misclassified points count in full",
    reference="Braga-Neto and Dougherty (2004): no kernel around misclassified points",
    compute=_semi_bolstered,
)
