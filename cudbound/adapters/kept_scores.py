"""The outputs of a classifier besides its classes: scores, which rank cases, and probabilities of the event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from cudbound.basis.parameter_error import ParameterError
from cudbound.basis.predictions import predicted_probabilities, predicted_scores
from cudbound.basis.validation import Array
from cudbound.estimators.chosen_threshold import ChosenThresholdClassifier

#: What can be kept of a classifier for each row, by what metrics read.
KINDS = ("scores", "probabilities")


@dataclass(frozen=True)
class Scoring:
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
        found = np.zeros(shape, dtype=self.dtype)
        for kind in self.kinds:
            found[kind] = np.nan
        return found

    def of(self, estimator: Any, X: Any) -> dict[str, Any]:
        """Return the kept outputs of a fitted classifier, shape (n_samples,) each.

        Raises
        ------
        ParameterError
            If the classifier has no scores or probabilities.
        ValueError
            If they are not finite, or the probabilities are none.
        """
        found = {}
        for kind in self.kinds:
            found[kind] = (
                self._scores(estimator, X) if kind == "scores" else self._probabilities(estimator, X)
            )
        return found

    def from_linear(self, scores: Array) -> dict[str, Array]:
        """Return the kept outputs of linear classifiers with these scores for the second class.

        Their probabilities, if any, are logistic in the score.
        """
        turned = scores if self.event_class else -scores
        return {kind: turned if kind == "scores" else expit(turned) for kind in self.kinds}

    def _scores(self, estimator: Any, X: Any) -> Array:
        if not hasattr(estimator, "decision_function"):
            if hasattr(_scorer(estimator), "predict_proba"):
                return self._probabilities(estimator, X)
            if not hasattr(_scorer(estimator), "decision_function"):
                name = type(_scorer(estimator)).__name__
                rule = f"one that needs no scores: {name} has neither decision_function nor predict_proba"
                raise ParameterError("metric", rule, "auc")
        scores = predicted_scores(_scorer(estimator), X)
        return scores if self.event_class else -scores

    def _probabilities(self, estimator: Any, X: Any) -> Array:
        scorer = _scorer(estimator)
        if not hasattr(scorer, "predict_proba"):
            rule = f"one that needs no probabilities: {type(scorer).__name__} has no predict_proba"
            raise ParameterError("metric", rule, "brier")
        return predicted_probabilities(scorer, X, len(estimator.classes_))[:, self.event_class]


#: Losses alone.
LOSSES_ONLY = Scoring()


def _scorer(estimator: Any) -> Any:
    """Return the classifier that has the scores: the inner one of a classifier that chooses the threshold."""
    return estimator.estimator_ if isinstance(estimator, ChosenThresholdClassifier) else estimator
