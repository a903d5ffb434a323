"""The steps of every fit, in words for a methods paragraph: preprocessing, classifier with its penalty, and tuning."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from string import Formatter
from typing import Any

import numpy as np

from cudbound.adapters.registry import find_adapter
from cudbound.basis.exceptions import UnsupportedEstimatorError

#: Parameters, or what a fit has chosen for them, that set the strength of a penalty.
STRENGTHS = ("C_", "alpha_", "alpha", "C", "penalty")
#: Parameters that say how a fit is computed, not what is fitted.
_HOW = ("random_state", "n_jobs", "verbose", "solver", "algorithm", "tol", "max_iter", "dual", "probability")


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
        minimized = None if objective is None else objective(classifier, 1)
    except (
        UnsupportedEstimatorError,
        AttributeError,
    ):  # a tree, a kernel without a fixed basis, nothing chosen yet
        return None
    if minimized is None:
        return None
    sizes = {"ridge": minimized.penalty, "lasso": minimized.l1_penalty}
    kinds = [name for name, size in sizes.items() if size > 0.0]
    if not kinds:
        return "", ""
    name = next(name for name in STRENGTHS if hasattr(classifier, name))
    values = np.ravel(getattr(classifier, name)).tolist()
    strength = f"{values[0]:g}" if len(set(values)) == 1 else "one per coefficient"
    return " and ".join(kinds), f"{name.removesuffix('_')} = {strength}"


def settings_of(classifier: Any, mentioned: Collection[str] = ()) -> list[str]:
    """Return the parameters that differ from their defaults, apart from those that are `mentioned` already.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> settings_of(LogisticRegression(class_weight="balanced", max_iter=500))
    ['class_weight = balanced']
    """
    if not hasattr(classifier, "get_params"):
        return []
    parameters = inspect.signature(type(classifier)).parameters
    return [
        f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in classifier.get_params(deep=False).items()
        if isinstance(value, str | bool | int | float)
        and name in parameters
        and value != parameters[name].default
        and name not in (*_HOW, *mentioned)
    ]


#: Steps and classifiers of the command in words; fields are parameters. Others keep the names of their classes.
_WORDS = {
    "SimpleImputer": "replacement of missing values by the {strategy}",
    "OneHotEncoder": "coding of categories as indicator variables",
    "StandardScaler": "standardization of features",
    "SelectKBest": "selection of {k} features by a univariate test",
    "PCA": "principal component analysis with {n_components} components",
    "PolynomialFeatures": "polynomial terms up to degree {degree}",
    "FixedThresholdClassifier": "classification at a fixed threshold ({threshold})",
    "LogisticRegression": "logistic regression",
    "LinearSVC": "linear support vector classification",
    "SVC": "{kernel}-kernel support vector classification",
    "LinearDiscriminantAnalysis": "linear discriminant analysis",
    "LeastSquaresClassifier": "least-squares classification",
    "RidgeClassifier": "least-squares classification",
    "ConvexLossClassifier": "linear classification by a convex loss ({loss})",
    "RandomForestClassifier": "a random forest of {n_estimators} trees",
    "KNeighborsClassifier": "{n_neighbors}-nearest-neighbors classification",
    "GradientBoostingClassifier": "gradient boosting",
    "DecisionTreeClassifier": "a decision tree",
    "GaussianNB": "naive Bayes classification",
    "DummyClassifier": "a classifier that ignores the features",
}
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
    'logistic regression with a ridge penalty (C = 2, class_weight = balanced); features not standardized'
    """
    *steps, classifier = _steps(estimator)
    penalty = penalty_of(classifier)
    depends_on_scale = hasattr(classifier, "C") if penalty is None else any(penalty)
    unscaled = depends_on_scale and not any(type(step).__name__.endswith(_SCALERS) for step in steps)
    words = "; ".join((*procedure_in_words(estimator), *(["features not standardized"] * unscaled)))
    return words if name is None else f"{name}: {words}"


def _steps(estimator: Any) -> list[Any]:
    """Return the steps inside searches, thresholds, pipelines and column transformers, the classifier last."""
    for inner in ("best_estimator_", "estimator_", "estimator"):
        if hasattr(estimator, inner):
            return _steps(getattr(estimator, inner))
    if hasattr(estimator, "transformers"):
        return [step for _, branch, *_ in estimator.transformers for step in _steps(branch)]
    return [step for _, part in getattr(estimator, "steps", ()) for step in _steps(part)] or [estimator]


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
    ('standardization of features', 'logistic regression with a ridge penalty (C = 1)')
    """
    if estimator is None or isinstance(estimator, str):  # a step that is left out
        return ()
    grid = getattr(estimator, "param_grid", getattr(estimator, "param_distributions", None))
    if grid is not None:
        names = _tuned(grid)
        chosen = getattr(estimator, "best_estimator_", None)
        inner = (
            procedure_in_words(estimator.estimator, names) if chosen is None else procedure_in_words(chosen)
        )
        return (*inner, _tuning(names, estimator.cv))
    if type(estimator).__name__ in _AROUND:
        return (*procedure_in_words(estimator.estimator, tuned), _words(estimator, tuned))
    if hasattr(estimator, "steps"):
        parts = [step for _, step in estimator.steps]
    elif hasattr(estimator, "transformers"):
        parts = [*(branch for _, branch, *_ in estimator.transformers), estimator.remainder]
    else:
        return (_words(estimator, tuned),)
    return tuple(dict.fromkeys(words for part in parts for words in procedure_in_words(part, tuned)))


def _words(estimator: Any, tuned: Collection[str]) -> str:
    name = type(estimator).__name__
    template = _WORDS.get(name, name)
    if getattr(estimator, "strategy", None) in ("most_frequent", "prior") and name == "DummyClassifier":
        return "the majority class for every case"
    words = template.format_map(vars(estimator))
    words = words.replace("most_frequent", "most frequent value").replace("_", " ")
    if not hasattr(estimator, "predict") or name in _AROUND:
        return words
    mentioned = [*tuned, *(field for _, field, *_ in Formatter().parse(template) if field)]
    settings = []
    if (penalty := penalty_of(estimator)) is not None:
        kind, strength = penalty
        mentioned += [*STRENGTHS, "penalty"]
        settings = [strength] if strength and strength.partition(" = ")[0] not in tuned else []
        if kind:
            words += f" with a {kind} penalty"
        elif any(hasattr(estimator, one) for one in STRENGTHS):
            words += " without a penalty"
    settings += settings_of(estimator, mentioned)
    words += f" ({', '.join(settings)})" if settings else ""
    return f"{words}, tuned by cross-validation in every fit" if name.endswith("CV") else words


def _tuned(grid: Any) -> list[str]:
    grids: list[Mapping[str, Any]] = [grid] if isinstance(grid, Mapping) else list(grid)
    return list(dict.fromkeys(name.rpartition("__")[2] for one in grids for name in one))


def _tuning(names: list[str], cv: Any) -> str:
    folds = 5 if cv is None else cv
    how = f"{folds}-fold cross-validation" if isinstance(folds, int) else "cross-validation"
    return f"tuning of {' and '.join(names)} by {how}, again in every fit"
