"""Checks of arguments shared by the public functions, and their types; internal code does not repeat them."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from typing import Any, Protocol, TypeAlias, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cudbound.basis.exceptions import ParameterError, UnsupportedEstimatorError, suggestion


class Learner(Protocol):
    """A classifier of scikit-learn, fitted or not: clones of it are fitted and predict."""

    def fit(self, X: Any, y: Any, /) -> Any:
        """Fit to rows and labels, and return self."""

    def predict(self, X: Any, /) -> Any:
        """Return one label per row."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """Return the parameters, which a clone is made with."""


class Shaped(Protocol):
    """Rows that are not an array: a data frame or a sparse matrix."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""


class Splitter(Protocol):
    """A splitter of scikit-learn, such as ``StratifiedKFold(5)``."""

    def split(self, X: Any, y: Any = ..., groups: Any = ...) -> Iterable[tuple[Any, Any]]:
        """Yield the numbers of the training rows and of the test rows of each split."""


#: The features of cases, one row for each.
Features: TypeAlias = ArrayLike | Shaped
#: The splits that a caller may give: a number of folds, a splitter, or pairs of row numbers.
Splits: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]]


Array = NDArray[np.float64]
Settings = TypeVar("Settings")
#: Recorded losses: booleans, integers or floats.
Losses = NDArray[Any]

#: More workers than this a processor are not started: they would wait for each other.
JOBS_PER_CPU = 4
MAX_INNER = 100_000  # of a draw; no run ends that has more
#: With one row a class vanishes from a third of all bootstrap draws, and no variance can be seen in it.
MIN_ROWS_PER_CLASS = 2


def _is_number(value: object, kind: type = Real) -> TypeGuard[float]:
    """Whether a value is a number, not a boolean: an integer if `kind` is Integral, or any that a float can hold."""
    if not isinstance(value, kind) or isinstance(value, bool | np.bool_):
        return False
    return kind is Integral or not isinstance(value, Integral) or abs(int(value)) <= sys.float_info.max


def check_confidence_level(confidence_level: object) -> float:
    """Return the level as a float.

    Raises
    ------
    ValueError
        If it is not a number strictly between 0 and 1.
    """
    if not _is_number(confidence_level) or not 0.0 < float(confidence_level) < 1.0:
        raise ParameterError("confidence_level", "a float in the range (0, 1)", confidence_level)
    return float(confidence_level)


def check_rng(rng: object) -> np.random.Generator:
    """Return a generator: `rng` itself, or one seeded by the integer, or for None by the operating system.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None:
        return np.random.default_rng()
    if _is_number(rng, Integral) and int(rng) >= 0:
        return np.random.default_rng(int(rng))
    raise ParameterError("rng", "a non-negative integer, a numpy.random.Generator or None", rng)


def check_n_jobs(n_jobs: object) -> int:
    """Return the number of workers: None means 1, -1 every core, -2 every core but one, as in joblib.

    A larger number than `JOBS_PER_CPU` times that of the cores is reduced to it; results do not depend on it.

    Raises
    ------
    ValueError
        If it is neither None nor an integer other than 0.
    """
    if n_jobs is None:
        return 1
    if not _is_number(n_jobs, Integral) or int(n_jobs) == 0:
        raise ParameterError("n_jobs", "None or an integer other than 0", n_jobs)
    if n_jobs == 1:
        return 1  # to count the cores takes as long as many a search
    import joblib

    jobs, cores = int(n_jobs), int(joblib.cpu_count())
    return min(jobs, JOBS_PER_CPU * cores) if jobs > 0 else max(1, cores + 1 + jobs)


def check_limit(name: str, value: object, *, whole: bool) -> None:
    """Raise ValueError unless a limit is None, infinite, or a non-negative number: a `whole` one, or any."""
    if value is None or (
        _is_number(value) and value >= 0.0 and (not whole or value == math.inf or _is_number(value, Integral))
    ):
        return
    raise ParameterError(name, f"a non-negative {'integer' if whole else 'number'}, math.inf or None", value)


def check_ranks(ranks: object, n_draws: int) -> tuple[int, ...]:
    """Return distinct ranks of draws in ascending order; no ranks for None.

    Raises
    ------
    ValueError
        If they are not one or more integers in [1, n_draws].
    """
    if ranks is None:
        return ()
    values = np.asarray(ranks)
    if values.ndim > 1 or values.dtype.kind not in "iu" or not values.size:
        raise ParameterError("ranks", "one or more integers, or None for all draws", ranks)
    distinct = np.unique(values)
    if distinct[0] < 1 or distinct[-1] > n_draws:
        raise ParameterError("ranks", f"within [1, {n_draws}], from the smallest draw to the largest", ranks)
    return tuple(int(rank) for rank in distinct)


def check_localization(localization: object, n_samples: int) -> float:
    """Return the localization rate on the scale of the mean loss.

    ``"n"`` is `n_samples`, the order that section 3 of Laber & Murphy (2008) derives for the mean loss.
    ``"paper-literal"`` is ``n_samples ** 2``: their section 5 writes the loss as a sum and sets the rate to
    n, which is n times as much on the scale of the mean. Numbers from 0 to infinity are used as they are.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    rates = {"n": float(n_samples), "paper-literal": float(n_samples) ** 2}
    if isinstance(localization, str) and localization in rates:
        return rates[localization]
    return check_number("localization", localization, 0.0, math.inf, rates)


def check_inner(inner: object) -> int | None:
    """Return the number of inner draws, or None for the out-of-bag variant, which needs none.

    Raises
    ------
    ValueError
        If it is neither "oob" nor an integer of at least 1.
    """
    if isinstance(inner, str) and inner == "oob":
        return None
    if not _is_number(inner, Integral) or int(inner) < 1:
        raise ParameterError("inner", "'oob' or an integer of at least 1", inner)
    return check_integer("inner", inner, 1, MAX_INNER)


def check_integer(name: str, value: object, smallest: int, largest: int | None = None) -> int:
    """Return an integer of at least `smallest`, and at most `largest` if that is given.

    Raises
    ------
    ValueError
        If it is not; the message names the range.
    """
    if not _is_number(value, Integral) or int(value) < smallest:
        raise ParameterError(name, f"an integer of at least {smallest}", value)
    if largest is not None and int(value) > largest:
        raise ParameterError(name, f"an integer of at most {largest:,}", value)
    return int(value)


def check_number(name: str, value: object, low: float, high: float, words: Collection[str] = ()) -> float:
    """Return a number in [low, high), or in [low, inf] if `high` is infinite; `words` may stand for others.

    Raises
    ------
    ValueError
        If it is not such a number; the message names the words and the range.
    """
    if not _is_number(value) or not (low <= float(value) < high or float(value) == high == math.inf):
        choices = f"{', '.join(map(repr, words))} or " if words else ""
        end = "]" if high == math.inf else ")"
        raise ParameterError(name, f"{choices}a number in the range [{low:g}, {high:g}{end}", value)
    return float(value)


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return `value` if it is one of `choices`.

    Raises
    ------
    ValueError
        If it is not; the message lists the choices.
    """
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(name, f"one of {sorted(choices)}", value, suggestion(value, choices))
    return value


def check_settings(name: str, value: object, default: Settings, example: str) -> Settings:
    """Return settings of the class of the default, or the default for None.

    Raises
    ------
    ValueError
        If it is anything else; the message has the example, which are arguments of the class.
    """
    if value is None:
        return default
    if not isinstance(value, type(default)):
        kind = type(default).__name__
        rule = f"a {kind}, such as {kind}({example}), or None"
        raise ParameterError(name, rule, value)
    return value


def check_flag(name: str, value: object) -> bool:
    """Return `value` if it is True or False.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(name, "True or False", value)
    return bool(value)


def check_binary_classifier(estimator: Any) -> NDArray[Any]:
    """Return the two classes of a fitted classifier.

    Raises
    ------
    ValueError
        If it was fitted to more than two, or as `check_classifier` does.
    """
    classes = check_classifier(estimator)
    if classes.size > 2:
        raise ValueError(
            f"The classifier must have been fitted to exactly two classes. Got {_listed(list(classes))} instead; "
            "performance_interval and compare_intervals support more, for the error and for the sensitivity "
            "of each class. Or fit one classifier per class against the rest, such as clf.fit(X, y == 'a'), "
            "and compute each interval at level 1 - (1 - level) / 3 for three simultaneous intervals; on the "
            "command line, use that label as --target."
        )
    return classes


def check_classifier(estimator: Any) -> NDArray[Any]:
    """Return the classes of a fitted classifier, of which there are at least two.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If it has not been fitted.
    TypeError
        If it is not a classifier.
    UnsupportedEstimatorError
        If it is a search without a fitted classifier.
    ValueError
        If it was fitted to one class, or to several targets at once.
    """
    from sklearn.base import is_regressor
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    name = type(estimator).__name__
    if hasattr(estimator, "cv_results_") and not hasattr(estimator, "best_estimator_"):
        what = f"{name}(refit={estimator.refit!r}) has no fitted classifier."
        raise UnsupportedEstimatorError(what, "Fit it with refit=True.")
    if is_regressor(estimator) or not hasattr(estimator, "classes_") or not hasattr(estimator, "predict"):
        raise TypeError(
            f"{name} is not a classifier of scikit-learn, with classes_ and predict. If it predicts numbers, fit a "
            "classifier to whether the number exceeds a limit chosen in advance, such as y > 3.0; on the "
            "command line, use that label as --target."
        )
    classes = estimator.classes_
    # a list of arrays if there is more than one target
    if len(getattr(classes, "shape", ())) != 1 or len(classes) < 2:
        raise ValueError(
            "The classifier must have been fitted to one target, and its classes_ must be an array of at least two "
            f"labels. Got {_listed(list(classes))} instead."
        )
    return np.asarray(classes)


def check_not_censored(y: Any) -> None:
    """Raise ValueError for an array with named fields, as packages for survival analysis make."""
    if getattr(getattr(y, "dtype", None), "names", None):
        raise ValueError(
            "y must contain class labels. Got censored times to an event; use the status at a time when it is known "
            "for every patient, such as died within a year."
        )


def check_labels(y: ArrayLike, classes: NDArray[Any], *, several: bool = False) -> Array:
    """Return labels of a binary classifier as -1.0 for ``classes[0]`` and +1.0 for ``classes[1]``.

    Of `several` classes they are the numbers of the classes, from 0.0 on.

    Raises
    ------
    ValueError
        If `y` is not one-dimensional, contains a value that is not in `classes`, or has fewer than two rows of a
        class.
    """
    from sklearn.utils.validation import column_or_1d

    check_not_censored(y)
    if len(classes) > 2 and not several:
        raise ValueError(f"There must be two classes. Got {_listed(list(classes))} instead.")
    values = np.asarray(y)
    values = values if values.ndim == 1 else column_or_1d(values)
    of_class = np.stack([np.asarray(values == label) for label in classes])
    is_class = of_class.any(axis=0)
    if not is_class.all():
        raise ValueError(
            f"y must contain the labels that the classifier was fitted to, {classes.tolist()}. "
            f"Also got {_listed(dict.fromkeys(values[~is_class].tolist()))}."
        )
    for label, rows in zip(classes.tolist(), of_class.sum(axis=1).tolist(), strict=True):
        if rows < MIN_ROWS_PER_CLASS:
            few = "; omit such classes, or merge them with others" if len(classes) > 2 else ""
            raise ValueError(
                f"y must contain at least {MIN_ROWS_PER_CLASS} rows of each class. Got {rows} of {label!r}; "
                f"resampling needs them to show how the classifier varies{few}."
            )
    return np.where(of_class[1], 1.0, -1.0) if len(classes) == 2 else of_class.argmax(axis=0).astype(float)


def check_row_weights(sample_weight: ArrayLike, n_samples: int) -> Array:
    """Return the weights of the rows.

    Raises
    ------
    ValueError
        If they are not one finite, positive number for each row.
    """
    weights = np.asarray(sample_weight)
    if weights.shape != (n_samples,):
        got = f"shape {weights.shape}"
    elif weights.dtype.kind not in "biuf":
        got = f"type {weights.dtype}"
    elif not ((weights > 0.0) & np.isfinite(weights)).all():
        got = "infinite values" if weights.max() == np.inf else f"{weights.min():.3g}"
    else:
        return weights.astype(np.float64)
    raise ValueError(
        f"The 'sample_weight' parameter must be one positive number for each of the {n_samples} rows. Got {got} "
        f"instead{'; remove rows of weight 0 from X and y' if got == '0' else ''}."
    )


def check_lengths(n_rows: int, n_values: int, names: tuple[str, str] = ("X", "y")) -> None:
    """Raise ValueError unless X and y, or two other arguments, have the same number of rows."""
    if n_rows != n_values:
        raise ValueError(
            f"{' and '.join(names)} must have the same number of rows. Got {n_rows} and {n_values}."
        )


def _listed(values: Collection[Any]) -> str:
    shown = ", ".join(
        repr(value.item() if isinstance(value, np.generic) else value) for value in list(values)[:5]
    )
    return f"[{shown}{', ...' if len(values) > 5 else ''}]"


def check_can_be_refitted(estimator: Any) -> None:
    """Raise an error for results of statsmodels, and for classes that scikit-learn cannot clone.

    Raises
    ------
    TypeError
        If `estimator` is a result; the message says how to get a classifier with the same coefficients.
    UnsupportedEstimatorError
        If its class, or that of the classifier in it, is not a complete scikit-learn estimator.
    """
    name = type(estimator).__name__
    if hasattr(estimator, "model") and hasattr(estimator, "params") and not hasattr(estimator, "fit"):
        raise TypeError(
            f"{name} of statsmodels is a result, not a classifier. For a logistic regression, fit "
            "LogisticRegression(C=np.inf) of scikit-learn to the columns of result.model.exog but the constant."
        )
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        return  # no classifier at all, which is said elsewhere
    from sklearn.base import clone
    from sklearn.utils import get_tags

    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    name = type(estimator).__name__
    try:
        estimator.get_params()  # what a class without BaseEstimator lacks, in fewer words than those of its tags
        get_tags(estimator)
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # said when it was made
            clone(estimator)
    except (AttributeError, RuntimeError, TypeError) as error:
        if getattr(estimator, "estimator", name) is None:
            what = f"{name}(estimator=None) has no classifier to fit."
            way = f"Give it one, such as {name}(LogisticRegression()), and fit it to the training rows."
            raise UnsupportedEstimatorError(what, way) from error
        raise UnsupportedEstimatorError(
            f"{name} cannot be cloned for refits: {str(error).rstrip('.')}.",
            f"Write class {name}(ClassifierMixin, BaseEstimator), both of sklearn.base, whose __init__ names its "
            "parameters and keeps them as they are; these must be such as can be copied.",
        ) from error


def check_seed(rng: int | np.random.Generator | None) -> int:
    """Return an integer itself, or one that a generator draws, a fresh one for None, short enough to be typed."""
    generator = check_rng(rng)
    if rng is None or isinstance(rng, np.random.Generator):
        return int(generator.integers(2**32))
    return int(rng)
