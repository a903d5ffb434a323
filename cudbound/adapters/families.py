"""Families of estimators that can be written as additive classifiers, families that cannot, and how each is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

from cudbound.basis.exceptions import UnsupportedEstimatorError
from cudbound.basis.sample import dense
from cudbound.basis.validation import check_labels
from cudbound.estimators.batched.classifiers import BatchedFit, LinearFit, TunedFit, number_of_folds
from cudbound.estimators.two_class import ConvexLossClassifier, LeastSquaresClassifier, TwoClassLinear
from cudbound.losses.surrogates import get_loss
from cudbound.problem.problem import TIE_TOLERANCE, AdditiveModel

Array = NDArray[np.float64]

#: Scores below this share of the sum of their terms are rounding errors, whose sign is that of no class.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Objective:
    """The objective of a linear classifier: a mean loss plus penalties on |w|^2, on |w|_1 and on the intercept.

    Attributes
    ----------
    loss : str
        Name of one of the package's losses.
    penalty : float or ndarray of float, shape (n_coefficients,)
        Strength of the quadratic penalty for the coefficients w, or of each.
    l1_penalty : float
    intercept_penalty, intercept_l1_penalty : float
        Penalty strengths for the intercept.
    """

    loss: str
    penalty: float | Array
    l1_penalty: float = 0.0
    intercept_penalty: float = 0.0
    intercept_l1_penalty: float = 0.0


#: ``objective(estimator, n_rows)``: strengths relative to the mean over so many rows; 1 gives those relative to a sum.
ObjectiveOf = Callable[[Any, int], Objective]


@dataclass(frozen=True)
class Adapter:
    """One family of estimators that can be written as additive classifiers with a convex surrogate loss.

    Attributes
    ----------
    supports : str
        The name of the family in error messages.
    families : tuple of type
        Its classes; subclasses count.
    to_additive_model : callable
        ``to_additive_model(estimator, X, y)``: the fitted estimator on its training rows, for which it has predicted,
        as plain arrays; need not check that the coefficients minimize the loss. Raises `UnsupportedEstimatorError` for
        parameters under which the family has no convex loss.
    objective : callable, optional
        ``objective(estimator, n_rows)``: its `Objective`. Not given for families that contain another estimator.
    batched_fits : mapping of type to callable
        For each class that may be refitted in batches ``batched_fit(estimator, n_jobs)``: a `BatchedFit`, which fits a
        stack of such classifiers after any steps that are fitted in batches, on `n_jobs` threads; None if the
        estimator must be cloned and refitted. A subclass may fit differently, and is always cloned.
    marked_by : str, optional
        Fitted attribute that identifies classes of other packages.
    """

    supports: str
    families: tuple[type, ...]
    to_additive_model: Callable[[Any, Any, Any], AdditiveModel]
    objective: ObjectiveOf | None = None
    batched_fits: Mapping[type, Callable[[Any, int], BatchedFit | None]] = field(default_factory=dict)
    marked_by: str = ""


class Refusal(NamedTuple):
    """A family of estimators that cannot be supported, with the reason and a remedy.

    Attributes
    ----------
    family : tuple of str
        Names of its classes in this package or in scikit-learn (not all versions have all of them).
    reason : str
        The reason, as the end of a sentence that begins with the name of the class.
    remedy : str
        What to do instead, as a sentence.
    """

    family: tuple[str, ...]
    reason: str
    remedy: str


REFUSALS = (
    Refusal(
        family=("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
        reason="derives its rule from estimated means, covariances and priors.",
        remedy="Without shrinkage, and with more rows than features, the linear rule has the direction of a "
        "least-squares fit, but usually another intercept. Fit LeastSquaresClassifier.",
    ),
    Refusal(
        family=("AdaBoostClassifier", "GradientBoostingClassifier", "HistGradientBoostingClassifier"),
        reason="adds one tree after another and does not revise earlier ones, so its coefficients do not jointly "
        "minimize its loss.",
        remedy="Refit on the stumps of AdaBoostClassifier() or GradientBoostingClassifier(max_depth=1): "
        "ConvexLossClassifier('exponential', penalty=0.01, basis=stump_basis(model)).fit(X, y).",
    ),
    Refusal(
        family=("CalibratedClassifierCV",),
        reason="transforms the scores of one classifier or of several, which is not an additive classifier with one "
        "loss.",
        remedy="Pass the inner classifier, fitted to all rows; LogisticRegression itself returns probabilities.",
    ),
)

_OTHER_METHODS = (
    "Or drop 'cud' and 'aci' from the methods of compare_intervals: the others support any classifier."
)


def find_adapter(estimator: Any) -> Adapter:
    """Return the adapter that accepts the estimator.

    Raises
    ------
    UnsupportedEstimatorError
        If there is none; the message gives the reason, the supported families and a remedy.
    """
    name = type(estimator).__name__
    ancestors = {
        ancestor.__name__
        for ancestor in type(estimator).__mro__
        if ancestor.__module__.startswith(("sklearn.", "cudbound."))
    }
    for refusal in REFUSALS:
        if ancestors.intersection(refusal.family):
            raise UnsupportedEstimatorError(f"{name} {refusal.reason}", f"{refusal.remedy} {_OTHER_METHODS}")
    for adapter in ADAPTERS:
        if isinstance(estimator, adapter.families) or hasattr(estimator, adapter.marked_by):
            return adapter
    supported = "; ".join(adapter.supports for adapter in ADAPTERS)
    raise UnsupportedEstimatorError(
        f"{name} is not a known additive classifier with a convex surrogate loss.",
        f"Supported: {supported}. Fit one of these for the CUD interval. {_OTHER_METHODS}",
    )


# ---- linear classifiers ----


def linear_model(estimator: Any, X: Any, y: Any, *, objective: ObjectiveOf) -> AdditiveModel:
    """Write a fitted linear classifier as plain arrays; the column of ones for its intercept comes first."""
    labels = check_labels(y, estimator.classes_)
    has_basis = isinstance(estimator, ConvexLossClassifier)
    rows = np.asarray(estimator.basis_rows(X) if has_basis else dense(X), dtype=np.float64)
    minimized = objective(estimator, labels.size)  # or a refusal, before coefficients that may not be there
    coef = np.asarray(dense(estimator.coef_).ravel(), dtype=np.float64)
    penalty = np.broadcast_to(minimized.penalty, coef.shape)
    l1_penalty = np.full(coef.shape, minimized.l1_penalty)
    if getattr(estimator, "fit_intercept", True):
        rows = np.column_stack([np.ones(labels.size), rows])
        coef = np.concatenate([np.ravel(estimator.intercept_)[:1], coef])
        penalty = np.concatenate([[minimized.intercept_penalty], penalty])
        l1_penalty = np.concatenate([[minimized.intercept_l1_penalty], l1_penalty])
    of_classes: Array | None = None
    if isinstance(estimator, ConvexLossClassifier):
        of_classes = estimator.row_weights(estimator.classes_, labels, np.ones(labels.size))
    elif getattr(estimator, "class_weight", None):
        of_classes = compute_sample_weight(
            estimator.class_weight, estimator.classes_[(labels > 0.0).astype(int)]
        )
    return AdditiveModel(
        design=np.ascontiguousarray(rows),
        labels=labels,
        coef=coef,
        loss=get_loss(minimized.loss),
        classes=estimator.classes_,
        penalty=penalty if np.any(penalty) else None,
        l1_penalty=l1_penalty if np.any(l1_penalty) else None,
        sample_weight=of_classes,
        # classifiers with this parameter have chosen their strengths by cross-validation
        tuned_by=(type(estimator).__name__,) if hasattr(estimator, "cv") else (),
    )


def linear_fit(estimator: Any, n_jobs: int, *, objective: ObjectiveOf) -> LinearFit | None:
    """Return a batched refit of a fitted linear classifier, or None with an l1 penalty."""
    classes: Any = estimator.classes_
    weights: Any = getattr(estimator, "class_weight", None)
    if getattr(estimator, "basis", None) is not None:  # which is fitted again in every refit
        return None
    minimized = objective(estimator, 1)
    if minimized.l1_penalty > 0.0:
        return None
    if not isinstance(weights, str):  # "balanced" depends on the training set
        weights = tuple(compute_class_weight(weights, classes=classes, y=classes))
    return LinearFit(
        minimized.loss,
        minimized.penalty,
        fit_intercept=getattr(estimator, "fit_intercept", True),
        intercept_penalty=minimized.intercept_penalty,
        class_weight=weights,
        of_package=isinstance(estimator, TwoClassLinear),
        n_jobs=n_jobs,
    )


def _adapter(supports: str, objective: ObjectiveOf, *families: type, batched: bool = False) -> Adapter:
    """Return the adapter of linear classifiers that an objective describes, and whether the first class is batched."""
    return Adapter(
        supports,
        families,
        partial(linear_model, objective=objective),
        objective,
        {families[0]: partial(linear_fit, objective=objective)} if batched else {},
    )


def own_coefficients(classifier: Any, n_features: int) -> tuple[Array, float] | None:
    """Return the coefficients and the intercept of a fitted classifier, or None.

    Its predictions are not checked.
    """
    coef = getattr(classifier, "coef_", None)
    intercept = np.ravel(getattr(classifier, "intercept_", 0.0))
    if coef is None or np.shape(coef) != (1, n_features) or intercept.size != 1:
        return None
    return np.ravel(dense(coef)).astype(np.float64), float(intercept[0])


def contradicts(second: NDArray[np.bool_], scores: Array, terms: Array) -> bool:
    """Whether predictions of the second class differ from the signs of scores.

    Scores below `ROUNDING` times the sums of the absolute values of their terms are ignored.
    """
    clear = np.abs(scores) > TIE_TOLERANCE + ROUNDING * terms
    return bool(((scores > 0.0) != second)[clear].any())


LEAST_SQUARES = _adapter(
    "cudbound.LeastSquaresClassifier",
    lambda estimator, n_rows: Objective("squared", 0.0),
    LeastSquaresClassifier,
    batched=True,
)

# ---- convex losses: the mean over rows, whatever their number, and a penalty with one strength per coefficient ----


def _convex_loss_objective(estimator: ConvexLossClassifier, n_rows: int) -> Objective:
    of_intercept = float(estimator.intercept_penalty)
    return Objective(
        estimator.loss, np.asarray(estimator.penalty, dtype=float), intercept_penalty=of_intercept
    )


CONVEX_LOSS = _adapter(
    "cudbound.ConvexLossClassifier", _convex_loss_objective, ConvexLossClassifier, batched=True
)

# ---- ridge: sum_i c_i (y_i - f(x_i))^2 + alpha |w|^2, with a free intercept ----


def _ridge_objective(estimator: Any, n_rows: int) -> Objective:
    if getattr(estimator, "positive", False):
        raise UnsupportedEstimatorError(
            "RidgeClassifier(positive=True) constrains its coefficients, but the CUD bound is a supremum over all "
            "coefficients.",
            "Fit it with positive=False.",
        )
    alpha = estimator.alpha_ if isinstance(estimator, RidgeClassifierCV) else estimator.alpha
    return Objective("squared", float(np.ravel(alpha)[0]) / n_rows)  # one value per target


RIDGE = _adapter(
    "sklearn RidgeClassifier, RidgeClassifierCV",
    _ridge_objective,
    *(RidgeClassifier, RidgeClassifierCV),
    batched=True,
)

# ---- logistic regression: C sum_i c_i loss_i + (1 - l1_ratio) / 2 |w|^2 + l1_ratio |w|_1 ----
# The intercept is free, except for solver="liblinear", where it is the coefficient of a column of `intercept_scaling`
# and penalized like the others.


def _logistic_objective(estimator: Any, n_rows: int, c: float | None = None) -> Objective:
    """Return the objective, with another strength `c` than the one in the classifier, or chosen by it, if given."""
    tuned = isinstance(estimator, LogisticRegressionCV)
    chosen, ratio = (estimator.C_, estimator.l1_ratio_) if tuned else (estimator.C, estimator.l1_ratio)
    c, ratio = np.ravel(chosen)[0] if c is None else c, np.ravel(ratio)[0]
    if estimator.penalty is None:
        return Objective("logistic", 0.0)
    # before scikit-learn 1.8 the ratio matters only for the elastic net
    l1_ratio = {"l1": 1.0, "l2": 0.0}.get(estimator.penalty, float(ratio or 0.0))
    strength = 1.0 / float(c) / n_rows
    ridge, lasso = strength * (1.0 - l1_ratio) / 2.0, strength * l1_ratio
    # the value of the column that liblinear adds for the intercept; infinity means no penalty
    scale = float(estimator.intercept_scaling) if estimator.solver == "liblinear" else np.inf
    return Objective("logistic", ridge, lasso, ridge / scale**2, lasso / scale)


def _tuned_logistic_fit(estimator: LogisticRegressionCV, n_jobs: int) -> TunedFit | None:
    folds, by_accuracy = number_of_folds(estimator.cv), estimator.scoring in (None, "accuracy", "warn")
    plain = estimator.class_weight is None and not np.any(estimator.l1_ratios_)
    if folds is None or not (by_accuracy and plain and estimator.refit):
        return None
    objectives = [partial(_logistic_objective, c=c) for c in estimator.Cs_.tolist()]
    fits = [
        fit
        for objective in objectives
        if (fit := linear_fit(estimator, n_jobs, objective=objective)) is not None
    ]
    return TunedFit(tuple(fits), folds) if len(fits) == len(objectives) else None


LOGISTIC = replace(
    _adapter(
        "sklearn LogisticRegression, LogisticRegressionCV",
        _logistic_objective,
        *(LogisticRegression, LogisticRegressionCV),
    ),
    batched_fits={
        LogisticRegression: partial(linear_fit, objective=_logistic_objective),
        LogisticRegressionCV: _tuned_logistic_fit,
    },
)

# ---- linear support vectors ----
# `LinearSVC` minimizes C sum_i c_i loss_i + |w|^2 / 2 + (b / s)^2 / 2, where s is its `intercept_scaling`: the
# intercept b is the coefficient of a column of s. `SVC` minimizes C sum_i c_i loss_i + |w|^2 / 2 with a free intercept.


def _linear_svc_objective(estimator: LinearSVC, n_rows: int) -> Objective:
    if estimator.multi_class != "ovr":
        raise UnsupportedEstimatorError(
            f"LinearSVC(multi_class={estimator.multi_class!r}) minimizes a loss of both classes' scores.",
            "Fit it with multi_class='ovr'.",
        )
    strength = 1.0 / (float(estimator.C) * n_rows)
    scale = float(estimator.intercept_scaling)
    ridge, lasso = (0.0, strength) if estimator.penalty == "l1" else (strength / 2.0, 0.0)
    return Objective(estimator.loss, ridge, lasso, ridge / scale**2, lasso / scale)


def _svc_objective(estimator: SVC, n_rows: int) -> Objective:
    if estimator.kernel != "linear":
        raise UnsupportedEstimatorError(
            f"SVC(kernel={estimator.kernel!r}) has no fixed basis: its classifiers are sums over the training rows.",
            "Use kernel='linear', or ConvexLossClassifier('hinge', penalty=..., basis=Nystroem(kernel=...)) with a "
            "sklearn.kernel_approximation transformer as the basis.",
        )
    return Objective("hinge", 1.0 / (2.0 * float(estimator.C) * n_rows))


LINEAR_SVC = _adapter("sklearn LinearSVC", _linear_svc_objective, LinearSVC, batched=True)
SVC_LINEAR = _adapter("sklearn SVC(kernel='linear')", _svc_objective, SVC)

# ---- stochastic descent: (1/n) sum_i c_i loss_i + alpha ((1 - l1_ratio) / 2 |w|^2 + l1_ratio |w|_1) ----
# Its squared_error is (y - f)^2 / 2, half of the squared loss here. It usually stops far from the minimum: the
# optimality residual decides, regardless of averaging, early stopping or rates.

#: Our name of each loss, and the size of our loss in units of scikit-learn's.
LOSSES = {
    "hinge": ("hinge", 1.0),
    "log_loss": ("logistic", 1.0),
    "modified_huber": ("huber", 1.0),
    "squared_hinge": ("squared_hinge", 1.0),
    "squared_error": ("squared", 0.5),
}


def _sgd_objective(estimator: SGDClassifier, n_rows: int) -> Objective:
    if estimator.loss not in LOSSES:
        raise UnsupportedEstimatorError(
            f"SGDClassifier(loss={estimator.loss!r}) is not supported: the loss is not a surrogate with a useful "
            "minimizer, or this package does not have it.",
            f"Use one of the losses {sorted(LOSSES)}.",
        )
    loss, unit = LOSSES[estimator.loss]
    l1_ratio = {"l2": 0.0, "l1": 1.0}.get(estimator.penalty, float(estimator.l1_ratio or 0.0))
    alpha = 0.0 if estimator.penalty is None else float(estimator.alpha) / unit
    # relative to the mean, whatever n
    return Objective(loss, alpha * (1.0 - l1_ratio) / 2.0, alpha * l1_ratio)


SGD = _adapter("sklearn SGDClassifier, usually with Bound(polish=True)", _sgd_objective, SGDClassifier)


# ---- pipelines: the fitted transformers are a fixed basis for the last step ----
# This is the gamma-hat of Laber & Murphy (2008), section 3.1: parameters of the basis, such as principal axes or the
# means and scales of a standardization, are kept at their values from the training set in every bootstrap draw. Refits,
# in contrast, fit the transformers again.


def _pipeline_model(estimator: Pipeline, X: Any, y: Any) -> AdditiveModel:
    *before, final = (step for _, step in estimator.steps)
    adapter = find_adapter(final)
    for step in before:
        if not (step is None or isinstance(step, str) or hasattr(step, "transform")):
            raise UnsupportedEstimatorError(
                f"{type(step).__name__} changes which rows the classifier is fitted to, so that it does not minimize a "
                "loss of the training rows.",
                "For the CUD interval, fit a classifier with weights instead, such as "
                "LogisticRegression(class_weight='balanced'); intervals based on refits, such as 'two-center', support "
                "this one.",
            )
    basis = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
    return adapter.to_additive_model(final, basis, y)


PIPELINE = Adapter(
    supports="a sklearn Pipeline of transformers that ends in one of these",
    families=(Pipeline,),
    to_additive_model=_pipeline_model,
)

# ---- searches: their best estimator, with the tuned parameters taken as given ----


def _best_model(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    name = type(estimator).__name__
    if not hasattr(estimator, "best_estimator_"):
        raise UnsupportedEstimatorError(
            f"{name}(refit={estimator.refit!r}) has no fitted classifier.", "Fit it with refit=True."
        )
    best = estimator.best_estimator_
    model = find_adapter(best).to_additive_model(best, X, y)
    return replace(model, tuned_by=(name, *model.tuned_by))


SEARCH = Adapter(
    supports="sklearn GridSearchCV, RandomizedSearchCV over one of these",
    families=(GridSearchCV, RandomizedSearchCV),
    marked_by="best_estimator_",
    to_additive_model=_best_model,
)

# ---- thresholds ----
# The rule "score >= t" is the sign of a score whose intercept is smaller by t, and the loss uses the score with t added
# back (`AdditiveModel.offset`). That requires an unpenalized intercept.


def _threshold_model(estimator: Any, X: Any, y: Any) -> AdditiveModel:
    inner, name = estimator.estimator_, type(estimator).__name__
    model = find_adapter(inner).to_additive_model(inner, X, y)
    if isinstance(estimator, TunedThresholdClassifierCV):
        if not isinstance(estimator.scoring, str):
            raise UnsupportedEstimatorError(
                f"The class to which the threshold belongs is unknown for {name} with a custom scorer.",
                "Fit FixedThresholdClassifier(estimator, threshold=best_threshold_, pos_label=...).",
            )
        # scikit-learn's named scorers take the second class as the positive one
        threshold, positive = estimator.best_threshold_, None
        model = replace(model, tuned_by=(name, *model.tuned_by))
    else:
        threshold, positive = estimator.threshold, estimator.pos_label
    if positive is not None and positive == model.classes[0]:
        model = model.reversed()
    of_probability = estimator.response_method == "predict_proba" or (
        estimator.response_method == "auto" and hasattr(inner, "predict_proba")
    )
    if of_probability and not model.loss.score_is_logit:
        raise UnsupportedEstimatorError(
            f"{name} has a threshold on a probability, and only in logistic regression is the probability a fixed "
            f"function of the score; the loss here is {model.loss.name}.",
            "Fit it with response_method='decision_function'.",
        )
    cut = 0.0  # of the scores, also for "auto": 0.5 for a probability, 0 for a score
    if not isinstance(threshold, str):
        cut = float(logit(threshold) if of_probability else threshold)
    penalized = sum(strengths[0] for strengths in (model.penalty, model.l1_penalty) if strengths is not None)
    free = penalized == 0.0 and (model.design[:, 0] == 1.0).all()
    if cut != 0.0 and not (free and np.isfinite(cut)):
        raise UnsupportedEstimatorError(
            f"The threshold {threshold!r} of {name} must be 0 for a score, or 0.5 for a probability, or else one that "
            "does not assign all cases to one class, of a classifier that fits an intercept without a penalty.",
            "Use LogisticRegression with a solver other than 'liblinear', SVC(kernel='linear') instead of LinearSVC, "
            "and fit_intercept=True.",
        )
    coef = model.coef.copy()
    coef[0] -= cut
    return replace(model, coef=coef, offset=model.offset + cut)


THRESHOLD = Adapter(
    supports="sklearn FixedThresholdClassifier, TunedThresholdClassifierCV around one of these",
    families=(FixedThresholdClassifier, TunedThresholdClassifierCV),
    to_additive_model=_threshold_model,
)

#: In the order in which they are asked.
ADAPTERS = [
    *(LEAST_SQUARES, CONVEX_LOSS, RIDGE, LOGISTIC, LINEAR_SVC, SVC_LINEAR, SGD),
    *(THRESHOLD, SEARCH, PIPELINE),
]
