"""Classifiers by their names in commands and design files, with options and preprocessing steps."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cudbound.basis.exceptions import ParameterError, did_you_mean
from cudbound.inputs.data_file import quoted

#: Folds of the search for tuned parameters.
TUNING_FOLDS = 5
#: Steps of a fit to the small example; libsvm takes as many as it needs, and for a huge C never ends.
MOST_STEPS = 1_000_000
#: What may stand in place of a missing value, and its name in scikit-learn.
STRATEGIES = {"median": "median", "most-frequent": "most_frequent"}


@dataclass(frozen=True)
class Family:
    """A class of classifiers: its module and its name.

    Attributes
    ----------
    module, class_name : str
    fixed : mapping of str to object, default={}
        Parameters that the name implies; options may change them.
    kept : tuple of str, default=()
        Parameters that options must not change, because another name would then be correct.
    """

    module: str
    class_name: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    kept: tuple[str, ...] = ()


CLASSIFIERS: dict[str, Family] = {
    "least-squares": Family("cudbound", "LeastSquaresClassifier"),
    "ridge": Family("sklearn.linear_model", "RidgeClassifier"),
    "logistic": Family("sklearn.linear_model", "LogisticRegression"),
    # maximum likelihood; the solver and its tolerance do not depend on the units of the features
    "logistic-ml": Family(
        "sklearn.linear_model",
        "LogisticRegression",
        {"C": math.inf, "solver": "newton-cholesky", "tol": 1e-8},
        kept=("C", "l1_ratio", "penalty"),
    ),
    "linear-svm": Family("sklearn.svm", "LinearSVC"),
    "svm": Family("sklearn.svm", "SVC", {"kernel": "linear"}),
    "convex-loss": Family("cudbound", "ConvexLossClassifier"),
}
#: And classifiers that are not additive models: for comparisons and studies by methods that refit and look no further.
LEARNERS: dict[str, Family] = {
    **CLASSIFIERS,
    "tree": Family("sklearn.tree", "DecisionTreeClassifier"),
    "forest": Family("sklearn.ensemble", "RandomForestClassifier"),
    "boosting": Family("sklearn.ensemble", "GradientBoostingClassifier"),
    "lda": Family("sklearn.discriminant_analysis", "LinearDiscriminantAnalysis"),
    "naive-bayes": Family("sklearn.naive_bayes", "GaussianNB"),
    "nearest-neighbors": Family("sklearn.neighbors", "KNeighborsClassifier"),
    "majority": Family("sklearn.dummy", "DummyClassifier", {"strategy": "most_frequent"}),
}
#: What the command fits unless an option says otherwise. It returns risks, so that a report has a Brier score and a
#: calibration; a design file that names no classifier has that of the paper.
DEFAULT = "logistic"


def make_classifier(name: str, options: Sequence[tuple[str, Any]], seed: int) -> Any:
    """Return an unfitted classifier by its name; its random numbers come from the seed.

    Parameters
    ----------
    name : str
        One of `LEARNERS`.
    options : sequence of (str, value)
        Parameters that differ from the defaults of the class.
    seed : int
        Non-negative.
    """
    family = LEARNERS[name]
    classifier = getattr(importlib.import_module(family.module), family.class_name)()
    values = {**family.fixed, **dict(options)}
    if "random_state" in classifier.get_params(deep=False):
        values.setdefault("random_state", seed % 2**32)  # scikit-learn takes no larger ones
    return classifier.set_params(**values)


def check_options(name: str, options: Sequence[tuple[str, Any]]) -> None:
    """Try the options of a classifier on a small example.

    Raises
    ------
    ValueError
        If an option is unknown or contradicts the name, or if its value is invalid for the class.
    """
    family = LEARNERS[name]
    allowed = make_classifier(name, (), seed=0).get_params(deep=False).keys() - {"verbose", *family.kept}
    for option, _ in options:
        if option not in allowed:
            hint = did_you_mean(option, sorted(allowed), "its options are")
            raise ValueError(f"{name} has no option {quoted(option)}; {hint}")
    # A class looks at its parameters only when it is fitted. The data of the user come later, so that whatever is wrong
    # here is wrong with the options.
    X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [4.0, 0.0], [5.0, 3.0], [6.0, 1.0], [7.0, 2.0]]
    y = [0, 0, 1, 0, 1, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the real fit are the ones that matter
        try:
            classifier = make_classifier(name, options, seed=0)
            without_limit = getattr(classifier, "max_iter", None) == -1
            if without_limit:
                classifier.set_params(max_iter=MOST_STEPS)
            classifier.fit(X, y)
        except Exception as error:  # what an option is used for can go wrong in any way
            raise ValueError(str(error)) from error
    if without_limit and max(classifier.n_iter_) >= MOST_STEPS:
        raise ValueError(
            f"with these options, {name} does not converge on a small example; choose a smaller C or a larger tol, or "
            "limit its steps with max_iter=N."
        )


@dataclass(frozen=True)
class ClassifierRecipe:
    """An unfitted classifier with its preprocessing; every call creates a new one.

    Its steps, all fitted only to the training set: filling of missing values, standardization, feature selection,
    projection on principal components, polynomial terms, and the classifier. Steps that are not requested are omitted.
    If there are values to choose from, the whole pipeline is tuned by cross-validation.

    Attributes
    ----------
    classifier : str, default="least-squares"
        One of `LEARNERS`.
    options : tuple of (str, value), default=()
        Its parameters by their names in scikit-learn, such as ``("C", 0.5)``.
    standardize : bool, default=False
        Whether to standardize every feature to mean 0 and standard deviation 1.
    select : int or None, default=None
        Number of features to keep: those in which the classes differ most, by the F statistic
        (`sklearn.feature_selection.SelectKBest`); None keeps all.
    components : int or None, default=None
        Number of principal components that replace the features; None keeps the features. It is at most the number of
        features and of training cases.
    degree : int, default=1
        Largest degree of the polynomial terms, including products of different features.
    tune : tuple of (str, tuple of values), default=()
        Parameters of the classifier and the values to try for each: the values with the smallest error in 5-fold
        cross-validation are used (`sklearn.model_selection.GridSearchCV`).
    missing : {"median", "most-frequent"} or None, default=None
        Replacement of missing values (nan) of a feature; None means that there are none.
    levels : tuple of int, default=()
        With `missing`: the columns of level numbers, 0, 1, ... A missing level becomes the most frequent one, and the k
        levels become k - 1 indicators.
    threshold : float or None, default=None
        Probability of the second class (or score, without probabilities) from which a case is assigned that class; None
        means the threshold of the classifier.

    Raises
    ------
    ValueError
        If the classifier or an option is unknown, or a value is out of range.

    Examples
    --------
    >>> recipe = ClassifierRecipe("logistic", (("C", 0.5),), standardize=True, components=2)
    >>> [type(step).__name__ for _, step in recipe().steps]
    ['StandardScaler', 'PCA', 'LogisticRegression']
    >>> ClassifierRecipe()()
    LeastSquaresClassifier()
    """

    classifier: str = "least-squares"
    options: tuple[tuple[str, Any], ...] = field(default=(), metadata={"key": "set"})
    standardize: bool = False
    components: int | None = None
    degree: int = 1
    tune: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    missing: str | None = None
    levels: tuple[int, ...] = ()
    threshold: float | None = None
    select: int | None = None

    def __post_init__(self) -> None:
        from cudbound.basis.validation import check_choice, check_flag, check_integer

        check_choice("classifier", self.classifier, LEARNERS)
        check_flag("standardize", self.standardize)
        if self.components is not None:
            check_integer("components", self.components, 1)
        check_integer("degree", self.degree, 1, 10)
        if self.select is not None:
            check_integer("select", self.select, 1)
        if self.missing is not None:
            check_choice("missing", self.missing, tuple(STRATEGIES))
        elif self.levels:
            raise ParameterError("levels", "column numbers, together with missing", self.levels)
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise ParameterError("threshold", "a finite number or None", self.threshold)
        for column in self.levels:
            check_integer("levels", column, 0)
        if self.options:
            check_options(self.classifier, self.options)
        for name, values in self.tune:
            for value in values:
                check_options(self.classifier, (*self.options, (name, value)))
        if self.threshold is not None and not 0.0 <= self.threshold <= 1.0:
            scored = make_classifier(self.classifier, self.options, 0)
            if hasattr(scored, "predict_proba"):
                rule = f"a probability in [0, 1] for {type(scored).__name__}"
                raise ParameterError("threshold", rule, self.threshold)

    def __call__(self, seed: int = 0) -> Any:
        """Return the unfitted classifier; its random numbers come from the seed."""
        from sklearn.decomposition import PCA
        from sklearn.feature_selection import SelectKBest
        from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import PolynomialFeatures, StandardScaler

        steps: list[Any] = []
        if self.missing is not None:
            steps.append(_filled(STRATEGIES[self.missing], self.levels))
        if self.standardize:
            steps.append(StandardScaler())
        if self.select is not None:
            steps.append(SelectKBest(k=self.select))
        if self.components is not None:
            # the randomized solver would draw random numbers
            steps.append(PCA(self.components, svd_solver="full"))
        if self.degree > 1:
            steps.append(PolynomialFeatures(self.degree, include_bias=False))
        classifier = make_classifier(self.classifier, self.options, seed)
        whole = make_pipeline(*steps, classifier) if steps else classifier
        if self.tune:
            prefix = f"{whole.steps[-1][0]}__" if steps else ""
            tried = {prefix + name: list(values) for name, values in self.tune}
            whole = GridSearchCV(whole, tried, cv=TUNING_FOLDS)
        return whole if self.threshold is None else FixedThresholdClassifier(whole, threshold=self.threshold)

    def n_columns(self, n_features: int) -> int:
        """Return the columns that the classifier is fitted to, given the number of features."""
        used = self.components or self.select or n_features
        return math.comb(used + self.degree, self.degree) - 1

    @property
    def description(self) -> Mapping[str, Any]:
        """The recipe as written in a design file."""
        words: dict[str, Any] = {
            "classifier": self.classifier,
            "set": dict(self.options),
            "standardize": self.standardize,
            "components": self.components,
            "degree": self.degree,
        }
        # named only where there is one: studies of before keep their identity
        if self.tune:
            words["tune"] = {name: list(values) for name, values in self.tune}
        further = {"select": self.select, "missing": self.missing, "levels": list(self.levels)}
        words |= {name: value for name, value in further.items() if value}
        return words if self.threshold is None else {**words, "threshold": self.threshold}


def _filled(strategy: str, levels: Sequence[int]) -> Any:
    """Return the step that fills missing values, and turns numbers of levels into indicators."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    numbers = SimpleImputer(strategy=strategy)
    if not levels:
        return numbers
    indicators = make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        # a level that a draw lacks has no indicator in its fit, and its rows count as those of the first
        OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False),
    )
    return ColumnTransformer([("levels", indicators, list(levels))], remainder=numbers)
