"""What the arrays of a saved model must be: one table of shapes, types and ranges, checked before anything is used.

Compiled code takes the arrays of a fitted estimator as they are, and a file can say anything in them: a support vector
machine whose counts of support vectors do not add up reads memory that is not its own. So every array of the estimators
that are supported is compared with `TABLE`. An estimator that is not in it is refused unless the user trusts its type.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cudbound.cli.inputs.model_parameters import ModelError, check_parameters

#: Values of one array, and features; a file of 64 MB holds fewer, unless its arrays have values without size.
MAX_VALUES = 64 * 2**20
MAX_FEATURES = 100_000


@dataclass(frozen=True)
class Numbers:
    """What a fitted attribute must be where it is there.

    Attributes
    ----------
    *shapes : tuple of (int or str)
        Shapes that are allowed. A letter stands for a size that all attributes of the estimator share; ``"p"`` is the
        number of features.
    kinds : str, default="iuf"
        Kinds of numbers, as `numpy.dtype.kind` has them.
    low, high : float, default=-inf, inf
        Range of the values, which must be finite.
    gaps : bool, default=False
        Whether nan is allowed.
    """

    shapes: tuple[tuple[int | str, ...], ...]
    kinds: str = "iuf"
    low: float = -math.inf
    high: float = math.inf
    gaps: bool = False


def _numbers(*shapes: tuple[int | str, ...], **rule: Any) -> Numbers:
    return Numbers(shapes, **rule)


_CLASSES = _numbers(("c",), kinds="biufUO")
_PER_FEATURE = _numbers(("p",))
_GAPS = _numbers(("p",), gaps=True)
_COUNTS = _numbers((), ("p",), low=0)
_LINEAR = {
    "classes_": _CLASSES,
    "coef_": _numbers((1, "q"), ("q",), ("c", "q")),
    "intercept_": _numbers((), (1,), ("c",)),
    "_expanded_class_weight": _numbers(("c",)),
}
_LINEAR_ON_FEATURES = _LINEAR | {"coef_": _numbers((1, "p"), ("p",), ("c", "p"))}
_SUPPORT = {
    "classes_": _CLASSES,
    "class_weight_": _numbers((2,)),
    "support_": _numbers(("s",), kinds="i", low=0),
    "support_vectors_": _numbers(("s", "p"), kinds="f"),
    "_n_support": _numbers((2,), kinds="i", low=0),
    "_dual_coef_": _numbers((1, "s"), kinds="f"),
    "dual_coef_": _numbers((1, "s"), kinds="f"),
    "_intercept_": _numbers((1,), kinds="f"),
    "intercept_": _numbers((1,), kinds="f"),
    "_probA": _numbers((0,), (1,), kinds="f"),
    "_probB": _numbers((0,), (1,), kinds="f"),
    "_gamma": _numbers((), low=0),
    "_sparse": _numbers((), kinds="b", high=0),
}
#: Arrays that libsvm reads: all of them, or none in a machine that is not fitted.
COMPILED = ("support_", "support_vectors_", "_n_support", "_dual_coef_", "_intercept_", "_probA", "_probB")
_SCALES = {
    "n_samples_seen_": _COUNTS,
    "mean_": _PER_FEATURE,
    "var_": _numbers(("p",), low=0),
    "scale_": _PER_FEATURE,
    "center_": _PER_FEATURE,
    "min_": _PER_FEATURE,
    "data_min_": _GAPS,
    "data_max_": _GAPS,
    "data_range_": _GAPS,
    "max_abs_": _PER_FEATURE,
    "lambdas_": _PER_FEATURE,
}
_COMPONENTS = {
    "mean_": _PER_FEATURE,
    "components_": _numbers(("k", "p")),
    "explained_variance_": _numbers(("k",)),
    "explained_variance_ratio_": _numbers(("k",), gaps=True),
    "singular_values_": _numbers(("k",)),
}
_SELECTION = {
    "scores_": _GAPS,
    "pvalues_": _GAPS,
    "variances_": _GAPS,
    "support_": _numbers(("p",), kinds="b"),
    "ranking_": _numbers(("p",), kinds="i", low=1),
}
_BY_CLASS = {
    "classes_": _CLASSES,
    "class_count_": _numbers(("c",), low=0),
    "class_prior_": _numbers(("c",), low=0),
    "class_log_prior_": _numbers(("c",), high=0),
    "priors_": _numbers(("c",), low=0),
    "theta_": _numbers(("c", "p")),
    "var_": _numbers(("c", "p"), low=0),
    "means_": _numbers(("c", "p")),
    "centroids_": _numbers(("c", "p")),
    "feature_count_": _numbers(("c", "p"), low=0),
    "coef_": _numbers((1, "p"), ("c", "p")),
    "intercept_": _numbers((1,), ("c",)),
    "xbar_": _PER_FEATURE,
}
_REGRESSION = {"coef_": _PER_FEATURE, "intercept_": _numbers((), (1,))}
_ONLY_CLASSES = {"classes_": _CLASSES}
_NEIGHBORS = {
    "classes_": _CLASSES,
    "_y": _numbers(("n",), kinds="i", low=0, high=1),
    "_fit_X": _numbers(("n", "p"), kinds="f"),
}
_NOTHING: dict[str, Numbers] = {}

#: What is checked of every estimator by the name of its class; beside it its parameters and its number of features.
TABLE: dict[str, dict[str, Numbers]] = {
    **dict.fromkeys(("LeastSquaresClassifier", "ConvexLossClassifier"), _LINEAR),
    **dict.fromkeys(
        (
            *(
                "RidgeClassifier",
                "RidgeClassifierCV",
                "LogisticRegression",
                "LogisticRegressionCV",
                "LinearSVC",
            ),
            *("SGDClassifier", "Perceptron", "PassiveAggressiveClassifier"),
        ),
        _LINEAR_ON_FEATURES,
    ),
    **dict.fromkeys(("SVC", "NuSVC"), _SUPPORT),
    **dict.fromkeys(
        (
            *("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "NearestCentroid", "GaussianNB"),
            *("BernoulliNB", "MultinomialNB", "ComplementNB", "DummyClassifier"),
        ),
        _BY_CLASS,
    ),
    **dict.fromkeys(
        ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "PowerTransformer"), _SCALES
    ),
    "QuantileTransformer": {"quantiles_": _numbers(("r", "p")), "references_": _numbers(("r",))},
    **dict.fromkeys(("PCA", "IncrementalPCA", "TruncatedSVD", "FactorAnalysis", "FastICA"), _COMPONENTS),
    **dict.fromkeys(
        (
            *(
                "SelectKBest",
                "SelectPercentile",
                "SelectFdr",
                "SelectFpr",
                "SelectFwe",
                "GenericUnivariateSelect",
            ),
            *("VarianceThreshold", "RFE", "RFECV", "SelectFromModel", "SequentialFeatureSelector"),
        ),
        _SELECTION,
    ),
    "SimpleImputer": {"statistics_": _numbers(("p",), kinds="biufUO", gaps=True)},
    **dict.fromkeys(
        (
            "LinearRegression",
            "Ridge",
            "RidgeCV",
            "Lasso",
            "LassoCV",
            "ElasticNet",
            "ElasticNetCV",
            "BayesianRidge",
        ),
        _REGRESSION,
    ),
    **dict.fromkeys(
        (
            *("GridSearchCV", "RandomizedSearchCV", "FixedThresholdClassifier", "TunedThresholdClassifierCV"),
            *("VotingClassifier", "StackingClassifier", "BaggingClassifier", "LabelBinarizer"),
        ),
        _ONLY_CLASSES,
    ),
    **dict.fromkeys(
        # the trees and neighbors that they keep in compiled form are of types that nobody but the user trusts
        (
            *(
                "DecisionTreeClassifier",
                "ExtraTreeClassifier",
                "RandomForestClassifier",
                "ExtraTreesClassifier",
            ),
            *("AdaBoostClassifier", "GradientBoostingClassifier", "CalibratedClassifierCV"),
        ),
        _ONLY_CLASSES,
    ),
    "KNeighborsClassifier": _NEIGHBORS,
    # what these keep is read by NumPy and Python alone, or belongs to the estimators that they hold
    **dict.fromkeys(
        (
            *("Pipeline", "ColumnTransformer", "FeatureUnion", "FunctionTransformer", "PolynomialFeatures"),
            *("SplineTransformer", "KBinsDiscretizer", "OneHotEncoder", "OrdinalEncoder", "LabelEncoder"),
            *("Binarizer", "Normalizer", "IterativeImputer", "MissingIndicator", "KNNImputer"),
        ),
        _NOTHING,
    ),
}


def check_model(parts: Iterable[Any], trusted: Collection[str] = ()) -> None:
    """Raise ModelError unless every array and parameter of a saved model is what its class relies on.

    Parameters
    ----------
    parts : iterable of object
        Everything that the model holds, itself included.
    trusted : collection of str, default=()
        Full names of the types that the user knows to be harmless; their arrays are not compared with the table.
    """
    from sklearn.base import BaseEstimator

    for part in parts:
        if isinstance(part, np.ndarray):
            _check_array(part)
        if isinstance(part, np.random.RandomState | np.random.Generator):
            raise ModelError("holds a random number generator, which cannot be checked")
        if isinstance(part, BaseEstimator):
            kind = type(part)
            if f"{kind.__module__}.{kind.__qualname__}" not in trusted:
                _check_estimator(part)


def _check_array(array: np.ndarray[Any, Any]) -> None:
    if array.dtype.itemsize == 0 or array.size > MAX_VALUES or array.dtype.kind not in "biufUSOM":
        raise ModelError(
            f"holds an array of shape {array.shape} and type {array.dtype}, which no fitted model has"
        )


def _check_estimator(estimator: Any) -> None:
    kind = type(estimator)
    name, state = kind.__name__, vars(estimator)
    parameters = estimator.get_params(deep=False)
    if name not in TABLE:
        raise ModelError(
            f"holds a {name}, whose arrays this command cannot check; if you know where the file comes from, add "
            f"--trust {kind.__module__}.{kind.__qualname__}"
        )
    for attribute in state:
        if attribute not in parameters and hasattr(kind, attribute):
            raise ModelError(f"holds a {name} with {attribute!r} in place of its own")
    check_parameters(estimator)
    sizes = _feature_sizes(name, state)
    for attribute, rule in TABLE[name].items():
        if state.get(attribute) is not None:
            _check_attribute(f"{name}.{attribute}", state[attribute], rule, sizes)
    if name in ("SVC", "NuSVC"):
        _check_support(name, state)
    if "_y" in state and _largest(state["_y"]) >= np.size(state.get("classes_", ())):
        raise ModelError(f"holds {name}._y with classes that it does not have")


def _feature_sizes(name: str, state: dict[str, Any]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    number = state.get("n_features_in_")
    if number is not None:
        if (
            isinstance(number, bool)
            or not isinstance(number, int | np.integer)
            or not 1 <= number <= MAX_FEATURES
        ):
            raise ModelError(f"holds {name}.n_features_in_ that is no number from 1 to {MAX_FEATURES:,}")
        sizes["p"] = int(number)
    names = state.get("feature_names_in_")
    if names is not None:
        fits = isinstance(names, np.ndarray) and names.ndim == 1 and names.size == sizes.get("p", names.size)
        if not fits or not all(isinstance(one, str) for one in names.tolist()):
            raise ModelError(f"holds {name}.feature_names_in_ that are not one text for each feature")
    return sizes


def _check_attribute(name: str, value: Any, rule: Numbers, sizes: dict[str, int]) -> None:
    if not isinstance(value, np.ndarray | np.generic | int | float):
        raise ModelError(f"holds {name} that is a {type(value).__name__}, not numbers")
    array = np.asarray(value)
    shape = next((one for one in rule.shapes if _fits(array.shape, one, sizes)), None)
    if shape is None or array.dtype.kind not in rule.kinds:
        wanted = " or ".join(str(tuple(map(_named, one, [sizes] * len(one)))) for one in rule.shapes)
        raise ModelError(
            f"holds {name} of shape {array.shape} and type {array.dtype}, which should be {wanted}"
        )
    sizes.update(
        {letter: size for letter, size in zip(shape, array.shape, strict=True) if isinstance(letter, str)}
    )
    if array.dtype.kind == "O":
        if not all(isinstance(one, str | int | float | np.generic) for one in array.ravel().tolist()):
            raise ModelError(f"holds {name} with values that are neither numbers nor texts")
    elif array.dtype.kind in "biuf":
        inside = np.isfinite(array) & (array >= rule.low) & (array <= rule.high)
        if not np.all(inside | np.isnan(array) if rule.gaps else inside):
            raise ModelError(
                f"holds {name} with values that are not finite numbers in [{rule.low:g}, {rule.high:g}]"
            )


def _named(size: int | str, sizes: dict[str, int]) -> int | str:
    """Return a size as a number where it is known by now."""
    return sizes.get(size, size) if isinstance(size, str) else size


def _fits(found: tuple[int, ...], shape: tuple[int | str, ...], sizes: dict[str, int]) -> bool:
    return len(found) == len(shape) and all(
        sizes.get(size, one) == one if isinstance(size, str) else size == one
        for one, size in zip(found, shape, strict=True)
    )


def _check_support(name: str, state: dict[str, Any]) -> None:
    """Check what the compiled code of a support vector machine adds up, and that nothing of it is missing."""
    missing = [attribute for attribute in COMPILED if state.get(attribute) is None and "support_" in state]
    if missing:
        raise ModelError(f"holds {name}.{missing[0]} that is missing")
    counts, vectors = state.get("_n_support"), state.get("support_vectors_")
    if counts is not None and vectors is not None and int(counts.sum(dtype=np.int64)) != len(vectors):
        raise ModelError(
            f"holds {name}._n_support that does not add up to its {len(vectors)} support vectors"
        )
    has_probabilities = state.get("_effective_probability", state.get("probability")) is True
    for attribute in ("_probA", "_probB"):
        if np.size(state.get(attribute, ())) != int(has_probabilities):
            raise ModelError(f"holds {name}.{attribute} that does not fit to its parameter probability")
    rows = state.get("shape_fit_", (0, 0))
    plain = (
        isinstance(rows, tuple) and len(rows) == 2 and all(isinstance(one, int) and one >= 0 for one in rows)
    )
    if not plain or _largest(state.get("support_")) >= max(rows[0], 1):
        raise ModelError(f"holds {name}.support_ with rows that its training set did not have")


def _largest(rows: Any) -> int:
    return int(np.max(rows)) if rows is not None and np.size(rows) else 0
