"""The parts of a fitted classifier: the steps before the classifier itself, and the searches around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from cudbound.estimators.batched.sources import flatten
from cudbound.estimators.chosen_threshold import ChosenThresholdClassifier
from cudbound.estimators.convex_loss import ConvexLossClassifier

#: These have a parameter `cv`, and choose nothing by it: they fit on scores of held-out rows.
_CROSS_FITTED = (CalibratedClassifierCV, StackingClassifier)


@dataclass(frozen=True)
class Inside:
    """The parts of a fitted classifier.

    Attributes
    ----------
    steps : tuple of object
        Fitted steps before the classifier, in order, including those of nested pipelines and of a basis.
    classifier : object
        The fitted classifier after these steps.
    chosen_by : tuple of str
        The searches that chose parameters on the training rows, outermost first, such as ("GridSearchCV",).
    roots : tuple of object
        The estimator, and the best estimators of searches in it, with parameters that the search itself does not have.
    """

    steps: tuple[Any, ...]
    classifier: Any
    chosen_by: tuple[str, ...]
    roots: tuple[Any, ...]


def take_apart(estimator: Any) -> Inside:
    """Return the steps and the classifier inside fitted pipelines, searches, thresholds and frozen estimators.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> inside = take_apart(make_pipeline(StandardScaler(), LogisticRegression()))
    >>> inside.steps, inside.classifier
    ((StandardScaler(),), LogisticRegression())
    """
    steps: list[Any] = []
    chosen: list[str] = []
    roots = [estimator]
    while True:
        name = type(estimator).__name__
        if isinstance(estimator, FrozenEstimator):  # first, since it shows the attributes of what it holds
            estimator = estimator.estimator
        elif hasattr(estimator, "steps"):
            *before, (_, estimator) = estimator.steps
            steps += flatten([step for _, step in before])
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
            roots.append(estimator)
            chosen.append(name)
        elif isinstance(estimator, FixedThresholdClassifier):
            estimator = estimator.estimator_
        elif isinstance(estimator, TunedThresholdClassifierCV | ChosenThresholdClassifier):
            estimator = estimator.estimator_
            chosen.append(name)
        else:
            break
    if hasattr(estimator, "cv") and not isinstance(estimator, _CROSS_FITTED):
        chosen.append(type(estimator).__name__)
    if isinstance(estimator, ConvexLossClassifier) and estimator.basis is not None:
        steps += flatten([estimator.basis_])
    return Inside(tuple(steps), estimator, tuple(chosen), tuple(roots))


def splits_rows(estimator: Any) -> bool:
    """Whether a classifier, or one of its parts, splits the rows that it is fitted to, as far as parameters show it.

    Parts with a parameter `cv` do, such as searches, target encoders and stacked classifiers, unless they use fitted
    estimators, and so does early stopping.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
    >>> splits_rows(LogisticRegression()), splits_rows(RidgeClassifierCV())
    (False, True)
    """
    parts = parameters_of(estimator) if hasattr(estimator, "get_params") else [estimator]
    return any(
        (hasattr(part, "cv") and part.cv != "prefit")
        or getattr(part, "early_stopping", False) is True
        or (
            hasattr(part, "validation_fraction")
            and getattr(part, "n_iter_no_change", None) is not None
            and not hasattr(part, "early_stopping")
        )
        for part in parts
        if hasattr(part, "get_params")
    )


def parameters_of(estimator: Any) -> list[Any]:
    """Return an estimator and all values of its parameters, including nested ones."""
    return [estimator, *estimator.get_params(deep=True).values()]
