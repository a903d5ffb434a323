"""The oracle in rational arithmetic against the one in floating point, hand-made cases, and plain evaluation."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import nasty_draws
import numpy as np
import pytest
from exact_oracle import ExactDraw, classes, exact_q, localization, mean_loss
from oracles import enumerate_q
from random_problems import KINDS, make
from rational.arrangement import exact_columns
from tiers import each_tier

from cudbound.problem.problem import Problem

# in the other kinds, rows or columns are multiples of each other but for rounding, which the float oracle ignores
EXACT_KINDS = sorted(set(KINDS) - {"collinear_rows", "dependent_columns", "two_coefficients"})


def value_at(problem: Problem, draw: int, coef: tuple[Fraction, ...], side: str) -> Fraction:
    """Evaluate coefficients by the definition, row by row."""
    n = problem.labels.size
    signed = Fraction(0)
    for i, row in enumerate(zip(*exact_columns(problem), strict=True)):
        score = sum(x * b for x, b in zip(row, coef, strict=True))
        weight = (
            Fraction(int(problem.counts[draw, i]) - 1, n)
            if problem.weights is None
            else Fraction(float(problem.weights[draw, i]))
        )
        signed += weight * ((1 if score >= 0 else -1) != problem.labels[i])
    size = {"both": abs(signed), "positive": max(signed, Fraction(0)), "negative": max(-signed, Fraction(0))}[
        side
    ]
    anchor = mean_loss(problem, draw, problem.coef.tolist())
    return size * localization(problem, anchor, mean_loss(problem, draw, coef))


@each_tier(range(2), range(2, 6))
@pytest.mark.parametrize("kind", EXACT_KINDS)
def test_agrees_with_enumeration_in_floating_point(kind: str, seeds: list[int]) -> None:
    for seed in seeds:
        problem = make(kind, seed)
        for draw in range(problem.n_draws):
            enumerated = enumerate_q(problem, draw)
            expected = enumerated.q, max(enumerated.q_plus, 0.0), max(enumerated.q_minus, 0.0)
            for side, q in zip(("both", "positive", "negative"), expected, strict=True):
                found = float(exact_q(problem, draw, side).value)
                assert found == pytest.approx(q, abs=1e-7), (kind, seed, draw, side)


@each_tier(range(4), range(4, 12))
@pytest.mark.parametrize("family", sorted(nasty_draws.FAMILIES))
def test_a_classifier_worth_q_exists(family: str, seeds: list[int]) -> None:
    """Coefficients inside the cell, evaluated by the definition, come as close to Q as one likes."""
    for seed in seeds:
        problem, side = nasty_draws.make(family, seed), nasty_draws.side_of(seed)
        for draw in range(problem.n_draws):
            exact = ExactDraw(problem, draw)
            cell = exact_q(problem, draw, side)
            inside = next(islice(exact.approach(cell), 100, None))
            if problem.localization == np.inf and mean_loss(problem, draw, inside) > exact.anchor:
                assert (
                    cell.loss == exact.anchor
                )  # approached from above the anchor's loss, where g is 0 already
                continue
            assert 0 <= cell.value - value_at(problem, draw, inside, side) <= Fraction(1, 10**12), (
                seed,
                draw,
            )


def test_one_coefficient_by_hand() -> None:
    # rows 1 and -1 with labels +1 and -1, drawn twice and never: beta > 0 is right on both, beta < 0 wrong on both,
    # S = (2 - 1)/2 - 1/2 = 0 there; with weights 1 and 1/2 it is 3/2, at the least loss of beta <= 0, that of 0
    problem = Problem.of([[1.0], [-1.0]], [1, -1], [1.0], [[2, 0]], localization=0.25, weights=[[1.0, 0.5]])
    cell = exact_q(problem, 0)
    assert cell.score == Fraction(3, 2)
    assert cell.loss == 1  # (2/2) (1 - 0)^2
    assert cell.value == Fraction(3, 2) * Fraction(3, 4)  # g = 1 + .25 (0 - 1)
    assert classes(ExactDraw(problem, 0), cell) == (-1, 1)
    assert exact_q(problem, 0, "negative").value == 0
