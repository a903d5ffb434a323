"""The steps of every fit, in words for a methods paragraph: preprocessing, classifier and tuning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cudbound.adapters.in_words import penalty_of

#: Steps and classifiers by the names of their classes; fields are parameters. Others keep the names of their classes.
_WORDS = {
    "SimpleImputer": "replacement of missing values by the {strategy}",
    "KNNImputer": "imputation of missing values from nearest neighbors",
    "IterativeImputer": "imputation of missing values by chained regressions",
    "OneHotEncoder": "coding of categories as indicator variables",
    "OrdinalEncoder": "coding of categories as numbers",
    "StandardScaler": "standardization of features",
    "MinMaxScaler": "scaling of features to a fixed range",
    "RobustScaler": "scaling of features by median and interquartile range",
    "SelectKBest": "selection of {k} features by a univariate test",
    "PCA": "principal component analysis with {n_components} components",
    "PolynomialFeatures": "polynomial terms up to degree {degree}",
    "CalibratedClassifierCV": "calibration of the probabilities ({method})",
    "FixedThresholdClassifier": "classification at a fixed threshold ({threshold})",
    "TunedThresholdClassifierCV": "choice of the threshold by cross-validation",
    "LogisticRegression": "logistic regression",
    "LogisticRegressionCV": "logistic regression tuned by cross-validation in every fit",
    "LinearSVC": "linear support vector classification",
    "SVC": "support vector classification with a {kernel} kernel",
    "LinearDiscriminantAnalysis": "linear discriminant analysis",
    "QuadraticDiscriminantAnalysis": "quadratic discriminant analysis",
    "LeastSquaresClassifier": "least-squares classification",
    "RidgeClassifier": "least-squares classification",
    "ConvexLossClassifier": "linear classification by a convex loss ({loss})",
    "RandomForestClassifier": "a random forest of {n_estimators} trees",
    "KNeighborsClassifier": "{n_neighbors}-nearest-neighbors classification",
    "GradientBoostingClassifier": "gradient boosting",
    "HistGradientBoostingClassifier": "gradient boosting",
    "DecisionTreeClassifier": "a decision tree",
    "GaussianNB": "naive Bayes classification",
    "DummyClassifier": "a classifier that ignores the features",
}
_AROUND = ("CalibratedClassifierCV", "FixedThresholdClassifier", "TunedThresholdClassifierCV")


def procedure_in_words(estimator: Any) -> tuple[str, ...]:
    """Return the steps of every fit of an estimator in words, each once, in order.

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
    tuned = getattr(estimator, "param_grid", getattr(estimator, "param_distributions", None))
    if tuned is not None:
        fitted = getattr(estimator, "best_estimator_", estimator.estimator)
        return (*procedure_in_words(fitted), _tuning(estimator, tuned))
    if type(estimator).__name__ in _AROUND:
        return (*procedure_in_words(estimator.estimator), _words(estimator))
    if hasattr(estimator, "steps"):
        parts = [step for _, step in estimator.steps]
    elif hasattr(estimator, "transformers"):
        parts = [*(branch for _, branch, *_ in estimator.transformers), estimator.remainder]
    else:
        return (_words(estimator),)
    return tuple(dict.fromkeys(words for part in parts for words in procedure_in_words(part)))


def _words(estimator: Any) -> str:
    name = type(estimator).__name__
    words = _WORDS[name].format_map(vars(estimator)) if name in _WORDS else name
    words = words.replace("most_frequent", "most frequent value").replace("_", " ")
    kind, _, strength = penalty_of(estimator).partition(", ")
    return f"{words} with a {kind} ({strength})" if strength else words


def _tuning(search: Any, tuned: Any) -> str:
    grids: list[Mapping[str, Any]] = [tuned] if isinstance(tuned, Mapping) else list(tuned)
    names = dict.fromkeys(name.rpartition("__")[2] for grid in grids for name in grid)
    folds = 5 if search.cv is None else search.cv
    how = f"{folds}-fold cross-validation" if isinstance(folds, int) else "cross-validation"
    return f"tuning of {' and '.join(names)} by {how}, again in every fit"
