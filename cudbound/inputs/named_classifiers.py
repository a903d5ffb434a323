"""The classifiers that commands and design files know by name: their classes, their options, how they are set up."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cudbound.hints import did_you_mean
from cudbound.inputs.csv_file import quoted


@dataclass(frozen=True)
class Family:
    """A class of classifiers: the module that has it, its name there, and the parameters a name stands for."""

    module: str
    class_name: str
    fixed: Mapping[str, Any] = field(default_factory=dict)


CLASSIFIERS: dict[str, Family] = {
    "least-squares": Family("cudbound", "LeastSquaresClassifier"),
    "ridge": Family("sklearn.linear_model", "RidgeClassifier"),
    "logistic": Family("sklearn.linear_model", "LogisticRegression"),
    "linear-svm": Family("sklearn.svm", "LinearSVC"),
    "svm": Family("sklearn.svm", "SVC", {"kernel": "linear"}),
    "convex-loss": Family("cudbound", "ConvexLossClassifier"),
}
#: And classifiers that are no additive models: for comparisons and studies by methods that refit and look no further.
LEARNERS: dict[str, Family] = {
    **CLASSIFIERS,
    "tree": Family("sklearn.tree", "DecisionTreeClassifier"),
    "forest": Family("sklearn.ensemble", "RandomForestClassifier"),
    "nearest-neighbors": Family("sklearn.neighbors", "KNeighborsClassifier"),
}
DEFAULT = "least-squares"


@dataclass(frozen=True)
class ClassifierChoice:
    """What is to be fitted.

    Attributes
    ----------
    name : str
        One of `LEARNERS`.
    options : tuple of (str, value)
        Parameters that differ from the defaults of the class.
    standardize : bool
        Whether the features are standardized first, as a step of the fit.
    """

    name: str = DEFAULT
    options: tuple[tuple[str, Any], ...] = ()
    standardize: bool = False

    @property
    def description(self) -> str:
        """The classifier in words, for the notes under the table."""
        family = LEARNERS[self.name]
        values = ", ".join(
            f"{name}={value!r}" for name, value in {**family.fixed, **dict(self.options)}.items()
        )
        return f"{family.class_name}({values}){' on standardized features' if self.standardize else ''}"


def build(choice: ClassifierChoice, seed: int) -> Any:
    """Return the classifier, not yet fitted; where it uses random numbers they come from the seed."""
    family = LEARNERS[choice.name]
    classifier = getattr(importlib.import_module(family.module), family.class_name)()
    options = {**family.fixed, **dict(choice.options)}
    if "random_state" in classifier.get_params(deep=False):
        options.setdefault("random_state", seed % 2**32)  # scikit-learn takes no larger ones
    classifier.set_params(**options)
    if not choice.standardize:
        return classifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), classifier)


def check_classifier(choice: ClassifierChoice) -> ClassifierChoice:
    """Return a choice whose options have been tried on a small example.

    Raises
    ------
    ValueError
        If an option is unknown, or if the class refuses its value.
    """
    if not choice.options:
        return choice
    known = build(ClassifierChoice(choice.name), seed=0).get_params(deep=False)
    for option, _ in choice.options:
        if option == "verbose":
            raise ValueError("'verbose' stays off: what a fit prints would stand in the output.")
        if option not in known:
            hint = did_you_mean(option, sorted(set(known) - {"verbose"}), "its options are")
            raise ValueError(f"{choice.name} has no option {quoted(option)}; {hint}")
    # A class looks at its parameters only when it is fitted. The data of the user come later, so that whatever is wrong
    # here is wrong with the options.
    X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [4.0, 0.0], [5.0, 3.0], [6.0, 1.0], [7.0, 2.0]]
    y = [0, 0, 1, 0, 1, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the real fit are the ones that matter
        try:
            build(choice, seed=0).fit(X, y)
        except (ValueError, TypeError) as error:
            raise ValueError(str(error)) from error
    return choice
