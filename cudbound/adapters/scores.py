"""How far the scores of a fitted classifier are from the threshold that divides its classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from cudbound.basis.validation import Array
from cudbound.estimators.chosen_threshold import ChosenThresholdClassifier

#: The functions that give scores, with the threshold that scikit-learn puts on each unless another is chosen.
THRESHOLDS = {"decision_function": 0.0, "predict_proba": 0.5}


def distances_from_threshold(estimator: Any, X: Any) -> tuple[Array | None, str]:
    """Return the distance of each row's score from the threshold.

    Parameters
    ----------
    estimator : object
        Fitted classifier of two classes.
    X : array-like, shape (n_samples, n_features)

    Returns
    -------
    distances : ndarray of float, shape (n_samples,), or None
        None where there are no scores, or none that divide the classes as ``predict`` does.
    what : str
        What they are distances of, or why there are none.
    """
    name = type(estimator).__name__
    second = np.asarray(estimator.predict(X) == estimator.classes_[1])
    found = False
    for function, cut in _candidates(estimator):
        try:
            scores = np.asarray(getattr(_scorer(estimator), function)(X), dtype=np.float64)
        except Exception as error:  # what is not needed for a class may fail in a classifier of any origin
            return None, f"{function} of {name} fails: {type(error).__name__}"
        scores = scores[:, 1] if function == "predict_proba" else scores
        found = True
        above = scores - cut
        if above.shape == second.shape and (above[second] >= 0.0).all() and (above[~second] <= 0.0).all():
            return abs(above), f"distance of {function} from {cut:.3g}"
    if found:
        return None, f"the scores of {name} do not divide its classes"
    return None, f"{name} has neither decision_function nor predict_proba"


def _scorer(estimator: Any) -> Any:
    """Return what has the scores: the classifier within one that chooses the threshold."""
    wraps = isinstance(estimator, ChosenThresholdClassifier)
    return estimator.estimator_ if wraps else estimator


def _candidates(estimator: Any) -> Iterator[tuple[str, float]]:
    """Yield the functions that give scores with the thresholds that they may have."""
    asked = getattr(estimator, "response_method", "auto")
    own = {
        function: cut
        for function, cut in THRESHOLDS.items()
        if asked in ("auto", function) and hasattr(_scorer(estimator), function)
    }
    if isinstance(estimator, ChosenThresholdClassifier):
        chosen: Any = estimator.threshold_
    elif isinstance(estimator, FixedThresholdClassifier):
        chosen = estimator.threshold
    elif isinstance(estimator, TunedThresholdClassifierCV):
        chosen = estimator.best_threshold_
    else:
        chosen = "auto"
    if isinstance(chosen, str):
        yield from own.items()
        return
    of_first = getattr(estimator, "pos_label", None) == estimator.classes_[0]
    for function in reversed(own):  # a threshold is put on probabilities where there are some
        turned = -float(chosen) if function == "decision_function" else 1.0 - float(chosen)
        yield function, turned if of_first else float(chosen)
