"""Linear discriminant analysis of a stack of fits, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.fixes import parse_version

from cudbound.estimators.batched.columns import CLEAR_SHARE, Array, Bools, Columns, Draws

#: Fits with a score nearer to 0 than this share of the sum of its terms are made one at a time, and so are fits whose
#: within-class correlations have an eigenvalue below `CLEAR_EIGENVALUE`: the error of a score is about 1e-16 over
#: that.
ROUNDING = 1e-8
CLEAR_EIGENVALUE = 1e-6

#: The first scikit-learn whose solver svd divides covariances by the number of rows, as is done here.
FIRST_VERSION = "1.9.1"

#: Condition of a covariance matrix up to which it is clear what its solution is.
MOST_CONDITION = 1e7


@dataclass(frozen=True)
class DiscriminantFit:
    """`LinearDiscriminantAnalysis` of two classes by its solvers svd and lsqr without shrinkage.

    Attributes
    ----------
    priors : (float, float) or None
        Priors of the first and of the second class; None uses their shares of the drawn rows.
    least_eigenvalue : float
        Fits in which the correlations within the classes have a smaller eigenvalue are made one at a time.
    by_covariance : bool
        Whether covariances are weighed by the priors and solved for in the units of the columns, as lsqr does it. Fits
        that lose digits by that are made one at a time.
    """

    priors: tuple[float, float] | None
    least_eigenvalue: float
    by_covariance: bool

    #: The difference of the means does not see what is constant.
    ignores_constants = False

    def __call__(self, columns: Columns, draws: Draws) -> tuple[Bools, Bools, Array]:
        """Return whether each row is assigned the second class in each fit, which fits are clear, and the scores."""
        if (
            columns.n_columns >= draws.labels.size
        ):  # in some direction there is no variance within the classes
            nothing = np.zeros(draws.counts.shape)
            return nothing > 0.0, np.zeros(draws.n_fits, dtype=bool), nothing
        rows, second = columns.stacked(draws.n_fits), draws.labels > 0.0
        counts = np.stack([draws.counts * ~second, draws.counts * second], axis=1)
        sizes = counts.sum(axis=2)
        means = counts @ rows / sizes[:, :, None]
        shares = sizes / sizes.sum(axis=1, keepdims=True)
        priors = shares if self.priors is None else np.broadcast_to(self.priors, shares.shape)
        coef, clear = self._coefficients(rows, counts, means, priors if self.by_covariance else shares)
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
        if self.by_covariance:
            clear &= (scale.max(axis=1) / scale.min(axis=1)) ** 2 <= MOST_CONDITION * least
        correlations[~clear] = np.eye(rows.shape[2])
        apart = (means[:, 1] - means[:, 0]) / scale
        return np.linalg.solve(correlations, apart[:, :, None])[:, :, 0] / scale, clear


def discriminant_fit(estimator: Any) -> DiscriminantFit | None:
    """Return a batched fit of a linear discriminant analysis, or None if it has no such closed form."""
    if (
        parse_version(sklearn.__version__) < parse_version(FIRST_VERSION)
        or type(estimator) is not LinearDiscriminantAnalysis
        or estimator.solver not in ("svd", "lsqr")
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
    return DiscriminantFit(priors, least, estimator.solver == "lsqr")
