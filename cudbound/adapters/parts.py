"""A classifier taken apart: its steps and their seeds, its procedure in words, its scores and their thresholds."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn import get_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, PredefinedSplit, TunedThresholdClassifierCV
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from cudbound.adapters.families import find_adapter
from cudbound.basis.exceptions import ParameterError, UnsupportedEstimatorError
from cudbound.basis.sample import predicted_probabilities, predicted_scores
from cudbound.basis.validation import Array
from cudbound.estimators.batched.sources import flatten
from cudbound.estimators.two_class import ConvexLossClassifier

#: These have a parameter `cv`, and choose nothing by it: they fit on scores of held-out rows.
_CROSS_FITTED = (CalibratedClassifierCV, StackingClassifier)


@dataclass(frozen=True)
class EstimatorParts:
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


def unwrap(estimator: Any) -> EstimatorParts:
    """Return the steps and the classifier inside fitted pipelines, searches, thresholds and frozen estimators.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> inside = unwrap(make_pipeline(StandardScaler(), LogisticRegression()))
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
        elif isinstance(estimator, TunedThresholdClassifierCV):
            estimator = estimator.estimator_
            chosen.append(name)
        else:
            break
    if hasattr(estimator, "cv") and not isinstance(estimator, _CROSS_FITTED):
        chosen.append(type(estimator).__name__)
    if isinstance(estimator, ConvexLossClassifier) and estimator.basis is not None:
        steps += flatten([estimator.basis_])
    return EstimatorParts(tuple(steps), estimator, tuple(chosen), tuple(roots))


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


def seeded_clone(estimator: Any, seed: int) -> Any:
    """Return an unfitted clone in which `seed` replaces every ``random_state`` that is None, including nested ones."""
    return clone(estimator).set_params(**dict.fromkeys(unseeded_parameters(estimator), seed))


def seeded_fit(estimator: Any, X: Any, y: Any, seed: int, **keywords: Any) -> Any:
    """Return a fitted `seeded_clone` without the seed, so that each clone of it can take another."""
    fitted = seeded_clone(estimator, seed)
    fitted.fit(X, y, **keywords)
    return fitted.set_params(**dict.fromkeys(unseeded_parameters(estimator)))


def unseeded_parameters(estimator: Any) -> list[str]:
    """Return the names of the ``random_state`` parameters that are None, including nested ones."""
    return [
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]


def fit_keywords(
    estimator: Any, sample_weight: NDArray[np.float64] | None = None, groups: ArrayLike | None = None
) -> dict[str, NDArray[Any]]:
    """Return the keywords of ``fit``: arrays of the length of the rows.

    With metadata routing they are those that the estimator requests. Without it, weights are for the last step of a
    `Pipeline`, and groups for the searches and selections in it whose folds keep groups together.

    Raises
    ------
    ValueError
        If the classifier cannot be fitted with weights, or has folds that need groups and `groups` is None.
    UnsupportedEstimatorError
        If it has folds inside that are numbers of rows.
    """
    with_folds = [part for part in parameters_of(estimator) if getattr(part, "cv", None) is not None]
    for part in with_folds:
        cv = part.cv
        if isinstance(cv, PredefinedSplit) or not (isinstance(cv, int | str) or hasattr(cv, "split")):
            raise UnsupportedEstimatorError(
                f"{type(part).__name__} has folds given as numbers of rows, which are other patients in a refit.",
                "Pass a splitter, such as cv=StratifiedKFold(5), or cv=GroupKFold(5) with groups=.",
            )
        if groups is None and keeps_groups(cv):
            advice = " Groups of rows then stay together in the resampling too; on the command line, pass --group COL."
            rule = f"given: {type(part).__name__} has the folds {cv!r}, which need them"
            raise ParameterError("groups", rule, None, advice)
    metadata = {"sample_weight": sample_weight, "groups": None if groups is None else np.asarray(groups)}
    arrays = {name: values for name, values in metadata.items() if values is not None}
    if not arrays:
        return {}
    if get_config()["enable_metadata_routing"]:
        requested = get_routing_for_object(estimator).consumes("fit", arrays)
        keywords = {
            name: values
            for name, values in arrays.items()
            if name in requested or has_fit_parameter(estimator, name)
        }
        lacking = f"no part of {type(estimator).__name__} requests them"
    else:
        steps = list(_steps(estimator))
        prefix, final = steps[-1]
        of_steps = [(prefix, "sample_weight")] if has_fit_parameter(final, "sample_weight") else []
        of_steps += [(prefix, "groups") for prefix, step in steps if keeps_groups(getattr(step, "cv", None))]
        keywords = {f"{prefix}{name}": arrays[name] for prefix, name in of_steps if name in arrays}
        lacking = f"{type(final).__name__}.fit does not"
    if sample_weight is not None and not any(name.endswith("sample_weight") for name in keywords):
        raise ValueError(
            f"The 'sample_weight' parameter needs a classifier that supports weights, and {lacking}. Use one that "
            "does, such as LogisticRegression, or leave the weights out. A search passes weights on with metadata "
            "routing, sklearn.set_config(enable_metadata_routing=True), if its parts request them: "
            "LogisticRegression().set_fit_request(sample_weight=True)."
        )
    return keywords


def _steps(estimator: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the steps of nested pipelines, with the beginning of their keywords of ``fit``."""
    if not hasattr(estimator, "steps"):
        yield prefix, estimator
        return
    for name, step in estimator.steps:
        yield from _steps(step, f"{prefix}{name}__")


def keeps_groups(cv: Any) -> bool:
    """Whether a splitter needs the groups of the rows, as `GroupKFold` does."""
    if not hasattr(cv, "split") or not hasattr(cv, "get_metadata_routing"):
        return False
    return bool(cv.get_metadata_routing().consumes("split", ["groups"]))


#: Parameters, or what a fit has chosen for them, that set the strength of a penalty.
STRENGTHS = ("C_", "alpha_", "alpha", "C", "penalty")
#: Parameters that say how a fit is computed, not what is fitted.
_HOW = ("random_state", "n_jobs", "verbose", "solver", "algorithm", "tol", "max_iter", "dual", "probability")
#: Parameters that are shown with their defaults as well.
_SHOWN = ("strategy", "kernel", "k", "threshold", "loss")


def penalty_of(classifier: Any) -> tuple[str, str] | None:
    """Return the kind of a penalty and its strength.

    Returns
    -------
    tuple of str or None
        Such as ("ridge", "C = 1"), or ("", "") where there is none; None if it is unknown.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> penalty_of(LogisticRegression(C=2.0)), penalty_of(LogisticRegression(C=float("inf")))
    (('ridge', 'C = 2'), ('', ''))
    """
    try:
        objective = find_adapter(classifier).objective
        if objective is None:
            return None
        minimized = objective(classifier, 1)
    except (UnsupportedEstimatorError, AttributeError):  # a tree, no fixed basis, or nothing chosen yet
        return None
    sizes = {"ridge": np.max(minimized.penalty), "lasso": minimized.l1_penalty}
    kinds = [name for name, size in sizes.items() if size > 0.0]
    if not kinds:
        return "", ""
    name = next(name for name in STRENGTHS if hasattr(classifier, name))
    values = np.ravel(getattr(classifier, name)).tolist()
    strength = f"{values[0]:g}" if len(set(values)) == 1 else "one per coefficient"
    return " and ".join(kinds), f"{name.removesuffix('_')} = {strength}"


_AROUND = ("CalibratedClassifierCV", "FixedThresholdClassifier", "TunedThresholdClassifierCV")
#: What the names of scalers end with.
_SCALERS = ("Scaler", "PowerTransformer", "QuantileTransformer")


def describe_classifier(estimator: Any, name: str | None = None) -> str:
    """Return a classifier in one line: the steps of a fit, and that features are not standardized where it matters.

    Parameters
    ----------
    estimator : object
        Classifier, fitted or not, a pipeline that ends in one, or a search over either.
    name : str or None, default=None
        A name to put before it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> describe_classifier(LogisticRegression(C=2.0, class_weight="balanced"))
    'LogisticRegression with a ridge penalty (C = 2, class_weight = balanced); features not standardized'
    """
    whole = [getattr(estimator, "estimator_", estimator), *parameters_of(estimator)]
    parts = [part for part in whole if hasattr(part, "get_params")]
    penalties = [(part, penalty_of(part)) for part in parts]
    depends_on_scale = any(
        hasattr(part, "C") if penalty is None else any(penalty) for part, penalty in penalties
    )
    unscaled = depends_on_scale and not any(type(part).__name__.endswith(_SCALERS) for part in parts)
    words = "; ".join((*procedure_in_words(estimator), *(["features not standardized"] * unscaled)))
    return words if name is None else f"{name}: {words}"


def procedure_in_words(estimator: Any, tuned: Collection[str] = ()) -> tuple[str, ...]:
    """Return the steps of every fit of an estimator in words, each once, in order.

    Parameters
    ----------
    estimator : object
    tuned : collection of str, default=()
        Parameters without a chosen value; they are omitted.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> procedure_in_words(make_pipeline(StandardScaler(), LogisticRegression()))
    ('StandardScaler', 'LogisticRegression with a ridge penalty (C = 1)')
    """
    if estimator is None or isinstance(estimator, str):  # a step that is left out
        return ()
    grid = getattr(estimator, "param_grid", getattr(estimator, "param_distributions", None))
    if grid is not None:
        grids: list[Mapping[str, Any]] = [grid] if isinstance(grid, Mapping) else list(grid)
        names = list(dict.fromkeys(name.rpartition("__")[2] for values in grids for name in values))
        chosen = getattr(estimator, "best_estimator_", None)
        inner = (
            procedure_in_words(estimator.estimator, names) if chosen is None else procedure_in_words(chosen)
        )
        folds = 5 if estimator.cv is None else estimator.cv
        how = f"{folds}-fold cross-validation" if isinstance(folds, int) else "cross-validation"
        return (*inner, f"tuning of {' and '.join(names)} by {how}, again in every fit")
    if type(estimator).__name__ in _AROUND:
        return (*procedure_in_words(estimator.estimator, tuned), _step_in_words(estimator, tuned))
    if hasattr(estimator, "steps"):
        parts = [step for _, step in estimator.steps]
    elif hasattr(estimator, "transformers"):
        parts = [*(branch for _, branch, *_ in estimator.transformers), estimator.remainder]
    else:
        return (_step_in_words(estimator, tuned),)
    return tuple(dict.fromkeys(words for part in parts for words in procedure_in_words(part, tuned)))


def _step_in_words(estimator: Any, tuned: Collection[str]) -> str:
    """Return the class of a step with its penalty, and the parameters that matter or differ from their defaults."""
    name = type(estimator).__name__
    words, settings, omitted = name, [], {*_HOW, *tuned}
    is_classifier = hasattr(estimator, "predict") and name not in _AROUND
    if is_classifier and (penalty := penalty_of(estimator)) is not None:
        kind, strength = penalty
        omitted |= {*STRENGTHS, "penalty"}
        settings = [strength] if strength and strength.partition(" = ")[0] not in tuned else []
        if kind:
            words += f" with a {kind} penalty"
        elif any(hasattr(estimator, strength) for strength in STRENGTHS):
            words += " without a penalty"
    parameters = inspect.signature(type(estimator)).parameters
    settings += [
        f"{parameter} = {value:g}" if isinstance(value, float) else f"{parameter} = {value}"
        for parameter, value in (
            estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
        ).items()
        if isinstance(value, str | bool | int | float)
        and parameter in parameters.keys() - omitted
        and (parameter in _SHOWN or repr(value) != repr(parameters[parameter].default))
    ]
    words += f" ({', '.join(settings)})" if settings else ""
    return (
        f"{words}, tuned by cross-validation in every fit" if is_classifier and name.endswith("CV") else words
    )


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

    def empty(self, shape: tuple[int, ...]) -> Any:
        """Return outputs with the fields "loss" and `kinds`: no loss, and nan as for constant classifiers."""
        outputs = np.zeros(shape, dtype=[("loss", np.bool_), *((kind, np.float64) for kind in self.kinds)])
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
        name, outputs = type(estimator).__name__, dict[str, Any]()
        has_scores, has_risks = (hasattr(estimator, one) for one in ("decision_function", "predict_proba"))
        if "probabilities" in self.kinds and not has_risks:
            rule = f"one that needs no probabilities: {name} has no predict_proba"
            raise ParameterError("metric", rule, "brier")
        if "scores" in self.kinds and not (has_scores or has_risks):
            rule = f"one that needs no scores: {name} has neither decision_function nor predict_proba"
            raise ParameterError("metric", rule, "auc")
        # probabilities also take the place of scores that the classifier does not have
        if "probabilities" in self.kinds or ("scores" in self.kinds and not has_scores):
            probabilities = predicted_probabilities(estimator, X, len(estimator.classes_))
            outputs = dict.fromkeys(self.kinds, probabilities[:, self.event_class])
        if "scores" in self.kinds and has_scores:
            scores = predicted_scores(estimator, X)
            outputs["scores"] = scores if self.event_class else -scores
        return outputs

    def of_linear(self, losses: NDArray[np.bool_], scores: Array) -> Any:
        """Return the outputs of linear classifiers with these losses, and these scores for the second class.

        Their probabilities, if any, are logistic in the score.
        """
        outputs = self.empty(losses.shape)
        outputs["loss"] = losses
        turned = scores if self.event_class else -scores
        for kind in self.kinds:
            outputs[kind] = turned if kind == "scores" else expit(turned)
        return outputs


#: Losses alone.
LOSSES_ONLY = RecordedOutputs()


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
    has_scores = False
    for function, cut in _candidates(estimator):
        try:
            if function == "predict_proba":
                scores = predicted_probabilities(estimator, X, 2)[:, 1]
            else:
                scores = predicted_scores(estimator, X)
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
        if method in ("auto", function) and hasattr(estimator, function)
    }
    if isinstance(estimator, FixedThresholdClassifier):
        chosen: Any = estimator.threshold
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
