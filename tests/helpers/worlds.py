"""Seeded problems of moderate size, beyond what enumeration of all cells can check."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudbound.problem.draws import draw_counts
from cudbound.problem.problem import Problem
from cudbound.solve.native import minimize

Array = NDArray[np.float64]

FEATURES = ("normal", "integer", "binary")


def world(
    n: int, p: int, signal: float, seed: int, *, features: str = "normal", intercept: bool = True
) -> tuple[Array, Array, Array]:
    """Return design (n, p), labels (n,) and least-squares coefficients (p,) of a probit model.

    The score is `signal` times the sum of the first two features plus standard normal noise, so that 0 gives
    labels independent of the features.
    """
    rng = np.random.default_rng([seed, n, p])
    columns = p - int(intercept)
    x = {
        "normal": lambda: rng.standard_normal((n, columns)),
        "integer": lambda: rng.integers(-2, 3, size=(n, columns)).astype(float),
        "binary": lambda: rng.integers(0, 2, size=(n, columns)).astype(float),
    }[features]()
    labels = np.where(signal * x[:, :2].sum(axis=1) + rng.standard_normal(n) > 0.0, 1.0, -1.0)
    if abs(labels.sum()) == n:
        labels[rng.integers(n)] *= -1.0
    design = np.column_stack([np.ones(n), x]) if intercept else x
    return design, labels, fit(design, labels)


def fit(design: Array, labels: Array) -> Array:
    """Return the least-squares coefficients of least norm."""
    return np.asarray(np.linalg.lstsq(design, labels, rcond=None)[0])


def world_problem(
    n: int,
    p: int,
    signal: float,
    seed: int,
    *,
    n_draws: int,
    localization: float | None = None,
    features: str = "normal",
    intercept: bool = True,
) -> Problem:
    """Return the problem of `n_draws` bootstrap draws from a `world`."""
    design, labels, coef = world(n, p, signal, seed, features=features, intercept=intercept)
    counts = draw_counts(n, n_draws, np.random.default_rng([seed, n, p, 1]))
    return Problem.of(design, labels, coef, counts, localization=localization)


def surrogate_problem(
    n: int, p: int, signal: float, seed: int, *, n_draws: int, loss: str, c: float | None
) -> Problem:
    """Return the problem of `n_draws` bootstrap draws from a `world`, its anchor the minimizer of a surrogate loss.

    `c` is the C of scikit-learn: strength 1 / (2 c n) for all coefficients but the intercept; None penalizes nothing.
    """
    design, labels, _ = world(n, p, signal, seed)
    penalty = None if c is None else np.concatenate([[0.0], np.full(p - 1, 1.0 / (2.0 * c * n))])
    once = np.ones((1, n), dtype=np.int32)
    fitted = minimize(Problem.of(design, labels, np.zeros(p), once, loss=loss, penalty=penalty))
    counts = draw_counts(n, n_draws, np.random.default_rng([seed, n, p, 1]))
    return Problem.of(design, labels, fitted.coef[0], counts, loss=loss, penalty=penalty)
