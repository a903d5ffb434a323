"""The classifiers of this package: least squares, convex losses with a basis, and a basis of stumps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from cudbound.basis.calls import public_call
from cudbound.basis.sample import dense
from cudbound.losses.surrogates import get_loss
from cudbound.problem.coordinates import RANK_TOLERANCE
from cudbound.problem.problem import TIE_TOLERANCE, Problem, check_scale
from cudbound.solve.native import minimize
from cudbound.solve.search import no_minimizer

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


def minimum_norm_scores(features: Array, labels: Array, weights: Array, *, fit_intercept: bool) -> Array:
    """Return the scores of all rows by `minimum_norm_fits`, shape of `weights`, with few fits in memory at a time."""
    scores = np.empty(weights.shape)
    step = max(1, CHUNK_VALUES // max(1, features.size))
    for part in (slice(start, start + step) for start in range(0, len(weights), step)):
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
        rows: Any = X
        has_names = hasattr(self, "feature_names_in_")
        is_plain = type(rows) is np.ndarray and rows.dtype == np.float64 and not has_names and rows.size > 0
        if is_plain and rows.shape[1:] == (self.n_features_in_,) and np.isfinite(rows).all():
            return np.asarray(rows)  # as `validate_data` does after ten times as long, if the rows are few
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


class ConvexLossClassifier(TwoClassLinear):
    r"""Classify by the sign of a linear score that minimizes a convex surrogate loss exactly.

    With labels :math:`y_i` of -1 for the first class in sorted order and +1 for the second, rows :math:`b_i` of the
    basis and weights :math:`c_i` whose mean is 1, the coefficients minimize

    .. math:: \frac1n \sum_i c_i \ell(y_i, \beta_0 + b_i'\beta) + r_0 \beta_0^2 + \sum_j r_j \beta_j^2 .

    A score of exactly 0 gives the second class. If the minimizer is not unique and there is no penalty, its scores
    have the coefficients of smallest Euclidean norm; the intercept is not part of that norm.

    Parameters
    ----------
    loss : {"logistic", "squared", "exponential", "squared_hinge", "hinge", "huber"}, default="logistic"
        Surrogate loss, see `cudbound.losses.surrogates`.
    penalty : float or array-like of float, shape (n_coefficients,), default=0.0
        Strengths :math:`r_j \ge 0` of the quadratic penalty on the mean loss, one for all or one per column of the
        basis. ``LogisticRegression(C=C)`` is ``penalty=1 / (2 * C * n)``.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    intercept_penalty : float, default=0.0
        Strength :math:`r_0 \ge 0` for the intercept.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in scikit-learn; they multiply the sample weights.
    basis : transformer or None, default=None
        scikit-learn transformer that computes the columns of the additive classifier from `X`; None uses the
        features. A fitted one (by `sklearn.utils.validation.check_is_fitted`) is used as it is, otherwise a clone is
        fitted in `fit`. Like every parameter it is cloned with the classifier, and a clone is not fitted;
        `sklearn.frozen.FrozenEstimator` keeps a fitted basis through cross-validation and resampling. Sparse rows
        are converted to dense ones.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
        The two labels, sorted; ``classes_[1]`` is +1.
    coef_ : ndarray of float, shape (1, n_coefficients)
        Coefficients of the columns of the basis.
    intercept_ : ndarray of float, shape (1,)
        Intercept of the score; 0 if `fit_intercept` is False.
    basis_ : transformer or None
        The fitted basis.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Names of the features, if `X` had names that are all strings.

    References
    ----------
    Laber, E. B. and Murphy, S. A. (2008). Small sample inference for generalization error in classification
    using the CUD bound. UAI 2008, section 3: parametric additive classifiers, convex surrogate losses.

    Examples
    --------
    >>> from cudbound import ConvexLossClassifier
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["well", "ill", "ill", "ill", "well", "well"]
    >>> clf = ConvexLossClassifier("hinge", penalty=0.01, basis=PolynomialFeatures(2, include_bias=False))
    >>> clf.fit(X, y).predict([[0.0], [2.0], [5.0]]).tolist()
    ['well', 'ill', 'well']
    """

    def __init__(
        self,
        loss: str = "logistic",
        penalty: ArrayLike = 0.0,
        fit_intercept: bool = True,
        intercept_penalty: float = 0.0,
        class_weight: Any = None,
        basis: Any = None,
    ):
        self.loss = loss
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.intercept_penalty = intercept_penalty
        self.class_weight = class_weight
        self.basis = basis

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.basis is not None:
            tags.input_tags = get_tags(self.basis).input_tags
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier, and the basis if it is not fitted.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Training rows: numbers, or any input of `basis`.
        y : array-like, shape (n_samples,)
            Labels of exactly two classes.
        sample_weight : array-like of float, shape (n_samples,), default=None
            Non-negative weights of the losses; only their ratios matter. None weights all rows equally.

        Returns
        -------
        ConvexLossClassifier
            The fitted classifier itself.

        Raises
        ------
        NoMinimizerError
            If the classes can be separated and the loss, logistic or exponential, is not penalized.
        ValueError
            If a parameter is out of range, if `y` has one class or more than two, or if `X`, `y` or
            `sample_weight` is not finite.
        """
        loss = get_loss(self.loss)
        if self.basis is None:
            basis = None
            features, y = validate_data(self, X, y, dtype=np.float64)
            names = getattr(self, "feature_names_in_", None)
        else:
            y = validate_data(self, y=y)
            validate_data(self, X, skip_check_array=True)
            check_consistent_length(X, y)
            basis = _fitted_basis(self.basis, X, y)
            features, names = _dense_rows(basis, X), None
        check_scale("X" if basis is None else "basis.transform(X)", features, names)
        classes, labels = check_two_classes(self, y)
        weights = check_weights(sample_weight, features)
        # rows without weight must not count, not even where the minimizer is not unique
        features, labels, weights = features[weights > 0.0], labels[weights > 0.0], weights[weights > 0.0]
        strengths = self.strengths(features.shape[1])
        design = np.column_stack([np.ones(labels.size), features]) if self.fit_intercept else features
        problem = Problem.of(
            design,
            labels,
            np.zeros(design.shape[1]),
            np.ones((1, labels.size), dtype=np.int32),
            loss=loss,
            penalty=strengths if strengths.any() else None,
            sample_weight=self.row_weights(classes, labels, weights),
        )
        minimum = minimize(problem)
        if not minimum.attained[0]:
            raise no_minimizer(loss.name)
        coef = minimum.coef[0]
        if strengths.any():
            intercept, coef = (coef[:1], coef[1:]) if self.fit_intercept else (np.zeros(1), coef)
            coef = coef[None, :]
        else:
            ones = np.ones((1, labels.size))
            coef, intercept = minimum_norm_fits(
                features, design @ coef, ones, fit_intercept=self.fit_intercept
            )
        self.classes_ = classes
        self.basis_ = basis
        self.coef_ = coef
        self.intercept_ = intercept
        return self

    def basis_rows(self, X: ArrayLike) -> Array:
        """Return the rows of the fitted basis, which the coefficients multiply, without the intercept.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)

        Returns
        -------
        ndarray of float, shape (n_samples, n_coefficients)
        """
        if self.basis_ is None:
            return super().basis_rows(X)
        return _dense_rows(self.basis_, X)

    def strengths(self, n_columns: int) -> Array:
        """Return the penalty strengths, with that of the intercept first if there is one.

        Raises
        ------
        ValueError
            If a strength is negative or not finite, or the length of `penalty` differs from the number of columns of
            the basis.
        """
        penalty = np.asarray(self.penalty, dtype=np.float64)
        if penalty.ndim == 0:
            penalty = np.full(n_columns, penalty)
        if penalty.shape != (n_columns,):
            raise ValueError(
                f"The 'penalty' parameter must be a number or have shape ({n_columns},), one strength per column of "
                f"the basis. Got shape {penalty.shape} instead."
            )
        if self.fit_intercept:
            penalty = np.concatenate([[float(self.intercept_penalty)], penalty])
        if not (np.isfinite(penalty) & (penalty >= 0.0)).all():
            raise ValueError(
                "The 'penalty' and 'intercept_penalty' parameters must be finite and non-negative. "
                f"Got {self.penalty!r} and {self.intercept_penalty!r} instead."
            )
        return penalty

    def row_weights(self, classes: NDArray[Any], labels: Array, weights: Array) -> Array | None:
        """Return the weights of the rows times those of their classes, with mean 1, or None if all are equal."""
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, classes[(labels > 0.0).astype(int)])
            weights = weights * by_class
        return None if (weights == weights[0]).all() else np.asarray(weights / weights.mean())


def _fitted_basis(basis: Any, X: Any, y: Any) -> Any:
    try:
        check_is_fitted(basis)
    except NotFittedError:
        return clone(basis).fit(X, y)
    return basis


def _dense_rows(basis: Any, X: Any) -> Array:
    rows = dense(basis.transform(X))
    return np.asarray(check_array(rows, dtype=np.float64, input_name="basis.transform(X)"))


class StumpBasis(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    """Indicators of splits: column k is 1 if feature ``features[k]`` exceeds ``thresholds[k]``, else 0.

    The splits are parameters, so a clone keeps them; `fit` learns only the number and names of the features. As in
    scikit-learn's trees, features are compared in single precision.

    Parameters
    ----------
    features : sequence of int
        Indices of the features that are split.
    thresholds : sequence of float, of the same length
        Thresholds of the splits.
    """

    def __init__(self, features: Sequence[int], thresholds: Sequence[float]):
        self.features = features
        self.thresholds = thresholds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Check `X` and record the number and names of its features; `y` is not used."""
        validate_data(self, X)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Return the indicators of the splits.

        Parameters
        ----------
        X : array-like of float, shape (n_samples, n_features)

        Returns
        -------
        ndarray of float, shape (n_samples, n_splits)
        """
        rows = validate_data(self, X, dtype=np.float32, reset=not hasattr(self, "n_features_in_"))
        return np.asarray(rows[:, list(self.features)] > np.asarray(self.thresholds), dtype=np.float64)


@public_call
def stump_basis(model: Any) -> StumpBasis:
    """Return the distinct splits of a boosting model on stumps as a basis for a joint fit.

    Boosting adds one stump after another and does not revise earlier ones, so its coefficients are not the joint
    minimizer of its loss. The CUD bound needs that minimizer, which is a refit on these columns:
    ``ConvexLossClassifier("exponential", penalty=0.01, basis=stump_basis(model))``.

    Parameters
    ----------
    model : AdaBoostClassifier or GradientBoostingClassifier
        Fitted with trees of one split: the default of `AdaBoostClassifier`, ``max_depth=1`` for
        `GradientBoostingClassifier`.

    Returns
    -------
    StumpBasis
        Splits in order of feature and threshold. They were found on the training set and stay fixed, like the
        parameters gamma-hat of a basis.

    Raises
    ------
    TypeError
        If `model` is of another class, or boosts something other than trees.
    ValueError
        If a tree has more than one split, or if no tree has one.

    References
    ----------
    Laber, E. B. and Murphy, S. A. (2008). Small sample inference for generalization error in classification
    using the CUD bound. UAI 2008, section 3: additive classifiers with a basis b(gamma-hat, x).

    Examples
    --------
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> from cudbound import ConvexLossClassifier, stump_basis
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = [0, 1, 1, 1, 0, 0]
    >>> basis = stump_basis(AdaBoostClassifier(n_estimators=10).fit(X, y))
    >>> basis.thresholds
    (0.5, 3.5)
    >>> ConvexLossClassifier("exponential", penalty=0.01, basis=basis).fit(X, y).predict(X).tolist()
    [0, 1, 1, 1, 0, 0]
    """
    if not isinstance(model, AdaBoostClassifier | GradientBoostingClassifier):
        raise TypeError(
            "The 'model' parameter must be an AdaBoostClassifier or a GradientBoostingClassifier. "
            f"Got {type(model).__name__} instead."
        )
    check_is_fitted(model)
    splits: set[tuple[int, float]] = set()
    for tree in np.ravel(np.asarray(model.estimators_, dtype=object)):
        structure = getattr(tree, "tree_", None)
        if structure is None:
            raise TypeError(f"The 'model' parameter must boost trees. Got {type(tree).__name__} instead.")
        inner = structure.children_left >= 0
        if inner.sum() > 1:
            raise ValueError(
                f"The trees of 'model' must have one split each. Got one with {int(inner.sum())}; fit it with trees of "
                "max_depth=1."
            )
        splits.update(
            zip(structure.feature[inner].tolist(), structure.threshold[inner].tolist(), strict=True)
        )
    if not splits:
        raise ValueError("The trees of 'model' must have one split each. Got only trees without a split.")
    features, thresholds = zip(*sorted(splits), strict=True)
    return StumpBasis(features, thresholds)
