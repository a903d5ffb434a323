"""A classifier whose threshold is chosen on its training set by a function, again in every refit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from cudbound.basis.exceptions import ParameterError
from cudbound.estimators.least_squares import check_two_classes

Chooser = Callable[[NDArray[np.float64], NDArray[np.bool_]], float]


class ChosenThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    """Fit a classifier, then choose its threshold on the same rows.

    Resampling refits the whole procedure, so intervals based on refits account for the choice. The CUD bound would
    treat the threshold as fixed, and is not supported.

    Parameters
    ----------
    estimator : classifier
        Unfitted, with ``predict_proba`` or ``decision_function``.
    chooser : callable
        ``chooser(scores, second)`` returns the threshold from which a case is assigned the second class. `scores`,
        shape (n_samples,), are the probabilities of the second class or, without them, the scores; `second` marks the
        rows of that class.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    threshold_ : float
        The chosen threshold.
    classes_ : ndarray, shape (2,)
    n_features_in_, feature_names_in_
        Those of the fitted classifier, if it has them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from cudbound import ChosenThresholdClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> lowest_event = lambda scores, second: float(scores[second].min())
    >>> ChosenThresholdClassifier(LogisticRegression(), lowest_event).fit(X, y).predict(X).tolist()
    [0, 1, 1, 1]
    """

    def __init__(self, estimator: Any, chooser: Chooser):
        self.estimator = estimator
        self.chooser = chooser

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def fit(self, X: Any, y: ArrayLike, **weights: Any) -> Self:
        """Fit the classifier and choose the threshold; `weights`, such as ``sample_weight``, are passed on.

        Raises
        ------
        ValueError
            If there are not two classes, the estimator has no scores, or the threshold is not a finite number.
        """
        self.estimator_ = clone(self.estimator).fit(X, y, **weights)
        self.classes_, signs = check_two_classes(self, column_or_1d(y))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        threshold = float(self.chooser(self._scores(X), signs > 0.0))
        if not np.isfinite(threshold):
            raise ParameterError("chooser", "a function that returns a finite number", threshold)
        self.threshold_ = threshold
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the second class for scores of at least the threshold, else the first."""
        check_is_fitted(self, "threshold_")
        labels: NDArray[Any] = self.classes_[(self._scores(X) >= self.threshold_).astype(int)]
        return labels

    def _scores(self, X: Any) -> NDArray[np.float64]:
        if hasattr(self.estimator_, "predict_proba"):
            return np.asarray(self.estimator_.predict_proba(X))[:, 1]
        if hasattr(self.estimator_, "decision_function"):
            return np.asarray(self.estimator_.decision_function(X), dtype=np.float64)
        raise ParameterError(
            "estimator", "a classifier with predict_proba or decision_function", self.estimator_
        )
