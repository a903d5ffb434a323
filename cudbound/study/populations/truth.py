"""True errors of fitted classifiers: coefficients of linear rules, and a large fixed sample for any other."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cudbound.adapters.linear import own_coefficients
from cudbound.study.populations.population import Truth

Array = NDArray[np.float64]

#: Cases of the fixed sample for errors without a formula: the standard error is at most .00224.
N_TRUTH_CASES = 50_000
#: Seed of that sample, the same in every process and for every population.
TRUTH_SEED = 20080709
#: How far a score may be from an affine function of the features, relative to the largest score.
AFFINE_TOLERANCE = 1e-9
#: Distances from the boundary, in units of the features, at which the predicted class must be that of the score.
DISTANCES = np.logspace(-3.0, 1.0, 12)


class Sampler(Protocol):
    """An object that can draw cases and be the key of a cache."""

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Draw n cases."""

    def __hash__(self) -> int: ...


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


def sampled_truth(population: Sampler, classifier: Any, n_cases: int = N_TRUTH_CASES) -> Truth:
    """Return the error on a fixed large sample of a population.

    The sample is drawn once per process and kept. All replicates use the same cases, so their error is common and does
    not average out over replicates.

    Parameters
    ----------
    population : object with ``sample(n, rng) -> (X, y)``
        Hashable.
    classifier : object with ``predict``
    n_cases : int, default=50000

    Returns
    -------
    Truth
    """
    X, y = fixed_cases(population, n_cases)
    return share_truth(np.asarray(classifier.predict(X)) != y)


@lru_cache(maxsize=8)
def fixed_cases(population: Sampler, n_cases: int) -> tuple[Any, Any]:
    """Return a large sample of a population, the same in every process."""
    return population.sample(n_cases, np.random.default_rng(TRUTH_SEED))


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
    found = own_coefficients(classifier, n_features) or _affine_score(classifier, rows)
    if found is None:
        return None
    coef, intercept = found
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
