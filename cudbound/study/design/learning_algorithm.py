"""The learning algorithm of a scenario, from the words of a design file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cudbound.hints import did_you_mean
from cudbound.inputs.named_classifiers import DEFAULT, LEARNERS, ClassifierChoice, build, check_classifier
from cudbound.parameter_error import ParameterError
from cudbound.validation import check_integer

#: Of classifiers that draw random numbers: every fit of a study begins with the same ones.
CLASSIFIER_SEED = 0
#: Folds of the search for tuned parameters.
TUNING_FOLDS = 5


@dataclass(frozen=True)
class ClassifierRecipe:
    """An unfitted classifier with everything that belongs to it, made anew by every call.

    Its steps, each of them fitted to the training set alone: standard scaling, projection on principal components,
    polynomial terms, and the classifier. Steps that are not asked for are left out; without any, the classifier comes
    by itself. Where values are to be chosen among, all this is searched by cross-validation.

    Attributes
    ----------
    classifier : str, default="least-squares"
        One of `cudbound.inputs.named_classifiers.LEARNERS`.
    options : tuple of (str, value), default=()
        Its parameters by their names in scikit-learn, such as ``("C", 0.5)``.
    scale : bool, default=False
        Whether every feature gets mean 0 and standard deviation 1.
    components : int or None, default=None
        Number of principal components that stand for the features; None keeps the features. It is at most the number
        of features and of training cases.
    degree : int, default=1
        Largest degree of the polynomial terms, products of different features included.
    tune : tuple of (str, tuple of values), default=()
        Parameters of the classifier and the values that are tried for each: the values of least error in 5-fold
        cross-validation are taken (`sklearn.model_selection.GridSearchCV`).

    Raises
    ------
    ValueError
        If the classifier or an option is unknown, or a value is out of range.

    Examples
    --------
    >>> recipe = ClassifierRecipe("logistic", (("C", 0.5),), scale=True, components=2)
    >>> [type(step).__name__ for _, step in recipe().steps]
    ['StandardScaler', 'PCA', 'LogisticRegression']
    >>> ClassifierRecipe()()
    LeastSquaresClassifier()
    """

    classifier: str = DEFAULT
    options: tuple[tuple[str, Any], ...] = ()
    scale: bool = False
    components: int | None = None
    degree: int = 1
    tune: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.classifier, str) or self.classifier not in LEARNERS:
            hint = did_you_mean(str(self.classifier), LEARNERS, "the classifiers are")
            raise ValueError(f"there is no classifier {self.classifier!r}; {hint}")
        if not isinstance(self.scale, bool):
            raise ParameterError("scale", "true or false", self.scale)
        if self.components is not None:
            check_integer("components", self.components, 1)
        check_integer("degree", self.degree, 1)
        check_classifier(ClassifierChoice(self.classifier, self.options))
        for name, values in self.tune:
            for value in values:
                check_classifier(ClassifierChoice(self.classifier, (*self.options, (name, value))))

    def __call__(self) -> Any:
        """Return the classifier, not yet fitted."""
        from sklearn.decomposition import PCA
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import PolynomialFeatures, StandardScaler

        steps: list[Any] = []
        if self.scale:
            steps.append(StandardScaler())
        if self.components is not None:
            # the randomized solver would draw random numbers
            steps.append(PCA(self.components, svd_solver="full"))
        if self.degree > 1:
            steps.append(PolynomialFeatures(self.degree, include_bias=False))
        classifier = build(ClassifierChoice(self.classifier, self.options), CLASSIFIER_SEED)
        whole = make_pipeline(*steps, classifier) if steps else classifier
        if not self.tune:
            return whole
        prefix = f"{whole.steps[-1][0]}__" if steps else ""
        return GridSearchCV(
            whole, {prefix + name: list(values) for name, values in self.tune}, cv=TUNING_FOLDS
        )

    @property
    def description(self) -> dict[str, Any]:
        """The recipe in the words of a design file."""
        words = {
            "classifier": self.classifier,
            "set": dict(self.options),
            "scale": self.scale,
            "components": self.components,
            "degree": self.degree,
        }
        # named only where there is one: studies of before keep their identity
        return {**words, "tune": {name: list(values) for name, values in self.tune}} if self.tune else words
