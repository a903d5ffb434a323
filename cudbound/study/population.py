"""Populations, the sources of training sets in a study, and the true errors of classifiers on them; real data sets."""

from __future__ import annotations

import hashlib
import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from cudbound.adapters.families import own_coefficients
from cudbound.basis.exceptions import ParameterError
from cudbound.basis.validation import MIN_ROWS_PER_CLASS, check_choice, check_integer, check_number
from cudbound.inputs.csv_columns import read_training_data
from cudbound.inputs.data_file import DataFile
from cudbound.inputs.schema import placed

Array = NDArray[np.float64]

#: Samples without a class, after which drawing fails.
MAX_DRAWS = 1000
#: Cases of the fixed sample for errors without a formula: the standard error is at most .00224.
N_TRUTH_CASES = 50_000
#: Seed of that sample, the same in every process and for every population.
TRUTH_SEED = 20080709
#: How far a score may be from an affine function of the features, relative to the largest score.
AFFINE_TOLERANCE = 1e-9
#: Distances from the boundary, in units of the features, at which the predicted class must be that of the score.
DISTANCES = np.logspace(-3.0, 1.0, 12)


@dataclass(frozen=True)
class Truth:
    """The error of one classifier on the population.

    Attributes
    ----------
    value : float
        In [0, 1].
    standard_error : float
        Standard error of `value` if it is estimated; 0 if it is exact.
    """

    value: float
    standard_error: float = 0.0


@dataclass(frozen=True, eq=False)
class Cases:
    """A training set, and the true error of classifiers fitted to it.

    Attributes
    ----------
    X : ndarray of float, shape (n, n_features)
    y : ndarray of int, shape (n,)
        0 or 1, or the numbers of more classes.
    true_error : callable
        ``true_error(classifier) -> Truth`` for a fitted scikit-learn classifier.
    groups : ndarray, shape (n,), or None, default=None
        Patient of each case, with equal values for the same patient; None if each case is a separate patient.
    """

    X: Any
    y: Any
    true_error: Callable[[Any], Truth] = field(repr=False)
    groups: Any = None

    @property
    def n_rarer(self) -> int:
        """Number of cases, or of patients with several cases, in the smallest class."""
        y = np.asarray(self.y)
        patients = np.arange(y.size) if self.groups is None else np.asarray(self.groups)
        sizes = [len(set(patients[y == label])) for label in np.unique(y)]
        return min(sizes) if len(sizes) > 1 else 0


class Population(Protocol):
    """A source of training sets; examples are `RealData` and those in the module `worlds`."""

    @property
    def name(self) -> str:
        """Its name in design files and results."""

    @property
    def title(self) -> str:
        """One line on how cases arise."""

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n cases; it may have only one class."""


def draw_both_classes(population: Population, n: int, rng: np.random.Generator) -> tuple[Cases, int]:
    """Draw a sample with at least two cases, or patients with several cases, per class; count rejected samples.

    Raises
    ------
    ValueError
        If a thousand samples are rejected.
    """
    for n_redrawn in range(MAX_DRAWS):
        drawn = population.draw(n, rng)
        if drawn.n_rarer >= MIN_ROWS_PER_CLASS:
            return drawn, n_redrawn
    raise ValueError(
        f"{MAX_DRAWS} samples of {n} cases from {population.name} all had fewer than {MIN_ROWS_PER_CLASS} cases of a "
        "class; use larger samples."
    )


def share_truth(wrong: NDArray[np.bool_]) -> Truth:
    """Return the share of misclassified cases in a sample, with its binomial standard error.

    Parameters
    ----------
    wrong : ndarray of bool, shape (n_cases,)

    Examples
    --------
    >>> share_truth(np.array([True, False, False, False]))
    Truth(value=0.25, standard_error=0.21650635094610965)
    """
    value = float(np.mean(wrong))
    return Truth(value, math.sqrt(value * (1.0 - value) / wrong.size))


def sampled_truth(population: Any, classifier: Any) -> Truth:
    """Return the error on a fixed large sample of a population.

    The sample is drawn once per process and kept. All replicates use the same cases, so their error is common and does
    not average out over replicates.

    Parameters
    ----------
    population : object with ``sample(n, rng) -> (X, y)``
        Hashable.
    classifier : object with ``predict``

    Returns
    -------
    Truth
    """
    X, y = fixed_cases(population, N_TRUTH_CASES)
    return share_truth(np.asarray(classifier.predict(X)) != y)


@lru_cache(maxsize=8)
def fixed_cases(population: Any, n_cases: int) -> tuple[Any, Any]:
    """Return a large sample of a population, the same in every process."""
    X, y = population.sample(n_cases, np.random.default_rng(TRUTH_SEED))
    return X, y


@lru_cache(maxsize=64)
def _probes(n_features: int) -> tuple[Array, Array]:
    """Return rows that determine and test an affine function, and random rows to move to the boundary."""
    rng = np.random.default_rng(TRUTH_SEED)
    affine = np.vstack([np.zeros(n_features), np.eye(n_features), 3.0 * rng.standard_normal((6, n_features))])
    return affine, rng.standard_normal((DISTANCES.size, n_features))


def linear_rule(classifier: Any, n_features: int) -> tuple[Array, float] | None:
    """Return the coefficients of a classifier that is linear in the original features, or None.

    Coefficients come from the classifier or, in a pipeline with further steps, from its score at the origin and the
    unit vectors: scaling and principal components keep a rule linear, and other rows check that the score is affine. In
    both cases the predicted class must be the sign of the score on rows on both sides of the boundary, at distances
    from 0.001 to 10.

    Parameters
    ----------
    classifier : fitted scikit-learn classifier
        Of the classes 0 and 1.
    n_features : int

    Returns
    -------
    coef : ndarray of float, shape (n_features,)
        Class 1 is predicted if ``x @ coef + intercept > 0``. All 0 for a classifier that predicts one class.
    intercept : float

    Examples
    --------
    >>> from cudbound import LeastSquaresClassifier
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> coef, intercept = linear_rule(LeastSquaresClassifier().fit(X, [0, 0, 1, 1]), 1)
    >>> round(float(-intercept / coef[0]), 6)
    1.5
    """
    if not hasattr(classifier, "decision_function") or not np.array_equal(
        getattr(classifier, "classes_", ()), (0, 1)
    ):
        return None
    rows, near = _probes(n_features)
    rule = own_coefficients(classifier, n_features) or _affine_score(classifier, rows)
    if rule is None:
        return None
    coef, intercept = rule
    length = math.sqrt(coef @ coef)
    if length <= AFFINE_TOLERANCE * abs(intercept) or length == 0.0:  # one class, as far as rounding shows
        predicted = np.asarray(classifier.predict(rows))
        if (predicted != predicted[0]).any():
            return None
        return np.zeros(n_features), 2.0 * float(predicted[0]) - 1.0
    direction = coef / length
    feet = near - np.outer(near @ direction + intercept / length, direction)
    steps = np.outer(DISTANCES, direction)
    predicted = np.asarray(classifier.predict(np.vstack([feet + steps, feet - steps])))
    if not predicted[: len(steps)].all() or predicted[len(steps) :].any():
        return None
    return coef, intercept


def _affine_score(classifier: Any, rows: Array) -> tuple[Array, float] | None:
    """Read coefficients off the score of the origin and the unit vectors, the first of the rows."""
    n_features = rows.shape[1]
    scores = np.asarray(classifier.decision_function(rows), dtype=np.float64)
    intercept = float(scores[0])
    coef = scores[1 : n_features + 1] - intercept
    excess = np.abs(rows @ coef + intercept - scores).max()
    if not excess <= AFFINE_TOLERANCE * np.abs(scores).max():  # also refuses nan
        return None
    return coef, intercept


Labels = NDArray[np.int64]
#: With more features than this, one sample fills the memory.
MAX_FEATURES = 10_000


def check_share(name: str, share: float) -> None:
    """Raise for a share that is not strictly between 0 and 1.

    Raises
    ------
    ValueError
        The message names the parameter.
    """
    check_number(name, share, 0.0, 1.0)
    if share == 0.0:
        raise ParameterError(name, "above 0 and below 1", share)


def number(default: float, low: float, high: float) -> Any:
    """Return a parameter of a world: a number in [low, high), or up to infinity."""
    return field(
        default=default, metadata={"check": lambda name, value: check_number(name, value, low, high)}
    )


def share(default: float) -> Any:
    """Return a parameter of a world: a share strictly between 0 and 1."""
    return field(default=default, metadata={"check": check_share})


def count(default: int, smallest: int, largest: int | None = MAX_FEATURES) -> Any:
    """Return a parameter of a world: an integer, such as a number of features."""
    return field(
        default=default, metadata={"check": lambda name, value: check_integer(name, value, smallest, largest)}
    )


@dataclass(frozen=True)
class World(ABC):
    """A simulated population; a subclass adds its parameters, each with a default.

    A world is a `Population`. Two worlds of the same class and parameters are equal. Parameters that are declared by
    `number`, `share` and `count` are checked when the world is made.
    """

    def __post_init__(self) -> None:
        for entry in fields(self):
            if (check := entry.metadata.get("check")) is not None:
                check(entry.name, getattr(self, entry.name))
        if (n_signal := getattr(self, "n_signal", 0)) > self.n_features:
            raise ParameterError("n_signal", f"at most n_features = {self.n_features}", n_signal)

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in design files and results."""

    @property
    def title(self) -> str:
        """How cases arise: the name of the world and its parameters."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "name"}
        settings = ", ".join(f"{name} = {value}" for name, value in values.items())
        return f"world {self.name} ({settings})" if settings else self.name

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features, usually a parameter."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Return features, shape (n, n_features), and labels 0 and 1, shape (n,), of n independent cases."""

    def true_error(self, classifier: Any) -> Truth:
        """Return the error of a fitted classifier of the classes 0 and 1 on this world."""
        return sampled_truth(self, classifier)

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n independent cases; it may have only one class.

        Raises
        ------
        ValueError
            If n is not an integer of at least 1.
        """
        X, y = self.sample(check_integer("n", n, 1), rng)
        return Cases(X, y, self.true_error)


@dataclass(frozen=True)
class ContinuousWorld(World):
    """A world with a formula for the error of a linear rule; other rules are tested on a large fixed sample."""

    @abstractmethod
    def linear_error(self, coef: Array, intercept: float) -> float:
        """Return the error of the rule that predicts 1 if ``x @ coef + intercept > 0``.

        Parameters
        ----------
        coef : ndarray of float, shape (n_features,)
            All 0 means one predicted class, given by the sign of `intercept`.
        intercept : float
        """

    def true_error(self, classifier: Any) -> Truth:
        """Return the error of a fitted classifier of the classes 0 and 1 on this world.

        Returns
        -------
        Truth
            Without standard error for a linear rule; otherwise the share of misclassified cases out of 50000.
        """
        rule = linear_rule(classifier, self.n_features)
        if rule is None:
            return super().true_error(classifier)
        return Truth(min(max(self.linear_error(*rule), 0.0), 1.0))  # rounding may pass the ends


#: The cases that give the true error, by which training sets are drawn.
TRUTH_FROM = ("remainder", "population")
#: Cases that must remain for testing, if coverage is to be estimated.
MIN_REMAINDER = 500
#: Minimum ratio of population to sample with replacement for a negligible overlap.
MIN_RATIO = 100
#: Size of training set in the definition of a small data set.
USUAL_SAMPLE = 50
#: Environment variable for the folder, if none is given.
VARIABLE = "CUDBOUND_DATA"
MANIFEST = "MANIFEST.json"


@dataclass(frozen=True, eq=False)
class RealData:
    """A data set of N cases as a source of training sets.

    Parameters
    ----------
    name : str
    words : str
        Description of the data, for the title.
    X : array, sparse matrix or data frame, shape (N, n_features)
    y : ndarray of int, shape (N,)
        0 or 1, with both present.
    device : {"remainder", "population"}, default="remainder"
        "remainder" draws without replacement and computes the error on the other N - n cases: an estimate for the
        population from which the data were sampled, with standard error sqrt(e (1 - e) / (N - n)). "population" draws
        with replacement and computes the error on all N cases: exact for the data set as the population.
    feature_names : sequence of str, default=()

    Raises
    ------
    ValueError
        If shapes do not match, `y` is not 0 and 1, or `device` is unknown.

    References
    ----------
    "remainder": Laber, E. B. and Murphy, S. A. (2008). Small sample inference for generalization error in
    classification using the CUD bound. UAI 2008, section 5. "population": Grandvalet, Y. and Bengio, Y. (2006).
    Hypothesis testing for cross-validation. Technical report 1285, Universite de Montreal.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 2))
    >>> data = RealData("made", "made up", X, (X[:, 0] > 0).astype(int))
    >>> data.draw(30, rng).X.shape, data.n_cases
    ((30, 2), 1000)
    """

    name: str
    words: str
    X: Any = field(repr=False)
    y: NDArray[np.int64] = field(repr=False)
    device: str = "remainder"
    feature_names: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        check_choice("device", self.device, TRUTH_FROM)
        if len(self.X.shape) != 2 or not self.X.shape[1] or self.y.shape != (self.X.shape[0],):
            raise ValueError(
                "X must have one row and y one label per case, and X at least one column. "
                f"Got the shapes {self.X.shape} and {self.y.shape}."
            )
        labels = np.unique(self.y).tolist()
        if labels != [0, 1]:
            raise ValueError(f"y must contain both labels 0 and 1, and no others. Got {labels[:5]}.")

    @property
    def n_cases(self) -> int:
        """Number of cases, N."""
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def all_cases(self) -> tuple[Any, NDArray[np.int64]] | None:
        """The features and labels of all cases if they are the population; None if samples are removed from them."""
        return (self.X, self.y) if self.device == "population" else None

    @property
    def title(self) -> str:
        """One line on the data, the drawing of cases and the true error."""
        how = (
            "drawn without replacement, true error on the other cases, with standard error"
            if self.device == "remainder"
            else "drawn with replacement, true error exact on all cases"
        )
        needed = USUAL_SAMPLE + MIN_REMAINDER if self.device == "remainder" else MIN_RATIO * USUAL_SAMPLE
        small = "; too small to estimate coverage" if self.n_cases < needed else ""
        return f"{self.words}: {self.n_cases} cases, {self.X.shape[1]} features; {how}{small}"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the features and labels, by which a study identifies its data."""
        digest = hashlib.sha256(f"{self.X.shape}".encode())
        digest.update(np.ascontiguousarray(self.X, dtype="<f8").tobytes())
        digest.update(np.ascontiguousarray(self.y, dtype="<i8").tobytes())
        return digest.hexdigest()

    def draw(self, n: int, rng: np.random.Generator) -> Cases:
        """Draw a training set of n cases; it may have only one class.

        Raises
        ------
        ValueError
            If n is not a positive integer, or no cases would remain for testing.
        """
        check_integer("n", n, 1)
        if self.device == "population":
            rows = rng.integers(0, self.n_cases, n)
            return Cases(_safe_indexing(self.X, rows), self.y[rows], self._population_error)
        if n >= self.n_cases:
            raise ValueError(
                f"{self.name} has {self.n_cases} cases: a sample of {n} leaves none for the true error. Use smaller "
                "samples, or device = 'population'."
            )
        rows = rng.choice(self.n_cases, n, replace=False)
        return Cases(_safe_indexing(self.X, rows), self.y[rows], partial(self._remainder_error, rows))

    def _population_error(self, classifier: Any) -> Truth:
        return Truth(float(np.mean(np.asarray(classifier.predict(self.X)) != self.y)))

    def _remainder_error(self, rows: NDArray[np.int64], classifier: Any) -> Truth:
        others = np.delete(np.arange(self.n_cases), rows)
        predicted = np.asarray(classifier.predict(_safe_indexing(self.X, others)))
        return share_truth(predicted != self.y[others])


def load_data_set(name: str, folder: str | Path | None = None, *, device: str = "remainder") -> RealData:
    """Read a data set from a folder, after checking its file against the manifest.

    The manifest ``MANIFEST.json`` has a list ``datasets`` of objects with ``name``, ``title``, ``file``, ``sha256``,
    ``feature_columns`` and ``target_column``; they may have ``design``, with the ``text_features``. Rows with a missing
    value in a used column are left out, and the title gives their number. Text features become indicators, with the
    alphabetically first level as reference; all others are numbers.

    Parameters
    ----------
    name : str
    folder : str, Path or None, default=None
        None uses the environment variable ``CUDBOUND_DATA``.
    device : {"remainder", "population"}, default="remainder"
        See `RealData`.

    Raises
    ------
    ValueError
        If no folder is given, its manifest is missing or invalid, the data set does not exist, the file is missing,
        or its checksum or columns do not match the manifest.
    """
    place = folder if folder is not None else os.environ.get(VARIABLE) or None
    if place is None:
        raise ValueError(
            f"No folder of data sets was given. Pass one (--data-folder), or set {VARIABLE} to its path."
        )
    try:
        sets = {entry["name"]: entry for entry in json.loads(_content(Path(place, MANIFEST)))["datasets"]}
        data = sets[check_choice("data", name, sets)]
        column, features = data["target_column"], data["feature_columns"]
        texts = [text for text in data.get("design", {}).get("text_features", ()) if text in features]
        path, checksum, words = Path(place, data["file"]), data["sha256"], data["title"]
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"{Path(place, MANIFEST)} is not a manifest of data sets ({error!r}).") from error
    if hashlib.sha256(_content(path)).hexdigest() != checksum:
        raise ValueError(
            f"{path} is not the file described in {MANIFEST}: its SHA-256 differs. Restore it from its source."
        )
    with placed(f"{path} does not match {MANIFEST}"):
        read = read_training_data(
            DataFile(path, column, "1", categorical=texts, features=features, missing="drop"),
            any_features=True,
        )
        if read.classes != ("0", "1"):
            raise ParameterError(column, "0 or 1 on every row", read.classes[0])
    if read.n_left_out:
        words += f" ({read.n_left_out} incomplete rows left out)"
    return RealData(name, words, read.X, read.y, device, read.feature_names)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(
            f"cannot read {path}: {error.strerror}. Restore it from its source, or use another folder of data sets "
            f"(--data-folder, or the variable {VARIABLE})."
        ) from error
