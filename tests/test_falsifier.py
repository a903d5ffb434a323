"""A search for classifiers worth more than `upper`, on problems that no enumeration can take."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import nasty_draws
import numpy as np
import pytest
from exact_oracle import exact_q
from falsifier import falsify

from cudbound.bootstrap import draw_counts
from cudbound.exceptions import CudboundWarning
from cudbound.kernel import minimise
from cudbound.losses import LOSSES, get_loss
from cudbound.problem import Problem, make_problem
from cudbound.solve import solve_problem

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
    problem = make_problem(
        design,
        labels,
        np.zeros(p),
        draw_counts(n, N_DRAWS, rng),
        loss=loss,
        alpha=float(rng.choice([1.0, n, n, n, n**2.0])),
        weights=weights,
        penalty=penalty,
    )
    whole = replace(problem, counts=np.ones((1, n), dtype=np.int32), weights=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CudboundWarning)  # an anchor near the minimiser will do
        anchor = minimise(whole).coef[0]
    return replace(problem, coef=anchor), str(rng.choice(["both", "positive", "negative"]))


def refuted(case: tuple[int, str, str], rounds: int = 1) -> list[str]:
    """Return what the falsifier found against the bounds of the draws of a case."""
    problem, side = moderate(*case)
    draws = solve_problem(problem, side=side, node_limit=NODE_LIMIT)
    rng = np.random.default_rng(1)
    against = []
    for draw in range(N_DRAWS):
        found = falsify(problem, draw, rng, side=side, rounds=rounds, witness=draws.witness[draw])
        # losses near n are known to some 1e-14 of themselves
        allowance = 1e-9 + 1e-13 * min(problem.alpha, 1e6) * (1.0 + problem.mean_loss(draw, problem.coef))
        if found.value > draws.upper[draw] + allowance:
            against.append(f"{case} {side} draw {draw}: {found.value!r} above {draws.upper[draw]!r}")
    return against


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("shape", SHAPES)
def test_no_upper_bound_is_refuted(loss: str, shape: str) -> None:
    assert [line for seed in range(2) for line in refuted((seed, loss, shape))] == []


@pytest.mark.slow
@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("shape", SHAPES)
def test_no_upper_bound_is_refuted_by_a_longer_search(loss: str, shape: str) -> None:
    cases = [(seed, loss, shape) for seed in range(2, 200)]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        assert [line for lines in pool.map(refuted, cases, [3] * len(cases)) for line in lines] == []


def test_finds_q_of_most_small_draws() -> None:
    """A falsifier that finds nothing would pass every test above."""
    rng = np.random.default_rng(2)
    reached, total = 0, 0
    for family in ("integer_grid", "near_duplicates", "outlier_column", "near_singular_draws"):
        for seed in range(10):
            problem, side = nasty_draws.make(family, seed), nasty_draws.side_of(seed)
            if np.isinf(problem.alpha):
                continue
            q = float(exact_q(problem, 0, side).value)
            found = falsify(problem, 0, rng, side=side)
            assert found.value <= q + 1e-9
            reached += found.value >= 0.99 * q
            total += 1
    assert reached >= 0.9 * total


def test_finds_the_lower_bound_of_most_moderate_draws_without_the_witness() -> None:
    rng = np.random.default_rng(3)
    reached, total = 0, 0
    for seed in range(6):
        for loss in ("squared", "logistic", "hinge"):
            problem, side = moderate(seed, loss, "normal")
            draws = solve_problem(problem, side=side, node_limit=NODE_LIMIT)
            found = falsify(problem, 0, rng, side=side, rounds=2)
            reached += found.value >= 0.9 * draws.lower[0]
            total += 1
    assert reached >= 0.6 * total


def test_refutes_the_bound_of_the_nearly_singular_reproducer() -> None:
    # an earlier solver said .25, the truth is .5
    problem = nasty_draws.nearly_singular_reproducer()
    assert falsify(problem, 0, np.random.default_rng(0)).value == pytest.approx(0.5, abs=1e-6)


def test_the_losses_are_all_of_them() -> None:
    assert len(LOSSES) == 6
    assert all(get_loss(name).name == name for name in LOSSES)
