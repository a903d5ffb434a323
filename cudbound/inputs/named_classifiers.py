"""The classifiers with names in commands and design files: their classes, options and defaults."""

from __future__ import annotations

import ast
import importlib
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cudbound.basis.hints import did_you_mean
from cudbound.inputs.data_file import quoted


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
DEFAULT = "least-squares"


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


def parameters_of(family: Family) -> set[str]:
    """Return the parameters of a class, read from its source: to import it takes a second."""
    package, _, inner = family.module.partition(".")
    spec = find_spec(package)
    places = [] if spec is None else spec.submodule_search_locations or []
    modules = [Path(place, *inner.split(".")) for place in places]
    paths = (path for one in modules for path in (one.with_suffix(".py"), *one.rglob("*.py")))
    sources = (path.read_text(encoding="utf-8") for path in paths if path.is_file())
    tree = ast.parse(next(text for text in sources if f"\nclass {family.class_name}(" in text))
    made = next(one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == family.class_name)
    init = next(one for one in made.body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
    return {one.arg for one in (*init.args.args, *init.args.kwonlyargs)} - {"self"}


def check_options(name: str, options: Sequence[tuple[str, Any]]) -> None:
    """Try the options of a classifier on a small example.

    Raises
    ------
    ValueError
        If an option is unknown or contradicts the name, or if its value is invalid for the class.
    """
    if not options:
        return
    family = LEARNERS[name]
    known = parameters_of(family) - {"verbose"} - set(family.kept)
    for option, _ in options:
        if option == "verbose":
            raise ValueError("'verbose' must stay off: the text that a fit prints would mix with the output.")
        if option in family.kept:
            raise ValueError(f"{name} has no penalty, and so no option {quoted(option)}; logistic has both.")
        if option not in known:
            hint = did_you_mean(option, sorted(known), "its options are")
            raise ValueError(f"{name} has no option {quoted(option)}; {hint}")
    # A class looks at its parameters only when it is fitted. The data of the user come later, so that whatever is wrong
    # here is wrong with the options.
    X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0], [4.0, 0.0], [5.0, 3.0], [6.0, 1.0], [7.0, 2.0]]
    y = [0, 0, 1, 0, 1, 0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the real fit are the ones that matter
        try:
            make_classifier(name, options, seed=0).fit(X, y)
        except Exception as error:  # what an option is used for can go wrong in any way
            raise ValueError(str(error)) from error
