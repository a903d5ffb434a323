"""The classifier of the paper: the sign of a least-squares fit to labels -1 and +1, of one training set or a stack."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from cudbound.problem.coordinates import RANK_TOLERANCE
from cudbound.problem.problem import TIE_TOLERANCE, check_scale

Array = NDArray[np.float64]

#: Largest number of float64 values in one intermediate array, 16 MB.
CHUNK_VALUES = 2_000_000


def minimum_norm_fits(
    features: Array, targets: Array, weights: Array, *, fit_intercept: bool
) -> tuple[Array, Array]:
    """Fit a stack of weighted least-squares problems on the same rows.

    If the minimizer is not unique, the one with the smallest Euclidean norm of the coefficients is used. The intercept
    is not part of that norm, as in `sklearn.linear_model.LinearRegression`: equal targets then always give the
    constant function.

    Parameters
    ----------
    features : ndarray of float, shape (n_samples, n_features)
    targets : ndarray of float, shape (n_samples,)
    weights : ndarray of float, shape (n_fits, n_samples)
        Non-negative, with a positive sum in every row.
    fit_intercept : bool

    Returns
    -------
    coef : ndarray of float, shape (n_fits, n_features)
    intercept : ndarray of float, shape (n_fits,)
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    if features.shape[1] > features.shape[0]:
        rotated, axes = _rotate(features)
        lengths = np.sqrt(shares @ rotated**2)
        # rotated columns share one unit, and one of mere rounding errors must stay small beside the others
        lengths[:] = lengths.max(axis=1, keepdims=True, initial=0.0)
        coef, intercept = _fit(rotated, targets, shares, lengths, fit_intercept=fit_intercept)
        return coef @ axes, intercept
    return _fit(features, targets, shares, np.sqrt(shares @ features**2), fit_intercept=fit_intercept)


def _chunks(n_fits: int, n_values: int) -> list[slice]:
    """Split fits with so many values each into parts of at most `CHUNK_VALUES`."""
    step = max(1, CHUNK_VALUES // max(1, n_values))
    return [slice(start, start + step) for start in range(0, n_fits, step)]


def minimum_norm_scores(features: Array, labels: Array, weights: Array, *, fit_intercept: bool) -> Array:
    """Return the scores of all rows by `minimum_norm_fits`, shape of `weights`, with few fits in memory at a time."""
    scores = np.empty(weights.shape)
    for part in _chunks(len(weights), features.size):
        coef, intercept = minimum_norm_fits(features, labels, weights[part], fit_intercept=fit_intercept)
        scores[part] = coef @ features.T + intercept[:, None]
    return scores


def _fit(
    features: Array, targets: Array, shares: Array, lengths: Array, *, fit_intercept: bool
) -> tuple[Array, Array]:
    """Fit to columns divided by `lengths`, shape (n_fits, n_features); a length of 0 leaves a column as it is."""
    roots = np.sqrt(shares)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    means, target_means = np.zeros(lengths.shape), np.zeros(len(shares))
    if fit_intercept:
        means, target_means = shares @ features, shares @ targets
    centered = features - means[:, None, :]
    columns = roots[:, :, None] * centered / lengths[:, None, :]
    coef = _solve(columns, roots * (targets - target_means[:, None]), lengths)
    return coef, target_means - np.einsum("bp,bp->b", means, coef)


def _solve(matrices: Array, targets: Array, lengths: Array) -> Array:
    """Solve a stack of problems whose columns were divided by `lengths`; minimum norm in original units."""
    # a column that centering makes vanish does not enter, and the length of one of mere rounding errors, such as a
    # constant column that was standardized, would drown the others in the null space
    vanishing = (matrices**2).sum(axis=1) <= RANK_TOLERANCE**2
    matrices = np.where(vanishing[:, None, :], 0.0, matrices)
    lengths = np.where(vanishing, lengths.max(axis=1, keepdims=True, initial=0.0), lengths)
    left, singular, right = np.linalg.svd(matrices, full_matrices=False)
    kept = singular > RANK_TOLERANCE
    inverse = np.divide(1.0, singular, out=np.zeros_like(singular), where=kept)
    coef = np.einsum("brp,br->bp", right, inverse * np.einsum("bnr,bn->br", left, targets)) / lengths
    deficient = np.flatnonzero(~kept.all(axis=1))
    if deficient.size:
        # a move along the null space does not change the fit; remove the part that only adds to the
        # norm
        null = (right * ~kept[:, :, None])[deficient].swapaxes(1, 2) / lengths[deficient][:, :, None]
        excess = null @ (np.linalg.pinv(null) @ coef[deficient][:, :, None])
        coef[deficient] -= excess[:, :, 0]
    return np.asarray(coef)


def _rotate(features: Array) -> tuple[Array, Array]:
    """Return coordinates of the rows in the space that they span, and orthonormal axes of that space.

    A rotation keeps the norm of coefficients, and minimum-norm coefficients lie in the space of the rows.
    """
    left, singular, axes = np.linalg.svd(features, full_matrices=False)
    kept = singular > RANK_TOLERANCE * singular.max()
    return left[:, kept] * singular[kept], axes[kept]


def check_two_classes(estimator: BaseEstimator, y: ArrayLike) -> tuple[NDArray[Any], Array]:
    """Return the two classes in sorted order and the labels as -1.0 for the first and +1.0 for the second.

    Raises
    ------
    ValueError
        If `y` has one class or more than two.
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size == 1:
        raise ValueError(
            f"{type(estimator).__name__} can't train when only one class is present in y. "
            f"Got only {classes.tolist()[0]!r}; pass rows of both classes."
        )
    if classes.size > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}. "
            f"Got {classes.size} classes {classes[:5].tolist()}; select or merge classes until two remain."
        )
    return classes, np.asarray(2.0 * codes - 1.0, dtype=np.float64)


def check_weights(sample_weight: ArrayLike | None, features: Array) -> Array:
    """Return one weight per row, 1 if None was given.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, or if all are 0.
    """
    if sample_weight is None:
        return np.ones(features.shape[0])
    weights = _check_sample_weight(sample_weight, features, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():  # newer versions of scikit-learn have refused these already
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return np.asarray(weights)


class TwoClassLinear(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    """Base class of the classifiers in this package: two classes, and the sign of a linear score of the rows."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def basis_rows(self, X: ArrayLike) -> Array:
        """Return the rows that the coefficients of a fitted classifier multiply, without the intercept.

        Parameters
        ----------
        X : array-like of float, shape (n_samples, n_features)

        Returns
        -------
        ndarray of float, shape (n_samples, n_coefficients)
        """
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the fitted score of each row; scores at rounding level are exactly 0.

        Parameters
        ----------
        X : array-like of float, shape (n_samples, n_features)

        Returns
        -------
        ndarray of float, shape (n_samples,)
            Scores; 0 or more means ``classes_[1]``.
        """
        check_is_fitted(self)
        scores = self.basis_rows(X) @ self.coef_[0] + self.intercept_[0]
        scores[np.abs(scores) <= TIE_TOLERANCE] = 0.0
        return np.asarray(scores)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the predicted label of each row.

        Parameters
        ----------
        X : array-like of float, shape (n_samples, n_features)

        Returns
        -------
        ndarray, shape (n_samples,)
            Labels, from ``classes_``.
        """
        positive = self.decision_function(X) >= 0.0
        return np.asarray(self.classes_[positive.astype(int)])


class LeastSquaresClassifier(TwoClassLinear):
    """Classify by the sign of a least-squares fit to labels -1 and +1.

    The first class in sorted order is -1, the second +1. A score of exactly 0 gives the second class. If the
    least-squares solution is not unique, the coefficients of smallest Euclidean norm are used; the intercept is not
    part of that norm.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
        The two labels, sorted; ``classes_[1]`` is +1.
    coef_ : ndarray of float, shape (1, n_features)
        Coefficients of the score.
    intercept_ : ndarray of float, shape (1,)
        Intercept of the score; 0 if `fit_intercept` is False.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Names of the features, if `X` had names that are all strings.

    References
    ----------
    Laber, E. B. and Murphy, S. A. (2008). Small sample inference for generalization error in classification
    using the CUD bound. UAI 2008, section 5: "squared error loss", linear classifiers.

    Examples
    --------
    >>> from cudbound import LeastSquaresClassifier
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> clf = LeastSquaresClassifier().fit(X, ["healthy", "healthy", "ill", "ill"])
    >>> clf.predict([[0.5], [2.5]]).tolist()
    ['healthy', 'ill']
    """

    def __init__(self, fit_intercept: bool = True):
        self.fit_intercept = fit_intercept

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of float, shape (n_samples, n_features)
            Training rows.
        y : array-like, shape (n_samples,)
            Labels of exactly two classes.
        sample_weight : array-like of float, shape (n_samples,), default=None
            Non-negative weights of the squared errors; None weights all rows equally.

        Returns
        -------
        LeastSquaresClassifier
            The fitted classifier itself.

        Raises
        ------
        ValueError
            If `y` has one class or more than two, if `X`, `y` or `sample_weight` is not finite, or if a column of
            `X` is so large or so small that squares overflow or underflow.
        """
        features, y = validate_data(self, X, y, dtype=np.float64)
        check_scale("X", features, getattr(self, "feature_names_in_", None))
        classes, targets = check_two_classes(self, y)
        weights = check_weights(sample_weight, features)
        coef, intercept = minimum_norm_fits(
            features, targets, weights[None, :], fit_intercept=self.fit_intercept
        )
        self.classes_ = classes
        self.coef_ = coef
        self.intercept_ = intercept
        return self
