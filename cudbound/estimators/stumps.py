"""The stumps of a fitted boosting model as a basis: one indicator column per distinct split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import AdaBoostClassifier, GradientBoostingClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

from cudbound.basis.calls import public_call

Array = NDArray[np.float64]


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
    ordered = sorted(splits)
    return StumpBasis(tuple(j for j, _ in ordered), tuple(t for _, t in ordered))
