"""The fitted classifier of one call: its additive model, or why the CUD bound does not support it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from cudbound.adapters import express
from cudbound.adapters.fitted_facts import FittedFacts, facts_of
from cudbound.adapters.inside import take_apart
from cudbound.adapters.procedure import describe_classifier
from cudbound.basis.calls import warn
from cudbound.basis.exceptions import (
    CudboundWarning,
    FrozenStepsWarning,
    LabelsReadWarning,
    ManyFeaturesWarning,
    NoMinimizerError,
    NotMinimizerError,
    NotMinimizerWarning,
    StatedError,
    UnsupportedEstimatorError,
    UnsupportedProblemError,
)
from cudbound.basis.predictions import predicted_probabilities, predicted_scores
from cudbound.basis.sample import Sample
from cudbound.basis.validation import Array
from cudbound.estimators.chosen_threshold import ChosenThresholdClassifier
from cudbound.problem.additive_model import AdditiveModel
from cudbound.records import Design

#: The functions that give scores, with the threshold that scikit-learn puts on each unless another is chosen.
THRESHOLDS = {"decision_function": 0.0, "predict_proba": 0.5}


@dataclass(frozen=True, kw_only=True)
class ModelUse:
    """The uses of the model of a classifier in one call.

    Attributes
    ----------
    design : bool
        Whether a method depends on the rank of its matrix, or on refits of a classifier that returns scores.
    rank : bool
        Whether a method depends on the rank.
    bound : bool
        Whether a method needs the additive model.
    named : bool
        Whether one of these was requested by name, so a missing model is an error.
    scores : bool
        Whether the distances of the rows from the threshold are needed.
    refits : bool
        Whether the classifier is refitted.
    polish : bool
    native : bool
        Whether the compiled solver will be used.
    result : {"interval", "estimate"}
        What the classifier is used for.
    """

    design: bool = False
    rank: bool = False
    bound: bool = False
    named: bool = False
    scores: bool = False
    refits: bool = False
    polish: bool = False
    native: bool = True
    result: str = "interval"


@dataclass(frozen=True, eq=False)
class Model:
    """Facts on a fitted classifier.

    Attributes
    ----------
    words : str or None
        Description of the classifier.
    distances : ndarray of float, shape (n_samples,), or None
        Distance of the score of each row from the threshold; None if there are no such scores.
    distances_of : str
        Description of the distances, or why there are none.
    additive : AdditiveModel or None
        None if there is none, or if no requested method can use it.
    design : Design
        The matrix that reached the classifier.
    why_none : str
        Why there is no additive model, in a few words; empty if there is one, or if it was not needed.
    cautions : tuple of CudboundWarning
        That there are many features for the rows.
    """

    words: str | None
    distances: Array | None
    distances_of: str
    additive: AdditiveModel | None
    design: Design
    why_none: str = ""
    cautions: tuple[CudboundWarning, ...] = ()

    @classmethod
    def of(cls, estimator: Any, sample: Sample, use: ModelUse) -> Model:
        """Return facts on a classifier fitted to a training set, as far as they are used.

        The CUD bound treats the steps before the classifier, and choices inside it, as fixed. If they depend on the
        labels, the bound ignores that, so there is a model only if a method that needs it was requested by name. The
        model also shows whether the classifier was fitted to other rows.

        Raises
        ------
        UnsupportedEstimatorError, UnsupportedProblemError, NotMinimizerError
            If a method that needs the model was requested by name, and there is none.

        Warns
        -----
        LabelsReadWarning, NotMinimizerWarning, FrozenStepsWarning
        """
        scores = distances_from_threshold(estimator, sample.X) if use.scores else (None, "not computed")
        facts = facts_of(estimator, sample.X, sample.y)
        design = design_of(facts, sample)
        of_features = many_features(facts, design, use.result)
        without = cls(describe_classifier(estimator), *scores, None, design, cautions=of_features)
        if not (use.design or use.bound):
            return without
        if facts.frozen and use.refits:
            warn(FrozenStepsWarning(facts.frozen))
        if not (use.rank or use.bound):
            return without
        several = (
            "" if len(sample.classes) == 2 else f"the bound needs two classes, not {len(sample.classes)}"
        )
        if several and use.named:
            raise UnsupportedEstimatorError(
                f"The CUD bound is for the boundary between two classes, but there are {len(sample.classes)}.",
                "For the error of all classes, drop 'cud' and 'aci' from the methods: the others support it. Or fit "
                "one classifier per class against the rest, such as clf.fit(X, y == 'a').",
            )
        unseen = several or _unseen_choice(facts)
        if unseen and not use.named:
            return replace(without, why_none=unseen)
        weights = sample.sample_weight
        try:
            model = express(
                estimator, sample.X, sample.y, polish=use.polish, sample_weight=weights, native=use.native
            )
        except (UnsupportedEstimatorError, UnsupportedProblemError, NotMinimizerError) as error:
            if use.named:
                raise
            if isinstance(error, NotMinimizerError) and not np.isnan(error.residual):
                warn(NotMinimizerWarning(error.residual))
            return replace(without, why_none=reason_of(error, estimator))
        if facts.reads_labels:
            warn(LabelsReadWarning(facts.reads_labels))
        return replace(without, additive=model)


def reason_of(error: StatedError, estimator: Any) -> str:
    """Return why a classifier has no additive model for the search, in a few words.

    Parameters
    ----------
    error : StatedError
        The error of `cudbound.adapters.express`.
    estimator : object
    """
    if isinstance(error, UnsupportedProblemError):
        return error.why
    if isinstance(error, NoMinimizerError):
        return "its loss has no minimizer on separable data"
    if isinstance(error, NotMinimizerError):
        return f"the fit does not minimize its loss (residual {error.residual:.2g})"
    classifier = take_apart(estimator).classifier
    missing = "convex loss" if hasattr(classifier, "coef_") else "linear form"
    return f"no {missing} known for {type(classifier).__name__}"


def _unseen_choice(facts: FittedFacts) -> str:
    """Return what depends on the labels but is fixed for the bound, in a few words; empty if nothing does."""
    if facts.reads_labels:
        return f"the bound treats {facts.reads_labels}, which uses the labels, as fixed"
    if facts.chosen_inside:
        return f"the bound treats the choice of {' and '.join(facts.chosen_inside)} on these data as fixed"
    return ""


def design_of(facts: FittedFacts, sample: Sample) -> Design:
    """Return the record of the matrix that reached a classifier."""
    n_groups = None if sample.groups is None else sample.groups.n_groups
    return Design(sample.n_samples, facts.rank, n_groups)


#: What many features mean for a result.
MANY_FEATURES = {
    "interval": "do not rely on intervals that use the training error, except two-center, which allows for that",
    "estimate": "do not rely on estimates that use the training error",
    "comparison": "refits differ greatly",
}


def many_features(
    facts: FittedFacts, design: Design, result: str = "interval"
) -> tuple[CudboundWarning, ...]:
    """Return a caution if a classifier has many features for its training rows.

    Parameters
    ----------
    facts : FittedFacts
    design : Design
    result : {"interval", "estimate", "comparison"}, default="interval"
        What the classifier is used for.
    """
    if not (design.has_many_columns or facts.has_columns(design.n_units)):
        return ()
    rank = f" (rank of the design {design.rank:.0f})" if design.has_many_columns else ""
    units = f"{design.n_rows} rows" if design.n_groups is None else f"{design.n_groups} groups of rows"
    message = (
        f"The classifier has {facts.n_columns} features{rank} for {units}. They can fit many labels: "
        f"{MANY_FEATURES[result]}; use fewer features or a penalty, or report this caution with the {result}."
    )
    return (ManyFeaturesWarning(message),)


# ---- how far scores are from the threshold that divides the classes ----


def distances_from_threshold(estimator: Any, X: Any) -> tuple[Array | None, str]:
    """Return the distances of the scores from the threshold.

    Parameters
    ----------
    estimator : object
        Fitted classifier.
    X : array-like, shape (n_samples, n_features)

    Returns
    -------
    distances : ndarray of float, shape (n_samples,), or None
        None if there are no scores, or none that separate the classes as ``predict`` does.
    what : str
        Description of the distances, or why there are none.
    """
    name = type(estimator).__name__
    if len(estimator.classes_) > 2:
        return None, f"{name} has more than two classes"
    second = np.asarray(estimator.predict(X) == estimator.classes_[1])
    # the classifier within one that chooses the threshold has the scores
    scorer = estimator.estimator_ if isinstance(estimator, ChosenThresholdClassifier) else estimator
    found = False
    for function, cut in _candidates(estimator, scorer):
        try:
            if function == "predict_proba":
                scores = predicted_probabilities(scorer, X, 2)[:, 1]
            else:
                scores = predicted_scores(scorer, X)
        except Exception as error:  # what is not needed for a class may fail in a classifier of any origin
            return None, f"{function} of {name} fails: {type(error).__name__}"
        found = True
        above = scores - cut
        if above.shape == second.shape and (above[second] >= 0.0).all() and (above[~second] <= 0.0).all():
            return abs(above), f"distance of {function} from {cut:.3g}"
    if found:
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
    scorer = estimator.estimator_ if isinstance(estimator, ChosenThresholdClassifier) else estimator
    cuts = [cut for function, cut in _candidates(estimator, scorer) if function == "predict_proba"]
    for cut in (cut if event_class else 1.0 - cut for cut in cuts):
        if risks is not None and (risks[called] >= cut).all() and (risks[~called] <= cut).all():
            return cut
    return None


def _candidates(estimator: Any, scorer: Any) -> Iterator[tuple[str, float]]:
    """Yield the score functions and their possible thresholds."""
    asked = getattr(estimator, "response_method", "auto")
    own = {
        function: cut
        for function, cut in THRESHOLDS.items()
        if asked in ("auto", function) and hasattr(scorer, function)
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
