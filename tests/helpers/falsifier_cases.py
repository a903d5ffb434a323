"""Problems of moderate size, under all losses, whose upper bounds the falsifier tries to refute."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from falsifier import falsify

from cudbound.basis.exceptions import CudboundWarning
from cudbound.problem.draws import draw_counts
from cudbound.problem.problem import Problem
from cudbound.solve.limits import SearchLimits
from cudbound.solve.native import minimize
from cudbound.solve.search import solve_draws

NODE_LIMIT = 5_000
N_DRAWS = 2
SHAPES = ("normal", "integers", "near_duplicates", "outliers", "many_columns")


def moderate(seed: int, loss: str, shape: str) -> tuple[Problem, str]:
    """Return a problem of 20 to 200 rows, with the anchor fitted to them, and a side."""
    rng = np.random.default_rng([seed, *shape.encode(), *loss.encode()])
    n, p = int(rng.choice([20, 50, 100, 200])), int(rng.integers(2, 7))
    if shape == "many_columns":
        n, p = 20, int(rng.integers(8, 24))
    features = rng.normal(size=(n, p - 1))
    if shape == "integers":
        features = rng.integers(0, 4, size=(n, p - 1)).astype(float)
    if shape == "near_duplicates":
        source = rng.integers(n, size=n // 3)
        features[: n // 3] = features[source] + 10.0 ** rng.uniform(-12.0, -3.0) * rng.normal(
            size=(n // 3, p - 1)
        )
    if shape == "outliers":
        features = features.round(1)
        features[rng.integers(n), rng.integers(p - 1)] = 10.0 ** rng.integers(2, 7)
    design = np.column_stack([np.ones(n), features])
    signal = rng.choice([0.0, 1.0, 3.0])
    labels = np.where(signal * np.clip(features[:, 0], -5.0, 5.0) + rng.normal(size=n) > 0.0, 1.0, -1.0)
    labels[:2] = 1.0, -1.0
    penalty = rng.choice([0.001, 0.1]) * np.ones(p) if loss != "squared" or rng.random() < 0.3 else None
    weights = rng.normal(size=(N_DRAWS, n)) / n if rng.random() < 0.2 else None
    problem = Problem.of(
        design,
        labels,
        np.zeros(p),
        draw_counts(n, N_DRAWS, rng),
        loss=loss,
        localization=float(rng.choice([1.0, n, n, n, n**2.0])),
        weights=weights,
        penalty=penalty,
    )
    whole = replace(problem, counts=np.ones((1, n), dtype=np.int32), weights=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CudboundWarning)  # an anchor near the minimizer will do
        anchor = minimize(whole).coef[0]
    return replace(problem, coef=anchor), str(rng.choice(["both", "positive", "negative"]))


def refuted(case: tuple[int, str, str, int]) -> list[str]:
    """Return what the falsifier found against the bounds of the draws of a case; the last number is its rounds."""
    *which, rounds = case
    problem, side = moderate(*which)
    draws = solve_draws(problem, side=side, limits=SearchLimits(nodes_per_draw=NODE_LIMIT))
    rng = np.random.default_rng(1)
    against = []
    for draw in range(N_DRAWS):
        found = falsify(problem, draw, rng, side=side, rounds=rounds, witness=draws.witness[draw])
        # losses near n are known to some 1e-14 of themselves
        allowance = 1e-9 + 1e-13 * min(problem.localization, 1e6) * (
            1.0 + problem.mean_loss(draw, problem.coef)
        )
        if found.value > draws.upper[draw] + allowance:
            against.append(f"{case} {side} draw {draw}: {found.value!r} above {draws.upper[draw]!r}")
    return against
