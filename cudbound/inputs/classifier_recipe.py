"""A classifier with its preprocessing steps, as described in a command or a design file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cudbound.basis.parameter_error import ParameterError
from cudbound.inputs.named_classifiers import DEFAULT, LEARNERS, check_options, make_classifier

#: Folds of the search for tuned parameters.
TUNING_FOLDS = 5
#: What may stand in place of a missing value, and its name in scikit-learn.
STRATEGIES = {"median": "median", "most-frequent": "most_frequent"}


@dataclass(frozen=True)
class ClassifierRecipe:
    """An unfitted classifier with its preprocessing; every call creates a new one.

    Its steps, all fitted only to the training set: filling of missing values, standardization, feature selection,
    projection on principal components, polynomial terms, and the classifier. Steps that are not requested are omitted.
    If there are values to choose from, the whole pipeline is tuned by cross-validation.

    Attributes
    ----------
    classifier : str, default="least-squares"
        One of `cudbound.inputs.named_classifiers.LEARNERS`.
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

    classifier: str = DEFAULT
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
        check_options(self.classifier, self.options)
        for name, values in self.tune:
            for value in values:
                check_options(self.classifier, (*self.options, (name, value)))

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
    def class_in_words(self) -> str:
        """The class of the classifier with its options, as Python code."""
        family = LEARNERS[self.classifier]
        values = {**family.fixed, **dict(self.options)}
        words = f"{family.class_name}({', '.join(f'{name}={value!r}' for name, value in values.items())})"
        return words if self.threshold is None else f"{words} with the threshold {self.threshold:g}"

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
