"""Seeded random small problems, one function per kind, for comparisons of the solvers with each other.

Sizes are small enough (n 3 to 10, p 1 to 8) for enumeration of all cells within tens of milliseconds.
`make` gives problems of squared loss; `make_with_loss` dresses any of them in another loss, with or without a
penalty, weights of the rows and an offset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from cudbound.losses.surrogates import get_loss
from cudbound.problem.draws import draw_counts
from cudbound.problem.problem import Problem

Array = NDArray[np.float64]
Rng = np.random.Generator

N_DRAWS = 3
ALPHA_CHANCES = [0.03, 0.15, 0.2, 0.15, 0.15, 0.2, 0.06, 0.06]


def make(kind: str, seed: int) -> Problem:
    """Return a random problem of one of the `KINDS`, with `N_DRAWS` draws; the same for the same seed."""
    return KINDS[kind](np.random.default_rng([seed, *kind.encode()]))


def make_with_loss(
    kind: str,
    seed: int,
    loss: str,
    *,
    penalized: bool | None = None,
    weighted: bool | None = None,
    shifted: bool | None = None,
) -> Problem:
    """Return the problem ``make(kind, seed)`` under another loss; the same for the same arguments.

    A quadratic penalty (the intercept free in half of the problems), weights of the rows in the loss (by class, or
    one per row with some of them 0) and a constant offset are added or left out as the arguments say, and at random
    if they are None. Problems of the kinds that are about a penalty keep the one they have.

    Draws of few rows separate what they hold and err on the rest, so that Q would be the largest score of any cell
    in most problems. Half of them therefore get arbitrary signed weights, which tell the loss from the score; all
    get an alpha of their own. The anchor minimizes, to a few digits, the loss of one of the draws or of the
    training set; where there is no minimizer, it is some point of small loss.
    """
    problem = make(kind, seed)
    rng = np.random.default_rng([seed, *kind.encode(), *loss.encode()])
    with_penalty, with_weights, with_offset = rng.random(3) < [0.5, 0.4, 0.2]
    n, p = problem.design.shape
    penalty = problem.penalty
    if penalty is None and (with_penalty if penalized is None else penalized):
        penalty = rng.choice([0.003, 0.03, 0.3, 1.0], size=p)
        if rng.random() < 0.5:
            penalty[0] = 0.0
    sample_weight = None
    if with_weights if weighted is None else weighted:
        if rng.random() < 0.6:
            sample_weight = np.where(problem.labels > 0.0, *rng.choice([0.2, 0.5, 1.0, 3.0], size=2))
        else:
            sample_weight = rng.choice([0.0, 0.5, 1.0, 2.5], size=n)
    offset = None
    if with_offset if shifted is None else shifted:
        offset = np.full(n, rng.choice([-1.0, -0.3, 0.4, 1.5]))
    weights = problem.weights
    if weights is None and rng.random() < 0.5:
        weights = rng.normal(size=problem.counts.shape) * (rng.random(problem.counts.shape) < 0.9)
    dressed = replace(
        problem,
        loss=get_loss(loss),
        localization=float(rng.choice([0.0, 0.5, 1.0, 2.0, n / 4.0, n, n**2.0, np.inf], p=ALPHA_CHANCES)),
        weights=weights,
        penalty=penalty,
        sample_weight=sample_weight,
        offset=offset,
    )
    fitted = np.vstack([problem.counts, np.ones((1, n), dtype=np.int32)])[rng.integers(N_DRAWS + 1)]
    return replace(dressed, coef=_fit(replace(dressed, counts=fitted[None], weights=None)))


def _fit(problem: Problem) -> Array:
    """Minimize the loss of the first draw, roughly."""
    drawn, shares = problem.weighted_rows(0)
    design, labels, p = problem.design[drawn], problem.labels[drawn], problem.coef.size
    penalty = np.zeros(p) if problem.penalty is None else problem.penalty
    pull = 1e-3  # keeps a finite anchor for separable data, and a single one

    def objective(coef: Array) -> tuple[float, Array]:
        slopes = get_loss(problem.loss.name).gradient(labels, problem.scores(coef)[drawn])
        gradient = design.T @ (shares * slopes) + 2.0 * (penalty + pull) * coef
        return problem.mean_loss(0, coef) + pull * float(coef @ coef), gradient

    found = minimize(objective, np.zeros(p), jac=True, method="L-BFGS-B")
    return np.asarray(found.x, dtype=float)


def _alpha(rng: Rng, n: int) -> float:
    values = np.array([0.0, 1.0, n / 4.0, n, n**2.0, np.inf])
    return float(rng.choice(values, p=[0.1, 0.1, 0.1, 0.5, 0.1, 0.1]))


def _sizes(rng: Rng) -> tuple[int, int]:
    """Return n in 5..10 and p in 2..4, with fewer rows in more dimensions to bound the number of cells."""
    p = int(rng.integers(2, 5))
    return int(rng.integers(5, 12 - max(p - 2, 1))), p


def _with_intercept(features: Array) -> Array:
    return np.hstack([np.ones((len(features), 1)), features])


def _noisy_labels(rng: Rng, design: Array, signal: float) -> Array:
    """Labels of a random linear score times `signal` plus unit noise; both classes occur."""
    direction = rng.normal(size=design.shape[1])
    score = design @ (direction / np.linalg.norm(direction))
    labels = np.where(signal * score + rng.normal(size=len(score)) >= 0.0, 1.0, -1.0)
    if np.abs(labels.sum()) == labels.size:
        labels[rng.integers(labels.size)] *= -1.0
    return labels


def _problem(
    rng: Rng,
    design: Array,
    labels: Array,
    *,
    counts: NDArray[np.int32] | None = None,
    weights: Array | None = None,
    penalty: Array | None = None,
) -> Problem:
    """Add the fit to all rows (of least norm), bootstrap counts and a random alpha."""
    n, p = design.shape
    ridge = np.zeros(p) if penalty is None else penalty
    stacked = np.vstack([design / np.sqrt(n), np.diag(np.sqrt(ridge))])
    coef = np.linalg.lstsq(stacked, np.concatenate([labels / np.sqrt(n), np.zeros(p)]), rcond=None)[0]
    counts = draw_counts(n, N_DRAWS, rng) if counts is None else counts
    return Problem.of(
        design, labels, coef, counts, localization=_alpha(rng, n), weights=weights, penalty=penalty
    )


def general(rng: Rng) -> Problem:
    """General position with an intercept and a clear signal."""
    n, p = _sizes(rng)
    design = _with_intercept(rng.normal(size=(n, p - 1)))
    return _problem(rng, design, _noisy_labels(rng, design, 2.0))


def weak_labels(rng: Rng) -> Problem:
    """Labels that hardly depend on the features."""
    n, p = _sizes(rng)
    design = _with_intercept(rng.normal(size=(n, p - 1)))
    return _problem(rng, design, _noisy_labels(rng, design, 0.3))


def pure_noise(rng: Rng) -> Problem:
    """Labels independent of the features: the losses at the fit and at the apex beta = 0 are close."""
    n, p = _sizes(rng)
    design = _with_intercept(rng.normal(size=(n, p - 1)))
    return _problem(rng, design, _noisy_labels(rng, design, 0.0))


def no_intercept(rng: Rng) -> Problem:
    """General position without an intercept; now and then a row is zero, and sign(0) = +1 decides it."""
    n, p = _sizes(rng)
    design = rng.normal(size=(n, p))
    design[rng.random(n) < 0.1] = 0.0
    return _problem(rng, design, _noisy_labels(rng, design, float(rng.choice([0.3, 2.0]))))


def binary_features(rng: Rng) -> Problem:
    """Features 0/1 with an intercept: many equal rows, and hyperplanes that meet in common flats."""
    n, p = _sizes(rng)
    design = _with_intercept(rng.integers(0, 2, size=(n, p - 1)).astype(float))
    return _problem(rng, design, _noisy_labels(rng, design, float(rng.choice([0.0, 1.0]))))


def integer_features(rng: Rng) -> Problem:
    """Small integer features with many ties; without an intercept, rows may be collinear or zero."""
    n, p = _sizes(rng)
    if rng.random() < 0.5:
        design = _with_intercept(rng.integers(-2, 3, size=(n, p - 1)).astype(float))
    else:
        design = rng.integers(-2, 3, size=(n, p)).astype(float)
    return _problem(rng, design, _noisy_labels(rng, design, float(rng.choice([0.0, 1.0]))))


def _duplicated(rng: Rng) -> tuple[Array, Array, NDArray[np.int64]]:
    n, p = _sizes(rng)
    distinct = max(n // 2, 2)
    unique = _with_intercept(rng.normal(size=(distinct, p - 1)))
    source = np.concatenate([np.arange(distinct), rng.integers(0, distinct, size=n - distinct)])
    return unique[source], _noisy_labels(rng, unique, 1.0)[source], source


def duplicates_equal_labels(rng: Rng) -> Problem:
    """Rows that stand several times in the data with the same label."""
    design, labels, _ = _duplicated(rng)
    order = rng.permutation(len(labels))
    return _problem(rng, design[order], labels[order])


def duplicates_opposite_labels(rng: Rng) -> Problem:
    """Rows that stand several times in the data with both labels."""
    design, labels, source = _duplicated(rng)
    repeated = np.arange(len(source)) >= len(np.unique(source))
    labels = np.where(repeated & (rng.random(labels.size) < 0.7), -labels, labels)
    order = rng.permutation(len(labels))
    return _problem(rng, design[order], labels[order])


def collinear_rows(rng: Rng) -> Problem:
    """No intercept, and rows that are positive or negative multiples of each other, without rounding."""
    n, p = _sizes(rng)
    distinct = max(n // 2, 2)
    unique = rng.normal(size=(distinct, p))
    source = np.concatenate([np.arange(distinct), rng.integers(0, distinct, size=n - distinct)])
    factor = rng.choice([-2.0, -1.0, -0.25, 0.5, 1.0, 4.0], size=n)
    design = unique[source] * factor[:, None]
    return _problem(rng, design, _noisy_labels(rng, design, 0.5))


def single_class_draws(rng: Rng) -> Problem:
    """Draws that hold rows of one class only."""
    n, p = _sizes(rng)
    design = _with_intercept(rng.normal(size=(n, p - 1)))
    labels = _noisy_labels(rng, design, 1.0)
    counts = np.zeros((N_DRAWS, n), dtype=np.int32)
    for b in range(N_DRAWS):
        rows = np.flatnonzero(labels == (1.0 if b % 2 else -1.0))
        counts[b] = np.bincount(rng.choice(rows, size=n), minlength=n)
    return _problem(rng, design, labels, counts=counts)


def rank_deficient_draws(rng: Rng) -> Problem:
    """Draws with fewer distinct rows than coefficients, so that the minimizer of the loss is not unique."""
    n, p = _sizes(rng)
    design = _with_intercept(rng.normal(size=(n, p - 1)))
    counts = np.zeros((N_DRAWS, n), dtype=np.int32)
    for b in range(N_DRAWS):
        rows = rng.choice(n, size=int(rng.integers(1, p)), replace=False)
        counts[b] = np.bincount(rng.choice(rows, size=n), minlength=n)
    return _problem(rng, design, _noisy_labels(rng, design, 1.0), counts=counts)


def dependent_columns(rng: Rng) -> Problem:
    """A column that is a combination of others: no hyperplane sees one direction of the coefficients."""
    n, p = _sizes(rng)
    features = rng.normal(size=(n, p - 1))
    design = np.hstack([np.ones((n, 1)), features, features[:, :1] - 0.5])
    return _problem(rng, design, _noisy_labels(rng, design, 1.0))


def one_coefficient(rng: Rng) -> Problem:
    """p = 1: an intercept alone, or one feature without an intercept."""
    n = int(rng.integers(5, 11))
    design = np.ones((n, 1)) if rng.random() < 0.3 else rng.normal(size=(n, 1))
    return _problem(rng, design, _noisy_labels(rng, design, 1.0))


def two_coefficients(rng: Rng) -> Problem:
    """p = 2: an intercept and one feature."""
    design = _with_intercept(rng.normal(size=(int(rng.integers(5, 11)), 1)))
    return _problem(rng, design, _noisy_labels(rng, design, float(rng.choice([0.0, 2.0]))))


def fewer_rows_than_coefficients(rng: Rng) -> Problem:
    """Fewer rows than coefficients, with or without an intercept: every sign pattern is realized."""
    p = int(rng.integers(4, 6))
    n = int(rng.integers(3, p))
    design = rng.normal(size=(n, p)) if rng.random() < 0.5 else _with_intercept(rng.normal(size=(n, p - 1)))
    return _problem(rng, design, _noisy_labels(rng, design, 1.0))


def sensitivity_weights(rng: Rng) -> Problem:
    """Weights of 1 - sensitivity: phi_i / n_pos_b - 1 / n_pos on the positives, 0 elsewhere."""
    n, p = _sizes(rng)
    design = _with_intercept(rng.normal(size=(n, p - 1)))
    labels = _noisy_labels(rng, design, 1.0)
    positive = labels == 1.0
    counts = draw_counts(n, N_DRAWS, rng)
    for b in range(N_DRAWS):  # a draw without positives leaves the functional undefined
        if counts[b, positive].sum() == 0:
            counts[b, np.flatnonzero(positive)[0]] += 1
    drawn = counts[:, positive].sum(axis=1, keepdims=True)
    weights = np.where(positive, counts / drawn - 1.0 / positive.sum(), 0.0)
    return _problem(rng, design, labels, counts=counts, weights=weights)


def signed_weights(rng: Rng) -> Problem:
    """Arbitrary signed weights, some of them 0, that do not sum to 0."""
    n, p = _sizes(rng)
    design = _with_intercept(rng.normal(size=(n, p - 1)))
    weights = rng.normal(size=(N_DRAWS, n)) * (rng.random((N_DRAWS, n)) < 0.8)
    return _problem(rng, design, _noisy_labels(rng, design, 1.0), weights=weights)


def penalized(rng: Rng) -> Problem:
    """A quadratic penalty on the coefficients, of which the intercept is free in half of the problems."""
    n, p = _sizes(rng)
    design = _with_intercept(rng.normal(size=(n, p - 1)))
    penalty = rng.choice([0.01, 0.1, 1.0], size=p)
    if rng.random() < 0.5:
        penalty[0] = 0.0
    return _problem(rng, design, _noisy_labels(rng, design, 1.0), penalty=penalty)


def ridge_with_fewer_rows(rng: Rng) -> Problem:
    """Fewer rows than coefficients, and a quadratic penalty on all of them but, now and then, the intercept."""
    n = int(rng.integers(3, 6))
    p = int(rng.integers(n + 1, 9))
    design = _with_intercept(rng.normal(size=(n, p - 1)))
    penalty = np.full(p, rng.choice([0.01, 0.1, 1.0]))
    if rng.random() < 0.3:
        penalty[0] = 0.0
    return _problem(rng, design, _noisy_labels(rng, design, 1.0), penalty=penalty)


KINDS: dict[str, Callable[[Rng], Problem]] = {
    kind.__name__: kind
    for kind in (
        general,
        weak_labels,
        pure_noise,
        no_intercept,
        binary_features,
        integer_features,
        duplicates_equal_labels,
        duplicates_opposite_labels,
        collinear_rows,
        single_class_draws,
        rank_deficient_draws,
        dependent_columns,
        one_coefficient,
        two_coefficients,
        fewer_rows_than_coefficients,
        sensitivity_weights,
        signed_weights,
        penalized,
        ridge_with_fewer_rows,
    )
}
