"""The outputs of a classifier besides its classes: scores, probabilities, and the thresholds that divide them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from cudbound.basis.exceptions import ParameterError
from cudbound.basis.sample import predicted_probabilities, predicted_scores
from cudbound.basis.validation import Array
from cudbound.estimators.chosen_threshold import ChosenThresholdClassifier

#: The functions that give scores, with the threshold that scikit-learn puts on each unless another is chosen.
THRESHOLDS = {"decision_function": 0.0, "predict_proba": 0.5}


@dataclass(frozen=True)
class RecordedOutputs:
    """The outputs of a classifier and of its refits that are kept for each row.

    Attributes
    ----------
    kinds : tuple of str, default=()
        Any of "scores", where larger means the event is more likely, and "probabilities" of the event.
    event_class : int, default=1
        Which of the two classes is the event, 0 or 1.
    """

    kinds: tuple[str, ...] = ()
    event_class: int = 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """The fields of the outputs of refits: the loss of each row, and a number for each kind."""
        return np.dtype([("loss", np.bool_), *((kind, np.float64) for kind in self.kinds)])

    def empty(self, shape: tuple[int, ...]) -> Any:
        """Return outputs without a loss and with all other numbers missing, as for constant classifiers."""
        outputs = np.zeros(shape, dtype=self.dtype)
        for kind in self.kinds:
            outputs[kind] = np.nan
        return outputs

    def of(self, estimator: Any, X: Any) -> dict[str, Any]:
        """Return the kept outputs of a fitted classifier, shape (n_samples,) each.

        Raises
        ------
        ParameterError
            If the classifier has no scores or probabilities.
        ValueError
            If they are not finite, or the probabilities are none.
        """
        outputs: dict[str, Any] = {}
        scorer = scorer_of(estimator)
        # probabilities take the place of scores that the classifier itself does not have
        without_scores = "scores" in self.kinds and not hasattr(estimator, "decision_function")
        by_probability = without_scores and hasattr(scorer, "predict_proba")
        if "probabilities" in self.kinds or by_probability:
            if not hasattr(scorer, "predict_proba"):
                rule = f"one that needs no probabilities: {type(scorer).__name__} has no predict_proba"
                raise ParameterError("metric", rule, "brier")
            probabilities = predicted_probabilities(scorer, X, len(estimator.classes_))[:, self.event_class]
            outputs = dict.fromkeys(self.kinds, probabilities)
        if "scores" in self.kinds and not by_probability:
            if not hasattr(scorer, "decision_function"):
                name = type(scorer).__name__
                rule = f"one that needs no scores: {name} has neither decision_function nor predict_proba"
                raise ParameterError("metric", rule, "auc")
            scores = predicted_scores(scorer, X)
            outputs["scores"] = scores if self.event_class else -scores
        return outputs

    def from_linear(self, scores: Array) -> dict[str, Array]:
        """Return the kept outputs of linear classifiers with these scores for the second class.

        Their probabilities, if any, are logistic in the score.
        """
        turned = scores if self.event_class else -scores
        return {kind: turned if kind == "scores" else expit(turned) for kind in self.kinds}


#: Losses alone.
LOSSES_ONLY = RecordedOutputs()


def scorer_of(estimator: Any) -> Any:
    """Return the classifier that has the scores: the inner one of a classifier that chooses the threshold."""
    return estimator.estimator_ if isinstance(estimator, ChosenThresholdClassifier) else estimator


# ---- how far scores are from the threshold that divides the classes ----


def distances_from_threshold(estimator: Any, X: Any, predicted: NDArray[Any]) -> tuple[Array | None, str]:
    """Return the distances of the scores from the threshold.

    Parameters
    ----------
    estimator : object
        Fitted classifier.
    X : array-like, shape (n_samples, n_features)
    predicted : ndarray, shape (n_samples,)
        The labels that it predicts for them.

    Returns
    -------
    distances : ndarray of float, shape (n_samples,), or None
        None if there are no scores, or if no threshold of theirs gives the classes that ``predict`` gives.
    what : str
        Description of the distances, or why there are none.
    """
    name = type(estimator).__name__
    if len(estimator.classes_) > 2:
        return None, f"{name} has more than two classes"
    second = np.asarray(predicted == estimator.classes_[1])
    scorer, has_scores = scorer_of(estimator), False
    for function, cut in _candidates(estimator):
        try:
            if function == "predict_proba":
                scores = predicted_probabilities(scorer, X, 2)[:, 1]
            else:
                scores = predicted_scores(scorer, X)
        except Exception as error:  # what is not needed for a class may fail in a classifier of any origin
            return None, f"{function} of {name} fails: {type(error).__name__}"
        has_scores = True
        above = scores - cut
        if above.shape == second.shape and (above[second] >= 0.0).all() and (above[~second] <= 0.0).all():
            return abs(above), f"distance of {function} from {cut:.3g}"
    if has_scores:
        return None, f"the scores of {name} do not separate its classes"
    return None, f"{name} has neither decision_function nor predict_proba"


def threshold_on_risk(
    estimator: Any, risks: Array | None, called: NDArray[np.bool_], event_class: int
) -> float | None:
    """Return the risk threshold from which rows are classified as events; None if there is none.

    Parameters
    ----------
    estimator : object
        Fitted classifier of two classes.
    risks : ndarray of float, shape (n_samples,), or None
        Risks of the event, or None.
    called : ndarray of bool, shape (n_samples,)
        Which rows the classifier classifies as events.
    event_class : int
        Which of the two classes is the event, 0 or 1.
    """
    cuts = [cut for function, cut in _candidates(estimator) if function == "predict_proba"]
    for cut in (cut if event_class else 1.0 - cut for cut in cuts):
        if risks is not None and (risks[called] >= cut).all() and (risks[~called] <= cut).all():
            return cut
    return None


def _candidates(estimator: Any) -> Iterator[tuple[str, float]]:
    """Yield the score functions and their possible thresholds."""
    method = getattr(estimator, "response_method", "auto")
    cuts = {
        function: cut
        for function, cut in THRESHOLDS.items()
        if method in ("auto", function) and hasattr(scorer_of(estimator), function)
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
        yield from cuts.items()
        return
    of_first = getattr(estimator, "pos_label", None) == estimator.classes_[0]
    for function in reversed(cuts):  # a threshold is put on probabilities where there are some
        turned = -float(chosen) if function == "decision_function" else 1.0 - float(chosen)
        yield function, turned if of_first else float(chosen)
