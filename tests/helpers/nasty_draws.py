"""Seeded small problems of squared loss that are hard on floating-point numbers, one function per family.

All are accepted by `Problem.of`, with n <= 12 and p <= 4, so that `exact_oracle` decides them in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cudbound.problem.draws import draw_counts
from cudbound.problem.problem import Problem

Array = NDArray[np.float64]
Rng = np.random.Generator

N_DRAWS = 8
SIDES = ("both", "both", "positive", "negative")


def make(family: str, seed: int) -> Problem:
    """Return a random problem of one of the `FAMILIES`, with `N_DRAWS` draws; the same for the same seed."""
    rng = np.random.default_rng([seed, *family.encode()])
    while True:
        try:
            return FAMILIES[family](rng)
        except ValueError as refused:  # columns of which most values are tiny are not accepted
            if "within a factor" not in str(refused):
                raise


def side_of(seed: int) -> str:
    """Return the side to solve a seed's problem for: both in half of them."""
    return SIDES[seed % len(SIDES)]


def nearly_singular_reproducer() -> Problem:
    """Four rows, of which a draw holds two that differ by 1e-9: beta = (-1, .4) is worth .5."""
    design = np.array([[1.0, 0.0], [1.0, 1e-9], [-3.0, -7.0], [-1.0, -3.0]])
    labels = np.array([-1.0, -1.0, -1.0, 1.0])
    return Problem.of(design, labels, np.linalg.lstsq(design, labels)[0], [[3, 1, 0, 0]])


def outlier_reproducers() -> list[Problem]:
    """Ten patients with a 99999 left in a column of one decimal; the true Q are .5 and .2."""
    with_intercept = np.ones((10, 3))
    with_intercept[:, 1] = [-1.7, -6.7, 2.3, -4.6, -0.5, -2.5, -2.8, 1.3, 0.7, -2.3]
    with_intercept[:, 2] = [0.8, 99999.0, -3.8, 4.0, -0.6, -3.3, 1.7, 1.9, 2.4, 0.4]
    without = np.empty((10, 2))
    without[:, 0] = [3.9, 5.5, 3.8, 4.4, 5.7, 3.9, 4.1, 5.2, 6.2, 6.0]
    without[:, 1] = [5.6, 5.1, 4.4, 4.9, 6.6, 6.6, 99999.0, 5.7, 4.4, 5.2]
    cases = [
        (with_intercept, [1, 1, -1, 1, -1, 1, -1, -1, 1, 1], [0, 0, 1, 0, 0, 1, 2, 0, 3, 3]),
        (without, [-1, 1, -1, 1, -1, -1, 1, 1, 1, 1], [1, 0, 2, 1, 0, 2, 0, 2, 1, 1]),
    ]
    return [
        Problem.of(
            design,
            labels,
            _fit(design, np.array(labels, dtype=float), np.full(10, 0.1), np.zeros(design.shape[1])),
            [counts],
        )
        for design, labels, counts in cases
    ]


def _sizes(rng: Rng) -> tuple[int, int]:
    p = int(rng.choice([2, 3, 4], p=[0.4, 0.4, 0.2]))
    return int(rng.integers(p + 2, {2: 13, 3: 11, 4: 9}[p])), p


def _labels(rng: Rng, design: Array) -> Array:
    """Labels of a random score, weak or clear, plus noise; mostly both classes."""
    with np.errstate(over="ignore"):  # clipped
        scaled = design / np.maximum(np.median(np.abs(design), axis=0), 1e-300)
    score = np.clip(scaled, -5.0, 5.0) @ rng.normal(size=design.shape[1])
    labels = np.where(rng.choice([0.0, 0.5, 2.0]) * score + rng.normal(size=len(score)) >= 0.0, 1.0, -1.0)
    if np.abs(labels.sum()) == labels.size:
        labels[rng.integers(labels.size)] *= -1.0
    return labels


def _fit(design: Array, labels: Array, shares: Array, ridge: Array) -> Array:
    """Least squares in columns of unit length; of least norm there if there are several minimizers."""
    roots = np.sqrt(shares)
    stacked = np.vstack([roots[:, None] * design, np.diag(np.sqrt(ridge))])
    lengths = np.linalg.norm(stacked, axis=0)
    lengths[lengths == 0.0] = 1.0
    targets = np.concatenate([roots * labels, np.zeros(ridge.size)])
    return np.asarray(np.linalg.lstsq(stacked / lengths, targets)[0] / lengths)


def _problem(
    rng: Rng,
    design: Array,
    labels: Array | None = None,
    *,
    counts: NDArray[np.int32] | None = None,
    weights: Array | None = None,
    sample_weight: Array | None = None,
) -> Problem:
    """Add labels, draws, an anchor, a rate, and now and then a penalty, weights of rows and an offset."""
    n, p = design.shape
    labels = _labels(rng, design) if labels is None else labels
    counts = draw_counts(n, N_DRAWS, rng) if counts is None else counts
    with_penalty, with_weights, with_offset, with_signs = rng.random(4) < [0.15, 0.15, 0.1, 0.15]
    ridge = rng.choice([0.0, 1e-8, 0.01, 1.0], size=p) if with_penalty else np.zeros(p)
    if with_weights and sample_weight is None:
        sample_weight = rng.choice([0.0, 0.5, 1.0, 2.5], size=n)
    offset = float(rng.choice([-1.0, 0.3])) if with_offset else 0.0
    if with_signs and weights is None:
        weights = rng.normal(size=counts.shape) * (rng.random(counts.shape) < 0.9)
    fitted = [np.ones(n), *counts][rng.choice(N_DRAWS + 1, p=[0.8, *[0.2 / N_DRAWS] * N_DRAWS])]
    shares = fitted / n if sample_weight is None else fitted * sample_weight / n
    alpha = rng.choice([0.0, 1.0, n / 4.0, n, n**2.0, np.inf], p=[0.05, 0.15, 0.1, 0.55, 0.1, 0.05])
    return Problem.of(
        design,
        labels,
        _fit(design, labels - offset, shares, ridge),
        counts,
        localization=float(alpha),
        weights=weights,
        penalty=ridge if with_penalty else None,
        sample_weight=sample_weight,
        offset=offset if with_offset else None,
    )


def _with_intercept(features: Array) -> Array:
    return np.hstack([np.ones((len(features), 1)), features])


def _features(rng: Rng, n: int, p: int) -> Array:
    """Normal or integer columns, in half of the cases with an intercept."""
    features = (
        rng.normal(size=(n, p)) if rng.random() < 0.5 else rng.integers(-7, 8, size=(n, p)).astype(float)
    )
    if rng.random() < 0.5:
        features[:, 0] = 1.0
    return features


def near_singular_draws(rng: Rng) -> Problem:
    """Some rows lie within 1e-6 to 1e-12 of a subspace, and draws hold these rows above all."""
    n, p = _sizes(rng)
    design = _features(rng, n, p)
    near = rng.random(n) < 0.6
    column = int(rng.integers(p))
    on_zero = rng.random() < 0.7
    design[near, column] = 0.0 if on_zero else design[near, :column].sum(axis=1)
    # a column of values around 1e-9 beside a 7 would be refused
    tiny = 10.0 ** -rng.integers(6, 9 if on_zero else 13)
    design[near, column] += tiny * rng.integers(-1, 2, size=int(near.sum()))
    chances = np.where(near, 1.0, 0.1)
    counts = rng.multinomial(n, chances / chances.sum(), size=N_DRAWS).astype(np.int32)
    return _problem(rng, design, counts=counts)


def near_duplicates(rng: Rng) -> Problem:
    """Rows that differ by 1e-3 to 1e-15 from another one, with its label or the opposite one."""
    n, p = _sizes(rng)
    design = _features(rng, n, p)
    labels = _labels(rng, design)
    for i in np.flatnonzero(rng.random(n) < 0.4):
        source = int(rng.integers(n))
        moved = rng.random(p) < 0.7
        design[i] = design[source] + moved * 10.0 ** rng.uniform(-15.0, -3.0) * rng.normal(size=p)
        labels[i] = labels[source] * rng.choice([-1.0, 1.0])
    return _problem(rng, design, labels)


def clustered_duplicates(rng: Rng) -> Problem:
    """Near-duplicates at 1e-8 in clusters of three and more, mirrored rows among them."""
    n, p = _sizes(rng)
    centers = _features(rng, n, p)[: int(rng.integers(2, 4))]
    design = centers[rng.integers(len(centers), size=n)] * rng.choice([-1.0, 1.0, 2.0], size=(n, 1))
    design = design + 10.0 ** rng.choice([-6.0, -8.0, -10.0]) * rng.normal(size=(n, p))
    return _problem(rng, design)


def near_coplanar(rng: Rng) -> Problem:
    """Rows that are sums of two others but for 1e-3 to 1e-15: three hyperplanes close to meeting in one flat."""
    n, p = _sizes(rng)
    p = max(p, 3)
    design = _features(rng, n, p)
    for i in np.flatnonzero(rng.random(n) < 0.4):
        first, second = rng.choice(n, size=2, replace=False)
        mixed = rng.choice([-1.0, 1.0, 0.5]) * design[first] + rng.choice([-1.0, 1.0, 2.0]) * design[second]
        design[i] = mixed + 10.0 ** rng.uniform(-15.0, -3.0) * rng.normal(size=p)
    return _problem(rng, design)


def outlier_column(rng: Rng) -> Problem:
    """Columns of one decimal in which a value of 1e2 to 1e12 was left, such as 99999 for a missing one."""
    n, p = _sizes(rng)
    features = np.round(rng.normal(size=(n, p - 1)) * 3.0 + rng.choice([0.0, 5.0]), 1) * 10.0 ** rng.integers(
        0, 4
    )
    for _ in range(int(rng.integers(1, 3))):
        column = int(rng.integers(p - 1))
        sizes = np.abs(features[:, column])
        largest = 0.9e9 * (np.median(sizes[sizes > 0.0]) if sizes.any() else 1.0)
        outlier = rng.choice([99999.0, 999.0, 10.0 ** rng.integers(2, 13)])
        features[rng.integers(n), column] = min(outlier, largest) * rng.choice([1.0, 1.0, -1.0])
    return _problem(rng, _with_intercept(features))


def weak_direction(rng: Rng) -> Problem:
    """A column that is a combination of others but for 1e-7 to 1e-10."""
    n, p = _sizes(rng)
    design = _features(rng, n, p)
    mixture = rng.integers(-2, 3, size=p - 1).astype(float)
    design[:, -1] = design[:, :-1] @ mixture + 10.0 ** -rng.integers(7, 11) * rng.normal(size=n)
    return _problem(rng, design)


def scaled_columns(rng: Rng) -> Problem:
    """Columns in units that differ by factors up to 1e16."""
    n, p = _sizes(rng)
    return _problem(rng, _features(rng, n, p) * 10.0 ** rng.uniform(-8.0, 8.0, size=p))


def wide_sample_weights(rng: Rng) -> Problem:
    """Weights of the rows in the loss over 1e-12 to 1e12."""
    n, p = _sizes(rng)
    return _problem(
        rng, _features(rng, n, p), sample_weight=10.0 ** rng.uniform(-12.0, rng.choice([0.0, 12.0]), size=n)
    )


def wide_score_weights(rng: Rng) -> Problem:
    """Weights of the errors from 1e-12 to 1."""
    n, p = _sizes(rng)
    weights = 10.0 ** rng.uniform(-12.0, 0.0, size=(N_DRAWS, n)) * rng.choice([-1.0, 1.0], size=(N_DRAWS, n))
    return _problem(rng, _features(rng, n, p), weights=weights)


def more_columns(rng: Rng) -> Problem:
    """As many columns as rows, or more."""
    p = int(rng.integers(2, 5))
    n = int(rng.integers(2, p + 1))
    return _problem(rng, _features(rng, n, p))


def integer_grid(rng: Rng) -> Problem:
    """Small integers, with and without an intercept: exact ties, collinear and zero rows."""
    n, p = _sizes(rng)
    design = rng.integers(-2, 3, size=(n, p)).astype(float)
    if rng.random() < 0.5:
        design[:, 0] = 1.0
    return _problem(rng, design)


def binary_features(rng: Rng) -> Problem:
    """Features 0/1: many equal rows, and hyperplanes that meet in common flats."""
    n, p = _sizes(rng)
    return _problem(rng, _with_intercept(rng.integers(0, 2, size=(n, p - 1)).astype(float)))


def standardized_integers(rng: Rng) -> Problem:
    """Integer columns after scaling to mean 0 and variance 1: ties of the integers hold only to rounding."""
    n, p = _sizes(rng)
    features = rng.integers(0, int(rng.choice([3, 5, 20])), size=(n, p - 1)).astype(float)
    spread = features.std(axis=0)
    features = (features - features.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return _problem(rng, _with_intercept(features))


def collinear_rows(rng: Rng) -> Problem:
    """Rows that are exact multiples of others, of either sign."""
    n, p = _sizes(rng)
    distinct = rng.integers(-9, 10, size=(max(n // 2, p), p)).astype(float)
    return _problem(
        rng,
        distinct[rng.integers(len(distinct), size=n)] * rng.choice([-2.0, -1.0, 0.5, 1.0, 3.0], size=(n, 1)),
    )


def rounded_multiples(rng: Rng) -> Problem:
    """Rows that are multiples of others but for rounding."""
    n, p = _sizes(rng)
    distinct = rng.normal(size=(max(n // 2, p), p))
    return _problem(rng, distinct[rng.integers(len(distinct), size=n)] * rng.uniform(-2.0, 2.0, size=(n, 1)))


def single_class_draws(rng: Rng) -> Problem:
    """Draws that hold rows of one class only."""
    n, p = _sizes(rng)
    design = _features(rng, n, p)
    labels = _labels(rng, design)
    counts = np.zeros((N_DRAWS, n), dtype=np.int32)
    for b in range(N_DRAWS):
        rows = np.flatnonzero(labels == (1.0 if b % 2 else -1.0))
        np.add.at(counts[b], rng.choice(rows, size=n), 1)
    return _problem(rng, design, labels, counts=counts)


def constant_columns(rng: Rng) -> Problem:
    """A column that is constant beside an intercept, or a column of zeros, or the same column twice."""
    n, p = _sizes(rng)
    design = _with_intercept(rng.normal(size=(n, p - 1)).round(2))
    column = int(rng.integers(1, p))
    design[:, column] = [np.full(n, 3.7), np.zeros(n), design[:, 0], design[:, p - 1]][rng.integers(4)]
    return _problem(rng, design)


def dependent_columns(rng: Rng) -> Problem:
    """A column that is the sum of others but for rounding."""
    n, p = _sizes(rng)
    design = _features(rng, n, p)
    design[:, -1] = design[:, :-1] @ rng.normal(size=p - 1)
    return _problem(rng, design)


def loose_anchor(rng: Rng) -> Problem:
    """An anchor far from the minimizer: g is positive on most cells, or on all of them."""
    problem = _problem(rng, _features(rng, *_sizes(rng)))
    coef = problem.coef.round(int(rng.integers(0, 3))) * rng.choice([0.0, 0.3, 1.0, 3.0])
    return replace(problem, coef=coef + 0.0)


FAMILIES: dict[str, Callable[[Rng], Problem]] = {
    family.__name__: family
    for family in (
        near_singular_draws,
        near_duplicates,
        clustered_duplicates,
        near_coplanar,
        outlier_column,
        weak_direction,
        scaled_columns,
        wide_sample_weights,
        wide_score_weights,
        more_columns,
        integer_grid,
        binary_features,
        standardized_integers,
        collinear_rows,
        rounded_multiples,
        single_class_draws,
        constant_columns,
        dependent_columns,
        loose_anchor,
    )
}
